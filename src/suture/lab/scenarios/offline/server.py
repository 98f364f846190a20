"""The API server's verbs on a store: what may be written, who is asked first, what is stored.

Lives apart from `client`, which speaks in paths, and from the controllers, which act on what was
stored. Each method is one request of one identity.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from suture.errors import InputError, NotFoundError
from suture.lab.scenarios.cluster import Object
from suture.lab.scenarios.merge import merged, patched
from suture.lab.scenarios.offline import answers
from suture.lab.scenarios.offline.admission import Admission
from suture.lab.scenarios.offline.defaults import changes_generation, defaulted, filled, stored_in
from suture.lab.scenarios.offline.fields import Fields
from suture.lab.scenarios.offline.lifecycle import end, kept_otherwise
from suture.lab.scenarios.offline.managed import managed, noted, says, sized
from suture.lab.scenarios.offline.nulls import without_nulls
from suture.lab.scenarios.offline.reviews import Write
from suture.lab.scenarios.offline.store import Store, Thing
from suture.lab.scenarios.offline.texts import wrong_text
from suture.model.actor import UserInfo
from suture.model.names import NAMESPACES, Gvk, Operation, Propagation
from suture.model.selectors import Selector, parse_selector
from suture.wire.discovery import ApiResource
from suture.wire.patches import applied, strategic

STANDING = frozenset({"default", "kube-system", "kube-public"})
"""Namespaces that nobody may delete. SOURCE: admission plugin NamespaceLifecycle."""

_SCALE = Gvk("autoscaling", "v1", "Scale")
_EVICTION = Gvk("policy", "v1", "Eviction")

Access = Callable[..., Awaitable[None]]
"""Asked before a request is served. Errors: ApiError for a refusal."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """What a path leads to: a collection, an object or a subresource."""

    api: ApiResource
    namespace: str = ""
    name: str = ""
    sub: str = ""


class Server:
    """Writes of identities, checked as the API server checks them."""

    def __init__(self, store: Store, admission: Admission, settle: Callable[[], None]) -> None:
        """Take the store, who is asked, and what follows each write."""
        self.store = store
        self.admission = admission
        self.access: Access | None = None
        self.evictable: Callable[[Thing], str] = lambda _pod: ""
        """Returns why a pod may not be evicted now, empty if it may."""
        self._settle = settle
        self._fields = Fields()

    # ---- reading

    def one(self, at: Place) -> Thing:
        """Return an object. Errors: NotFoundError."""
        found = self.store.find(at.api.resource, at.namespace, at.name)
        if found is None:
            raise answers.not_found(at.api.resource, at.name)
        return found

    def shown(self, at: Place) -> bytes:
        """Return an object, or its scale, as JSON. Errors: NotFoundError."""
        thing = self.one(at)
        return msgspec.json.encode(self._scale(thing)) if at.sub == "scale" else thing.raw

    def several(
        self, at: Place, selector: str | None = None, fields: str | None = None
    ) -> list[Thing]:
        """Return what the selectors match of a collection."""
        wanted = parse_selector(selector) if selector else Selector()
        demands = _fields(fields)
        return [
            one
            for one in self.store.all(at.api.resource, at.namespace)
            if wanted.matches(one.seen.labels) and _has(one.body, demands)
        ]

    # ---- writing

    async def create(
        self, at: Place, body: Object, user: UserInfo, *, manager: str = "", dry_run: bool
    ) -> Object:
        """Create an object."""
        await self._may(user, "create", at)
        _decoded(body)
        body = without_nulls(body)
        _owned(at, body)
        self._home(at)
        metadata = dict(body.get("metadata") or {})
        name = str(metadata.get("name") or "")
        if not name and metadata.get("generateName"):
            name = f"{metadata['generateName']}{self.store.suffix()}"
        if not name:
            raise answers.invalid(at.api.resource, "metadata.name: required")
        if self.store.find(at.api.resource, at.namespace, name) is not None:
            raise answers.already_exists(at.api.resource, name)
        metadata |= {
            "name": name,
            "uid": self.store.uid_for(at.api.resource, at.namespace, name),
            "creationTimestamp": self.store.stamp(),
            "generation": 1,
        }
        metadata.pop("resourceVersion", None)
        metadata.pop("deletionTimestamp", None)
        if manager and says(body):
            metadata["managedFields"] = [managed(manager, str(body.get("apiVersion", "")))]
        if at.namespace:
            metadata["namespace"] = at.namespace
        new = defaulted({**body, "metadata": metadata}, has_status="status" in at.api.subresources)
        if manager and (body.get("spec") or {}).get("replicas") is not None:
            new = sized(new, manager)
        await self.admission.check(
            self._write(Operation.CREATE, at, user, name=name, new=new, dry_run=dry_run)
        )
        if dry_run:
            return new
        # WHY again: whoever was asked may have been overtaken.
        if self.store.find(at.api.resource, at.namespace, name) is not None:
            raise answers.already_exists(at.api.resource, name)
        stored = self.store.put(at.api, new)
        self._settle()
        return stored.body

    async def update(
        self, at: Place, body: Object, user: UserInfo, *, manager: str = "", dry_run: bool
    ) -> Object:
        """Replace an object, its status or its scale."""
        await self._may(user, "update", at)
        return await self._replace(at, self.one(at), body, user, manager=manager, dry_run=dry_run)

    async def patch(
        self,
        at: Place,
        value: Any,
        kind: str,
        user: UserInfo,
        *,
        manager: str = "",
        dry_run: bool,
    ) -> Object:
        """Change an object, its status or its scale; `apply` creates what is not there."""
        await self._may(user, "patch", at)
        try:
            old = self.one(at)
        except NotFoundError:
            if kind != "apply" or at.sub:
                raise
            bare = msgspec.structs.replace(at, name="")
            wish = applied({}, value)
            made = await self.create(bare, wish, user, manager=manager, dry_run=dry_run)
            self._applied(None, made, value, manager, dry_run=dry_run)
            return made
        shown = self._scale(old) if at.sub == "scale" else old.body
        try:
            match kind:
                case "json":
                    new = patched(shown, value)
                case "strategic":
                    new = strategic(shown, value)
                case "apply" if at.sub:
                    new = applied(shown, value)
                case "apply":
                    new = applied(self._fields.left(shown, value, manager), value)
                case _:
                    new = merged(shown, value)
        except InputError as error:
            raise answers.malformed(str(error)) from error
        done = await self._replace(at, old, new, user, manager=manager, dry_run=dry_run)
        if kind == "apply" and not at.sub:
            self._applied(old.body, done, value, manager, dry_run=dry_run)
        return done

    def _applied(
        self, before: Object | None, after: Object, wish: Object, manager: str, *, dry_run: bool
    ) -> None:
        """Take note of who wrote which field by an apply."""
        if not dry_run:
            self._fields.note(before, after, wish, manager)

    async def delete(self, at: Place, options: Object, user: UserInfo) -> Object:
        """Delete an object."""
        await self._may(user, "delete", at)
        thing = self.one(at)
        wanted = options.get("preconditions") or {}
        for field, have in (
            ("uid", thing.uid),
            ("resourceVersion", thing.seen.resource_version),
        ):
            if wanted.get(field) not in (None, have):
                why = f"the {field} in the precondition ({wanted[field]}) is not {have}"
                raise answers.conflict(at.api.resource, at.name, why)
        return await self._end(at, thing, options, user, collected=False)

    async def delete_collection(
        self, at: Place, options: Object, user: UserInfo, selector: str | None, fields: str | None
    ) -> Object:
        """Delete what the selectors match, one after another; the first refusal ends it.

        Controllers come to act when all are gone: one request is over before they have read it.
        """
        await self._may(user, "deletecollection", at, selector=selector, fields=fields)
        found = self.several(at, selector, fields)
        try:
            for thing in found:
                if self.store.life(thing.uid) is None:
                    continue
                key = thing.key
                place = msgspec.structs.replace(at, namespace=key.namespace, name=key.name)
                await self._end(place, thing, options, user, collected=True)
        finally:
            self._settle()
        return {"kind": f"{at.api.kind}List", "metadata": {}, "items": [one.body for one in found]}

    async def evict(self, at: Place, body: Object, user: UserInfo, *, dry_run: bool) -> Object:
        """Evict a pod. Errors: TooManyRequestsError while a disruption budget holds it."""
        await self._may(user, "create", at)
        pod = self.one(at)
        write = self._write(Operation.CREATE, at, user, new=body, dry_run=dry_run, gvk=_EVICTION)
        await self.admission.check(write)
        why = self.evictable(pod)
        if why:
            raise answers.must_wait(why)
        if not dry_run:
            options = body.get("deleteOptions") or {}
            end(self.store, pod, grace_s=options.get("gracePeriodSeconds"))
            self._settle()
        return {"kind": "Status", "status": "Success", "metadata": {}}

    # ---- what the verbs share

    async def _may(self, user: UserInfo, verb: str, at: Place, **more: Any) -> None:
        if self.access is not None:
            await self.access(
                user, verb, at.api, namespace=at.namespace, name=at.name, sub=at.sub, **more
            )

    def _home(self, at: Place) -> None:
        """Check that a new object's namespace takes it."""
        if not at.api.namespaced:
            return
        space = self.store.find(NAMESPACES, "", at.namespace)
        if space is None:
            raise answers.not_found(NAMESPACES, at.namespace)
        if space.seen.terminating:
            why = f"namespace {at.namespace} is being terminated and takes nothing new"
            raise answers.forbidden(at.api.resource, at.name, why)

    async def _replace(
        self, at: Place, old: Thing, wish: Object, user: UserInfo, *, manager: str, dry_run: bool
    ) -> Object:
        if at.sub == "scale":
            return await self._rescale(at, old, wish, user, dry_run=dry_run)
        _decoded(wish)
        version = (wish.get("metadata") or {}).get("resourceVersion")
        if version not in (None, old.seen.resource_version):
            raise answers.conflict(
                at.api.resource, at.name, "the object has been modified; please apply your changes"
            )
        new = self._merged_halves(at, old, wish)
        _owned(at, new)
        if manager and new != old.body:
            new = noted(new, manager)
            if (new.get("spec") or {}).get("replicas") != old.spec.get("replicas"):
                new = sized(new, manager)
        write = self._write(Operation.UPDATE, at, user, old=old.body, new=new, dry_run=dry_run)
        await self.admission.check(write)
        if dry_run:
            return new
        return self._stored(at, old, new)

    def _merged_halves(self, at: Place, old: Thing, wish: Object) -> Object:
        """Return the whole new object: wish and status are written apart where both exist."""
        wish = without_nulls(wish)
        # WHY: the API server reads a null as what is not there, by a JSON patch too.
        written = (wish.get("metadata") or {}).items()
        metadata = {name: value for name, value in written if value is not None}
        for field in ("uid", "name", "namespace", "creationTimestamp", "deletionTimestamp"):
            metadata.pop(field, None)
            if field in old.metadata:
                metadata[field] = old.metadata[field]
        if at.sub and at.sub != "status":
            return {**old.body, **{key: value for key, value in wish.items() if key == "spec"}}
        if at.sub == "status":
            return {**old.body, "status": wish.get("status")}
        new = {**wish, "metadata": metadata}
        for field in ("apiVersion", "kind"):
            new.setdefault(field, old.body.get(field))
        if "status" in at.api.subresources:
            new.pop("status", None)
            if "status" in old.body:
                new["status"] = old.body["status"]
        if new.get("kind") == "CustomResourceDefinition":
            new = stored_in(new)
        if new.get("kind") == "Secret" and "stringData" in new:
            new = defaulted(new, has_status=False)
        new = filled(new)
        generation = old.metadata.get("generation", 1)
        metadata["generation"] = generation + changes_generation(old.body, new)
        metadata["resourceVersion"] = old.metadata["resourceVersion"]
        return new

    def _stored(self, at: Place, old: Thing, new: Object) -> Object:
        now = self.store.life(old.uid)
        if now is None:
            raise answers.not_found(at.api.resource, at.name)
        if new == now.body and not self.store.precedes_definition(now):
            return now.body
        stored = self.store.put(at.api, new)
        freed = at.sub == "finalize" and not stored.spec.get("finalizers")
        done = stored.seen.terminating and not stored.seen.finalizers
        if done and (freed or not kept_otherwise(stored)):
            self.store.remove(stored)
        self._settle()
        return stored.body

    def _scale(self, thing: Thing) -> Object:
        spec = {} if not thing.spec.get("replicas") else {"replicas": thing.spec["replicas"]}
        head = {key: thing.metadata.get(key) for key in ("name", "namespace", "uid")}
        metadata = {**head, "resourceVersion": thing.metadata["resourceVersion"]}
        return {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": spec}

    async def _rescale(
        self, at: Place, old: Thing, wish: Object, user: UserInfo, *, dry_run: bool
    ) -> Object:
        replicas = (wish.get("spec") or {}).get("replicas") or 0
        before = self._scale(old)
        after = {**before, "spec": {"replicas": replicas} if replicas else {}}
        await self.admission.check(
            self._write(
                Operation.UPDATE, at, user, old=before, new=after, dry_run=dry_run, gvk=_SCALE
            )
        )
        if not dry_run:
            body = {**old.body, "spec": {**old.spec, "replicas": replicas}}
            metadata = {**old.metadata, "generation": old.metadata.get("generation", 1) + 1}
            self._stored(at, old, sized({**body, "metadata": metadata}))
        return after

    async def _end(
        self, at: Place, thing: Thing, options: Object, user: UserInfo, *, collected: bool
    ) -> Object:
        dry_run = bool(options.get("dryRun"))
        if at.api.resource == NAMESPACES and at.name in STANDING:
            raise answers.forbidden(NAMESPACES, at.name, "this namespace may not be deleted")
        await self.admission.check(
            self._write(
                Operation.DELETE,
                at,
                user,
                old=thing.body,
                options=options,
                collected=collected,
                dry_run=dry_run,
            )
        )
        if dry_run:
            return thing.body
        if self.store.life(thing.uid) is None:
            raise answers.not_found(at.api.resource, at.name)
        given = options.get("propagationPolicy")
        left = end(
            self.store,
            thing,
            Propagation(given) if given else None,
            options.get("gracePeriodSeconds"),
        )
        if not collected:
            self._settle()
        if left is not None:
            return left.body
        return {
            "kind": "Status",
            "status": "Success",
            "metadata": {},
            "details": {"uid": thing.uid},
        }

    def _write(self, operation: Operation, at: Place, user: UserInfo, **more: Any) -> Write:
        given: dict[str, Any] = {
            "sub": at.sub,
            "gvk": at.api.gvk,
            "namespace": at.namespace,
            "name": at.name,
            **more,
        }
        return Write(operation=operation, api=at.api, user=user, **given)


def _decoded(body: Object) -> None:
    """Refuse a body that cannot be read. Errors: ApiError."""
    why = wrong_text(body)
    if why:
        raise answers.malformed(why)


def _owned(at: Place, body: Object) -> None:
    """Refuse an owner that is not told apart. SOURCE: apimachinery's validateOwnerReference."""
    for number, owner in enumerate((body.get("metadata") or {}).get("ownerReferences") or ()):
        for field in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(field):
                why = f"metadata.ownerReferences[{number}].{field}: must not be empty"
                raise answers.invalid(at.api.resource, why)


def _fields(text: str | None) -> list[tuple[list[str], str, bool]]:
    """Read a field selector: path, value, and whether they must be equal."""
    found = []
    for part in (text or "").split(","):
        if not part:
            continue
        unequal = "!=" in part
        path, _, value = part.partition("!=" if unequal else "=")
        found.append((path.strip().split("."), value.lstrip("=").strip(), not unequal))
    return found


def _has(body: Object, demands: list[tuple[list[str], str, bool]]) -> bool:
    for path, value, equal in demands:
        at: Any = body
        for part in path:
            at = at.get(part) if isinstance(at, dict) else None
        if (str(at if at is not None else "") == value) is not equal:
            return False
    return True
