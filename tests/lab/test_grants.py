"""On a real API server: what a person grants passes once, and no operator grants anything."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from support.scene import operators
from suture.cli import grant as commands
from suture.cli.status import status
from suture.install.freezes import FREEZES_PATH
from suture.install.grants import GRANTS_PATH, grant_document
from suture.lab.guard import Guard, guarded
from suture.lab.identities import Person, ServiceAccount
from suture.lab.plane import Plane
from suture.lab.rest import Rest, StatusError
from suture.model.actor import Profile, Stage
from suture.model.consent import CONFIRM_DELETE
from suture.model.grants import Grant

pytestmark = pytest.mark.lab

SPACE = "consent"
ACCOUNT = ServiceAccount(SPACE, "tidier")
BOB = Person("bob", ("system:masters",))
ALICE = Person("alice", ("system:masters",))
MAPS = f"/api/v1/namespaces/{SPACE}/configmaps"
PROTECTED = {"suture.dev/protect": "true"}

SEEN_S = 60.0
"""A watch tells within a tenth of a second; a busy machine is given six hundred times that."""


@pytest.fixture(scope="module")
def guard(plane: Plane) -> Iterator[Guard]:
    """Return a running guard, an enforced operator, and a person who confirms."""
    admin = plane.admin
    operators(plane, SPACE, ACCOUNT)
    profiles = (
        Profile("tidier", (ACCOUNT.user,), stage=Stage.ENFORCE),
        Profile("alice", (ALICE.user,), stage=Stage.CONFIRM),
    )
    with guarded(plane, profiles=profiles) as running:
        yield running
        for path in (GRANTS_PATH, FREEZES_PATH):
            for one in admin.get(path)["items"]:
                admin.delete(f"{path}/{one['metadata']['name']}")
    admin.delete(f"/api/v1/namespaces/{SPACE}")


@pytest.fixture
def operator(guard: Guard) -> Rest:
    return guard.plane.client(ACCOUNT)


def kept(guard: Guard, name: str) -> str:
    """Create an object that people marked to stay; return its path."""
    guard.plane.admin.create(MAPS, {"metadata": {"name": name, "labels": PROTECTED}})
    return f"{MAPS}/{name}"


def refusal(write: Callable[[], Any]) -> StatusError:
    """Return how a write is refused."""
    with pytest.raises(StatusError) as refused:
        write()
    return refused.value


def decision_of(error: StatusError) -> str:
    found = re.search(r"decision ([0-9a-z]{13})", error.message)
    assert found, error
    return found[1]


def given(guard: Guard, *words: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Run `suture grant` as Bob; return the grant."""
    capsys.readouterr()
    where = ["--kubeconfig", str(guard.plane.kubeconfig(BOB)), "--output", "json"]
    status = commands.app([*words, *where], result_action="return_value")
    assert status == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def eventually(write: Callable[[], Any]) -> None:
    """Write until it passes: what a person allowed is known within a moment."""
    deadline = time.monotonic() + SEEN_S
    while True:
        try:
            write()
        except StatusError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return


