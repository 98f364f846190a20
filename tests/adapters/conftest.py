"""Certificates and running servers for the tests of the rim."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import uvloop

from support.apiserver import ClientOf, Script, kubeconfig
from support.serving import LoopFactory, Pki, Running, Serve, echo, running, webhook_settings
from suture.adapters.kube import KubeClient
from suture.adapters.webhook import Handle, WebhookServer


@pytest.fixture(scope="session")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Pki:
    return Pki(tmp_path_factory.mktemp("pki"))


@pytest.fixture
def own_pki(tmp_path: Path) -> Pki:
    """Return certificates of the test's own, to replace and to break."""
    return Pki(tmp_path)


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def loop_factory(request: pytest.FixtureRequest) -> LoopFactory:
    factory: LoopFactory = request.param
    return factory


@pytest.fixture
def serve(pki: Pki, loop_factory: LoopFactory) -> Serve:
    """Return what starts a webhook server; every setting can be overridden by name."""

    def start(
        handle: Handle = echo, **changed: Any
    ) -> AbstractContextManager[Running[WebhookServer]]:
        settings = webhook_settings(changed.pop("pki", pki), **changed)
        return running(lambda: WebhookServer(settings, handle), loop_factory)

    return start


@pytest.fixture
def server(serve: Serve) -> Iterator[Running[WebhookServer]]:
    with serve() as running_server:
        yield running_server


@pytest.fixture
def client_of(pki: Pki, tmp_path: Path) -> ClientOf:
    """Return what makes a client, with a client certificate or as the user that is given."""

    def make(script: Script, user: dict[str, Any] | None = None) -> KubeClient:
        path = tmp_path / "kubeconfig"
        path.write_text(kubeconfig(script.url, pki, user))
        return KubeClient.from_kubeconfig(path)

    return make
