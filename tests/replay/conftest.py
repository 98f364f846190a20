"""One replay server of a tiny cluster, for the tests that leave it as it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from suture.lab.clusters import Cluster
from suture.lab.clusters.pages import write_pages
from suture.lab.clusters.size import TINY
from suture.lab.replay import ReplayServer


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the pages of a tiny cluster."""
    folder = tmp_path_factory.mktemp("clusters") / "tiny"
    write_pages(Cluster(TINY), folder)
    return folder


@pytest.fixture
def server(pages: Path) -> Iterator[ReplayServer]:
    """Return a server of a tiny cluster."""
    with ReplayServer(folder=pages) as running:
        yield running
