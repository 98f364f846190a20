"""What every room's tests may ask for: a real control plane, started when first needed.

Under pytest-xdist each worker has a control plane of its own: tests stop, freeze and reconfigure
it, which nobody beside them should feel. It ends with the worker, however that ends.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import settings

import native
from support.acting import controllers_act
from support.recorder import Answer, Decide, Recorder, Seen
from support.scene import Scene, recording, staged
from support.strictcolumns import make_strict
from suture.lab import assets
from suture.lab.assets import Assets
from suture.lab.plane import Plane
from suture.lab.progress import Progress

Decisions = dict[str, Decide]

# What `make soak` runs: twenty times the examples, and nothing of the same twice.
# WHY no deadline: nothing is asserted about time, least of all on a machine that others share.
settings.register_profile("calm", deadline=None)
settings.load_profile("calm")
settings.register_profile("soak", max_examples=2000, deadline=None, print_blob=True)


# WHY: structlog's default draws tracebacks with all their locals, which takes seconds for a world.
structlog.configure(
    processors=[structlog.processors.format_exc_info, structlog.processors.KeyValueRenderer()]
)


def pytest_configure() -> None:
    """Refuse to test machine code of sources that have changed since: nothing would be tested.

    What is plain is as strict as it about rows that are not there.
    """
    if native.stale():
        pytest.exit(native.STALE, returncode=2)
    make_strict()


def pytest_runtest_teardown() -> None:
    """Let what a test does to the collector end with it: benches and servers switch it off."""
    gc.unfreeze()
    gc.enable()


@pytest.fixture(scope="session")
def lab_assets() -> Assets:
    """Return the control plane's programs; builds them if this machine never has."""

    def report(progress: Progress) -> None:
        """Say what is built: the first run takes minutes, and pytest alone would be silent."""
        if sys.__stderr__ is not None and int(progress.elapsed_s) % 15 == 0:
            sys.__stderr__.write(f"{progress}\n")

    return assets.find(report=report)


@pytest.fixture(scope="session")
def plane(lab_assets: Assets) -> Iterator[Plane]:
    """Return a control plane that all lab tests of this worker share: use your own namespaces."""
    with Plane.up("tests", binaries=lab_assets, audit="RequestResponse") as running:
        yield running


@pytest.fixture(autouse=True)
def left_as_found(request: pytest.FixtureRequest) -> Iterator[None]:
    """After a test that restarts or freezes programs, wait until the controllers act again."""
    if "plane" not in request.fixturenames:
        yield
        return
    running: Plane = request.getfixturevalue("plane")
    before = running.disturbances
    yield
    if running.disturbances != before:
        controllers_act(running)


@pytest.fixture(scope="session")
def recorder(plane: Plane) -> Iterator[Recorder]:
    """Return a webhook that sees every write in the scenes' namespaces and answers as told."""
    with recording(plane) as running:
        yield running


@pytest.fixture(scope="session")
def decisions(recorder: Recorder) -> Decisions:
    """Return how to answer, by namespace or by path: each scene decides for itself only."""
    found: Decisions = {}

    def decide(seen: Seen) -> Answer | None:
        decision = found.get(seen.namespace) or found.get(seen.path)
        return decision(seen) if decision else None

    recorder.decide = decide
    return found


@pytest.fixture
def scene(plane: Plane, recorder: Recorder, decisions: Decisions) -> Iterator[Scene]:
    """Return a namespace of the test's own, watched by the recorder."""
    with staged(plane, recorder, decisions) as here:
        yield here
