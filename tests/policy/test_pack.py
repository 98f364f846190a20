"""The safety pack, policy by policy: the case that it stops, and the benign twin that passes."""

from __future__ import annotations

from importlib.resources import files

import pytest
import yaml

from support.cases import (
    actor,
    broken,
    case,
    emptied,
    lost,
    removed,
    request,
    reselected,
    victim,
)
from suture.adapters.files import load_policies
from suture.impact.effects import Effect, RouteBroken
from suture.model.clock import Window
from suture.model.names import Operation
from suture.model.request import Collection, CollectionItem
from suture.model.selectors import Selector
from suture.model.writes import EVENTS
from suture.policy.compile import PolicySet
from suture.policy.evaluate import MESSAGE_CHARS, evaluate
from suture.policy.rules import Case, Finding, Findings

NAMESPACE = "namespaces"
CLAIMS = "persistentvolumeclaims"
PACK = files("suture.policy") / "pack"
CRD = "customresourcedefinitions.apiextensions.k8s.io"


@pytest.fixture(scope="module")
def pack() -> PolicySet:
    return load_policies()


def test_what_is_remembered_of_one_object_reaches_every_bound_of_repetition() -> None:
    """A loop that is longer than the memory of it would never be one."""
    text = (PACK / "churn-growth.yaml").read_text(encoding="utf-8")
    template = next(iter(yaml.safe_load_all(text)))
    declared = template["spec"]["parameters"]["openAPIV3Schema"]["properties"]
    bounds = {name: declared[name]["default"] for name in ("maxDeleted", "maxPods", "maxEvicted")}
    assert max(bounds.values()) < EVENTS
    # A value that goes there and back is written twice for each time, the first one besides.
    assert declared["maxFlips"]["default"] < EVENTS


def messages(findings: Findings) -> list[str]:
    said = [finding.message for finding in findings.violations]
    return said + [claim.message for claim in findings.claims]


def found(pack: PolicySet, weighed: Case) -> dict[str, Finding]:
    """Return the findings by code, after checking what holds for every message."""
    findings = evaluate(pack, weighed)
    for message in messages(findings):
        assert 0 < len(message) <= MESSAGE_CHARS
        assert message[0].islower() or message[0].isdigit()
        assert not message.endswith(".")
    codes = {finding.code: finding for finding in findings.violations}
    assert "policy_error" not in codes
    return codes


# ---- share-budget


def claims(pack: PolicySet, *effects: Effect) -> dict[str, tuple[int, int]]:
    asked = evaluate(pack, case(*effects)).claims
    return {claim.key: (claim.amount, claim.population) for claim in asked}


def test_share_budget_asks_for_what_lasts_kind_by_kind(pack: PolicySet) -> None:
    effects = (removed("services", 3, counted=2, population=900), removed("deployments.apps", 1))
    assert claims(pack, *effects) == {"services": (2, 900), "deployments.apps": (1, 1000)}


def test_share_budget_asks_nothing_for_what_is_explained_or_heals(pack: PolicySet) -> None:
    """The twin of every budget case: the same removals with their cause made true."""
    explained = removed("services", 40, lasting=0, counted=0, explained=40, foreign=0)
    healing = removed("pods", 500, lasting=0, counted=0, self_healing=500, foreign=0)
    assert claims(pack, explained, healing) == {}


def test_share_budget_lets_call_off_what_was_submitted(pack: PolicySet) -> None:
    """A batch platform's own running Jobs cost nothing; those of others do."""
    assert claims(pack, removed("jobs.batch", 4, counted=4, foreign=0)) == {}
    assert claims(pack, removed("jobs.batch", 4, counted=4, foreign=3)) == {"jobs.batch": (3, 1000)}
    assert claims(pack, removed("services", 4, counted=4, foreign=0)) == {"services": (4, 1000)}


