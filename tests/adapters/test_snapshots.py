"""Snapshots on disk: what is saved is what is loaded, and a file is whole or not there."""

from __future__ import annotations

import gc
import stat
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.cluster import START, graph_of, namespace, service, thing, workload
from suture.adapters.snapshots import (
    SnapshotFileError,
    load_graph,
    open_snapshot,
    read_snapshot_header,
    save_graph,
)
from suture.lab.clusters import Cluster
from suture.lab.clusters.size import TINY
from suture.model.clock import Now
from suture.model.graph import Graph
from suture.model.names import NAMESPACES, PODS, SERVICES, ObjectKey, Resource
from suture.model.objects import ClusterObject
from suture.wire.snapshot import (
    END_BYTES,
    MAX_HEADER_BYTES,
    PREAMBLE_BYTES,
    Header,
    Packer,
    SnapshotCorruptError,
    SnapshotError,
    SnapshotTooLargeError,
    SnapshotTruncatedError,
    SnapshotVersionError,
    end_of,
    head_of,
    header_bytes,
    read_header,
)

SECONDS = st.floats(0, 4e9)
OBJECTS = st.builds(ClusterObject, created=SECONDS, deleted=SECONDS)
"""Any object that its type allows: names that no API server takes, facts that do not fit."""


def content(graph: Graph) -> dict[ObjectKey, ClusterObject]:
    """Return everything that a graph holds, by key."""
    return {one.key: one for one in graph}


def knowledge(graph: Graph) -> dict[Resource, tuple[object, ...]]:
    """Return how well a graph knows each type."""
    return {
        resource: (fresh.listed, fresh.heard_ns, fresh.resource_version, fresh.unknown)
        for resource, fresh in graph.freshness.items()
    }


def same(one: Graph, other: Graph) -> None:
    """Hold two graphs against each other."""
    assert content(one) == content(other)
    assert knowledge(one) == knowledge(other)
    assert dict(one.kinds) == dict(other.kinds)
    assert len(one) == len(other)


def small() -> Graph:
    """Return a graph of a few objects, and of one type that cannot be known."""
    graph = graph_of(namespace("kube-system"), service("web"), workload("web", replicas=3))
    graph.mark_unknown(Resource("secret.example.com", "vaults"), "403 Forbidden: no right to list")
    return graph


def files(folder: Path) -> list[str]:
    """Return the names of what is in a folder, hidden ones too."""
    return [one.name for one in folder.iterdir()]


def rewritten(path: Path, change: Callable[[Header, bytes], tuple[Header, bytes]]) -> None:
    """Change header and sections of a file, and sign it as a writer would."""
    file = path.read_bytes()
    start = PREAMBLE_BYTES + header_bytes(file[:PREAMBLE_BYTES], "it")
    header = read_header(file[:start], file[-END_BYTES:], len(file), "it")
    header, sections = change(header, file[start:-END_BYTES])
    head = head_of(header)
    path.write_bytes(head + sections + end_of(head))


def with_section(*, required: bool) -> Callable[[Header, bytes], tuple[Header, bytes]]:
    """Add a section that nobody has heard of."""

    def change(header: Header, sections: bytes) -> tuple[Header, bytes]:
        packer = Packer("colours", required=required)
        stored = b"".join(packer.pack([b"red"]))
        full = msgspec.structs.replace(header, sections=(*header.sections, packer.section))
        return full, sections + stored

    return change


def test_a_made_cluster_comes_back(tmp_path: Path) -> None:
    """Every object, what is known of each type, and which type a kind is."""
    graph = Cluster(TINY).graph(START)
    header = save_graph(graph, tmp_path / "tiny.snapshot", now=START)

    same(load_graph(tmp_path / "tiny.snapshot", now=START), graph)
    assert header.objects == len(graph) > 3000


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(things=st.lists(OBJECTS, max_size=6), data=st.data())
def test_any_graph_comes_back(
    tmp_path: Path, things: list[ClusterObject], data: st.DataObject
) -> None:
    """However odd its objects, and whatever is known of types with or without objects."""
    graph = Graph()
    types = [one.key.resource for one in things] or [PODS]
    for number in range(data.draw(st.integers(0, 3))):
        resource = data.draw(st.sampled_from([*types, SERVICES]))
        graph.declare(resource.group, data.draw(st.text(max_size=3)), resource)
        graph.heard(resource, str(number), data.draw(st.integers(0, 2**60)))
    for one in things:
        graph.put(one)
    for resource in data.draw(st.lists(st.sampled_from(types), max_size=2)):
        graph.note_listed(resource)
        graph.mark_unknown(resource, data.draw(st.text(max_size=9)))
    save_graph(graph, tmp_path / "any", now=START)

    same(load_graph(tmp_path / "any", now=START), graph)


def test_the_header_tells_what_is_in_it(tmp_path: Path) -> None:
    """Without reading a section: when, of what, how many of each, and what is unknown."""
    save_graph(
        small(), tmp_path / "a", now=START, source="cluster", cluster="prod", notes=["a guess"]
    )
    header = read_snapshot_header(tmp_path / "a")
    counts = {kind.resource: kind.objects for kind in header.kinds}

    assert (header.source, header.cluster, header.notes) == ("cluster", "prod", ("a guess",))
    assert header.cluster_uid == thing(NAMESPACES, "kube-system").uid
    assert header.taken_s == START.utc_s
    assert (counts["pods"], counts["services"], header.objects) == (3, 1, 7)
    assert header.unknown == {"vaults.secret.example.com": "403 Forbidden: no right to list"}


