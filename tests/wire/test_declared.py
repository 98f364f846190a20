"""Rules read from raw objects: what is named, selected and wanted; odd JSON says nothing."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from suture.model.edges import Edge, Need, Selection
from suture.model.fieldpath import FieldPath
from suture.model.names import NODES, PODS, SECRETS, SERVICES, Gvk, ObjectKey, Resource
from suture.model.objects import CustomFacts
from suture.model.rulebook import KindCalled, KindRules, Named, ParentOf, Selected, name_pattern
from suture.model.rules import (
    REFERENCE_RULES,
    By,
    Form,
    Place,
    Provided,
    Reference,
    RuleFacts,
    TypeName,
)
from suture.model.selectors import Operator, Requirement, Selector
from suture.wire.declared import Declared
from suture.wire.pooled import PARTS
from suture.wire.projections import Projection, ends, trails
from suture.wire.shapes import Document, Meta
from suture.wire.trim import Trimmer

DATABASES = Resource("db.example.com", "databases")


def path(text: str) -> FieldPath:
    return FieldPath.parse(text)


def named(
    field: str,
    place: str = "same",
    *,
    to: Resource = SECRETS,
    key: str = "",
    optional: bool = False,
) -> Named:
    where = Place(place) if place in list(Place) else path(place)
    return Named(path(field), to, where, path(key) if key else None, optional)


def selected(
    field: str,
    written: Form = Form.LABEL_SELECTOR,
    *,
    of: Resource = PODS,
    place: Place = Place.SAME,
    namespaces: str = "",
    by_name: bool = False,
) -> Selected:
    spaces = path(namespaces) if namespaces else None
    return Selected(path(field), of, written, place, spaces, by_name)


def read(
    rules: KindRules, body: dict[str, Any], namespace: str = "ns"
) -> tuple[tuple[Need, ...], CustomFacts]:
    """Read an object as the reader of its kind does."""
    declared = Declared(rules)
    whole = {"metadata": {"name": "db", "namespace": namespace}, **body}
    document = msgspec.json.decode(msgspec.json.encode(whole), type=declared.document)
    labels = body.get("metadata", {}).get("labels", {})
    return declared.needs(document, namespace, labels), declared.facts(document, namespace, labels)


def secret(name: str, namespace: str = "ns", key: str = "", *, optional: bool = False) -> Need:
    return Need(Edge.RULE, ObjectKey(SECRETS, namespace, name), key, optional)


def test_a_field_names_an_object() -> None:
    """In the namespace of the object, unless the rule says otherwise."""
    body = {"spec": {"ref": {"name": "a"}}}
    assert read(KindRules((named("spec.ref.name"),)), body)[0] == (secret("a"),)
    assert read(KindRules((named("spec.ref.name", "cluster"),)), body)[0] == (secret("a", ""),)
    optional = KindRules((named("spec.ref.name", optional=True),))
    assert read(optional, body)[0] == (secret("a", optional=True),)


def test_what_is_led_to_is_named_too() -> None:
    """Both edges, each once."""
    one = replace(named("spec.services[*].name", to=SERVICES, optional=True), leads=True)
    target = ObjectKey(SERVICES, "ns", "web")

    assert read(KindRules((one,)), {"spec": {"services": [{"name": "web", "port": 80}]}})[0] == (
        Need(Edge.RULE, target, "", optional=True),
        Need(Edge.LEADS_TO, target, "", optional=True),
    )


def provider(kind: str, name: str, namespace: str, group: str = "db.example.com") -> Need:
    to = ObjectKey(Resource(group, kind), namespace, name)
    return Need(Edge.PROVIDER, to, "", optional=True)


def test_a_field_names_what_provides_an_object_and_its_kind() -> None:
    """Where an object of that kind may be: in the namespace, or in none."""
    rules = KindRules(provided=(Provided(path("spec.storeRef"), "db.example.com"),))
    body = {"spec": {"storeRef": {"kind": "Store", "name": "a"}}}
    assert read(rules, body)[0] == (provider("stores", "a", "ns"), provider("stores", "a", ""))

    body["spec"]["storeRef"]["namespace"] = "other"
    assert read(rules, body)[0][0] == provider("stores", "a", "other")


def test_an_autoscaler_of_its_own_kind_names_what_it_sizes() -> None:
    """By the field in which Kubernetes' own has it, and in its own namespace."""
    rules = KindRules(provided=(Provided(path("spec.scaleTargetRef"), "db.example.com"),))
    said = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "namespace": "odd"}
    target = ObjectKey(Resource("apps", "deployments"), "ns", "web")
    assert read(rules, {"spec": {"scaleTargetRef": said}})[0] == (Need(Edge.SCALES, target),)


