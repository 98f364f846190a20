"""CEL as an API server would evaluate it, near enough for pure tests: requests as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from cel_expr_python import cel
from hypothesis import strategies as st

from suture.install.lanes import LaneRule, lanes
from suture.install.settings import Installation

_CONFIG = """
name: tests
extensions:
- {name: strings, version: 2}
"""
_NAMES = ("request", "object", "oldObject", "params", "variables", "namespaceObject")

Document = dict[str, Any]


@cache
def _environment() -> cel.Env:
    return cel.NewEnv(
        config=cel.NewEnvConfigFromYaml(_CONFIG),
        variables=dict.fromkeys(_NAMES, cel.Type.DYN),
    )


@cache
def _compiled(expression: str) -> cel.Expression:
    return _environment().compile(expression)


def evaluate(expression: str, world: Mapping[str, Any]) -> Any:
    """Return the value of an expression. Errors: AssertionError where the API server had one."""
    whole = {"object": None, "oldObject": None, "params": None, "variables": {}} | dict(world)
    value = _compiled(expression).eval(_environment().Activation(whole))
    assert value.type() not in (cel.Type.ERROR, cel.Type.UNKNOWN), f"{value} in {expression}"
    return value.plain_value()


def lanes_of(installation: Installation, world: Mapping[str, Any]) -> list[str]:
    """Return the lanes that a request is in; every condition of every lane is evaluated."""
    return [lane.name for lane in lanes(installation) if _all(lane, world)]


def _all(lane: LaneRule, world: Mapping[str, Any]) -> bool:
    found = [evaluate(condition.expression, world) for condition in lane.conditions]
    assert all(isinstance(one, bool) for one in found)
    return all(found)


def refusal(policy: Document, world: Mapping[str, Any]) -> str:
    """Return the message with which a policy refuses a request, empty when it lets it pass."""
    spec = policy["spec"]
    if not all(evaluate(one["expression"], world) for one in spec.get("matchConditions", ())):
        return ""
    variables: Document = {}
    for variable in spec["variables"]:
        variables[variable["name"]] = evaluate(
            variable["expression"], {**world, "variables": variables}
        )
    for validation in spec["validations"]:
        here = {**world, "variables": variables}
        if evaluate(validation["expression"], here) is not True:
            message = evaluate(validation["messageExpression"], here)
            assert isinstance(message, str)
            assert "\n" not in message
            return message
    return ""


def asked(
    operation: str,
    resource: str,
    *,
    user: str = "system:serviceaccount:infra:operator",
    groups: tuple[str, ...] = ("system:serviceaccounts", "system:authenticated"),
    namespace: str = "shop",
    name: str = "web",
    old: Any = None,
    new: Any = None,
) -> Document:
    """Return a request as an API server shows it: `services`, `deployments.apps/scale`."""
    kind, _, subresource = resource.partition("/")
    plural, _, group = kind.partition(".")
    request: Document = {
        "operation": operation,
        "resource": {"group": group, "version": "v1", "resource": plural},
        "userInfo": {"username": user, "groups": list(groups)},
    }
    # WHY: the API server leaves out what is empty.
    for key, value in (("namespace", namespace), ("name", name), ("subResource", subresource)):
        if value:
            request[key] = value
    if not groups:
        del request["userInfo"]["groups"]
    return {"request": request, "object": new, "oldObject": old}


def thing(**metadata: Any) -> Document:
    """Return an object as a review shows it."""
    spec = metadata.pop("spec", None)
    return {"metadata": {"name": "web", **metadata}} | ({} if spec is None else {"spec": spec})


# WHY few letters: this CEL takes unprintable keys of a map for duplicates.
WORDS = st.text("ab'\\n", max_size=3)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | WORDS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "replicas"]), inner)
    ),
    max_leaves=6,
)
METADATA = st.fixed_dictionaries(
    {},
    optional={
        "name": WORDS,
        "labels": st.dictionaries(WORDS, WORDS),
        "finalizers": st.lists(st.sampled_from(["a", "b"])),
        "ownerReferences": st.lists(st.dictionaries(st.sampled_from(["uid", "name"]), WORDS)),
    },
)
OBJECTS = st.none() | st.fixed_dictionaries(
    {}, optional={"metadata": METADATA, "spec": JSON, "data": JSON}
)
WORLDS = st.builds(
    asked,
    st.sampled_from(["CREATE", "UPDATE", "DELETE", "CONNECT"]),
    st.sampled_from(["pods", "pods/eviction", "services", "deployments.apps/scale", "x.example.com"]),
    user=st.sampled_from(
        ["", "alice", "system:serviceaccount:db:postgres", "system:serviceaccount:a:b", "system:serviceaccount:kube-system:job-controller",
         "system:serviceaccount:kube-system:replicaset-controller", "system:anonymous"]
    ),
    groups=st.lists(st.sampled_from(["robots", "held-robots", "system:nodes"])).map(tuple),
    namespace=st.sampled_from(["", "shop", "suture-system"]),
    name=st.sampled_from(["", "web"]),
    old=OBJECTS,
    new=OBJECTS,
)  # fmt: skip