def test_ages_go_on_from_when_it_was_taken(tmp_path: Path) -> None:
    """On another boot's clock: 5 s old when saved and loaded 60 s later is 65 s old."""
    graph = small()
    graph.heard(PODS, "7", START.mono_ns - 5 * 10**9)
    save_graph(graph, tmp_path / "a", now=START)
    later = Now(1_000_000_000, START.utc_s + 60)

    loaded = load_graph(tmp_path / "a", now=later)

    assert (later.mono_ns - loaded.freshness[PODS].heard_ns) / 1e9 == pytest.approx(65)


def test_a_wall_clock_set_back_makes_nothing_fresher(tmp_path: Path) -> None:
    """What was 5 s old is at least that."""
    graph = small()
    graph.heard(PODS, "7", START.mono_ns - 5 * 10**9)
    save_graph(graph, tmp_path / "a", now=START)
    later = Now(10**9, START.utc_s - 3600)

    loaded = load_graph(tmp_path / "a", now=later)

    assert (later.mono_ns - loaded.freshness[PODS].heard_ns) / 1e9 == pytest.approx(5)


def test_a_file_is_its_owners_alone(tmp_path: Path) -> None:
    """Names of a cluster's objects are nobody else's business."""
    path = tmp_path / "a"
    save_graph(small(), path)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert files(tmp_path) == ["a"]


def test_a_save_that_fails_leaves_the_earlier_file(tmp_path: Path) -> None:
    """And nothing beside it: here more is to be said of it than a header holds."""
    path = tmp_path / "a"
    save_graph(small(), path, now=START)
    before = path.read_bytes()

    with pytest.raises(SnapshotTooLargeError):
        save_graph(small(), path, now=START, notes=["x" * MAX_HEADER_BYTES])

    assert path.read_bytes() == before
    assert files(tmp_path) == ["a"]


@pytest.mark.parametrize("place", ["missing/folder", "."])
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, place: str) -> None:
    """A folder that is not there, and one that is where the file should be."""
    with pytest.raises(SnapshotFileError, match="cannot be written"):
        save_graph(small(), tmp_path / place)
    assert files(tmp_path) == []


@pytest.mark.parametrize("place", ["nothing", "."])
def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path, place: str) -> None:
    """With the system's own words."""
    with pytest.raises(SnapshotFileError, match="cannot be read"):
        load_graph(tmp_path / place)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of a small snapshot."""
    path = tmp_path_factory.mktemp("saved") / "a"
    save_graph(small(), path, now=START)
    return path.read_bytes()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_file_is_refused(tmp_path: Path, saved: bytes, data: st.DataObject) -> None:
    """Any byte changed, or the end cut off: an error of ours and never another graph."""
    at = data.draw(st.integers(0, len(saved) - 1))
    flip = data.draw(st.integers(0, 255))
    damaged = saved[:at] + (bytes([saved[at] ^ flip]) + saved[at + 1 :] if flip else b"")
    (tmp_path / "b").write_bytes(damaged)

    with pytest.raises(SnapshotError):
        load_graph(tmp_path / "b")


def test_a_file_cut_off_while_copied_says_so(tmp_path: Path, saved: bytes) -> None:
    """With both sizes, as far as they are known."""
    (tmp_path / "b").write_bytes(saved[:-100])

    with pytest.raises(SnapshotTruncatedError, match=f"{len(saved) - 100} bytes"):
        load_graph(tmp_path / "b")


def test_an_unknown_section_that_may_be_overlooked_is(tmp_path: Path) -> None:
    """The rest is the graph."""
    path = tmp_path / "a"
    save_graph(small(), path, now=START)
    rewritten(path, with_section(required=False))

    same(load_graph(path, now=START), small())


def test_an_unknown_section_that_must_not_be_overlooked_is_named(tmp_path: Path) -> None:
    """And with it the Suture that knows it."""
    path = tmp_path / "a"
    save_graph(small(), path)
    rewritten(path, with_section(required=True))

    with pytest.raises(SnapshotVersionError, match=r"`colours`.*with Suture"):
        load_graph(path)


def changed(**changes: object) -> Callable[[Header, bytes], tuple[Header, bytes]]:
    """Have a header say something else."""
    return lambda header, sections: (msgspec.structs.replace(header, **changes), sections)


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        pytest.param(changed(layout="trees"), SnapshotVersionError, id="another-layout"),
        pytest.param(changed(layout_version=99), SnapshotVersionError, id="a-newer-layout"),
        pytest.param(changed(objects=6), SnapshotCorruptError, id="another-count"),
        pytest.param(
            lambda header, _: (msgspec.structs.replace(header, sections=()), b""),
            SnapshotCorruptError,
            id="without-sections",
        ),
    ],
)
def test_a_header_that_does_not_fit_is_refused(
    tmp_path: Path,
    change: Callable[[Header, bytes], tuple[Header, bytes]],
    wanted: type[SnapshotError],
) -> None:
    """Signed as it is: another layout, or sections that are not what it says."""
    path = tmp_path / "a"
    save_graph(small(), path)
    rewritten(path, change)

    with pytest.raises(wanted):
        open_snapshot(path)


def test_the_collector_rests_while_a_graph_is_loaded(tmp_path: Path) -> None:
    """And works again afterwards, whether it went well or not."""
    path = tmp_path / "a"
    save_graph(small(), path)

    assert gc.isenabled()
    load_graph(path)
    assert gc.isenabled()
    path.write_bytes(b"")
    with pytest.raises(SnapshotError):
        load_graph(path)
    assert gc.isenabled()
