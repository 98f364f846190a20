"""An API server for one type, as a script: what it has told, and what it adds up to."""

from __future__ import annotations

import json
from typing import Any

Stored = dict[str, tuple[str, int]]
"""What there is: uid and version, by name."""


class Server:
    """An API server for one type, as small as it can be: a history, and what it adds up to."""

    def __init__(self) -> None:
        self.version = 10
        self.stored: Stored = {}
        self.history: list[tuple[int, bytes]] = []
        self.compacted = 0
        self._lives = 0

    def write(self, name: str, *, delete: bool) -> None:
        """Create or change an object, or delete it where it is there."""
        if delete and name not in self.stored:
            return
        self.version += 1
        if delete:
            uid, kind = self.stored.pop(name)[0], "DELETED"
        elif name in self.stored:
            uid, kind = self.stored[name][0], "MODIFIED"
        else:
            self._lives += 1
            uid, kind = f"uid-{self._lives}", "ADDED"
        if not delete:
            self.stored[name] = (uid, self.version)
        self.history.append((self.version, event(kind, name, uid, self.version)))

    def since(self, version: str) -> list[bytes] | None:
        """Return the lines after a version; None where that is compacted."""
        if int(version) < self.compacted:
            return None
        return [line for number, line in self.history if number > int(version)]

    def pages(self, size: int = 2) -> list[bytes]:
        """Return the list, cut into pages."""
        items = [thing(name, uid, version) for name, (uid, version) in sorted(self.stored.items())]
        cuts = [items[at : at + size] for at in range(0, len(items), size)] or [[]]
        return [
            json.dumps(
                {
                    "metadata": {"resourceVersion": str(self.version)}
                    | ({"continue": "more"} if cut is not cuts[-1] else {}),
                    "items": cut,
                }
            ).encode()
            for cut in cuts
        ]

    def stream(self) -> list[bytes]:
        """Return the list as the beginning of a watch."""
        lines = [event("ADDED", name, *state) for name, state in sorted(self.stored.items())]
        return [*lines, bookmark(self.version, initial=True)]


def thing(name: str, uid: str, version: int) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": "n", "uid": uid, "resourceVersion": str(version)}
    }


def event(kind: str, name: str, uid: str, version: int) -> bytes:
    return json.dumps({"type": kind, "object": thing(name, uid, version)}).encode() + b"\n"


def bookmark(version: int, *, initial: bool = False) -> bytes:
    meta: dict[str, Any] = {"resourceVersion": str(version)}
    if initial:
        meta["annotations"] = {"k8s.io/initial-events-end": "true"}
    return json.dumps({"type": "BOOKMARK", "object": {"metadata": meta}}).encode() + b"\n"