@pytest.mark.parametrize(
    ("said", "group"),
    [
        pytest.param({"group": "x.io"}, "x.io", id="group"),
        pytest.param({"apiGroup": "x.io"}, "x.io", id="api-group"),
        pytest.param({"apiVersion": "x.io/v1"}, "x.io", id="api-version"),
        pytest.param({"group": ""}, "db.example.com", id="empty"),
        pytest.param({"apiVersion": "x.io/v1", "group": "y.io"}, "y.io", id="group-first"),
    ],
)
def test_what_provides_an_object_may_be_of_another_group(said: dict[str, str], group: str) -> None:
    """Under whichever of the usual names it is said; else it is of the object's own."""
    rules = KindRules(provided=(Provided(path("spec.storeRef"), "db.example.com"),))
    body = {"spec": {"storeRef": {"kind": "Store", "name": "a", **said}}}
    assert read(rules, body)[0][0] == provider("stores", "a", "ns", group)


@pytest.mark.parametrize(
    "odd",
    [
        {"kind": "Secret", "name": "a", "apiVersion": "v1"},
        None,
        "a",
        {},
        {"name": "a"},
        {"kind": "A"},
        {"kind": 1, "name": 2},
    ],
)
def test_what_provides_nothing_names_nothing(odd: object) -> None:
    """A field that is absent, or no such object, says nothing."""
    rules = KindRules(provided=(Provided(path("spec.storeRef"), "db.example.com"),))
    assert read(rules, {"spec": {"storeRef": odd}})[0] == ()


STORES = Resource("db.example.com", "stores")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("a", ["ns/a"], id="name"),
        pytest.param("other/a", ["other/a"], id="with-its-namespace"),
        pytest.param(["a", "b"], ["ns/a", "ns/b"], id="list"),
        pytest.param({"name": "a"}, ["ns/a"], id="object"),
        pytest.param([{"name": "a", "namespace": "other"}], ["other/a"], id="list-of-objects"),
        pytest.param({"name": "a", "kind": "Store"}, [], id="says-its-kind"),
        pytest.param([["a"]], [], id="list-of-lists"),
        pytest.param({}, [], id="nameless"),
        pytest.param({"name": 1}, [], id="number"),
        pytest.param({"name": "a", "namespace": 1}, [], id="odd-namespace"),
        pytest.param("", [], id="empty"),
        pytest.param("a" * 254, [], id="too-long"),
        pytest.param(7, [], id="odd"),
    ],
)
def test_a_field_called_after_a_kind_names_one(value: object, expected: list[str]) -> None:
    """Where an object of that kind may be: in the namespace, or in none; each once."""
    said = KindRules(called=(KindCalled(path("spec.store"), (STORES,)),))
    body = {"spec": {"store": value, "size": 1}}
    named = [one for one in read(said, body)[0] if one.target.namespace]
    assert [f"{one.target.namespace}/{one.target.name}" for one in named] == expected
    assert named == [provider("stores", one.target.name, one.target.namespace) for one in named]


POD_OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "p"}


@pytest.mark.parametrize(
    ("owners", "value", "expected"),
    [
        pytest.param([POD_OWNER], {"name": "a"}, ["a"], id="name"),
        pytest.param([POD_OWNER], {"id": 7, "labels": []}, ["7"], id="number"),
        pytest.param([POD_OWNER], {"id": "7"}, ["7"], id="text"),
        pytest.param([POD_OWNER], {"id": True}, [], id="odd"),
        pytest.param([{**POD_OWNER, "apiVersion": "x.io/v1"}], {"name": "a"}, [], id="other-pod"),
        pytest.param([{**POD_OWNER, "kind": "Node"}], {"name": "a"}, [], id="of-a-node"),
        pytest.param([], {"name": "a"}, [], id="of-nothing"),
    ],
)
def test_a_status_names_what_a_pod_works_by(
    owners: list[dict[str, str]], value: object, expected: list[str]
) -> None:
    """Only of what a pod owns: what another status names may be long done."""
    said = KindRules(reported=(KindCalled(path("status.store"), (STORES,)),))
    declared = Declared(said)
    meta = {"name": "p", "namespace": "ns", "ownerReferences": owners}
    raw = msgspec.json.encode({"metadata": meta, "status": {"store": value}})
    needs = declared.needs(msgspec.json.decode(raw, type=declared.document), "ns", {})
    targets = [ObjectKey(STORES, at, name) for name in expected for at in ("ns", "")]
    assert list(needs) == [Need(Edge.RULE, one, "", optional=True) for one in targets]


