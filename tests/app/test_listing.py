"""A cluster listed once: every kind that may be, and of the others why they are not known."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from support.cluster import START
from support.fakecluster import EVENTS, SECRETS, FakeCluster, broken, forbidden, gone
from suture.app.listing import ATTEMPTS, Lister, Progress
from suture.app.sources import Gathered
from suture.errors import ApiError, UnavailableError
from suture.model.graph import GraphView
from suture.model.names import LEASES, NAMESPACES, PODS, SERVICES, ObjectKey
from suture.model.objects import PodFacts
from suture.wire.discovery import StaleGroup


def cluster(pods: int = 3) -> FakeCluster:
    """Return a small cluster."""
    made = FakeCluster()
    made.write(NAMESPACES, "prod")
    made.write(SECRETS, "key", "prod", data={"password": "hunter2"})
    made.write(EVENTS, "noise", "prod")
    for number in range(pods):
        made.write(PODS, f"p{number}", "prod", spec={"nodeName": "n1"})
    return made


async def listed(made: FakeCluster, told: list[Progress] | None = None) -> Gathered:
    """List it."""

    def say(progress: Progress) -> None:
        if told is not None:
            told.append(Progress(objects=progress.objects, kinds=progress.kinds,
                                 of_kinds=progress.of_kinds, size_bytes=progress.size_bytes))  # fmt: skip

    return await Lister(made, lambda: START, say, wait_s=0.0).run()


async def test_every_kind_that_the_model_keeps_is_listed() -> None:
    """At the version and the time at which it was."""
    found = await listed(cluster())
    view = GraphView(found.graph)
    row = view.find(ObjectKey(PODS, "prod", "p0"))
    assert row is not None
    facts = view.at(row).facts

    assert isinstance(facts, PodFacts)
    assert facts.node == "n1"
    assert found.graph.count(PODS) == 3
    assert found.graph.freshness[PODS].heard_ns == START.mono_ns
    assert int(found.graph.freshness[PODS].resource_version) > 100
    assert view.listed(SERVICES)
    assert (found.whole, found.notes) == (True, ())


async def test_leases_are_listed_and_events_are_not() -> None:
    """What is listed once has no part in what Leases write; of Events there is no end."""
    made = cluster()
    made.write(LEASES, "leader", "prod", spec={"holderIdentity": "p0_1"})
    found = await listed(made)
    row = found.graph.row(ObjectKey(LEASES, "prod", "leader"))
    assert row is not None

    assert [one.target for one in found.graph.at(row).needs] == [ObjectKey(PODS, "prod", "p0")]
    assert found.graph.count(EVENTS) == 0


async def test_of_secrets_only_metadata_is_asked_for() -> None:
    """And of events nothing."""
    made = cluster()
    found = await listed(made)

    assert found.graph.count(SECRETS) == 1
    assert ("list", "/api/v1/secrets", True) in made.asked
    assert not [one for one in made.asked if "secrets" in one[1] and not one[2]]
    assert not [one for one in made.asked if "events" in one[1]]


async def test_a_kind_that_may_not_be_listed_is_unknown() -> None:
    """With the server's reason; the rest is there."""
    made = cluster()
    made.faults.refused["/api/v1/pods"] = forbidden()
    found = await listed(made)

    assert GraphView(found.graph).unknown(PODS) == "403 Forbidden: cannot list"
    assert not GraphView(found.graph).listed(PODS)
    assert found.graph.count(SECRETS) == 1
    assert not found.whole


@pytest.mark.parametrize("refusal", [broken(), gone()])
async def test_a_kind_that_fails_is_asked_for_again(refusal: ApiError) -> None:
    """A few times; then it is unknown, and nobody waits for it."""
    made = cluster()
    made.faults.refused["/api/v1/pods"] = refusal
    found = await listed(made)

    assert len([one for one in made.asked if one[1] == "/api/v1/pods"]) == ATTEMPTS
    assert GraphView(found.graph).unknown(PODS).startswith(str(refusal.status))
    assert GraphView(found.graph).listed(SERVICES)


class Compacted(FakeCluster):
    """A cluster that forgets the first list of pods after its first page, and loses one then."""

    def __init__(self) -> None:
        super().__init__()
        self.lists = 0

    async def list_pages(
        self, path: str, limit: int, *, metadata_only: bool
    ) -> AsyncGenerator[bytes, None]:
        """Yield the list, of pods one a page."""
        pods = path == "/api/v1/pods"
        self.lists += pods
        pages = super().list_pages(path, 1 if pods else limit, metadata_only=metadata_only)
        async with aclosing(pages):
            async for page in pages:
                yield page
                if pods and self.lists == 1:
                    self.delete(PODS, "p0", "prod")
                    raise gone()


async def test_a_list_that_begins_anew_keeps_nothing_that_went_meanwhile() -> None:
    """What the first attempt had seen, and the second has not, is gone."""
    made = Compacted()
    for number in range(3):
        made.write(PODS, f"p{number}", "prod")
    found = await listed(made)

    assert made.lists == 2
    assert sorted(thing.key.name for thing in found.graph) == ["p1", "p2"]
    assert found.whole


async def test_an_object_that_is_none_does_not_hide_its_kind() -> None:
    """What is odd is counted and said."""
    made = cluster()
    made.write(SERVICES, "web", "prod", spec={"selector": 7})
    found = await listed(made)

    assert found.graph.count(SERVICES) == 1
    assert found.notes == ("odd: 1 facts of services could not be read as the API says",)
    assert not found.whole


async def test_a_backend_that_is_away_is_told() -> None:
    """Its kinds cannot even be named."""
    made = cluster()
    made.stale = (StaleGroup("metrics.k8s.io", "v1beta1"),)
    found = await listed(made)

    assert "metrics.k8s.io/v1beta1 is away" in found.notes[0]
    assert not found.whole


async def test_a_cluster_that_is_away_is_no_empty_cluster() -> None:
    """Neither at the beginning nor in the middle."""
    made = cluster()
    made.faults.down = True
    with pytest.raises(UnavailableError):
        await listed(made)

    class Broken(FakeCluster):
        async def list_pages(
            self, path: str, limit: int, *, metadata_only: bool
        ) -> AsyncGenerator[bytes, None]:
            if path == "/api/v1/pods":
                raise UnavailableError("connection refused")
            async with aclosing(
                super().list_pages(path, limit, metadata_only=metadata_only)
            ) as pages:
                async for page in pages:
                    yield page

    with pytest.raises(UnavailableError, match="connection refused"):
        await listed(Broken())


async def test_progress_is_told_by_page() -> None:
    """Objects, bytes and kinds, up to the end."""
    told: list[Progress] = []
    made = cluster(pods=1203)
    await listed(made, told)

    assert [one.objects for one in told] == sorted(one.objects for one in told)
    assert told[-1].objects == 1205
    assert told[-1].kinds == told[-1].of_kinds > 5
    assert told[-1].size_bytes > 100_000
    assert len(told) > told[-1].of_kinds
