"""Services that the own node alone would answer, and the nodes that have nobody who does.

Beside `dropped`, whose effect this is: the Service keeps its ports and its pods, and the pods of
all other nodes reach none of them. WHY not of traffic from outside: a load balancer asks nodes
whether they answer, and leaves out those that do not.
Source: core/v1 Service `internalTrafficPolicy` (kube-proxy drops what has no endpoint on its node).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from suture.impact.effects import EntriesDropped
from suture.impact.ground.bodies import traffic_inside
from suture.impact.ground.change import Rewritten
from suture.impact.ground.fit import Asked
from suture.impact.ground.readers import one_of_each
from suture.impact.scene import Scene, victim_of
from suture.impact.traffic.networkpolicies import is_dns
from suture.model.graph import GraphView
from suture.model.names import DAEMON_SETS, NODES, RESERVED
from suture.model.objects import PodFacts, ServiceFacts

LOCAL: Final = "Local"

NODES_ASKED: Final = 4_000
"""LIMIT: nodes that are asked whether their pods would lose a Service: 2 us each, 8 ms, for a write
that comes once in the life of a Service. Of more nothing is told."""


def nodes_left(scene: Scene, made: Rewritten) -> Iterable[EntriesDropped]:
    """Tell of the nodes whose pods would not reach a Service any more that answers them now.

    Critical where it belongs to the cluster itself, whose DNS every pod asks. WHY not an agent of
    some nodes: it is there for these, and nobody knows who asks it from elsewhere.
    """
    row, view = made.row, scene.view
    if row is None or not _turns_local(scene, made):
        return
    answering = _answering(view, row)
    if not answering or not (is_dns(view, row) or _by_others_than_agents(view, row)):
        return
    asking = _asking(view)
    left = sorted(asking - answering)
    if left:
        yield EntriesDropped(
            holder=victim_of(made.after),
            field="nodes by spec.internalTrafficPolicy",
            before=len(asking),
            dropped=len(left),
            entries=tuple(left[: scene.limit]),
            readers=0,
            critical=made.after.key.namespace.startswith(RESERVED),
        )


def _turns_local(scene: Scene, made: Rewritten) -> bool:
    """Whether a Service of pods, reached by an address, is answered by the own node from now on."""
    facts, request = made.after.facts, scene.request
    return (
        b'"Local"' in request.new_body
        and isinstance(facts, ServiceFacts)
        and facts.selector is not None
        and not facts.headless
        and traffic_inside(request.new_body) == LOCAL != traffic_inside(request.old_body)
    )


def _answering(view: GraphView, service: int) -> set[str]:
    """Return the nodes on which a pod is Ready behind a Service."""
    facts = (view.facts(pod) for pod in view.pods_of(service) if view.serves(pod))
    return {one.node for one in facts if isinstance(one, PodFacts) and one.node}


def _by_others_than_agents(view: GraphView, service: int) -> bool:
    """Whether any pod behind a Service is not there for its node."""
    makers = map(view.controller, one_of_each(view, view.classes_selected(service)))
    return any(maker < 0 or view.resource(maker) != DAEMON_SETS for maker in makers)


def _asking(view: GraphView) -> set[str]:
    """Return the nodes on which pods run that ask by names and addresses of the cluster."""
    asked = Asked(view)
    return {
        view.name(node)
        for node in view.rows(NODES)[:NODES_ASKED]
        if any(_asks(view, asked, pod) for pod in view.pods_on(node))
    }


def _asks(view: GraphView, asked: Asked, pod: int) -> bool:
    """Whether a pod runs in the network of the cluster; what a kubelet shows is on its node's."""
    return (
        not view.finished(pod)
        and not view.terminating(pod)
        and not asked.of(pod).host_network
        and all(owner.gvk.kind != "Node" for owner in view.owners(pod))
    )
