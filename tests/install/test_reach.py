"""Which webhook configurations an in-process policy refuses, whose, and that it never errs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.celworld import JSON, WORDS, WORLDS, asked, refusal
from suture.install.reach import reach_policy, system_policy
from suture.install.settings import Installation, enrol
from suture.model.actor import Profile, Stage
from suture.policy.engines.cel import MAX_CHARS

MESH = "system:serviceaccount:mesh:istiod"
CALM = "system:serviceaccount:calm:engine"
PROFILES = (
    Profile("mesh", users=(MESH, "mesh@example.com"), stage=Stage.ENFORCE),
    Profile("robots", groups=("robots",), stage=Stage.ENFORCE),
    Profile("calm", users=(CALM,), stage=Stage.WARN),
    Profile("quiet", groups=("quiet",), stage=Stage.WARN),
    Profile("default", default=True, stage=Stage.ENFORCE),
)
ENROLLED = enrol(Installation(break_glass=("oncall",)), PROFILES)
SYSTEM, SYSTEM_BINDING = system_policy(ENROLLED)
POLICY, BINDING = reach_policy(enrol(Installation(break_glass=("oncall",)), PROFILES))
HOOKS = "mutatingwebhookconfigurations.admissionregistration.k8s.io"
PODS = {"apiGroups": [""], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["pods"]}
OPTED_IN = {"matchLabels": {"injection": "enabled"}}


def only(*spaces: str, operator: str = "In") -> dict[str, Any]:
    """Return a selector of namespaces by their names."""
    asked_for = {"key": "kubernetes.io/metadata.name", "operator": operator, "values": [*spaces]}
    return {"matchExpressions": [asked_for]}


APART = only("kube-system", "mesh", operator="NotIn")


def hook(**more: Any) -> dict[str, Any]:
    """Return a webhook as an API server has it, with its defaults."""
    return {
        "name": "inject.mesh.example.com",
        "clientConfig": {"service": {"namespace": "mesh", "name": "injector"}},
        "rules": [PODS],
        "failurePolicy": "Fail",
        "namespaceSelector": {},
        "objectSelector": {},
        **more,
    }


def rule(group: str, *plurals: str, **more: Any) -> dict[str, Any]:
    return {**PODS, "apiGroups": [group], "resources": [*plurals], "operations": ["*"], **more}


def configuration(*hooks: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": "injector"}, "webhooks": [*hooks]}


def by(
    user: str,
    new: dict[str, Any],
    old: dict[str, Any] | None = None,
    groups: tuple[str, ...] = ("system:authenticated",),
) -> str:
    """Return the refusal of a write, whichever profile says it."""
    world = asked(
        "CREATE" if old is None else "UPDATE", HOOKS,
        user=user, groups=groups, namespace="", name="injector", old=old, new=new,
    )  # fmt: skip
    found = [
        refusal(POLICY, {**world, "params": {"spec": spec}})
        for spec in (
            {
                "stage": one.stage.value,
                **({"users": [*one.users]} if one.users else {}),
                **({"groups": [*one.groups]} if one.groups else {}),
                **({"default": True} if one.default else {}),
            }
            for one in PROFILES
        )
    ]
    return "".join(found)


REACHES = [
    pytest.param(hook(), "its own backend, kube-system", id="everywhere"),
    pytest.param(hook(namespaceSelector=only("kube-system")), "kube-system", id="named"),
    pytest.param(
        hook(namespaceSelector=only("mesh", operator="NotIn")), "kube-system", id="not-left-out"
    ),
    pytest.param(
        hook(namespaceSelector={"matchLabels": {"kubernetes.io/metadata.name": "mesh"}}),
        "its own backend",
        id="itself",
    ),
    pytest.param(
        hook(rules=[rule("*", "*")], namespaceSelector=APART), "nodes, leases", id="all-but-two"
    ),
    pytest.param(hook(rules=[rule("", "nodes/status")]), "nodes", id="node-status"),
    pytest.param(
        hook(rules=[rule("", "pods/binding")]), "its own backend, kube-system", id="places-of-pods"
    ),
    pytest.param(
        hook(rules=[rule("", "serviceaccounts/*")], namespaceSelector=only("mesh")),
        "its own backend",
        id="tokens-of-its-own",
    ),
    pytest.param(
        hook(rules=[rule("coordination.k8s.io", "leases")], namespaceSelector=APART),
        "leases",
        id="heartbeats",
    ),
]
NARROW = [
    pytest.param(hook(failurePolicy="Ignore"), id="fails-open"),
    pytest.param(hook(namespaceSelector=APART), id="left-out-by-name"),
    pytest.param(hook(namespaceSelector=OPTED_IN), id="asked-for-by-label"),
    pytest.param(hook(objectSelector=OPTED_IN), id="objects-by-label"),
    pytest.param(hook(matchConditions=[{"name": "a", "expression": "true"}]), id="conditions"),
    pytest.param(hook(rules=[rule("example.com", "certificates")]), id="its-own-kinds"),
    pytest.param(
        hook(rules=[rule("", "pods/binding")], namespaceSelector=APART), id="places-elsewhere"
    ),
    pytest.param(hook(rules=[rule("", "pods/eviction", "pods/exec")]), id="what-starts-nothing"),
    pytest.param(
        hook(
            rules=[rule("", "*", operations=["UPDATE"], scope="Namespaced")],
            namespaceSelector=only("mesh"),
        ),
        id="no-subresource",
    ),
    pytest.param(hook(rules=[rule("*", "*", scope="Cluster", operations=["CONNECT"])]), id="none"),
    pytest.param(hook(rules=[]), id="no-rules"),
]


@pytest.mark.parametrize(("given_hook", "words"), REACHES)
def test_what_must_work_while_it_is_down_is_not_newly_matched(
    given_hook: dict[str, Any], words: str
) -> None:
    """Whether it is made so, comes to be so, or comes to fail closed; not if it was so before."""
    made = by(MESH, configuration(given_hook))
    assert f"would match {words}, " in made
    assert "[suture-webhook-safety]" in made
    narrow = configuration(hook(namespaceSelector=OPTED_IN))
    assert f"would match {words}, " in by(MESH, configuration(given_hook), narrow)
    failing_open = configuration({**given_hook, "failurePolicy": "Ignore"})
    assert f"would match {words}, " in by(MESH, configuration(given_hook), failing_open)
    rotated = {**given_hook, "clientConfig": {**given_hook["clientConfig"], "caBundle": "QQ=="}}
    assert by(MESH, configuration(rotated), configuration(given_hook)) == ""
    assert by(MESH, configuration(), configuration(given_hook)) == ""


def test_no_expression_is_longer_than_is_read() -> None:
    """One that is would be an error, and an error of this policy refuses nobody."""
    assert all(len(one["expression"]) <= MAX_CHARS for one in POLICY["spec"]["variables"])


SLOW = hook(failurePolicy="Ignore", timeoutSeconds=10, rules=[rule("*", "*")])


@pytest.mark.parametrize(
    ("was", "is_now", "refused"),
    [
        pytest.param(None, SLOW, True, id="new"),
        pytest.param({**SLOW, "timeoutSeconds": 3}, SLOW, True, id="waits-longer"),
        pytest.param({**SLOW, "rules": [PODS]}, SLOW, True, id="reaches-further"),
        pytest.param(SLOW, {**SLOW, "timeoutSeconds": 30}, False, id="as-before"),
        pytest.param({**SLOW, "failurePolicy": "Fail"}, SLOW, False, id="failed-closed-before"),
        pytest.param(None, {**SLOW, "timeoutSeconds": 4}, False, id="soon-enough"),
        pytest.param(
            None,
            {**SLOW, "namespaceSelector": only("kube-system", "kube-node-lease", operator="NotIn")},
            False,
            id="left-out",
        ),
    ],
)
def test_what_fails_open_does_not_keep_leases_waiting(
    was: dict[str, Any] | None, is_now: dict[str, Any], *, refused: bool
) -> None:
    """Who renews a lease has given up before the API server lets the write pass."""
    found = by(MESH, configuration(is_now), configuration(was) if was else None)
    assert ("would match leases for too long, " in found) is refused
    assert bool(found) is refused


@pytest.mark.parametrize("given_hook", NARROW)
def test_what_is_not_certain_passes(given_hook: dict[str, Any]) -> None:
    """A label or a condition may spare what matters; what fails open stands in nobody's way."""
    assert by(MESH, configuration(given_hook)) == ""
    assert by(MESH, configuration(given_hook), configuration()) == ""


