"""What goes along with what went: dependents of owners, content of namespaces and definitions.

The removals that `impact.cascade` predicts, one by one, so that a finalizer on the way stops what
it stops in life. Source: the garbage collector, the namespace controller, the CRD finalizer.
"""

from __future__ import annotations

from typing import Any

from suture.impact.ground.cascade import collectable
from suture.lab.scenarios.offline.lifecycle import CLEANUP, FOREGROUND, ORPHAN, end, lift
from suture.lab.scenarios.offline.store import Store, Thing
from suture.model.names import API_SERVICES, CRDS, NAMESPACES, Propagation, Resource
from suture.model.objects import CrdFacts
from suture.wire.discovery import ApiResource

_ACCOUNTS = Resource("", "serviceaccounts")
_CONFIG_MAPS = Resource("", "configmaps")
ROOT_CA = "kube-root-ca.crt"


class Owners:
    """The garbage collector."""

    def __init__(self, store: Store) -> None:
        """Collect in a store."""
        self._store = store
        self._due: dict[str, None] = {}

    def on(self, before: Thing | None, after: Thing | None) -> None:
        """Note whom a change may have left without an owner."""
        if after is None and before is not None:
            self._due |= dict.fromkeys(one.uid for one in self._store.children(before.uid))
            self._due |= dict.fromkeys(owner.uid for owner in before.seen.owners)
        elif after is not None and (after.seen.owners or after.seen.finalizers):
            self._due[after.uid] = None

    def work(self) -> bool:
        """Collect."""
        due, self._due = self._due, {}
        for uid in due:
            thing = self._store.life(uid)
            if thing is not None:
                self._look_at(thing)
        return bool(due)

    def _look_at(self, thing: Thing) -> None:
        if not thing.seen.terminating:
            owners = thing.seen.owners
            if owners and collectable(self._store.view, thing.seen):
                end(self._store, thing, Propagation.BACKGROUND)
            elif any(self._foreground(owner.uid) for owner in owners):
                end(self._store, thing, Propagation.FOREGROUND)
        elif FOREGROUND in thing.seen.finalizers:
            children = self._store.children(thing.uid)
            for child in children:
                if not child.seen.terminating:
                    end(self._store, child, Propagation.FOREGROUND)
            if not any(self._blocks(child, thing.uid) for child in children):
                lift(self._store, thing, FOREGROUND)
        elif ORPHAN in thing.seen.finalizers:
            for child in self._store.children(thing.uid):
                kept = [
                    one
                    for one in child.metadata.get("ownerReferences") or ()
                    if one.get("uid") != thing.uid
                ]
                self._store.amend(child, {}, ownerReferences=kept or None)
            lift(self._store, thing, ORPHAN)

    def _foreground(self, uid: str) -> bool:
        owner = self._store.life(uid)
        return owner is not None and FOREGROUND in owner.seen.finalizers

    def _blocks(self, child: Thing, uid: str) -> bool:
        now = self._store.life(child.uid)
        return now is not None and any(
            owner.uid == uid and owner.blocks_deletion for owner in now.seen.owners
        )


class Spaces:
    """The namespace controller, and who furnishes new namespaces."""

    def __init__(self, store: Store) -> None:
        """Keep the namespaces of a store."""
        self._store = store
        self._going: dict[str, None] = {}
        self._bare: dict[str, None] = {}

    def on(self, before: Thing | None, after: Thing | None) -> None:
        """Note namespaces that are new, going, or lost a piece of furniture."""
        thing = after or before
        if thing is None:
            return
        if thing.key.resource == NAMESPACES:
            if after is None:
                self._going.pop(thing.key.name, None)
            elif after.seen.terminating:
                self._going[after.key.name] = None
            elif before is None:
                self._bare[after.key.name] = None
        elif after is None and thing.key.resource in (_ACCOUNTS, _CONFIG_MAPS):
            self._bare[thing.key.namespace] = None

    def work(self) -> bool:
        """Furnish what is new, empty what goes."""
        bare, self._bare = self._bare, {}
        done = sum(self._furnish(name) for name in bare)
        return bool(sum(self._empty(name) for name in tuple(self._going)) + done)

    def _furnish(self, name: str) -> bool:
        space = self._store.find(NAMESPACES, "", name)
        if space is None or space.seen.terminating:
            return False
        done = False
        for resource, wanted, more in (
            (_ACCOUNTS, "default", {}),
            (_CONFIG_MAPS, ROOT_CA, {"data": {"ca.crt": ""}}),
        ):
            if self._store.find(resource, name, wanted) is None:
                self._make(resource, name, wanted, more)
                done = True
        return done

    def _make(self, resource: Resource, space: str, name: str, more: dict[str, Any]) -> None:
        api = self._store.apis[resource]
        metadata = {
            "name": name,
            "namespace": space,
            "uid": self._store.new_uid(),
            "creationTimestamp": self._store.stamp(),
        }
        self._store.put(api, {"apiVersion": "v1", "kind": api.kind, "metadata": metadata, **more})

    def _empty(self, name: str) -> bool:
        """Delete what a going namespace holds; take it out once it holds nothing."""
        content = self._store.members(name)
        standing = [one for one in content if not one.seen.terminating]
        for one in standing:
            end(self._store, one, Propagation.BACKGROUND)
        space = self._store.find(NAMESPACES, "", name)
        if content or space is None or space.seen.finalizers:
            return bool(standing)
        self._store.remove(space)
        return True


