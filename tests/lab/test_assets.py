"""Where the programs come from: the first source that has all of them, unbroken, and of the version."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from pathlib import Path

import httpx2
import pytest

from suture.errors import InputError, UnavailableError
from suture.lab import assets, build, download
from suture.lab.assets import KUBERNETES_VERSION
from suture.lab.progress import Progress, silent

VERSIONS = {
    "etcd": "etcd Version: 3.6.8\nGit SHA: x\n",
    "kwok": "kwok version v0.8.0 go1.26.8 (linux/amd64)\n",
}


def fake(folder: Path, name: str, *, version: str = KUBERNETES_VERSION) -> Path:
    """Write a program that says its version and does nothing else."""
    said = VERSIONS.get(name, f"Kubernetes {version}\n")
    path = folder / name
    path.write_text(f"#!/bin/sh\nprintf '{said}'\n".replace("\n'", "\\n'"))
    path.chmod(0o755)
    return path


def fake_all(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in build.PROGRAMS:
        fake(folder, name)


@pytest.fixture
def cached(tmp_path: Path) -> Path:
    """Return a finished cache folder of fake programs."""
    fresh, folder = tmp_path / ".fresh", tmp_path / "cached"
    fake_all(fresh)
    assets._keep(fresh, folder, KUBERNETES_VERSION, "build")
    return folder


@pytest.mark.parametrize(
    ("name", "printed", "right"),
    [
        pytest.param("kube-apiserver", "Kubernetes v1.36.3\n", True, id="kubernetes"),
        pytest.param("kube-apiserver", "Kubernetes v1.36.30\n", False, id="another-patch"),
        pytest.param("kube-scheduler", "Kubernetes v0.0.0-master+x\n", False, id="unstamped"),
        pytest.param("etcd", VERSIONS["etcd"], True, id="etcd"),
        pytest.param("etcd", "etcd Version: 3.4.1\n", False, id="old-etcd"),
        pytest.param("kwok", VERSIONS["kwok"], True, id="kwok"),
        pytest.param("kwok", "kwok version v0.1.0\n", False, id="old-kwok"),
        pytest.param("kwok", "", False, id="did-not-run"),
    ],
)
def test_the_right_version_is_told(name: str, printed: str, right: bool) -> None:
    """A program of another version is not taken."""
    assert assets.is_version(name, printed, "v1.36.3") is right


def test_the_environment_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs in $KUBEBUILDER_ASSETS are used when all are there in the right version."""
    given, path = tmp_path / "given", tmp_path / "path"
    fake_all(given)
    path.mkdir()
    (given / "kwok").rename(path / "kwok")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(given))
    monkeypatch.setenv("PATH", f"{path}{os.pathsep}/bin{os.pathsep}/usr/bin")
    found = assets.find()
    assert found.source == "environment"
    assert found.programs["etcd"] == given / "etcd"
    assert found.programs["kwok"] == path / "kwok"
    reasons: list[str] = []
    fake(given, "kube-scheduler", version="v1.20.0")
    assert assets.from_environment(KUBERNETES_VERSION, reasons) is None
    (given / "etcd").unlink()
    assert assets.from_environment(KUBERNETES_VERSION, reasons) is None
    assert "kube-scheduler" in reasons[0]
    assert "etcd" in reasons[1]


def test_a_finished_cache_is_used(cached: Path) -> None:
    """It says of which version it is."""
    found = assets.from_cache(cached, [])
    assert found is not None
    assert (found.kubernetes_version, found.source) == (KUBERNETES_VERSION, "cache")


