"""Who keeps the objects of a namespace as they are: Argo CD, Flux, Helm, or people.

Apart from the kinds because every kind that a team writes carries the same marks. A made cluster
has one application, kustomization or release a namespace, named like it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from suture.lab.clusters.chance import dice
from suture.model.names import Gvk

NOBODY: Mapping[str, str] = {}


class Tool(StrEnum):
    """What writes the objects of a namespace; the name under which it owns their fields."""

    ARGO = "argocd-controller"
    FLUX = "kustomize-controller"
    FLUX_HELM = "helm-controller"
    HELM = "helm"
    PEOPLE = "kubectl-client-side-apply"


SHARES: Mapping[Tool, float] = {
    Tool.ARGO: 0.4,
    Tool.FLUX: 0.2,
    Tool.FLUX_HELM: 0.1,
    Tool.HELM: 0.2,
    Tool.PEOPLE: 0.1,
}
"""The part of team namespaces that each has; the platform's are all Helm's."""


class Keeper(msgspec.Struct, frozen=True):
    """Who keeps one namespace's objects."""

    namespace: str
    tool: Tool

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels that its objects carry."""
        match self.tool:
            case Tool.FLUX:
                return self._flux("kustomize")
            case Tool.FLUX_HELM:
                return {**self._flux("helm"), "app.kubernetes.io/managed-by": "Helm"}
            case Tool.HELM:
                return {"app.kubernetes.io/managed-by": "Helm"}
            case _:
                return NOBODY

    def annotations(self, gvk: Gvk, name: str) -> Mapping[str, str]:
        """Return the annotations of one of its objects."""
        match self.tool:
            case Tool.ARGO:
                what = f"{gvk.group}/{gvk.kind}:{self.namespace}/{name}"
                tracked = f"{self.namespace}_{self.namespace}:{what}"
                return {"argocd.argoproj.io/tracking-id": tracked}
            case Tool.FLUX_HELM | Tool.HELM:
                return {
                    "meta.helm.sh/release-name": self.namespace,
                    "meta.helm.sh/release-namespace": self.namespace,
                }
            case _:
                return NOBODY

    def _flux(self, part: str) -> Mapping[str, str]:
        return {
            f"{part}.toolkit.fluxcd.io/name": self.namespace,
            f"{part}.toolkit.fluxcd.io/namespace": self.namespace,
        }


def keeper_of(seed: int, namespace: str, *, platform: bool) -> Keeper:
    """Return who keeps a namespace's objects, always the same."""
    rng = dice(seed, "keepers", namespace)
    drawn = rng.choices(tuple(SHARES), tuple(SHARES.values()))[0]
    return Keeper(namespace, Tool.HELM if platform else drawn)
