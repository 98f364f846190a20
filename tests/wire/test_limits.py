"""Depth and size limits against a scanner that is slow and obvious."""

from __future__ import annotations

import json
import time
from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from suture.errors import InputError
from suture.wire.limits import (
    MAX_DEPTH,
    JsonTooDeepError,
    JsonTooManyNodesError,
    check_depth,
)


def obvious_depth(text: str) -> int:
    """Walk a JSON text character by character."""
    depth = deepest = 0
    in_string = escaped = False
    for char in text:
        if escaped:
            escaped = False
        elif in_string:
            escaped = char == "\\"
            in_string = char != '"'
        elif char == '"':
            in_string = True
        elif char in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "}]":
            depth -= 1
    return deepest


def measured_depth(body: bytes) -> int:
    """Find by halving what `check_depth` takes the depth to be, never asking it for the number."""
    low, high = 0, len(body)
    while low < high:
        middle = (low + high) // 2
        try:
            check_depth(body, middle)
        except JsonTooDeepError:
            low = middle + 1
        else:
            high = middle
    return low


# Brackets, quotes, backslashes and what may follow one, far more often than chance would have it.
awkward = st.text(alphabet='{}[]"\\/bfnrtu,: \n\té☃\U0001f600x', max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | awkward,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(awkward, inner, max_size=4),
    max_leaves=40,
)


@settings(max_examples=400)
@given(value=values, ascii_only=st.booleans(), indent=st.sampled_from([None, 1]))
@example(value=["\n", "["], ascii_only=True, indent=None)
@example(value={"\\": '\\"', "}": ["\\\\"]}, ascii_only=True, indent=None)
@example(value=["", "", '"', [["]"]]], ascii_only=False, indent=None)
def test_depth_is_that_of_the_obvious_scanner(
    value: object, ascii_only: bool, indent: int | None
) -> None:
    """For every JSON text the fast depth is the obvious one, whatever its strings hold."""
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert measured_depth(text.encode()) == obvious_depth(text)


@settings(max_examples=400)
@given(body=st.binary(max_size=60) | st.text(alphabet='{}[]"\\nux1,:', max_size=60).map(str.encode))
def test_any_bytes_get_a_clear_answer(body: bytes) -> None:
    """What is not JSON passes or is an InputError, never anything else."""
    refused: list[str] = []
    for max_depth in (0, 1, 5, 128):
        try:
            check_depth(body, max_depth)
        except InputError as error:
            refused.append(str(error))
    assert all("JSON" in message for message in refused)


@pytest.mark.parametrize(
    ("opening", "closing", "levels"),
    [
        pytest.param("[", "]", 1, id="arrays"),
        pytest.param('{"a":', "}", 1, id="objects"),
        pytest.param('[{"b\\"[":', "}]", 2, id="escaped-quote-in-key"),
        pytest.param('["]]]]",', "]", 1, id="closers-in-string"),
        pytest.param('["\\\\",', "]", 1, id="backslash-ends-string"),
        pytest.param('["\\n",', "]", 1, id="escape-ends-string"),
    ],
)
def test_limit_is_exact(opening: str, closing: str, levels: int) -> None:
    """As many levels as allowed pass; one more is refused and counted."""
    text = opening * 80 + "1" + closing * 80
    json.loads(text)
    depth = 80 * levels
    assert obvious_depth(text) == depth
    # Beside it, enough brackets side by side that their number alone decides nothing.
    text = f"[{'[],' * 300}{text}]"
    check_depth(text.encode(), depth + 1)
    with pytest.raises(JsonTooDeepError, match=f"{depth + 1} deep, more than the {depth} allowed"):
        check_depth(text.encode(), depth)


def test_default_limit() -> None:
    """A body of 129 levels is refused, one of 128 is not, also when it ends in the middle."""
    check_depth(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    for closing in (MAX_DEPTH + 1, 0):
        with pytest.raises(JsonTooDeepError):
            check_depth(b"[" * (MAX_DEPTH + 1) + b"]" * closing)


def test_brackets_in_strings_neither_hide_nor_add_depth() -> None:
    """Closing brackets in strings do not make up for open ones outside them."""
    hidden = b'["]]]]]]]]",' * 200 + b"1" + b"]" * 200
    with pytest.raises(JsonTooDeepError, match="200 deep"):
        check_depth(hidden)
    check_depth(b'["' + b"[" * 5000 + b'"]')


@pytest.mark.parametrize("piece", [b"[],", b'"[",[],', b'{"a":"}"},'])
def test_number_of_nodes_is_bounded(piece: bytes) -> None:
    """Wide bodies are refused by number before they cost time."""
    check_depth(b"[" + piece * 1000 + b"1]", max_containers=2002)
    with pytest.raises(JsonTooManyNodesError, match="more than 900 objects"):
        check_depth(b"[" + piece * 1000 + b"1]", max_containers=900)


@pytest.mark.parametrize("piece", [b"[]", b'"[",', b"\\", b'"', b"a", b'\\"', b"[", b'{"a":'])
def test_cost_is_linear(piece: bytes) -> None:
    """The worst bodies of the largest size take time in proportion to it."""

    def best_of_five_s(size: int) -> float:
        body = b"[" * 129 + piece * (size // len(piece))
        taken = []
        for _ in range(5):
            start = time.thread_time()
            with suppress(InputError):
                check_depth(body)
            taken.append(time.thread_time() - start)
        return min(taken)

    # 16 times the size, in CPU time, on machines that are busy: quadratic work would take 256
    # times as long, and minutes.
    small, large = best_of_five_s(3 << 18), best_of_five_s(12 << 20)
    assert large < 64 * small + 0.2