@pytest.mark.parametrize(
    "damage", ["missing", "shorter", "changed", "unrunnable", "manifest", "none"]
)
def test_a_broken_cache_is_not_used(cached: Path, damage: str) -> None:
    """Whatever is wrong with it is noticed and named."""
    etcd, manifest = cached / "etcd", cached / "manifest.json"
    text = etcd.read_text()
    match damage:
        case "missing":
            etcd.unlink()
        case "shorter":
            etcd.write_text(text[:-1])
        case "changed":
            etcd.write_text(text.replace("3.6.8", "3.6.9"))
        case "unrunnable":
            etcd.chmod(0o644)
        case "manifest":
            manifest.write_text(manifest.read_text()[:50])
        case "none":
            manifest.unlink()
    if damage == "changed":
        # WHY: an edit within one tick of the clock could not be told from none.
        os.utime(etcd, ns=(0, 0))
    reasons: list[str] = []
    assert assets.from_cache(cached, reasons) is None
    assert str(cached) in reasons[0]


def test_a_touched_but_equal_program_is_still_good(cached: Path) -> None:
    """The checksum decides when the time of a file differs."""
    os.utime(cached / "etcd", ns=(0, 0))
    assert assets.from_cache(cached, []) is not None


def test_a_program_of_another_version_is_not_kept(tmp_path: Path) -> None:
    """What was made is asked for its version before it is taken into the cache."""
    fresh = tmp_path / "fresh"
    fake_all(fresh)
    fake(fresh, "kube-apiserver", version="v0.0.0")
    with pytest.raises(UnavailableError, match=r"v0\.0\.0"):
        assets._keep(fresh, tmp_path / "cached", KUBERNETES_VERSION, "build")
    assert not (tmp_path / "cached").exists()


def test_of_two_builders_one_waits(tmp_path: Path) -> None:
    """The lock is held for the whole of a build, and the one who waits says so."""
    said: list[Progress] = []
    order: list[str] = []
    entered = threading.Event()

    def other() -> None:
        with assets.locked(tmp_path / "x.lock", silent):
            entered.set()
            time.sleep(0.8)
            order.append("first")

    thread = threading.Thread(target=other)
    thread.start()
    assert entered.wait(5)
    with assets.locked(tmp_path / "x.lock", said.append):
        order.append("second")
    thread.join()
    assert order == ["first", "second"]
    assert "another process" in str(said[0])


def test_a_version_must_look_like_one() -> None:
    """What cannot be a version is refused before anything is built."""
    with pytest.raises(InputError, match=r"1\.36"):
        assets.find("1.36")


def test_too_little_disk_is_said_before_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With how much is there and how much it takes."""
    monkeypatch.setattr(build, "NEEDED_DISK_BYTES", 1 << 60)
    with pytest.raises(UnavailableError, match="GB free"):
        build.check_disk(tmp_path / "not-there-yet")


def test_the_version_is_linked_in() -> None:
    """Kubernetes' programs get their version from the linker; the others have their own."""
    flags = build.linker_flags("kube-apiserver", "v1.36.3")
    assert "-X k8s.io/component-base/version.gitVersion=v1.36.3" in flags
    assert "-X k8s.io/component-base/version.gitMinor=36" in flags
    assert build.linker_flags("etcd", "v1.36.3") == "-s -w"


def test_another_version_gets_a_module_of_its_own() -> None:
    """Its staging modules are replaced, etcd and KWOK stay, and the newer Go is asked for."""
    pinned = (build.PINNED_MODULE / "go.mod").read_text()
    upstream = (
        "module k8s.io/kubernetes\n\ngo 1.27.1\n\nrequire (\n"
        "\tk8s.io/api v0.0.0\n\tk8s.io/klog/v2 v2.1.0\n\tk8s.io/kubelet v0.0.0 // indirect\n)\n"
    )
    text = build.module_text(pinned, upstream, "v1.37.2")
    assert "go 1.27.1\n" in text
    assert "\tk8s.io/kubernetes v1.37.2\n" in text
    assert "\tgo.etcd.io/etcd/server/v3 v3.6.8\n" in text
    assert "\tsigs.k8s.io/kwok v0.8.0\n" in text
    assert "\tk8s.io/kubelet => k8s.io/kubelet v0.37.2\n" in text
    assert "klog" not in text