def test_the_second_webhook_of_a_configuration_is_weighed_by_itself() -> None:
    """That another one matches it already is no excuse: it has a backend of its own."""
    second = hook(name="validate.mesh.example.com")
    assert by(MESH, configuration(hook(), second), configuration(hook()))


BUNDLE = "Q" * 400
NAMED: dict[str, Any] = {"service": {"namespace": "mesh", "name": "injector"}}
ELSEWHERE = {"service": {"namespace": "mesh", "name": "injector-2"}}
KNOWN = hook(namespaceSelector=OPTED_IN, clientConfig={**NAMED, "caBundle": BUNDLE})
FILLED_IN = {"cert-manager.io/inject-ca-from": "mesh/injector"}


@pytest.mark.parametrize(
    ("given_hook", "noted", "refused"),
    [
        pytest.param({"clientConfig": NAMED}, {}, True, id="gone"),
        pytest.param({"clientConfig": {**NAMED, "caBundle": "Cg=="}}, {}, True, id="blank"),
        pytest.param(
            {"clientConfig": NAMED, "matchConditions": [{"name": "a", "expression": "true"}]},
            {}, True, id="whatever-it-matches",
        ),
        pytest.param({"clientConfig": NAMED}, {"mesh/note": "a"}, True, id="noted-otherwise"),
        pytest.param({"clientConfig": NAMED}, FILLED_IN, False, id="filled-in-by-somebody"),
        pytest.param(
            {"clientConfig": {**NAMED, "caBundle": "R" * 300}}, {}, False, id="another"
        ),
        pytest.param({"clientConfig": ELSEWHERE}, {}, False, id="another-service"),
        pytest.param({"clientConfig": {"url": "https://a"}}, {}, False, id="by-address"),
        pytest.param({"clientConfig": NAMED, "failurePolicy": "Ignore"}, {}, False, id="open"),
        pytest.param({"clientConfig": NAMED, "name": "new.example.com"}, {}, False, id="new"),
    ],
)  # fmt: skip
def test_what_vouches_for_a_webhook_is_not_taken_away(
    given_hook: dict[str, Any], noted: dict[str, str], *, refused: bool
) -> None:
    """No call to a fail-closed webhook would be believed; unless somebody is asked to fill it in."""
    after = configuration({**KNOWN, **given_hook})
    after["metadata"]["annotations"] = noted
    found = by(MESH, after, configuration(KNOWN))
    assert ("would lose its caBundle: every call to inject.mesh.example.com" in found) is refused
    assert bool(found) is refused
    assert by(MESH, after) == "", "what is new is filled in later"


