"""Labels that one actor takes off node after node, while something asks for them.

Beside `capacity`, which says what one node's labels take along. A DaemonSet is led from node to
node by labels, and what runs elsewhere does not move for them: on one node that is ordinary work.
On node after node it ends the agents of a cluster, and leaves what runs nowhere else to go.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final

from suture.impact.causes.counters import unlabelled
from suture.impact.ground.change import Rewritten
from suture.impact.ground.fit import Asked, is_open, running
from suture.impact.scene import Scene
from suture.model.graph import GraphView
from suture.model.names import DAEMON_SETS, DEPLOYMENTS, NODES, STATEFUL_SETS
from suture.model.objects import ClusterObject, NodeFacts, WorkloadFacts
from suture.model.placement import Placement
from suture.model.writes import TEN_MINUTES_S

NODES_COUNTED: Final = 2_000
"""LIMIT: nodes whose labels are read to tell how many have one: 2 ms. Of more all are taken for
such, so that a larger share may go."""

SWEPT_PERCENT: Final = 5
"""Share of the nodes with a label that one actor may take it off within ten minutes; one always.
WHY so few: whoever means to close nodes closes them first, and those are not asked for."""

Loses = Callable[[Placement], bool]
"""Whether what a template asks for is no more what a node has."""


def asking_in_vain(scene: Scene, made: Rewritten, asked: Asked, loses: Loses) -> int:
    """Return the pods that ask for labels which an actor takes off node after node, this one too.

    Those of DaemonSets on the node, which end with the label; where there are none, those of
    workloads wherever they run.
    """
    before, after, row = made.before, made.after, made.row
    if scene.now is None or before is None or row is None:
        return 0
    gone = [key for key in before.labels if key not in after.labels]
    view, identity = scene.view, scene.request.user.username
    counted = view.history.writes.counted
    lately = {key: counted(unlabelled(identity, key), scene.now, TEN_MINUTES_S) for key in gone}
    swept = {key: nodes for key, nodes in lately.items() if nodes > 0}
    if not swept or not isinstance(before.facts, NodeFacts) or not is_open(before.facts):
        return 0
    keys = _beyond(view, swept)
    if not keys or _leads_here(view, keys, before, after):
        return 0
    ending = [
        pod
        for pod in running(view, row)
        if asked.stays(pod) and asked.of(pod).reads(keys) and loses(asked.of(pod))
    ]
    return len(ending) or _elsewhere(view, keys, loses)


def _beyond(view: GraphView, swept: Mapping[str, int]) -> list[str]:
    """Return the labels that as many nodes lost as may, or more."""
    rows = view.rows(NODES)
    if len(rows) > NODES_COUNTED:
        having = dict.fromkeys(swept, len(rows))
    else:
        labels = [view.labels(row) for row in rows]
        having = {key: sum(key in one for one in labels) + lost for key, lost in swept.items()}
    return [
        key for key, lost in swept.items() if lost >= max(1, having[key] * SWEPT_PERCENT // 100)
    ]


def _leads_here(
    view: GraphView, keys: Collection[str], before: ClusterObject, after: ClusterObject
) -> bool:
    """Whether a DaemonSet comes to a node because it loses a label: it takes over there."""
    daemons = view.rows(DAEMON_SETS)
    return any(
        isinstance(facts, WorkloadFacts)
        and facts.placement.reads(keys)
        and facts.placement.accepts(after.labels)
        and not facts.placement.accepts(before.labels)
        for facts in view.shared_facts(daemons)[1].values()
    )


def _elsewhere(view: GraphView, keys: Collection[str], loses: Loses) -> int:
    """Return how many pods of workloads ask for some labels of a node that does not run them."""
    found = 0
    for resource in (DEPLOYMENTS, STATEFUL_SETS):
        rows = view.rows(resource)
        numbers, shared = view.shared_facts(rows)
        sizes = {
            number: facts.status_replicas
            for number, facts in shared.items()
            if isinstance(facts, WorkloadFacts)
            and facts.placement.reads(keys)
            and loses(facts.placement)
        }
        found += sum(sizes.get(number, 0) for number in numbers) if sizes else 0
    return found
