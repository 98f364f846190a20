"""Labels of a namespace: who lets its pods through by them, and which webhooks look into it."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import namespace, view_of, webhook, workload
from support.writes import Body, body, trimmed
from suture.impact.effects import Hollowed, SelectionChanged
from suture.model.graph import GraphView
from suture.model.names import NETWORK_POLICIES
from suture.model.objects import ClusterObject, ServiceRef, WorkloadFacts
from suture.model.placement import Placement
from suture.model.selectors import Selector

IN = {"role": "front"}


def space(name: str, **labels: str) -> ClusterObject:
    one = namespace(name)
    return msgspec.structs.replace(one, labels={**one.labels, **labels})


def policy(*peers: Body, **spec: object) -> ClusterObject:
    rules = [{"from": list(peers)}] if peers else [{}]
    spec = {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": rules, **spec}
    one = body("NetworkPolicy", "p", "db", apiVersion="networking.k8s.io/v1", spec=spec)
    return trimmed(NETWORK_POLICIES, one)


def peer(**more: object) -> Body:
    return {"namespaceSelector": {"matchLabels": IN}, **more}


def told(*policies: ClusterObject, also: bool = False) -> list[tuple[int, int]]:
    """Tell of a namespace of three pods that loses its label; `also`: another one has it too."""
    before, after = space("web", **IN), space("web")
    more = [space("edge", **IN), *workload("edge", "edge", replicas=2)] if also else []
    view = view_of(
        before, workload("web", "web", replicas=3), namespace("db"), workload("db", "db"),
        more, policies,
    )  # fmt: skip
    found = effects(impact_of(update(before, after), view), SelectionChanged)
    return [(one.before, one.after) for one in found]


def test_a_policy_lets_nobody_through_any_more() -> None:
    """The only namespace of its peer; where another has the label too, it is fewer."""
    assert told(policy(peer())) == [(3, 0)]
    assert told(policy(peer()), also=True) == [(5, 2)]


@pytest.mark.parametrize(
    "given",
    [
        policy(),
        policy(peer(), {"namespaceSelector": {}}),
        policy({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "web"}}}),
        policy(peer(podSelector={"matchLabels": {"app": "none"}})),
        policy(peer(), podSelector={"matchLabels": {"app": "none"}}),
    ],
)
def test_who_is_let_through_all_the_same(given: ClusterObject) -> None:
    """By everybody's rule, another peer or the name; a peer or a policy of no pods loses none."""
    assert told(given) == []


DNS = {"port": 53, "protocol": "UDP"}
WEB = {"port": 80}


def ported(*ports: Body, everybody: tuple[Body, ...] = (DNS,)) -> ClusterObject:
    """Return a policy that lets a peer through on some ports, and everybody on others."""
    rules = [{"from": [peer()], **({"ports": list(ports)} if ports else {})}]
    return policy(peer(), ingress=[*rules, {"ports": list(everybody)}])


def test_everybody_may_come_in_by_one_port_and_a_peer_by_all() -> None:
    """Nearly every policy lets everybody be asked for names, which makes up for nothing else."""
    assert told(ported()) == [(3, 0)]
    assert told(ported(WEB)) == [(3, 0)]
    assert told(ported(WEB, DNS)) == [(3, 0)]


def test_what_everybody_may_do_a_peer_needs_no_label_for() -> None:
    """The rule of everybody has its ports, or all."""
    assert told(ported(DNS)) == []
    assert told(ported(WEB, DNS, everybody=(DNS, WEB))) == []
    assert told(policy(peer(), ingress=[{"from": [peer()], "ports": [WEB]}, {}])) == []


def looked_into(before: ClusterObject, after: ClusterObject) -> list[tuple[int, int]]:
    hooks = [
        webhook("inject", ServiceRef("mesh", "inject"), namespaces=Selector.of(IN)),
        webhook("judge", ServiceRef("rules", "judge")),
    ]
    view: GraphView = view_of(before, workload("web", "web"), hooks)
    return [
        (one.before, one.after) for one in effects(impact_of(update(before, after), view), Hollowed)
    ]