def test_share_budget_has_four_windows(pack: PolicySet) -> None:
    [claim] = evaluate(pack, case(removed())).claims
    assert claim.budget.windows == (
        Window(60, 5, 1),
        Window(3_600, 5, 1),
        Window(86_400, 10, 2),
        Window(604_800, 20, 4),
    )
    assert claim.message == "1 of 1000 services would go for good"


# ---- serving-floor


def test_a_service_that_stays_keeps_an_endpoint(pack: PolicySet) -> None:
    finding = found(pack, case(emptied(3)))["service_emptied"]
    assert finding.message == "service web would lose all of its 3 ready endpoints"
    assert finding.retry_after_s is None


def test_several_services_are_counted_and_one_is_named(pack: PolicySet) -> None:
    finding = found(pack, case(emptied(), emptied(name="api"), emptied(explained=True)))
    assert finding["service_emptied"].message.endswith("endpoints, and 1 more services theirs")


def test_a_service_of_another_namespace_is_not_named(pack: PolicySet) -> None:
    finding = found(pack, case(emptied(namespace="secret")))["service_emptied"]
    assert finding.message.startswith("a service of another namespace")


@pytest.mark.parametrize(
    ("route", "shut", "words"),
    [
        ("ingresses", False, "sends traffic to a service that would be gone"),
        ("ingresses", True, "would not be let through to its service any more"),
        ("services", True, "would let in nobody from outside"),
    ],
)
def test_what_becomes_of_a_route_is_said(
    pack: PolicySet, route: str, words: str, *, shut: bool
) -> None:
    """The Service of a route that a policy shuts is there, and serves whoever else asks."""
    effect = RouteBroken(
        route=victim("front", resource=route),
        service=victim(),
        before=2,
        service_removed=True,
        shut=shut,
    )
    assert words in found(pack, case(effect))["route_broken"].message


def test_what_heals_by_itself_is_asked_to_come_again(pack: PolicySet) -> None:
    """Both pods of two would be gone at once: later it is right, so 429."""
    findings = found(pack, case(emptied(2, declared=2, healing=True), lost(1, 0, healing=True)))
    assert findings.keys() == {"service_emptied"}
    assert findings["service_emptied"].retry_after_s == 10


@pytest.mark.parametrize(
    "effects",
    [
        pytest.param((emptied(1, declared=1, healing=True),), id="one-declared-cannot-be-kept-up"),
        pytest.param((emptied(3, explained=True),), id="explained"),
        pytest.param((lost(3, 0, gone=True),), id="the-service-goes-itself"),
        pytest.param((lost(2, 1, healing=True),), id="one-of-two"),
        pytest.param((lost(10, 5),), id="half"),
        pytest.param((lost(10, 3, explained=True),), id="explained-loss"),
        pytest.param((lost(50, 40),), id="scaled-down-in-steps"),
        pytest.param((lost(0, 0, peak=4),), id="had-none"),
    ],
)
def test_serving_floor_lets_pass(pack: PolicySet, effects: tuple[Effect, ...]) -> None:
    assert found(pack, case(*effects)) == {}


@pytest.mark.parametrize(
    ("effect", "retry"),
    [
        pytest.param(lost(20, 1), None, id="scaled-from-20-to-1"),
        pytest.param(lost(3, 2, peak=6, healing=True), 10, id="others-are-leaving-already"),
        pytest.param(lost(3, 1), None, id="one-of-three"),
    ],
)
def test_a_service_keeps_half_of_its_peak(
    pack: PolicySet, effect: Effect, retry: int | None
) -> None:
    finding = found(pack, case(effect))["below_floor"]
    assert finding.retry_after_s == retry
    assert "under its floor of 50%" in finding.message


# ---- cascade-closure


def test_a_delete_takes_few_objects_along(pack: PolicySet) -> None:
    parent = removed("applications.argoproj.io", 1, counted=0, foreign=0)
    weighed = case(
        parent,
        removed("deployments.apps", 4, direct=0, counted_cascaded=4),
        removed("services", 4, direct=0, counted_cascaded=4),
        asked=request("applications.argoproj.io", "shop"),
    )
    finding = found(pack, weighed)["too_many_along"]
    assert finding.message == (
        "8 more objects of consequence would go along (4 deployments.apps, 4 services); "
        "at most 5 may"
    )