def test_each_item_has_its_own_namespace_and_key() -> None:
    """What stands beside a name belongs to it, and to no other item."""
    rules = KindRules(
        (named("spec.users[*].secret.name", "spec.users[*].secret.in", key="spec.users[*].key"),)
    )
    body = {
        "spec": {
            "users": [
                {"secret": {"name": "a", "in": "one"}, "key": "password"},
                {"secret": {"name": "b"}},
                {"secret": {"in": "three"}, "key": "no name"},
                {"secret": {"name": "d", "in": "four"}, "key": "token"},
            ]
        }
    }
    assert read(rules, body)[0] == (
        secret("a", "one", "password"),
        secret("b"),
        secret("d", "four", "token"),
    )


def test_every_item_is_an_element_or_a_value_of_a_map() -> None:
    """Lists and maps are walked alike, nested as deep as the path says."""
    rules = KindRules((named("spec.pools[*].mounts[*]"),))
    body = {"spec": {"pools": {"x": {"mounts": ["a", "b"]}, "y": {"mounts": {"k": "c", "l": "a"}}}}}
    assert read(rules, body)[0] == (secret("a"), secret("b"), secret("c"))


def test_metadata_can_name_objects() -> None:
    """Annotations and labels by their key, and the object's own name."""
    rules = KindRules(
        (
            named("metadata.annotations['x/y']"),
            named("metadata.labels['app.z']"),
            named("metadata.name", to=SERVICES),
        )
    )
    metadata = {"name": "db", "annotations": {"x/y": "a"}, "labels": {"app.z": "b"}}
    assert read(rules, {"metadata": metadata})[0] == (
        secret("a"),
        secret("b"),
        Need(Edge.RULE, ObjectKey(SERVICES, "ns", "db")),
    )
    assert rules.metadata_only


@pytest.mark.parametrize(
    "spec",
    [
        None,
        "text",
        7,
        [],
        {},
        {"ref": None},
        {"ref": "text"},
        {"ref": ["text"]},
        {"ref": {"name": None}},
        {"ref": {"name": ""}},
        {"ref": {"name": 7}},
        {"ref": {"name": {"name": "a"}}},
        {"ref": {"name": "a" * 254}},
    ],
)
def test_an_odd_field_names_nothing(spec: Any) -> None:
    """What is not of the shape that a rule expects says nothing, and hides nothing else."""
    rules = KindRules((named("spec.ref.name"), named("status.secret")), wanted=path("spec.n"))
    assert read(rules, {"spec": spec, "status": {"secret": "s"}}) == ((secret("s"),), CustomFacts())


def test_one_odd_field_does_not_hide_the_others_of_its_object() -> None:
    """A projection that fails is replaced by a walk."""
    rules = KindRules((named("spec.a.name"), named("spec.b.name")), wanted=path("spec.n"))
    needs, facts = read(rules, {"spec": {"a": "odd", "b": {"name": "b"}, "n": 3}})
    assert needs == (secret("b"),)
    assert facts.wanted == 3


# ---------------------------------------------------------------- parents


def parent(by: By, *, label: str = "", name: str = "", place: Place = Place.SAME) -> KindRules:
    kind = ("db.example.com", "Database")
    pattern = name_pattern(name) if name else ""
    return KindRules(parents=(ParentOf(DATABASES, kind, by, label, pattern, place),))


def test_a_child_knows_its_parent_by_label() -> None:
    """The label's value is the parent's name; without the label it is nobody's child."""
    rules = parent(By.LABEL, label="db.example.com/name")
    body = {"metadata": {"labels": {"db.example.com/name": "main"}}}
    assert read(rules, body)[0] == (Need(Edge.PARENT, ObjectKey(DATABASES, "ns", "main")),)
    assert read(rules, {"metadata": {}})[0] == ()


def test_a_child_knows_its_parent_by_name() -> None:
    """A cluster-scoped parent has no namespace."""
    rules = parent(By.NAME, name="{name}-*", place=Place.CLUSTER)
    body = {"metadata": {"name": "main-0"}}
    assert read(rules, body)[0] == (Need(Edge.PARENT, ObjectKey(DATABASES, "", "main")),)
    assert read(rules, {"metadata": {"name": "main"}})[0] == ()


