"""Suture in a lab: installed as `suture install` would, run as a kubelet would.

The server is a process of its own behind its Service; its liveness probe ends and replaces it when
it hangs. Lives in the lab, and starts `suture serve` rather than importing it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from suture.adapters import labclock
from suture.adapters.files import load_policies
from suture.errors import UnavailableError
from suture.install.guards import guards
from suture.install.manifests import base_manifests, reads_of
from suture.install.paths import path_of
from suture.install.profiles import PROFILES_PATH, profile_document
from suture.install.reach import reach_policy, system_policy
from suture.install.registration import registration
from suture.install.settings import QUARANTINE, Installation, enrol
from suture.lab.identities import ServiceAccount
from suture.lab.plane import Plane
from suture.lab.processes import start_bound
from suture.lab.rest import StatusError
from suture.model.actor import Profile

NAMESPACE = "suture-system"
SERVICE = "suture"
ACCOUNT = ServiceAccount(NAMESPACE, "suture")

READY_S = 60.0
"""LIMIT: listing a lab of 10,000 objects takes 3 s; a busy machine is given twenty times that."""

SERVED_S = 30.0
"""LIMIT: a new type is served within a second; a busy machine is given thirty."""

PROBE_EVERY_S = 2.0
PROBE_TIMEOUT_S = 1.0
PROBE_FAILURES = 3
"""LIMIT: as the Deployment's probes say: three failures, two seconds apart, each given one second:
a frozen server is ended within 9 s."""

STOP_S = 15.0
"""LIMIT: drain 1 s, answers under way 10 s."""

DRAIN_S = 1.0


@dataclass
class Guard:
    """Suture on one lab: what is installed, and the process that serves."""

    plane: Plane
    profiles: tuple[Profile, ...] = ()
    authorizer: bool = True
    speed: float = 1.0
    policies: tuple[Path, ...] = ()
    movable: bool = False
    """Whether `move` may tell the server that time passed which nobody waited for."""
    live: bool = True
    """Whether the liveness probe replaces a server that died or hangs."""
    starts: int = 0
    _process: subprocess.Popen[bytes] | None = None
    _started: bool = False
    """Whether the server has answered since it was spawned, as a startup probe asks."""
    _kubelet: threading.Thread | None = None
    _stopping: threading.Event = field(default_factory=threading.Event)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def port(self) -> int:
        """Where the server listens: the port that the lab keeps for it."""
        return self.plane.authorizer_port

    @property
    def health_port(self) -> int:
        """Where its health and metrics are."""
        return self.plane.ports["spare-0"]

    # ---- installing

    @property
    def installation(self) -> Installation:
        """What `suture install` would be told for this lab."""
        policies = load_policies(self.policies, pack=not self.policies)
        authority = self.plane.webhook_server_ca.read_bytes()
        bare = Installation(ca_bundle=authority, reads=reads_of(policies.reads))
        return enrol(bare, self.profiles)

    def install(self) -> None:
        """Apply everything but the registration, start serving, then register.

        WHY in this order: a registration whose server is not there yet fails or slows every write
        that it matches.
        """
        if self.movable:
            self._set_clock()
        for document in base_manifests(self.installation):
            if document["kind"] != "Deployment":
                self.apply(document)
        self._await_profiles()
        self.plane.route(NAMESPACE, SERVICE, self.port)
        for document in guards(self.installation):
            self.apply(document)
        self.enrol(self.profiles, register=False)
        self.start()
        self.register()
        if self.authorizer:
            self.plane.set_authorizer(enabled=True)

    def _await_profiles(self) -> None:
        """Wait until the API server serves the profiles' type."""
        deadline = time.monotonic() + SERVED_S
        while not self._serves_profiles():
            if time.monotonic() > deadline:
                raise UnavailableError(f"operator profiles are not served after {SERVED_S:.0f} s")
            time.sleep(0.05)

    def _serves_profiles(self) -> bool:
        # WHY the status: a type that was just defined answers 429 while its storage is made.
        return self.plane.admin.request("GET", PROFILES_PATH).is_success

    def register(self) -> None:
        """Apply the registration, as the profiles now in force want it."""
        self.apply(registration(self.installation))

    def enrol(self, profiles: Iterable[Profile], *, register: bool = True) -> None:
        """Put profiles in force in place of those before, as `suture operators set` does."""
        before = {profile.name for profile in self.profiles}
        self.profiles = tuple(profiles)
        for name in before - {profile.name for profile in self.profiles}:
            self.plane.admin.delete(f"{PROFILES_PATH}/{name}")
        for profile in self.profiles:
            self.apply(profile_document(profile))
        if register:
            for document in (
                *reach_policy(self.installation),
                *system_policy(self.installation),
            ):
                self.apply(document)
            self.register()

    def uninstall(self) -> None:
        """Take the registration, the guards and the profiles away, then stop serving.

        WHY the quarantine stays: an API server whose last policy with a parameter object was
        deleted serves the old list to the next one (decision 5). An empty list refuses nobody.
        """
        if self.authorizer:
            self.plane.set_authorizer(enabled=False)
        for document in (
            registration(self.installation),
            *reversed(guards(self.installation)),
            *map(profile_document, self.profiles),
        ):
            if document["metadata"]["name"] != QUARANTINE:
                with contextlib.suppress(StatusError):
                    self.plane.admin.delete(path_of(document))
        self.stop()

    def apply(self, document: dict[str, Any]) -> None:
        """Apply one document, server-side."""
        self.plane.admin.patch(path_of(document), document, kind="apply", force="true")

    # ---- the time of a story

    @property
    def clock(self) -> Path:
        """The clock of a server whose time can be moved."""
        return self.plane.folder.root / "suture" / "clock"

    def _set_clock(self) -> None:
        """Begin with the machine's time, before anything is served.

        WHY without the journal: what an earlier run wrote down at hours that were moved would be
        this one's future.
        """
        self.clock.parent.mkdir(exist_ok=True)
        labclock.reset(self.clock)
        for path in self.journal.parent.glob(f"{self.journal.name}*"):
            path.unlink()

    def move(self, by_s: float) -> None:
        """Tell the server that time passed: what it remembers is older by as much."""
        labclock.move(self.clock, by_s)

    # ---- serving

    @property
    def journal(self) -> Path:
        """Where decisions are written down."""
        return self.plane.folder.root / "suture" / "journal.sqlite"

    @property
    def log(self) -> str:
        """What the server said so far."""
        path = self.plane.folder.root / "suture" / "serve.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def start(self) -> None:
        """Start the server and its kubelet; return when it is ready."""
        self._stopping.clear()
        self._spawn()
        if self.live:
            self._kubelet = threading.Thread(target=self._keep_alive, daemon=True)
            self._kubelet.start()
        self.await_ready()

    def await_ready(self) -> None:
        """Wait for the server's own word. Errors: UnavailableError with the end of its log."""
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            with self._lock:
                dead = self._process is None or self._process.poll() is not None
            if dead and not self.live:
                break
            if self._asks("/readyz"):
                self._started = True
                return
            time.sleep(0.05)
        raise UnavailableError(f"suture is not ready in {READY_S:.0f} s: {self.log[-2000:]}")

    def stop(self) -> None:
        """Stop gracefully, as the end of a pod does."""
        self._stopping.set()
        if self._kubelet is not None:
            self._kubelet.join(timeout=PROBE_EVERY_S + PROBE_TIMEOUT_S + 1)
            self._kubelet = None
        with self._lock:
            self._end(signal.SIGTERM)

    def restart(self) -> None:
        """Stop and start again: an empty ledger and an empty history."""
        self.stop()
        self.start()

    def kill(self) -> None:
        """End the server at once (SIGKILL) and leave it dead: no kubelet brings it back."""
        self._stopping.set()
        with self._lock:
            self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """Stop the server with its port open (SIGSTOP); the kubelet will notice."""
        with self._lock:
            if self._process is not None:
                os.kill(self._process.pid, signal.SIGSTOP)

    def _spawn(self) -> None:
        folder = self.plane.folder.root / "suture"
        folder.mkdir(exist_ok=True)
        pair = self.plane.issue_server(
            "suture", [f"{SERVICE}.{NAMESPACE}.svc", "127.0.0.1", "localhost"]
        )
        command: Sequence[str] = [
            sys.executable, "-m", "suture", "serve",
            "--kubeconfig", str(self.plane.kubeconfig(ACCOUNT)),
            "--port", str(self.port), "--health-port", str(self.health_port),
            "--certificate", str(pair.certificate), "--key", str(pair.key),
            "--client-ca", str(self.plane.webhook_client_ca),
            "--journal", str(self.journal), "--cluster", self.plane.folder.root.name,
            "--speed", str(self.speed), "--drain", str(DRAIN_S),
            *(["--authorizer"] if self.authorizer else []),
            *(["--lab-clock", str(self.clock)] if self.movable else []),
            *(part for path in self.policies for part in ("--policies", str(path))),
        ]  # fmt: skip
        with self._lock, (folder / "serve.log").open("ab") as log:
            self._process = start_bound(command, log)
            self._started = False
            self.starts += 1

    def _end(self, number: int) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(signal.SIGCONT)
        process.send_signal(number)
        try:
            process.wait(timeout=STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _keep_alive(self) -> None:
        """Play the kubelet: probe, and replace what does not answer."""
        starting = failing = 0
        while not self._stopping.wait(PROBE_EVERY_S):
            with self._lock:
                process = self._process
            alive = process is not None and process.poll() is None
            if alive and self._asks("/healthz"):
                self._started, starting, failing = True, 0, 0
                continue
            # WHY two counts: like a startup probe, a server that never answered yet is given
            # READY_S, and what failed until it did is not held against it later.
            if self._started:
                failing += 1
            else:
                starting += 1
            over = failing >= PROBE_FAILURES or starting >= READY_S / PROBE_EVERY_S
            if (not alive or over) and not self._stopping.is_set():
                starting = failing = 0
                with self._lock:
                    self._end(signal.SIGKILL)
                    self._spawn()

    def _asks(self, path: str) -> bool:
        try:
            url = f"http://127.0.0.1:{self.health_port}{path}"
            return httpx2.get(url, timeout=PROBE_TIMEOUT_S).status_code == 200
        except httpx2.HTTPError:
            return False

    @property
    def metrics(self) -> str:
        """The server's metrics, as a scrape sees them."""
        url = f"http://127.0.0.1:{self.health_port}/metrics"
        return httpx2.get(url, timeout=PROBE_TIMEOUT_S * 5).text


@contextlib.contextmanager
def guarded(plane: Plane, **options: Any) -> Iterator[Guard]:
    """Install Suture on a lab for the time of a block."""
    guard = Guard(plane, **options)
    try:
        guard.install()
        yield guard
    finally:
        guard.uninstall()
