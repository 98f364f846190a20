"""Network policies as they add up: what pods of a namespace let in and out, before and after.

Beside `networkpolicies` and others, which ask for somebody. Of pods, by class; policies of one
layer add up, so that an allow rule of another one counts, and a policy that goes may take away what
it alone allowed. An address block is given the benefit of the doubt.
Source: networking/v1 NetworkPolicy: pods that no policy selects for a direction are open in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Final

from suture.impact.ground.change import Change
from suture.impact.ground.fit import Asked
from suture.impact.scene import Scene
from suture.impact.traffic.spaces import namespace_labels
from suture.model.edges import Selection
from suture.model.facts import NetworkPolicyFacts
from suture.model.graph import GraphView
from suture.model.names import (
    ADMIN_POLICIES,
    AUTHORIZATION_POLICIES,
    BASELINE_POLICIES,
    CALICO_GLOBAL_POLICIES,
    CALICO_POLICIES,
    CALICO_STORED_GLOBAL_POLICIES,
    CALICO_STORED_POLICIES,
    CILIUM_CLUSTER_POLICIES,
    CILIUM_POLICIES,
    CLUSTER_POLICIES,
    KUBE_SYSTEM,
    MESH_ROOT,
    NAMESPACES,
    NETWORK_POLICIES,
    PEER_AUTHENTICATIONS,
    SERVICES,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject
from suture.model.traffic import TrafficRule

_SINGLE: Final = ("/32", "/128")

NAMESPACES_ASKED: Final = 2_000
"""LIMIT: namespaces looked into for anybody whom a rule lets in; more are taken to have some."""

CLASSES_ASKED: Final = 2_000
"""LIMIT: classes of pods that are asked what they lose by one policy, 50 µs each, shared among the
namespaces that it reaches into; of kube-system all. More of a namespace fare as these do: a policy
that chooses so many chooses by what they have in common."""

Policies = Sequence[NetworkPolicyFacts]

Allows = Callable[[TrafficRule], bool]
"""Whether a rule lets through what is asked about."""

INSIDE: Final = (NETWORK_POLICIES, CILIUM_POLICIES, CALICO_POLICIES, CALICO_STORED_POLICIES)
"""Policies of a namespace."""

ABOVE: Final = (
    CILIUM_CLUSTER_POLICIES, ADMIN_POLICIES, BASELINE_POLICIES, CLUSTER_POLICIES,
    CALICO_GLOBAL_POLICIES, CALICO_STORED_GLOBAL_POLICIES,
)  # fmt: skip
"""Policies of the whole cluster."""

NETWORKS: Final = frozenset({*INSIDE, *ABOVE})
"""What the network itself holds to, whatever its pods run."""

LAYERS: Final = (
    NETWORKS,
    frozenset({PEER_AUTHENTICATIONS}),
    frozenset({AUTHORIZATION_POLICIES}),
)
"""What adds up with one another: the network, who speaks mutual TLS, and who may ask."""

POLICIES: Final = frozenset[Resource]().union(*LAYERS)
"""What shuts pods off. WHY not more: each network has its own kinds; these are read."""


def closes(change: Change) -> bool:
    """Whether a change may write or remove a policy."""
    made = change.rewritten
    return bool(change.direct) if made is None else made.after.key.resource in POLICIES


def reaches_of(scene: Scene) -> list[Reach]:
    """Return where the policies reach that are written or removed, by namespace."""
    return [Reach(scene, one, space) for one in written_policies(scene) for space in one.spaces]


def is_for(view: GraphView, rule: TrafficRule, kind: int) -> bool:
    """Whether a rule is for the pods of a class, of whatever namespace, on whatever port.

    WHY not by a single address: pods come and go with theirs, so that it is a node or is outside.
    """
    if rule.anybody or not all(one.endswith(_SINGLE) for one in rule.blocks):
        return True
    space = view.namespace(view.one_alike(kind))
    labels, spaces = view.labels(kind), namespace_labels(view, space)
    return any(in_space(one, space, spaces) and one.selector.matches(labels) for one in rule.pods)


class Written:
    """A policy that is written or removed: what it said, what it will say, and of which pods.

    `spaces`: the namespaces whose pods it may select, before or after. `created`: it was not there.
    `most`: how many classes of pods are asked in each of them.
    """

    def __init__(
        self,
        view: GraphView,
        source: ClusterObject,
        before: ClusterObject | None,
        after: ClusterObject | None,
    ) -> None:
        self.source, self.created = source, before is None
        self.old, self.new = facts_of(before), facts_of(after)
        self.spaces = _spaces_of(view, source.key.namespace, (*self.old, *self.new))
        self.most = max(1, CLASSES_ASKED // max(1, len(self.spaces)))


def written_policies(scene: Scene) -> Iterator[Written]:
    """Yield the policies that are written or removed."""
    made, view = scene.change.rewritten, scene.view
    if scene.change.direct:
        # Of a namespace that goes the pods go too.
        for row in scene.change.direct:
            if view.resource(row) in POLICIES:
                thing = view.at(row)
                yield Written(view, thing, thing, None)
    elif made is not None:
        yield Written(view, made.after, made.before, made.after)


def _spaces_of(view: GraphView, own: str, policies: Policies) -> list[str]:
    """Return the namespaces whose pods a policy of one, or of the whole cluster, may select."""
    if own and all(one.namespaces is None for one in policies):
        return [own]
    return [
        view.name(row)
        for row in view.rows(NAMESPACES)[:NAMESPACES_ASKED]
        if any(
            one.namespaces is not None and one.namespaces.matches(view.labels(row))
            for one in policies
        )
    ]


class Reach:
    """The pods of one namespace before and after a policy is written."""

    def __init__(self, scene: Scene, written: Written, space: str) -> None:
        view, source, gone = scene.view, written.source.key, set(scene.change.direct)
        self._most = None if space == KUBE_SYSTEM else written.most
        self.of, self._view, self._space = source.resource, view, space
        self._labels = namespace_labels(view, space)
        self._old, self._new = self._applying(written.old), self._applying(written.new)
        layer = next(one for one in LAYERS if source.resource in one)
        rows = [row for kind in layer for row in _of_space(view, kind, space)]
        others = [
            facts
            for row in rows
            # WHY by name: the same policy may be listed as it is stored and as it is served.
            if row not in gone and not _same(source, view.key(row))
            for facts in facts_of(view.at(row))
        ]
        self._others = self._applying(others)
        self._met: dict[int, tuple[Policies, Policies]] = {}
        self._found: list[int] | None = None

    def _applying(self, policies: Policies) -> Policies:
        """Return which policies may select pods of this namespace."""
        return [
            one
            for one in policies
            if one.namespaces is None or one.namespaces.matches(self._labels)
        ]

    def matched(self, policies: Policies) -> int:
        """Return how many running pods policies select."""
        chosen = [one.selector for one in self._applying(policies)]
        kinds = self._view.classes_matching(self._space, chosen)
        return sum(self._view.running_alike(kind)[0] for kind in kinds)

    def shut_to(self, asking: Callable[[int], Allows | None]) -> Iterator[int]:
        """Yield the Services of which no serving pod lets in any more who calls it.

        `asking` says of a Service by what rules its caller is let in; None where it has none.
        """
        view = self._view
        asked = {row for kind in self._reached() for row in view.selecting_class(kind, SERVICES)}
        for row in sorted(asked):
            allows = asking(row)
            if allows is None:
                continue
            kinds = view.classes_selected(row)
            lost = any(self._lost(kind, egress=False, allows=allows) for kind in kinds)
            if lost and not any(self._is_called(kind, allows) for kind in kinds):
                yield row

    def ways_out(self) -> Iterator[tuple[int, Callable[[Allows], bool]]]:
        """Yield the classes that may be shut in, and whether they lose what a rule allows."""
        policies = (*self._old, *self._new)
        if not any(one.egress or any(x.egress for x in one.rules) for one in policies):
            return
        for kind in self._reached():
            yield kind, partial(self._lost_out, kind)

    def _lost_out(self, kind: int, allows: Allows) -> bool:
        return self._lost(kind, egress=True, allows=allows)

    def _is_called(self, kind: int, allows: Allows) -> bool:
        """Whether who calls reaches serving pods of a class after the write.

        WHY by the host: no policy holds for pods of the node's own network.
        """
        if not self._view.running_alike(kind)[1]:
            return False
        if Asked(self._view).of(self._view.one_alike(kind)).host_network:
            return True
        return is_open(self._selecting(kind)[1], egress=False, allows=allows)

    def _reached(self) -> list[int]:
        """Return the classes of running pods that the policy selects, before or after."""
        if self._found is None:
            selectors = [facts.selector for facts in (*self._old, *self._new)]
            kinds = self._view.classes_matching(self._space, selectors)
            running = (kind for kind in kinds if self._view.running_alike(kind)[0])
            self._found = list(islice(running, self._most))
        return self._found

    def _lost(self, kind: int, *, egress: bool, allows: Allows) -> bool:
        """Whether something is allowed before, and no more after."""
        old, new = self._selecting(kind)
        before = is_open(old, egress=egress, allows=allows)
        return before and not is_open(new, egress=egress, allows=allows)

    def _selecting(self, kind: int) -> tuple[Policies, Policies]:
        """Return the policies that select pods of a class, before and after.

        WHY kept: many questions are asked of a class, and of all classes of a Service in turn.
        """
        found = self._met.get(kind)
        if found is None:
            labels = self._view.labels(kind)
            others, old, new = (
                [one for one in policies if one.selector.matches(labels)]
                for policies in (self._others, self._old, self._new)
            )
            found = self._met[kind] = [*others, *old], [*others, *new]
        return found


def _of_space(view: GraphView, kind: Resource, space: str) -> Sequence[int]:
    """Return the policies of a kind that may be for a namespace."""
    if kind in ABOVE:
        return view.rows(kind)
    own = view.rows(kind, space)
    return own if kind in INSIDE or space == MESH_ROOT else [*own, *view.rows(kind, MESH_ROOT)]


def _same(one: ObjectKey, other: ObjectKey) -> bool:
    """Whether two policies are one and the same, in one group or in two."""
    return (
        one.name == other.name
        and one.namespace == other.namespace
        and one.resource.plural == other.resource.plural
        and one.resource.group.rpartition("crd.")[2] == other.resource.group.rpartition("crd.")[2]
    )


def facts_of(thing: ClusterObject | None) -> tuple[NetworkPolicyFacts, ...]:
    """Return what a policy says, where it is there and says what is read."""
    facts = thing.facts if thing is not None else None
    return (facts,) if isinstance(facts, NetworkPolicyFacts) else ()


def is_open(applying: Policies, *, egress: bool, allows: Allows) -> bool:
    """Whether the policies that select some pods let something through: all do where none closes.

    What a policy allows that closes nothing counts beside one that does.
    """
    if not any(facts.egress if egress else facts.ingress for facts in applying):
        return True
    return any(rule.egress is egress and allows(rule) for facts in applying for rule in facts.rules)


def for_anybody(rule: TrafficRule) -> bool:
    """Whether a rule is for anybody, or for addresses, which may be anybody's."""
    return rule.anybody or bool(rule.blocks)


def in_space(one: Selection, namespace: str, labels: Mapping[str, str]) -> bool:
    """Whether a peer may be in a namespace of such labels."""
    if one.namespaces is None:
        return one.namespace == namespace
    return one.namespaces.matches(labels)