def test_a_child_knows_its_parent_by_owner() -> None:
    """Whatever the version; an owner of another kind is another edge's business."""
    owners = [
        {"apiVersion": "apps/v1", "kind": "Database", "name": "other", "uid": "1"},
        {"apiVersion": "db.example.com/v1beta1", "kind": "Database", "name": "main", "uid": "2"},
    ]
    rules = parent(By.OWNER)
    assert read(rules, {"metadata": {"ownerReferences": owners}})[0] == (
        Need(Edge.PARENT, ObjectKey(DATABASES, "ns", "main")),
    )
    for odd in (None, [], "text", [7], owners[:1]):
        assert read(rules, {"metadata": {"ownerReferences": odd}})[0] == ()


# ---------------------------------------------------------------- selectors and counts


def selections(rule: Selected, spec: Any, namespace: str = "ns") -> tuple[Selection, ...]:
    return read(KindRules(selected=(rule,)), {"spec": spec}, namespace)[1].selections


def test_a_label_selector_selects() -> None:
    """Empty selects everything, absent nothing."""
    rule = selected("spec.selector")
    web = Selector.of({"app": "web"})
    assert selections(rule, {"selector": {"matchLabels": {"app": "web"}}}) == (
        Selection(PODS, "ns", web),
    )
    assert selections(rule, {"selector": {}}) == (Selection(PODS, "ns", Selector()),)
    assert selections(rule, {"selector": None}) == ()
    assert selections(rule, {}) == ()


def test_expressions_are_read() -> None:
    """Requirements keep their operators."""
    expression = {"key": "tier", "operator": "NotIn", "values": ["b", "a"]}
    found = selections(selected("spec.s"), {"s": {"matchExpressions": [expression]}})
    assert found == (
        Selection(PODS, "ns", Selector((Requirement("tier", Operator.NOT_IN, ("a", "b")),))),
    )


def test_a_map_of_labels_and_a_string_select() -> None:
    """Empty ones are as good as absent."""
    nodes = selected("spec.nodeSelector", Form.MATCH_LABELS, of=NODES, place=Place.CLUSTER)
    assert selections(nodes, {"nodeSelector": {"disk": "ssd"}}) == (
        Selection(NODES, "", Selector.of({"disk": "ssd"})),
    )
    assert selections(nodes, {"nodeSelector": {}}) == ()
    text = selected("spec.selector", Form.STRING)
    assert selections(text, {"selector": "app=web"}) == (
        Selection(PODS, "ns", Selector.of({"app": "web"})),
    )
    assert selections(text, {"selector": "has(app)"}) == (
        Selection(PODS, "ns", Selector((Requirement("app", Operator.EXISTS),))),
    )
    assert selections(text, {"selector": ""}) == ()


def test_a_selector_looks_into_the_namespaces_that_are_said() -> None:
    """Else into its own; one of an object without namespace looks into all."""
    rule = selected("spec.selector", namespaces="spec.namespaceSelector")
    everything: dict[str, Any] = {"selector": {}}
    assert selections(rule, everything) == (Selection(PODS, "ns", Selector()),)
    assert selections(rule, {**everything, "namespaceSelector": {}}) == (
        Selection(PODS, "", Selector(), Selector()),
    )
    some = {"matchLabels": {"team": "a"}}
    assert selections(rule, {**everything, "namespaceSelector": some}) == (
        Selection(PODS, "", Selector(), Selector.of({"team": "a"})),
    )
    assert selections(rule, everything, "") == (Selection(PODS, "", Selector(), Selector()),)


def test_namespaces_by_name_or_any() -> None:
    """As monitors select them; an empty one says no more than an absent one: its own."""
    rule = selected("spec.selector", namespaces="spec.namespaceSelector", by_name=True)
    own = (Selection(PODS, "ns", Selector()),)
    two = Selector((Requirement("kubernetes.io/metadata.name", Operator.IN, ("a", "b")),))
    for told, found in (
        ({"any": True}, (Selection(PODS, "", Selector(), Selector()),)),
        ({"matchNames": ["a", "b"]}, (Selection(PODS, "", Selector(), two),)),
        ({"any": False, "matchNames": ["a", "b"]}, (Selection(PODS, "", Selector(), two),)),
        ({}, own),
        ({"matchNames": []}, own),
        ({"matchNames": [1]}, own),
    ):
        assert selections(rule, {"selector": {}, "namespaceSelector": told}) == found


