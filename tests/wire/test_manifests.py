"""Manifests and kubectl output: every object comes out, and all else with its place and fault."""

from __future__ import annotations

import json
import tempfile
from mmap import ACCESS_READ, mmap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.errors import DocumentError
from suture.wire.manifests import Empty, Found, LostError, Piece, read_manifests

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one", "namespace": "prod"}}
CLAIM = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "two"}}
YAML = """apiVersion: v1
kind: Pod
metadata: {name: one, namespace: prod}
"""


def read(text: str | bytes) -> list[Piece]:
    """Read a text whole."""
    return list(read_manifests(text.encode() if isinstance(text, str) else text, "f"))


def names(pieces: list[Piece]) -> list[str]:
    """Return the names of objects, in their order."""
    return [one.head.metadata.name for one in pieces if isinstance(one, Found)]


def wrong(pieces: list[Piece]) -> list[tuple[int | None, str, str]]:
    """Return what is wrong: line, field and problem."""
    return [(one.line, one.field, one.problem) for one in pieces if isinstance(one, DocumentError)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param(YAML, ["one"], id="yaml"),
        pytest.param(f"---\n{YAML}---\n---\n{YAML}", ["one", "one"], id="several-documents"),
        pytest.param(
            "apiVersion: v1\nkind: List\nitems:\n- " + YAML.replace("\n", "\n  "), ["one"],
            id="yaml-list",
        ),
        pytest.param(json.dumps(POD), ["one"], id="json"),
        pytest.param("\ufeff\n " + json.dumps(POD, indent=2), ["one"], id="json-indented"),
        pytest.param(
            json.dumps({"apiVersion": "v1", "kind": "List", "items": [POD, CLAIM]}),
            ["one", "two"],
            id="kubectl-get",
        ),
        pytest.param(
            json.dumps({"kind": "List", "apiVersion": "v1", "items": [
                {"kind": "PodList", "apiVersion": "v1", "items": [POD]}, CLAIM]}),
            ["one", "two"],
            id="list-in-a-list",
        ),
        pytest.param(json.dumps([POD, CLAIM]), ["one", "two"], id="array"),
        pytest.param(f"{json.dumps(POD)}\n{json.dumps(CLAIM)}\n", ["one", "two"], id="lines"),
        pytest.param(
            "- " + YAML.replace("\n", "\n  ") + "\n- " + json.dumps(CLAIM), ["one", "two"],
            id="yaml-array",
        ),
        pytest.param("", [], id="empty"),
        pytest.param("# nothing yet\n", [], id="comment"),
    ],
)  # fmt: skip
def test_objects_come_out_in_their_order(text: str, wanted: list[str]) -> None:
    """Of every form in which manifests are found."""
    pieces = read(text)

    assert names(pieces) == wanted
    assert wrong(pieces) == []


def test_items_of_a_list_of_one_kind_get_its_kind() -> None:
    """As the API server writes lists: `PodList`, and items that do not say what they are."""
    body = {key: value for key, value in POD.items() if key == "metadata"}
    text = json.dumps({"apiVersion": "v1", "kind": "PodList", "items": [body]})
    for found in read(text) + read(f"# yaml\n{text}"):
        assert isinstance(found, Found)
        assert (found.head.api_version, found.head.kind) == ("v1", "Pod")
        assert json.loads(bytes(found.body))["kind"] == "Pod"


@pytest.mark.parametrize(
    "text",
    ['{"apiVersion":"apps/v1","kind":"DeploymentList","items":[]}',
     "apiVersion: apps/v1\nkind: DeploymentList\nitems: []\n"],
)  # fmt: skip
def test_an_empty_list_of_one_kind_says_that_there_are_none(text: str) -> None:
    """Unlike a plain empty list, which says nothing."""
    assert read(text) == [Empty("apps/v1", "Deployment")]
    assert read('{"apiVersion":"v1","kind":"List","items":[]}') == []


def test_an_object_that_has_items_is_no_list() -> None:
    """Its kind does not end in `List`."""
    odd = {**POD, "kind": "Menu", "items": [{"name": "soup"}]}

    assert names(read(json.dumps(odd))) == names(read("# yaml\n" + json.dumps(odd))) == ["one"]


@pytest.mark.parametrize(
    ("text", "line", "field", "problem"),
    [
        pytest.param("a: b\nkind: Pod\n", 1, "", "lacks the field `apiVersion`", id="values-file"),
        pytest.param(
            f"{YAML}---\napiVersion: v1\nkind: Pod\nmetadata: {{generateName: job-}}\n",
            7, "metadata", "lacks the field `name`", id="no-name",
        ),
        pytest.param(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: one\n  labels:\n    on: yes\n",
            6, "metadata.labels.on", "expected `str`, got `bool`", id="label-that-is-no-text",
        ),
        pytest.param(
            "apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n  apiVersion: v1\n  metadata: 7\n",
            6, "items[0].metadata", "expected `object`, got `int`", id="in-a-list",
        ),
        pytest.param("apiVersion: v1\nkind: List\nitems: soup\n", 3, "items", "is no list of objects", id="items"),
        pytest.param(
            "apiVersion: v1\nkind: Pod\nmetadata: {name: ''}\n",
            3, "metadata.name", "must not be empty", id="empty-name",
        ),
        pytest.param(
            '{"apiVersion": "", "kind": "", "metadata": {"name": "one"}}',
            1, "apiVersion", "must not be empty", id="empty-kind",
        ),
        pytest.param("just text\n", 1, "", "expected `object`, got `str`", id="text"),
        pytest.param('{"apiVersion": "v1",\n "kind": 7}', 1, "kind", "expected `str`, got `int`", id="json-kind"),
        pytest.param('{\n "items": [\n  {"kind": "A"},\n\n  {"kind": 2}]}', 3, "items[0]", "lacks the field `apiVersion`", id="json-item"),
        pytest.param('{"apiVersion": "v1",\n kind: 7}', 2, "", "is not JSON: JSON is malformed: expected '\"'", id="json-malformed"),
        pytest.param('{"apiVersion": "v1"', None, "", "is not JSON: it ends too early", id="json-cut-off"),
    ],
)  # fmt: skip
def test_what_is_no_object_is_told_with_its_place(
    text: str, line: int | None, field: str, problem: str
) -> None:
    """File, line, field, and what is wrong there."""
    assert (line, field, problem) in wrong(read(text))