class Definitions:
    """Serves the kinds of CustomResourceDefinitions, and ends them with their instances."""

    def __init__(self, store: Store) -> None:
        """Serve from a store."""
        self._store = store
        self._due: dict[str, Thing] = {}
        self._going: dict[str, None] = {}

    def on(self, before: Thing | None, after: Thing | None) -> None:
        """Note definitions that came or change, and those that go."""
        thing = after or before
        if thing is None or thing.key.resource != CRDS:
            return
        self._due[thing.key.name] = thing
        if after is not None and after.seen.terminating:
            self._going[after.uid] = None

    def work(self) -> bool:
        """Serve what is defined, and empty what goes."""
        due, self._due = self._due, {}
        for name, last in due.items():
            now = self._store.find(CRDS, "", name)
            if now is None:
                self._end(last)
            elif not now.seen.terminating:
                self._serve(now)
        return bool(sum(self._empty(uid) for uid in tuple(self._going)) + len(due))

    def _serve(self, definition: Thing) -> None:
        api = api_of(definition)
        if self._store.apis.get(api.resource) == api:
            return
        self._store.serve(api)
        name = f"{api.version}.{api.group}"
        if self._store.find(API_SERVICES, "", name) is None:
            metadata = {
                "name": name,
                "uid": self._store.new_uid(),
                "creationTimestamp": self._store.stamp(),
                "labels": {"kube-aggregator.kubernetes.io/automanaged": "true"},
            }
            body = {
                "apiVersion": "apiregistration.k8s.io/v1",
                "kind": "APIService",
                "metadata": metadata,
                "spec": {"group": api.group, "version": api.version},
            }
            self._store.put(self._store.apis[API_SERVICES], body)

    def _empty(self, uid: str) -> bool:
        definition = self._store.life(uid)
        if definition is None:
            self._going.pop(uid, None)
            return False
        facts = definition.seen.facts
        instances = self._store.all(facts.resource) if isinstance(facts, CrdFacts) else []
        standing = [one for one in instances if not one.seen.terminating]
        for one in standing:
            end(self._store, one, Propagation.BACKGROUND)
        if instances:
            return bool(standing)
        lift(self._store, definition, CLEANUP)
        return True

    def _end(self, definition: Thing) -> None:
        api = api_of(definition)
        self._store.unserve(api.resource)
        groups = {one.spec.get("group") for one in self._store.all(CRDS)}
        if api.group not in groups:
            found = self._store.find(API_SERVICES, "", f"{api.version}.{api.group}")
            if found is not None:
                self._store.remove(found)


def api_of(definition: Thing) -> ApiResource:
    """Return the endpoint that a definition serves, at its first served version."""
    spec = definition.spec
    versions = [one for one in spec.get("versions") or () if one.get("served")]
    version = versions[0] if versions else {"name": "v1"}
    names = spec.get("names") or {}
    return ApiResource(
        group=str(spec.get("group", "")),
        version=str(version["name"]),
        plural=str(names.get("plural", "")),
        kind=str(names.get("kind", "")),
        namespaced=spec.get("scope") != "Cluster",
        verbs=frozenset(
            {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
        ),
        subresources=frozenset(version.get("subresources") or ()),
    )