@pytest.mark.parametrize(
    ("written", "odd"),
    [
        (Form.LABEL_SELECTOR, "text"),
        (Form.LABEL_SELECTOR, {"matchLabels": {"a": 1}}),
        (Form.LABEL_SELECTOR, {"matchExpressions": [{"key": "a", "operator": "Near"}]}),
        (Form.MATCH_LABELS, {"a": ["b"]}),
        (Form.MATCH_LABELS, "text"),
        (Form.STRING, {"a": "b"}),
        (Form.STRING, "a b"),
        (Form.STRING, "has(a) || has(b)"),
    ],
)
def test_a_selector_that_cannot_be_read_is_counted(written: Form, odd: Any) -> None:
    """It selects nothing, and somebody hears of it."""
    heard: list[str] = []
    declared = Declared(
        KindRules(selected=(selected("spec.s", written),)), odd=lambda: heard.append("x")
    )
    document = msgspec.json.decode(
        msgspec.json.encode({"spec": {"s": odd}}), type=declared.document
    )
    assert declared.facts(document, "ns", {}) == CustomFacts()
    assert heard == ["x"]


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"n": 3}, 3),
        ({"n": 0}, 0),
        ({}, None),
        ({"n": None}, None),
        ({"n": True}, None),
        ({"n": -1}, None),
        ({"n": "3"}, None),
        ({"n": 1.5}, None),
    ],
)
def test_the_wanted_count_is_read(spec: Any, wanted: int | None) -> None:
    """None wanted and not told are two things."""
    assert read(KindRules(wanted=path("spec.n")), {"spec": spec})[1].wanted == wanted


@pytest.mark.parametrize(
    ("spec", "waits"),
    [
        ({"suspend": True}, True),
        ({"suspend": False}, False),
        ({}, None),
        ({"suspend": None}, None),
        ({"suspend": "true"}, None),
        ({"suspend": 1}, None),
    ],
)
def test_whether_its_work_is_to_wait_is_read(spec: Any, waits: bool | None) -> None:
    """A no and not a word are two things."""
    assert read(KindRules(suspend=path("spec.suspend")), {"spec": spec})[1].suspend is waits


POOLS = (path("spec[*].count"), path("spec[*].size"))


@pytest.mark.parametrize(
    ("spec", "pools"),
    [
        ({"sets": [{"count": 2}, {"count": 3}]}, (5,)),
        ({"hot": {"count": 2}, "sets": [{"count": 3}, {"size": 7}]}, (5, 7)),
        ({"sets": [{"count": "2"}, {"count": True}, {"count": -1}, None]}, ()),
        ({"sets": [{"count": 2, "size": 2}]}, (2,)),
        ({"n": 4, "sets": [{"count": 2}]}, ()),
        ("none", ()),
    ],
)
def test_what_parts_want_adds_up_by_the_name_of_the_field(
    spec: Any, pools: tuple[int, ...]
) -> None:
    """And is not asked where the whole says how many it wants."""
    rules = KindRules(wanted=path("spec.n"), pools=POOLS)

    assert read(rules, {"spec": spec})[1].pools == pools


def test_what_described_parts_want_is_read_of_them_alone() -> None:
    """Named parts, items of lists and values of maps."""
    texts = ("spec.hot.count", "spec.sets[*].count", "spec.more[*].count")
    rules = KindRules(pools=tuple(map(path, texts)))
    spec = {"hot": {"count": 1}, "sets": [{"count": 2}, 7], "more": {"a": {"count": 4}, "b": {}}}

    assert read(rules, {"spec": {**spec, "other": {"count": 9}}})[1].pools == (7,)
    assert read(rules, {"spec": {"hot": [], "sets": {"count": 2}, "more": 3}})[1].pools == ()


@pytest.mark.parametrize("field", ["spec.refs[*]", "spec[*][*]"])
def test_objects_that_are_listed_are_read_by_type_and_name(field: str) -> None:
    """Whatever else an item says; what lacks one of the three names nothing."""
    rules = KindRules(lists=(path(field),))
    listed = {"apiVersion": "db.example.com/v1", "kind": "Database", "name": "orders", "uid": "1"}
    odd = [{**listed, "name": ""}, {**listed, "kind": 3}, {"name": "orders"}, "orders", None]
    spec = {"refs": [listed, *odd, listed], "size": 3, "ref": {"name": "x"}}
    assert read(rules, {"spec": spec})[1].lists == (("db.example.com", "Database", "orders"),)
    assert read(rules, {"spec": "none"})[1].lists == ()


def test_wanted_counts_of_several_sets_add_up() -> None:
    """A custom resource with several sets of children wants the sum."""
    rules = KindRules(wanted=path("spec.sets[*].count"))
    body = {"spec": {"sets": [{"count": 3}, {}, {"count": 2}]}}
    assert read(rules, body)[1].wanted == 5


# ---------------------------------------------------------------- kinds that are built in


class _Spec(msgspec.Struct, gc=False):
    replicas: int = 1


class _BuiltIn(Document, gc=False):
    spec: _Spec | None = None


