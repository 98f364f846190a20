"""Fetching the programs' official releases, with checksums, for those who ask for it.

Lives in the lab beside `assets`, which calls it only on request: the default build needs no
release server. Gives up within seconds where there is no internet.
"""

from __future__ import annotations

import hashlib
import io
import platform
import re
import tarfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx2

from suture.errors import UnavailableError
from suture.lab.build import PINNED_MODULE, PROGRAMS
from suture.lab.progress import Progress, Report

# LIMIT: a server that is there answers a handshake in well under a second.
CONNECT_LIMIT_S = 4.0
# LIMIT: silence in the middle of a body for this long is a dead connection.
READ_LIMIT_S = 20.0
# LIMIT: the largest program is 110 MB.
SIZE_LIMIT_BYTES = 400 * 1024**2

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


@dataclass(frozen=True)
class _Release:
    """Where one program's release is, how its checksum is found, and how it is unpacked."""

    url: str
    checksum: Callable[[httpx2.Client], str]
    unpack: Callable[[bytes], bytes]


def fetch(into: Path, kubernetes_version: str, *, report: Report) -> None:
    """Fetch every program into a folder and check it against its published checksum."""
    timeout = httpx2.Timeout(READ_LIMIT_S, connect=CONNECT_LIMIT_S)
    with httpx2.Client(timeout=timeout, follow_redirects=True) as client:
        for number, name in enumerate(PROGRAMS, start=1):
            what = f"downloading {name} ({number} of {len(PROGRAMS)})"
            report(Progress(what))
            fetch_one(client, name, kubernetes_version, into, what=what, report=report)


def fetch_one(
    client: httpx2.Client,
    name: str,
    kubernetes_version: str,
    into: Path,
    *,
    what: str,
    report: Report,
) -> None:
    """Fetch one program; nothing is written before its checksum is right."""
    release = release_of(name, kubernetes_version)
    try:
        wanted = release.checksum(client)
        body = _body(client, release.url, what, report)
    except httpx2.HTTPError as error:
        raise UnavailableError(
            f"cannot fetch {release.url}: {error!r}; without internet leave `--download` "
            "out, and the programs are built from the pinned Go module"
        ) from error
    got = hashlib.sha256(body).hexdigest()
    if got != wanted:
        raise UnavailableError(
            f"{release.url} has the checksum {got} and not {wanted}, which its release "
            "names; do not use it, come again later"
        )
    program = into / name
    program.write_bytes(release.unpack(body))
    program.chmod(0o755)


def release_of(name: str, kubernetes_version: str) -> _Release:
    """Return where the release of a program for this machine is."""
    system, architecture = platform.system().lower(), _architecture()
    if name == "etcd":
        version = pinned_version("go.etcd.io/etcd/server/v3")
        base = f"https://github.com/etcd-io/etcd/releases/download/{version}"
        stem = f"etcd-{version}-{system}-{architecture}"
        archive = f"{stem}.tar.gz"
        return _Release(
            f"{base}/{archive}",
            lambda client: listed(_text(client, f"{base}/SHA256SUMS"), archive),
            lambda body: _member(body, f"{stem}/etcd"),
        )
    if name == "kwok":
        version = pinned_version("sigs.k8s.io/kwok")
        file = f"kwok-{system}-{architecture}"
        project = "kubernetes-sigs/kwok/releases"
        return _Release(
            f"https://github.com/{project}/download/{version}/{file}",
            # WHY: KWOK publishes no list of checksums; the release's own record has a digest.
            lambda client: _digest(client, f"{project}/tags/{version}", file),
            lambda body: body,
        )
    url = f"https://dl.k8s.io/release/{kubernetes_version}/bin/{system}/{architecture}/{name}"
    return _Release(
        url, lambda client: _text(client, f"{url}.sha256").split()[0], lambda body: body
    )


def pinned_version(module: str) -> str:
    """Return the version of a module that the pinned go.mod names."""
    text = (PINNED_MODULE / "go.mod").read_text()
    found = re.search(rf"{re.escape(module)} (v\S+)", text)
    if found is None:
        raise UnavailableError(f"`{PINNED_MODULE / 'go.mod'}` does not name {module}")
    return found[1]


def listed(text: str, file: str) -> str:
    """Return the checksum of a file from a list as `sha256sum` writes it."""
    for line in text.splitlines():
        words = line.split()
        if len(words) == len(("checksum", "file")) and words[1].lstrip("*") == file:
            return words[0]
    raise UnavailableError(f"the release's checksums do not name `{file}`")


def _architecture() -> str:
    machine = platform.machine()
    try:
        return _ARCHITECTURES[machine]
    except KeyError:
        raise UnavailableError(
            f"there are no releases for `{machine}`; leave `--download` out to build them"
        ) from None


def _digest(client: httpx2.Client, release: str, file: str) -> str:
    answer = client.get(f"https://api.github.com/repos/{release}")
    answer.raise_for_status()
    for asset in answer.json().get("assets", ()):
        digest = asset.get("digest") or ""
        if asset.get("name") == file and digest.startswith("sha256:"):
            return str(digest).removeprefix("sha256:")
    raise UnavailableError(f"the release record {release} has no checksum for `{file}`")


def _text(client: httpx2.Client, url: str) -> str:
    answer = client.get(url)
    answer.raise_for_status()
    return answer.text


def _body(client: httpx2.Client, url: str, what: str, report: Report) -> bytes:
    received = io.BytesIO()
    began = said = time.monotonic()
    with client.stream("GET", url) as answer:
        answer.raise_for_status()
        for chunk in answer.iter_bytes():
            received.write(chunk)
            if received.tell() > SIZE_LIMIT_BYTES:
                raise UnavailableError(f"{url} is larger than any program of ours; not kept")
            if (now := time.monotonic()) - said >= 1:
                said = now
                report(Progress(f"{what}: {received.tell() // 1024**2} MB", now - began))
    return received.getvalue()


def _member(archive: bytes, name: str) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as files:
        member = files.extractfile(name)
        if member is None:
            raise UnavailableError(f"the archive has no `{name}`")
        return member.read()
