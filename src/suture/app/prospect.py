"""Whole bodies into the miner: those of files, or those of a live cluster, listed once.

Here because it is an order of steps: what is asked for whole and what by its name, definitions on
the way, one object in memory at a time, or one page. What is worth proposing is `model.mining`'s.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import msgspec

from suture.app.ports import Cluster
from suture.app.sources import DEFAULT_NAMESPACE
from suture.app.watches import NEVER
from suture.errors import ApiError, DocumentError
from suture.model import documents
from suture.model.mining import WITHHELD, Kind, Mined, Miner
from suture.model.names import CRDS, ENDPOINT_SLICES, PODS, REPLICA_SETS, Gvk, Resource, plural_of
from suture.model.objects import CrdFacts
from suture.model.ruleformat import KIND, is_rule, read_rule
from suture.wire.discovery import ApiResource
from suture.wire.manifests import Empty, Found, Text, read_manifests
from suture.wire.oddities import TrimError
from suture.wire.projections import UNREADABLE, plain
from suture.wire.trim import Trimmer
from suture.wire.undiscovered import Kinds

PAGE_ITEMS = 250
"""LIMIT: objects a page: half of what kubectl asks, since custom resources reach 1 MB."""

STAMPED = frozenset(
    {
        PODS,
        REPLICA_SETS,
        ENDPOINT_SLICES,
        Resource("", "endpoints"),
        Resource("apps", "controllerrevisions"),
    }
)
"""Kinds of which nearly all are made by controllers: asked for as metadata only."""

Say = Callable[[int, str], None]
"""Told how many objects were taken so far, and what is being read."""


class Prospected(msgspec.Struct, frozen=True):
    """What was mined, and what could not be read on the way."""

    mined: Mined
    notes: tuple[str, ...] = ()


class _Page(msgspec.Struct):
    items: list[msgspec.Raw] | None = None


class _Meta(msgspec.Struct):
    name: str = ""
    namespace: str = ""


class _Object(msgspec.Struct):
    metadata: _Meta | None = None


_page_decoder = msgspec.json.Decoder(_Page)
_object_decoder = msgspec.json.Decoder(_Object)


class Prospector:
    """Takes objects from wherever they are and hands them to a miner."""

    def __init__(self, say: Say = lambda _count, _place: None) -> None:
        self._miner = Miner()
        self._kinds = Kinds()
        self._trimmer = Trimmer()
        self._say = say
        self._notes: list[str] = []
        self._taken = 0

    def finish(self, *, support: int, confidence: float) -> Prospected:
        """Return what the objects that were taken speak for."""
        mined = self._miner.mined(support=support, confidence=confidence)
        return Prospected(mined, tuple(self._notes))

    def add(self, text: Text, place: str) -> None:
        """Take the objects of one text; what is none is noted."""
        for piece in read_manifests(text, place):
            match piece:
                case Found(head=head, body=body):
                    gvk = Gvk.of(head.api_version, head.kind)
                    known = self._kinds.find(gvk)
                    here = head.metadata.namespace or (
                        DEFAULT_NAMESPACE if known is not None and known.namespaced else ""
                    )
                    self._take(gvk, here, head.metadata.name, body)
                    self._said(place)
                case DocumentError():
                    self._notes.append(f"left out: {piece}")
                case Empty():
                    pass

    async def survey(self, cluster: Cluster) -> None:
        """Take the objects of a cluster. What may not be listed is noted.

        Errors: ApiError or UnavailableError when the cluster does not say which kinds it serves,
        UnavailableError when it goes away meanwhile.
        """
        discovery = await cluster.discover()
        for api in discovery.resources:
            if "list" not in api.verbs or api.resource in NEVER:
                continue
            try:
                await self._list(cluster, api)
            except ApiError as error:
                self._notes.append(f"not looked at: {api.resource}: {error.message}")

    async def _list(self, cluster: Cluster, api: ApiResource) -> None:
        by_name = api.resource in STAMPED or (api.group, api.kind) in WITHHELD
        pages = cluster.list_pages(api.path(), PAGE_ITEMS, metadata_only=by_name)
        async with aclosing(pages):
            async for body in pages:
                for raw in self._items(api, body):
                    try:
                        meta = _object_decoder.decode(raw).metadata or _Meta()
                    except UNREADABLE:
                        self._notes.append(f"left out: an object of {api.resource} of odd shape")
                        continue
                    if by_name:
                        self._miner.name((api.group, api.kind), meta.namespace, meta.name)
                    else:
                        self._take(api.gvk, meta.namespace, meta.name, raw)
                    self._said(str(api.resource))

    def _items(self, api: ApiResource, body: bytes) -> list[msgspec.Raw]:
        try:
            return _page_decoder.decode(body).items or []
        except UNREADABLE as error:
            self._notes.append(f"left out: a page of {api.resource}: {error}")
            return []

    def _take(self, gvk: Gvk, namespace: str, name: str, body: bytes | msgspec.Raw) -> None:
        kind: Kind = (gvk.group, gvk.kind)
        if kind in WITHHELD:
            # WHY before it is read: what is in a Secret never becomes a value of ours.
            self._miner.name(kind, namespace, name)
            return
        if gvk.group == CRDS.group and plural_of(gvk.kind).lower() == CRDS.plural:
            self._define(gvk, body)
        value = plain(body)
        if gvk.kind == KIND:
            self._told(name, value)
        self._miner.take(kind, namespace, name, value)

    def _define(self, gvk: Gvk, body: bytes | msgspec.Raw) -> None:
        """Learn from a definition what its schema tells already."""
        try:
            facts = self._trimmer.trim(body, CRDS, gvk).facts
        except TrimError as error:
            self._notes.append(f"left out: {error}")
            return
        if isinstance(facts, CrdFacts):
            self._kinds.learn(facts)
            self._miner.know((facts.resource.group, facts.kind), facts.rules)

    def _told(self, name: str, value: Any) -> None:
        """Learn from a ReferenceRule what is declared already."""
        document = documents.Document(f"{KIND} {name}", value)
        if not is_rule(document):
            return
        try:
            rule = read_rule(document)
        except DocumentError as error:
            self._notes.append(f"left out: {error}")
            return
        self._miner.know((rule.of.group, rule.of.kind), [rule])

    def _said(self, place: str) -> None:
        self._taken += 1
        if self._taken % 1000 == 0:
            self._say(self._taken, place)