def test_a_built_in_projection_is_given_back_beside_rules() -> None:
    """Rules read the same field as the projection does, and take nothing away from it."""
    declared = Declared(KindRules((named("spec.ref"), named("data.x"))), _BuiltIn)
    body = b'{"metadata":{"name":"a"},"spec":{"replicas":3,"ref":"b"},"data":{"x":"c"}}'
    document = msgspec.json.decode(body, type=declared.document)
    assert declared.built_in(document) == _BuiltIn("", Meta(name="a"), spec=_Spec(3))
    assert declared.needs(document, "ns", {}) == (secret("b"), secret("c"))


def test_a_built_in_projection_that_cannot_be_read_is_counted() -> None:
    """The rest of the object is read all the same."""
    heard: list[str] = []
    declared = Declared(KindRules((named("spec.ref"),)), _BuiltIn, lambda: heard.append("x"))
    document = msgspec.json.decode(b'{"spec":{"replicas":"x","ref":"b"}}', type=declared.document)
    assert declared.built_in(document) is None
    assert heard == ["x"]
    assert declared.needs(document, "ns", {}) == (secret("b"),)


def test_rules_of_metadata_leave_the_projection_as_it_is() -> None:
    """Pods are read as fast with a rule about their labels as without."""
    assert Declared(parent(By.LABEL, label="x"), _BuiltIn).document is _BuiltIn


# ---------------------------------------------------------------- fast against obvious

STEP = st.sampled_from(["a", "b", "", "c-d"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["x", "y", ""]),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "c-d", "e"]), below, max_size=4)
    ),
    max_leaves=20,
)


def obvious(value: Any, steps: tuple[str, ...]) -> list[Any]:
    """Walk plain JSON as the reference describes it."""
    if not steps:
        return [value]
    below: list[Any] = []
    if steps[0] == "":
        if isinstance(value, list):
            below = value
        elif isinstance(value, dict):
            below = list(value.values())
    elif isinstance(value, dict) and value.get(steps[0]) is not None:
        below = [value[steps[0]]]
    return [found for one in below for found in obvious(one, steps[1:])]


def plainly(value: object) -> Any:
    """Return a value that was met as plain JSON."""
    return msgspec.to_builtins(value)


@given(st.lists(st.lists(STEP, min_size=1, max_size=4).map(tuple), min_size=1, max_size=5), VALUES)
def test_a_projection_finds_what_a_walk_finds(paths: list[tuple[str, ...]], value: Any) -> None:
    """Whatever the paths and whatever the JSON: odd, clashing, missing."""
    projection = Projection(paths)
    read = projection.read(msgspec.json.encode(value))
    for one in paths:
        found = [plainly(way[-1]) for way in trails(read, one)]
        wanted = obvious(value, one)
        assert _texts(found) == _texts(wanted)
        assert [plainly(end) for end in ends(read, one)] == found


def _texts(values: list[Any]) -> list[Any]:
    """Return the values that rules look at: names, counts and whole maps."""
    return [value for value in values if isinstance(value, str | int)]


# ---------------------------------------------------------------- in the reader of a kind

DATABASE = Gvk("db.example.com", "v1", "Database")
BODY = b"""{"apiVersion":"db.example.com/v1","kind":"Database",
  "metadata":{"name":"main","namespace":"ns","uid":"u","labels":{"owner":"fleet"}},
  "spec":{"creds":"s","size":3,"selector":{"matchLabels":{"app":"db"}}}}"""


def test_a_trimmer_reads_by_rules_once_they_are_declared() -> None:
    """A reader that was handed out before goes on as it was; a new one heeds them."""
    trimmer = Trimmer()
    before = trimmer.reader(DATABASES, DATABASE)
    rules = KindRules((named("spec.creds"),), (), (selected("spec.selector"),), path("spec.size"))
    trimmer.declare({DATABASES: rules})
    assert before.one(BODY).facts is None
    thing = trimmer.reader(DATABASES, DATABASE).one(BODY)
    assert list(thing.needs) == [secret("s")]
    web = Selection(PODS, "ns", Selector.of({"app": "db"}))
    assert thing.facts == CustomFacts(3, (web,))
    trimmer.declare({})
    assert trimmer.reader(DATABASES, DATABASE).one(BODY).facts is None


def test_another_kind_at_the_same_place_is_read_without_rules() -> None:
    """The Scale of a custom resource is none."""
    trimmer = Trimmer()
    trimmer.declare({DATABASES: KindRules((named("spec.creds"),))})
    thing = trimmer.trim(BODY, DATABASES, Gvk("autoscaling", "v1", "Scale"))
    assert (thing.facts, list(thing.needs)) == (None, [])


