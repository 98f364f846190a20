"""Labels of a namespace that others go by: peers of network policies, webhooks, Pod Security.

Beside `selection`, which tells of pods and of what custom resources select: a namespace is selected
for the pods in it, by policies of other namespaces and by webhooks of the whole cluster.
Source: networking/v1 NetworkPolicyPeer (`namespaceSelector`); admissionregistration/v1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from suture.impact.effects import Confidence, Hollowed, SelectionChanged
from suture.impact.ground.bars import creation
from suture.impact.ground.change import Change, Rewritten
from suture.impact.scene import Scene
from suture.impact.traffic.policyreach import POLICIES
from suture.impact.workloads.room import pods_confined, without_room
from suture.model.edges import Selection
from suture.model.facts import NetworkPolicyFacts
from suture.model.graph import GraphView
from suture.model.matchsets import Match, matches
from suture.model.names import MUTATING_WEBHOOKS, NAMESPACES, VALIDATING_WEBHOOKS, Resource
from suture.model.objects import ClusterObject, Webhook, WebhookFacts

POLICIES_ASKED: Final = 20_000
"""LIMIT: network policies of one kind whose peers are asked: 1 µs each where none selects so."""

TOLD: Final = 64
"""LIMIT: peers of policies that are told of: a refusal needs one."""

CLASSES_ASKED: Final = 64
"""LIMIT: classes of pods of the namespace that a webhook is asked about, 5 µs each."""


def relabels_space(change: Change) -> bool:
    """Whether a change gives a namespace other labels."""
    made = change.rewritten
    return (
        made is not None
        and made.row is not None
        and made.before is not None
        and made.after.key.resource == NAMESPACES
        and made.before.labels != made.after.labels
        and not made.after.terminating
    )


def space_effects(scene: Scene) -> Iterator[SelectionChanged | Hollowed]:
    """Yield what would select the pods of a namespace no longer."""
    made = scene.change.rewritten
    if made is None or made.row is None or made.before is None:
        return
    name = made.after.key.name
    kinds = [kind for kind in scene.view.classes_in(name) if scene.running(kind)[0]]
    if kinds:
        yield from without_room(scene, pods_confined(scene, made))
        yield from _peers(scene, made, made.before, name)
        kinds = kinds[:CLASSES_ASKED]
        had, has = _webhooks(scene, name, made.before.labels, made.after.labels, kinds)
        if has < had:
            yield Hollowed(
                target=scene.victim(made.row),
                what="webhooks",
                before=had,
                after=has,
                population=scene.view.count(NAMESPACES),
                confidence=Confidence.BOUNDED,
            )


def _peers(
    scene: Scene, made: Rewritten, before: ClusterObject, name: str
) -> Iterator[SelectionChanged]:
    """Tell of policies that let the pods of a namespace through, and would not any more."""
    view, told = scene.view, 0
    for row, facts in _letting_go(view, before.labels, made.after.labels):
        if not _selects(view, row, facts):
            continue
        for peer in _dropped(view, facts, name, before.labels, made.after.labels):
            beside = sum(_ready(view, other, peer) for other in _others(view, peer, name))
            yield SelectionChanged(
                source=scene.victim(row),
                before=beside + _ready(view, name, peer),
                after=beside,
                kept=beside,
                empty=False,
                cause="labels",
                confidence=Confidence.BOUNDED,
            )
            told += 1
            if told == TOLD:
                return


def _letting_go(
    view: GraphView, old: Mapping[str, str], new: Mapping[str, str]
) -> Iterator[tuple[int, NetworkPolicyFacts]]:
    """Yield the policies of which a peer selects a namespace by the old labels alone.

    WHY first: hardly any does, whatever else it selects; and none that names no label that differs.
    """
    differ = [one for one in {*old, *new} if old.get(one) != new.get(one)]
    for resource in POLICIES:
        rows = view.rows(resource)[:POLICIES_ASKED]
        numbers, shared = view.shared_facts(rows, differ)
        found = {
            number: facts
            for number, facts in shared.items()
            if isinstance(facts, NetworkPolicyFacts)
            and any(
                one.namespaces is not None
                and one.namespaces.matches(old)
                and not one.namespaces.matches(new)
                for rule in facts.rules
                for one in rule.pods
            )
        }
        for row, number in zip(rows, numbers, strict=True) if found else ():
            if number in found:
                yield row, found[number]


def _selects(view: GraphView, row: int, facts: NetworkPolicyFacts) -> bool:
    """Whether a policy is about any pods; one of the whole cluster is taken to be."""
    space = view.namespace(row)
    return not space or bool(view.classes_matching(space, [facts.selector]))


def _dropped(
    view: GraphView,
    facts: NetworkPolicyFacts,
    name: str,
    old: Mapping[str, str],
    new: Mapping[str, str],
) -> Iterator[Selection]:
    """Yield the peers by which Ready pods of a namespace are let through, and by none then."""
    for egress in (False, True):
        rules = [rule for rule in facts.rules if rule.egress is egress]
        if any(rule.anybody and not rule.ports for rule in rules):
            continue
        # WHY by port: nearly every policy lets everybody be asked for names, and nothing else.
        open_to_all = {port for rule in rules if rule.anybody for port in rule.ports}
        rules = [rule for rule in rules if not (rule.ports and open_to_all.issuperset(rule.ports))]
        peers = {one: one.namespaces for rule in rules for one in rule.pods}
        if any(
            spaces and spaces.matches(new) and _ready(view, name, one)
            for one, spaces in peers.items()
        ):
            continue
        for one, spaces in peers.items():
            if spaces is not None and spaces.matches(old) and _ready(view, name, one):
                yield one


def _ready(view: GraphView, namespace: str, peer: Selection) -> int:
    return view.serving_selected(namespace, peer.selector)


def _others(view: GraphView, peer: Selection, name: str) -> Iterator[str]:
    for row in view.rows(NAMESPACES):
        other = view.name(row)
        matched = peer.namespaces is not None and peer.namespaces.matches(view.labels(row))
        if matched and other != name:
            yield other


def _webhooks(
    scene: Scene, name: str, old: Mapping[str, str], new: Mapping[str, str], kinds: list[int]
) -> tuple[int, int]:
    """Return how many webhooks are asked about new pods of a namespace, and how many still are.

    One that looks in from now on stands in for one of its sort that does not any more: so an
    injector hands a namespace over to its next revision.
    """
    view = scene.view
    asked: Counter[Resource] = Counter()
    still: Counter[Resource] = Counter()
    for row, one in hooks_by_space(view):
        resource = view.resource(row)
        asked[resource] += _asked(scene, one, name, old, kinds)
        still[resource] += _asked(scene, one, name, new, kinds)
    return asked.total(), sum(min(still[one], count) for one, count in asked.items())


def hooks_by_space(view: GraphView) -> Iterator[tuple[int, Webhook]]:
    """Yield the webhooks that choose the namespaces that they look into, by their rows."""
    for row in (*view.rows(MUTATING_WEBHOOKS), *view.rows(VALIDATING_WEBHOOKS)):
        facts = view.facts(row)
        hooks = facts.webhooks if isinstance(facts, WebhookFacts) else ()
        yield from ((row, one) for one in hooks if not one.namespace_selector.everything)


def _asked(
    scene: Scene, hook: Webhook, name: str, labels: Mapping[str, str], kinds: list[int]
) -> bool:
    view = scene.view
    calls = (creation(view, name, view.labels(kind), labels) for kind in kinds)
    return any(matches(hook, call, scene.evaluate) is not Match.NO for call in calls)
