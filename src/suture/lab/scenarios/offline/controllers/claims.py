"""The claims of a StatefulSet: made from its templates, and whose they are by its policy.

Lives apart from `ordered` because a claim outlives its pod, and often its set.
Source: pkg/controller/statefulset `getPersistentVolumeClaims`, `updateClaimOwnerRefForSetAndPod`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from suture.lab.scenarios.cluster import Object
from suture.lab.scenarios.offline.controllers.workloads import Shop
from suture.lab.scenarios.offline.defaults import defaulted
from suture.lab.scenarios.offline.store import Thing
from suture.model.names import CLAIMS


def claimed(shop: Shop, thing: Thing, pod: str) -> list[Object]:
    """Make the claims of a pod that are not there, and return the volumes that name them."""
    return [
        {"name": volume, "persistentVolumeClaim": {"claimName": _made(shop, thing, name, wanted)}}
        for volume, name, wanted in _claims(thing, pod)
    ]


def hand_over(shop: Shop, thing: Thing, kept: list[Thing], surplus: list[Thing]) -> None:
    """Make the claims of pods the set's, the pod's or nobody's, as the set's policy says."""
    policy = thing.spec.get("persistentVolumeClaimRetentionPolicy")
    if not policy:
        return
    whole = thing if policy.get("whenDeleted") == "Delete" else None
    for pod in kept:
        _give(shop, thing, pod, whole)
    for pod in surplus:
        _give(shop, thing, pod, pod if policy.get("whenScaled") == "Delete" else whole)


def _give(shop: Shop, thing: Thing, pod: Thing, owner: Thing | None) -> None:
    for _, name, _ in _claims(thing, pod.key.name):
        claim = shop.store.find(CLAIMS, thing.key.namespace, name)
        if claim is None:
            continue
        refs = claim.metadata.get("ownerReferences") or ()
        others = [one for one in refs if one.get("uid") not in (thing.uid, pod.uid)]
        owners = others if owner is None else [*others, _reference(owner)]
        shop.store.amend(claim, {}, ownerReferences=owners or None)


def _claims(thing: Thing, pod: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield volume, name and template of each claim of a pod."""
    for wanted in thing.spec.get("volumeClaimTemplates") or ():
        volume = wanted["metadata"]["name"]
        yield volume, f"{volume}-{pod}", wanted


def _made(shop: Shop, thing: Thing, name: str, wanted: dict[str, Any]) -> str:
    space = thing.key.namespace
    if shop.store.find(CLAIMS, space, name) is not None:
        return name
    said, selected = wanted["metadata"], (thing.spec.get("selector") or {}).get("matchLabels")
    metadata = {
        **({"annotations": said["annotations"]} if said.get("annotations") else {}),
        "labels": {**(said.get("labels") or {}), **(selected or {})},
        "name": name,
        "namespace": space,
        "uid": shop.store.new_uid(),
        "creationTimestamp": shop.store.stamp(),
    }
    head = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata}
    body = defaulted({**head, "spec": wanted.get("spec") or {}}, has_status=True)
    shop.store.put(shop.store.apis[CLAIMS], body)
    return name


def _reference(owner: Thing) -> Object:
    kind, version = owner.body["kind"], owner.body["apiVersion"]
    return {"apiVersion": version, "kind": kind, "name": owner.key.name, "uid": owner.uid}
