"""What is gone from inside a value: by name where it has one, by its text where it has none."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.model.difference import numbers_changed, parts_changed, parts_of
from suture.model.entries import Dropped, keys_dropped, texts_dropped, values_dropped
from suture.model.listtexts import values_listed

ROLES = """\
- rolearn: arn:aws:iam::1:role/nodes
  username: system:node:{{EC2PrivateDNSName}}
  groups:
  - system:bootstrappers
  - system:nodes
- rolearn: arn:aws:iam::1:role/admin
  username: admin
  groups:
  - system:masters
"""

ZONES = """\
.:53 {
    errors
    kubernetes cluster.local in-addr.arpa {
        pods insecure
    }
    forward . /etc/resolv.conf
    cache 30
}
"""


def names(found: list[Dropped]) -> list[str]:
    return [name for one in found for name in one.entries]


def test_a_role_that_is_gone_from_a_role_map() -> None:
    """The role and its groups are named; those of the other role stay."""
    kept = ROLES[ROLES.index("- rolearn: arn:aws:iam::1:role/admin") :]

    found = names(texts_dropped("data.mapRoles", ROLES, kept))

    assert "- rolearn: arn:aws:iam::1:role/nodes" in found
    assert {"- system:bootstrappers", "- system:nodes"} <= set(found)
    assert "- system:masters" not in found


SORTED = """\
- groups:
  - system:masters
  rolearn: arn:aws:iam::1:role/other
  username: 'other'
- groups:
  - system:masters
  rolearn: arn:aws:iam::1:role/admin
  username: admin
- groups: [system:bootstrappers, "system:nodes"]
  # Of the nodes.
  rolearn: "arn:aws:iam::1:role/nodes"
  username: system:node:{{EC2PrivateDNSName}}
"""
IN_BRACKETS = (
    '[{"rolearn":"arn:aws:iam::1:role/nodes","username":"system:node:{{EC2PrivateDNSName}}",'
    '"groups":["system:bootstrappers","system:nodes"]},{"rolearn":"arn:aws:iam::1:role/admin",'
    '"username":"admin","groups":["system:masters"]}]'
)


@pytest.mark.parametrize("anew", [SORTED, IN_BRACKETS])
def test_a_list_that_another_tool_writes_anew_has_lost_nothing(anew: str) -> None:
    """Its keys in another order, in quotes or not, in lines or in brackets."""
    assert texts_dropped("data.mapRoles", ROLES, anew) == []
    assert texts_dropped("data.mapRoles", anew, ROLES) == [] or anew == SORTED


@pytest.mark.parametrize("anew", [SORTED, IN_BRACKETS])
def test_what_a_list_loses_as_it_is_written_anew(anew: str) -> None:
    """The values that are nowhere any more, and not those that are only written otherwise."""
    without = anew.replace("role/nodes", "role/others")
    (found,) = texts_dropped("data.mapRoles", ROLES, without)
    assert (found.before, found.entries) == (7, ("arn:aws:iam::1:role/nodes",))
    (all_gone,) = texts_dropped("data.mapRoles", ROLES, "[]\n")
    assert len(all_gone.entries) == all_gone.before


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("- a\n- b: 'c d'\n  e: [f, {g: h}]\n", ["a", "c d", "f", "h"]),
        ("- - a\n  - b # b\n", ["a", "b"]),
        ("# first\n---\n- a: |\n    text\n", ["text"]),
        ('[{"a":"b","c":["d:e"]}]', ["b", "d:e"]),
        ("[]", []),
        ("", None),
        ("a: b\n", None),
        ("{a: b}", None),
        ("-a\n", None),
    ],
)
def test_what_a_list_says(text: str, values: list[str] | None) -> None:
    """Items, and what their fields say; of anything else nothing is known."""
    assert values_listed(text) == values


@given(st.text("-a:'\"[]{},# \n\\"))
def test_whatever_is_written_it_is_read_without_complaint(text: str) -> None:
    """Not every list is one, and many are written badly."""
    found = values_listed(text)
    assert found is None or all(isinstance(one, str) for one in found)


def test_a_plugin_that_is_gone_from_a_name_server() -> None:
    """A line that is gone is named by its first word; one that is changed is not gone."""
    without = "\n".join(line for line in ZONES.splitlines() if "forward" not in line)

    assert names(texts_dropped("data.Corefile", ZONES, without)) == ["forward"]
    assert texts_dropped("data.Corefile", ZONES, ZONES.replace("cache 30", "cache 60")) == []
    assert texts_dropped("data.Corefile", ZONES, ZONES.replace("    ", "\t")) == []


def test_what_is_named_nowhere_any_more_is_told_first() -> None:
    """Zones before what was in them, and that before the words that others have too, once each."""
    kept = ".:53 {\n    errors\n    cache 30\n}\n"
    zones = "a.example:53 {\n    errors\n    hosts x\n}\nb.example:53 {\n    errors\n}\n"
    (found,) = texts_dropped("x", kept + zones, kept)
    assert found.entries == ("a.example:53", "b.example:53", "hosts", "errors", "errors")
    assert found.before == 8


def test_json_is_compared_as_json() -> None:
    """A text that is JSON is known by its keys and items, however it is written."""
    old = {"peers": ["a", "b"], "on": True}

    found = texts_dropped("data.x", msgspec.json.encode(old).decode(), '{"peers": [ "b" ]}')

    assert names(found) == ["on", "a"]
    assert [one.field for one in found] == ["data.x", "data.x.peers"]


@pytest.mark.parametrize(
    ("old", "new", "gone"),
    [
        ({"a": "1", "b": "2"}, {"a": "9"}, ["b"]),
        ({"a": "1"}, {"a": ""}, ["a"]),
        ({"a": ""}, {}, []),
        ({"a": "1"}, {"a": "1", "b": "2"}, []),
    ],
)
def test_keys(old: dict[str, str], new: dict[str, str], gone: list[str]) -> None:
    """A key that is gone or emptied is dropped; one that had nothing is not."""
    assert names(keys_dropped("data", old, new)) == gone


@pytest.mark.parametrize(
    ("old", "new", "gone"),
    [
        ({"peers": [{"name": "a", "w": 1}, {"name": "b"}]}, {"peers": [{"name": "b"}]}, ["a"]),
        ({"peers": [{"name": "a", "w": 1}]}, {"peers": [{"name": "a", "w": 2}]}, []),
        ({"ports": [{"w": 1}, {"w": 2}]}, {"ports": [{"w": 1}, {"w": 3}]}, []),
        ({"ports": [{"w": 1}, {"w": 2}]}, {"ports": [{"w": 3}]}, ['{"w":1}']),
        ({"ports": [80, 81]}, {"ports": [80]}, ["81"]),
        ({"ports": ["a", "b"]}, {"ports": ["a", "c"]}, ["b"]),
        ({"ports": ["a", "b"]}, {}, ["a", "b"]),
        ({"one": {"two": ["a"]}}, {"one": {"two": []}}, ["a"]),
        ({"size": 3, "old": "x"}, {"size": 4}, []),
    ],
)
def test_lists_within_a_spec(old: object, new: object, gone: list[str]) -> None:
    """Items are told by name; a field that is not set any more is no entry."""
    assert names(list(values_dropped("spec", old, new))) == gone


def test_the_path_leads_to_the_item() -> None:
    """What is gone from inside an item is found by the item's name."""
    old = {"routes": [{"name": "r", "hosts": ["a", "b"]}]}
    new = {"routes": [{"name": "r", "hosts": ["b"]}]}

    (found,) = values_dropped("spec", old, new)

    assert (found.field, found.before, found.entries) == ("spec.routes[r].hosts", 2, ("a",))


