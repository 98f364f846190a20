"""The comparison of the differential: what it calls wrong, what the gravest, and what it excuses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec.structs import replace

from support.cluster import service, thing, workload
from suture.impact.effects import Confidence, EndpointsLost, PodsRestarted, Victim
from suture.lab.differential.compare import Outcome, compare
from suture.lab.differential.observed import Snapshot, world_of
from suture.lab.differential.predicted import Prediction
from suture.model.names import CLAIMS, CONFIG_MAPS, ENDPOINT_SLICES, NAMESPACES, SERVICES
from suture.model.objects import ClusterObject, SliceFacts

NOBODY = Victim("", "", "", "")
FREE = {"prod": False}
BLOCKED = {"prod": True}


def snapshot(*things: ClusterObject | Iterable[ClusterObject]) -> Snapshot:
    flat = [one for some in things for one in ([some] if isinstance(some, ClusterObject) else some)]
    return Snapshot({one.uid: one for one in flat})


def held(
    said: Prediction,
    before: Snapshot,
    after: Snapshot,
    *,
    refused: bool = False,
    owed: Counter[str] | None = None,
    probed: tuple[dict[str, bool], dict[str, bool]] = ({}, {}),
) -> Outcome:
    return compare(
        said, before, after, probed, refused=refused, owed=Counter() if owed is None else owed
    )


def slices(name: str, *ready: str) -> ClusterObject:
    facts = SliceFacts(service=name, ready=ready)
    return thing(ENDPOINT_SLICES, f"{name}-0", "prod", facts=facts)


def lost(of: ClusterObject, before: int, after: int, *, heals: bool = False) -> Prediction:
    effect = EndpointsLost(
        service=NOBODY, before=before, after=after, peak=before, self_healing=heals
    )
    emptied = frozenset({of.uid}) if not after and not heals else frozenset[str]()
    return Prediction(endpoints={of.uid: effect}, emptied=emptied)


def test_what_goes_must_have_been_predicted_and_the_other_way_round() -> None:
    """The one is the gravest, the other merely wrong; a delete that was accepted is a removal."""
    one, two = (thing(CONFIG_MAPS, name, "prod") for name in ("one", "two"))
    before = snapshot(one, two)
    going = snapshot(replace(one, deleted=1.0), two)

    assert held(Prediction(removed=frozenset({one.uid})), before, snapshot(two)).held
    assert held(Prediction(removed=frozenset({one.uid})), before, going).held
    missed = held(Prediction(), before, snapshot(two))
    assert missed.unpredicted == ("went and was not predicted: configmaps prod/one",)
    stayed = held(Prediction(removed=frozenset({one.uid})), before, before)
    assert stayed.wrong == ("was predicted to go and stays: configmaps prod/one",)
    assert not stayed.unpredicted


def test_pods_are_counted_for_each_workload() -> None:
    """More than predicted is the gravest; fewer is wrong, unless they may not all be Ready."""
    web = workload("web", replicas=3)
    root, before = web[0].uid, snapshot(web)
    restart = PodsRestarted(
        workload=NOBODY, count=2, before=3, unavailable=1, strategy="RollingUpdate", healthy=True
    )
    said = Prediction(restarted={root: restart})
    stuck = Prediction(restarted={root: replace(restart, healthy=False)})

    assert held(said, before, snapshot(web[:3])).held
    assert held(said, before, snapshot(web[:2])).unpredicted
    assert held(said, before, snapshot(web[:4])).wrong
    assert held(stuck, before, snapshot(web[:4])).held
    assert held(Prediction(resized={root: 1}), before, snapshot(web[:3])).held
    assert held(Prediction(resized={root: 2}), before, snapshot(web[:3])).unpredicted


def test_the_pod_that_is_adopted_may_be_the_one_too_many() -> None:
    """Whosever it was before: as many go as the one who adopts has too many, and no more."""
    web, lone = workload("web", replicas=2), workload("lone", replicas=1)
    before = snapshot(web, lone)
    said = Prediction(joined={lone[1].uid: 1})

    assert held(said, before, snapshot(web, lone[:2])).held
    assert held(said, before, snapshot(web[:3], lone)).held
    assert held(said, before, snapshot(web[:3], lone[:2])).unpredicted


def test_what_blocked_pods_keep_from_coming_is_owed() -> None:
    """A roll-out that was predicted and could not go on may go on in a later case, once."""
    web = workload("web", replicas=2)
    before = snapshot(web)
    restart = PodsRestarted(
        workload=NOBODY, count=2, before=2, unavailable=1, strategy="RollingUpdate", healthy=True
    )
    said = Prediction(restarted={web[0].uid: restart})

    stopped = held(said, before, before, probed=(BLOCKED, BLOCKED))
    later = held(Prediction(), before, snapshot(web[:2]), owed=stopped.owed)

    assert stopped.held
    assert later.held
    assert held(Prediction(), before, snapshot(web[:2]), owed=later.owed).unpredicted


def test_what_a_set_lets_go_of_may_wait_for_a_name() -> None:
    """What a StatefulSet cannot let go of now is owed, as long as the name of a pod is taken."""
    web, claim = workload("web", replicas=2), thing(CLAIMS, "data-web-1", "prod")
    before = snapshot(web, claim)
    said = Prediction(resized={web[0].uid: 1}, removed=frozenset({claim.uid}))

    assert held(said, before, before).wrong
    waits = held(replace(said, held_up=True), before, before)
    assert waits.held
    assert held(Prediction(), before, snapshot(web[:3]), owed=waits.owed).held
    assert held(Prediction(), before, snapshot(web[:2]), owed=waits.owed).unpredicted


def test_endpoints_are_those_of_the_slices() -> None:
    """Lost for good, to come back, more than told, fewer than told, told of another number."""
    web = service("web")
    two, one, none = (snapshot(web, slices("web", *"ab"[:n])) for n in (2, 1, 0))

    assert held(lost(web, 2, 1), two, one).held
    assert held(lost(web, 2, 1, heals=True), two, two).held
    assert held(lost(web, 2, 0), two, none).held
    assert held(Prediction(), two, one).wrong
    assert held(lost(web, 2, 1, heals=True), two, one).wrong
    assert held(lost(web, 2, 1), two, two).wrong
    assert held(lost(web, 2, 1), two, none).wrong
    assert held(lost(web, 3, 2), two, one).wrong
    bounded = lost(web, 2, 1)
    effect = replace(bounded.endpoints[web.uid], confidence=Confidence.BOUNDED)
    assert held(replace(bounded, endpoints={web.uid: effect}), two, two).held
    assert held(replace(bounded, endpoints={web.uid: effect}), two, none).wrong


def test_pods_that_come_late_may_stand_in_for_endpoints_that_were_lost() -> None:
    """Seed 917, case 100: a pod that had been wanted before came while another was relabelled."""
    db, web = service("db"), workload("web", replicas=2)
    short, whole = web[:3], web
    before = snapshot(short, db, slices("db", "a"))
    after = snapshot(whole, db, slices("db", "b"))

    assert held(lost(db, 1, 0), before, after, probed=(FREE, FREE)).held
    assert held(lost(db, 1, 0), snapshot(whole, db, slices("db", "a")), after).wrong
    assert held(lost(db, 1, 0), before, snapshot(short, db, slices("db", "b"))).wrong


def test_pods_that_cannot_be_made_and_evictions_that_are_refused() -> None:
    """Both are told exactly, or it is wrong."""
    nothing = snapshot()
    said = Prediction(blocked=True)

    assert held(said, nothing, nothing, probed=(FREE, BLOCKED)).held
    assert held(said, nothing, nothing, probed=(FREE, FREE)).wrong
    assert held(Prediction(), nothing, nothing, probed=(FREE, BLOCKED)).wrong
    assert held(Prediction(refused=True), nothing, nothing, refused=True).held
    assert held(Prediction(refused=True), nothing, nothing).wrong
    assert held(Prediction(), nothing, nothing, refused=True).wrong


def test_whose_world_an_object_is_of() -> None:
    """By its namespace, else its own name, or the group of the world's kind."""
    assert world_of(thing(SERVICES, "web", "d3-14-a")) == (3, 14)
    assert world_of(thing(NAMESPACES, "d3-14-b")) == (3, 14)
    assert world_of(thing(NAMESPACES, "gadgets.w11.s3.differential.test")) == (3, 11)
    assert world_of(thing(SERVICES, "d3-14-a", "default")) is None
