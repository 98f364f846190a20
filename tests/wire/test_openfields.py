"""What the names of fields say where a definition takes any: as its schema would have told."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.model.edges import Edge, Need, Selection
from suture.model.fieldpath import FieldPath
from suture.model.names import NODES, PODS, SECRETS, SERVICES, ObjectKey, Resource
from suture.model.objects import CustomFacts
from suture.model.rulebook import KindRules, OpenSpec, rules_by_kind
from suture.model.rules import Form, Open, Reference, ReferenceRule, Says, Selects, TypeName
from suture.model.selectors import Selector
from suture.wire.declared import Declared
from suture.wire.openfields import SHAPES_KNOWN, WIDE, OpenFields

ROUTES = Resource("mesh.example.com", "routes")
GATES = Resource("mesh.example.com", "gates")
SPEC = OpenSpec(ROUTES, (("Gate", GATES),))
RULES = KindRules(open=SPEC)


def read(spec: object, rules: KindRules = RULES) -> tuple[tuple[Need, ...], CustomFacts]:
    declared = Declared(rules)
    body = {"metadata": {"name": "a", "namespace": "ns"}, "spec": spec}
    document = msgspec.json.decode(msgspec.json.encode(body), type=declared.document)
    return declared.needs(document, "ns", {}), declared.facts(document, "ns", {})


path = FieldPath.parse


def need(edge: Edge, to: Resource, name: str, namespace: str = "ns", key: str = "") -> Need:
    return Need(edge, ObjectKey(to, namespace, name), key, optional=True)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"tls": {"secretName": "a"}}, [need(Edge.RULE, SECRETS, "a")]),
        ({"a": [{"b": 1}, {"secretRef": {"name": "a"}}]}, [need(Edge.RULE, SECRETS, "a")]),
        (
            {"secretKeyRef": {"name": "a", "key": "k", "namespace": "other"}},
            [need(Edge.RULE, SECRETS, "a", "other", "k")],
        ),
        (
            {"services": [{"name": "a", "port": 80}]},
            [need(Edge.RULE, SERVICES, "a"), need(Edge.LEADS_TO, SERVICES, "a")],
        ),
        ({"services": [{"name": "a"}]}, []),
        ({"superuserSecret": {"name": "a"}}, [need(Edge.RULE, SECRETS, "a")]),
        ({"superuserSecret": {"name": "a", "rotate": True}}, []),
        ({"canary": {"canaryService": "a"}}, [need(Edge.RULE, SERVICES, "a")]),
        ({"service": "a"}, []),
        ({"gates": ["a"]}, [need(Edge.PROVIDER, GATES, "a", at) for at in ("ns", "")]),
        (
            {"gateClassRef": {"kind": "Class", "name": "a"}},
            [
                need(Edge.PROVIDER, Resource("mesh.example.com", "classes"), "a", at)
                for at in ("ns", "")
            ],
        ),
        ({"affinity": {"secretName": "a"}}, []),
        ({f"field{at}": "a" for at in range(WIDE)} | {"secretName": "a"}, []),
        ({}, []),
        (None, []),
        ("odd", []),
        ([{"secretName": "a"}], []),
    ],
)
def test_names_of_fields_say_what_is_named(spec: object, expected: list[Need]) -> None:
    """At any depth and in lists; a map of more has keys of its own."""
    assert list(read(spec)[0]) == expected


@pytest.mark.parametrize(
    ("spec", "selector"),
    [
        ({"selector": {"matchLabels": {"app": "a"}}}, Selector.of({"app": "a"})),
        ({"selector": {"app": "a"}}, Selector.of({"app": "a"})),
        ({"part": {"podSelector": {"app": "a"}}}, Selector.of({"app": "a"})),
        ({"selector": {}}, None),
        ({"selector": {"app": 1}}, None),
        ({"selector": ["app"]}, None),
    ],
)
def test_what_looks_like_a_selector_selects(spec: object, selector: Selector | None) -> None:
    """In either shape; an empty one may mean all or nothing, and is not taken for either."""
    expected = () if selector is None else (Selection(PODS, "ns", selector),)
    assert read(spec)[1].selections == expected


def test_an_empty_selector_of_namespaces_is_of_all() -> None:
    """No map of labels selects namespaces; so an operator is told to look everywhere."""
    spec = {"podSelector": {"matchLabels": {"app": "a"}}, "podNamespaceSelector": {}}
    assert read(spec)[1].selections == (Selection(PODS, "", Selector.of({"app": "a"}), Selector()),)


def test_a_status_of_any_fields_names_what_a_pod_works_by() -> None:
    """As a described one would: by fields that are called after a kind of the same group."""
    declared = Declared(RULES)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "a"}
    body = {
        "metadata": {"name": "a", "namespace": "ns", "ownerReferences": [owner]},
        "status": {"gate": {"id": 7}, "state": "ready", "other": {"name": "b"}},
    }
    document = msgspec.json.decode(msgspec.json.encode(body), type=declared.document)
    expected = [need(Edge.RULE, GATES, "7", at) for at in ("ns", "")]
    assert list(declared.needs(document, "ns", {})) == expected
    odd = msgspec.json.decode(
        msgspec.json.encode({**body, "status": ["gate"]}), type=declared.document
    )
    assert declared.needs(odd, "ns", {}) == ()


def test_what_a_person_declares_of_a_field_stands_instead_of_its_name() -> None:
    """A selector of nodes is called `selector` too; and the same holds of names."""
    said = Selects(path("spec.selector"), TypeName.of(NODES), Form.MATCH_LABELS)
    elsewhere = Reference(path("spec.secretName"), TypeName.of(SERVICES))
    gate = Reference(path("spec.gate"), TypeName.of(SERVICES))
    says: list[Says] = [said, elsewhere, gate]
    declared = [ReferenceRule(str(at), TypeName.of(ROUTES), one) for at, one in enumerate(says)]
    free = ReferenceRule("open", TypeName.of(ROUTES), Open(), discovered=True)
    kinds = {(GATES.group, "Gate"): GATES}
    rules = rules_by_kind([free, *declared], kinds).kinds[ROUTES]

    needs, facts = read({"selector": {"a": "b"}, "secretName": "x", "gate": "y"}, rules)

    assert [one.target.resource for one in needs] == [SERVICES, SERVICES]
    assert [one.resource for one in facts.selections] == [NODES]


def test_objects_of_one_shape_share_what_it_tells() -> None:
    """It is told once; and of a kind with ever other fields no more is remembered than of some."""
    fields = OpenFields(SPEC)
    first = fields.rules({"secretName": "a", "size": 1})
    assert fields.rules({"secretName": "b", "size": 7}) is first
    assert fields.rules({"secretName": 1, "size": 7}) is not first
    for at in range(SHAPES_KNOWN + 2):
        fields.rules({f"field{at}": {"secretName": "a"}})
    assert len(fields._known) <= SHAPES_KNOWN
    assert fields.rules({"secretName": "a", "size": 1}) == first


@pytest.mark.parametrize(
    "values", [("a", ["a"], 1, [1], ["b", 1], {}, {"name": "a"}, [{"name": "a"}], None, [])]
)
def test_what_one_object_says_does_not_depend_on_those_before_it(values: list[object]) -> None:
    """Under the names of one field each sort of value has a shape of its own."""
    for name in ("secretName", "secretRef", "services", "gate"):
        for one, other in itertools.permutations(values, 2):
            declared = Declared(RULES)
            for value in (one, other):
                body = {"metadata": {"name": "a", "namespace": "ns"}, "spec": {name: value}}
                document = msgspec.json.decode(msgspec.json.encode(body), type=declared.document)
                assert declared.needs(document, "ns", {}) == read({name: value})[0]


@pytest.mark.parametrize(("opens", "closes"), [('{"a":', "}"), ("[", "]")])
def test_what_is_nested_without_end_says_nothing(opens: str, closes: str) -> None:
    """Neither objects nor lists: a body as deep as can be decoded at all is one that can be read."""
    fields = OpenFields(SPEC)
    for deep in (10, 300, 900):
        nested = msgspec.json.decode(f'{opens * deep}{{"secretName":"a"}}{closes * deep}')
        assert bool(fields.rules({"b": nested}).named) == (deep == 10)


def test_names_that_say_nothing_make_no_shape() -> None:
    """A map has others in each object, and all of them share what one tells."""
    fields = OpenFields(SPEC)
    for at in range(5):
        spec = {
            "data": {f"key-{at}": "x"},
            f"more-{at}": [1, {"a": at}],
            "tls": {"secretName": "a"},
        }
        assert fields.rules(spec).named[0].field == path("spec.tls.secretName")
        assert fields.rules({"data": {f"key-{at}": "x"}}) == KindRules()
    assert len(fields._known) == 1


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | st.sampled_from(["", "a", "ns/a"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["secretName", "selector", "matchLabels", "gate", "services", "name"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(_JSON, _JSON)
def test_any_object_can_be_read_before_or_after_any_other(one: Any, other: Any) -> None:
    """What is remembered of shapes changes nothing."""
    declared = Declared(RULES)
    for spec in (one, other, one):
        body = {"metadata": {"name": "a", "namespace": "ns"}, "spec": spec}
        document = msgspec.json.decode(msgspec.json.encode(body), type=declared.document)
        assert (declared.needs(document, "ns", {}), declared.facts(document, "ns", {})) == read(
            spec
        )
