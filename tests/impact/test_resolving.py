"""What the cluster's DNS would find no more: names outside, and zones of others."""

from __future__ import annotations

import pytest

from support.cluster import operator, view_of
from support.writes import Body, body, trimmed, write
from suture.impact.effects import EntriesDropped
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.impact.traffic.resolving import zones_of
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.names import CONFIG_MAPS

PERSON = Actor(UserInfo("jo@example.com"), "jo@example.com", IdentityKind.PERSON, Stage.ENFORCE)

STUB = "corp.example:53 {\n    forward . 10.0.0.53\n}\n"
OWN = "    kubernetes cluster.local {\n        pods insecure\n    }\n"
MAIN = f".:53 {{\n    errors\n{OWN}    forward . /etc/resolv.conf\n    cache 30\n}}\n"
OUTSIDE = "names outside (zone .)"


def settings(text: str, *managers: str) -> Body:
    fields = [{"manager": one} for one in ("init", "team", *managers)]
    return body(
        "ConfigMap", "dns", "kube-system", metadata={"managedFields": fields},
        data={"Corefile": text},
    )  # fmt: skip


def told(old: str, new: str, *managers: str, by: Actor | None = None) -> list[str]:
    """Return what is told of as gone whole, and critical."""
    before, after = settings(old), settings(new, *managers)
    view = view_of(trimmed(CONFIG_MAPS, before))
    request = write(CONFIG_MAPS, before, after)
    actor = by or operator()
    impact = estimate(request, project(request, view), view, actor, {"entries_dropped"})
    found = [one for one in impact.effects if isinstance(one, EntriesDropped)]
    return [one.entries[0] for one in found if one.critical and one.field == "data"]


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        pytest.param(MAIN, MAIN.replace("    forward . /etc/resolv.conf\n", ""), True, id="gone"),
        pytest.param(
            STUB + MAIN, STUB + MAIN.replace("    forward . /etc", "    # forward . /etc"), True,
            id="only-a-stub-asks-others",
        ),
        pytest.param(MAIN, MAIN.replace("/etc/resolv.conf", "10.0.0.2"), False, id="others"),
        pytest.param(MAIN, MAIN.replace("    forward .", "    proxy ."), False, id="by-its-old-name"),
        pytest.param(
            MAIN, MAIN.replace("    forward . /etc/resolv.conf", "    unbound"), False,
            id="another-plugin-in-its-place",
        ),
        pytest.param(
            MAIN, MAIN.replace("    forward . /etc/resolv.conf\n", "") + "example.org {\n}\n",
            False, id="another-zone-in-its-place",
        ),
        pytest.param(OWN, OWN + "    cache 9\n", False, id="of-another-format"),
    ],
)  # fmt: skip
def test_names_outside_are_found_by_asking_others(old: str, new: str, *, found: bool) -> None:
    """Without that one line no name outside is found, by nobody in the cluster."""
    assert told(old, new) == ([OUTSIDE] if found else [])


def test_a_machine_that_never_wrote_it_takes_a_zone_of_others_out() -> None:
    """An add-on that is reset to its defaults does not know what others have put there."""
    assert told(STUB + MAIN, MAIN, "addons") == ["corp.example"]


@pytest.mark.parametrize(
    ("new", "managers", "by"),
    [
        pytest.param(MAIN, (), None, id="by-who-wrote-it-before"),
        pytest.param(MAIN, ("kubectl",), PERSON, id="by-hand"),
        pytest.param(
            MAIN + "new.example {\n    forward . 10.0.0.53\n}\n", ("addons",), None,
            id="another-in-its-place",
        ),
        pytest.param(
            MAIN.replace("cluster.local {", "cluster.local corp.example {"), ("addons",), None,
            id="answered-by-another-block",
        ),
        pytest.param("more.example {\n}\n" + STUB + MAIN, ("addons",), None, id="one-more"),
    ],
)  # fmt: skip
def test_zones_come_and_go_by_who_knows_of_them(
    new: str, managers: tuple[str, ...], by: Actor | None
) -> None:
    """Who has written it, has read it, or leads it elsewhere means it."""
    assert told(STUB + MAIN, new, *managers, by=by) == []


def test_zones_are_read_with_their_plugins() -> None:
    """Schemes, ports, several names and what is nested do not confuse it."""
    text = "dns://a.example:53 b.example., {  # both\n  forward . x {\n    policy random\n  }\n}\n. {\n}"
    assert zones_of(text) == {
        "a.example": {"forward"}, "b.example": {"forward"}, ".": frozenset(),
    }  # fmt: skip


HOSTS = (
    "    hosts {\n        10.0.0.1 git.corp.example\n        10.0.0.2 ldap.corp.example\n    }\n"
)


@pytest.mark.parametrize(
    ("new", "managers", "by", "found"),
    [
        pytest.param(MAIN, ("add-on",), None, ["git.corp.example"], id="written-as-delivered"),
        pytest.param(MAIN, (), None, [], id="by-who-wrote-it-before"),
        pytest.param(MAIN, ("edit",), PERSON, [], id="a-person"),
        pytest.param(
            MAIN.replace(OWN, OWN + HOSTS.replace("git", "code")), ("add-on",), None, [],
            id="others-come",
        ),
        pytest.param(MAIN.replace(OWN, OWN + HOSTS), ("add-on",), None, [], id="the-same"),
    ],
)  # fmt: skip
def test_names_that_stand_in_the_configuration_itself(
    new: str, managers: tuple[str, ...], by: Actor | None, found: list[str]
) -> None:
    """Hosts outside the cluster that somebody gave a name are found by nobody else."""
    assert told(MAIN.replace(OWN, OWN + HOSTS), new + "# 2\n", *managers, by=by) == found
