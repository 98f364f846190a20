"""Which calls a webhook is asked about, as the API server would decide it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.model.matchsets import EXEMPT, Call, Match, matches
from suture.model.names import CLUSTER_ROLES, DEPLOYMENTS, NAMESPACES, PODS
from suture.model.objects import MatchCondition, Webhook, WebhookRule
from suture.model.selectors import Operator, Requirement, Selector

ALL = WebhookRule(("*",), ("*",), ("*",), ("*/*",))
EVERYTHING = Selector()
TEAM = Selector.of({"team": "a"})
NO, MAYBE, YES = Match.NO, Match.MAYBE, Match.YES


def hook(
    *rules: WebhookRule,
    namespaces: Selector = EVERYTHING,
    objects: Selector = EVERYTHING,
    conditions: tuple[str, ...] = (),
    exact: bool = False,
) -> Webhook:
    """Return a webhook; with every rule's match set where no rule is given."""
    return Webhook(
        "w",
        fail_closed=True,
        rules=rules or (ALL,),
        namespace_selector=namespaces,
        object_selector=objects,
        conditions=tuple(MatchCondition(one, one) for one in conditions),
        exact=exact,
    )


def pod(operation: str = "CREATE", **more: object) -> Call:
    """Return a call for a pod in a namespace of team a."""
    found: dict[str, object] = {
        "operation": operation,
        "resource": PODS,
        "version": "v1",
        "namespace": "shop",
        "namespace_labels": {"team": "a"},
        "labels": {},
        **more,
    }
    return Call(**found)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("resources", "subresource", "expected"),
    [
        (("pods",), "", YES),
        (("pods",), "eviction", NO),
        (("pods/eviction",), "eviction", YES),
        (("pods/eviction",), "", NO),
        (("pods/*",), "", YES),
        (("pods/*",), "status", YES),
        (("*",), "", YES),
        (("*",), "status", NO),
        (("*/status",), "status", YES),
        (("*/*",), "status", YES),
        (("services", "pods"), "", YES),
        (("services",), "", NO),
        ((), "", NO),
    ],
)
def test_resources_and_subresources(
    resources: tuple[str, ...], subresource: str, expected: Match
) -> None:
    """A rule that names a resource is not asked about its subresources; `pods/*` is about both."""
    rule = WebhookRule(("*",), ("",), ("v1",), resources)
    assert matches(hook(rule), pod(subresource=subresource)) is expected


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (WebhookRule(("CREATE",), ("",), ("v1",), ("pods",)), YES),
        (WebhookRule(("UPDATE", "DELETE"), ("",), ("v1",), ("pods",)), NO),
        (WebhookRule(("*",), ("apps",), ("v1",), ("pods",)), NO),
        (WebhookRule(("*",), ("*",), ("*",), ("pods",), "Cluster"), NO),
        (WebhookRule(("*",), ("*",), ("*",), ("pods",), "Namespaced"), YES),
    ],
)
def test_operations_groups_and_scopes(rule: WebhookRule, expected: Match) -> None:
    """Every part of a rule must match; one rule that does is enough."""
    assert matches(hook(rule), pod()) is expected
    assert matches(hook(WebhookRule(), rule), pod()) is expected


def test_a_version_is_equivalent_unless_it_must_be_exact() -> None:
    """A call in another version of a type may be matched, and is not where versions must agree."""
    rule = WebhookRule(("*",), ("apps",), ("v1beta1",), ("deployments",))
    call = pod(resource=DEPLOYMENTS)
    assert matches(hook(rule), call) is MAYBE
    assert matches(hook(rule, exact=True), call) is NO
    unknown = pod(resource=DEPLOYMENTS, version="")
    assert matches(hook(rule), unknown) is YES
    assert matches(hook(rule, exact=True), unknown) is MAYBE
    named = WebhookRule(("*",), ("apps",), ("v1",), ("deployments",))
    assert matches(hook(named, exact=True), call) is YES
    # One that must not be exact makes up for one that does not match.
    assert matches(hook(rule, named), call) is YES


