"""A control plane comes up, can be reached as anybody, be disturbed, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from support.recorder import until
from suture.errors import ConflictError, InputError, UnavailableError
from suture.lab import processes
from suture.lab.assets import Assets
from suture.lab.folder import Folder, ProcessState, State
from suture.lab.identities import ADMIN, Person, ServiceAccount
from suture.lab.plane import Plane
from suture.lab.programs import PROGRAMS
from suture.lab.rest import StatusError

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def survivors(state: State) -> list[str]:
    """Return the processes of a state that still live."""
    everyone = {"supervisor": state.supervisor, **state.processes}
    return [name for name, one in everyone.items() if processes.is_alive(one.pid, one.started)]


@pytest.mark.lab
def test_it_is_ready(plane: Plane) -> None:
    """Every program runs and says its version; nothing of it listens beyond loopback."""
    state = plane.status()
    assert state.phase == "ready"
    assert set(state.processes) == set(PROGRAMS)
    assert survivors(state) == ["supervisor", *PROGRAMS]
    assert plane.admin.get("/version")["gitVersion"] == plane.folder.read_spec().kubernetes_version
    assert "serving" in plane.log("kube-apiserver").lower()


@pytest.mark.lab
def test_anybody_can_be_somebody(plane: Plane) -> None:
    """Certificates and tokens carry their identity, and RBAC knows it."""
    review = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    for identity, user, groups in (
        (ADMIN, ADMIN.user, {"system:masters"}),
        (Person("alice", ("dev", "ops")), "alice", {"dev", "ops"}),
        (
            ServiceAccount("default", "default"),
            "system:serviceaccount:default:default",
            {"system:serviceaccounts:default"},
        ),
    ):
        info = plane.client(identity).create(review, {})["status"]["userInfo"]
        assert info["username"] == user
        assert groups <= set(info["groups"])
        kubeconfig = plane.kubeconfig(identity)
        assert kubeconfig.stat().st_mode & 0o077 == 0
        assert plane.kubeconfig(identity) == kubeconfig
    with pytest.raises(StatusError) as refusal:
        plane.client(Person("alice", ("dev",))).list("/api/v1/secrets")
    assert refusal.value.http_status == 403


@pytest.mark.lab
def test_several_live_side_by_side_and_leave_nothing(
    plane: Plane, lab_assets: Assets, tmp_path: Path
) -> None:
    """A second lab has ports of its own, survives its starter's absence, and goes when told."""
    folder = Folder(tmp_path / "deep" / ("x" * 60) / "second")
    second = Plane.start("second", folder=folder, binaries=lab_assets, nodes=0, stop_after_s=300)
    try:
        assert not set(plane.ports.values()) & set(second.ports.values())
        with pytest.raises(ConflictError, match="runs already"):
            Plane.start("second", folder=folder, binaries=lab_assets)
        elsewhere = Plane.attach(folder=folder)
        assert elsewhere.admin.list("/api/v1/nodes") == []
        assert len(plane.admin.list("/api/v1/nodes")) >= 3
        elsewhere.down()
        state = second.status()
        assert (state.phase, survivors(state)) == ("stopped", [])
        assert not Path(state.sockets).exists()
        assert not elsewhere.is_running()
        assert folder.log("etcd").exists()
        with pytest.raises(UnavailableError):
            second.restart("kwok")
    finally:
        second.down(delete=True)
    assert not folder.root.exists()
    assert plane.status().phase == "ready"


OWNER = """
import sys, time
from pathlib import Path
from suture.lab.assets import Assets
from suture.lab.folder import Folder
from suture.lab.plane import Plane
import msgspec
given = msgspec.json.decode(sys.argv[2])
found = Assets(given["version"], "test", {k: Path(v) for k, v in given["programs"].items()})
plane = Plane.start("owned", folder=Folder(Path(sys.argv[1])), binaries=found, nodes=0, owned=True)
print("up", flush=True)
time.sleep(600)
"""


@pytest.mark.lab
@pytest.mark.parametrize("victim", ["owner", "supervisor"])
def test_everything_dies_with_its_owner(lab_assets: Assets, tmp_path: Path, victim: str) -> None:
    """Whoever is killed without a chance to clean up: no program of the plane survives."""
    given = {
        "version": lab_assets.kubernetes_version,
        "programs": {name: str(path) for name, path in lab_assets.programs.items()},
    }
    folder = Folder(tmp_path / "owned")
    command = [sys.executable, "-c", OWNER, str(folder.root), msgspec.json.encode(given).decode()]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as owner:
        try:
            assert owner.stdout is not None
            assert owner.stdout.readline() == b"up\n"
            state = folder.read_state()
            assert state is not None
            assert len(survivors(state)) == 6
            pid = owner.pid if victim == "owner" else state.supervisor.pid
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            until("everything to be gone", lambda: not survivors(state))
        finally:
            owner.kill()
            Plane(folder).down()
    assert Plane(folder).status().phase == "stopped"


STARTER = """
import sys, threading, time
from pathlib import Path
from suture.lab.processes import start_bound
def start():
    with open(sys.argv[1], "wb") as log:
        Path(sys.argv[2]).write_text(str(start_bound(["sleep", "600"], log).pid))
thread = threading.Thread(target=start)
thread.start()
thread.join()
print("up", flush=True)
time.sleep(600)
"""