def test_rules_of_metadata_are_read_of_metadata_alone() -> None:
    """A kind that is watched for its metadata only has parents all the same, and no facts."""
    trimmer = Trimmer()
    trimmer.declare({SECRETS: parent(By.LABEL, label="owner")})
    body = BODY.replace(b'"kind":"Database"', b'"kind":"PartialObjectMetadata"')
    mine = Need(Edge.PARENT, ObjectKey(DATABASES, "ns", "fleet"))
    for full in (False, True):
        thing = trimmer.trim(
            body if not full else BODY, SECRETS, Gvk("", "v1", "Secret"), full=full
        )
        assert (thing.facts, list(thing.needs)) == (None, [mine])


def test_a_built_in_kind_keeps_its_own_needs_beside_those_by_rules() -> None:
    """What both say is said once."""
    trimmer = Trimmer()
    trimmer.declare({PODS: KindRules((named("spec.schedulerName"), named("spec.volumes[*].name")))})
    body = b"""{"kind":"Pod","metadata":{"name":"p","namespace":"ns","uid":"u"},
      "spec":{"nodeName":"n","schedulerName":"s","serviceAccountName":"a",
              "volumes":[{"name":"v","secret":{"secretName":"key"}}]}}"""
    plain = Trimmer().trim(body, PODS, Gvk("", "v1", "Pod"))
    thing = trimmer.trim(body, PODS, Gvk("", "v1", "Pod"))
    assert thing.facts == plain.facts
    assert list(thing.needs) == [*plain.needs, secret("s"), secret("v")]


RULE = b"""{"kind":"ReferenceRule","metadata":{"name":"creds","uid":"u"},
  "spec":{"from":{"group":"db.example.com","kind":"Database"},"field":"spec.creds",
          "to":{"kind":"Secret","namespace":"same"}}}"""


def test_a_reference_rule_of_the_cluster_is_read_whole() -> None:
    """What makes no sense is kept as what is wrong with it."""
    kind = Gvk("policies.suture.dev", "v1alpha1", "ReferenceRule")
    facts = Trimmer().trim(RULE, REFERENCE_RULES, kind).facts
    assert isinstance(facts, RuleFacts)
    assert facts.rule is not None
    assert facts.rule.says == Reference(path("spec.creds"), TypeName("", "Secret"))
    for odd in (b'"x"', b"null", b'{"from":{"kind":"A"}}', b'{"from":7}'):
        bad = RULE.partition(b'"spec":')[0] + b'"spec":' + odd + b"}"
        facts = Trimmer().trim(bad, REFERENCE_RULES, kind).facts
        assert isinstance(facts, RuleFacts)
        assert facts.rule is None
        assert "ReferenceRule creds" in facts.problem


@pytest.mark.parametrize(
    ("spec", "outside"),
    [
        ({"destroyResourcesOnDeletion": True}, "destroyResourcesOnDeletion"),
        ({"destroyResourcesOnDeletion": False}, "Orphan"),
        ({"destroyResourcesOnDeletion": "true"}, ""),
        ({"preserveResourcesOnDeletion": True}, "Orphan"),
        ({"preserveOnDelete": False}, "preserveOnDelete"),
        ({"preserveOnDelete": True, "deletionPolicy": "Delete"}, "Orphan"),
        ({"deletionPolicy": "Orphan", "dropOnDelete": True}, "dropOnDelete"),
        ({"deletionPolicy": "Delete", "dropOnDelete": False}, "Delete"),
        ([True], ""),
    ],
)
def test_a_yes_tells_of_a_thing_outside_by_the_name_of_its_field(
    spec: object, outside: str
) -> None:
    """Among any fields too; a no to destroying hides nothing, and a text of that name says nothing."""
    fields = (path("spec"), path("spec.deletionPolicy"))
    assert read(KindRules(outside=fields), {"spec": spec})[1].outside == outside


def test_a_yes_at_a_field_that_a_definition_describes() -> None:
    """Its rule names the field itself; one that a person declared of another name says nothing."""
    for name, outside in (("dropOnDelete", "dropOnDelete"), ("protected", "")):
        rules = KindRules(outside=(path(f"spec.{name}"),))
        assert read(rules, {"spec": {name: True}})[1].outside == outside


@pytest.mark.parametrize(
    ("spec", "outside"),
    [
        ({"prune": False}, "Orphan"),
        ({"prune": True}, ""),
        ({}, ""),
        ({"deletionPolicy": "Delete", "prune": False}, "Delete"),
    ],
)
def test_what_prunes_nothing_leaves_what_it_keeps(spec: object, outside: str) -> None:
    """As a deletion policy of that name does, which says more where there is one."""
    fields = (path("spec.deletionPolicy"), path("spec.prune"))
    assert read(KindRules(outside=fields), {"spec": spec})[1].outside == outside


