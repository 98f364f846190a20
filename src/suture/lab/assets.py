"""Where the control plane's programs come from: given ones, the cache, a build, a download.

Lives in the lab as the one answer to "which file is kube-apiserver". The first source that has
all programs in the right version wins; a reason is kept for each that does not.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from suture.errors import InputError, UnavailableError
from suture.lab import build, download
from suture.lab.folder import cache_folder, write_atomically
from suture.lab.progress import Progress, Report, silent

KUBERNETES_VERSION = "v1.36.3"

# LIMIT: printing a version takes a tenth of a second; a program that hangs is not one of ours.
VERSION_LIMIT_S = 15.0
# LIMIT: a build takes 5 minutes on two cores; another's build is waited for this long.
LOCK_LIMIT_S = 40 * 60.0
_LOCK_POLL_S = 0.5

_VERSION = re.compile(r"v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?")
_KUBERNETES_PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
# WHY: etcd and KWOK are not of Kubernetes' version; the lab was proven with these series.
_OTHERS = {
    "etcd": re.compile(r"etcd Version: 3\.[5-9]\."),
    "kwok": re.compile(r"kwok version v?0\.([7-9]|\d\d)"),
}


class _Program(msgspec.Struct, frozen=True):
    """What the cache's manifest notes of one file."""

    sha256: str
    size_bytes: int
    mtime_ns: int


class Manifest(msgspec.Struct, frozen=True):
    """The cache's list of what a folder must hold, written last."""

    kubernetes_version: str
    source: str
    programs: dict[str, _Program]


@dataclass(frozen=True)
class Assets:
    """A complete set of programs of one version."""

    kubernetes_version: str
    source: str
    programs: Mapping[str, Path]


def find(
    kubernetes_version: str = KUBERNETES_VERSION,
    *,
    allow_download: bool = False,
    report: Report = silent,
) -> Assets:
    """Return the programs, made or fetched if need be.

    Errors: InputError for a version that is none; UnavailableError naming why each source failed.
    """
    check_version(kubernetes_version)
    reasons: list[str] = []
    given = from_environment(kubernetes_version, reasons)
    if given is not None:
        return given
    key = cache_key(kubernetes_version)
    folder = cache_folder() / "binaries" / key
    cached = from_cache(folder, reasons)
    if cached is not None:
        return cached
    with locked(folder.with_name(f"{folder.name}.lock"), report):
        # WHY: whoever held the lock before us may have made what we need.
        cached = from_cache(folder, reasons)
        if cached is not None:
            return cached
        return _make(folder, kubernetes_version, allow_download=allow_download, report=report)


def check_version(kubernetes_version: str) -> None:
    """Refuse what cannot be a version."""
    if not _VERSION.fullmatch(kubernetes_version):
        raise InputError(
            f"Kubernetes version `{kubernetes_version}` must look like `{KUBERNETES_VERSION}`"
        )


def cache_key(kubernetes_version: str) -> str:
    """Return the cache folder's name: the version, and what the pinned module resolves to."""
    sums = (build.PINNED_MODULE / "go.sum").read_bytes()
    return f"{kubernetes_version}-{hashlib.sha256(sums).hexdigest()[:12]}"


def from_environment(kubernetes_version: str, reasons: list[str]) -> Assets | None:
    """Return the programs of `$KUBEBUILDER_ASSETS` and PATH if all are there in this version."""
    given = os.environ.get("KUBEBUILDER_ASSETS")
    path = os.pathsep.join(filter(None, (given, os.environ.get("PATH"))))
    programs: dict[str, Path] = {}
    for name in build.PROGRAMS:
        found = shutil.which(name, path=path)
        if found is None:
            reasons.append(f"`{name}` is neither in $KUBEBUILDER_ASSETS nor on PATH")
            return None
        if not is_version(name, printed_version(Path(found)), kubernetes_version):
            reasons.append(f"`{found}` is not of the version that {kubernetes_version} needs")
            return None
        programs[name] = Path(found)
    return Assets(kubernetes_version, "environment", programs)


def printed_version(program: Path) -> str:
    """Return what a program answers to `--version`; empty when it does not run."""
    try:
        done = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            timeout=VERSION_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def is_version(name: str, printed: str, kubernetes_version: str) -> bool:
    """Whether a program's answer to `--version` is that of the wanted release."""
    if name in _KUBERNETES_PROGRAMS:
        return printed.split() == ["Kubernetes", kubernetes_version]
    return _OTHERS[name].search(printed) is not None