def test_what_was_made_today_is_given_up_with_all_its_parts(pack: PolicySet) -> None:
    """Eighteen parts of the morning may go along, six older ones among them may not."""
    asked = request("previews.example.com", "pr")
    parts = {"direct": 0, "counted_cascaded": 9, "in_use": 9, "made_lately": 9}
    whole = [
        removed(kind, 9, **parts, lately_cascaded=9) for kind in ("deployments.apps", "services")
    ]
    assert not found(pack, case(*whole, asked=asked)).keys() & {
        "too_many_along",
        "too_many_in_use_along",
    }

    some = [removed("services", 9, **parts, lately_cascaded=3)]
    assert "too_many_along" in found(pack, case(*some, asked=asked))
    few = [removed("services", 9, **parts, lately_cascaded=5)]
    assert "too_many_in_use_along" in found(pack, case(*few, asked=asked))


def test_a_delete_takes_few_objects_in_use_along(pack: PolicySet) -> None:
    weighed = case(
        removed(CLAIMS, 2, direct=0, counted_cascaded=2, in_use=2),
        removed("services", 2, direct=0, counted_cascaded=2, in_use=2),
        asked=request("databases.example.org", "main"),
    )
    assert found(pack, weighed).keys() == {"too_many_in_use_along"}


@pytest.mark.parametrize(
    "weighed",
    [
        pytest.param(
            case(
                removed("deployments.apps", 1, in_use=0),
                removed("replicasets.apps", 11, direct=0, counted=0, foreign=0),
                removed("pods", 50, direct=0, counted=0, foreign=0, in_use=50),
                asked=request("deployments.apps", "web"),
            ),
            id="a-workload-and-its-own-pods-are-one-object",
        ),
        pytest.param(
            case(
                removed("databases.example.org", 1, counted=0, foreign=0),
                removed("statefulsets.apps", 1, direct=0, counted_cascaded=1),
                removed("services", 2, direct=0, counted_cascaded=2, in_use=2),
                asked=request("databases.example.org", "main"),
            ),
            id="a-parent-with-three-children",
        ),
        pytest.param(
            case(
                removed("services", 40, direct=0, lasting=0, counted=0, explained=40, foreign=0),
                asked=request("loadbalancers.example.org", "edge"),
            ),
            id="children-of-what-was-going-already",
        ),
    ],
)
def test_cascade_closure_lets_pass(pack: PolicySet, weighed: Case) -> None:
    assert found(pack, weighed) == {}


# ---- ns-in-use


def namespace_delete(*effects: Effect, name: str = "shop") -> Case:
    return case(*effects, asked=request(NAMESPACE, name, namespace=name))


def test_a_namespace_that_serves_stays(pack: PolicySet) -> None:
    weighed = namespace_delete(removed("services", 2, in_use=1), lost(3, 0, gone=True))
    finding = found(pack, weighed)["namespace_in_use"]
    assert finding.message == (
        "namespace shop is in use: 1 serving services and 0 bound claims of others would go with it"
    )


def test_a_namespace_that_holds_data_stays(pack: PolicySet) -> None:
    weighed = namespace_delete(removed(CLAIMS, 3, in_use=2), removed("configmaps", 5, counted=0))
    assert found(pack, weighed).keys() == {"namespace_in_use"}


def test_a_namespace_behind_admission_stays(pack: PolicySet) -> None:
    """Not even an explained removal may take the backend of a fail-closed webhook."""
    weighed = namespace_delete(
        removed("services", 1, lasting=0, counted=0, foreign=0, explained=1), broken()
    )
    assert found(pack, weighed).keys() == {"namespace_behind_admission", "admission_path_broken"}


