"""An object before and after a change that is written in a file: found, merged, trimmed.

The model keeps no bodies. On a live cluster the object is read (and with `--server` the change is
tried as a dry run); of manifests it is read from the file again; a snapshot has none, and what a
manifest does not say stays as the model knows it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from suture.adapters.kube import KubeClient
from suture.adapters.kubeconfig import Login
from suture.adapters.sources import texts
from suture.app.rules import Rules
from suture.app.sources import DEFAULT_NAMESPACE
from suture.app.watches import Watches
from suture.app.whatif import QuestionError, kept
from suture.errors import InputError, NotFoundError
from suture.lab.scenarios.merge import merged, patched
from suture.model.graph import Graph
from suture.model.names import CRDS, Gvk, ObjectKey, Resource
from suture.model.objects import ClusterObject, CrdFacts
from suture.wire.discovery import ApiResource
from suture.wire.manifests import Found, read_manifests
from suture.wire.patches import LAST_APPLIED, applied_by_kubectl, strategic
from suture.wire.snapshot import MAGIC
from suture.wire.trim import Trimmer
from suture.wire.undiscovered import Kind, Kinds

if TYPE_CHECKING:
    from suture.cli.impact import Common

Body = dict[str, Any]

RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
"""SOURCE: kubectl, `rollout restart`: an annotation of the template, with the time."""


class UnknownChangeKindError(InputError):
    """A document is of a kind that neither the model nor its own file knows."""

    code = "kind_unknown"


class BadPatchError(InputError):
    """A patch cannot be read, or does not fit its object."""

    code = "patch_unreadable"


class Changed(msgspec.Struct, frozen=True):
    """An object before (None: it is new) and after, trimmed and as JSON where that is known."""

    old: ClusterObject | None
    new: ClusterObject
    bodies: tuple[bytes, bytes] = (b"", b"")


class Bodies:
    """Finds and changes the bodies of objects of one source."""

    def __init__(self, graph: Graph, common: Common) -> None:
        self._graph = graph
        self._common = common
        self._kinds = Kinds()
        self._new: dict[tuple[str, str], Kind] = {}
        # WHY with keys: a Secret in a change file shows them; values go no further than its body.
        self._trimmer = Trimmer(secret_keys=True)
        Rules(self._trimmer, Watches(), graph).load(graph)
        self._live = common.source in (None, "cluster")

    # ---- kinds

    def learn(self, found: Iterable[Found]) -> None:
        """Take in the kinds that the definitions among some documents define."""
        for piece in found:
            gvk = Gvk.of(piece.head.api_version, piece.head.kind)
            if gvk.kind != "CustomResourceDefinition" or gvk.group != CRDS.group:
                continue
            facts = self._trimmer.trim(piece.body, CRDS, gvk).facts
            if isinstance(facts, CrdFacts):
                kind = Kind(facts.resource, facts.namespaced)
                self._new[facts.resource.group, facts.kind] = kind

    def key(self, piece: Found) -> ObjectKey:
        """Return where the object of a document is. Errors: UnknownChangeKindError."""
        gvk = Gvk.of(piece.head.api_version, piece.head.kind)
        resource, namespaced = self._kind(gvk)
        meta = piece.head.metadata
        namespace = meta.namespace or self._common.namespace or DEFAULT_NAMESPACE
        return ObjectKey(resource, namespace if namespaced else "", meta.name)

    def _kind(self, gvk: Gvk) -> tuple[Resource, bool]:
        known = self._new.get((gvk.group, gvk.kind)) or self._kinds.find(gvk)
        resource = self._graph.kinds.get((gvk.group, gvk.kind))
        if resource is not None:
            return resource, self._namespaced(resource, known)
        if known is not None:
            return known.resource, known.namespaced
        raise UnknownChangeKindError(
            f"no kind `{gvk.kind}` of `{gvk.group or 'core'}` in this model, nor defined in the "
            "file; is its CustomResourceDefinition missing?"
        )

    def _namespaced(self, resource: Resource, known: Kind | None) -> bool:
        for row in self._graph.rows(CRDS):
            facts = self._graph.facts(row)
            if isinstance(facts, CrdFacts) and facts.resource == resource:
                return facts.namespaced
        if known is not None:
            return known.namespaced
        first = next(iter(self._graph.rows(resource)), None)
        return first is None or bool(self._graph.namespace(first))

    # ---- changes

    def applied(self, piece: Found) -> Changed:
        """Return what `kubectl apply` of a document makes of its object."""
        key, gvk = self.key(piece), Gvk.of(piece.head.api_version, piece.head.kind)
        wish: Body = msgspec.json.decode(piece.body)
        wish = {**wish, "metadata": {**wish["metadata"], "namespace": key.namespace}}
        if not key.namespace:
            del wish["metadata"]["namespace"]
        row = self._graph.row(key)
        old = None if row is None else self._graph.at(row)
        body = self._body(key, gvk) if old is not None or self._live else None
        if body is None:
            if self._common.server and old is None:
                wish = self._tried(key, gvk, None, wish)
            new = self._read(key, gvk, wish)
            return Changed(old, kept(old, new, wish), (b"", _bytes(wish)))
        after = applied_by_kubectl(body, wish, _last_applied(body))
        return self._changed(key, gvk, body, after)

    def patched(self, key: ObjectKey, text: str, kind: str) -> Changed:
        """Return what a patch makes of an object. Errors: BadPatchError, QuestionError."""
        patch = _patch(text)
        row = self._graph.row(key)
        if row is None:
            raise QuestionError(f"`{key}` is not there")
        gvk = self._graph.at(row).gvk
        body = self._body(key, gvk)
        if body is None:
            raise QuestionError(
                f"a patch needs the body of `{key}`, which a snapshot does not keep; ask the live "
                "cluster, or give --from with the manifests"
            )
        if kind == "json":
            after = patched(body, patch)
        else:
            after = (strategic if kind == "strategic" else merged)(body, patch)
        return self._changed(key, gvk, body, after)

    def restarted(self, key: ObjectKey) -> Changed | None:
        """Return what `kubectl rollout restart` makes of a workload; None where it has no body."""
        row = self._graph.row(key)
        gvk = None if row is None else self._graph.at(row).gvk
        body = None if gvk is None else self._body(key, gvk)
        if gvk is None or body is None:
            return None
        stamp: Body = {"metadata": {"annotations": {RESTARTED_AT: "now"}}}
        return self._changed(key, gvk, body, merged(body, {"spec": {"template": stamp}}))

    def _changed(self, key: ObjectKey, gvk: Gvk, body: Body, after: Body) -> Changed:
        if self._common.server:
            after = self._tried(key, gvk, body, after)
        return Changed(
            self._read(key, gvk, body), self._read(key, gvk, after), (_bytes(body), _bytes(after))
        )

    def _read(self, key: ObjectKey, gvk: Gvk, body: Body) -> ClusterObject:
        thing = self._trimmer.trim(_bytes(body), key.resource, gvk)
        return msgspec.structs.replace(thing, key=key)

    # ---- where bodies are

    def _body(self, key: ObjectKey, gvk: Gvk) -> Body | None:
        """Return an object's body; None where it is not there, or where there are no bodies."""
        if self._live:
            return self._read_live(key, gvk)
        return self._read_file(key)

    def _read_live(self, key: ObjectKey, gvk: Gvk) -> Body | None:
        async def read() -> Body | None:
            async with KubeClient(self._login()) as client:
                try:
                    return await client.get(_path(key, gvk))
                except NotFoundError:
                    return None

        return asyncio.run(read())

    def _tried(self, key: ObjectKey, gvk: Gvk, body: Body | None, after: Body) -> Body:
        """Return what the API server makes of a change, as a dry run."""
        if not self._live:
            raise QuestionError("--server asks a live cluster; leave --from away")

        async def send() -> Body:
            async with KubeClient(self._login()) as client:
                if body is None:
                    path = _path(ObjectKey(key.resource, key.namespace, ""), gvk)
                    return await client.create(path, after, dry_run=True)
                return await client.update(_path(key, gvk), after, dry_run=True)

        return asyncio.run(send())

    def _login(self) -> Login:
        return Login.from_kubeconfig(self._common.kubeconfig, self._common.context)

    def _read_file(self, key: ObjectKey) -> Body | None:
        source = self._common.source
        if source is None or source == "-" or _is_snapshot(source):
            return None
        for text, place in texts(source):
            for piece in read_manifests(text, place):
                if isinstance(piece, Found) and piece.head.metadata.name == key.name:
                    gvk = Gvk.of(piece.head.api_version, piece.head.kind)
                    resource = self._graph.kinds.get((gvk.group, gvk.kind))
                    namespace = piece.head.metadata.namespace or DEFAULT_NAMESPACE
                    if resource == key.resource and key.namespace in ("", namespace):
                        found: Body = msgspec.json.decode(piece.body)
                        return found
        return None


def _path(key: ObjectKey, gvk: Gvk) -> str:
    api = ApiResource(
        gvk.group, gvk.version, key.resource.plural, gvk.kind, bool(key.namespace), frozenset()
    )
    return api.path(key.namespace, key.name)


def _is_snapshot(source: str) -> bool:
    try:
        with open(source, "rb") as file:  # noqa: PTH123 a folder is no snapshot, and may be named
            return file.read(len(MAGIC)) == MAGIC
    except IsADirectoryError:
        return False


def _last_applied(body: Body) -> object:
    """Return what kubectl applied last; nothing where it never did, or what it left is no JSON."""
    text = ((body.get("metadata") or {}).get("annotations") or {}).get(LAST_APPLIED)
    try:
        return json.loads(text) if text else None
    except ValueError:
        return None


def _patch(text: str) -> Any:
    from suture.wire.yaml import read_documents

    documents = read_documents(text, "--patch")
    if len(documents) != 1 or not isinstance(documents[0].value, dict | list):
        raise BadPatchError("`--patch` must be one JSON or YAML object, or a list of operations")
    return documents[0].value


def _bytes(body: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(body)
