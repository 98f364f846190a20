"""Where a lab keeps what: the one list of paths, and the two small files that describe a lab.

Lives in the lab and apart from `plane` because three processes agree by it: the caller, the
supervisor, and a later `suture lab down`. Reads and writes files, starts nothing.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from suture.errors import InputError, UnavailableError

AuditLevel = Literal["Metadata", "Request", "RequestResponse"]
Phase = Literal["starting", "ready", "failed", "stopped"]

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for: written once by the caller, read by the supervisor."""

    name: str
    kubernetes_version: str
    binaries: dict[str, str]
    nodes: int = 3
    audit: AuditLevel | None = None
    stop_after_s: float = 7200.0
    # True: the lab ends when the standard input of its supervisor is closed by its owner's end.
    owned: bool = False


class ProcessState(msgspec.Struct, frozen=True, kw_only=True):
    """One process of the plane, as last seen by its supervisor."""

    pid: int | None
    # Ticks since boot: tells a process from a later one with the same pid. None: not running.
    started: int | None
    running: bool
    paused: bool = False
    exit_status: int | None = None
    # How often it ended by itself and was started again.
    revivals: int = 0


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What is: written by the supervisor whenever something changes."""

    phase: Phase
    message: str = ""
    supervisor: ProcessState
    processes: dict[str, ProcessState] = {}
    ports: dict[str, int] = {}
    sockets: str = ""
    started_at: str = ""
    ready_after_s: float | None = None


@dataclass(frozen=True)
class Folder:
    """The paths inside one lab's folder."""

    root: Path

    def __post_init__(self) -> None:
        """Keep the root absolute: child processes do not share our working directory."""
        object.__setattr__(self, "root", Path(self.root).expanduser().absolute())

    @property
    def spec(self) -> Path:
        """What was asked for."""
        return self.root / "lab.json"

    @property
    def state(self) -> Path:
        """What is."""
        return self.root / "state.json"

    @property
    def certificates(self) -> Path:
        """Authorities and what they signed."""
        return self.root / "certificates"

    @property
    def configuration(self) -> Path:
        """Configuration files of the processes."""
        return self.root / "configuration"

    @property
    def kubeconfigs(self) -> Path:
        """One file per identity."""
        return self.root / "kubeconfigs"

    @property
    def logs(self) -> Path:
        """One file per process."""
        return self.root / "logs"

    @property
    def etcd(self) -> Path:
        """The store's data."""
        return self.root / "etcd"

    @property
    def static_manifests(self) -> Path:
        """Admission configuration that the API server reads from disk."""
        return self.root / "static-manifests"

    @property
    def audit_log(self) -> Path:
        """Audit events as JSON lines, when the lab was started with an audit level."""
        return self.logs / "audit.jsonl"

    @property
    def authorization(self) -> Path:
        """The structured authorization configuration, which the API server reloads."""
        return self.configuration / "authorization.yaml"

    def log(self, name: str) -> Path:
        """Return the log file of the process `name`."""
        return self.logs / f"{name}.log"

    def make(self) -> None:
        """Create the folder and its rooms, readable by the owner only: private keys lie here."""
        self.root.mkdir(parents=True, exist_ok=True)
        self.root.chmod(0o700)
        for room in (
            self.certificates,
            self.configuration,
            self.kubeconfigs,
            self.logs,
            self.static_manifests,
        ):
            room.mkdir(exist_ok=True)

    def read_spec(self) -> Spec:
        """Return what was asked for, or say that there is no lab here."""
        try:
            return msgspec.json.decode(self.spec.read_bytes(), type=Spec)
        except FileNotFoundError:
            raise UnavailableError(
                f"there is no lab in `{self.root}`; start one with `suture lab up`"
            ) from None
        except msgspec.DecodeError as error:
            raise InputError(
                f"`{self.spec}` was not written by this version ({error}); remove `{self.root}`"
            ) from error

    def read_state(self) -> State | None:
        """Return what is, or None when no supervisor has written here yet."""
        try:
            return msgspec.json.decode(self.state.read_bytes(), type=State)
        except FileNotFoundError:
            return None
        except msgspec.DecodeError as error:
            raise InputError(
                f"`{self.state}` was not written by this version ({error}); remove `{self.root}`"
            ) from error


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file in one step: a reader sees the old bytes or the new ones."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()


def cache_folder() -> Path:
    """Return the folder for what can be made again: `$SUTURE_CACHE`, else the user's cache."""
    if chosen := os.environ.get("SUTURE_CACHE"):
        return Path(chosen).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache").absolute() / "suture"


def named_folder(name: str) -> Folder:
    """Return the folder of the lab called `name` in the cache."""
    if not _NAME.fullmatch(name):
        raise InputError(
            f"lab name `{name}` must be 1 to 40 lower-case letters, digits and dashes, "
            "beginning and ending with a letter or digit"
        )
    return Folder(cache_folder() / "labs" / name)
