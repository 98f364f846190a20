"""JSON that others write and the decoder refuses, made into JSON that it reads.

Beside `limits`, which refuses such bodies of requests: what is stored already cannot be refused,
and one odd object must not hide the list that it stands in. Pure. For the rare text alone: it
takes ten times as long as reading.
"""

from __future__ import annotations

import re

from suture.wire.limits import MAX_DEPTH

# WHY the last quote may be missing: a text that ends within a string is walked once, not once a
# quote.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.DOTALL)

_HALF = re.compile(
    rb"\\\\"
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_REPLACEMENT = rb"\ufffd"


def mended(text: bytes, max_depth: int = MAX_DEPTH) -> bytes:
    """Return a JSON text with what is nested deeper than `max_depth` as null.

    Halves of characters, which no text can hold, become U+FFFD, as Go reads them. Says nothing
    else about the text: what is not JSON is none afterwards.
    """
    return _HALF.sub(_whole, _shallow(text, max_depth))


def _shallow(text: bytes, max_depth: int) -> bytes:
    pieces: list[bytes] = []
    depth = kept_to = 0
    for token in _TOKEN.finditer(text):
        first = text[token.start()]
        if first in b"[{":
            if depth == max_depth:
                pieces += (text[kept_to : token.start()], b"null")
            depth += 1
        elif first in b"]}":
            depth -= 1
            if depth == max_depth:
                kept_to = token.end()
    if not pieces:
        return text
    # INVARIANT: a text that ends too deep ends in the null that stands for it.
    return b"".join(pieces) + (text[kept_to:] if depth <= max_depth else b"")


def _whole(escape: re.Match[bytes]) -> bytes:
    found = escape[0]
    return _REPLACEMENT if len(found) == 6 else found
