"""A graph out of manifests or `kubectl` output: what a cluster would say, read from files.

Here because it is an order of steps: definitions before their instances, then what nobody defined,
then what is still unknown. Reads no file itself. Nothing is lost silently: what was left out, or
rests on a guess, is in the notes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from uuid import UUID, uuid5

import msgspec

from suture.app.rules import Rules
from suture.app.watches import EVENTS, OF_THE_MODEL, Watches
from suture.errors import DocumentError, InputError
from suture.model.absence import ARGO_APPLICATIONS, ARGO_PROJECTS
from suture.model.clock import Now
from suture.model.graph import Graph, Life
from suture.model.names import (
    CRDS,
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    SECRETS,
    STATEFUL_SETS,
    Gvk,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject, CrdFacts
from suture.model.rules import RuleFacts
from suture.wire.kinds import SHAPES
from suture.wire.manifests import Empty, Found, LostError, Text, read_manifests
from suture.wire.oddities import TrimError
from suture.wire.trim import Trimmer
from suture.wire.undiscovered import NAMED, Kind, Kinds, built_in

DEFAULT_NAMESPACE = "default"
"""Where kubectl puts what names no namespace."""

LIVES = UUID("6d0b7c5e-8a57-5a0b-9f0e-2f6a6c1f7b10")
"""The space of uids made up for manifests: equal for equal names, on every machine."""

POD_SPECS: Mapping[Resource, tuple[str, ...]] = {
    PODS: ("spec",),
    CRON_JOBS: ("spec", "jobTemplate", "spec", "template", "spec"),
    **dict.fromkeys(
        (DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS, DAEMON_SETS, JOBS, REPLICATION_CONTROLLERS),
        ("spec", "template", "spec"),
    ),
}
"""Where the pod stands in what is one, or makes some."""

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
        self._texts: list[tuple[Text, str]] = []
        self._waiting: list[Found | Empty] = []
        self._lost: list[LostError] = []
        self._notes: list[str] = []
        self._not_kept: Counter[Resource] = Counter()
        self._types: set[Resource] = set()
        self._doubts: dict[Resource | None, str] = {}
        self._read = 0

    def add(self, text: Text, place: str) -> None:
        """Take the objects of one text, which is kept until the end."""
        self._texts.append((text, place))
        for piece in read_manifests(text, place):
            match piece:
                case Found(head=head):
                    kind = self._kinds.find(Gvk.of(head.api_version, head.kind))
                    # WHY waiting: its definition, or a rule, may come later, in another file.
                    if kind is None or kind.resource not in SHAPES:
                        self._waiting.append(piece)
                    else:
                        self._take(piece, kind)
                case Empty():
                    self._waiting.append(piece)
                case DocumentError():
                    self._notes.append(f"left out: {piece}")
                    if isinstance(piece, LostError):
                        self._lost.append(piece)

    def skip(self, place: str, why: str) -> None:
        """Note what cannot be read at all, in which there may be objects of any kind."""
        self._notes.append(f"left out: {place}: {why}")
        self._doubts.setdefault(None, f"{place} could not be read")

    def finish(self) -> Gathered:
        """Return the graph of all that was added. Errors: NothingReadError when that is nothing."""
        for name, resource in built_in():
            self._graph.declare(resource.group, name, resource)
        self._name_waiting()
        self._heed()
        for piece in self._waiting:
            self._take_waiting(piece)
        self._waiting.clear()
        self._texts.clear()
        if not len(self._graph) and not self._types:
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

    def _name_waiting(self) -> None:
        """Find the type of each kind that waits; a guess once all of its objects are known.

        WHY all: one that names a namespace tells of those that are in the default one.
        """
        places: dict[Gvk, str] = {}
        spaced: set[tuple[str, str]] = set()
        for piece in self._waiting:
            if isinstance(piece, Found):
                gvk = Gvk.of(piece.head.api_version, piece.head.kind)
                places.setdefault(gvk, piece.place)
                if piece.head.metadata.namespace:
                    spaced.add((gvk.group, gvk.kind))
        for gvk, place in places.items():
            known = self._kinds.find(gvk)
            kind = known or self._kinds.guess(gvk, namespaced=(gvk.group, gvk.kind) in spaced)
            self._graph.declare(gvk.group, gvk.kind, kind.resource)
            if known is None:
                self._notes.append(
                    f"guessed: {gvk.kind} of {gvk.group} is neither built in nor defined here, "
                    f"and is taken to be `{kind.resource}` ({place})"
                )

    def _heed(self) -> None:
        """Put the rules in force that definitions and ReferenceRules tell."""
        before = set(self._types)
        self._take_applications()
        self._rules.load(self._graph)
        late = {resource for resource in self._rules.in_force if self._graph.count(resource)}
        if self._graph.count(ARGO_PROJECTS) or self._graph.count(ARGO_APPLICATIONS):
            late |= before
        if late:
            self._read_again(late)
        for one in self._rules.waiting:
            self._notes.append(f"not heeded: rule {one.rule}, as there is no {one.missing} here")

    def _take_applications(self) -> None:
        """Take Argo CD's projects and applications before all that waits, and has marks of them."""
        rest = []
        for piece in self._waiting:
            kind = self._kind_of(piece)
            told = kind is not None and kind.resource in (ARGO_PROJECTS, ARGO_APPLICATIONS)
            if kind is not None and told and isinstance(piece, Found):
                self._take(piece, kind)
            else:
                rest.append(piece)
        self._waiting = rest

    def _kind_of(self, piece: Found | Empty) -> Kind | None:
        """Return the kind of a piece; None where nobody has told of it."""
        if isinstance(piece, Found):
            return self._kinds.find(Gvk.of(piece.head.api_version, piece.head.kind))
        return self._kinds.find(Gvk.of(piece.api_version, piece.kind))

    def _read_again(self, late: AbstractSet[Resource]) -> None:
        """Read objects by the rules about them that were read before those were known."""
        for resource, part in list(self._trimmer.odd):
            if resource in map(str, late):
                del self._trimmer.odd[resource, part]
        for text, place in self._texts:
            for piece in read_manifests(text, place):
                if not isinstance(piece, Found):
                    continue
                kind = self._kind_of(piece)
                if kind is not None and kind.resource in late:
                    with suppress(TrimError):
                        self._graph.put(self._trimmed(piece, kind))

    def _take_waiting(self, piece: Found | Empty) -> None:
        kind = self._kind_of(piece)
        if isinstance(piece, Found):
            if kind is not None:
                self._take(piece, kind)
        elif kind is not None:
            self._graph.declare(kind.resource.group, piece.kind, kind.resource)
            self._types.add(kind.resource)

    def _take(self, piece: Found, kind: Kind) -> None:
        if kind.resource in EVENTS:
            self._not_kept[kind.resource] += 1
            return
        try:
            thing = self._trimmed(piece, kind)
        except TrimError as error:
            self._notes.append(f"left out: {piece.place}: {error}")
            self._doubts.setdefault(kind.resource, f"{piece.place} could not be read")
            return
        if kind.resource == CRDS:
            self._define(thing)
        if isinstance(thing.facts, RuleFacts) and thing.facts.rule is None:
            self._notes.append(f"not heeded: {piece.place}: {thing.facts.problem}")
        self._graph.declare(kind.resource.group, thing.gvk.kind, kind.resource)
        self._types.add(kind.resource)
        if self._graph.put(thing).life is not Life.NEW:
            self._notes.append(f"twice: {thing.key} was there before; {piece.place} counts")
        self._read += 1
        if self._read % SAY_EVERY == 0:
            self._say(self._read, piece.place)

    def _trimmed(self, piece: Found, kind: Kind) -> ClusterObject:
        """Return what is kept of an object. Errors: TrimError."""
        gvk = Gvk.of(piece.head.api_version, piece.head.kind)
        # WHY never of Secrets: their values end here, before anything could keep them.
        rules = self._rules.in_force.get(kind.resource)
        read = kind.resource in SHAPES or (rules is not None and not rules.metadata_only)
        full = read and kind.resource != SECRETS
        return self._trimmer.trim(_completed(piece, kind), kind.resource, gvk, full=full)

    def _define(self, definition: ClusterObject) -> None:
        if isinstance(definition.facts, CrdFacts):
            self._kinds.learn(definition.facts)
            resource = definition.facts.resource
            self._graph.declare(resource.group, definition.facts.kind, resource)

    def _know(self) -> None:
        """Say how well each type is known: whole, as far as it occurs, and else not at all."""
        for lost in self._lost:
            self._doubt(lost)
        for resource in self._types:
            self._graph.note_listed(resource)
            self._graph.heard(resource, "", self._now.mono_ns)
            # WHY unknown: what is not here may be in what could not be read.
            doubt = self._doubts.get(resource) or self._doubts.get(None)
            if doubt:
                self._graph.mark_unknown(resource, doubt)
        # WHY unknown and not empty: files need not hold all that a cluster does.
        for resource in {*OF_THE_MODEL, *NAMED.values()} - self._types:
            none = f"there is none in `{self._source}`"
            self._graph.mark_unknown(resource, self._doubts.get(resource, none))

    def _doubt(self, lost: LostError) -> None:
        """Note of which kind, or of any, one was there that could not be read."""
        why = f"{lost.place} could not be read"
        if lost.kind is None:
            self._doubts.setdefault(None, why)
            return
        kind = self._kinds.find(Gvk.of(lost.kind.api_version, lost.kind.kind))
        if kind is not None:
            self._doubts.setdefault(kind.resource, why)


