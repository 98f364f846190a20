"""What operators have spent is in the case, as plain numbers, where some rule reads it."""

from __future__ import annotations

import pytest

from support.cluster import START, delete, graph_of, operator, service
from suture.adapters.files import load_policies, read_pack
from suture.judge import World, judge
from suture.policy.compile import compile_policies
from suture.wire.yaml import read_documents

RULE = """\
apiVersion: policies.suture.dev/v1alpha1
kind: PolicyTemplate
metadata: {name: spender}
spec:
  constraintKind: Spender
  violations:
  - when: "usage.exists(u, u.key == 'services' && u.used >= 2)"
    message: >-
      "%d of %d services are spent".format([usage[0].used, usage[0].allowance])
---
apiVersion: policies.suture.dev/v1alpha1
kind: Spender
metadata: {name: spender}
spec: {enforcementAction: warn}
"""


def test_rules_read_what_was_spent() -> None:
    """Each delete is told of those before it, those that are not yet seen included."""
    policies = compile_policies([*read_pack(), *read_documents(RULE, "rule.yaml")])
    services = [service(f"s-{number}", "shop", app="") for number in range(4)]
    world = World(policies, graph=graph_of(services))
    warnings = [
        judge(delete(one), operator(), world, START.plus_s(number)).verdict.warnings
        for number, one in enumerate(services)
    ]
    assert [bool(one) for one in warnings] == [False, False, True, True]
    assert "3 of 5 services are spent" in warnings[3][0]


def test_what_nobody_reads_is_not_looked_up() -> None:
    """The pack reads none of it."""
    policies = load_policies()
    world = World(policies, graph=graph_of([service("s", "shop", app="")]))
    judgement = judge(delete(service("s", "shop", app="")), operator(), world, START)
    assert not policies.reads_usage
    assert judgement.case.usage == ()


@pytest.mark.parametrize("word", ["usage", "request.name"])
def test_a_set_knows_whether_it_reads_usage(word: str) -> None:
    text = RULE.replace("usage.exists(u, u.key == 'services' && u.used >= 2)", "true")
    text = text.replace(
        '"%d of %d services are spent".format([usage[0].used, usage[0].allowance])',
        "string(usage.size())" if word == "usage" else word,
    )
    assert compile_policies(read_documents(text, "t.yaml")).reads_usage is (word == "usage")