def test_a_build_that_fails_says_why(tmp_path: Path) -> None:
    """The command's last words are in the message."""
    with pytest.raises(UnavailableError, match=r"status 3.*\nno such module"):
        build.run(
            ["sh", "-c", "echo no such module >&2; exit 3"],
            cwd=tmp_path,
            limit_s=5,
            progress=Progress("building x"),
            report=silent,
        )


def test_a_build_that_hangs_is_ended(tmp_path: Path) -> None:
    """After its limit, with progress each second meanwhile."""
    said: list[Progress] = []
    with pytest.raises(UnavailableError, match="was stopped"):
        build.run(
            ["sleep", "30"],
            cwd=tmp_path,
            limit_s=0.5,
            progress=Progress("building x", last_s=2),
            report=said.append,
        )
    assert [str(one) for one in said] == [
        "building x, took 2 s last time",
        "building x, 1 s, took 2 s last time",
    ]


def test_durations_are_remembered(tmp_path: Path) -> None:
    """And a broken file of them is nothing to stop for."""
    durations = assets.Durations(tmp_path / "sub" / "durations.json")
    assert durations.last_s("etcd") is None
    durations.note("etcd", 8.96)
    durations.note("kwok", 12)
    assert durations.last_s("etcd") == 9.0
    durations.path.write_text("{")
    assert durations.last_s("etcd") is None


def test_a_checksum_is_found_in_its_list() -> None:
    """By the file's whole name."""
    text = "aa  etcd-v3.6.8-linux-arm64.tar.gz\nbb *etcd-v3.6.8-linux-amd64.tar.gz\n"
    assert download.listed(text, "etcd-v3.6.8-linux-amd64.tar.gz") == "bb"
    with pytest.raises(UnavailableError, match="do not name"):
        download.listed(text, "etcd")


def test_releases_are_of_the_pinned_versions() -> None:
    """The others as in go.mod, Kubernetes as asked for."""
    urls = {name: download.release_of(name, "v1.36.2").url for name in build.PROGRAMS}
    assert "/v3.6.8/etcd-v3.6.8-" in urls["etcd"]
    assert "/v0.8.0/kwok-" in urls["kwok"]
    assert urls["kube-apiserver"].startswith("https://dl.k8s.io/release/v1.36.2/bin/")


def test_a_download_with_a_wrong_checksum_is_refused(tmp_path: Path) -> None:
    """And one with the right checksum is put in place, ready to run."""
    body = b"program"
    good = hashlib.sha256(body).hexdigest()

    def answer(checksum: str) -> httpx2.Client:
        def handle(request: httpx2.Request) -> httpx2.Response:
            if request.url.path.endswith(".sha256"):
                return httpx2.Response(200, text=f"{checksum}\n")
            return httpx2.Response(200, content=body)

        return httpx2.Client(transport=httpx2.MockTransport(handle))

    with answer(good) as client:
        download.fetch_one(
            client, "kube-scheduler", KUBERNETES_VERSION, tmp_path, what="x", report=silent
        )
    assert (tmp_path / "kube-scheduler").read_bytes() == body
    assert os.access(tmp_path / "kube-scheduler", os.X_OK)
    with answer("0" * 64) as client, pytest.raises(UnavailableError, match="checksum"):
        download.fetch_one(
            client, "kube-apiserver", KUBERNETES_VERSION, tmp_path, what="x", report=silent
        )
    assert not (tmp_path / "kube-apiserver").exists()


def test_the_pinned_module_names_what_is_built() -> None:
    """Each program is a tool of the module, and the pinned version is the default."""
    text = (build.PINNED_MODULE / "go.mod").read_text()
    for package in build.PROGRAMS.values():
        assert f"\t{package}\n" in text
    assert f"k8s.io/kubernetes {KUBERNETES_VERSION}" in text


def test_the_manifest_is_for_people_too(cached: Path) -> None:
    """Version, source, checksums and sizes, as JSON."""
    manifest = json.loads((cached / "manifest.json").read_text())
    assert manifest["kubernetes_version"] == KUBERNETES_VERSION
    assert manifest["programs"]["etcd"]["sha256"] == assets.sha256_of(cached / "etcd")
