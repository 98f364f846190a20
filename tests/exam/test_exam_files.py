"""The scenario files of the examination: each can be read, and each incident has its twin."""

from __future__ import annotations

from collections import Counter

import pytest

from support.exam import LOADED

INCIDENTS = sorted(name for name, one in LOADED.items() if one.scenario.kind == "incident")
TWINS = {one.scenario.twin_of: name for name, one in LOADED.items() if one.scenario.twin_of}


def test_marks_are_of_one_file_each() -> None:
    """A mark of the corpus stands in one file, so that nothing is counted twice."""
    marks = Counter(one.scenario.id for one in LOADED.values() if one.scenario.id)

    assert [mark for mark, count in marks.items() if count > 1] == []


@pytest.mark.parametrize("name", INCIDENTS)
def test_an_incident_has_a_twin_and_a_place_in_the_figures(name: str) -> None:
    """The twin is ordinary work; the incident says its family, how it is told, and where it is from."""
    incident = LOADED[name].scenario

    assert LOADED[TWINS[name]].scenario.kind == "benign"
    assert incident.family is not None
    assert incident.detectable is not None
    assert incident.source
    assert incident.id


@pytest.mark.parametrize("name", sorted(TWINS.values()))
def test_a_twin_is_of_an_incident_that_is_there(name: str) -> None:
    """And of the same family, so that both are counted together."""
    twin = LOADED[name].scenario
    incident = LOADED[twin.twin_of].scenario

    assert incident.kind == "incident"
    assert twin.family == incident.family


@pytest.mark.parametrize("name", sorted(LOADED))
def test_every_actor_is_enforced(name: str) -> None:
    """One configuration for all: nobody is let off, but the controllers that carry consequences.

    Beside them a person may act of whom nobody made an operator, where that is what is told.
    """
    spared = {
        actor.serviceAccount
        for actor in LOADED[name].scenario.actors.values()
        if actor.stage != "enforce" and not (actor.stage == "none" and actor.user)
    }

    assert all(one is not None and one.startswith("kube-system/") for one in spared)
