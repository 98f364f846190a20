"""Grants as a person makes them, and as Suture reads and marks them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from suture.app.enforce import NONE_SERVED, Enforcer
from suture.app.freezes import read_freezes
from suture.app.grants import ClusterMarks, MemoryMarks, UsedUpError, read_grants
from suture.app.grantsmade import (
    REVIEWS_PATH,
    Terms,
    all_grants,
    for_decision,
    for_policies,
    give,
    revoke,
    span_s,
    state_of,
)
from suture.errors import ApiConflictError, InputError, NotFoundError
from suture.install.freezes import FREEZES_PATH
from suture.install.grants import GRANTS_PATH, grant_document
from suture.journal.entry import Asked, Entry
from suture.judge import World
from suture.model.clock import Now
from suture.model.freezes import Freeze
from suture.model.grants import Grant, Scope
from suture.model.names import SERVICES, ObjectKey, Operation
from suture.policy.compile import compile_policies
from suture.policy.rules import Point
from suture.verdict import Answer, Reason

NOW = Now(0, 1_800_000_000.0)
TERMS = Terms(reason="agreed", seconds=600)


class Cluster:
    """An API server that keeps grants, and meets a conflict as often as it is told."""

    def __init__(self, *, served: bool = True, conflicts: int = 0) -> None:
        self.grants: dict[str, dict[str, Any]] = {}
        self.served = served
        self.conflicts = conflicts

    def _found(self, path: str) -> dict[str, Any]:
        name = path.removesuffix("/status").rpartition("/")[2]
        if not self.served or name not in self.grants:
            raise NotFoundError(404, "NotFound", f"no {path}")
        return self.grants[name]

    async def get(self, path: str) -> dict[str, Any]:
        if path == GRANTS_PATH and self.served:
            return {"items": list(self.grants.values())}
        return self._found(path)

    async def create(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        if path == REVIEWS_PATH:
            return {"status": {"userInfo": {"username": "bob"}}}
        if not self.served:
            raise NotFoundError(404, "NotFound", "no such kind")
        name = body["metadata"]["generateName"] + "abcde"
        made = {**body, "metadata": {"name": name, "uid": f"u-{name}", "resourceVersion": "1"}}
        self.grants[name] = made
        return made

    async def patch(self, path: str, body: Mapping[str, Any], *, type: str) -> dict[str, Any]:  # noqa: A002
        assert path.endswith("/status")
        assert type == "merge"
        live = self._found(path)
        if self.conflicts:
            self.conflicts -= 1
            raise ApiConflictError(409, "Conflict", "changed meanwhile")
        assert body["metadata"]["resourceVersion"] == live["metadata"]["resourceVersion"]
        live["status"] = dict(body["status"])
        return live

    async def delete(self, path: str) -> dict[str, Any]:
        self._found(path)
        return self.grants.pop(path.rpartition("/")[2])


def entry(*reasons: str, would: Answer = Answer.DENY, **more: Any) -> Entry:
    asked = Asked(
        review="r", operation=Operation.DELETE, key=ObjectKey(SERVICES, "prod", "web"), uid="u1"
    )
    given = {
        "decision": "06g1w2k3m4n5p", "utc_s": 0.0, "lane": "destructive",
        "point": Point.ADMISSION, "identity": "system:serviceaccount:x:y", "operator": "balancer",
        "stage": "enforce", "asked": asked, "answer": Answer.DENY, "would": would,
        "reasons": tuple(Reason(code, "share-budget", "words") for code in reasons),
        "digest": "a" * 32,
    }  # fmt: skip
    return Entry(**{**given, **more})


def test_what_a_decision_refused_is_granted_by_its_digest() -> None:
    """For its operator, once, for the time that was said."""
    found = for_decision(entry("budget_exhausted"), TERMS, NOW)
    assert (found.operator, found.digest, found.policies) == ("balancer", "a" * 32, ())
    assert (found.uses, found.expires_utc_s) == (1, NOW.utc_s + 600)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (entry(would=Answer.WARN), "refused nothing"),
        (entry("quarantined"), "suture release"),
        (entry("doubt_stale"), "in doubt"),
        (entry("budget_exhausted", digest=""), "--policy"),
    ],
)
def test_what_cannot_be_granted(line: Entry, words: str) -> None:
    """And what to do instead."""
    with pytest.raises(InputError, match=words):
        for_decision(line, TERMS, NOW)


def test_a_grant_has_a_reason_a_time_and_somebody() -> None:
    assert [span_s(text) for text in ("90s", "10m", "2h", "1d")] == [90, 600, 7_200, 86_400]
    for wrong in ("", "10", "10w", "0m", "31d", "-1h", "1.5h", "99999999999d"):
        with pytest.raises(InputError, match="no time for a grant"):
            span_s(wrong)
    with pytest.raises(InputError, match="--operator"):
        for_policies("", ("live-data",), Scope(), TERMS, NOW)
    with pytest.raises(InputError, match="needs a reason"):
        for_policies("b", ("live-data",), Scope(), Terms(reason=" ", seconds=60), NOW)


async def test_a_grant_is_given_in_the_persons_own_name() -> None:
    """Made, read again as it was meant, listed, and taken back."""
    cluster = Cluster()
    scope = Scope(("services",), ("prod",), ("web",))
    wanted = for_policies("system:serviceaccount:infra:op", ("live-data",), scope, TERMS, NOW)

    given = await give(cluster, wanted, decision="06g1w2k3m4n5p")

    assert (given.name, given.approver) == ("infra-op-abcde", "bob")
    assert await all_grants(cluster) == (given,)
    body = msgspec.json.encode(await cluster.get(GRANTS_PATH))
    assert read_grants(body) == ((given,), ())
    assert (given.scope, given.uses, given.expires_utc_s) == (scope, 1, NOW.utc_s + 600)
    await revoke(cluster, given.name)
    with pytest.raises(InputError, match="no grant"):
        await revoke(cluster, given.name)


async def test_without_suture_nothing_is_granted() -> None:
    cluster = Cluster(served=False)
    for wanted in (give(cluster, for_decision(entry("x"), TERMS, NOW)), all_grants(cluster)):
        with pytest.raises(InputError, match="suture install"):
            await wanted


async def test_a_use_is_marked_on_the_grant_itself() -> None:
    """Over conflicts; no more often than it may be used, and not once it was taken back."""
    cluster = Cluster(conflicts=2)
    given = await give(
        cluster, for_decision(entry("x"), Terms(reason="r", seconds=60, uses=2), NOW)
    )
    marks = ClusterMarks(cluster)

    assert await marks.mark(given, "d1", NOW) == 1
    assert await marks.mark(given, "d2", NOW) == 2
    status = cluster.grants[given.name]["status"]
    assert (status["used"], status["lastDecision"]) == (2, "d2")
    assert status["lastUsed"] == "2027-01-15T08:00:00+00:00"
    with pytest.raises(UsedUpError):
        await marks.mark(given, "d3", NOW)
    (read,) = await all_grants(cluster)
    assert state_of(read, NOW) == "used up"

    another = msgspec.structs.replace(given, uid="another-life", uses=0)
    with pytest.raises(UsedUpError):
        await marks.mark(another, "d4", NOW)
    await revoke(cluster, given.name)
    with pytest.raises(UsedUpError):
        await marks.mark(given, "d5", NOW)


async def test_a_mark_that_meets_conflicts_all_the_time_is_none() -> None:
    """Somebody else is at it; the write is refused and may come again."""
    cluster = Cluster(conflicts=100)
    given = await give(cluster, for_decision(entry("x"), TERMS, NOW))
    with pytest.raises(ApiConflictError):
        await ClusterMarks(cluster).mark(given, "d1", NOW)


async def test_marks_in_memory_count_alike() -> None:
    marks, given = MemoryMarks(), for_decision(entry("x"), TERMS, NOW)
    assert await marks.mark(given, "d1", NOW) == 1
    with pytest.raises(UsedUpError):
        await marks.mark(given, "d2", NOW)


def grants_of(*specs: dict[str, Any]) -> bytes:
    items = [
        {"metadata": {"name": f"g{at}", "uid": f"u{at}"}, "spec": spec}
        for at, spec in enumerate(specs)
    ]
    return json.dumps({"metadata": {}, "items": items}).encode()


def spec(**more: Any) -> dict[str, Any]:
    return {
        "operator": "b", "approver": "bob", "reason": "r", "expires": "2027-01-01T00:00:00Z",
        "policies": ["*"], **more,
    }  # fmt: skip


def test_a_grant_that_cannot_be_read_allows_nothing_and_stops_no_other() -> None:
    """Each wrong one is named."""
    body = grants_of(
        spec(), spec(expires="soon"), spec(digest="a" * 32), spec(policies=[]), {"operator": "b"}
    )
    grants, problems = read_grants(body)
    assert [one.name for one in grants] == ["g0"]
    assert len(problems) == 4


def test_freeze_windows_are_read_alike() -> None:
    """Times with an offset are the moment that they mean."""
    good = {"from": "2027-01-01T02:00:00+02:00", "until": "2027-01-02T00:00:00Z", "reason": "r"}
    items = [
        {"metadata": {"name": "a"}, "spec": good},
        {"metadata": {"name": "b"}, "spec": {**good, "until": "later"}},
    ]
    windows, problems = read_freezes(json.dumps({"items": items}).encode())
    assert windows == (
        Freeze(
            name="a", from_utc_s=1_798_761_600.0, until_utc_s=1_798_848_000.0, reason="r",
        ),
    )  # fmt: skip
    assert len(problems) == 1


class Silent:
    """A cluster of which nothing is read here."""


def test_it_is_ready_only_when_all_was_read() -> None:
    """Also where grants and windows are not served yet: then there are none."""
    world = World(compile_policies([]))
    enforcer = Enforcer(Silent(), world, "suture-system", (), ("oncall",))  # type: ignore[arg-type]
    empty = b'{"metadata": {}, "items": []}'
    for take, body in (
        (enforcer.take_profiles, empty),
        (enforcer.take_quarantine, empty),
        (enforcer.take_grants, NONE_SERVED),
        (enforcer.take_freezes, NONE_SERVED),
    ):
        assert not enforcer.read
        take(body)
    assert enforcer.read
    enforcer.take_grants(grants_of(spec()))
    assert [one.name for one in world.grants.all] == ["g0"]


def test_what_was_used_here_stays_used_when_the_list_is_older() -> None:
    """The watch may be behind what was just marked."""
    world = World(compile_policies([]))
    (grant,), _ = read_grants(grants_of(spec()))
    world.grants.replace([grant])
    world.grants.note_used(grant, "digest", 1, NOW)
    world.grants.replace([grant])
    assert world.grants.spent(grant)


def test_the_document_says_what_the_grant_says() -> None:
    """What is empty is left out."""
    grant = Grant(
        name="g", uid="", operator="b", approver="bob", reason="r", expires_utc_s=NOW.utc_s,
        digest="a" * 32, uses=0,
    )  # fmt: skip
    assert grant_document(grant, decision="d")["spec"] == {
        "operator": "b", "approver": "bob", "reason": "r", "expires": "2027-01-15T08:00:00Z",
        "uses": 0, "digest": "a" * 32, "decision": "d",
    }  # fmt: skip
    assert FREEZES_PATH != GRANTS_PATH