def _completed(piece: Found, kind: Kind) -> bytes | msgspec.Raw:
    """Return an object with what the API server would have added: its namespace, and a life.

    And to a pod or its template the newer name of the field that says its ServiceAccount.
    """
    meta = piece.head.metadata
    namespace = (meta.namespace or DEFAULT_NAMESPACE) if kind.namespaced else ""
    path = POD_SPECS.get(kind.resource, ())
    old = bool(path) and _says_old_account(bytes(piece.body))
    if meta.uid and (meta.namespace or "") == namespace and not old:
        return piece.body
    whole = _fields(piece.body)
    if old:
        whole = _renamed(whole, path)
    fields = _fields(whole["metadata"])
    key = ObjectKey(kind.resource, namespace, meta.name)
    fields["namespace"] = msgspec.Raw(msgspec.json.encode(namespace))
    fields["uid"] = msgspec.Raw(msgspec.json.encode(meta.uid or str(uuid5(LIVES, str(key)))))
    return msgspec.json.encode({**whole, "metadata": fields})


def _says_old_account(body: bytes) -> bool:
    # WHY the text: a cluster's own pods say both, and reading each whole would double the work.
    return b'"serviceAccount"' in body and b'"serviceAccountName"' not in body


def _fields(raw: bytes | msgspec.Raw) -> dict[str, msgspec.Raw]:
    return msgspec.json.decode(raw, type=dict[str, msgspec.Raw])


def _renamed(fields: dict[str, msgspec.Raw], path: Sequence[str]) -> dict[str, msgspec.Raw]:
    """Return an object whose pod says its ServiceAccount by the newer name, at `path`."""
    if not path:
        old = fields.get("serviceAccount")
        return {"serviceAccountName": old, **fields} if old is not None else fields
    step, *rest = path
    try:
        inner = _renamed(_fields(fields[step]), rest)
    except (KeyError, msgspec.MsgspecError):
        # WHY as it is: what has no such part, or one of another shape, is read as any odd object.
        return fields
    return {**fields, step: msgspec.Raw(msgspec.json.encode(inner))}
