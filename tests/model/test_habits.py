"""Who works for which release: the index by identity says what a walk over all says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.asking import update
from support.cluster import operator, thing
from suture.model import habits
from suture.model.habits import Habits, Known
from suture.model.names import SECRETS, ObjectKey
from suture.model.request import Request

NAMES = ("shop", "store", "depot", "yard", "barn")
WHO = tuple(f"system:serviceaccount:ops:{name}" for name in ("a", "b", "c", "d", "e", "f"))

writes = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(WHO)), max_size=60)


def walked(known: Known, identity: str) -> set[ObjectKey]:
    """Return for what an identity works, the slow way."""
    return {subject for subject, identities in known.works if identity in identities}


@given(writes, writes)
def test_works_are_found_by_identity_as_by_a_walk(
    first: list[tuple[str, str]], later: list[tuple[str, str]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(habits, "WORKS_KEPT", 3)
        learnt = Habits()
        for name, identity in first:
            learnt.note(_record(name, identity))
        recalled = Habits()
        for name, identity in later:
            recalled.note(_record(name, identity))
        recalled.recall(*learnt.kept())
    for one in (learnt, recalled):
        for identity in WHO:
            assert set(one.works_of(identity)) == walked(one.kept(), identity)


def _record(release: str, identity: str) -> Request:
    labels = {"owner": "helm", "name": release}
    return update(None, thing(SECRETS, release, "prod", labels=labels), by=operator(identity))
