"""Evaluation is total, ordered, and shows rules what they read and no more."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.cases import case, emptied, removed, request
from suture.adapters.files import load_policies
from suture.impact.effects import (
    AdmissionPathBroken,
    Effect,
    EndpointsLost,
    Impact,
    ObjectsRemoved,
    SelectionChanged,
    ServiceEmptied,
)
from suture.model.request import Collection, CollectionItem, One
from suture.policy.compile import PolicySet, compile_all, compile_policies
from suture.policy.evaluate import EFFECTS_AT_ONCE, MESSAGE_CHARS, evaluate
from suture.policy.rules import POLICY_ERROR, EnforcementAction, Findings, Point
from suture.wire.yaml import read_documents

PACK = load_policies()

TEMPLATE = """\
apiVersion: policies.suture.dev/v1alpha1
kind: PolicyTemplate
metadata: {{name: the-rule}}
spec:
  constraintKind: TheRule
  effects: [{effects}]
  budgets:
  - name: some
    windows: [{{seconds: 60, count: 1}}]
  {rules}
---
apiVersion: policies.suture.dev/v1alpha1
kind: TheRule
metadata: {{name: the-rule}}
spec:
  enforcementAction: deny
  enforcementPoints: {{authorization: warn, audit: dryrun}}
"""


def policy(rules: str, effects: str = "") -> PolicySet:
    return compile_policies(read_documents(TEMPLATE.format(effects=effects, rules=rules), "t.yaml"))


ALWAYS = policy("""violations: [{when: "request.namespace == 'shop'", message: "'always'"}]""")


def test_a_rule_that_reads_no_effect_is_asked_always() -> None:
    [finding] = evaluate(ALWAYS, case()).violations
    assert (finding.code, finding.message) == ("the_rule", "always")
    assert evaluate(ALWAYS, case(asked=request(namespace="other"))) == Findings()


def test_a_rule_is_asked_only_where_an_effect_that_it_reads_is_present() -> None:
    """The first reads an absent effect alone: though it would hold, it is not asked."""
    policies = policy(
        """violations:
  - {code: none, when: "effects.service_emptied.size() == 0", message: "'a'"}
  - {code: both, when: "effects.service_emptied.size() == 0 && effects.objects_removed.size() > 0",
     message: "'b'"}""",
        "service_emptied, objects_removed",
    )
    found = evaluate(policies, case(removed())).violations
    assert [finding.code for finding in found] == ["both"]


@pytest.mark.parametrize(
    ("point", "action"),
    [
        (Point.ADMISSION, EnforcementAction.DENY),
        (Point.AUTHORIZATION, EnforcementAction.WARN),
        (Point.AUDIT, EnforcementAction.DRYRUN),
        (Point.CHECK, EnforcementAction.DENY),
    ],
)
def test_enforcement_may_differ_per_point(point: Point, action: EnforcementAction) -> None:
    [finding] = evaluate(ALWAYS, case(point=point)).violations
    assert finding.enforcement is action


def test_an_erring_rule_is_a_finding_of_its_own() -> None:
    policies = policy("""violations: [{when: "request.labels['team'] == 'x'", message: "'x'"}]""")
    [finding] = evaluate(policies, case()).violations
    assert finding.code == POLICY_ERROR
    assert finding.enforcement is EnforcementAction.DENY
    assert "policy the-rule could not be evaluated" in finding.message


def test_an_erring_message_does_not_take_a_refusal_back() -> None:
    policies = policy("""violations: [{when: "true", message: "request.labels['team']"}]""")
    [finding] = evaluate(policies, case()).violations
    assert finding.code == "the_rule"
    assert "its message failed" in finding.message


def test_an_erring_retry_is_told_beside_the_refusal() -> None:
    policies = policy(
        """violations: [{when: "true", message: "'no'", retryAfterSeconds: "1 / (1 - 1)"}]"""
    )
    assert {finding.code for finding in evaluate(policies, case()).violations} == {
        "the_rule",
        POLICY_ERROR,
    }


def test_a_comment_in_an_expression_does_no_harm() -> None:
    policies = policy(
        """violations:
  - each: service_emptied
    when: |
      effect.before > 1 // of several
    message: "'no'" """,
        "service_emptied",
    )
    assert evaluate(policies, case(emptied(2))).violations
    assert not evaluate(policies, case(emptied(1))).violations


EACH = policy(
    """violations:
  - each: service_emptied
    when: "10 / effect.declared > 1"
    message: "'%s, %d in all'.format([effect.service.name, matched])" """,
    "service_emptied",
)


def test_each_speaks_of_the_first_effect_that_it_holds_for() -> None:
    weighed = case(emptied(declared=10, name="no"), emptied(declared=2, name="yes"), emptied())
    [finding] = evaluate(EACH, weighed).violations
    assert finding.message == "yes, 2 in all"


def test_each_holds_where_another_effect_errs() -> None:
    """One effect that errs does not hide another that the rule surely holds for."""
    [finding] = evaluate(EACH, case(emptied(declared=0), emptied(name="yes"))).violations
    assert finding.code == "the_rule"
    assert finding.message.startswith("yes")


def test_each_errs_where_it_holds_for_nothing_and_errs_for_something() -> None:
    [finding] = evaluate(EACH, case(emptied(declared=0), emptied(declared=10))).violations
    assert finding.code == POLICY_ERROR


@pytest.mark.parametrize("where", [0, EFFECTS_AT_ONCE, 3 * EFFECTS_AT_ONCE])
def test_no_effect_is_left_out_however_many_there_are(where: int) -> None:
    """Far more effects than one expression may step through: the one that matters is found."""
    many: list[Effect] = [emptied(declared=10)] * (12 * EFFECTS_AT_ONCE)
    many[where] = emptied(name="that-one")
    [finding] = evaluate(EACH, case(*many)).violations
    assert finding.message == "that-one, 1 in all"


CLAIM = policy(
    """claims:
  - budget: some
    each: objects_removed
    when: "10 / effect.lasting >= 0"
    key: effect.resource
    amount: effect.counted
    population: effect.population
    message: "'m'" """,
    "objects_removed",
)


def test_claims_are_asked_for_each_effect() -> None:
    asked = evaluate(CLAIM, case(removed("a", 2), removed("b", 0, lasting=1), removed("c"))).claims
    assert [(claim.key, claim.amount) for claim in asked] == [("a", 2), ("c", 1)]


def test_a_claim_that_errs_for_one_effect_is_asked_for_the_others() -> None:
    """What can be counted is counted, and the error is told."""
    findings = evaluate(CLAIM, case(removed("a", 2), removed("b", lasting=0), removed("c")))
    assert [claim.key for claim in findings.claims] == ["a", "c"]
    assert [finding.code for finding in findings.violations] == [POLICY_ERROR]


def test_a_message_of_a_claim_that_errs_costs_no_claim() -> None:
    """It is counted as it would be, and says why it has no words of its own."""
    wordless = policy(
        """claims:
  - budget: some
    each: objects_removed
    key: effect.resource
    amount: effect.counted
    population: effect.population
    message: '"%d".format([10 / effect.lasting])' """,
        "objects_removed",
    )
    findings = evaluate(wordless, case(removed("a", 2), removed("b", lasting=0)))

    assert [(claim.key, claim.amount) for claim in findings.claims] == [("a", 2), ("b", 1)]
    assert findings.claims[0].message == "5"
    assert "its message failed" in findings.claims[1].message
    assert findings.violations == ()


def test_words_are_one_line_within_their_limit() -> None:
    policies = policy("""violations: [{when: "true", message: "'a\\\\n\\\\tb ' + request.name"}]""")
    [finding] = evaluate(policies, case(asked=request(name="x" * 500))).violations
    assert finding.message.startswith("a b xxx")
    assert len(finding.message) == MESSAGE_CHARS
    assert finding.message.endswith("…")


def test_a_value_beyond_64_bits_is_a_finding_and_no_crash() -> None:
    """Where the engine has to be asked: it cannot be shown such a number."""
    policies = policy(
        """violations:
  - {when: "effects.objects_removed.exists(o, o.count > 0 && o.resource.matches('s'))",
     message: "'m'"}""",
        "objects_removed",
    )
    findings = evaluate(policies, case(removed(count=2**70)))
    assert {finding.code for finding in findings.violations} == {POLICY_ERROR}


def test_no_policies_find_nothing() -> None:
    assert evaluate(compile_policies([]), case(removed())) == Findings()


_counts = st.integers(min_value=-1, max_value=2**64)
_effects = st.one_of(
    st.builds(ObjectsRemoved, count=_counts, counted=_counts, foreign=_counts, wanted=_counts,
              in_use=_counts, lasting=_counts, counted_cascaded=_counts),
    st.from_type(EndpointsLost),
    st.from_type(ServiceEmptied),
    st.from_type(SelectionChanged),
    st.from_type(AdmissionPathBroken),
)  # fmt: skip
_requests = st.builds(
    request,
    resource=st.sampled_from(["services", "namespaces", "deployments.apps"])
    | st.just("customresourcedefinitions.apiextensions.k8s.io"),
    name=st.text(max_size=20),
    namespace=st.text(max_size=20),
    extent=st.sampled_from([One(), CollectionItem(), Collection()]),
)


@settings(max_examples=300)
@given(st.lists(_effects, max_size=6), _requests, st.sampled_from(Point))
def test_never_raises(effects: list[Effect], asked: object, point: Point) -> None:
    """Whatever effects come, however odd their numbers and names, findings come out, in order."""
    weighed = msgspec.structs.replace(
        case(point=point), request=asked, impact=Impact(tuple(effects))
    )
    findings = evaluate(PACK, weighed)
    names = [finding.constraint for finding in findings.violations]
    assert names == sorted(names)
    assert all(len(finding.message) <= MESSAGE_CHARS for finding in findings.violations)
    assert all(claim.amount > 0 for claim in findings.claims)
    assert evaluate(PACK, weighed) == findings


CAPPED = """violations:
  - {code: mild, enforcementAction: warn, when: "true", message: "'a'"}
  - {code: hard, when: "true", message: "'b'"}"""


def actions(rules: str) -> dict[str, EnforcementAction]:
    text = TEMPLATE.format(effects="", rules=CAPPED) + f"  rules: {{{rules}}}\n"
    found = evaluate(compile_policies(read_documents(text, "t.yaml")), case()).violations
    return {one.code: one.enforcement for one in found}


def test_a_rule_may_warn_where_its_constraint_denies() -> None:
    """And a constraint may say otherwise, by the rule's code."""
    warn, deny = EnforcementAction.WARN, EnforcementAction.DENY
    assert actions("") == {"mild": warn, "hard": deny}
    assert actions("mild: deny, hard: dryrun") == {
        "mild": deny,
        "hard": EnforcementAction.DRYRUN,
    }


def test_a_rule_goes_no_farther_than_its_constraint() -> None:
    """At authorization the constraint of these tests warns."""
    text = TEMPLATE.format(effects="", rules=CAPPED) + "  rules: {mild: deny}\n"
    policies = compile_policies(read_documents(text, "t.yaml"))
    found = evaluate(policies, case(point=Point.AUTHORIZATION)).violations
    assert {one.enforcement for one in found} == {EnforcementAction.WARN}


def test_a_rule_that_there_is_not_is_a_mistake() -> None:
    text = TEMPLATE.format(effects="", rules=CAPPED) + "  rules: {milt: warn}\n"
    [mistake] = compile_all(read_documents(text, "t.yaml")).errors
    assert "`spec.rules.milt` is no rule of this kind; did you mean `mild`" in str(mistake)