def test_an_actor_does_not_delete_its_own_home(pack: PolicySet) -> None:
    own = removed("pods", 2, counted=0, foreign=0, in_use=1)
    assert found(pack, namespace_delete(own, name="balancers")).keys() == {"own_home"}


@pytest.mark.parametrize(
    "weighed",
    [
        pytest.param(namespace_delete(removed(NAMESPACE, 1, counted=0, foreign=0)), id="empty"),
        pytest.param(
            namespace_delete(
                removed("services", 3, foreign=0, in_use=3), lost(3, 0, gone=True),
                removed(CLAIMS, 2, foreign=0, in_use=2),
            ),
            id="the-actor-made-it-all-itself",
        ),
        pytest.param(
            namespace_delete(
                removed("services", 3, lasting=0, counted=0, foreign=0, explained=3, in_use=3),
                lost(3, 0, gone=True, explained=True),
            ),
            id="going-already",
        ),
        pytest.param(
            namespace_delete(removed("services", 3), removed(CLAIMS, 1)), id="idle-and-unbound"
        ),
        pytest.param(
            namespace_delete(removed("pods", 2, counted=0, foreign=0), name="balancers"),
            id="own-home-with-nothing-in-use",
        ),
    ],
)  # fmt: skip
def test_ns_in_use_lets_pass(pack: PolicySet, weighed: Case) -> None:
    assert found(pack, weighed) == {}


# ---- crd-in-use


def test_a_definition_with_instances_stays(pack: PolicySet) -> None:
    weighed = case(
        removed(CRD, 1),
        removed("widgets.example.org", 200),
        removed("deployments.apps", 3),
        asked=request(CRD, "widgets.example.org", namespace=""),
    )
    assert found(pack, weighed)["crd_has_instances"].message == (
        "203 objects would go with definition widgets.example.org "
        "(200 widgets.example.org, 3 deployments.apps)"
    )


@pytest.mark.parametrize(
    "effects",
    [
        pytest.param((removed(CRD, 1, counted=0),), id="without-instances"),
        pytest.param(
            (
                removed(CRD, 1, lasting=0, counted=0, explained=1),
                removed("widgets.example.org", 200, lasting=0, counted=0, explained=200),
            ),
            id="going-already",
        ),
    ],
)
def test_crd_in_use_lets_pass(pack: PolicySet, effects: tuple[Effect, ...]) -> None:
    weighed = case(*effects, asked=request(CRD, "widgets.example.org", namespace=""))
    assert found(pack, weighed) == {}


# ---- justified-teardown


def test_what_a_living_owner_wants_and_serves_stays(pack: PolicySet) -> None:
    weighed = case(
        removed("statefulsets.apps", 1, wanted=1),
        removed("pods", 3, direct=0, counted=0, foreign=0, in_use=3),
        asked=request("statefulsets.apps", "db"),
    )
    assert found(pack, weighed)["still_wanted"].message == (
        "a living owner still wants what would go for good (statefulsets.apps: 1), "
        "and it is in use (pods: 3)"
    )


@pytest.mark.parametrize(
    "effects",
    [
        pytest.param(
            (removed("pods", 1, lasting=0, counted=0, self_healing=1, foreign=0, in_use=1),),
            id="a-pod-that-comes-back",
        ),
        pytest.param((removed("statefulsets.apps", 1, wanted=1),), id="orphaned-its-pods-run-on"),
        pytest.param(
            (removed("services", 1, lasting=0, counted=0, foreign=0, explained=1, in_use=1),),
            id="its-owner-is-gone",
        ),
        pytest.param((removed("services", 1, in_use=1),), id="nobody-owns-it"),
    ],
)
def test_justified_teardown_lets_pass(pack: PolicySet, effects: tuple[Effect, ...]) -> None:
    assert found(pack, case(*effects)) == {}


