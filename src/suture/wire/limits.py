"""Limits of a JSON text, read off its bytes before any parser walks it.

Here because it is about bytes, before there are values; pure. A parser or a recursive reader that
meets 100,000 open brackets ends in a RecursionError or worse, and nothing Kubernetes stores is
nested by more than a few dozen: such a body is refused as a whole, whoever would have read it.
"""

from __future__ import annotations

from itertools import accumulate

from suture.errors import InputError

MAX_DEPTH = 128
"""LIMIT: the deepest built-in objects nest 25, structural CRD schemas 40; a review adds 3. Each
level costs a recursive reader one to three of Python's 1,000 frames."""

MAX_CONTAINERS = 200_000
"""LIMIT: objects and arrays in one body, and strings with brackets in them. A pod with its managed
fields has 150, a review two of them; 200,000 are counted in 20 ms."""

_QUOTE, _EMPTY, _BACKSLASH = b'"', b'""', b"\\"
_OPEN, _CLOSE, _LETTER = 1, 255, 2
_BRACKETS = {"{": _OPEN, "[": _OPEN, "}": _CLOSE, "]": _CLOSE}
_ESCAPABLE = b"/bfnrtu"


def _table(letters: bytes) -> bytes:
    table = bytearray(range(256))
    for bracket, mark in _BRACKETS.items():
        table[ord(bracket)] = mark
    for letter in letters:
        table[letter] = _LETTER
    return bytes(table)


def _all_but(kept: bytes) -> bytes:
    return bytes(byte for byte in range(256) if byte not in kept)


_ALL_BUT_BRACKETS = _all_but(b"{}[]")
_PLAIN_TABLE, _PLAIN_DELETED = _table(b""), _all_but(b'"{}[]')
_ESCAPED_TABLE, _ESCAPED_DELETED = _table(_ESCAPABLE), _all_but(b'"{}[]\\' + _ESCAPABLE)
_STAND_INS = bytes([_LETTER]) + _BACKSLASH
_PAIR = bytes([_OPEN, _CLOSE])


class JsonTooDeepError(InputError):
    """The body nests deeper than anything Kubernetes has; HTTP 400."""

    code = "json_too_deep"

    def __init__(self, depth: int, max_depth: int) -> None:
        super().__init__(f"JSON is nested {depth} deep, more than the {max_depth} allowed")
        self.depth = depth


class JsonTooManyNodesError(InputError):
    """The body has more objects and arrays than anything Kubernetes has; HTTP 400."""

    code = "json_too_many_nodes"

    def __init__(self, max_containers: int) -> None:
        super().__init__(
            f"JSON has more than {max_containers} objects, arrays or bracketed strings"
        )


def check_depth(
    body: bytes, max_depth: int = MAX_DEPTH, max_containers: int = MAX_CONTAINERS
) -> None:
    """Refuse a JSON text that nests too deep or too often, in time linear in its size.

    Says nothing else about the text: what is not JSON passes here, or is refused one level early,
    and is refused by the parser.
    Cost: 1 ns per byte for most reviews, 4 ns at most.
    Errors: `JsonTooDeepError`, `JsonTooManyNodesError`.
    """
    brackets = body.translate(_PLAIN_TABLE, _ALL_BUT_BRACKETS)
    # The first cheap way out: too few brackets, in strings or not, to nest that deep.
    if len(brackets) <= max_depth:
        return
    # The second: no place of a JSON text is deeper than the brackets opened before it, nor than
    # those closed after it; and few are opened before its middle, which are then closed after it.
    middle = len(brackets) // 2
    opened, closed = brackets.count(_OPEN, 0, middle), brackets.count(_CLOSE, middle)
    if len(brackets) == 2 * middle and opened == closed <= max_depth and middle <= max_containers:
        return
    marks = _marks(body)
    opened = marks.count(_OPEN)
    # The third: too few of them hold another (the leaves of managed fields are `{}`). Brackets in
    # strings are counted here too, which can only make it look deeper; quotes, which are still
    # there, keep a bracket in a string from pairing with one outside.
    if opened - marks.count(_PAIR) < max_depth and opened <= max_containers:
        return
    # The fourth: the same, once strings without brackets no longer stand between two of a pair.
    marks = _without_plain_strings(marks)
    holding = marks.replace(_PAIR, b"").count(_OPEN)
    if holding < max_depth and opened <= max_containers:
        return
    brackets = _without_strings(marks, max_containers)
    if len(brackets) > 2 * max_containers:
        raise JsonTooManyNodesError(max_containers)
    depth = _depth(brackets)
    if depth > max_depth:
        raise JsonTooDeepError(depth, max_depth)


def _marks(body: bytes) -> bytes:
    """Return the brackets, as marks, the quotes, and what is needed to tell escaped ones."""
    if _BACKSLASH not in body:
        return body.translate(_PLAIN_TABLE, _PLAIN_DELETED)
    # WHY letters stay: without the n between them, `\n` and the end of a string would look like
    # an escaped quote.
    return body.translate(_ESCAPED_TABLE, _ESCAPED_DELETED)


def _without_plain_strings(marks: bytes) -> bytes:
    """Drop strings without brackets, and what is escaped in the others."""
    if _BACKSLASH in marks:
        # Escaped backslashes first: then what is before a quote escapes it.
        marks = marks.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _STAND_INS)
    # WHY first: nearly always it is so, and then all can go at once. An odd number of quotes stands
    # before a bracket in a string, so that some of them have no neighbour of their own.
    if 2 * marks.count(_EMPTY) == marks.count(_QUOTE):
        return marks.translate(None, _QUOTE)
    # INVARIANT: taking two neighbouring quotes away leaves every other mark inside or outside,
    # as it was, even where they are the end of one string and the beginning of the next.
    return marks.replace(_EMPTY, b"")


def _without_strings(marks: bytes, max_strings: int) -> bytes:
    """Drop what is between the quotes that are left, and the quotes."""
    if marks.count(_QUOTE) > 2 * max_strings:
        raise JsonTooManyNodesError(max_strings)
    return b"".join(marks.split(_QUOTE)[::2])


def _depth(brackets: bytes) -> int:
    # Innermost pairs, half and more of all brackets, go in one step of C.
    outer = brackets.replace(_PAIR, b"")
    innermost = 1 if len(outer) < len(brackets) else 0
    # As signed bytes an opening mark is 1 and a closing one is -1.
    return innermost + max(accumulate(memoryview(outer).cast("b")), default=0)
