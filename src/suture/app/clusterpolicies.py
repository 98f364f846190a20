"""Policies that people put on the cluster: followed, compiled beside those of files, put in force.

The safety pack, or the files that stand in for it, are the base. A template or constraint of the
cluster takes the place of one of the same kind and name; what is wrong is left out and told, and
then the base's own stays in force: a mistake never leaves a cluster with less than it had.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import structlog

from suture.app.enforce import NONE_SERVED, Source, follow
from suture.install.policies import TEMPLATES_PATH, constraints_path
from suture.model.documents import Document
from suture.policy.compile import PolicySet, compile_all
from suture.policy.format import API_VERSION, TEMPLATE_KIND

log = structlog.get_logger(__name__)

ABSENT_S = 10.0
"""LIMIT: between two looks for a kind that is not served: 25 of them are three requests a second
where nobody has installed the definitions."""

Put = Callable[[PolicySet], None]


class _List(msgspec.Struct):
    items: list[dict[str, object]] = []


_decoder = msgspec.json.Decoder(_List)


@dataclass(frozen=True, slots=True)
class InForce:
    """What base and cluster come to: the policies, and what is wrong with documents left out."""

    policies: PolicySet
    problems: Mapping[str, str]
    """Messages by document, as `ShareBudget/share-budget`."""


def combine(base: Iterable[Document], cluster: Iterable[Document]) -> InForce:
    """Compile both; documents of the cluster that are wrong are left out. Never raises for them."""
    base, kept = list(base), list(cluster)
    problems: dict[str, str] = {}
    while True:
        compiled = compile_all(merged(base, kept))
        named = {document.source for document in kept}
        wrong: dict[str, str] = {}
        for error in compiled.errors:
            if error.source in named:
                wrong.setdefault(error.source, str(error))
        if compiled.errors and not wrong:
            # WHY: a template of the cluster that took another's place breaks its constraints.
            words = str(compiled.errors[0])
            wrong = {one.source: words for one in kept if one.at(("kind",)) == TEMPLATE_KIND}
        problems |= wrong
        if not wrong:
            return InForce(compiled.policies, problems)
        kept = [document for document in kept if document.source not in wrong]


def merged(base: Iterable[Document], own: Iterable[Document]) -> list[Document]:
    """Return policies with others over them: one takes the place of its namesake of the kind."""
    own = list(own)
    replaced = {_identity(document) for document in own}
    return [*(one for one in base if _identity(one) not in replaced), *own]


def _identity(document: Document) -> tuple[object, object]:
    return document.at(("kind",)), document.at(("metadata", "name"))


def documents_of(body: bytes, kind: str) -> tuple[Document, ...]:
    """Read a list as the API server serves it: items without their kind, which is `kind`.

    Errors: msgspec.MsgspecError for what is no list.
    """
    return tuple(_document(item, kind) for item in _decoder.decode(body).items)


def kinds_of(documents: Iterable[Document]) -> tuple[str, ...]:
    """Return the constraint kinds that templates among the documents declare, sorted."""
    found = {
        document.at(("spec", "constraintKind"))
        for document in documents
        if document.at(("kind",)) == TEMPLATE_KIND
    }
    return tuple(sorted(kind for kind in found if isinstance(kind, str) and kind.isalnum()))


class ClusterPolicies:
    """Keeps the policies in force as files and cluster say together."""

    def __init__(self, source: Source, base: Sequence[Document], put: Put) -> None:
        """Take what is in force already as `base`; `put` is called with each set after that."""
        self._source = source
        self._base = tuple(base)
        self._put = put
        self._found: dict[str, tuple[Document, ...]] = {}
        self._followed: dict[str, asyncio.Task[None]] = {}
        self._compiled: tuple[Document, ...] = ()
        self._changed = asyncio.Event()
        self._complete = False
        self.problems: Mapping[str, str] = {}
        """What is not in force, and why."""

    @property
    def read(self) -> bool:
        """Whether every kind was read once, and what was read then put in force."""
        return self._complete

    async def run(self) -> None:
        """Follow them all; never returns."""
        async with asyncio.TaskGroup() as tasks:
            self._follow(tasks, TEMPLATE_KIND, TEMPLATES_PATH)
            while True:
                for kind in self._kinds():
                    self._follow(tasks, kind, constraints_path(kind))
                await self._changed.wait()
                self._changed.clear()
                await self._compile()

    def take(self, kind: str, body: bytes) -> None:
        """Note all objects of a kind as they are now."""
        self._found[kind] = documents_of(body, kind)
        self._changed.set()

    def _kinds(self) -> tuple[str, ...]:
        return kinds_of([*self._base, *self._found.get(TEMPLATE_KIND, ())])

    def _follow(self, tasks: asyncio.TaskGroup, kind: str, path: str) -> None:
        if kind not in self._followed:
            self._followed[kind] = tasks.create_task(
                follow(
                    self._source,
                    path,
                    lambda body: self.take(kind, body),
                    absent=NONE_SERVED,
                    absent_s=ABSENT_S,
                )
            )

    async def _compile(self) -> None:
        documents = tuple(one for kind in sorted(self._found) for one in self._found[kind])
        if documents != self._compiled:
            # WHY a thread: expressions of a whole pack take half a second, and reviews wait.
            found = await asyncio.to_thread(combine, self._base, documents)
            self._compiled = documents
            for at, problem in found.problems.items():
                if self.problems.get(at) != problem:
                    log.error("policy is not in force", policy=at, problem=problem)
            self.problems = found.problems
            self._put(found.policies)
            log.info("policies in force", digest=found.policies.digest, own=len(documents))
        self._complete |= self._found.keys() >= {TEMPLATE_KIND, *self._kinds()}


def _document(item: dict[str, object], kind: str) -> Document:
    metadata = item.get("metadata")
    name = metadata.get("name", "") if isinstance(metadata, dict) else ""
    value = {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}}
    # WHY only these: versions and managers change without the policy, which is not compiled anew.
    return Document(f"{kind}/{name}", {**value, "spec": item.get("spec", {})})