@pytest.mark.parametrize(
    ("may", "outside"),
    [
        (["Observe"], "Orphan"),
        (["Create", "Update", "Observe"], "Orphan"),
        (["*"], "Delete"),
        (["Observe", "Delete"], "Delete"),
        ([], "Delete"),
        ("Observe", "Delete"),
    ],
)
def test_what_may_not_be_deleted_outside_is_left(may: object, outside: str) -> None:
    """A list of what may be done says it, whatever the policy says; one word is no list."""
    fields = (path("spec.deletionPolicy"), path("spec.managementPolicies"))
    said = {"spec": {"managementPolicies": may, "deletionPolicy": "Delete"}}
    assert read(KindRules(outside=fields), said)[1].outside == outside
    if isinstance(may, list):
        alone = {"spec": {"managementPolicies": may}}
        assert read(KindRules(outside=fields), alone)[1].outside == outside.replace("Delete", "")


@pytest.mark.parametrize("rules", [KindRules(), KindRules(outside=(path("spec.deletionPolicy"),))])
def test_an_annotation_names_the_thing_outside(rules: KindRules) -> None:
    """As an address, by which an id is told from a word; where no policy says more."""
    for key, spec, outside in (
        ("cloud.example.com/external-name", {}, "cloud.example.com/external-name://"),
        ("cloud.example.com/resource-id", {}, "cloud.example.com/resource-id://"),
        ("cloud.example.com/resource-id-of", {}, ""),
        ("cloud.example.com/external-name", {"deletionPolicy": "Orphan"}, "Orphan"),
    ):
        if spec and not rules.outside:
            continue
        said = {"metadata": {"annotations": {key: "db-1"}}, "spec": spec}
        assert read(rules, said)[1].outside == outside


@pytest.mark.parametrize(
    ("annotations", "outside"),
    [
        ({"cnrm.cloud.google.com/deletion-policy": "abandon"}, "abandon"),
        ({"services.k8s.aws/deletion-policy": "retain", "other": "x"}, "retain"),
        ({"cloud.example.com/reconcile-policy": "detach-on-delete"}, "detach-on-delete"),
        ({"cloud.example.com/reconcile-policy": "manage"}, ""),
        ({"example.com/deletion-policy-of": "retain"}, ""),
        (None, ""),
    ],
)
def test_an_annotation_says_what_becomes_of_the_thing_outside(
    annotations: dict[str, str] | None, outside: str
) -> None:
    """Whatever the spec says."""
    rules = KindRules(outside=(path("spec.deletionPolicy"),))
    said = {"metadata": {"annotations": annotations}, "spec": {"deletionPolicy": "Delete"}}
    assert read(rules, said)[1].outside == (outside or "Delete")
    assert read(KindRules(), said)[1].outside == outside


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ({"proxy": {"size": 2}, "server": {"size": 5}}, (("proxy", 2), ("server", 5))),
        ({"sets": [{"name": "rs0", "count": 3}, {"count": 2}]}, (("rs0", 3),)),
        ({"proxy": {"size": 0}, "note": {"size": "2"}, "text": "size"}, ()),
        ({"n": 4, "proxy": {"size": 2}}, ()),
        ({f"part-{at:02}": {"size": 1} for at in range(20)}, None),
    ],
)
def test_parts_that_have_a_name_say_how_many_they_want(
    spec: dict[str, Any], parts: tuple[tuple[str, int], ...] | None
) -> None:
    """A map is called by its field, an item by its `name`; of too many the first are kept."""
    rules = KindRules(wanted=path("spec.n"), pools=POOLS)
    found = read(rules, {"spec": spec})[1].parts
    assert found == parts if parts is not None else len(found) == PARTS


def test_what_described_parts_are_called() -> None:
    """By the field that the definition names, by the key in a map, or by the item itself."""
    texts = ("spec.hot.count", "spec.sets[*].count", "spec.more[*].count")
    rules = KindRules(pools=tuple(map(path, texts)))
    spec = {
        "hot": {"count": 1},
        "sets": [{"name": "b", "count": 2}, 7],
        "more": {"a": {"count": 4}},
    }
    assert set(read(rules, {"spec": spec})[1].parts) >= {("hot", 1)}
    assert read(rules, {"spec": {"hot": [], "sets": {"count": 2}, "more": 3}})[1].parts == ()
