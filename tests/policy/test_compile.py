"""Policy documents compiled: every authoring mistake is found, with file, line and field."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suture.adapters.files import read_pack
from suture.model.clock import Window
from suture.model.documents import Document
from suture.policy.compile import PoliciesError, compile_all, compile_policies
from suture.policy.matching import Reach
from suture.policy.templates import MAX_CHARS
from suture.wire.yaml import read_documents

TEMPLATE = """\
apiVersion: policies.suture.dev/v1alpha1
kind: PolicyTemplate
metadata:
  name: few-removed
spec:
  constraintKind: FewRemoved
  description: No more than a few objects go at once
  effects: [objects_removed]
  reads:
  - operations: [UPDATE]
    groups: [apps]
    resources: [deployments, statefulsets]
  parameters:
    openAPIV3Schema:
      type: object
      required: [mode]
      properties:
        maxObjects: {type: integer, minimum: 1, default: 3}
        mode: {type: string, enum: [strict, loose]}
        limits:
          type: object
          properties:
            share: {type: number, default: 0.5}
  budgets:
  - name: removals
    windows:
    - {seconds: 1m, count: 5}
    byKey: byResource
  violations:
  - code: too_many
    when: >-
      effects.objects_removed.exists(o, o.counted > parameters.maxObjects)
      && parameters.mode == "strict"
    message: |
      "too many of %s"
        .format([effects.objects_removed[0].resource])
    retryAfterSeconds: "parameters.maxObjects * 2"
  claims:
  - budget: removals
    each: objects_removed
    when: double(effect.counted) > parameters.limits.share
    key: effect.resource
    amount: effect.counted
    population: effect.population
    message: '"some go"'
"""
CONSTRAINT = """\
apiVersion: policies.suture.dev/v1alpha1
kind: FewRemoved
metadata:
  name: few-in-shop
spec:
  enforcementAction: deny
  enforcementPoints: {audit: dryrun}
  match:
    operators: ["system:serviceaccount:*"]
    operations: [DELETE, UPDATE]
    kinds:
    - {groups: [apps, ""], resources: [deployments, pods/eviction]}
    labelSelector:
      matchLabels: {app: web}
      matchExpressions:
      - {key: tier, operator: In, values: [front, back]}
  parameters:
    mode: strict
    byResource:
      services:
        windows:
        - {seconds: 24h, count: 2, percent: 0.5}
