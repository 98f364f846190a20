"""Keeps readers and watches in line with the rules of the cluster: ReferenceRules and definitions.

An observer of the model, as rules are objects like any other. Level-based: whenever one of them
changes, all of them are sorted again, and only the kinds whose rules differ are listed anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Protocol

import msgspec
import structlog

from suture.app.watches import Want, Watches
from suture.model.absence import ARGO_APPLICATIONS, ARGO_PROJECTS
from suture.model.graph import Graph
from suture.model.names import API_SERVICES, CRDS, SECRETS, Resource
from suture.model.objects import ClusterObject, CrdFacts, PodState
from suture.model.rulebook import KindRules, Waiting, rules_by_kind
from suture.model.rules import REFERENCE_RULES, ReferenceRule, RuleFacts
from suture.wire.kinds import SHAPES
from suture.wire.managedby import Applications

log = structlog.get_logger(__name__)

REGISTRAR = "rules"
"""Under which name kinds with rules are asked to be watched."""

NAMED_BY_MARKS = frozenset({ARGO_APPLICATIONS})
"""Kinds whose names tell what marks of others mean: they are listed before these."""

_HEEDED = frozenset({CRDS, REFERENCE_RULES, API_SERVICES, ARGO_PROJECTS, ARGO_APPLICATIONS})
"""Kinds by which rules, and what marks mean, are told."""

Later = Callable[[Callable[[], None]], object]


class Readers(Protocol):
    """What reads objects by rules."""

    applications: Applications
    """Where applications are whose marks do not say it."""

    def declare(self, rules: Mapping[Resource, KindRules]) -> None:
        """Put rules in force, in place of those before."""
        ...


class Rules:
    """All rules in force: of files, of the cluster's ReferenceRules, and of its definitions.

    Call `load` where a graph came from a file, and be an observer of it. What changes in one turn
    of the event loop is put in force once, in the next: a cluster brings a thousand definitions.
    """

    heeds: AbstractSet[Resource] | None = _HEEDED

    def __init__(
        self,
        readers: Readers,
        watches: Watches,
        graph: Graph,
        *,
        files: Iterable[ReferenceRule] = (),
        later: Later | None = None,
    ) -> None:
        self._readers = readers
        self._watches = watches
        self._graph = graph
        self._files = tuple(files)
        self._later = later or _next_turn
        self._declared: dict[str, ReferenceRule] = {}
        self._definitions: dict[str, CrdFacts] = {}
        self._due = False
        self.in_force: Mapping[Resource, KindRules] = {}
        """What the reader of each kind heeds."""
        self.waiting: tuple[Waiting, ...] = ()
        """Rules that are not in force, since nobody serves a type that they name."""
        self.problems: dict[str, str] = {}
        """ReferenceRules that make no sense, and why."""
        if self._files:
            self.apply()

    def load(self, graph: Graph) -> None:
        """Take over what a graph has already, as one that was read from a file does."""
        for resource in (CRDS, REFERENCE_RULES, ARGO_PROJECTS, ARGO_APPLICATIONS):
            for row in graph.rows(resource):
                self._take(graph.at(row))
        self.apply()

    # ---- as an observer

    def began(self, thing: ClusterObject) -> None:
        """Heed a new rule or definition."""
        if self._take(thing):
            self._mark()

    def changed(self, thing: ClusterObject, *, terminates: bool) -> None:  # noqa: ARG002 it stands until it is gone
        """Heed a rule or a definition as it is now."""
        self.began(thing)

    def restated(self, state: PodState) -> None:
        """Nothing: a pod says no rule."""

    def ended(self, thing: ClusterObject) -> None:
        """Forget a rule or a definition."""
        # WHY first: of all that ends, pods mostly, hardly anything is of these.
        if thing.key.resource not in _HEEDED:
            return
        name = thing.key.name
        self._readers.applications.note(thing.key, there=False)
        if thing.key.resource == REFERENCE_RULES:
            self.problems.pop(name, None)
            if self._declared.pop(name, None) is not None:
                self._mark()
        elif thing.key.resource == CRDS and self._definitions.pop(name, None) is not None:
            self._mark()

    def _take(self, thing: ClusterObject) -> bool:
        """Note what an object says; tell whether that is something new."""
        name, facts = thing.key.name, thing.facts
        if isinstance(facts, RuleFacts):
            return self._take_rule(name, facts)
        if isinstance(facts, CrdFacts):
            known = self._definitions.get(name)
            self._definitions[name] = facts
            return known is None or (known.rules, known.kind) != (facts.rules, facts.kind)
        applications = self._readers.applications
        applications.note(thing.key, there=True)
        if thing.key.resource == ARGO_APPLICATIONS:
            return name in applications.awaited
        # A new API may serve what a rule waits for.
        return thing.key.resource == API_SERVICES and bool(self.waiting)

    def _take_rule(self, name: str, facts: RuleFacts) -> bool:
        if facts.rule is None:
            if self.problems.get(name) != facts.problem:
                log.error("reference rule is not in force", rule=name, problem=facts.problem)
            self.problems[name] = facts.problem
            return self._declared.pop(name, None) is not None
        self.problems.pop(name, None)
        before = self._declared.get(name)
        self._declared[name] = facts.rule
        return before != facts.rule

    # ---- in force

    def _mark(self) -> None:
        if not self._due:
            self._due = True
            self._later(self.apply)

    def apply(self) -> None:
        """Put all rules in force now."""
        self._due = False
        rules = [*self._files, *self._declared.values()]
        kinds = dict(self._graph.kinds)
        for facts in self._definitions.values():
            # WHY not of kinds with a projection: who wrote that knows more than the schema tells.
            if facts.resource not in SHAPES:
                rules += facts.rules
            kinds[facts.resource.group, facts.kind] = facts.resource
        book = rules_by_kind(rules, kinds)
        if book.waiting != self.waiting:
            for one in book.waiting:
                log.warning("rule waits for a type", rule=one.rule, missing=str(one.missing))
        self.in_force, self.waiting = book.kinds, book.waiting
        self._readers.declare(book.kinds)
        self._watches.register(REGISTRAR, rules_wants(book.kinds))
        self._tie()

    def _tie(self) -> None:
        """Tie applications to those that came after they were read."""
        for key, needs in self._readers.applications.met():
            row = self._graph.row(key)
            if row is not None:
                thing = self._graph.at(row)
                self._graph.put(msgspec.structs.replace(thing, needs=(*thing.needs, *needs)))


def rules_wants(rules: Mapping[Resource, KindRules]) -> dict[Resource, Want]:
    """Return how kinds are to be watched that have rules: whole where a body is read.

    Never Secrets, of whose metadata alone rules are read.
    """
    return {
        resource: Want(full=resource != SECRETS and not found.metadata_only, rules=found)
        for resource, found in rules.items()
    }


def _next_turn(call: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_soon(call)
