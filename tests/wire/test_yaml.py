"""YAML as kubectl reads it, with lines, and with bounds."""

from __future__ import annotations

import contextlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.errors import DocumentError
from suture.model.documents import Document
from suture.wire import yaml
from suture.wire.yaml import read_documents, read_each


def value_of(text: str) -> object:
    [document] = read_documents(text, "test.yaml")
    return document.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("no", False, id="no-is-false"),
        pytest.param("y", True, id="y-is-true-as-for-kubectl"),
        pytest.param("off", False, id="off-is-false"),
        pytest.param("'no'", "no", id="quoted-no-is-text"),
        pytest.param("~", None, id="tilde-is-null"),
        pytest.param("2020-01-01", "2020-01-01", id="a-date-is-text"),
        pytest.param("12:30", "12:30", id="no-sixty-based-numbers"),
        pytest.param("0644", 420, id="octal"),
        pytest.param("0x1f", 31, id="hexadecimal"),
        pytest.param("1_000", 1000, id="underscores"),
        pytest.param("-3", -3, id="negative"),
        pytest.param("1e3", 1000.0, id="exponent-without-a-dot"),
        pytest.param(".5", 0.5, id="no-leading-zero"),
        pytest.param("1.2.3", "1.2.3", id="a-version-is-text"),
        pytest.param("9" * 60, 1e60, id="a-very-long-number-is-a-float"),
        pytest.param("!!str 5", "5", id="tagged-text"),
        pytest.param("!!float 5", 5.0, id="tagged-float"),
        pytest.param("|\n  a\n  b\n", "a\nb\n", id="literal"),
        pytest.param(">\n  a\n  b\n", "a b\n", id="folded"),
    ],
)
def test_scalars(text: str, value: object) -> None:
    """A plain scalar means what it means to kubectl, dates and base sixty excepted."""
    read = value_of(f"key: {text}")
    assert read == {"key": value}
    assert isinstance(read, dict)
    assert type(read["key"]) is type(value)


def test_keys_are_text_as_written() -> None:
    """A key is never turned into a boolean or a number: `n: 5` counts something."""
    assert value_of("{n: 5, on: 1, 7: seven, null: 0, 1.5: x}") == {
        "n": 5,
        "on": 1,
        "7": "seven",
        "null": 0,
        "1.5": "x",
    }


def test_lines_are_those_of_keys_and_items() -> None:
    [first, second] = read_documents("a:\n  b:\n  - x\n  - {c: 1}\n---\n\nd: 1\n", "f.yaml")
    assert first.line(("a", "b", 1, "c")) == 4
    assert first.line(("a", "b", 9)) == 2
    assert first.line(("missing",)) == 1
    assert second.line(("d",)) == 7


def test_lines_within_a_literal_block() -> None:
    """Line 2 of a block's text is a line of the file; folded text has only its own."""
    [document] = read_documents("a: |\n  one\n  two\nb: >-\n  one\n  two\n", "f.yaml")
    assert document.line_of_text(("a",), 2) == 3
    assert document.line_of_text(("b",), 2) == 4


def test_empty_documents_are_left_out() -> None:
    documents = read_documents("---\n---\na: 1\n---\n# nothing\n", "f.yaml")
    assert [document.value for document in documents] == [{"a": 1}]


def test_merged_keys_give_way_to_written_ones() -> None:
    text = "base: &b {a: 1, b: 2}\nmore: &m {b: 3, c: 4}\nboth: {<<: [*b, *m], c: 5}\n"
    value = value_of(text)
    assert isinstance(value, dict)
    assert value["both"] == {"a": 1, "b": 2, "c": 5}


def test_json_is_yaml() -> None:
    assert value_of('{"a": [1, true, null, "x\\u00e9"]}') == {"a": [1, True, None, "xé"]}


def test_a_byte_order_mark_is_no_content() -> None:
    assert read_documents(b"\xef\xbb\xbfa: 1\n", "f.yaml")[0].value == {"a": 1}


