"""Quarantine on a real API server with Suture dead: proven, and no write after it was said."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self

import pytest

from support.recorder import until
from support.scene import operators, refused
from suture.adapters.kube import KubeClient
from suture.app import quarantine as steps
from suture.app.apply import apply_documents
from suture.app.operators import Wanted, profiles_of, set_operator
from suture.app.quarantine import LISTED, Endpoint, Report, Subject, subjects_of
from suture.errors import InputError, UnavailableError
from suture.install.guards import guards
from suture.install.manifests import base_manifests
from suture.install.registration import registration
from suture.install.settings import Installation, UrlTarget
from suture.lab.assets import Assets
from suture.lab.guard import guarded
from suture.lab.identities import Person, ServiceAccount
from suture.lab.plane import Plane
from suture.lab.rest import Rest
from suture.model.actor import Profile, Stage, WhenDead

pytestmark = pytest.mark.lab

NAMESPACE = "quarantine-op"
ACCOUNT = ServiceAccount(NAMESPACE, "op")
TRIALS = 20
WRITERS = 4
_names = itertools.count()


@pytest.fixture(scope="module")
def plane(lab_assets: Assets) -> Iterator[Plane]:
    """Return a control plane of this module's own.

    WHY: other tests delete policies with a ConfigMap as parameter, after which an API server
    follows no ConfigMap any more (see `prove_list`).
    """
    with Plane.up("quarantine", binaries=lab_assets, nodes=1) as running:
        yield running


@pytest.fixture(scope="module")
def stopped(plane: Plane) -> Plane:
    """Install the guards, and a registration whose server is dead; make an operator."""
    installation = Installation(
        target=UrlTarget("https://127.0.0.1:9"), ca_bundle=plane.webhook_server_ca.read_bytes()
    )
    documents = [
        *(one for one in base_manifests(installation) if one["kind"] != "Deployment"),
        *guards(installation),
        registration(installation),
    ]

    async def apply() -> None:
        async with KubeClient.from_kubeconfig(plane.kubeconfig()) as client:
            await apply_documents(client, documents)

    asyncio.run(apply())
    operators(plane, NAMESPACE, ServiceAccount(NAMESPACE, "op"))
    return plane


async def stop(plane: Plane, operator: str, reason: str = "a test") -> Report:
    async with KubeClient.from_kubeconfig(plane.kubeconfig()) as client:
        return await steps.quarantine(
            Endpoint(plane.endpoint, client),
            operator,
            reason,
            namespace="suture-system",
            when="now",
        )


async def let_go(plane: Plane, operator: str) -> Report:
    async with KubeClient.from_kubeconfig(plane.kubeconfig()) as client:
        return await steps.release(
            Endpoint(plane.endpoint, client), operator, namespace="suture-system"
        )


@dataclass
class Writers:
    """An operator that writes as fast as it can, from several connections."""

    clients: list[Rest]
    refuser: str = "suture-quarantine"
    """What every refusal names: with Suture dead, the in-process policy and nobody else."""
    admitted: list[tuple[float, float]] = field(default_factory=list)
    refused: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._threads = [threading.Thread(target=self._write, args=(one,)) for one in self.clients]
        for thread in self._threads:
            thread.start()
        until("the operator to write", lambda: len(self.admitted) > 10)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _write(self, client: Rest) -> None:
        path = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
        while not self._stop.is_set():
            sent = time.monotonic()
            body = {"metadata": {"name": f"w-{next(_names)}"}}
            answer = client.request("POST", path, body=body)
            if answer.is_success:
                self.admitted.append((sent, time.monotonic()))
            else:
                assert self.refuser in answer.text
                self.refused += 1


def test_no_write_after_the_acknowledgement(stopped: Plane) -> None:
    """Twenty times: once it is said that the operator is stopped, nothing of it is admitted."""
    check_trials(stopped)


def check_trials(stopped: Plane, *, refuser: str = "suture-quarantine") -> None:
    """Stop a busy operator and let it go again, time after time."""
    clients = [stopped.client(ACCOUNT) for _ in range(WRITERS)]
    lasted = []
    for _ in range(TRIALS):
        with Writers(clients, refuser) as writers:
            began = time.monotonic()
            report = asyncio.run(stop(stopped, f"{NAMESPACE}/op"))
            said = time.monotonic()
            time.sleep(0.1)
        assert report.proven
        assert writers.refused
        late = [sent for sent, answered in writers.admitted if answered > said]
        assert not late
        lasted.append(max(sent for sent, _ in writers.admitted) - began)
        asyncio.run(let_go(stopped, f"{NAMESPACE}/op"))
    # The promised figure is the benchmark's; here the cores belong to other tests too.
    assert sorted(lasted)[TRIALS // 2] < 3.0
    client = clients[0]
    free = {"metadata": {"name": f"free-{next(_names)}"}}
    client.create(f"/api/v1/namespaces/{NAMESPACE}/configmaps", free)


def test_what_passes_and_what_is_said(stopped: Plane) -> None:
    """The reason is in the operator's own error; what is not covered passes, and is said."""
    operator = stopped.client(ACCOUNT)
    services = f"/api/v1/namespaces/{NAMESPACE}/services"
    operator.create(services, {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 1}]}})
    report = asyncio.run(stop(stopped, ACCOUNT.user, "deletes Services\nsince noon"))
    try:
        error = refused(lambda: operator.delete(f"{services}/s"))
        assert "deletes Services since noon" in str(error)
        assert "suture release" in str(error)
        operator.create(
            f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases",
            {"metadata": {"name": "l"}},
        )
        operator.patch(f"{services}/s/status", {"status": {"loadBalancer": {}}})
        operator.create(
            f"/api/v1/namespaces/{NAMESPACE}/events",
            {
                "metadata": {"name": "e"},
                "involvedObject": {"namespace": NAMESPACE},
                "type": "Normal",
            },
        )
        assert report.policy_edits == "", "a cluster-admin without authorizer and static manifest"
        assert any("lease" in line for line in report.not_covered)
    finally:
        asyncio.run(let_go(stopped, ACCOUNT.user))
    operator.delete(f"{services}/s")


