"""Mining: planted references are found, decoys are not, and the figures are what they say."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.model import mining
from suture.model.documents import Document
from suture.model.fieldpath import FieldPath
from suture.model.mining import Kind, Mined, Miner, Proposal
from suture.model.ruleformat import read_rule, rule_document
from suture.model.rules import Place, Reference, ReferenceRule, TypeName

SECRET = ("", "Secret")
SERVICE = ("", "Service")
NAMESPACE = ("", "Namespace")
DATABASE = ("db.example.com", "Database")


def database(name: str, spec: Any, *, owner: bool = False) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "namespace": "ns"}
    if owner:
        metadata["ownerReferences"] = [{"kind": "Fleet", "controller": True}]
    return {"kind": "Database", "metadata": metadata, "spec": spec}


def population(miner: Miner, namespaces: Iterable[str] = ("ns",)) -> Miner:
    """Fill a cluster with names: 40 Secrets and 40 Services in each namespace, and much else."""
    for at in range(2000):
        miner.name(("apps", "ReplicaSet"), "elsewhere", f"other-{at}")
    for namespace in namespaces:
        miner.name(NAMESPACE, "", namespace)
        for at in range(40):
            miner.name(SECRET, namespace, f"secret-{at}")
            miner.name(SERVICE, namespace, f"service-{at}")
    return miner


def planted(specs: Iterable[Any], kind: Kind = DATABASE, miner: Miner | None = None) -> Mined:
    miner = miner or population(Miner())
    for at, spec in enumerate(specs):
        name = f"db-{at}"
        miner.take(kind, "ns", name, database(name, spec))
    return miner.mined(support=3, confidence=0.9)


def only(mined: Mined) -> Proposal:
    (found,) = mined.proposals
    return found


def test_a_planted_reference_is_found() -> None:
    """With the kind that its values name, how many objects have it, and how sure that is."""
    found = only(planted({"backup": {"creds": f"secret-{at}"}} for at in range(10)))
    assert found.rule.of == TypeName(*DATABASE)
    assert found.says == Reference(FieldPath.parse("spec.backup.creds"), TypeName(*SECRET))
    assert (found.support, found.distinct, found.confidence) == (10, 10, 1.0)
    assert found.lift > 10
    assert found.rule.name == "database-backup-creds-secret"


def test_what_is_found_can_be_applied() -> None:
    """A proposal is a rule as its file writes it."""
    found = only(planted({"x": [{"deep/er key": f"secret-{at}"}]} for at in range(10)))
    assert read_rule(Document("mined", rule_document(found.rule))) == found.rule
    assert str(found.says.field) == "spec.x[*]['deep/er key']"


def test_a_namespace_beside_a_name_is_read() -> None:
    """And is no reference of its own, though it names a namespace every time."""
    miner = population(Miner(), [f"team-{at}" for at in range(9)])
    specs = [{"ref": {"id": f"secret-{at}", "namespace": f"team-{at}"}} for at in range(9)]
    found = only(planted(specs, miner=miner))
    assert found.says.place == FieldPath.parse("spec.ref.namespace")
    assert found.says.to == TypeName(*SECRET)


def test_a_cluster_scoped_kind_is_named_without_a_namespace() -> None:
    """Its objects are in none."""
    miner = population(Miner(), [f"team-{at}" for at in range(9)])
    found = only(planted(({"into": f"team-{at}"} for at in range(9)), miner=miner))
    assert found.says == Reference(
        FieldPath.parse("spec.into"), TypeName(*NAMESPACE), Place.CLUSTER
    )


def test_a_reference_that_sometimes_dangles_is_optional() -> None:
    """Nineteen of twenty name a Secret; the twentieth may come without."""
    specs = [{"creds": f"secret-{at}"} for at in range(19)] + [{"creds": "gone"}]
    found = only(planted(specs))
    assert found.confidence == pytest.approx(0.95)
    assert found.says.optional


def test_the_kind_that_a_field_is_called_after_is_proposed() -> None:
    """Where values name several kinds as well, the others are told."""
    miner = population(Miner())
    for at in range(40):
        miner.name(("", "ConfigMap"), "ns", f"app-{at}")
        miner.name(SERVICE, "ns", f"app-{at}")
    found = only(planted(({"service": f"app-{at}"} for at in range(10)), miner=miner))
    assert found.says.to == TypeName(*SERVICE)
    assert found.also == (TypeName("", "ConfigMap"),)


@pytest.mark.parametrize(
    "specs",
    [
        pytest.param([{"tier": "secret-1"}] * 20, id="one-value-says-nothing"),
        pytest.param([{"a": f"secret-{at % 2}"} for at in range(20)], id="nor-do-two"),
        pytest.param([{"a": f"db-{at}"} for at in range(20)], id="its-own-name"),
        pytest.param([{"a": f"nobody-{at}"} for at in range(20)], id="names-nothing"),
        pytest.param(
            [{"a": f"secret-{at}" if at % 2 else f"nobody-{at}"} for at in range(20)],
            id="half-is-chance",
        ),
        pytest.param(
            [{"matchLabels": {"app": f"secret-{at}"}} for at in range(20)], id="labels-are-no-names"
        ),
        pytest.param([{"a": f"secret-{at}"} for at in range(2)], id="too-few-objects"),
        pytest.param([{"a": at} for at in range(20)], id="numbers"),
        pytest.param([{"": f"secret-{at}"} for at in range(20)], id="a-key-that-no-path-can-say"),
        pytest.param([{"a'b\"]": f"secret-{at}"} for at in range(20)], id="nor-this-one"),
        pytest.param([f"secret-{at}" for at in range(2)] + [None, 7, []], id="odd-bodies"),
    ],
)
def test_decoys_are_not_proposed(specs: list[Any]) -> None:
    """What only looks like a reference is none."""
    assert planted(specs).proposals == ()


def test_names_that_are_everywhere_prove_nothing() -> None:
    """Where nearly every name is a Secret's, a value that is one is no news."""
    miner = Miner()
    for at in range(40):
        miner.name(SECRET, "ns", f"n-{at}")
    assert planted(({"a": f"n-{at}"} for at in range(20)), miner=miner).proposals == ()