LAUGHS = "a0: &x0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"a{level}: &x{level} [{', '.join([f'*x{level - 1}'] * 10)}]\n" for level in range(1, 9)
)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        pytest.param(
            "a: 1\nb: 2\na: 3\n", 3, "key `a` is given twice; first on line 1", id="twice"
        ),
        pytest.param("a:\n- b: 1\n  b: 2\n", 3, "key `b` is given twice", id="twice-inside"),
        pytest.param("a: [1\nb: 2\n", 2, "is not YAML", id="open-list"),
        pytest.param("a:\n\t- b\n", 2, "a tab cannot indent", id="tab"),
        pytest.param("a: 1\n b: 2\n", 2, "is not YAML", id="indent"),
        pytest.param("a: 'x\n", 2, "is not YAML", id="open-quote"),
        pytest.param("a: {{ .Values.x }}\n", 1, "a key must be plain text", id="unrendered-chart"),
        pytest.param("? [a]\n: 1\n", 1, "a key must be plain text", id="list-as-key"),
        pytest.param("a: *nothing\n", 1, "alias `*nothing` names nothing", id="unknown-alias"),
        pytest.param("a: &x [*x]\n", 1, "alias `*x` names nothing", id="alias-of-itself"),
        pytest.param("a: 1\nb: !!python/object:x {}\n", 2, "is not read", id="python-tag-on-a-map"),
        pytest.param("b: !thing 1\n", 1, "tag `!thing` is not read", id="tag"),
        pytest.param("b: !!int x\n", 1, "`x` is no `!!int`", id="tag-that-lies"),
        pytest.param("b: {<<: 5}\n", 1, "can merge mappings only", id="merge-of-a-number"),
        pytest.param("[" * 500, 1, "nested more than 100 deep", id="deep"),
        pytest.param(LAUGHS, 5, "by aliases", id="billion-laughs"),
        pytest.param(b"a: 1\nb: \xff\n", 2, "is not UTF-8", id="not-utf-8"),
        pytest.param("a: 1\nb: \x01\n", 2, "holds a bad character", id="control-character"),
    ],
)
def test_what_cannot_be_read_is_placed(text: str | bytes, line: int, problem: str) -> None:
    """Every class of malformed text gives its source and line."""
    with pytest.raises(DocumentError, match=r"^bad\.yaml:") as raised:
        read_documents(text, "bad.yaml")
    assert raised.value.line == line
    assert problem in raised.value.problem


def test_what_cannot_be_read_leaves_the_documents_beside_it() -> None:
    """Each with the lines of the file; a border within a document that is bad begins the next."""
    text = "a: 1\n---\nb: [\n--- # more\nc: 3\nd: 4\n---\n{{ .Values.x }}\n---\n|\n --- no\n"
    parts = list(read_each(text, "f"))
    sound = [one for one in parts if isinstance(one, Document)]

    assert [one.value for one in sound] == [{"a": 1}, {"c": 3, "d": 4}, "--- no\n"]
    assert sound[1].line(("d",)) == 6
    assert [one.line for one in parts if isinstance(one, DocumentError)] == [4, 8]


def test_aliases_are_counted_over_all_parts() -> None:
    """A file does not repeat more by being bad."""
    parts = list(read_each(f"{LAUGHS}\n---\na: &a 1\nb: *a\n", "f"))

    assert all("by aliases" in str(one) for one in parts)
    assert len(parts) == 2


def test_a_large_file_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DocumentError, match="too large"):
        read_documents(b" " * (yaml.MAX_BYTES + 1), "large.yaml")


@given(st.text(max_size=200) | st.binary(max_size=200))
def test_any_text_is_read_or_refused(text: str | bytes) -> None:
    """Whatever comes in, documents or a DocumentError come out."""
    documents: list[Document] = []
    with contextlib.suppress(DocumentError):
        documents = read_documents(text, "any.yaml")
    assert all(document.value is not None for document in documents)


# JSON allows more characters than YAML does: control characters, and those that are none.
_TEXT = st.text(
    st.characters(
        exclude_categories=("Cc", "Cs", "Cn", "Co", "Zl", "Zp"), exclude_characters="\ufeff"
    ),
    max_size=8,
)
_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=12,
)


@given(_PLAIN.filter(lambda value: value is not None))
def test_json_comes_back_as_it_was(value: object) -> None:
    """What a JSON writer wrote is read as the same value, whatever its keys."""
    text = msgspec.json.encode(value)
    [document] = read_documents(text, "json.yaml")
    assert document.value == value