def test_scope_of_a_namespace() -> None:
    """A Namespace is cluster-scoped, though its calls carry its name as their namespace."""
    call = pod(resource=NAMESPACES)
    for scope, expected in (("Cluster", YES), ("Namespaced", NO), ("*", YES)):
        rule = WebhookRule(("*",), ("*",), ("*",), ("*",), scope)
        assert matches(hook(rule), call) is expected
        cluster = pod(resource=CLUSTER_ROLES, namespace="", namespace_labels=None)
        assert matches(hook(rule), cluster) is expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (pod(), YES),
        (pod(namespace_labels={"team": "b"}), NO),
        (pod(namespace_labels={}), NO),
        (pod(namespace_labels=None), MAYBE),
        # Nothing cluster-scoped is exempt by its namespace: it has none.
        (pod(resource=CLUSTER_ROLES, namespace="", namespace_labels=None), YES),
        # Of a Namespace its own labels count, those that it is to have first.
        (pod(resource=NAMESPACES, labels={"team": "a"}, namespace_labels={}), YES),
        (pod(resource=NAMESPACES, labels={}, old_labels={"team": "a"}), NO),
        (pod(resource=NAMESPACES, labels=None, old_labels={"team": "a"}), YES),
        (pod(resource=NAMESPACES, labels=None, old_labels=None), MAYBE),
    ],
)
def test_namespace_selectors(call: Call, expected: Match) -> None:
    """A namespace whose labels are not known may be selected."""
    assert matches(hook(namespaces=TEAM), call) is expected


@pytest.mark.parametrize(
    ("labels", "old", "expected"),
    [
        ({"team": "a"}, None, YES),
        (None, {"team": "a"}, YES),
        ({}, {"team": "a"}, YES),
        ({"team": "a"}, {}, YES),
        ({}, {}, NO),
        (None, None, NO),
    ],
)
def test_object_selectors(
    labels: Mapping[str, str] | None, old: Mapping[str, str] | None, expected: Match
) -> None:
    """Either state of the object is enough; an object that is not there is not selected."""
    assert matches(hook(objects=TEAM), pod(labels=labels, old_labels=old)) is expected


def test_an_absent_object_does_not_carry_a_negative_selector() -> None:
    """`DoesNotExist` is met by labels without the key, and not by no object."""
    none = Selector((Requirement("team", Operator.DOES_NOT_EXIST),))
    assert matches(hook(objects=none), pod(labels={})) is YES
    assert matches(hook(objects=none), pod(labels=None)) is NO


@pytest.mark.parametrize("resource", sorted(EXEMPT))
def test_no_webhook_is_asked_about_admission_configuration(resource: object) -> None:
    """The API server never sends it, whatever the rules say."""
    assert matches(hook(), pod(resource=resource)) is NO


@given(st.lists(st.sampled_from(["true", "false", "unknown"]), max_size=4))
def test_conditions_are_three_valued(conditions: list[str]) -> None:
    """One that fails decides; one that nobody can evaluate leaves it open."""

    def evaluate(expression: str, _call: Call, /) -> bool | None:
        return {"true": True, "false": False}.get(expression)

    expected = NO if "false" in conditions else MAYBE if "unknown" in conditions else YES
    assert matches(hook(conditions=tuple(conditions)), pod(), evaluate) is expected
    unasked = MAYBE if conditions else YES
    assert matches(hook(conditions=tuple(conditions)), pod()) is unasked


def test_nothing_is_evaluated_for_a_call_that_does_not_match() -> None:
    """Conditions cost time; selectors and rules come first."""

    def evaluate(_expression: str, _call: Call, /) -> bool | None:
        raise AssertionError

    narrow = hook(objects=TEAM, conditions=("true",))
    assert matches(narrow, pod(), evaluate) is NO


OPERATIONS, GROUPS, VERSIONS = ("CREATE", "DELETE"), ("", "apps"), ("v1", "v2")
PARTS = st.lists(st.sampled_from(["*", "CREATE", "DELETE", "", "apps", "v1", "v2"]), max_size=2)


@given(operations=PARTS, groups=PARTS, versions=PARTS)
def test_a_rule_is_the_product_of_its_parts(
    operations: list[str], groups: list[str], versions: list[str]
) -> None:
    """Held against the plain reading of a rule, for webhooks that want exact versions."""
    rule = WebhookRule(tuple(operations), tuple(groups), tuple(versions), ("*",))
    for operation, group, version in product(OPERATIONS, GROUPS, VERSIONS):
        resource = PODS if not group else DEPLOYMENTS
        wanted = all(
            "*" in part or one in part
            for part, one in ((operations, operation), (groups, group), (versions, version))
        )
        call = pod(operation, resource=resource, version=version)
        assert matches(hook(rule, exact=True), call) is (YES if wanted else NO)
