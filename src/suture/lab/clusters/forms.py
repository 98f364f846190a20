"""Forms: JSON with gaps, filled in once an object, for what is made by the hundred thousand.

Apart from `pods`, which makes clusters with them, because who lets pods come and go uses them too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_GAP = re.compile(rb"@@(\w+)@@")


class Form:
    """Text with gaps written `@@name@@`."""

    __slots__ = ("_gaps", "_parts")

    def __init__(self, text: bytes) -> None:
        # WHY cut once: joining 20 parts of 9 KB takes 1 us, formatting and encoding them 4.
        self._parts = _GAP.split(text)
        self._gaps = [
            (at, name.decode())
            for at, name in enumerate(self._parts)
            if at % 2  # every other
        ]

    def filled(self, values: Mapping[str, str]) -> bytes:
        """Return the text with a value in each gap."""
        known = {name: value.encode() for name, value in values.items()}
        parts = self._parts.copy()
        for at, name in self._gaps:
            parts[at] = known[name]
        return b"".join(parts)
