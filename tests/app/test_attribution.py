"""What controllers delete is told as part of the decision that it follows from."""

from __future__ import annotations

import msgspec

from support.cluster import START, graph_of, namespace, workload
from support.reviews import review
from suture.model.attribution import TIED_KEPT, Attribution
from suture.model.bounded import SHARE
from suture.model.names import NAMESPACES
from suture.model.objects import ClusterObject
from suture.model.overlay import Overlay
from suture.model.request import Request, intent_of
from suture.wire.admission import decode_review

COLLECTOR = "system:serviceaccount:kube-system:generic-garbage-collector"


def asked(thing: ClusterObject, user: str = COLLECTOR) -> Request:
    """Return the delete of an object."""
    # WHY replaced: the written review leaves owners out.
    return msgspec.structs.replace(decode_review(review(thing, user=user)), old=thing)


def test_by_uid_then_by_owner_however_late() -> None:
    """The cascade is known while it is admitted; its members hand the cause on afterwards."""
    deployment, replica_set, *pods = workload("web", replicas=2)
    graph = graph_of([deployment, replica_set, *pods])
    overlay = Overlay(graph)
    story = Attribution(graph, overlay)
    cause = asked(deployment, "operator")
    overlay.admit(intent_of(cause), [deployment.uid, replica_set.uid], START)
    story.admitted(cause, "decision-1", "operator")

    first = story.cause_of(asked(replica_set))
    overlay.expire(intent_of(cause))
    late = story.cause_of(asked(pods[0]))

    assert first is not None
    assert (first.decision, first.operator, first.how) == ("decision-1", "operator", "uid")
    assert late is not None
    assert (late.decision, late.how) == ("decision-1", "owner")


def test_what_goes_with_a_namespace_is_tied_to_its_delete() -> None:
    """Whatever is in it, as soon as the namespace's own delete was admitted."""
    home, things = namespace("prod"), workload("web")
    graph = graph_of([home], things)
    story = Attribution(graph, Overlay(graph))
    assert home.key.resource == NAMESPACES
    story.admitted(asked(home, "operator"), "decision-2", "operator")

    found = story.cause_of(asked(things[-1]))

    assert found is not None
    assert (found.decision, found.how) == ("decision-2", "namespace")


def test_what_nothing_ties_is_said_to_be_so() -> None:
    """No guess: a delete out of nowhere has no cause."""
    things = workload("web")
    graph = graph_of(things)

    assert Attribution(graph, Overlay(graph)).cause_of(asked(things[-1])) is None


def test_memory_is_bounded() -> None:
    """The oldest is forgotten first; forgetting ties less, never wrongly."""
    things = workload("web")
    graph = graph_of(things)
    story = Attribution(graph, Overlay(graph))
    for number in range(TIED_KEPT + 5):
        story._tie(f"uid-{number}", ("decision", "operator"))

    assert TIED_KEPT - TIED_KEPT // SHARE <= len(story._tied) <= TIED_KEPT
    assert "uid-4" not in story._tied
