"""What a policy sees of labels, through whichever subresource an object is written."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from support.cluster import START, delete, graph_of, operator, thing, workload
from suture.adapters.files import load_policies
from suture.app.whatif import Questions
from suture.judge import World, judge
from suture.model.actor import UserInfo
from suture.model.graph import Graph
from suture.model.names import Gvk, ObjectKey, Resource
from suture.model.objects import ClusterObject
from suture.model.request import Request
from suture.policy.compile import compile_policies
from suture.policy.policyset import PolicySet
from suture.wire.yaml import read_documents

RULES = """\
apiVersion: policies.suture.dev/v1alpha1
kind: PolicyTemplate
metadata: {name: held}
spec:
  constraintKind: Held
  effects: [pods_lost]
  violations:
  - {each: pods_lost, when: effect.count > 0, message: "'held'"}
---
apiVersion: policies.suture.dev/v1alpha1
kind: PolicyTemplate
metadata: {name: read}
spec:
  constraintKind: Read
  effects: [pods_lost]
  violations:
  - when: "effects.pods_lost.size() > 0 && request.labels[?'tier'].orValue('') == 'gold'"
    message: "'read'"
---
apiVersion: policies.suture.dev/v1alpha1
kind: Read
metadata: {name: read}
---
"""
SELECTORS = (
    "matchLabels: {tier: gold}",
    "matchExpressions: [{key: tier, operator: In, values: [gold, silver]}]",
    "matchExpressions: [{key: tier, operator: NotIn, values: [gold]}]",
    "matchExpressions: [{key: tier, operator: Exists}]",
    "matchExpressions: [{key: tier, operator: DoesNotExist}]",
)
HELD = """\
---
apiVersion: policies.suture.dev/v1alpha1
kind: Held
metadata: {{name: held-{number}}}
spec: {{match: {{labelSelector: {{{selector}}}}}}}
"""
POLICIES: PolicySet = compile_policies(
    read_documents(
        RULES + "".join(HELD.format(number=n, selector=s) for n, s in enumerate(SELECTORS)),
        "t.yaml",
    )
)
_labels = st.dictionaries(
    st.just("tier"), st.sampled_from(["gold", "silver", "bronze"]), max_size=1
)


def found(request: Request, graph: Graph) -> list[str]:
    """Return the policies that refuse a request."""
    judgement = judge(request, operator(), World(POLICIES, graph=graph), START)
    return [one.constraint for one in judgement.findings.violations]


def of_subresource(request: Request, kind: Gvk, labels: dict[str, str]) -> Request:
    """Return a request as a review shows it: with the subresource's own document."""
    document = ClusterObject(request.key, "", kind, labels=labels)
    return msgspec.structs.replace(request, new=document)


@settings(max_examples=100)
@given(labels=_labels, written=_labels)
def test_a_scale_is_held_as_an_update_and_an_eviction_as_a_delete(
    labels: dict[str, str], written: dict[str, str]
) -> None:
    """The object's labels tell, and none that an Eviction or Scale has of its own."""
    deployment, replica_set, *pods = [
        msgspec.structs.replace(one, labels={**one.labels, **labels})
        for one in workload("web", replicas=2)
    ]
    graph = graph_of([deployment, replica_set, *pods])
    ask = Questions(graph, UserInfo("suture-test"))

    assert deployment.facts is not None
    smaller = msgspec.structs.replace(deployment.facts, replicas=0)
    [updated] = ask.update(
        deployment, msgspec.structs.replace(deployment, facts=smaller), ""
    ).requests
    [scaled] = ask.scale(deployment.key, 0, "").requests
    scale = of_subresource(scaled, Gvk("autoscaling", "v1", "Scale"), written)
    assert found(updated, graph)
    assert found(scale, graph) == found(updated, graph)

    [evicted] = ask.evict([pods[0].key], "").requests
    eviction = of_subresource(evicted, Gvk("policy", "v1", "Eviction"), written)
    assert found(eviction, graph) == found(delete(pods[0]), graph)


def test_of_an_object_that_is_not_known_its_subresource_tells() -> None:
    """What is not watched is judged by what the review shows, as before."""
    widget = thing(Resource("example.com", "widgets"), "w", "shop", labels={"tier": "gold"})
    request = msgspec.structs.replace(delete(widget), subresource="status")
    judgement = judge(request, operator(), World(POLICIES, graph=graph_of([])), START)
    assert judgement.case.parent_labels is None
    assert POLICIES.constraints[0].match.matches(judgement.case)


def test_labels_that_nobody_reads_are_not_looked_up() -> None:
    """The pack reads none."""
    pack = load_policies()
    things = workload("web")
    graph = graph_of(things)
    key: ObjectKey = things[0].key
    [request] = Questions(graph, UserInfo("suture-test")).scale(key, 0, "").requests
    assert not pack.reads_labels
    assert judge(request, operator(), World(pack, graph=graph), START).case.parent_labels is None
    assert judge(request, operator(), World(POLICIES, graph=graph), START).case.parent_labels