def test_a_webhook_is_asked_about_a_namespace_no_more() -> None:
    """By a label that goes; not by one that comes, or that nothing reads."""
    assert looked_into(space("web", **IN), space("web")) == [(1, 0)]
    assert looked_into(space("web"), space("web", **IN)) == []
    assert looked_into(space("web", **IN), space("web", team="a", **IN)) == []


def test_a_webhook_of_the_next_revision_stands_in() -> None:
    """A namespace is handed over by one write: a label goes, another comes."""
    hooks = [
        webhook("old", ServiceRef("mesh", "old"), namespaces=Selector.of(IN)),
        webhook("new", ServiceRef("mesh", "new"), namespaces=Selector.of({"revision": "2"})),
    ]
    before = space("web", **IN)
    view = view_of(before, workload("web", "web"), hooks)

    def lost(**labels: str) -> list[Hollowed]:
        return effects(impact_of(update(before, space("web", **labels)), view), Hollowed)

    assert lost(revision="2") == []
    assert [(one.before, one.after) for one in lost(revision="1")] == [(1, 0)]


def test_an_empty_namespace_loses_nothing() -> None:
    """Whoever is labelled anew before anything runs there."""
    before = space("idle", **IN)
    view = view_of(before, webhook("i", ServiceRef("m", "i"), namespaces=Selector.of(IN)))

    assert effects(impact_of(update(before, space("idle")), view), Hollowed) == []


# ---- levels of Pod Security

ENFORCE = "pod-security.kubernetes.io/enforce"


def level(name: str) -> ClusterObject:
    return space("web", **{ENFORCE: name} if name else {})


def asking(name: str, replicas: int, asks: Placement) -> list[ClusterObject]:
    return [
        msgspec.structs.replace(one, facts=msgspec.structs.replace(one.facts, placement=asks))
        if isinstance(one.facts, WorkloadFacts)
        else one
        for one in workload(name, "web", replicas=replicas)
    ]


def confined(
    old: str, new: str, *, unconfined: bool = True, restricted: bool = True, known: bool = True
) -> list[str]:
    """Return what could not be made again under a level, of three agents and two others."""
    before, after = level(old), level(new)
    others = asking("web", 2, Placement(restricted=restricted))
    if not known:
        others = [
            msgspec.structs.replace(one, facts=msgspec.structs.replace(one.facts, template_hash=0))
            if isinstance(one.facts, WorkloadFacts)
            else one
            for one in others
        ]
    view = view_of(before, asking("agent", 3, Placement(unconfined=unconfined)), others)
    found = effects(impact_of(update(before, after), view), Hollowed)
    assert {(one.what, one.before) for one in found} <= {("room", 5)}
    return [one.target.name for one in found]


def test_a_level_under_which_agents_could_not_be_made_again() -> None:
    """Each of them is told of, however many others keep to it."""
    assert len(confined("", "baseline")) == 3
    assert len(confined("privileged", "restricted")) == 3


def test_the_highest_level_asks_each_container_for_its_word() -> None:
    """Others that say nothing of it could not be made again, where it is known what they say."""
    assert len(confined("", "restricted", restricted=False)) == 5
    assert len(confined("baseline", "restricted", restricted=False)) == 2
    assert len(confined("", "restricted", restricted=False, known=False)) == 3


@pytest.mark.parametrize(
    ("old", "new"), [("", "privileged"), ("baseline", "restricted"), ("baseline", "")]
)
def test_levels_that_take_nothing(old: str, new: str) -> None:
    """One that allows everything; one that only goes on; one that is lifted."""
    assert confined(old, new) == []


def test_pods_that_keep_to_a_level() -> None:
    """They are made again under it as they are."""
    assert confined("", "baseline", unconfined=False) == []