def test_by_group_and_without_rights(stopped: Plane) -> None:
    """A group is stopped whole; an identity that RBAC refuses everything is proven all the same."""
    report = asyncio.run(stop(stopped, "group:quarantine-robots"))
    try:
        assert report.subjects == (Subject("group", "quarantine-robots"),)
        robot = stopped.client(Person("r2", ("quarantine-robots", "system:masters")))
        path = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
        assert "suture-quarantine" in str(
            refused(lambda: robot.create(path, {"metadata": {"name": "x"}}))
        )
    finally:
        asyncio.run(let_go(stopped, "group:quarantine-robots"))
    asyncio.run(stop(stopped, "nobody@example.com"))
    asyncio.run(let_go(stopped, "nobody@example.com"))


def test_a_quarantine_that_does_not_bite_is_no_success(stopped: Plane) -> None:
    """Under a policy that matches nothing, nothing is reported as stopped."""
    policy = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/suture-quarantine"
    kept = stopped.admin.get(policy)["spec"]["matchConditions"]
    never = [{"name": "never", "expression": "false"}]
    operator = stopped.client(ACCOUNT)
    maps = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
    probe = {"metadata": {"name": "probe"}}
    asyncio.run(stop(stopped, f"{NAMESPACE}/op"))
    stopped.admin.patch(policy, {"spec": {"matchConditions": never}})
    try:
        until(
            "the policy to match nothing",
            lambda: operator.request("POST", maps, body=probe, params={"dryRun": "All"}).is_success,
        )
        with pytest.raises(UnavailableError, match="NOT STOPPED"):
            asyncio.run(stop(stopped, f"{NAMESPACE}/op"))
    finally:
        stopped.admin.patch(policy, {"spec": {"matchConditions": kept}})
        asyncio.run(let_go(stopped, f"{NAMESPACE}/op"))


@pytest.mark.parametrize(
    "operator",
    [
        "system:apiserver",
        "kube-system/generic-garbage-collector",
        "system:node:n1",
        "group:system:nodes",
        "group:system:masters",
    ],
)
def test_the_machinery_is_not_stopped(stopped: Plane, operator: str) -> None:
    with pytest.raises(InputError, match="cannot do without"):
        asyncio.run(stop(stopped, operator))


def test_who_is_not_there_is_not_released(stopped: Plane) -> None:
    with pytest.raises(InputError, match="not quarantined"):
        asyncio.run(let_go(stopped, "someone-else"))


def test_it_holds_through_a_restart(stopped: Plane) -> None:
    """From its first answer on, an API server that was restarted refuses what is on the list."""
    operator = stopped.client(ACCOUNT)
    path = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
    asyncio.run(stop(stopped, f"{NAMESPACE}/op"))
    codes = set()
    restart = threading.Thread(target=stopped.restart, args=("kube-apiserver",))
    restart.start()
    try:
        end = time.monotonic() + 3
        while restart.is_alive() or time.monotonic() < end:
            try:
                answer = operator.request("POST", path, body={"metadata": {"name": "restarted"}})
            except UnavailableError:
                time.sleep(0.02)
            else:
                codes.add(answer.status_code)
    finally:
        restart.join()
        asyncio.run(let_go(stopped, f"{NAMESPACE}/op"))
    assert 403 in codes
    assert not [code for code in codes if code < 300]