def test_what_is_bound_outlives_the_thread_that_asked_and_not_the_process(tmp_path: Path) -> None:
    """A guard's kubelet thread starts servers too; whoever is killed leaves none behind."""
    noted = tmp_path / "pid"
    command = [sys.executable, "-c", STARTER, str(tmp_path / "log"), str(noted)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as owner:
        try:
            assert owner.stdout is not None
            assert owner.stdout.readline() == b"up\n"
            pid = int(noted.read_text())
            started = processes.start_time(pid)
            assert processes.is_alive(pid, started)
            owner.kill()
            until("the bound process to be gone", lambda: not processes.is_alive(pid, started))
        finally:
            owner.kill()


@pytest.mark.lab
def test_a_lab_ends_by_itself(lab_assets: Assets, tmp_path: Path) -> None:
    """When its time is over, and says so."""
    plane = Plane.start(
        "short", folder=Folder(tmp_path / "short"), binaries=lab_assets, nodes=0, stop_after_s=2
    )
    try:
        until("its time to be over", lambda: plane.status().phase == "stopped")
        assert "time of 2 s" in plane.status().message
        until("the supervisor to end", lambda: not survivors(plane.status()))
    finally:
        plane.down()


@pytest.mark.lab
def test_the_api_server_restarts(plane: Plane) -> None:
    """It comes back with its data under the same address, and clients go on."""
    plane.admin.create(CONFIG_MAPS, {"metadata": {"name": "kept"}})
    before = plane.status().processes["kube-apiserver"]
    plane.restart("kube-apiserver")
    after = plane.status().processes["kube-apiserver"]
    assert after.running
    assert after.pid != before.pid
    assert plane.admin.exists(f"{CONFIG_MAPS}/kept")
    plane.admin.delete(f"{CONFIG_MAPS}/kept")


@pytest.mark.lab
def test_programs_can_be_killed_and_frozen(plane: Plane) -> None:
    """The state tells killed, frozen and running apart; what is unknown is refused by name."""
    plane.kill("kube-scheduler")
    killed = plane.status().processes["kube-scheduler"]
    assert (killed.running, killed.exit_status) == (False, -signal.SIGKILL)
    with pytest.raises(UnavailableError, match="not running"):
        plane.pause("kube-scheduler")
    plane.restart("kube-scheduler")
    plane.pause("kwok")
    assert plane.status().processes["kwok"].paused
    plane.resume("kwok")
    assert plane.status().processes["kwok"] == msgspec.structs.replace(
        plane.status().processes["kwok"], running=True, paused=False
    )
    with pytest.raises(UnavailableError, match="`kubelet` is not one of"):
        plane.restart("kubelet")


@pytest.mark.lab
def test_a_program_that_ends_by_itself_is_started_again(plane: Plane) -> None:
    """As its kubelet would: a scheduler ends itself when its cache and the cluster differ."""
    before = plane.status().processes["kube-scheduler"]
    assert before.pid is not None
    os.kill(before.pid, signal.SIGKILL)

    def back() -> bool:
        now = plane.status().processes["kube-scheduler"]
        return now.running and now.revivals == before.revivals + 1

    until("the scheduler to be started again", back, limit_s=60)
    plane.disturbances += 1


@pytest.mark.lab
def test_writes_are_audited(plane: Plane) -> None:
    """With bodies, at the level asked for; reads, leases and Secrets' contents are not there."""
    name = "audited"
    plane.admin.create(CONFIG_MAPS, {"metadata": {"name": name}, "data": {"a": "b"}})
    secret = {"metadata": {"name": name}, "stringData": {"key": "not-to-be-seen"}}
    plane.admin.create("/api/v1/namespaces/default/secrets", secret)
    lines = plane.audit_log.read_text().splitlines()
    events = [msgspec.json.decode(line) for line in lines]
    mine = [event for event in events if event["objectRef"].get("name") == name]
    assert {(event["objectRef"]["resource"], event["level"]) for event in mine} == {
        ("configmaps", "RequestResponse"),
        ("secrets", "Metadata"),
    }
    assert not {"get", "list", "watch"} & {event["verb"] for event in events}
    assert "not-to-be-seen" not in "".join(lines)


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    """A lab is never started over files that are not a lab's."""
    (tmp_path / "thesis.tex").write_text("years of work")
    nothing = Assets("v1.36.3", "test", {})
    with pytest.raises(InputError, match="not a lab's folder"):
        Plane.start(folder=Folder(tmp_path), binaries=nothing)
    with pytest.raises(UnavailableError, match="no lab"):
        Plane.attach(folder=Folder(tmp_path))
    assert (tmp_path / "thesis.tex").exists()


def test_a_lab_that_cannot_start_says_why(tmp_path: Path) -> None:
    """A program that ends at once is named, with the end of its log, and nothing stays."""
    liar = tmp_path / "liar"
    liar.write_text("#!/bin/sh\necho out of cheese >&2\nexit 7\n")
    liar.chmod(0o755)
    broken = Assets("v1.36.3", "test", dict.fromkeys(PROGRAMS, liar))
    folder = Folder(tmp_path / "lab")
    with pytest.raises(UnavailableError, match=r"(?s)`etcd` ended with status 7.*out of cheese"):
        Plane.start(folder=folder, binaries=broken, owned=True)
    state = folder.read_state()
    assert state is not None
    assert (state.phase, survivors(state)) == ("failed", [])


def test_a_pid_that_was_given_to_another_is_not_killed(tmp_path: Path) -> None:
    """`down` ends only the very processes that were started: the start time tells."""
    folder = Folder(tmp_path)
    with subprocess.Popen(["sleep", "60"]) as innocent:
        started = processes.start_time(innocent.pid)
        assert started is not None
        stale = ProcessState(pid=innocent.pid, started=started - 1, running=True)
        state = State(phase="ready", supervisor=stale, processes={"etcd": stale})
        folder.state.write_bytes(msgspec.json.encode(state))
        plane = Plane(folder)
        assert not plane.is_running()
        assert plane.status().phase == "stopped"
        plane.down()
        assert innocent.poll() is None
        innocent.kill()