# ---- selector-safety


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        pytest.param(None, "without a selector", id="nil"),
        pytest.param(Selector(), "with an empty selector", id="empty"),
    ],
)
def test_a_collection_of_everything_is_refused_whole(
    pack: PolicySet, selector: Selector | None, words: str
) -> None:
    asked = request(name="", extent=Collection(selector))
    finding = found(pack, case(removed("services", 30), asked=asked))["selects_everything"]
    assert finding.message.startswith(f"a deletecollection {words} would take 30 objects")


def test_a_collection_that_reaches_a_foreign_object_stops_at_the_first(pack: PolicySet) -> None:
    """Without the authorizer the selector is unknown: an idle Service of others is the end."""
    weighed = case(removed("services", 1), asked=request(extent=CollectionItem()))
    assert found(pack, weighed).keys() == {"selector_unknown"}


@pytest.mark.parametrize("effect", [reselected(3, 0), reselected(0, 0, empty=True)])
def test_a_service_is_not_pointed_at_nothing(pack: PolicySet, effect: Effect) -> None:
    weighed = case(effect, asked=request(operation=Operation.UPDATE))
    assert found(pack, weighed).keys() == {"selects_nothing"}


@pytest.mark.parametrize(
    "weighed",
    [
        pytest.param(
            case(
                removed("services", 200),
                asked=request(name="", extent=Collection(Selector.of({"job": "a"}))),
            ),
            id="whole-by-label",
        ),
        pytest.param(
            case(removed("services", 9, foreign=0), asked=request(name="", extent=Collection())),
            id="everything-that-the-actor-made",
        ),
        pytest.param(
            case(removed(foreign=0), asked=request(extent=CollectionItem())),
            id="an-item-of-the-actor",
        ),
        pytest.param(
            case(removed("pods", 1, counted=0, foreign=0), asked=request(extent=CollectionItem())),
            id="an-item-that-does-not-count",
        ),
        pytest.param(
            case(removed(), asked=request(extent=CollectionItem()), selector_known=True),
            id="an-item-whose-selector-was-judged",
        ),
        pytest.param(case(reselected(3, 3)), id="blue-to-green"),
        pytest.param(case(reselected(0, 0)), id="nothing-before-and-after"),
    ],
)
def test_selector_safety_lets_pass(pack: PolicySet, weighed: Case) -> None:
    assert found(pack, weighed) == {}


# ---- webhook-safety


def test_a_fail_closed_path_keeps_its_last_backend(pack: PolicySet) -> None:
    finding = found(pack, case(broken(namespace="shop")))["admission_path_broken"]
    assert finding.message == (
        "the path through service hook would lose its last backend: CREATE of pods would fail"
    )


def test_a_dip_that_blocks_its_own_recovery_does_not_pass(pack: PolicySet) -> None:
    finding = found(pack, case(broken(healing=True, blocks=True, gone=False)))
    assert finding["admission_path_broken"].message.endswith("its own new pods included")


@pytest.mark.parametrize(
    "effect",
    [
        pytest.param(broken(healing=True, gone=False), id="a-passing-dip"),
        pytest.param(broken(fail_closed=False), id="fail-open"),
    ],
)
def test_webhook_safety_lets_pass(pack: PolicySet, effect: Effect) -> None:
    assert found(pack, case(effect)) == {}


# ---- the pack as a whole


def test_an_ordinary_write_finds_nothing(pack: PolicySet) -> None:
    assert evaluate(pack, case()) == Findings()


def test_names_of_other_namespaces_are_never_told(pack: PolicySet) -> None:
    """An operator learns nothing of what lies outside the namespace that it writes to."""
    secret = victim("crown-jewels", "vault")
    effects: tuple[Effect, ...] = (
        emptied(name="crown-jewels", namespace="vault"),
        lost(10, 1, name="crown-jewels", namespace="vault"),
        broken(namespace="vault"),
        removed("services", 9, counted_cascaded=9, wanted=9, in_use=9),
    )
    said = " ".join(messages(evaluate(pack, case(*effects, by=actor()))))
    assert secret.name not in said
    assert secret.namespace not in said