def test_what_a_controller_stamped_out_is_not_counted() -> None:
    """A hundred pods of one template are one piece of evidence, which is the template."""
    miner = population(Miner())
    for at in range(20):
        body = database(f"db-{at}", {"creds": f"secret-{at}"}, owner=True)
        miner.take(DATABASE, "ns", f"db-{at}", body)
    assert miner.mined(support=3, confidence=0.9).proposals == ()


@pytest.mark.parametrize("kind", [SECRET, ("", "ConfigMap")])
def test_secrets_are_never_looked_into(kind: Kind) -> None:
    """Nothing of a Secret but its name is taken, whatever is handed in."""
    miner = population(Miner())
    for at in range(20):
        body = {"metadata": {"name": f"s-{at}"}, "data": {"a": f"service-{at}"}}
        miner.take(kind, "ns", f"s-{at}", body)
    assert miner._fields == {}


def test_what_is_read_already_is_not_proposed() -> None:
    """Neither what rules read, nor the fields of built-in kinds with an edge."""
    told = Reference(FieldPath.parse("spec.ref.name"), TypeName(*SECRET))
    miner = population(Miner())
    miner.know(DATABASE, [ReferenceRule("told", TypeName(*DATABASE), told)])
    specs = [{"ref": {"name": f"secret-{at}", "namespace": "ns"}} for at in range(10)]
    assert planted(specs, miner=miner).proposals == ()
    pods = [{"volumes": [{"secret": {"secretName": f"secret-{at}"}}]} for at in range(10)]
    assert planted(pods, ("", "Pod")).proposals == ()
    assert len(planted(pods).proposals) == 1
    spaces = [f"team-{at}" for at in range(9)]
    routes = [{"backendRefs": [{"name": "a", "namespace": space}]} for space in spaces]
    route = ("gateway.networking.k8s.io", "HTTPRoute")
    assert planted(routes, route, population(Miner(), spaces)).proposals == ()


def test_kinds_with_too_many_objects_are_left_out() -> None:
    """The names of the most numerous kind go first, and that they went is told."""
    miner = population(Miner(names=4900))
    for at in range(3000):
        miner.name(("", "Pod"), "ns", f"pod-{at}")
    mined = planted(({"creds": f"secret-{at}"} for at in range(10)), miner=miner)
    assert mined.left_out == (TypeName("", "Pod"),)
    assert mined.objects == 2000 + 1 + 80 + 3000 + 10
    assert len(mined.proposals) == 1


