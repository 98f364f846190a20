"""An update's two objects, read together, are what each of them is by itself."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.kubejson import DEPLOYMENT, POD, SERVICE, dumps
from suture.model import names
from suture.model.bounded import SHARE
from suture.model.difference import parts_changed
from suture.model.edges import Edge
from suture.model.names import Gvk, Resource
from suture.model.objects import ClusterObject
from suture.wire.kinds import SHAPES
from suture.wire.oddities import TrimError
from suture.wire.readings import Both
from suture.wire.trim import ENDS, ENDS_BYTES, Trimmer

APPLICATION = "argocd.argoproj.io/tracking-id"


def both_of(
    resource: Resource, new: dict[str, Any], old: dict[str, Any], trimmer: Trimmer | None = None
) -> Both:
    """Read two documents together; they are as each by itself, and the parts as compared."""
    shape = SHAPES.get(resource)
    kind = shape.kind if shape is not None else "Thing"
    reader = (trimmer or Trimmer()).reader(resource, Gvk(resource.group, "v1", kind))
    found = reader.both(dumps(new), dumps(old))
    assert found.new == reader.one(dumps(new))
    assert found.old == reader.one(dumps(old))
    assert found.changed == parts_changed(dumps(old), dumps(new))
    return found


def changed(document: dict[str, Any], *path: str, to: object) -> dict[str, Any]:
    """Return a document with another value somewhere."""
    document = copy.deepcopy(document)
    *way, last = path
    inside = document
    for step in way:
        inside = inside.setdefault(step, {})
    inside[last] = to
    return document


@pytest.mark.parametrize(
    "path",
    [
        ("metadata", "resourceVersion"),
        ("metadata", "uid"),
        ("metadata", "annotations", "example.com/reconciled"),
        ("metadata", "annotations", APPLICATION),
    ],
)
def test_what_metadata_alone_tells_apart_is_read_once(path: tuple[str, ...]) -> None:
    """The facts of two versions that differ in metadata alone are the very same."""
    new = changed(DEPLOYMENT, *path, to="shop:apps/Deployment:shop/web")
    found = both_of(names.DEPLOYMENTS, new, DEPLOYMENT)
    assert found.new.facts is found.old.facts is not None
    assert found.changed == ()


def test_an_application_that_comes_and_goes_is_seen() -> None:
    """Who keeps an object is told of each version by its own annotations."""
    mark = f"shop:apps/Deployment:shop/{DEPLOYMENT['metadata']['name']}"
    marked = changed(DEPLOYMENT, "metadata", "annotations", APPLICATION, to=mark)

    def keepers(thing: ClusterObject) -> set[Resource]:
        return {need.target.resource for need in thing.needs if need.edge is Edge.MANAGED_BY}

    found = both_of(names.DEPLOYMENTS, marked, DEPLOYMENT)
    assert (len(keepers(found.new)), len(keepers(found.old))) == (1, 0)
    found = both_of(names.DEPLOYMENTS, DEPLOYMENT, marked)
    assert (len(keepers(found.new)), len(keepers(found.old))) == (0, 1)


@pytest.mark.parametrize(
    ("path", "value", "parts"),
    [
        (("spec", "replicas"), 0, ("spec",)),
        (("status", "replicas"), 17, ()),
        (("metadata", "labels"), {"app": "other"}, ()),
        (("metadata", "namespace"), "elsewhere", ()),
        (("spec",), None, ("spec",)),
        (("kind",), "PartialObjectMetadata", ()),
        (("more",), {}, ("more",)),
    ],
)
def test_what_differs_elsewhere_is_read_twice(
    path: tuple[str, ...], value: object, parts: tuple[str, ...]
) -> None:
    """Another spec, status, label or place is another object, whichever way it changes."""
    new = changed(DEPLOYMENT, *path, to=value)
    assert both_of(names.DEPLOYMENTS, new, DEPLOYMENT).changed == parts
    assert both_of(names.DEPLOYMENTS, DEPLOYMENT, new).changed == parts


THINGS = Resource("example.com", "things")
THING = {"apiVersion": "example.com/v1", **DEPLOYMENT, "kind": "Thing"}


@pytest.mark.parametrize("path", [("metadata", "finalizers"), ("spec", "replicas"), ("more",)])
def test_a_kind_without_facts_is_read_by_its_metadata(path: tuple[str, ...]) -> None:
    """Of a custom resource nothing but its metadata is read, whatever else differs."""
    both_of(THINGS, changed(THING, *path, to=["x"]), THING)


def test_what_was_read_of_an_object_is_remembered_until_it_changes() -> None:
    """A second write of the same object finds its facts read; another spec is read anew."""
    trimmer = Trimmer()

    def written(number: int, replicas: int) -> Both:
        new = changed(DEPLOYMENT, "metadata", "resourceVersion", to=str(number))
        old = changed(DEPLOYMENT, "metadata", "resourceVersion", to=str(number - 1))
        new["spec"] = old["spec"] = {**DEPLOYMENT["spec"], "replicas": replicas}
        return both_of(names.DEPLOYMENTS, new, old, trimmer)

    first, again, other = written(2, 3), written(3, 3), written(4, 5)
    assert again.new.facts is first.new.facts
    assert other.new.facts != first.new.facts
    moved = changed(DEPLOYMENT, "metadata", "namespace", to="elsewhere")
    both_of(names.DEPLOYMENTS, moved, changed(moved, "metadata", "generation", to=7), trimmer)


def test_as_many_are_remembered_as_may_be() -> None:
    """The first that came is the first that is forgotten, and what is long is not kept."""
    trimmer = Trimmer()
    for number in range(ENDS + 10):
        new = changed(DEPLOYMENT, "metadata", "uid", to=f"uid-{number}")
        both_of(names.DEPLOYMENTS, new, changed(new, "metadata", "generation", to=9), trimmer)
    assert ENDS - ENDS // SHARE <= len(trimmer.ends) <= ENDS
    assert "uid-9" not in trimmer.ends
    assert f"uid-{ENDS // SHARE + 10}" in trimmer.ends
    assert f"uid-{ENDS + 9}" in trimmer.ends
    long = changed(DEPLOYMENT, "spec", "note", to="x" * ENDS_BYTES)
    long = changed(long, "metadata", "uid", to="long")
    both_of(names.DEPLOYMENTS, long, changed(long, "metadata", "generation", to=9), trimmer)
    assert "long" not in trimmer.ends


@pytest.mark.parametrize(("resource", "document"), [(names.PODS, POD), (names.SERVICES, SERVICE)])
def test_other_kinds_are_read_as_ever(resource: Resource, document: dict[str, Any]) -> None:
    """A kind of which it is not known that metadata decides nothing is read twice."""
    new = changed(document, "metadata", "annotations", "example.com/seen", to="1")
    both_of(resource, new, document)


def test_a_default_class_is_told_by_its_annotation() -> None:
    """A StorageClass that becomes the default one differs in nothing but an annotation."""
    old = {"kind": "StorageClass", "metadata": {"name": "fast"}, "provisioner": "example.com"}
    mark = "storageclass.kubernetes.io/is-default-class"
    new = changed(old, "metadata", "annotations", mark, to="true")
    found = both_of(names.STORAGE_CLASSES, new, old)
    assert found.new.facts != found.old.facts


@pytest.mark.parametrize(
    "end",
    [
        b',"metadata":{"name":"b","uid":"2"}}',
        b',"kind":"PartialObjectMetadata"}',
        b',"apiVersion":"apps/v2","status":{"replicas":4}}',
    ],
)
@pytest.mark.parametrize("start", [b"{", b'{"spec":{"replicas":7},', b'{"other":1,'])
def test_spelling_that_no_api_server_has_is_read_as_ever(start: bytes, end: bytes) -> None:
    """Names that stand there twice, or before or after where they should, are what they were."""
    reader = Trimmer().reader(names.DEPLOYMENTS, Gvk("apps", "v1", "Deployment"))

    def body(head: bytes, name: bytes) -> bytes:
        meta = b'"kind":"Deployment","metadata":{"name":"%b","uid":"1"}' % name
        return head + meta + b',"spec":{"replicas":3}' + end

    for new, old in (
        (body(start, b"a"), body(b"{", b"a")),
        (body(b"{", b"a"), body(start, b"a")),
        (body(start, b"a"), body(start, b"c")),
        (body(b"{", b'a"},"x":{"y":"'), body(b"{", b"a")),
        (body(b"{", b"a"), b'{"kind":"Deployment",' + body(b"{", b"a")[1:]),
    ):
        found = reader.both(new, old)
        assert (found.new, found.old) == (reader.one(new), reader.one(old))
        assert found.changed == parts_changed(old, new)


values = st.sampled_from([None, 7, "text", [], {}, [None], {"a": 1}, True])


@given(
    st.lists(st.integers(0, 20), max_size=5),
    values,
    st.lists(st.integers(0, 20), max_size=5),
    values,
)
def test_damage_is_read_as_ever(
    one_path: list[int], one: object, other_path: list[int], other: object
) -> None:
    """Whatever is odd about either version, both are read as each by itself."""
    both_of(names.DEPLOYMENTS, damaged(one_path, one), damaged(other_path, other))


def damaged(path: list[int], value: object) -> dict[str, Any]:
    """Return a Deployment with some value replaced."""
    document = copy.deepcopy(DEPLOYMENT)
    inside: Any = document
    for step in path:
        keys = list(inside) if isinstance(inside, dict) else []
        if not keys:
            break
        key = keys[step % len(keys)]
        if not isinstance(inside[key], dict) or step % 5 == 0:
            inside[key] = value
            break
        inside = inside[key]
    return document


@pytest.mark.parametrize(("new", "old"), [(b"{", b"{}"), (b"{}", b"{"), (b"", b"{}")])
def test_what_is_no_json_is_said_so(new: bytes, old: bytes) -> None:
    """As of one object."""
    reader = Trimmer().reader(names.DEPLOYMENTS, Gvk("apps", "v1", "Deployment"))
    with pytest.raises(TrimError):
        reader.both(new, old)
