"""Pods of a list that machine code reads by their siblings are what Python reads of their lines."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import native
from support.kubejson import dumps, meta
from suture.model import names
from suture.model.names import Gvk
from suture.model.rulebook import KindRules
from suture.wire.pages import Bookmark, Decoders, Event, Seen, WatchError
from suture.wire.trim import Trimmer

SOURCE = native.SRC / "suture" / "wire" / "_siblings.c"
SEVERAL = 3

Edit = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def siblings(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the type in machine code, made here: what is installed may be plain Python."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler: there is nothing but Python")
    target = tmp_path_factory.mktemp("native") / f"_siblings{native.SUFFIX}"
    assert native.compile_c(SOURCE, target, "-Werror") == ""
    return _loaded(target)


def _loaded(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("_siblings", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Siblings


def pod(number: int = 0, *edits: Edit) -> dict[str, Any]:
    """Return one of several pods that differ in name, node, state and the name of a token."""
    token = f"kube-api-access-{number:05d}"
    found: dict[str, Any] = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": meta(
            f"web-7c9-{number:05d}",
            "shop",
            labels={"app": "web", "pod-template-hash": "7c9"},
            annotations={"note": 'a "quoted" {word}', "path": "c:\\temp\\"},
            ownerReferences=[
                {
                    "apiVersion": "apps/v1",
                    "kind": "ReplicaSet",
                    "name": "web-7c9",
                    "uid": "0b1c53f0-0000-4000-8000-000000000001",
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
            managedFields=[{"manager": "kubelet", "fieldsV1": {"f:status": {".": {}}}}],
        ),
        "spec": {
            "volumes": [
                {"name": "config", "configMap": {"name": "web-config", "defaultMode": 420}},
                {
                    "name": token,
                    "projected": {"sources": [{"configMap": {"name": "kube-root-ca.crt"}}]},
                },
            ],
            "containers": [
                {
                    "name": "web",
                    "image": "web:1",
                    "env": [
                        {
                            "name": "PASSWORD",
                            "valueFrom": {"secretKeyRef": {"name": "web", "key": "password"}},
                        }
                    ],
                    "volumeMounts": [
                        {"name": "config", "mountPath": "/etc/web"},
                        {"name": token, "readOnly": True, "mountPath": "/var/run/secrets"},
                    ],
                }
            ],
            "serviceAccountName": "web",
            "nodeName": f"node-{number}",
        },
        "status": {
            "phase": "Running",
            "conditions": [
                {"type": "PodScheduled", "status": "True", "lastProbeTime": None},
                {"type": "Ready", "status": "True" if number % 2 else "False"},
            ],
            "podIP": "10.0.0.7",
            "containerStatuses": [{"name": "web", "restartCount": 0, "ready": True}],
        },
    }
    found["metadata"]["uid"] = f"66e8e75e-c541-4f9d-af3e-{number:012x}"
    for edit in edits:
        edit(found)
    return found


def line(thing: object, kind: str = "ADDED") -> bytes:
    """Return one watch line."""
    return dumps({"type": kind, "object": thing}) + b"\n"


def both(siblings: Any, block: bytes) -> tuple[Sequence[object], Sequence[object], int]:
    """Read a block with and without machine code; tell how many pods a sibling had told of."""
    quick, plain = decoders(siblings), decoders(None)
    found, wanted = quick.listed(block), plain.listed(block)
    held = quick._siblings
    return (
        [_whole(one) for one in found],
        [_whole(one) for one in wanted],
        held.taken if held else 0,
    )


def decoders(siblings: Any, trimmer: Trimmer | None = None) -> Decoders:
    """Return the decoders of pods."""
    reader = (trimmer or Trimmer()).reader(names.PODS, Gvk("", "v1", "Pod"))
    return Decoders(reader, siblings)


def _whole(event: Event) -> object:
    """Return an event with the bytes of what its object needs."""
    if isinstance(event, Seen):
        thing = event.thing
        return event, bytes(getattr(thing.needs, "raw", b"")), list(thing.labels.items())
    return event


def several(*more: bytes) -> bytes:
    """Return a block of usual pods, and what comes after them."""
    return b"".join((*(line(pod(number)) for number in range(SEVERAL)), *more))


def test_pods_are_read_by_their_siblings(siblings: Any) -> None:
    """The first is read whole; of the next ones no more than what differs."""
    found, wanted, taken = both(siblings, several())
    assert found == wanted
    assert taken == SEVERAL - 1


def test_what_is_no_pod_comes_in_its_place(siblings: Any) -> None:
    """A bookmark in the middle ends the list there, and not earlier."""
    mark = {"kind": "Pod", "metadata": {"resourceVersion": "9", "annotations": {}}}
    found, wanted, taken = both(siblings, several(line(mark, "BOOKMARK"), line(pod(7))))
    assert found == wanted
    assert isinstance(found[SEVERAL], Bookmark)
    assert taken == SEVERAL


def test_without_machine_code_python_reads_all() -> None:
    plain = decoders(None)
    assert all(isinstance(one, Seen) for one in plain.listed(several()))


def test_pods_with_rules_of_their_own_are_read_in_python(siblings: Any) -> None:
    """A user's rules may read any field, so that no pod is its sibling's equal."""
    trimmer = Trimmer()
    trimmer.declare({names.PODS: KindRules()})
    quick = decoders(siblings, trimmer)
    quick.listed(several())
    assert quick._siblings is None


def _put(*path: str | int, value: object) -> Edit:
    def edit(found: dict[str, Any]) -> None:
        at: Any = found
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = value

    return edit


def _drop(*path: str) -> Edit:
    def edit(found: dict[str, Any]) -> None:
        at = found
        for step in path[:-1]:
            at = at[step]
        del at[path[-1]]

    return edit


SPEC, META, STATUS = "spec", "metadata", "status"


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(_put(SPEC, "serviceAccountName", value="other"), id="another-account"),
        pytest.param(_put(SPEC, "volumes", 0, "configMap", "name", value="x"), id="another-map"),
        pytest.param(
            _put(SPEC, "containers", 0, "env", 0, "valueFrom", "secretKeyRef", "key", value="k"),
            id="another-key",
        ),
        pytest.param(_put(SPEC, "volumes", 1, "ephemeral", value={}), id="a-claim-by-its-name"),
        pytest.param(_put(SPEC, "nodeName", value=""), id="an-empty-node"),
        pytest.param(_put(SPEC, "nodeName", value="n\u00e9"), id="a-node-past-ascii"),
        pytest.param(_put(SPEC, "nodeName", value='a"b'), id="a-node-with-a-quote"),
        pytest.param(_put(SPEC, "nodeName", value=7), id="a-node-that-is-no-text"),
        pytest.param(_drop(SPEC, "nodeName"), id="no-node"),
        pytest.param(_put(SPEC, value=None), id="no-spec"),
        pytest.param(_drop(STATUS), id="no-status"),
        pytest.param(_put(STATUS, value=None), id="a-null-status"),
        pytest.param(_put(STATUS, "phase", value="Failed"), id="finished"),
        pytest.param(_put(STATUS, "phase", value=3), id="a-phase-that-is-no-text"),
        pytest.param(_put(STATUS, "conditions", value=None), id="null-conditions"),
        pytest.param(_put(STATUS, "conditions", value=[]), id="no-conditions"),
        pytest.param(
            _put(
                STATUS,
                "conditions",
                value=[{"type": "Ready", "status": "False"}, {"type": "Ready", "status": "True"}],
            ),
            id="two-conditions-of-a-type",
        ),
        pytest.param(_put(STATUS, "resourceClaimStatuses", value=[]), id="claims-were-made"),
        pytest.param(
            _put(STATUS, "resourceClaimStatuses", value=[{"resourceClaimName": "gpu"}]),
            id="a-claim-was-made",
        ),
        pytest.param(_put(META, "labels", "app", value="other"), id="another-label"),
        pytest.param(_put(META, "labels", value=None), id="null-labels"),
        pytest.param(_drop(META, "labels"), id="no-labels"),
        pytest.param(_drop(META, "ownerReferences"), id="no-owner"),
        pytest.param(_put(META, "ownerReferences", 0, "uid", value="1"), id="another-owner"),
        pytest.param(_put(META, "namespace", value="other"), id="another-namespace"),
        pytest.param(_put(META, "finalizers", value=["a/b"]), id="a-finalizer"),
        pytest.param(
            _put(META, "deletionTimestamp", value="2026-11-20T10:11:15Z"), id="terminating"
        ),
        pytest.param(_put(META, "creationTimestamp", value=None), id="no-time"),
        pytest.param(_put(META, "creationTimestamp", value="yesterday"), id="no-such-time"),
        pytest.param(_put(META, "creationTimestamp", value="2025-02-29T00:00:00Z"), id="no-day"),
        pytest.param(_put(META, "creationTimestamp", value="2024-02-29T23:59:59Z"), id="leap-day"),
        pytest.param(_put(META, "creationTimestamp", value="2000-03-01T00:00:00Z"), id="century"),
        pytest.param(_put(META, "creationTimestamp", value="1969-12-31T23:59:59Z"), id="before"),
        pytest.param(
            _put(META, "creationTimestamp", value="2026-11-20T10:11:15+01:00"), id="another-zone"
        ),
        pytest.param(_put(META, "uid", value=""), id="no-uid"),
        pytest.param(_put(META, "name", value=""), id="no-name"),
        pytest.param(_put(META, "name", value="\u00fc"), id="a-name-past-ascii"),
        pytest.param(_put(META, "resourceVersion", value=12), id="a-version-that-is-a-number"),
        pytest.param(_put("kind", value="PartialObjectMetadata"), id="metadata-only"),
        pytest.param(_put("kind", value="Pud"), id="another-kind"),
    ],
)
def test_a_pod_that_differs_is_what_it_is(siblings: Any, edit: Edit) -> None:
    """What machine code cannot tell from a sibling it leaves to Python, however it differs."""
    found, wanted, _ = both(
        siblings, several(line(pod(8, edit)), line(pod(9)), line(pod(10, edit)))
    )
    assert found == wanted


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(b'"nodeName":', b'"nodeName":"x","nodeName":', id="a-node-twice"),
        pytest.param(b'"spec":{', b'"spec":{"hostname":"x"},"spec":{', id="a-spec-twice"),
        pytest.param(b'"phase":', b'"phase":"Failed","phase":', id="a-phase-twice"),
        pytest.param(b'"uid":', b'"uid":"x","uid":', id="a-uid-twice"),
        pytest.param(b'"nodeName"', b'"node\\u004eame"', id="an-escaped-key"),
        pytest.param(b'"name":"web-7c9-', b'"name":"web\\u002d7c9-', id="an-escaped-name"),
        pytest.param(b'"volumes"', b'"volumes":null,"volumes"', id="volumes-twice"),
        pytest.param(b'":{', b'": {', id="spaced"),
        pytest.param(b'"restartCount":0', b'"restartCount":1e3', id="an-odd-number"),
        pytest.param(b'"podIP":"10.0.0.7"', b'"podIP":' + b"[" * 2000 + b"]" * 2000, id="deep"),
    ],
)
def test_odd_spellings_mean_what_they_mean(siblings: Any, old: bytes, new: bytes) -> None:
    odd = line(pod(8)).replace(old, new)
    assert odd != line(pod(8))
    found, wanted, _ = both(siblings, several(odd, line(pod(9)), odd.replace(b"00008", b"00009")))
    assert found == wanted


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda below: (
        st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=6), below, max_size=4)
    ),
    max_leaves=12,
)

check = settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@check
@given(inside=values, ascii_only=st.booleans())
def test_what_is_passed_over_is_passed_over_whole(
    siblings: Any, inside: object, ascii_only: bool
) -> None:
    """Any JSON may stand where nothing is read, as long as it is JSON."""
    thing = pod(8, _put(META, "managedFields", value=[{"manager": "kubelet", "fieldsV1": inside}]))
    thing[STATUS]["containerStatuses"] = thing[META]["generateName"] = inside
    thing["more"] = inside
    text = json.dumps(
        {"type": "ADDED", "object": thing}, ensure_ascii=ascii_only, separators=(",", ":")
    )
    found, wanted, taken = both(siblings, several(text.encode() + b"\n"))
    assert found == wanted
    if ascii_only and "\x7f" not in text:
        assert taken == SEVERAL


@check
@given(data=st.data())
def test_damaged_lines_are_never_read_otherwise(siblings: Any, data: st.DataObject) -> None:
    """Bytes changed, lost or doubled anywhere: what Python can read is read alike."""
    good = line(pod(8))
    at = data.draw(st.integers(0, len(good) - 2))
    gone = data.draw(st.integers(0, 12))
    put = data.draw(
        st.sampled_from([b"", b'"', b"\\", b"{", b"}", b"[", b",", b":", b"\n", b"\xff"])
    )
    again = good[at : at + data.draw(st.integers(0, 40))]
    bad = good[:at] + put + again + good[at + gone :]
    _alike(siblings, several(bad, line(pod(9))))


@check
@given(end=st.integers(0, len(line(pod(8)))))
def test_a_line_that_is_cut_off(siblings: Any, end: int) -> None:
    """Nothing is read past the end of what came."""
    _alike(siblings, several(line(pod(8))[:end]))


def _alike(siblings: Any, block: bytes) -> None:
    """Hold both readings to each other; of what is no JSON Python may refuse more."""
    try:
        wanted = [_whole(one) for one in decoders(None).listed(block)]
    except WatchError:
        return
    assert [_whole(one) for one in decoders(siblings).listed(block)] == wanted


PATHS: list[tuple[str | int, ...]] = [
    (SPEC, "serviceAccountName"), (SPEC, "nodeName"), (SPEC, "volumes", 0, "name"),
    (SPEC, "volumes", 0, "configMap", "name"), (SPEC, "volumes", 1, "name"),
    (SPEC, "containers", 0, "name"), (SPEC, "containers", 0, "volumeMounts", 0, "name"),
    (SPEC, "containers", 0, "env", 0, "valueFrom", "secretKeyRef", "name"),
    (META, "labels", "app"), (META, "namespace"), (STATUS, "phase"),
    (STATUS, "conditions", 1, "status"), (STATUS, "conditions", 1, "type"),
]  # fmt: skip
"""What may be another in a pod."""


@check
@given(
    edits=st.lists(
        st.sampled_from(PATHS),
        max_size=3,
    ),
    value=st.sampled_from(["", "a", "True", "Ready", "Failed", "node-1", "x.y-z", 'a"', "a\\", 1]),
)
def test_any_field_may_be_another(
    siblings: Any, edits: list[tuple[str | int, ...]], value: object
) -> None:
    """Whichever field of one differs, each pod of the block is what Python reads."""
    other = deepcopy(pod(8))
    for path in edits:
        _put(*path, value=value)(other)
    found, wanted, _ = both(siblings, several(line(other), line(pod(9)), line(other)))
    assert found == wanted


def test_what_is_remembered_is_given_back(siblings: Any) -> None:
    """Nothing that a sibling was read by outlives the list."""
    trimmer = Trimmer()
    quick = decoders(siblings, trimmer)
    first = quick.listed(several())[0]
    assert isinstance(first, Seen)
    held = sys.getrefcount(first.thing.labels)
    quick.list_ended()
    left = sys.getrefcount(first.thing.labels)
    assert left == held - 1


def test_a_reader_that_fails_is_heard(siblings: Any) -> None:
    """An error of the caller's own reading comes out as it is."""
    with pytest.raises(WatchError):
        decoders(siblings).listed(several(b'{"type":"ADDED","object":\n'))
    with pytest.raises(TypeError):
        siblings(1, 2)
    with pytest.raises(AttributeError):
        siblings(1, 2, (3, 4, 5, 6), 7, 8)
    with pytest.raises(TypeError):
        decoders(siblings).listed(memoryview(several()))  # type: ignore[arg-type]
