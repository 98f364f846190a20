"""Values that rows share, and texts in one block, beside dicts that hold the same."""

from __future__ import annotations

import json
import subprocess
import sys

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as changed

from support.cluster import thing
from suture.model.edges import Edge, Need
from suture.model.graph import Graph
from suture.model.graph.columns import COMPILED
from suture.model.graph.detail import Detail
from suture.model.graph.hashing import siphash
from suture.model.graph.hashtable import HASH, SEGMENT_SHIFT, HashTable
from suture.model.graph.names import Names
from suture.model.graph.saved import blocks, restored
from suture.model.names import CONFIG_MAPS, SECRETS, ObjectKey

SECRET = ObjectKey(SECRETS, "default", "s")

ROWS = st.integers(0, 99)


def hash_of(row: int) -> int:
    """Few hashes, in which rows meet, at both ends of a segment and of the table."""
    return (0, 1, 7, 8, 1 << SEGMENT_SHIFT, (1 << SEGMENT_SHIFT) + 7, HASH)[row % 7]


@given(st.lists(ROWS))
def test_a_table_holds_what_a_set_holds(changes: list[int]) -> None:
    """Whatever comes and goes, and whichever hash it shares."""
    table, rows = HashTable(hash_of), set[int]()
    for row in changes:
        assert table.remove(hash_of(row), row) is (row in rows)
        if row not in rows:
            table.insert(hash_of(row), row)
        rows ^= {row}
        assert len(table) == len(rows)
    found = {row for row in range(100) if row in table.candidates(hash_of(row))}
    assert found == rows


@given(st.lists(st.binary(max_size=2)), st.lists(st.integers(0, 200)), st.binary(max_size=2))
def test_values_are_shared_after_they_were_restored(
    values: list[bytes], released: list[int], asked: bytes
) -> None:
    """Numbers, uses, free numbers and free room are those of the one that was written down."""
    graph = Graph(b"secret")
    first = graph.label_sets
    used = [first.use(value) for value in values]
    for at in released:
        if used:
            first.release(used.pop(at % len(used)))
    made = {name: bytes(make()) for name, make in blocks(graph).items()}
    again = restored(made.__getitem__).label_sets
    assert len(again) == len(first)
    for number in used:
        assert again.uses_of(number) == first.uses_of(number)
    for value in [*dict.fromkeys(values), asked]:
        number = again.use(value)
        assert number == first.use(value)
        assert again[number] == first[number] == value
        assert again.uses_of(number) == first.uses_of(number)
    assert again.texts.block == first.texts.block


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from((0, 1, 4, 5, 65_535, 65_536, 70_000))))
)
def test_texts_of_any_size_come_back(changes: list[tuple[int, int]]) -> None:
    """Room is used again; a long text is kept whole."""
    texts, wanted = Names(), dict[int, bytes]()
    texts.grow()
    for step, (number, size) in enumerate(changes):
        if wanted.pop(number, None) is not None:
            texts.clear(number)
        wanted[number] = text = bytes([step % 251]) * size
        texts.set(number, text)
        for one in range(4):
            assert texts.get(one) == wanted.get(one, b"")
            if wanted.get(one, b"").isascii():
                assert texts.text(one) == wanted.get(one, b"").decode()
            assert texts.same(one, wanted.get(one, b""))
            assert not texts.same(one, b"another")
    held = len(texts.block)
    for number, text in wanted.items():
        texts.clear(number)
        texts.set(number, text)
    assert len(texts.block) == held


def test_numbers_beyond_a_narrow_column_are_kept() -> None:
    """After 65,536 meanings and sets of finalizers the next ones are no others, in a file too."""
    graph = Graph()
    pair = [
        changed(
            thing(CONFIG_MAPS, name),
            finalizers=(name,),
            needs=(Need(Edge.SECRET, SECRET, name),),
        )
        for name in ("first", "last")
    ]
    graph.put(pair[0])
    for number in range(1 << 16):
        graph.details.number(Detail(Edge.SECRET, key=str(number)))
        graph.trait_sets.use(b"%d" % number)
    graph.put(pair[1])
    made = {name: bytes(make()) for name, make in blocks(graph).items()}
    for one in (graph, restored(made.__getitem__)):
        for wanted in pair:
            row = one.row(wanted.key)
            assert row is not None
            assert one.at(row) == wanted
            assert one.needs_of(row) == wanted.needs


def test_a_graph_that_was_made_by_another_hash_finds_everything() -> None:
    """Machine code and plain Python hash by different functions, and read each other's files."""
    graph = Graph(b"secret")
    for number in range(3000):
        graph.put(thing(SECRETS, f"name-{number}", f"space-{number % 7}"))
    made = {name: bytes(make()) for name, make in blocks(graph).items()}
    table = msgspec.msgpack.decode(made["table"])
    made["table"] = msgspec.msgpack.encode({**table, "hashing": "another", "secret": b"other"})
    again = restored(made.__getitem__)
    again.check()
    assert {one.key for one in again} == {one.key for one in graph}
    for one in graph:
        row = again.row(one.key)
        assert row is not None
        assert again.row_of_uid(one.uid) == row


@pytest.mark.skipif(
    not COMPILED or sys.hash_info.algorithm != "siphash13",
    reason="its sums wrap around in machine code alone; an interpreter of another hash tells nothing",
)
def test_siphash_is_what_the_interpreter_hashes_by() -> None:
    """Under a key of zeros, which is what the interpreter has where its hashes are no secret."""
    texts = [bytes(range(size)) for size in range(1, 70)]
    told = subprocess.run(
        [sys.executable, "-c", f"print([hash(text) for text in {texts!r}])"],
        env={"PYTHONHASHSEED": "0"},
        capture_output=True,
        check=True,
        text=True,
    )
    assert [siphash(text, 0, 0) for text in texts] == json.loads(told.stdout)