_words = st.lists(st.text("abcdef", min_size=1, max_size=3), min_size=2, max_size=12)


@given(old=_words, new=_words)
def test_lines_are_a_bag(old: list[str], new: list[str]) -> None:
    """What is told is what is left when each line of the new text takes one of the old away."""
    left = list(new)
    gone = []
    for line in old:
        if line in left:
            left.remove(line)
        else:
            gone.append(line)

    found = names(texts_dropped("x", "\n".join(old), "\n".join(new)))

    assert sorted(found) == sorted(gone)


@given(old=_words, new=_words)
def test_items_are_a_bag_too(old: list[str], new: list[str]) -> None:
    """The same of the items of a list that are texts."""
    lines = names(texts_dropped("x", "\n".join(old), "\n".join(new)))
    items = names(list(values_dropped("x", old, new)))

    assert sorted(items) == sorted(lines)


def test_parts_of_a_body() -> None:
    """Only what stands beside metadata and status is told of, and only where both are shown."""
    old = b'{"kind":"A","metadata":{"x":1},"spec":{"a":1},"data":{},"status":1}'
    new = b'{"kind":"A","metadata":{"x":2},"spec":{"a":2},"data":{},"status":2}'

    assert parts_changed(old, new) == ("spec",)
    assert parts_changed(old, old) == ()
    assert parts_changed(old, b"") == ()
    assert parts_changed(old, b"[") == ("data", "spec")
    assert set(parts_of(old)) == {"spec", "data"}


def test_whole_numbers_of_a_spec_that_differ() -> None:
    """In the same place, in maps within maps; no flags, no shares, no items of lists."""
    old = b'{"spec":{"shards":4,"on":true,"share":0.5,"a":{"b":7,"c":1},"of":[3],"gone":2}}'
    new = b'{"spec":{"shards":3,"on":false,"share":0.1,"a":{"b":9,"c":1},"of":[2],"new":1}}'
    assert numbers_changed(old, new) == ((4, 3), (7, 9))
    assert numbers_changed(old, old) == ()
    assert numbers_changed(old, b"") == ()
    assert numbers_changed(b'{"spec":1}', b'{"spec":"x"}') == ()
