"""What pods read in a made cluster, and what tools keep: ConfigMaps, Secrets, applications.

One of the families of kinds; which tool keeps a namespace is `keepers`' to say.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from suture.lab.clusters.bodies import Object
from suture.lab.clusters.keepers import Tool
from suture.lab.clusters.plan import spread
from suture.lab.clusters.scribe import Scribe, Writer
from suture.lab.clusters.templates import CONFIG_KEYS, PULL_SECRET, ROOT_CERTIFICATES, SECRET_KEYS
from suture.model.names import CONFIG_MAPS, SECRETS, Resource

APPLICATIONS = Resource("argoproj.io", "applications")
KUSTOMIZATIONS = Resource("kustomize.toolkit.fluxcd.io", "kustomizations")
HELM_RELEASES = Resource("helm.toolkit.fluxcd.io", "helmreleases")

NOISE = "a" * 230
"""What an entry weighs: with three of them a ConfigMap has the kilobyte that most have."""


def _config_maps(scribe: Scribe) -> Iterator[bytes]:
    plan = scribe.plan
    spaces = [space.name for space in plan.spaces]
    own = [
        (app.namespace, name, CONFIG_KEYS)
        for app, name, _ in spread(plan.size.config_maps - len(spaces), plan.apps, "{}-config")
    ]
    roots = [(space, ROOT_CERTIFICATES, ("ca.crt",)) for space in spaces]
    for namespace, name, keys in sorted([*roots, *own]):
        kept = name != ROOT_CERTIFICATES
        meta = scribe.meta(CONFIG_MAPS, namespace, name, kept=kept)
        yield scribe.thing(CONFIG_MAPS, meta, data=_entries(scribe, keys))


def _secrets(scribe: Scribe) -> Iterator[bytes]:
    plan = scribe.plan
    spaces = [space.name for space in plan.spaces]
    own = [
        (app.namespace, name, SECRET_KEYS)
        for app, name, _ in spread(plan.size.secrets - len(spaces), plan.apps, "{}-secret")
    ]
    pulls = [(space, PULL_SECRET, (".dockerconfigjson",)) for space in spaces]
    for namespace, name, keys in sorted([*pulls, *own]):
        kind = "kubernetes.io/dockerconfigjson" if name == PULL_SECRET else "Opaque"
        meta = scribe.meta(SECRETS, namespace, name, kept=name != PULL_SECRET)
        yield scribe.thing(SECRETS, meta, data=_secret_entries(scribe, keys), type=kind)


def _entries(scribe: Scribe, keys: Sequence[str]) -> Object:
    return dict.fromkeys(keys, NOISE if scribe.full else "")


def _secret_entries(scribe: Scribe, keys: Sequence[str]) -> Object:
    # WHY no noise as a login: the API server reads it, and refuses what is none.
    text = '{"auths":{}}' if ".dockerconfigjson" in keys else NOISE
    return dict.fromkeys(keys, b64encode(text.encode()).decode() if scribe.full else "")


def _kept_by(resource: Resource, tool: Tool, scribe: Scribe) -> Iterator[bytes]:
    for keeper in scribe.keepers():
        if keeper.tool is tool:
            space = keeper.namespace
            source = f"https://git.example.com/{space}.git"
            spec: Object = {
                "project": "default",
                "source": {"repoURL": source, "path": "deploy", "targetRevision": "main"},
                "destination": {"namespace": space},
                "targetNamespace": space,
                "interval": "10m",
            }
            yield scribe.thing(resource, scribe.meta(resource, space, space), spec=spec)


WRITERS: Mapping[Resource, Writer] = {
    CONFIG_MAPS: _config_maps,
    SECRETS: _secrets,
    APPLICATIONS: partial(_kept_by, APPLICATIONS, Tool.ARGO),
    KUSTOMIZATIONS: partial(_kept_by, KUSTOMIZATIONS, Tool.FLUX),
    HELM_RELEASES: partial(_kept_by, HELM_RELEASES, Tool.FLUX_HELM),
}