def test_long_names_of_rules_are_told_apart() -> None:
    """A rule's name fits a label, and two fields never share one."""
    deep = "very-long-part-of-a-path-that-goes-on-and-on-for-more-than-a-label-can-hold"
    specs = [{deep: {"a": f"secret-{at}", "b": f"secret-{at + 1}"}} for at in range(10)]
    names = [one.rule.name for one in planted(specs).proposals]
    assert len(set(names)) == 2
    assert all(len(name) <= 63 for name in names)


# ---------------------------------------------------------------- properties

NAME = st.text("abcdef", min_size=1, max_size=3)


@given(
    st.sets(st.tuples(st.sampled_from(["n1", "n2"]), NAME), min_size=1, max_size=12),
    st.lists(st.tuples(st.sampled_from(["n1", "n2"]), NAME), max_size=12),
)
def test_the_figures_are_what_a_count_gives(
    secrets: set[tuple[str, str]], uses: list[tuple[str, str]]
) -> None:
    """Support, different values, confidence and lift, counted anew in the plainest way."""
    miner = Miner()
    for at in range(100):
        miner.name(SERVICE, "n3", f"other-{at}")
    for namespace, name in secrets:
        miner.name(SECRET, namespace, name)
    for at, (namespace, value) in enumerate(uses):
        miner.take(DATABASE, namespace, f"db-{at}", {"spec": {"creds": value}})
    found = [
        one
        for one in miner.mined(support=1, confidence=0.5).proposals
        if one.says.to.kind == "Secret"
    ]

    pairs = set(uses)
    values = {value for _, value in uses}
    names = {name for _, name in secrets} | values | {f"db-{at}" for at in range(len(uses))}
    names |= {f"other-{at}" for at in range(100)}
    confidence = len(pairs & secrets) / len(pairs) if pairs else 0.0
    inside = [sum(where == namespace for where, _ in secrets) for namespace, _ in pairs]
    chance = sum(inside) / (len(pairs) * len(names)) if pairs else 1.0
    likely = sum(
        math.comb(len(pairs), hits) * chance**hits * (1 - chance) ** (len(pairs) - hits)
        for hits in range(len(pairs & secrets), len(pairs) + 1)
    )
    if found:
        assert likely <= mining.CHANCE
        (proposal,) = found
        assert proposal.support == len(uses)
        assert proposal.distinct == len(values)
        assert proposal.confidence == pytest.approx(confidence)
        assert proposal.lift == pytest.approx(confidence / chance)
        assert confidence >= 0.5
        assert proposal.distinct >= mining.DISTINCT
    # WHY a hundredth: what is told is a bound of how likely chance is, within a factor of that.
    elif len(values) >= mining.DISTINCT and confidence >= 0.5:
        assert likely > mining.CHANCE / 100


@given(
    st.integers(mining.DISTINCT, 40),
    st.lists(st.sampled_from(["ref", "creds", "of", "items"]), min_size=1, max_size=4),
    st.booleans(),
)
def test_wherever_a_reference_is_planted_it_is_found(
    count: int, steps: list[str], in_array: bool
) -> None:
    """At any depth, in arrays or not, for any number of different values."""

    def spec(at: int) -> Any:
        value: Any = f"secret-{at}"
        for step in reversed(steps):
            value = {step: [value] if in_array else value, "mode": "on", "note": f"free text {at}"}
        return value

    found = only(planted(spec(at) for at in range(count)))
    each = ("",) if in_array else ()
    expected = ("spec", *(part for step in steps for part in (step, *each)))
    assert found.says.field.steps == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda below: (
        st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=5), below, max_size=4)
    ),
    max_leaves=30,
)


@given(st.lists(JSON, max_size=8))
def test_any_body_is_taken_without_complaint(bodies: list[Any]) -> None:
    """Odd JSON proves nothing and breaks nothing; whatever is proposed can be written down."""
    miner = Miner()
    for at, body in enumerate(bodies):
        miner.take(DATABASE, "ns", f"db-{at}", body)
        miner.take(DATABASE, "ns", f"db-{at}", {"spec": body})
    for proposal in miner.mined(support=1, confidence=0.1).proposals:
        assert read_rule(Document("mined", rule_document(proposal.rule))) == proposal.rule
