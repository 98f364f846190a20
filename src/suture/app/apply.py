"""Documents are put on a cluster, in order, or compared with what is there.

Owns no rule: which documents, `install` says; the rights are those of the person who asks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec

from suture.errors import NotFoundError, SutureError, UnavailableError
from suture.install.paths import label_of, path_of

Document = dict[str, Any]

SHOWN_CHARS = 120
"""LIMIT: of a value that differs: expressions have thousands of characters, a line has these."""

KIND_S = 30.0
"""LIMIT: an API server serves a new kind within 3 s; several of them take ten times that."""

POLL_S = 0.5
"""LIMIT: between two looks at a Deployment; a person is waiting, a cluster is not hurt."""


class Cluster(Protocol):
    """What applying needs of an API server."""

    async def get(self, path: str) -> Document:
        """Read an object. Errors: NotFoundError and other SutureErrors."""
        ...

    async def patch(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        type: Literal["apply"],  # noqa: A002 the client's own word
        dry_run: bool = False,
        force: bool = False,
    ) -> Document:
        """Apply an object, server-side; return it as it is then."""
        ...


class Difference(msgspec.Struct, frozen=True):
    """How a live object differs: absent, or what each field is and would become."""

    label: str
    absent: bool = False
    fields: tuple[tuple[str, str, str], ...] = ()


async def apply_documents(
    cluster: Cluster,
    documents: Sequence[Document],
    report: Callable[[str], None] = lambda _: None,
) -> None:
    """Apply documents in their order; fields that others hold are taken. Errors: SutureError."""
    for document in documents:
        report(label_of(document))
        await cluster.patch(path_of(document), document, type="apply", force=True)


async def await_kind(cluster: Cluster, path: str, report: Callable[[str], None]) -> None:
    """Wait until a kind that was just defined is served.

    Errors: UnavailableError when it is not within `KIND_S`.
    """
    report(f"{path} to be served")
    problem: SutureError | None = None
    try:
        async with asyncio.timeout(KIND_S):
            while True:
                try:
                    await cluster.get(path)
                except (NotFoundError, UnavailableError) as error:
                    problem = error
                    await asyncio.sleep(POLL_S)
                else:
                    return
    except TimeoutError:
        raise UnavailableError(f"`{path}` is not served after {KIND_S:.0f} s: {problem}") from None


async def await_deployment(
    cluster: Cluster, document: Document, timeout_s: float, report: Callable[[str], None]
) -> None:
    """Wait until a Deployment is available as it was just applied.

    Errors: UnavailableError when it is not in time, with what the cluster says of it.
    """
    report(f"{label_of(document)} to be available")
    words = "it is not there"
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                found = await cluster.get(path_of(document))
                status = found.get("status", {})
                current = status.get("observedGeneration") == found["metadata"].get("generation")
                wanted = found["spec"].get("replicas", 1)
                ready = status.get("updatedReplicas", 0), status.get("availableReplicas", 0)
                if current and min(ready) >= wanted:
                    return
                words = "; ".join(
                    str(one.get("message", ""))
                    for one in status.get("conditions", ())
                    if one.get("status") != "True" or one.get("type") == "Progressing"
                )
                await asyncio.sleep(POLL_S)
    except TimeoutError:
        raise UnavailableError(
            f"{label_of(document)} is not available after {timeout_s:.0f} s: "
            f"{words or 'its pods do not get ready'}; nothing was registered"
        ) from None


async def compare(cluster: Cluster, documents: Sequence[Document]) -> tuple[Difference, ...]:
    """Return what applying would change, by asking the server for a dry run of it."""
    found = []
    for document in documents:
        path = path_of(document)
        try:
            live = await cluster.get(path)
        except NotFoundError:
            found.append(Difference(label_of(document), absent=True))
            continue
        wanted = await cluster.patch(path, document, type="apply", dry_run=True, force=True)
        fields = tuple(differences(_compared(live), _compared(wanted)))
        if document["kind"] == "Secret" and live.get("data") != wanted.get("data"):
            fields = (*fields, ("data", "not shown", "differs"))
        if fields:
            found.append(Difference(label_of(document), fields=fields))
    return tuple(found)


def differences(live: object, wanted: object, at: str = "") -> list[tuple[str, str, str]]:
    """Return every leaf that differs as (field, live, wanted)."""
    if isinstance(live, dict) and isinstance(wanted, dict):
        return [
            line
            for key in sorted({*live, *wanted})
            for line in differences(live.get(key), wanted.get(key), f"{at}.{key}" if at else key)
        ]
    if isinstance(live, list) and isinstance(wanted, list) and len(live) == len(wanted):
        return [
            line
            for index, (one, other) in enumerate(zip(live, wanted, strict=True))
            for line in differences(one, other, f"{at}[{index}]")
        ]
    return [] if live == wanted else [(at, *_shown(live, wanted))]


def _compared(document: Document) -> Document:
    """Leave out what is the server's own, and what must not be printed."""
    metadata = {
        key: value
        for key, value in document.get("metadata", {}).items()
        if key not in {"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"}
    }
    kept = {key: value for key, value in document.items() if key != "status"}
    if document.get("kind") == "Secret":
        kept = {key: value for key, value in kept.items() if key not in {"data", "stringData"}}
    return {**kept, "metadata": metadata}


def _shown(live: object, wanted: object) -> tuple[str, str]:
    """Return both values as text, long ones from a little before where they part."""
    one, other = _text(live), _text(wanted)
    start = 0
    if max(len(one), len(other)) > SHOWN_CHARS:
        parted = next(
            (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
            min(len(one), len(other)),
        )
        start = max(0, parted - SHOWN_CHARS // 4)
    return _cut(one, start), _cut(other, start)


def _text(value: object) -> str:
    return "absent" if value is None else msgspec.json.encode(value).decode()


def _cut(words: str, start: int) -> str:
    found = words[start : start + SHOWN_CHARS]
    return f"{'…' if start else ''}{found}{'…' if start + SHOWN_CHARS < len(words) else ''}"