def from_cache(folder: Path, reasons: list[str]) -> Assets | None:
    """Return the programs of a cache folder if each is what its manifest says."""
    try:
        manifest = msgspec.json.decode((folder / "manifest.json").read_bytes(), type=Manifest)
    except FileNotFoundError:
        reasons.append(f"`{folder}` holds no finished build")
        return None
    except msgspec.DecodeError as error:
        reasons.append(f"`{folder}` has a broken manifest: {error}")
        return None
    for name in build.PROGRAMS:
        wanted = manifest.programs.get(name)
        if wanted is None or not _is_intact(folder / name, wanted):
            reasons.append(f"`{folder / name}` is missing or broken")
            return None
    programs = {name: folder / name for name in build.PROGRAMS}
    return Assets(manifest.kubernetes_version, "cache", programs)


def _is_intact(program: Path, wanted: _Program) -> bool:
    try:
        there = program.stat()
    except OSError:
        return False
    if there.st_size != wanted.size_bytes or not os.access(program, os.X_OK):
        return False
    # WHY: hashing 400 MB takes a second of every start; an untouched file is taken at its word.
    return there.st_mtime_ns == wanted.mtime_ns or sha256_of(program) == wanted.sha256


def _noted(program: Path) -> _Program:
    there = program.stat()
    return _Program(sha256_of(program), there.st_size, there.st_mtime_ns)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _make(folder: Path, kubernetes_version: str, *, allow_download: bool, report: Report) -> Assets:
    """Fill the cache folder; the caller holds its lock."""
    parent = folder.parent
    for left_over in parent.glob(f".{folder.name}.*"):
        shutil.rmtree(left_over, ignore_errors=True)
    fresh = parent / f".{folder.name}.{os.getpid()}"
    fresh.mkdir(parents=True)
    try:
        if allow_download:
            download.fetch(fresh, kubernetes_version, report=report)
        else:
            durations = Durations(cache_folder() / "durations.json")
            module = build.module_for(kubernetes_version, KUBERNETES_VERSION, report=report)
            build.build(module, fresh, kubernetes_version, durations=durations, report=report)
        source = "download" if allow_download else "build"
        return _keep(fresh, folder, kubernetes_version, source)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _keep(fresh: Path, folder: Path, kubernetes_version: str, source: str) -> Assets:
    """Check what was made, note it in a manifest, and move it into place."""
    for name in build.PROGRAMS:
        printed = printed_version(fresh / name)
        if not is_version(name, printed, kubernetes_version):
            raise UnavailableError(
                f"the new `{name}` calls itself `{printed.strip()[:80]}`, "
                f"not {kubernetes_version}; run `suture lab build` again"
            )
    programs = {name: _noted(fresh / name) for name in build.PROGRAMS}
    manifest = Manifest(kubernetes_version, source, programs)
    (fresh / "manifest.json").write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)
    return Assets(kubernetes_version, source, {name: folder / name for name in build.PROGRAMS})


@contextlib.contextmanager
def locked(path: Path, report: Report) -> Iterator[None]:
    """Hold a file lock, so that of two who would build one builds and the other waits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as lock:
        began = time.monotonic()
        while not _try_lock(lock.fileno()):
            elapsed_s = time.monotonic() - began
            if elapsed_s > LOCK_LIMIT_S:
                raise UnavailableError(
                    f"another process has held `{path}` for {LOCK_LIMIT_S / 60:.0f} minutes; "
                    "see what it does, or end it, and come again"
                )
            report(Progress("waiting for another process that builds the same", elapsed_s))
            time.sleep(_LOCK_POLL_S)
        yield


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@dataclass(frozen=True)
class Durations:
    """How long each program took to build last time on this machine, kept in a file."""

    path: Path

    def last_s(self, name: str) -> float | None:
        """Return how long `name` took last time."""
        return self._read().get(name)

    def note(self, name: str, took_s: float) -> None:
        """Remember how long `name` took."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        known = {**self._read(), name: round(took_s, 1)}
        write_atomically(self.path, msgspec.json.encode(known))

    def _read(self) -> dict[str, float]:
        # WHY: it is a courtesy; a broken file must not keep anybody from building.
        with contextlib.suppress(OSError, msgspec.DecodeError):
            return msgspec.json.decode(self.path.read_bytes(), type=dict[str, float])
        return {}