ASKERS = [
    pytest.param("mesh@example.com", (), True, id="named"),
    pytest.param("somebody", ("robots",), True, id="by-group"),
    pytest.param(CALM, ("system:serviceaccounts",), False, id="another-stage"),
    pytest.param(CALM, ("robots",), False, id="named-comes-before-its-groups"),
    pytest.param("system:serviceaccount:a:b", (), True, id="default"),
    pytest.param("system:serviceaccount:a:b", ("quiet",), False, id="by-group-not-default"),
    pytest.param("system:serviceaccount:suture-system:suture", (), False, id="suture"),
    pytest.param("alice", ("people",), False, id="a-person"),
    pytest.param(MESH, ("oncall",), False, id="break-glass"),
]


@pytest.mark.parametrize(("user", "groups", "refused"), ASKERS)
def test_whom_it_refuses(user: str, groups: tuple[str, ...], *, refused: bool) -> None:
    """Whoever is enforced, by the profile that is theirs; nobody else."""
    assert bool(by(user, configuration(hook()), groups=groups)) is refused


def test_it_is_bound_to_every_profile_and_never_in_the_way_of_repairs() -> None:
    """Without its parameters, or their type, it refuses nobody."""
    assert BINDING["spec"]["paramRef"] == {"selector": {}, "parameterNotFoundAction": "Allow"}
    assert POLICY["spec"]["failurePolicy"] == "Ignore"


