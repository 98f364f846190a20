"""Kinds as people write them (`deploy`, `services`, `Ingress`, `topics.streams.example.com`).

Here because which type is meant depends on which types the model knows; knows no command line.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from suture.errors import InputError
from suture.model.graph import Graph
from suture.model.groups import is_kubernetes
from suture.model.names import CRDS, ObjectKey, Resource, plural_of
from suture.model.objects import CrdFacts, Facts
from suture.model.targets import WELL_KNOWN

SHORT: Mapping[str, str] = {
    "cm": "configmaps",
    "cj": "cronjobs",
    "crd": "customresourcedefinitions",
    "crds": "customresourcedefinitions",
    "cs": "componentstatuses",
    "csr": "certificatesigningrequests",
    "deploy": "deployments",
    "ds": "daemonsets",
    "ep": "endpoints",
    "ev": "events",
    "hpa": "horizontalpodautoscalers",
    "ing": "ingresses",
    "ip": "ipaddresses",
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
    "vac": "volumeattributesclasses",
}
"""SOURCE: `kubectl api-resources`, column SHORTNAMES, of Kubernetes 1.36."""

ABBREVIATED: Mapping[str, str] = {
    plural: short for short, plural in SHORT.items() if short not in ("crds", "ev", "limits")
}
"""The other way round, for places where there is room for a few letters."""

SAID = 5
"""LIMIT: names in one message; a line of a terminal."""

Kinds = Mapping[tuple[str, str], Resource]
"""Which type a (group, kind) is, as `Graph.kinds` holds it."""


ShortNames = Mapping[str, Collection[Resource]]
"""Which types a short name may mean."""

NO_SHORT_NAMES: ShortNames = {}

VERSION = re.compile(r"v\d+((alpha|beta)\d+)?")
"""SOURCE: how Kubernetes writes versions; any other word is the first of a group."""


class UnknownKindError(InputError):
    """No type that the model knows is called so."""

    code = "kind_unknown"


class AmbiguousKindError(InputError):
    """Several types that the model knows are called so."""

    code = "kind_ambiguous"


class NoSuchObjectError(InputError):
    """The model has no object under a name, or cannot say whether there is one."""

    code = "object_unknown"


def short_names(definitions: Iterable[Facts | None]) -> ShortNames:
    """Return which types are called what for short, as their definitions say."""
    found: dict[str, set[Resource]] = {}
    for facts in definitions:
        if isinstance(facts, CrdFacts):
            for name in facts.short_names:
                found.setdefault(name.lower(), set()).add(facts.resource)
    return found


def kind_in(text: str, graph: Graph) -> Resource:
    """Return the type of a model that is meant. Errors: as `resolve_kind`."""
    definitions = map(graph.facts, graph.rows(CRDS))
    return resolve_kind(text, graph.kinds, short_names(definitions))


def resolve_kind(text: str, kinds: Kinds, short: ShortNames = NO_SHORT_NAMES) -> Resource:
    """Return the type that is meant by a short name, plural, singular or kind.

    With group or not, and with the version before it or not, which the model does not tell apart.
    Of several, a built-in one is meant, as kubectl has it. Errors: UnknownKindError,
    AmbiguousKindError.
    """
    name, _, group = text.lower().partition(".")
    version, _, rest = group.partition(".")
    if rest and VERSION.fullmatch(version):
        group = rest
    plural = SHORT.get(name, name)
    found = {
        resource
        for (_, kind), resource in kinds.items()
        if (resource.plural == plural or kind.lower() == name)
        and (not group or resource.group == group)
    } or {one for one in short.get(name, ()) if not group or one.group == group}
    if len(found) > 1:
        found = {one for one in found if is_kubernetes(one.group)} or found
    if not found:
        raise UnknownKindError(
            f"no kind `{text}` in this model; name it by plural, kind or short name, with its "
            f"group as in `certificates.cert-manager.io`{_near(name, kinds)}"
        )
    if len(found) > 1:
        choice = ", ".join(f"`{one}`" for one in sorted(found)[:SAID])
        raise AmbiguousKindError(f"`{text}` may be any of {choice}: give one of these")
    return found.pop()


def _near(name: str, kinds: Kinds) -> str:
    """Return types that begin alike, for the message."""
    near = sorted({str(one) for one in kinds.values() if one.plural.startswith(name[:4])})
    return f"; near it: {', '.join(f'`{one}`' for one in near[:SAID])}" if name and near else ""


def resolve_object(
    kind: Resource,
    name: str,
    namespace: str | None,
    keys: Iterable[ObjectKey],
    *,
    unknown: str = "",
) -> ObjectKey:
    """Return the key among a type's `keys` that is meant; None: any namespace, if just one has it.

    A name may be written with its namespace before it, as it is printed everywhere.
    `unknown`: why nobody can say which objects of the type there are; empty where it is known.
    Errors: NoSuchObjectError with names that begin alike, AmbiguousKindError for several.
    """
    known = sorted(keys)
    asked, place = name, f" in namespace `{namespace}`" if namespace else ""
    if namespace is None and "/" in name:
        namespace, _, name = name.partition("/")
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
    if unknown:
        raise NoSuchObjectError(f"whether {kind} `{asked}`{place} is there is unknown: {unknown}")
    near = [key for key in known if key.name.startswith(name[:4])] or known
    hint = ", ".join(f"`{_place(key)}{key.name}`" for key in near[:SAID])
    raise NoSuchObjectError(
        f"no {kind} `{asked}`{place}; near it, of {len(known):,}: {hint}"
        if near
        else f"no {kind} `{asked}`{place}; the model holds none of this kind"
    )


def _place(key: ObjectKey) -> str:
    return f"{key.namespace}/" if key.namespace else ""


def kind_of(resource: Resource, kinds: Kinds) -> str:
    """Return a type's kind; the plural itself where no object and no discovery told."""
    for (_, kind), known in kinds.items():
        if known == resource:
            return kind
    return resource.plural


def misnamed(group: str, name: str) -> Resource | None:
    """Return the type that is meant by a name that none has: of `apps` no type is `deployment`.

    None: some type may be called so. `*` is any. Only what is Kubernetes' own is known here;
    all of that has plurals in small letters that end in `s`, and in neither `ss` nor `us`.
    """
    plain = name.lower()
    singular = not plain.endswith("s") or plain.endswith(("ss", "us"))
    plural = SHORT.get(plain) or (plural_of(plain) if singular else plain)
    if name == "*" or not is_kubernetes(group) or (group == "*" and plural not in SHORT.values()):
        return None
    homes = {known.group for known in WELL_KNOWN.values() if known.plural == plural}
    home = homes.pop() if group == "" and homes and "" not in homes else group
    return Resource(home, plural) if (home, plural) != (group, name) else None
