"""Versions struck from those that a definition may be stored in: who wrote what is left in them."""

from __future__ import annotations

from collections.abc import Collection

from support.asking import effects, impact_of
from support.cluster import START, operator, view_of
from support.writes import Body, body, changed, trimmed, write
from suture.impact.causes.recent import remember
from suture.impact.causes.storedanew import ASKED
from suture.impact.effects import ReferenceBroken
from suture.impact.project import project
from suture.model.clock import Now
from suture.model.graph import GraphView
from suture.model.names import CRDS, Resource

BOXES = Resource("example.com", "boxes")
NAMES = ("one", "two", "three")
DAY_NS = 24 * 3600 * 10**9


def definition(*stored: str) -> Body:
    """Make the definition of boxes, which may be stored in some versions."""
    names = {"plural": "boxes", "kind": "Box"}
    versions = [{"name": one, "served": True, "storage": one == "v2"} for one in ("v1", "v2")]
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions}
    version = "apiextensions.k8s.io/v1"
    kind, status = "CustomResourceDefinition", {"storedVersions": list(stored)}
    return body(kind, str(BOXES), "", apiVersion=version, spec=spec, status=status)


def box(name: str, **spec: object) -> Body:
    return body("Box", name, apiVersion="example.com/v2", spec=spec)


def cluster(names: Collection[str] = NAMES) -> GraphView:
    boxes = [trimmed(BOXES, box(name)) for name in names]
    return view_of(trimmed(CRDS, definition("v1", "v2")), boxes)


def later(by_ns: int) -> Now:
    return Now(START.mono_ns + by_ns, START.utc_s + by_ns / 1e9)


def migrate(
    view: GraphView, *names: str, subresource: str = "", now: Now = START, **spec: object
) -> None:
    """Write boxes as they are, or with another spec."""
    for name in names:
        old = box(name)
        request = write(BOXES, old, {**old, "spec": spec}, subresource=subresource)
        remember(request, project(request, view), view, now)


def told(view: GraphView, *stored: str, now: Now = START) -> list[ReferenceBroken]:
    """Strike what is not in `stored`."""
    request = write(CRDS, definition("v1", "v2"), definition(*stored), subresource="status")
    return effects(impact_of(request, view, now=now), ReferenceBroken)


def test_nobody_wrote_them_anew() -> None:
    (found,) = told(cluster(), "v2")

    assert (found.key, found.current, found.target.name) == ("v1", 3, str(BOXES))


def test_all_were_written_anew() -> None:
    """As they are: that is how they are migrated."""
    view = cluster()
    migrate(view, *NAMES)

    assert told(view, "v2") == []


def test_any_write_stores_an_object() -> None:
    view = cluster()
    migrate(view, "one", size=2)
    migrate(view, "two", subresource="status")
    made = write(BOXES, None, box("three"))
    remember(made, project(made, view), view, START)

    assert told(view, "v2") == []


def test_one_that_was_left_is_enough() -> None:
    view = cluster()
    migrate(view, "one", "three")

    assert [one.current for one in told(view, "v2")] == [1]


def test_what_was_written_long_ago_tells_nothing() -> None:
    """The version of today may be of later."""
    view = cluster()
    migrate(view, *NAMES)

    assert told(view, "v2", now=later(DAY_NS - 1)) == []
    assert [one.current for one in told(view, "v2", now=later(DAY_NS + 1))] == [3]


def test_who_writes_all_day_leaves_a_few_notes() -> None:
    view = cluster()
    for hour in range(24):
        migrate(view, *NAMES, now=later(hour * DAY_NS // 24))

    assert told(view, "v2", now=later(2 * DAY_NS - DAY_NS // 3)) == []


def test_a_version_that_came_since() -> None:
    """What was written before it came is in none that is as new, though it was an hour ago."""
    view, hour = cluster(), DAY_NS // 24
    migrate(view, *NAMES)
    old, new = definition("v0", "v1"), definition("v0", "v1", "v2")
    came = write(CRDS, old, new)
    remember(came, project(came, view), view, later(hour))

    assert [one.current for one in told(view, "v2", now=later(2 * hour))] == [3]
    migrate(view, *NAMES, now=later(2 * hour))
    assert told(view, "v2", now=later(3 * hour)) == []


def test_nothing_is_struck() -> None:
    assert told(cluster(), "v1", "v2") == []
    assert told(cluster(), "v2", "v1", "v3") == []


def test_a_definition_without_instances() -> None:
    assert told(cluster(names=()), "v2") == []


def test_of_very_many_nothing_is_known() -> None:
    names = [f"box-{number}" for number in range(ASKED + 1)]

    assert told(cluster(names[:-1]), "v2")
    assert told(cluster(names), "v2") == []


def test_of_a_definition_in_one_version_no_write_is_noted() -> None:
    view = view_of(trimmed(CRDS, definition("v2")), trimmed(BOXES, box("one")))
    migrate(view, "one")

    request = write(CRDS, definition("v1", "v2"), definition("v2"), subresource="status")
    assert effects(impact_of(request, view), ReferenceBroken)


def test_a_write_of_the_definition_itself_strikes_nothing() -> None:
    """The API server keeps its status as it was."""
    old = definition("v1", "v2")
    new = changed(old, metadata={"labels": {"app": "boxes"}}, status={})
    view = cluster()

    assert effects(impact_of(write(CRDS, old, new, by=operator()), view), ReferenceBroken) == []