"""


def documents(*texts: str) -> list[Document]:
    return [
        document
        for text, name in zip(
            texts, ("template.yaml", "constraint.yaml", "more.yaml"), strict=False
        )
        for document in read_documents(text, name)
    ]


def mistakes(*texts: str) -> list[str]:
    return [str(error) for error in compile_all(documents(*texts)).errors]


def test_a_template_and_its_constraint_compile() -> None:
    policies = compile_policies(documents(TEMPLATE, CONSTRAINT))
    [bound] = policies.constraints
    assert (bound.name, bound.template) == ("few-in-shop", "few-removed")
    assert policies.needs == {"objects_removed"}
    assert (bound.source, bound.line) == ("constraint.yaml", 1)


def test_order_of_documents_does_not_matter() -> None:
    """A constraint may come before its template, and the digest names the content alone."""
    forth = compile_policies(documents(TEMPLATE, CONSTRAINT))
    back = compile_policies(documents(CONSTRAINT, TEMPLATE))
    assert forth.digest == back.digest
    other = compile_policies(documents(TEMPLATE, CONSTRAINT.replace("mode: strict", "mode: loose")))
    assert other.digest != forth.digest


def test_windows_hold_for_keys_in_general_and_by_name() -> None:
    [budget] = compile_policies(documents(TEMPLATE, CONSTRAINT)).budgets
    assert budget.ref("deployments.apps").windows == (Window(60, 5, 0),)
    assert budget.ref("services").windows == (Window(86_400, 2, 0.5),)
    assert budget.ref("services").constraint == "few-in-shop"


def test_what_a_set_must_see_is_what_its_templates_read_within_their_match() -> None:
    """Lane 1 is derived from it: an operation on a resource that no constraint matches is not."""
    policies = compile_policies(documents(TEMPLATE, CONSTRAINT))
    assert policies.reads == {Reach("UPDATE", "apps", "deployments")}
    everywhere = compile_policies(documents(TEMPLATE, _without(CONSTRAINT, "match")))
    assert everywhere.reads == {
        Reach("UPDATE", "apps", "deployments"),
        Reach("UPDATE", "apps", "statefulsets"),
    }


def test_a_constraint_that_is_only_tried_out_makes_no_request_destructive() -> None:
    tried = CONSTRAINT.replace("enforcementAction: deny", "enforcementAction: dryrun")
    assert not compile_policies(documents(TEMPLATE, tried)).reads


def _without(text: str, field: str) -> str:
    """Return a document without one field of its spec."""
    kept, skipping = [], False
    for line in text.splitlines(keepends=True):
        indent = len(line) - len(line.lstrip())
        if indent <= 2 and not line.startswith("  - "):
            skipping = line.startswith(f"  {field}:")
        if not skipping:
            kept.append(line)
    return "".join(kept)


def _line(text: str, start: str) -> int:
    return next(n for n, line in enumerate(text.splitlines(), 1) if line.strip().startswith(start))


TEMPLATE_MISTAKES = [
    pytest.param("constraintKind: FewRemoved", "constraintKind: few", "constraintKind",
                 "`few` is no kind", id="kind"),
    pytest.param("effects: [objects_removed]", "effects: [objects_remved]", "effects",
                 "did you mean `objects_removed`", id="effect-unknown"),
    pytest.param("effects: [objects_removed]", "effects: []", "when",
                 "reads effect `objects_removed`, which `spec.effects` does not list", id="effect-unlisted"),
    pytest.param("effects: [objects_removed]", "effects: [objects_removed, endpoints_lost]", "effects",
                 "`endpoints_lost` is read by no rule", id="effect-unread"),
    pytest.param("description: No", "descripton: No", "descripton",
                 "did you mean `description`", id="unknown-field"),
    pytest.param("\nspec:", "\nkinds: []\nspec:", "kinds",
                 "is not a known field", id="unknown-field-beside-spec"),
    pytest.param("code: too_many", "code: Too-Many", "- code",
                 "`Too-Many` is no code", id="code"),
    pytest.param("code: too_many", "code: policy_error", "- code",
                 "has a meaning of its own", id="code-reserved"),
    pytest.param("operations: [UPDATE]", "operations: [PATCH]", "- operations",
                 "`PATCH` is no operation", id="reads-operation"),
    pytest.param("operations: [UPDATE]", "operations: []", "- operations",
                 "is empty, and so matches nothing", id="reads-no-operation"),
    pytest.param("resources: [deployments, statefulsets]", "resources: [Deployment]", "resources",
                 "plural and lower case", id="reads-resource"),
    pytest.param("type: integer, minimum", "type: int, minimum", "maxObjects",
                 "cannot be `int`", id="schema-type"),
    pytest.param("default: 3", "default: 0", "maxObjects",
                 "is 0, must be at least 1", id="schema-default-bound"),
    pytest.param("default: 3", "default: three", "maxObjects",
                 "must be an integer, not `three`", id="schema-default-type"),
    pytest.param(", default: 3", "", "maxObjects",
                 "needs a `default`, or a place in `required`", id="schema-absent"),
    pytest.param("required: [mode]", "required: [mod]", "required",
                 "`mod` is no property; did you mean `mode`", id="schema-required"),
    pytest.param("minimum: 1,", "minimun: 1,", "maxObjects",
                 "did you mean `minimum`", id="schema-word"),
    pytest.param("type: object\n      required", "type: string\n      required", "openAPIV3Schema",
                 "parameters are an object with `properties`", id="schema-not-an-object"),
    pytest.param("{seconds: 1m, count: 5}", "{seconds: 1 minute, count: 5}", "- {seconds",
                 "must be seconds or a span such as", id="window-span"),
    pytest.param("{seconds: 1m, count: 5}", "{seconds: 0, count: 5}", "- {seconds",
                 "must be 1 to", id="window-zero"),
    pytest.param("{seconds: 1m, count: 5}", "{seconds: 1m, count: -5}", "- {seconds",
                 "is -5, must be at least 0", id="window-count"),
    pytest.param("{seconds: 1m, count: 5}", "{seconds: 1m, count: 5, percent: 101}", "- {seconds",
                 "must be 0 to 100", id="window-percent"),
    pytest.param("byKey: byResource", "byKey: windows", "budgets",
                 "parameter `windows` is taken twice", id="budget-parameters-clash"),
    pytest.param("byKey: byResource", "byKey: maxObjects", "budgets",
                 "parameter `maxObjects` is taken twice", id="budget-parameter-in-schema"),
    pytest.param("budget: removals", "budget: removal", "- budget: ",
                 "is no budget of this template; did you mean `removals`", id="budget-unknown"),
    pytest.param("each: objects_removed", "each: objects", "each",
                 "`objects` is no effect", id="each-unknown"),
    pytest.param("amount: effect.counted", "amount: effect.countd", "amount",
                 "did you mean `counted`", id="field-of-effect"),
    pytest.param("amount: effect.counted", "amount: effect.resource", "amount",
                 "gives string, must give int", id="amount-type"),
    pytest.param("key: effect.resource", "key: effect.counted", "key",
                 "gives int, must give string", id="key-type"),
    pytest.param("o.counted > parameters.maxObjects", "o.counted > parameters.maxObject", "when",
                 "did you mean `parameters.maxObjects`", id="parameter-unknown"),
    pytest.param('parameters.mode == "strict"', "parameters.maxObjects", "when",
                 "cannot apply `&&` to (bool, int)", id="when-not-bool"),
    pytest.param('parameters.mode == "strict"', "parameters.mode == 3", "when",
                 "cannot apply `==` to (string, int)", id="compares-types"),
    pytest.param('"too many of %s"', '"too many of %s', '"too many',
                 "is not CEL", id="open-text"),
    pytest.param("effects.objects_removed[0].resource", "effects.objects_removed[0].resourc", ".format",
                 "did you mean `resource`", id="line-within-a-block"),
    pytest.param("[effects.objects_removed[0].resource]", "[]", ".format",
                 "cannot fill `too many of %s`: it has more places", id="format-within-a-block"),
    pytest.param('retryAfterSeconds: "parameters.maxObjects * 2"', "retryAfterSeconds: '1.5'",
                 "retryAfterSeconds", "gives double, must give int", id="retry-type"),
    pytest.param("name: few-removed", "name: Few_Removed", "name",
                 "is no name of an object", id="name"),
    pytest.param("policies.suture.dev/v1alpha1", "policies.suture.dev/v1", "apiVersion",
                 "must be `policies.suture.dev/v1alpha1`", id="version"),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "at", "problem"), TEMPLATE_MISTAKES)
def test_mistakes_of_templates_are_placed(right: str, wrong: str, at: str, problem: str) -> None:
    """A mistake in a template is told at its line, and its constraint is not blamed for it."""
    assert TEMPLATE.count(right) >= 1
    text = TEMPLATE.replace(right, wrong, 1)
    told = mistakes(text, CONSTRAINT)
    assert problem in told[0]
    assert told[0].startswith(f"template.yaml:{_line(text, at)}: field `")
    assert all(mistake.startswith("template.yaml:") for mistake in told)


LONG = TEMPLATE.replace("code: too_many", "code: too_many\n    each: objects_removed")
"""A rule that is asked of each effect: what is asked is put together of what was written."""


@pytest.mark.parametrize(
    ("step", "name"),
    [
        ("violations", "when"),
        ("violations", "message"),
        ("violations", "retryAfterSeconds"),
        ("claims", "when"),
        ("claims", "key"),
        ("claims", "message"),
    ],
)
def test_the_bound_is_of_what_an_author_wrote(step: str, name: str) -> None:
    """Of every expression, once; what is put together of them is no concern of its author."""

    def told(length: int) -> list[str]:
        template, constraint = documents(LONG, CONSTRAINT)
        rule: Any = template.at(("spec", step, 0))
        rule[name] = rule[name].ljust(length)
        return [str(error) for error in compile_all([template, constraint]).errors]

    assert not told(MAX_CHARS)
    [mistake] = told(MAX_CHARS + 1)
    assert f"field `spec.{step}[0].{name}` is 2049 characters long, at most 2048" in mistake


CONSTRAINT_MISTAKES = [
    pytest.param("kind: FewRemoved", "kind: FewRemove", "kind",
                 "declared by no template; did you mean `FewRemoved`", id="kind"),
    pytest.param("enforcementAction: deny", "enforcementAction: denny", "enforcementAction",
                 "cannot be `denny`; did you mean `deny`", id="action"),
    pytest.param("{audit: dryrun}", "{audits: dryrun}", "enforcementPoints",
                 "is no enforcement point; did you mean `audit`", id="point"),
    pytest.param("{audit: dryrun}", "{audit: dry-run}", "enforcementPoints",
                 "cannot be `dry-run`; did you mean `dryrun`", id="action-at-a-point"),
    pytest.param("operations: [DELETE, UPDATE]", "operations: [DELET]", "operations",
                 "`DELET` is no operation; did you mean `DELETE`", id="operation"),
    pytest.param("\nspec:", "\nspecs:", "specs",
                 "did you mean `spec`", id="spec-misspelt"),
    pytest.param("operators: [", "operator: [", "operator",
                 "did you mean `operators`", id="match-field"),
    pytest.param("resources: [deployments, pods/eviction]", "resources: []", "- {groups",
                 "is empty, and so matches nothing", id="no-resources"),
    pytest.param('["system:serviceaccount:*"]', "[]", "operators",
                 "is empty, and so matches nothing", id="no-operators"),
    pytest.param("operations: [DELETE, UPDATE]", "operations: []", "operations",
                 "is empty, and so matches nothing", id="no-operations"),
    pytest.param('\n    - {groups: [apps, ""], resources: [deployments, pods/eviction]}', " []", "kinds",
                 "is empty, and so matches nothing", id="no-kinds"),
    pytest.param("operations: [DELETE, UPDATE]", "namespaces: []", "namespaces",
                 "is empty, and so matches nothing", id="no-namespaces"),
    pytest.param("operations: [DELETE, UPDATE]", "names: []", "names",
                 "is empty, and so matches nothing", id="no-names"),
    pytest.param("resources: [deployments, pods/eviction]", "resources: [deployment]", "- {groups",
                 "`deployment` names nothing; did you mean `deployments`", id="singular"),
    pytest.param("resources: [deployments, pods/eviction]", "resources: [po/eviction]", "- {groups",
                 "`po/eviction` names nothing; did you mean `pods`", id="short-name"),
    pytest.param('[apps, ""], resources: [deployments, pods/eviction]', '[""], resources: [deployments]', "- {groups",
                 "did you mean `deployments` of group `apps`", id="another-group"),
    pytest.param("      services:", "      service:", "service",
                 "`spec.parameters.byResource.service` names nothing; did you mean `services`", id="key-singular"),
    pytest.param("      services:", "      deployments:", "deployments",
                 "did you mean `deployments.apps`", id="key-without-group"),
    pytest.param('groups: [apps, ""]', "groups: [Apps]", "- {groups",
                 "`Apps` is no API group", id="group"),
    pytest.param("operator: In, values", "operator: Inn, values", "- {key",
                 "`Inn` is no operator; did you mean `In`", id="selector-operator"),
    pytest.param("operator: In, values: [front, back]", "operator: In", "- {key",
                 "`In` needs values", id="selector-values"),
    pytest.param("mode: strict", "mode: stric", "mode",
                 "cannot be `stric`; did you mean `strict`", id="parameter-enum"),
    pytest.param("mode: strict", "mode: strict\n    mod: x", "mod: x",
                 "is not a known parameter; did you mean `mode`", id="parameter-unknown"),
    pytest.param("mode: strict", "mode: strict\n    maxObjects: '3'", "maxObjects",
                 "must be an integer, not `3`", id="parameter-type"),
    pytest.param("mode: strict", "mode: strict\n    maxObjects: true", "maxObjects",
                 "must be an integer, not `true`", id="parameter-bool-is-no-number"),
    pytest.param("mode: strict", "mode: strict\n    maxObjects: 99999999999999999999", "maxObjects",
                 "larger than 64 bits", id="parameter-too-large"),
    pytest.param("mode: strict", "mode: strict\n    limits: {shar: 1}", "limits",
                 "is not a known parameter; did you mean `share`", id="parameter-inside"),
    pytest.param("seconds: 24h, count: 2", "seconds: 24h, cont: 2", "- {seconds",
                 "did you mean `count`", id="window-field"),
    pytest.param("seconds: 24h, count: 2", "seconds: 24h, count: two", "- {seconds",
                 "expected `int`, got `str`", id="window-type"),
    pytest.param("name: few-in-shop", "nam: few-in-shop", "metadata",
                 "lacks the field `name`", id="no-name"),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "at", "problem"), CONSTRAINT_MISTAKES)
def test_mistakes_of_constraints_are_placed(right: str, wrong: str, at: str, problem: str) -> None:
    assert CONSTRAINT.count(right) >= 1
    text = CONSTRAINT.replace(right, wrong, 1)
    told = mistakes(TEMPLATE, text)
    assert problem in told[0]
    assert told[0].startswith(f"constraint.yaml:{_line(text, at)}: field `")


def test_what_a_cluster_says_of_a_policy_may_stand_beside_it() -> None:
    status = "status: {observedGeneration: 1}\n"
    assert not mistakes(TEMPLATE + status, CONSTRAINT + status)


def test_a_missing_parameter_is_told() -> None:
    text = CONSTRAINT.replace("    mode: strict\n", "")
    [mistake] = mistakes(TEMPLATE, text)
    assert "field `spec.parameters` lacks the parameter `mode`" in mistake


def test_one_mistake_does_not_hide_the_next() -> None:
    """All mistakes are told, in the order of the files, and what is right still compiles."""
    bad = CONSTRAINT.replace("mode: strict", "mode: stric").replace("DELETE,", "DELET,")
    good = CONSTRAINT.replace("few-in-shop", "few-elsewhere")
    compiled = compile_all(documents(TEMPLATE, bad, good))
    assert [error.line for error in compiled.errors] == [10, 18]
    assert [bound.name for bound in compiled.policies.constraints] == ["few-elsewhere"]
    with pytest.raises(PoliciesError) as raised:
        compile_policies(documents(TEMPLATE, bad, good))
    assert len(raised.value.errors) == 2


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        pytest.param(
            (TEMPLATE, CONSTRAINT, CONSTRAINT),
            "more.yaml:4: field `metadata.name` constraint `few-in-shop` is given twice; "
            "first in constraint.yaml:1",
            id="constraint",
        ),
        pytest.param(
            (TEMPLATE, CONSTRAINT, TEMPLATE.replace("FewRemoved", "FewerRemoved")),
            "more.yaml:4: field `metadata.name` template `few-removed` is given twice; "
            "first in template.yaml:1",
            id="template",
        ),
        pytest.param(
            (TEMPLATE, CONSTRAINT, TEMPLATE.replace("few-removed", "fewer-removed")),
            "more.yaml:6: field `spec.constraintKind` `FewRemoved` is the kind of template "
            "`few-removed` already",
            id="kind",
        ),
    ],
)
def test_what_is_given_twice_is_told(texts: tuple[str, ...], problem: str) -> None:
    assert problem in mistakes(*texts)


def test_a_template_needs_a_rule() -> None:
    text = _without(_without(_without(TEMPLATE, "violations"), "claims"), "effects")
    assert any("has neither `violations` nor `claims`" in mistake for mistake in mistakes(text))


def test_a_budget_needs_windows_from_somewhere() -> None:
    text = TEMPLATE.replace("    windows:\n    - {seconds: 1m, count: 5}\n", "")
    [mistake] = mistakes(text, CONSTRAINT)
    assert "lacks the parameter `windows`" in mistake


def test_the_pack_has_no_mistakes_and_no_privilege() -> None:
    """The safety pack compiles from the package's files, by the same means as any folder."""
    policies = compile_policies(read_pack())
    assert [bound.name for bound in policies.constraints] == [
        "cascade-closure",
        "churn-growth",
        "crd-in-use",
        "critical-config",
        "delete-protection",
        "external-delete",
        "finalizer-owner",
        "foreign-owner",
        "justified-teardown",
        "live-data",
        "netpol-reach",
        "node-budget",
        "ns-in-use",
        "owner-ref-valid",
        "quorum",
        "rollout-budget",
        "secret-in-use",
        "selector-safety",
        "serving-floor",
        "share-budget",
        "webhook-safety",
    ]
    assert Reach("UPDATE", "", "services") in policies.reads
    assert Reach("UPDATE", "", "nodes") in policies.reads


_ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


def _paths(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    below: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        below = list(value.items())
    elif isinstance(value, list):
        below = list(enumerate(value))
    return [path, *(found for key, one in below for found in _paths(one, (*path, key)))]


@settings(max_examples=150)
@given(st.data())
def test_whatever_stands_in_a_document_is_told_and_not_raised(data: st.DataObject) -> None:
    """Any value in any place compiles or is told of, with its source and its line."""
    read = documents(TEMPLATE, CONSTRAINT)
    document = data.draw(st.sampled_from(read))
    path = data.draw(st.sampled_from(_paths(document.value)[1:]))
    where: Any = document.value
    for step in path[:-1]:
        where = where[step]
    where[path[-1]] = data.draw(_ODD)
    for error in compile_all(read).errors:
        assert error.source in ("template.yaml", "constraint.yaml")
        assert error.line is not None


def test_an_empty_set_is_a_set() -> None:
    policies = compile_policies([])
    assert not policies.constraints
    assert not policies.needs
