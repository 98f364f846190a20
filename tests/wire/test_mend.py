"""Mended JSON is JSON, and says what it said before, but for what was past all reason."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.wire.mend import mended

# Brackets, quotes, backslashes and halves of characters, far more often than by chance.
awkward = st.text(alphabet='{}[]"\\u,:nd8\té\U0001f600', max_size=10)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | awkward,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(awkward, inner, max_size=3),
    max_leaves=30,
)


def cut(value: Any, levels: int) -> Any:
    """Return a value without what is nested deeper, by walking it."""
    if isinstance(value, list | dict):
        if levels == 0:
            return None
        if isinstance(value, list):
            return [cut(one, levels - 1) for one in value]
        return {key: cut(one, levels - 1) for key, one in value.items()}
    return value


@given(value=values, levels=st.integers(0, 5), ascii_only=st.booleans())
def test_only_what_is_too_deep_is_cut(value: Any, levels: int, ascii_only: bool) -> None:
    """Whatever strings hold, exactly the values below the limit become null."""
    text = json.dumps(value, ensure_ascii=ascii_only).encode()
    assert json.loads(mended(text, levels)) == cut(value, levels)


@given(st.text(alphabet=["\ud83d", "\ude00", "a", "\\", '"'], max_size=8))
def test_halves_of_characters_are_replaced(text: str) -> None:
    """As Go does: pairs are characters, what is left of others is U+FFFD."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    # A codec may take two halves for one mistake; each is one here.
    found = msgspec.json.decode(mended(json.dumps(text).encode()))
    assert found.replace("\ufffd", "") == whole.replace("\ufffd", "")
    assert len(found) == len("".join(text).encode("utf-16-le", "surrogatepass")) // 2 - sum(
        ord(char) > 0xFFFF for char in found
    )


@pytest.mark.parametrize("levels", [200, 5_000, 200_000])
def test_however_deep(levels: int) -> None:
    """No depth is too deep to be mended, closed or not."""
    deep = b"[" * levels
    body = b'{"a":%s%s,"b":1}' % (deep, b"]" * levels)
    assert msgspec.json.decode(mended(body))["b"] == 1
    assert mended(deep).endswith(b"null")


@given(st.binary(max_size=60) | st.text(alphabet='{}[]"\\nud8', max_size=60).map(str.encode))
def test_any_bytes_are_taken(text: bytes) -> None:
    """What is no JSON comes through, and is none afterwards either, or is cut to some that is."""
    assert isinstance(mended(text, 3), bytes)
