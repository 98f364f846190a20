"""Writes made real: the request that a review would show, and then the request itself.

Apart from what is predicted: knows paths, patches and reviews, and judges nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from suture.adapters.kube import KubeClient
from suture.errors import ApiConflictError, DefectError, NotFoundError
from suture.lab.differential.writes import (
    Body,
    Create,
    Delete,
    DeleteAll,
    Evict,
    OwnedBy,
    Patch,
    Scale,
    Write,
)
from suture.lab.scenarios.offline.reviews import Write as Asked
from suture.lab.scenarios.offline.reviews import access_of, request_of, review_of
from suture.model.actor import UserInfo
from suture.model.names import Gvk, ObjectKey, Operation, Resource
from suture.model.request import Request
from suture.wire.admission import decode_review
from suture.wire.authorization import decode_access
from suture.wire.discovery import ApiResource
from suture.wire.trim import Trimmer

WRITER = UserInfo("system:serviceaccount:differential:writer")
"""As whom the cases are judged; they are written as an administrator, whom nothing stops."""

_SCALE = Gvk("autoscaling", "v1", "Scale")
_EVICTION = Gvk("policy", "v1", "Eviction")


class Hands:
    """What writes, and knows the uids that it was told."""

    def __init__(self, client: KubeClient, trimmer: Trimmer) -> None:
        self._client = client
        self._trimmer = trimmer
        self._by_kind: dict[tuple[str, str], ApiResource] = {}
        self._by_resource: dict[Resource, ApiResource] = {}
        self._uids: dict[tuple[str, str, str], str] = {}

    async def learn(self) -> None:
        """Ask which kinds there are."""
        for api in (await self._client.discover()).resources:
            self._by_kind[api.group, api.kind] = self._by_resource[api.resource] = api

    def api(self, resource: Resource) -> ApiResource:
        """Return where a type is served."""
        return self._by_resource[resource]

    def _api_of(self, body: Mapping[str, Any]) -> ApiResource:
        group = body["apiVersion"].rpartition("/")[0]
        return self._by_kind[group, body["kind"]]

    # ---- as a review shows it

    async def request(self, write: Write) -> Request:
        """Return the request that a write would be, as admission or authorization shows it.

        Errors: ApiError when a dry run of it is refused.
        """
        if isinstance(write, DeleteAll):
            api = self.api(write.key.resource)
            asked = access_of(
                WRITER, "deletecollection", api,
                namespace=write.key.namespace, selector=write.selector,
            )  # fmt: skip
            found = decode_access(asked).deletion
            if found is None:
                raise DefectError(f"no deletion was read from the access review of `{write}`")
            return found
        shown = await self._shown(write)
        return decode_review(review_of(shown, request_of(shown, "case")), self._trimmer)

    async def _shown(self, write: Create | Delete | Evict | Scale | Patch) -> Asked:
        client = self._client
        if isinstance(write, Create):
            api, body = self._api_of(write.body), self._owned(write)
            new = await client.create(_collection(api, body), body, dry_run=True)
            meta = body["metadata"]
            return Asked(
                operation=Operation.CREATE, api=api, user=WRITER, gvk=api.gvk,
                namespace=meta.get("namespace", ""), name=meta["name"], new=new,
            )  # fmt: skip
        key, api = write.key, self.api(write.key.resource)
        path = api.path(key.namespace, key.name)

        def asked(operation: Operation, gvk: Gvk, **more: Any) -> Asked:
            return Asked(
                operation=operation, api=api, user=WRITER, gvk=gvk, namespace=key.namespace,
                name=key.name, **more,
            )  # fmt: skip

        match write:
            case Delete(propagation=propagation):
                options = {"apiVersion": "meta.k8s.io/v1", "kind": "DeleteOptions"}
                if propagation is not None:
                    options["propagationPolicy"] = propagation
                old = await client.get(path)
                return asked(Operation.DELETE, api.gvk, old=old, options=options)
            case Evict():
                return asked(Operation.CREATE, _EVICTION, sub="eviction", new=_eviction(key))
            case Scale(replicas=replicas):
                old = await client.get(f"{path}/scale")
                new = {**old, "spec": {**old.get("spec", {}), "replicas": replicas}}
                return asked(Operation.UPDATE, _SCALE, sub="scale", old=old, new=new)
            case Patch(how=how):
                old = await client.get(path)
                new = await client.patch(path, self._patch(write), type=how, dry_run=True)
                return asked(Operation.UPDATE, api.gvk, old=old, new=new)
            case _:
                assert_never(write)

    # ---- for good

    async def do(self, write: Write) -> None:
        """Make a write. Errors: ApiError when it is refused."""
        client = self._client
        if isinstance(write, Create):
            api, body = self._api_of(write.body), self._owned(write)
            made = (await client.create(_collection(api, body), body))["metadata"]
            self._uids[body["kind"], made.get("namespace", ""), made["name"]] = made["uid"]
            return
        key, api = write.key, self.api(write.key.resource)
        path = api.path(key.namespace, key.name)
        match write:
            case Delete(propagation=propagation):
                await client.delete(path, propagation_policy=propagation)
            case DeleteAll(selector=selector):
                await client.delete_collection(path, label_selector=selector)
            case Evict():
                await client.create(f"{path}/eviction", _eviction(key))
            case Scale(replicas=replicas):
                body = {"spec": {"replicas": replicas}}
                await client.patch(f"{path}/scale", body, type="merge")
            case Patch(how=how):
                await client.patch(path, self._patch(write), type=how)
            case _:
                assert_never(write)

    async def release(self, key: ObjectKey, finalizer: str) -> bool:
        """Take a finalizer off an object; False where somebody wrote it meanwhile."""
        api = self.api(key.resource)
        path = api.path(key.namespace, key.name)
        try:
            meta = (await self._client.get(path))["metadata"]
            kept = [one for one in meta.get("finalizers", ()) if one != finalizer]
            body = {"metadata": {"finalizers": kept, "resourceVersion": meta["resourceVersion"]}}
            await self._client.patch(path, body, type="merge")
        except NotFoundError:
            return True
        except ApiConflictError:
            return False
        return True

    def _patch(self, write: Patch) -> Body:
        if write.owners is None:
            return write.body
        return {"metadata": {"ownerReferences": self._references(write.owners)}}

    def _owned(self, write: Create) -> Body:
        if not write.owners:
            return write.body
        meta = {**write.body["metadata"], "ownerReferences": self._references(write.owners)}
        return {**write.body, "metadata": meta}

    def _references(self, owners: tuple[OwnedBy, ...]) -> list[Body]:
        # WHY by uid: the API server takes no owner twice.
        found = {one.uid or self._uids[one.kind, one.place, one.name]: one for one in owners}
        return [
            {"apiVersion": one.api_version, "kind": one.kind, "name": one.name, "uid": uid}
            for uid, one in found.items()
        ]


def _collection(api: ApiResource, body: Body) -> str:
    return api.path(body["metadata"].get("namespace", ""))


def _eviction(key: ObjectKey) -> Body:
    metadata = {"name": key.name, "namespace": key.namespace}
    return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