def test_what_a_person_grants_passes_once(
    guard: Guard, operator: Rest, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the decision's id: this change passes, the next does not, a restart later neither."""
    path, other = kept(guard, "one"), kept(guard, "two")
    decision = decision_of(refusal(lambda: operator.delete(path)))

    grant = given(
        guard, decision, "--reason", "agreed", "--journal", str(guard.journal), capsys=capsys
    )
    (open_,) = [one for one in exceptions(guard, capsys) if one["name"] == grant["name"]]
    assert (open_["kind"], open_["left"], open_["reason"]) == ("Grant", 1, "agreed")
    eventually(lambda: operator.delete(path))

    assert grant["name"] not in {one["name"] for one in exceptions(guard, capsys)}
    assert (grant["approver"], grant["operator"]) == ("bob", "tidier")
    assert "delete-protection" in refusal(lambda: operator.delete(other)).message
    again = kept(guard, "one")
    refusal(lambda: operator.delete(again))
    live = guard.plane.admin.get(f"{GRANTS_PATH}/{grant['name']}")
    assert live["status"]["used"] == 1


def test_a_used_grant_stays_used_over_a_restart(
    guard: Guard, operator: Rest, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is the cluster that remembers."""
    first, second = kept(guard, "three"), kept(guard, "four")
    given(
        guard, "--policy", "delete-protection", "--operator", "tidier", "--namespace", SPACE,
        "--reason", "agreed", capsys=capsys,
    )  # fmt: skip
    eventually(lambda: operator.delete(first))

    guard.restart()

    refusal(lambda: operator.delete(second))


def test_no_operator_grants(guard: Guard, operator: Rest) -> None:
    """Nor does a person in another's name; nor is a grant edited, or taken back by a machine."""
    wanted = Grant(
        name="mine", uid="", operator="tidier", approver=ACCOUNT.user, reason="me",
        expires_utc_s=time.time() + 600, policies=("*",),
    )  # fmt: skip
    document = grant_document(wanted)
    bob = guard.plane.client(BOB)
    # Two policies refuse a machine; which of them the API server names is its own affair.
    assert "may not create" in refusal(lambda: operator.create(GRANTS_PATH, document)).message
    assert "suture-grants" in refusal(lambda: bob.create(GRANTS_PATH, document)).message

    document["spec"]["approver"] = "bob"
    bob.create(GRANTS_PATH, document)
    path = f"{GRANTS_PATH}/mine"

    refusal(lambda: operator.delete(path))
    refusal(lambda: operator.patch(f"{path}/status", {"status": {"used": 0}}, kind="merge"))
    edit = {"spec": {"policies": ["live-data"]}}
    assert "not edited" in refusal(lambda: bob.patch(path, edit, kind="merge")).message
    bob.delete(path)


def test_a_person_who_confirms_is_asked_once(guard: Guard) -> None:
    """Refused with the impact, passed once they have marked the object."""
    path = kept(guard, "five")
    alice = guard.plane.client(ALICE)
    assert "suture grant" in refusal(lambda: alice.delete(path)).message

    uid = alice.get(path)["metadata"]["uid"]
    alice.patch(path, {"metadata": {"annotations": {CONFIRM_DELETE: uid}}}, kind="merge")
    alice.delete(path)


def test_a_freeze_window_holds_machines(
    guard: Guard, operator: Rest, capsys: pytest.CaptureFixture[str]
) -> None:
    """429 until its end; a person goes on."""
    now = datetime.now(UTC)
    guard.plane.admin.create(MAPS, {"metadata": {"name": "six"}})
    window: dict[str, Any] = {
        "apiVersion": "suture.dev/v1alpha1",
        "kind": "FreezeWindow",
        "metadata": {"name": "ship"},
        "spec": {
            "from": (now - timedelta(minutes=1)).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "until": (now + timedelta(minutes=9)).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "reason": "we ship",
            "namespaces": [SPACE],
        },
    }
    backwards = {**window, "spec": {**window["spec"], "until": "2020-01-01T00:00:00Z"}}
    assert "end" in refusal(lambda: guard.plane.admin.create(FREEZES_PATH, backwards)).message
    guard.plane.admin.create(FREEZES_PATH, window)

    held = None
    deadline = time.monotonic() + SEEN_S
    while held is None and time.monotonic() < deadline:
        try:
            operator.delete(f"{MAPS}/six")
        except StatusError as error:
            held = error
        else:
            guard.plane.admin.create(MAPS, {"metadata": {"name": "six"}})
            time.sleep(0.1)
    assert held is not None
    assert (held.http_status, "we ship" in held.message) == (429, True)
    guard.plane.client(BOB).delete(f"{MAPS}/six")
    (shown,) = [one for one in exceptions(guard, capsys) if one["kind"] == "FreezeWindow"]
    assert (shown["name"], shown["who"], shown["reason"]) == ("ship", SPACE, "we ship")
    guard.plane.admin.delete(f"{FREEZES_PATH}/ship")


def exceptions(guard: Guard, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """Return what `suture status` says of grants and windows; the cluster is sound."""
    capsys.readouterr()
    assert status(kubeconfig=guard.plane.kubeconfig(BOB), output="json") == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["exceptions"]
    assert status(kubeconfig=guard.plane.kubeconfig(BOB)) == 0
    assert all(one["name"] in capsys.readouterr().out for one in found[:1])
    return found
