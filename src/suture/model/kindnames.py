"""Kinds as people write them (`deploy`, `services`, `Ingress`, `topics.streams.example.com`).

Here because which type is meant depends on which types the model knows; knows no command line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from suture.errors import InputError
from suture.model.names import ObjectKey, Resource

SHORT: Mapping[str, str] = {
    "cm": "configmaps",
    "cj": "cronjobs",
    "crd": "customresourcedefinitions",
    "crds": "customresourcedefinitions",
    "deploy": "deployments",
    "ds": "daemonsets",
    "ep": "endpoints",
    "ev": "events",
    "hpa": "horizontalpodautoscalers",
    "ing": "ingresses",
    "limits": "limitranges",
    "netpol": "networkpolicies",
    "no": "nodes",
    "ns": "namespaces",
    "pc": "priorityclasses",
    "pdb": "poddisruptionbudgets",
    "po": "pods",
    "pv": "persistentvolumes",
    "pvc": "persistentvolumeclaims",
    "quota": "resourcequotas",
    "rc": "replicationcontrollers",
    "rs": "replicasets",
    "sa": "serviceaccounts",
    "sc": "storageclasses",
    "sts": "statefulsets",
    "svc": "services",
}
"""SOURCE: `kubectl api-resources`, column SHORTNAMES, of Kubernetes 1.36."""

ABBREVIATED: Mapping[str, str] = {
    plural: short for short, plural in SHORT.items() if short not in ("crds", "ev", "limits")
}
"""The other way round, for places where there is room for a few letters."""

BUILT_IN = (".k8s.io",)
SAID = 5
"""LIMIT: names in one message; a line of a terminal."""

Kinds = Mapping[tuple[str, str], Resource]
"""Which type a (group, kind) is, as `Graph.kinds` holds it."""


class UnknownKindError(InputError):
    """No type that the model knows is called so."""

    code = "kind_unknown"


class AmbiguousKindError(InputError):
    """Several types that the model knows are called so."""

    code = "kind_ambiguous"


class NoSuchObjectError(InputError):
    """The model has no object under a name."""

    code = "object_unknown"


def resolve_kind(text: str, kinds: Kinds) -> Resource:
    """Return the type that is meant by a short name, plural, singular or kind, with group or not.

    Of several, a built-in one is meant, as kubectl has it. Errors: UnknownKindError,
    AmbiguousKindError.
    """
    name, _, group = text.lower().partition(".")
    plural = SHORT.get(name, name)
    found = {
        resource
        for (_, kind), resource in kinds.items()
        if (resource.plural == plural or kind.lower() == name)
        and (not group or resource.group == group)
    }
    if len(found) > 1:
        found = {one for one in found if built_in(one.group)} or found
    if not found:
        raise UnknownKindError(
            f"no kind `{text}` in this model; name it by plural, kind or short name, with its "
            f"group as in `certificates.cert-manager.io`{_near(name, kinds)}"
        )
    if len(found) > 1:
        choice = ", ".join(f"`{one}`" for one in sorted(found)[:SAID])
        raise AmbiguousKindError(f"`{text}` may be any of {choice}: give one of these")
    return found.pop()


def built_in(group: str) -> bool:
    """Whether a group is one of Kubernetes' own: definitions cannot have such names."""
    return "." not in group or group.endswith(BUILT_IN)


def _near(name: str, kinds: Kinds) -> str:
    """Return types that begin alike, for the message."""
    near = sorted({str(one) for one in kinds.values() if one.plural.startswith(name[:4])})
    return f"; near it: {', '.join(f'`{one}`' for one in near[:SAID])}" if name and near else ""


def resolve_object(
    kind: Resource, name: str, namespace: str | None, keys: Iterable[ObjectKey]
) -> ObjectKey:
    """Return the key among a type's `keys` that is meant; None: any namespace, if just one has it.

    Errors: NoSuchObjectError with names that begin alike, AmbiguousKindError for several.
    """
    known = sorted(keys)
    # WHY: a cluster-scoped object has no namespace, whatever the flag says; as kubectl has it.
    found = [
        key
        for key in known
        if key.name == name
        and (namespace is None or not key.namespace or key.namespace == namespace)
    ]
    if len(found) > 1:
        places = ", ".join(f"`{key.namespace}`" for key in found[:SAID])
        more = f" and {len(found) - SAID} more" if len(found) > SAID else ""
        raise AmbiguousKindError(
            f"{kind.plural} `{name}` is in {len(found)} namespaces, {places}{more}: choose one "
            "with `-n NAMESPACE`"
        )
    if found:
        return found[0]
    place = f" in namespace `{namespace}`" if namespace else ""
    near = [key for key in known if key.name.startswith(name[:4])] or known
    hint = ", ".join(f"`{_place(key)}{key.name}`" for key in near[:SAID])
    raise NoSuchObjectError(
        f"no {kind} `{name}`{place}; near it, of {len(known):,}: {hint}"
        if near
        else f"no {kind} `{name}`{place}; the model holds none of this kind"
    )


def _place(key: ObjectKey) -> str:
    return f"{key.namespace}/" if key.namespace else ""


def plural_of(kind: str) -> str:
    """Return a kind's name for several: `NetworkPolicies`, `Ingresses`, `Pods`."""
    if kind.endswith(("s", "x", "ch", "sh")):
        return kind if kind.endswith("Endpoints") else f"{kind}es"
    if kind.endswith("y") and kind[-2:-1] not in "aeiou":
        return f"{kind[:-1]}ies"
    return f"{kind}s"


def kind_of(resource: Resource, kinds: Kinds) -> str:
    """Return a type's kind; the plural itself where no object and no discovery told."""
    for (_, kind), known in kinds.items():
        if known == resource:
            return kind
    return resource.plural
