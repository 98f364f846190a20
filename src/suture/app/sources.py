"""A graph out of manifests or `kubectl` output: what a cluster would say, read from files.

Here because it is an order of steps: definitions before their instances, then what nobody defined,
then what is still unknown. Reads no file itself. Nothing is lost silently: what was left out, or
rests on a guess, is in the notes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from uuid import UUID, uuid5

import msgspec

from suture.app.rules import Rules
from suture.app.watches import NEVER, OF_THE_MODEL, Watches
from suture.errors import DocumentError, InputError
from suture.model.clock import Now
from suture.model.graph import Graph, Life
from suture.model.names import CRDS, SECRETS, Gvk, ObjectKey, Resource
from suture.model.objects import ClusterObject, CrdFacts
from suture.wire.kinds import SHAPES
from suture.wire.manifests import Empty, Found, Text, read_manifests
from suture.wire.trim import TrimError, Trimmer
from suture.wire.undiscovered import Kind, Kinds

DEFAULT_NAMESPACE = "default"
"""Where kubectl puts what names no namespace."""

LIVES = UUID("6d0b7c5e-8a57-5a0b-9f0e-2f6a6c1f7b10")
"""The space of uids made up for manifests: equal for equal names, on every machine."""

SAY_EVERY = 5000
"""LIMIT: objects between two words of progress; a tenth of a second."""

Say = Callable[[int, str], None]
"""Told how many objects were read so far, and in which file."""


class NothingReadError(InputError):
    """A source has no object in it that can be read."""

    code = "source_empty"


class Gathered(msgspec.Struct, frozen=True):
    """A graph, and what is to be said of it: what was left out, and what rests on a guess.

    `whole`: every document was read, and read as it stands.
    """

    graph: Graph
    notes: tuple[str, ...] = ()
    whole: bool = True


class Gatherer:
    """Builds a graph from the texts that it is given, one after another."""

    def __init__(self, source: str, now: Now, say: Say = lambda _count, _place: None) -> None:
        self._source = source
        self._now = now
        self._say = say
        self._graph = Graph()
        self._trimmer = Trimmer()
        self._rules = Rules(self._trimmer, Watches(), self._graph)
        self._kinds = Kinds()
        self._waiting: list[Found | Empty] = []
        self._notes: list[str] = []
        self._not_kept: Counter[Resource] = Counter()
        self._types: set[Resource] = set()
        self._read = 0

    def add(self, text: Text, place: str) -> None:
        """Take the objects of one text."""
        for piece in read_manifests(text, place):
            match piece:
                case DocumentError():
                    self._notes.append(f"left out: {piece}")
                case Found(head=head):
                    kind = self._kinds.find(Gvk.of(head.api_version, head.kind))
                    # WHY waiting: its definition, or a rule, may come later, in another file.
                    if kind is None or kind.resource not in SHAPES:
                        self._waiting.append(piece)
                    else:
                        self._take(piece, kind)
                case Empty():
                    self._waiting.append(piece)

    def finish(self) -> Gathered:
        """Return the graph of all that was added. Errors: NothingReadError when that is nothing."""
        self._heed()
        for piece in self._waiting:
            self._take_waiting(piece)
        self._waiting.clear()
        if not len(self._graph):
            more = "".join(f"\n  {note}" for note in self._notes[:5])
            raise NothingReadError(f"`{self._source}` holds no object that can be read{more}")
        for (kind, part), count in sorted(self._trimmer.odd.items()):
            of = f" of {kind}" if kind else ""
            self._notes.append(f"odd: {count} {part}{of} could not be read as written")
        whole = not self._notes
        for resource, count in sorted(self._not_kept.items()):
            self._notes.append(f"not kept: {count} {resource}, which the model does not look at")
        self._know()
        return Gathered(self._graph, tuple(self._notes), whole)

    def _heed(self) -> None:
        """Put the rules in force that definitions and ReferenceRules tell."""
        self._rules.load(self._graph)
        for resource in self._rules.in_force:
            if self._graph.count(resource):
                self._notes.append(
                    f"not heeded: rules about {resource}, which is built in and read before them"
                )
        for one in self._rules.waiting:
            self._notes.append(f"not heeded: rule {one.rule}, as there is no {one.missing} here")

    def _take_waiting(self, piece: Found | Empty) -> None:
        if isinstance(piece, Empty):
            kind = self._kinds.find(Gvk.of(piece.api_version, piece.kind))
            if kind is not None:
                self._graph.declare(kind.resource.group, piece.kind, kind.resource)
                self._types.add(kind.resource)
            return
        gvk = Gvk.of(piece.head.api_version, piece.head.kind)
        known = self._kinds.find(gvk)
        kind = known or self._kinds.guess(gvk, namespaced=bool(piece.head.metadata.namespace))
        if known is None:
            self._notes.append(
                f"guessed: {gvk.kind} of {gvk.group} is neither built in nor defined here, and is "
                f"taken to be `{kind.resource}` ({piece.place})"
            )
        self._take(piece, kind)

    def _take(self, piece: Found, kind: Kind) -> None:
        if kind.resource in NEVER:
            self._not_kept[kind.resource] += 1
            return
        gvk = Gvk.of(piece.head.api_version, piece.head.kind)
        # WHY never of Secrets: their values end here, before anything could keep them.
        rules = self._rules.in_force.get(kind.resource)
        read = kind.resource in SHAPES or (rules is not None and not rules.metadata_only)
        full = read and kind.resource != SECRETS
        try:
            thing = self._trimmer.trim(_completed(piece, kind), kind.resource, gvk, full=full)
        except TrimError as error:
            self._notes.append(f"left out: {piece.place}: {error}")
            return
        if kind.resource == CRDS:
            self._define(thing)
        self._graph.declare(kind.resource.group, gvk.kind, kind.resource)
        self._types.add(kind.resource)
        if self._graph.put(thing).life is not Life.NEW:
            self._notes.append(f"twice: {thing.key} was there before; {piece.place} counts")
        self._read += 1
        if self._read % SAY_EVERY == 0:
            self._say(self._read, piece.place)

    def _define(self, definition: ClusterObject) -> None:
        if isinstance(definition.facts, CrdFacts):
            self._kinds.learn(definition.facts)
            resource = definition.facts.resource
            self._graph.declare(resource.group, definition.facts.kind, resource)

    def _know(self) -> None:
        """Say how well each type is known: whole, as far as it occurs, and else not at all."""
        for resource in self._types:
            self._graph.note_listed(resource)
            self._graph.heard(resource, "", self._now.mono_ns)
        # WHY unknown and not empty: files need not hold all that a cluster does.
        for resource in OF_THE_MODEL:
            if resource not in self._types:
                self._graph.mark_unknown(resource, f"there is none in `{self._source}`")


def _completed(piece: Found, kind: Kind) -> bytes | msgspec.Raw:
    """Return an object with what the API server would have added: its namespace, and a life."""
    meta = piece.head.metadata
    namespace = (meta.namespace or DEFAULT_NAMESPACE) if kind.namespaced else ""
    if meta.uid and (meta.namespace or "") == namespace:
        return piece.body
    whole = msgspec.json.decode(piece.body, type=dict[str, msgspec.Raw])
    fields = msgspec.json.decode(whole["metadata"], type=dict[str, msgspec.Raw])
    key = ObjectKey(kind.resource, namespace, meta.name)
    fields["namespace"] = msgspec.Raw(msgspec.json.encode(namespace))
    fields["uid"] = msgspec.Raw(msgspec.json.encode(meta.uid or str(uuid5(LIVES, str(key)))))
    return msgspec.json.encode({**whole, "metadata": fields})
