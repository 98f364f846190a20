"""The guard never becomes the outage: dead, frozen, restarting, and a cluster that starts without it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self

import pytest

from support.acting import LIMIT_S, told_where
from support.recorder import until
from support.scene import operators
from suture.lab.guard import Guard, guarded
from suture.lab.identities import ServiceAccount
from suture.lab.plane import Plane
from suture.lab.rest import Rest, StatusError
from suture.model.actor import Profile, Stage, WhenDead

pytestmark = pytest.mark.lab

SPACE = "reliability"
PASSING = ServiceAccount(SPACE, "passing")
HELD = ServiceAccount(SPACE, "held")
MAPS = f"/api/v1/namespaces/{SPACE}/configmaps"
RANGES = f"/api/v1/namespaces/{SPACE}/limitranges"
PER_CLAIM = {"type": "PersistentVolumeClaim", "max": {"storage": "1Ti"}}
"""WHY of claims: what is held stays, and must not limit the pods of the tests after it."""
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{SPACE}/leases"

AUTHORIZER_S, DESTRUCTIVE_S, OTHER_S = 1.0, 2.0, 1.0
"""What a Suture that hangs may cost one write: it is asked at authorization, then at admission."""
SLACK_S = 2.0
"""A busy machine's share of a request; the timeouts themselves are what is looked for."""
REPLACED_S = 15.0
"""The probes take 9 s at most; starting a process on a busy machine, some more."""


@pytest.fixture(scope="module")
def guard(plane: Plane) -> Iterator[Guard]:
    """Return a running guard with one operator that passes and one that is held."""
    admin = plane.admin
    operators(plane, SPACE, PASSING, HELD)
    profiles = (
        Profile("passing", (PASSING.user,), stage=Stage.ENFORCE),
        Profile("held", (HELD.user,), stage=Stage.ENFORCE, when_dead=WhenDead.HOLD),
    )
    with guarded(plane, profiles=profiles) as running:
        yield running
    admin.delete(f"/api/v1/namespaces/{SPACE}")


@pytest.fixture
def awake(guard: Guard) -> Iterator[Guard]:
    """Return the guard, and bring it back after whatever a test did to it."""
    yield guard
    guard.stop()
    guard.start()


@dataclass
class Outcome:
    """What became of one write, and how long it took."""

    error: str
    seconds: float


@dataclass
class Leaders:
    """Two elected clients that renew every five seconds, as controllers do."""

    plane: Plane
    failures: list[str] = field(default_factory=list)
    renewals: int = 0
    _over: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> Self:
        for account in (PASSING, HELD):
            client = self.plane.client(account)
            thread = threading.Thread(target=self._renew, args=(client, account.name))
            self._threads.append(thread)
            thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _renew(self, client: Rest, name: str) -> None:
        body = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": name},
            "spec": {"holderIdentity": name, "leaseDurationSeconds": 15},
        }
        while True:
            began = time.monotonic()
            try:
                client.patch(f"{LEASES}/{name}", body, kind="apply", force="true")
                self.renewals += 1
            except StatusError as error:
                self.failures.append(str(error))
            took = time.monotonic() - began
            if took > 10:
                self.failures.append(f"a renewal took {took:.1f} s")
            if self._over.wait(max(0.0, 5 - took)):
                return


def attempt(client: Rest, method: str, path: str, body: object = None) -> Outcome:
    """Write once; return the error, if any, and the time."""
    began = time.monotonic()
    try:
        client.call(method, path, body=body)
    except StatusError as error:
        return Outcome(str(error), time.monotonic() - began)
    return Outcome("", time.monotonic() - began)


def deletes_and_updates(plane: Plane, stem: str) -> dict[str, Outcome]:
    """Have each operator create, update and delete an object; return what became of each."""
    found: dict[str, Outcome] = {}
    for account in (PASSING, HELD):
        client = plane.client(account)
        name = f"{stem}-{account.name}"
        # WHY limit ranges: no constraint reads their updates, and no controller writes them, at
        # which a delete that waits is asked again, and waits again.
        found[f"{account.name} create"] = attempt(
            client, "POST", RANGES, {"metadata": {"name": name}, "spec": {"limits": []}}
        )
        found[f"{account.name} update"] = attempt(
            client, "PUT", f"{RANGES}/{name}",
            {"metadata": {"name": name}, "spec": {"limits": [PER_CLAIM]}},
        )  # fmt: skip
        found[f"{account.name} delete"] = attempt(client, "DELETE", f"{RANGES}/{name}")
    return found


def check_dead(found: dict[str, Outcome]) -> None:
    """Only destructive writes of the held operator fail; nobody waits longer than its lane may."""
    failed = {what for what, outcome in found.items() if outcome.error}
    assert failed == {"held delete"}, {what: found[what].error for what in failed}
    for what, outcome in found.items():
        limit = DESTRUCTIVE_S if what.endswith("delete") else OTHER_S
        assert outcome.seconds < AUTHORIZER_S + limit + SLACK_S, (what, outcome)


def test_killed_only_what_is_held_fails(awake: Guard) -> None:
    """With `whenDead: pass` nobody's write fails; with `hold` destructive ones of the held do."""
    awake.kill()

    check_dead(deletes_and_updates(awake.plane, "killed"))


def test_frozen_costs_no_more_than_the_lane_and_is_replaced(awake: Guard) -> None:
    """A server that hangs with its port open is ended and replaced by its liveness probe."""
    starts = awake.starts
    with Leaders(awake.plane) as leaders:
        awake.freeze()
        frozen_at = time.monotonic()
        check_dead(deletes_and_updates(awake.plane, "frozen"))
        while awake.starts == starts and time.monotonic() < frozen_at + 30:
            time.sleep(0.1)
        replaced_s = time.monotonic() - frozen_at
        awake.await_ready()
        # Some renewals after the replacement too.
        time.sleep(6)

    assert replaced_s < REPLACED_S
    assert leaders.failures == []
    assert leaders.renewals >= 4
    after = deletes_and_updates(awake.plane, "after")
    assert [outcome.error for outcome in after.values()] == [""] * len(after)


def test_the_cluster_restarts_with_suture_dead(awake: Guard) -> None:
    """Nothing that the cluster needs to start waits for us, held operators or not."""
    awake.kill()
    plane = awake.plane

    plane.restart("kube-apiserver")
    plane.restart("kube-controller-manager")
    plane.restart("kube-scheduler")
    labels = {"app": "restarted"}
    plane.admin.create(
        f"/apis/apps/v1/namespaces/{SPACE}/deployments",
        {
            "metadata": {"name": "restarted"},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"containers": [{"name": "main", "image": "none"}]},
                },
            },
        },
    )

    def ready() -> bool:
        path = f"/apis/apps/v1/namespaces/{SPACE}/deployments/restarted"
        return bool(plane.admin.get(path).get("status", {}).get("readyReplicas") == 2)

    # WHY as long as after any disturbance: it is the clients' backoff that is waited for, not us.
    with told_where(plane, SPACE):
        until("two Ready pods", ready, limit_s=LIMIT_S)


def test_suture_keeps_its_own_namespace(awake: Guard) -> None:
    """Alive and dead: a cluster-admin service account cannot take Suture's Service away."""
    client = awake.plane.client(PASSING)
    path = "/api/v1/namespaces/suture-system/services/suture"

    alive = attempt(client, "DELETE", path)
    awake.kill()
    dead = attempt(client, "DELETE", path)
    whole = attempt(client, "DELETE", "/api/v1/namespaces/suture-system")

    for outcome in (alive, dead, whole):
        assert "suture-namespace" in outcome.error
    assert awake.plane.admin.exists(path)
