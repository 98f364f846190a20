"""What a person may ask for: profiles that make sense, identities that may be held or stopped."""

from __future__ import annotations

from typing import Any, Self

import pytest

from suture.app.apply import differences
from suture.app.operators import COLD_START, Wanted, check, merged
from suture.app.quarantine import Subject, identity_of, key_of, subjects_of
from suture.errors import InputError, NotFoundError
from suture.install.settings import Installation, enrol
from suture.model.actor import IdentityKind, Operators, Profile, Stage, UserInfo, WhenDead

ACCOUNT = "system:serviceaccount:infra:balancer"


def test_what_is_not_given_stays() -> None:
    """A profile is changed where a person says so, and nowhere else."""
    known = Profile("b", users=(ACCOUNT,), stage=Stage.WARN, when_dead=WhenDead.HOLD)
    assert merged(Wanted(name="b", stage=Stage.ENFORCE), known) == Profile(
        "b", users=(ACCOUNT,), stage=Stage.ENFORCE, when_dead=WhenDead.HOLD
    )
    assert merged(Wanted(name="b", users=("other",)), known).users == ("other",)
    assert merged(Wanted(name="default", default=True), None).stage is Stage.OBSERVE


@pytest.mark.parametrize(
    "profile",
    [
        pytest.param(Profile("d", default=True, stage=Stage.CONFIRM), id="the-default"),
        pytest.param(Profile("b", users=(ACCOUNT,), stage=Stage.CONFIRM), id="a-machine"),
        pytest.param(
            Profile("b", groups=("system:serviceaccounts:x",), stage=Stage.CONFIRM), id="machines"
        ),
        pytest.param(
            Profile("b", users=("al",), stage=Stage.CONFIRM, when_dead=WhenDead.HOLD), id="held"
        ),
    ],
)
def test_only_people_confirm(profile: Profile) -> None:
    """A machine has nobody who could read the impact, and a person is never held."""
    check(Profile("a", users=("alice",), stage=Stage.CONFIRM), [])
    with pytest.raises(InputError):
        check(profile, [])


def test_who_confirms_goes_the_way_of_people() -> None:
    """Not among the machines of the lanes, and a person to Suture."""
    alice = Profile("alice", users=("alice",), groups=("sre",), stage=Stage.CONFIRM)
    assert enrol(Installation(), [alice]).enrolled.empty

    operators = Operators([alice], break_glass=["oncall"])
    person = operators.attribute(UserInfo("bob", ("sre",)))
    machine = operators.attribute(UserInfo(ACCOUNT, ("sre",)))
    emergency = operators.attribute(UserInfo("alice", ("oncall",)))

    assert (person.kind, person.stage) == (IdentityKind.PERSON, Stage.CONFIRM)
    assert (machine.kind, machine.stage) == (IdentityKind.OPERATOR, Stage.ENFORCE)
    assert emergency.kind is IdentityKind.BREAK_GLASS
    assert [operators.is_operator(name) for name in ("alice", ACCOUNT, "eve")] == [
        False, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "wanted",
    [Wanted(name="nobody"), Wanted(name="default", default=True, users=("a",))],
)
def test_a_profile_means_somebody(wanted: Wanted) -> None:
    with pytest.raises(InputError):
        merged(wanted, None)


@pytest.mark.parametrize(
    "profile",
    [
        pytest.param(Profile("d", default=True), id="a-second-default"),
        pytest.param(Profile("b", users=(ACCOUNT,)), id="a-user-of-two"),
        pytest.param(Profile("b", groups=("robots",)), id="a-group-of-two"),
        *(
            pytest.param(Profile("b", groups=(group,), when_dead=WhenDead.HOLD), id=f"hold-{group}")
            for group in ("system:serviceaccounts", "system:serviceaccounts:kube-system")
        ),
        *(
            pytest.param(
                Profile(
                    "b",
                    users=(f"system:serviceaccount:{namespace}:x",),
                    when_dead=WhenDead.HOLD,
                ),
                id=f"hold-in-{namespace}",
            )
            for namespace in sorted(COLD_START)
        ),
    ],
)
def test_what_would_harm_is_refused(profile: Profile) -> None:
    """Nobody is named twice, and what a cluster needs to start is never held."""
    others = [
        Profile("default", default=True),
        Profile("other", users=(ACCOUNT,), groups=("robots",)),
    ]
    with pytest.raises(InputError):
        check(profile, others)


class Cluster:
    """An API server with one profile."""

    async def get(self, path: str) -> dict[str, Any]:
        if path.endswith("/balancer"):
            return {"spec": {"users": [ACCOUNT], "groups": ["robots"]}}
        if path.endswith("/default"):
            return {"spec": {"default": True}}
        raise NotFoundError(404, "NotFound", path)

    async def create(self, path: str, body: Any, *, dry_run: bool = False) -> dict[str, Any]:
        raise NotImplementedError

    async def patch(self, path: str, body: Any, *, type: Any) -> dict[str, Any]:  # noqa: A002
        raise NotImplementedError

    async def delete(self, path: str, *, dry_run: bool = False) -> dict[str, Any]:
        raise NotImplementedError

    def impersonating(self, user: str, groups: Any = ()) -> Self:
        raise NotImplementedError


async def test_whom_a_name_means() -> None:
    """A profile's name is all its identities; else an account, a group, a user."""
    client = Cluster()
    assert await subjects_of(client, "balancer") == (
        Subject("user", ACCOUNT),
        Subject("group", "robots"),
    )
    assert await subjects_of(client, "infra/balancer") == (Subject("user", ACCOUNT),)
    assert await subjects_of(client, "group:robots") == (Subject("group", "robots"),)
    assert await subjects_of(client, "ci@example.com") == (Subject("user", "ci@example.com"),)
    for name in ("default", "system:apiserver", "group:system:masters", "group:", "a\nb"):
        with pytest.raises(InputError):
            await subjects_of(client, name)


def test_probes_have_the_identity_of_the_operator() -> None:
    """A service account is probed with the groups that an API server gives it."""
    assert identity_of(Subject("user", ACCOUNT)) == (
        ACCOUNT,
        ("system:serviceaccounts", "system:serviceaccounts:infra", "system:authenticated"),
    )
    assert "robots" in identity_of(Subject("group", "robots"))[1]


def test_keys_of_the_list_are_distinct_and_allowed() -> None:
    """Whatever a name holds, its key is one that a ConfigMap takes, and no other's."""
    names = ["a:b", "a-b", "a/b", "a" * 500, "a" * 501, "é", "user x"]
    keys = [key_of(Subject("user", name)) for name in names]
    keys += [key_of(Subject("group", name)) for name in names]
    assert len(set(keys)) == len(keys)
    for key in keys:
        assert len(key) <= 253
        assert all(char.isascii() and (char.isalnum() or char in "-._") for char in key)


def test_differences_name_the_field() -> None:
    """Each leaf that differs is told; long values from where they part."""
    live = {"spec": {"a": 1, "b": [1, 2], "long": "x" * 500 + "old"}}
    wanted = {"spec": {"a": 1, "b": [1, 3], "c": True, "long": "x" * 500 + "new"}}
    found = {field: (one, other) for field, one, other in differences(live, wanted)}
    assert found["spec.b[1]"] == ("2", "3")
    assert found["spec.c"] == ("absent", "true")
    assert "old" in found["spec.long"][0]
    assert len(found["spec.long"][1]) < 200
