"""Populations that hold data: claims with volumes, and ConfigMaps and Secrets that pods mount.

Lives beside the other shapes as the family about what pods need to start again. Pure.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from suture.lab.scenarios.shapes import parts
from suture.lab.scenarios.shapes.parts import Object, Spread
from suture.lab.scenarios.shapes.workloads import claim_spec, storage_class, volume


class Claims(Spread, frozen=True, kw_only=True):
    """Claims PREFIX-i, bound by the real binder to volumes NAMESPACE-PREFIX-i, mounted by pods."""

    prefix: str = "data"
    storage_class: Annotated[str, Meta(description="Default: PREFIX-disk.")] = ""
    reclaim: Literal["Delete", "Retain"] = "Delete"
    size: str = "1Gi"
    mounted: Annotated[
        bool, Meta(description="A Deployment of the same name with one pod mounts each.")
    ] = True

    def objects(self) -> list[Object]:
        """Return namespaces, StorageClass, volumes, claims and Deployments."""
        storage = self.storage_class or f"{self.prefix}-disk"
        found = [*parts.spaces(self.places()), storage_class(storage, self.reclaim)]
        for _, space, name in self.each():
            labels = self.common(name)
            found.append(volume(f"{space}-{name}", storage, self.reclaim, size=self.size))
            spec = claim_spec(storage, size=self.size)
            found.append(parts.thing("v1", "PersistentVolumeClaim", name, space, labels, spec=spec))
            if self.mounted:
                mount = {"name": "data", "persistentVolumeClaim": {"claimName": name}}
                pods = parts.template(labels, volumes=[mount])
                found.append(parts.workload("Deployment", space, name, labels, pods))
        return found


class Configs(Spread, frozen=True, kw_only=True):
    """ConfigMaps or Secrets PREFIX-i, each used by the pod of a Deployment of the same name."""

    prefix: str = "config"
    kind: Literal["ConfigMap", "Secret"] = "ConfigMap"
    keys: tuple[str, ...] = ("config",)
    used: Annotated[
        Literal["volume", "env", "no"], Meta(description="How the pods use them, if at all.")
    ] = "volume"

    def objects(self) -> list[Object]:
        """Return namespaces, ConfigMaps or Secrets, and Deployments."""
        found = parts.spaces(self.places())
        for _, space, name in self.each():
            labels = self.common(name)
            data = {key: f"value of {key}" for key in self.keys}
            found.append(parts.config(self.kind, space, name, labels, data))
            if self.used != "no":
                found.append(
                    parts.workload("Deployment", space, name, labels, self._pods(name, labels))
                )
        return found

    def _pods(self, name: str, labels: dict[str, str]) -> Object:
        secret = self.kind == "Secret"
        if self.used == "env":
            reference = {"secretRef" if secret else "configMapRef": {"name": name}}
            return parts.template(labels, env_from=[reference])
        source: Object = (
            {"secret": {"secretName": name}} if secret else {"configMap": {"name": name}}
        )
        return parts.template(labels, volumes=[{"name": "config", **source}])