def test_the_list_is_proven_at_install(stopped: Plane) -> None:
    """The probe of the installation leaves nothing behind."""
    path = "/api/v1/namespaces/suture-system/configmaps/suture-quarantine"

    async def run() -> None:
        async with KubeClient.from_kubeconfig(stopped.kubeconfig()) as client:
            await steps.prove_list(Endpoint(stopped.endpoint, client), namespace="suture-system")

    before = stopped.admin.get(path).get("data")
    asyncio.run(run())
    assert stopped.admin.get(path).get("data") == before


def test_a_full_list_is_not_made_longer(stopped: Plane) -> None:
    """One more than the policy reads is refused before it would lift all the others."""
    path = "/api/v1/namespaces/suture-system/configmaps/suture-quarantine"
    full = {f"k{number}": f"user u{number}\nfull" for number in range(LISTED)}
    stopped.admin.patch(path, {"data": full})
    try:
        with pytest.raises(InputError, match="at most"):
            asyncio.run(stop(stopped, "one-more"))
    finally:
        stopped.admin.patch(path, {"data": dict.fromkeys(full)})


def test_a_list_that_was_deleted_is_made_anew(stopped: Plane) -> None:
    path = "/api/v1/namespaces/suture-system/configmaps/suture-quarantine"
    stopped.admin.delete(path)
    asyncio.run(stop(stopped, f"{NAMESPACE}/op"))
    asyncio.run(let_go(stopped, f"{NAMESPACE}/op"))


def test_operators_are_set(stopped: Plane) -> None:
    """A profile is written; the registration follows where it must, and keeps its address."""
    hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/suture"

    async def run() -> None:
        async with KubeClient.from_kubeconfig(stopped.kubeconfig()) as client:
            before = await client.get(hooks)
            name = Wanted(name="q-op", users=(ACCOUNT.user,), stage=Stage.WARN)
            assert (await set_operator(client, name)).stage is Stage.WARN
            unchanged = await client.get(hooks)
            version = before["metadata"]["resourceVersion"]
            assert unchanged["metadata"]["resourceVersion"] == version, "a service account, passing"
            held = await set_operator(client, Wanted(name="q-op", when_dead=WhenDead.HOLD))
            assert (held.users, held.stage) == ((ACCOUNT.user,), Stage.WARN), "the rest stays"
            after = await client.get(hooks)
            lane = after["webhooks"][1]
            assert lane["failurePolicy"] == "Fail"
            assert any(ACCOUNT.user in one["expression"] for one in lane["matchConditions"])
            assert lane["clientConfig"] == before["webhooks"][1]["clientConfig"]
            assert await subjects_of(client, "q-op") == (Subject("user", ACCOUNT.user),)
            await set_operator(client, Wanted(name="default", default=True, stage=Stage.ENFORCE))
            assert {one.name for one in await profiles_of(client)} >= {"q-op", "default"}
            for bad in (
                Wanted(name="nobody"),
                Wanted(name="twice", users=(ACCOUNT.user,)),
                Wanted(name="default", default=True, when_dead=WhenDead.HOLD),
                Wanted(
                    name="cni",
                    users=("system:serviceaccount:kube-system:cilium",),
                    when_dead=WhenDead.HOLD,
                ),
            ):
                with pytest.raises(InputError):
                    await set_operator(client, bad)

    try:
        asyncio.run(run())
        held = stopped.client(ACCOUNT)
        services = f"/api/v1/namespaces/{NAMESPACE}/services"
        held.create(services, {"metadata": {"name": "h"}, "spec": {"ports": [{"port": 1}]}})
        # held: destructive requests fail while Suture is dead, and say why
        until(
            "the held lane to be in force",
            lambda: (
                "destructive-held.suture.dev"
                in held.request(
                    "DELETE",
                    f"{services}/h",
                    body={"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": ["All"]},
                ).text
            ),
        )
        held.patch(f"{services}/h", {"metadata": {"labels": {"a": "b"}}})
    finally:
        for name in ("q-op", "default"):
            path = f"/apis/suture.dev/v1alpha1/operatorprofiles/{name}"
            stopped.admin.request("DELETE", path)


def test_no_write_after_the_acknowledgement_with_suture_running(stopped: Plane) -> None:
    """The same with the webhook and the authorizer alive: whoever refuses first, nothing passes."""
    profiles = (Profile("quarantine-op", (ACCOUNT.user,), stage=Stage.ENFORCE),)
    hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/suture"
    stopped.admin.delete(hooks)
    with guarded(stopped, profiles=profiles):
        # Alive, the authorizer refuses first, under the policy's short name.
        check_trials(stopped, refuser="quarantine]")
