"""A clock that can be moved is a lab's: anywhere else `suture serve` does not start with one."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from suture.adapters.labclock import move, reset
from suture.errors import InputError
from suture.install.manifests import Workload, all_manifests
from suture.install.settings import Installation
from suture.wiring import Settings, clock, story_clock


def settings(folder: Path, server: str, **given: Any) -> Settings:
    """Return what `suture serve` is told of a cluster at `server`, with a clock of a lab."""
    config = {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "one", "user": "me"}}],
        "clusters": [{"name": "one", "cluster": {"server": server}}],
        "users": [{"name": "me", "user": {"token": "word"}}],
    }
    (folder / "config").write_text(yaml.safe_dump(config))
    reset(folder / "clock")
    plain: dict[str, Any] = {
        "kubeconfig": folder / "config",
        "in_cluster": False,
        "host": "127.0.0.1",
        "port": 8443,
        "health_host": "127.0.0.1",
        "health_port": 8080,
        "certificate": folder / "tls.crt",
        "key": folder / "tls.key",
        "client_ca": None,
        "client_names": frozenset(),
        "secret_path": "word",
        "policies": (),
        "journal": None,
        "snapshot": None,
        "state": None,
        "secret_keys": False,
        "namespace": "suture-system",
        "cluster": "",
        "authorizer": False,
        "break_glass": (),
        "speed": 1.0,
        "lab_clock": folder / "clock",
        "drain_s": 1.0,
        "log_level": "info",
    }
    return Settings(**{**plain, **given})


def test_it_is_off_unless_named(tmp_path: Path) -> None:
    """Then the time is the machine's, on a lab as anywhere."""
    assert story_clock(settings(tmp_path, "https://127.0.0.1:6443", lab_clock=None)) is clock


@pytest.mark.parametrize("server", ["https://127.0.0.1:6443", "https://[::1]:6443"])
def test_a_lab_may_move_it(tmp_path: Path, server: str) -> None:
    """Its API server is on this machine."""
    story = story_clock(settings(tmp_path, server))

    move(tmp_path / "clock", 3600.0)

    assert story().utc_s >= time.time() + 3590.0


@pytest.mark.parametrize("server", ["https://10.0.0.1:443", "https://k8s.example.com:6443"])
def test_no_other_cluster_has_one(tmp_path: Path, server: str) -> None:
    """`suture serve` ends before it has asked or answered anything."""
    with pytest.raises(InputError, match="for a lab"):
        story_clock(settings(tmp_path, server))


def test_no_pod_has_one(tmp_path: Path) -> None:
    """Whatever file is at hand."""
    with pytest.raises(InputError, match="for a lab"):
        story_clock(settings(tmp_path, "https://127.0.0.1:6443", in_cluster=True))


def test_nothing_that_is_installed_names_one() -> None:
    """No manifest, and so no chart."""
    manifests = all_manifests(Installation(), Workload(image="registry.example/suture:1"))

    assert "lab-clock" not in yaml.safe_dump(list(manifests))