SELECTORS = st.fixed_dictionaries(
    {},
    optional={
        "matchLabels": st.dictionaries(
            st.sampled_from(["kubernetes.io/metadata.name", "a"]), WORDS, max_size=2
        ),
        "matchExpressions": st.lists(
            st.fixed_dictionaries(
                {
                    "key": st.sampled_from(["kubernetes.io/metadata.name", "a"]),
                    "operator": st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"]),
                },
                optional={"values": st.lists(st.sampled_from(["kube-system", "mesh"]))},
            ),
            max_size=2,
        ),
    },
)
CONFIGURATIONS = st.none() | st.fixed_dictionaries(
    {"metadata": st.fixed_dictionaries({}, optional={"name": WORDS})},
    optional={
        "webhooks": st.lists(
            st.fixed_dictionaries(
                {
                    "name": WORDS,
                    "clientConfig": st.sampled_from(
                        [
                            {"url": "u"},
                            {"service": {"namespace": "mesh", "name": "s"}},
                            {"service": {"namespace": "mesh", "name": "s"}, "caBundle": BUNDLE},
                        ]
                    ),
                },
                optional={
                    "failurePolicy": st.sampled_from(["Fail", "Ignore"]),
                    "namespaceSelector": SELECTORS,
                    "objectSelector": SELECTORS,
                    "matchConditions": st.just([]),
                    "timeoutSeconds": st.sampled_from([1, 10]),
                    "rules": st.lists(
                        st.sampled_from([PODS, rule("*", "*"), rule("", "nodes"), {}]), max_size=2
                    ),
                },
            ),
            max_size=3,
        )
    },
)


@settings(max_examples=200)
@given(WORLDS, CONFIGURATIONS, CONFIGURATIONS, st.none() | st.dictionaries(WORDS, JSON))
def test_it_never_errs(
    world: dict[str, Any],
    old: dict[str, Any] | None,
    new: dict[str, Any] | None,
    spec: dict[str, Any] | None,
) -> None:
    """Whatever is written, by whom and under what profile, there is an answer."""
    for params in (*({"spec": {"stage": "enforce", "default": True}},), {"spec": spec or {}}, {}):
        refusal(POLICY, {**world, "object": new, "oldObject": old, "params": params})


def labelled(
    labels: dict[str, str] | None,
    new: dict[str, Any],
    old: dict[str, Any] | None = None,
    *,
    user: str = MESH,
    groups: tuple[str, ...] = ("system:authenticated",),
) -> str:
    """Return the refusal of a write while kube-system has some labels."""
    world = asked(
        "CREATE" if old is None else "UPDATE", HOOKS,
        user=user, groups=groups, namespace="", name="injector", old=old, new=new,
    )  # fmt: skip
    metadata = {"name": "kube-system"} | ({} if labels is None else {"labels": labels})
    return refusal(SYSTEM, {**world, "params": {"metadata": metadata}})