def test_lines_of_json_are_counted_over_many_faults() -> None:
    """Each item is told by its own line, objects between them or not."""
    items = [POD if number % 3 else {"kind": number} for number in range(9)]
    text = json.dumps({"kind": "List", "apiVersion": "v1", "items": items}, indent=1)
    lines = text.splitlines()

    for line, field, _ in wrong(read(text)):
        assert line is not None
        number = field.removeprefix("items[").removesuffix("].kind")
        assert lines[line] == f'   "kind": {number}'


def test_a_bad_document_does_not_spoil_its_neighbours() -> None:
    """What is around it is read, whatever is wrong with it."""
    for bad in ("soup", "{{ .Values.x }}", "a: [", "a: 'x", "a: 1\n b: 2", "a: !thing 1"):
        pieces = read(f"{YAML}---\n{bad}\n---\n{YAML}")
        assert names(pieces) == ["one", "one"]
        assert len(wrong(pieces)) == 1
    assert wrong(read("a: [\n"))[0][0] == 2


@pytest.mark.parametrize("bad", ['{"kind": 7,,}', '{"kind": "Pod"', "soup", '{"kind": "Pod"}'])
def test_a_bad_line_does_not_spoil_its_neighbours(bad: str) -> None:
    """Of JSON lines each is read for itself, and told by its own number."""
    pieces = read("\n".join([json.dumps(POD), "", bad, json.dumps(CLAIM), ""]))

    assert names(pieces) == ["one", "two"]
    assert [line for line, _, _ in wrong(pieces)] == [3]


def test_a_value_nested_too_deep_does_not_spoil_its_neighbours() -> None:
    """It is read as null, as in what a cluster lists."""
    deep = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "deep"}, "spec": %s}'
    nested = deep % ('{"a":' * 5000 + "1" + "}" * 5000)
    pieces = read(f'{{"kind": "List", "items": [{json.dumps(POD)}, {nested}]}}')

    assert (names(pieces), wrong(pieces)) == (["one", "deep"], [])


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        pytest.param("a: 1\n", [], id="no-object"),
        pytest.param("apiVersion: v1\nkind: Pod\n", [Empty("v1", "Pod")], id="object"),
        pytest.param('{"apiVersion": "v1", "kind": "Pod"}', [Empty("v1", "Pod")], id="json-object"),
        pytest.param("a: [\n", [None], id="no-yaml"),
        pytest.param("{,}", [None], id="no-json"),
        pytest.param("kind: List\nitems: soup\n", [None], id="no-list"),
        pytest.param('{"kind": "List", "items": "soup"}', [None], id="no-json-list"),
    ],
)
def test_what_is_lost_is_told_from_what_is_no_object(text: str, lost: list[Empty | None]) -> None:
    """An object of a kind, what may hold any, and a file of other things that holds none."""
    assert [one.kind for one in read(text) if isinstance(one, LostError)] == lost


def test_a_mapped_file_reads_as_its_bytes_do() -> None:
    """JSON larger than memory is mapped, and comes out the same, faults included."""
    text = json.dumps({"kind": "List", "items": [POD, {"kind": 1}, CLAIM]}, indent=4).encode()
    with tempfile.TemporaryFile() as file:
        file.write(text)
        file.flush()
        mapped = list(read_manifests(mmap(file.fileno(), 0, access=ACCESS_READ), "f"))

    assert names(mapped) == names(read(text)) == ["one", "two"]
    assert wrong(mapped) == wrong(read(text)) != []


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_read_or_refused(text: bytes) -> None:
    """Nothing makes it fail otherwise."""
    read(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=9),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["kind", "apiVersion", "metadata", "items", "name", "labels"]),
                inner,
            )
        ),
    )
)
def test_any_json_is_read_or_refused(value: object) -> None:
    """Nothing is left out of what a text holds: each document gives at least one piece."""
    pieces = read(json.dumps(value))

    if isinstance(value, dict) and "items" not in value:
        assert len(pieces) == 1


def test_the_samples_of_this_project_are_read(tmp_path: Path) -> None:
    """The safety pack: many documents a file, block texts, comments."""
    for path in Path("src/suture/policy/pack").glob("*.yaml"):
        assert wrong(read(path.read_bytes())) == []