def asks(*expressions: dict[str, Any], **labels: str) -> dict[str, Any]:
    """Return a webhook that looks into namespaces by labels."""
    selector = {"matchExpressions": [*expressions], "matchLabels": labels}
    return hook(namespaceSelector=selector)


LEFT_OUT = {"key": "mesh/injection", "operator": "NotIn", "values": ["disabled"]}
UNMARKED = {"key": "mesh/ignore", "operator": "DoesNotExist"}


@pytest.mark.parametrize(
    ("given_hook", "labels", "refused"),
    [
        pytest.param(asks(LEFT_OUT), None, True, id="no-labels"),
        pytest.param(asks(LEFT_OUT), {"mesh/injection": "enabled"}, True, id="another-value"),
        pytest.param(asks(LEFT_OUT), {"mesh/injection": "disabled"}, False, id="left-out"),
        pytest.param(asks(UNMARKED), {}, True, id="unmarked"),
        pytest.param(asks(UNMARKED), {"mesh/ignore": ""}, False, id="marked"),
        pytest.param(asks(UNMARKED, LEFT_OUT), {"mesh/ignore": ""}, False, id="each-must-hold"),
        pytest.param(asks(injection="enabled"), {"injection": "enabled"}, True, id="asked-for"),
        pytest.param(asks(injection="enabled"), {"injection": "off"}, False, id="not-asked-for"),
        pytest.param(
            asks({"key": "tier", "operator": "In", "values": ["a", "b"]}), {"tier": "b"}, True,
            id="one-of-some",
        ),
        pytest.param(
            asks({"key": "tier", "operator": "In", "values": ["a"]}), {}, False, id="of-others"
        ),
        pytest.param(
            asks({"key": "tier", "operator": "Exists"}), {"tier": ""}, True, id="whatever-value"
        ),
        pytest.param(asks({"key": "tier", "operator": "Exists"}), {}, False, id="no-such-label"),
        pytest.param(
            {**asks(LEFT_OUT), "objectSelector": {"matchExpressions": [UNMARKED]}}, {}, True,
            id="objects-that-say-nothing",
        ),
        pytest.param({**asks(LEFT_OUT), "objectSelector": OPTED_IN}, {}, False, id="objects-asked"),
        pytest.param({**asks(LEFT_OUT), "failurePolicy": "Ignore"}, {}, False, id="fails-open"),
    ],
)  # fmt: skip
def test_labels_of_kube_system_decide(
    given_hook: dict[str, Any], labels: dict[str, str] | None, *, refused: bool
) -> None:
    """Those of now; whether it is made so or comes to be so, and not what is so already."""
    made = configuration(given_hook)
    words = "fails closed and would match kube-system, as kube-system is labelled now"
    assert (words in labelled(labels, made)) is refused
    assert bool(labelled(labels, made, configuration())) is refused
    assert labelled(labels, made, made) == ""
    assert SYSTEM_BINDING["spec"]["paramRef"]["name"] == "kube-system"


@pytest.mark.parametrize(("user", "groups", "refused"), ASKERS)
def test_whom_labels_matter_to(user: str, groups: tuple[str, ...], *, refused: bool) -> None:
    """As of when it was written: whoever was enforced then."""
    assert bool(labelled({}, configuration(asks(UNMARKED)), user=user, groups=groups)) is refused


@settings(max_examples=200)
@given(WORLDS, CONFIGURATIONS, CONFIGURATIONS, st.none() | st.dictionaries(WORDS, WORDS))
def test_nor_does_the_policy_that_knows_labels(
    world: dict[str, Any],
    old: dict[str, Any] | None,
    new: dict[str, Any] | None,
    labels: dict[str, str] | None,
) -> None:
    """Whatever is written, by whom, and however kube-system is labelled."""
    params = {"metadata": {} if labels is None else {"labels": labels}}
    refusal(SYSTEM, {**world, "object": new, "oldObject": old, "params": params})
