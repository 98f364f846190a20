"""What the names of fields say, as a schema describes them: what is named, and what is selected.

Beside `schemas`, which reads what else a definition tells. Pure. A guess by names, marked as
discovered: a name that leads nowhere then means nothing, and what a person declares of the same
field stands instead.
Source: field names as in core/v1; API conventions, by which a reference is called after its kind.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice

import msgspec

from suture.model.fieldnames import SCALED, names_material, names_provider
from suture.model.fieldpath import STEPS, FieldPath
from suture.model.names import (
    CLAIMS,
    CONFIG_MAPS,
    NAMESPACES,
    NODES,
    PODS,
    SECRETS,
    SERVICES,
    Resource,
)
from suture.model.rules import (
    Called,
    Form,
    Place,
    Provided,
    Reference,
    ReferenceRule,
    Says,
    Selects,
    TypeName,
)
from suture.wire.endings import STATUS

RULES = 256
"""LIMIT: rules of one definition: a pod template has 23 such fields, and the largest operators
embed eight; nearer ones come first."""

VISITED = 200_000
"""LIMIT: fields of one definition that are looked at; one of 1.5 MB, the most that is stored, has
30,000, and each takes 2 us."""

_SERVICE_ACCOUNTS = Resource("", "serviceaccounts")
_STORAGE_CLASSES = Resource("storage.k8s.io", "storageclasses")
_PRIORITY_CLASSES = Resource("scheduling.k8s.io", "priorityclasses")

TEXTS: Mapping[str, tuple[Resource, Place]] = {
    "secretName": (SECRETS, Place.SAME),
    "credentialName": (SECRETS, Place.SAME),
    "configMapName": (CONFIG_MAPS, Place.SAME),
    "serviceName": (SERVICES, Place.SAME),
    "serviceAccountName": (_SERVICE_ACCOUNTS, Place.SAME),
    "claimName": (CLAIMS, Place.SAME),
    "storageClassName": (_STORAGE_CLASSES, Place.CLUSTER),
    "priorityClassName": (_PRIORITY_CLASSES, Place.CLUSTER),
}
"""Fields that hold a name."""

OBJECTS: Mapping[str, Resource] = {
    "secretRef": SECRETS,
    "secretKeyRef": SECRETS,
    "configMapRef": CONFIG_MAPS,
    "configMapKeyRef": CONFIG_MAPS,
    "serviceRef": SERVICES,
}
"""Fields with a `name` in them, and often a `namespace` or a `key`."""

BACKENDS = frozenset({"services", "backends", "backendRefs"})
"""Lists whose items name a Service, where a port stands beside the name."""

SUFFIXES: tuple[tuple[str, Resource], ...] = (
    ("SecretRef", SECRETS),
    ("SecretKeyRef", SECRETS),
    ("ConfigMapRef", CONFIG_MAPS),
    ("ConfigMapKeyRef", CONFIG_MAPS),
)
"""How the same fields end where a word says what the object is for: `apiTokenSecretRef`."""

TEXT_ENDS = "SecretName", "CredentialName", "ConfigMapName"
"""How a text ends that names one of these, with a word for what it is for. WHY not `Secret` alone:
where such a text is the secret itself, its value would be kept as a name."""

OBJECT_ENDS: tuple[tuple[str, Resource], ...] = (("Secret", SECRETS), ("ConfigMap", CONFIG_MAPS))
"""How an object ends that names one of these and says nothing else: `superuserSecret`."""

NAMING_ALONE = frozenset({"name", "namespace", "key", "optional"})
"""The fields of such an object."""

SERVICE_END = "Service"
"""How a text ends that names a Service, with a word for what it is for: `canaryService`."""

KEYED = frozenset({"name", "key"})
"""The fields of an object that names an entry of a Secret, and nothing beside it. SOURCE: core/v1
SecretKeySelector."""

HEEDED = frozenset(
    {*TEXTS, *OBJECTS, *BACKENDS, "imagePullSecrets", "port", "servicePort", "kind", "name",
     "namespace", "key", "accessModes"}
)  # fmt: skip
"""Names that say something, or do beside another; those of selectors and kinds are more."""

PODLIKE = frozenset({"", "label", "pod", "workload", "endpoint"})
STEMS: Mapping[str, TypeName] = {
    **{stem: TypeName.of(PODS) for stem in PODLIKE},
    "service": TypeName.of(SERVICES),
    "node": TypeName.of(NODES),
    "namespace": TypeName.of(NAMESPACES),
}
"""What `podSelector` and the like select, by what stands before `Selector`."""
_PLACES = {"node": Place.CLUSTER, "namespace": Place.CLUSTER}

TEXTUAL = frozenset({"node"})
"""What is selected by fields that hold a selector as text. LIMIT: such fields of pods and of
namespaces are left alone; they are mostly of network policies, which narrow them by others."""

# WHY: what a scheduler prefers is no need, and labels there are of pods that may never be.
SCHEDULING = frozenset({"affinity", "topologySpreadConstraints"})
NOT_SAID = frozenset({"apiVersion", "kind", "metadata", "status"})
"""Fields of an object that say nothing of what it needs."""


SPEC = ("spec",)

NAMING = 64
"""LIMIT: fields of one definition that are held against kinds, nearer ones first, 0.2 kB each."""


class Schema(msgspec.Struct, rename="camel", gc=False):
    """As much of a schema as tells the shape of a field."""

    type: str = ""
    properties: dict[str, Schema] | None = None
    items: Schema | None = None
    additional_properties: bool | Schema | None = None
    anything: bool = msgspec.field(default=False, name="x-kubernetes-preserve-unknown-fields")

    @property
    def label_selector(self) -> bool:
        """Whether it is the LabelSelector of meta/v1."""
        found = self.properties or {}
        labels = found.get("matchLabels")
        return labels is not None and labels.label_map and found.keys() <= SELECTOR_FIELDS

    @property
    def label_map(self) -> bool:
        """Whether it is a map of texts."""
        values = self.additional_properties
        return isinstance(values, Schema) and values.type == "string" and not self.properties


SELECTOR_FIELDS = frozenset({"matchLabels", "matchExpressions"})
BY_NAME = frozenset({"any", "matchNames"})
"""How namespaces are selected where they are not by label. SOURCE: monitoring.coreos.com."""


def names_of_schema(resource: Resource, root: Schema) -> Iterator[ReferenceRule]:
    """Yield what a schema tells of what its objects name and select, at most `RULES`."""
    yield from _called(resource, root)
    for field, says in islice(_walk(resource, root), RULES):
        yield field_rule(resource, field, says)


def field_rule(resource: Resource, field: FieldPath, says: Says) -> ReferenceRule:
    """Return what a field of a definition says, as a rule; a person's is of the same form."""
    name = f"{resource} {field}"
    return ReferenceRule(name, TypeName.of(resource), says, discovered=True)


def _called(resource: Resource, root: Schema) -> Iterator[ReferenceRule]:
    """Yield the rules of fields that hold a name: at the top of a spec, one below, of a status.

    Which of them are called after a kind is told where it is known which kinds there are.
    """
    for top in (*SPEC, STATUS):
        part = (root.properties or {}).get(top) if root.properties else root
        found = [] if part is None else _holding_names(top, part, deep=top != STATUS)
        if found:
            yield field_rule(resource, FieldPath((top,)), Called(tuple(found[:NAMING])))


def _holding_names(top: str, whole: Schema, *, deep: bool) -> list[FieldPath]:
    parts = [((top, name), schema) for name, schema in (whole.properties or {}).items()]
    deeper = [
        ((*steps, *way, name), schema)
        for steps, part in parts
        for way, shape in (((), part), (("",), part.items))
        if shape is not None
        for name, schema in (shape.properties or {}).items()
        if deep
    ]
    return [FieldPath(steps) for steps, schema in (*parts, *deeper) if _holds_name(schema)]


def _holds_name(schema: Schema) -> bool:
    """Whether a field is a name, or an object that says one and no kind; or a list of such.

    What a program gives out has a number for its name: `id`.
    """
    if schema.items is not None:
        return schema.items.items is None and _holds_name(schema.items)
    fields = schema.properties or {}
    name, number = fields.get("name"), fields.get("id")
    named = (name is not None and name.type == "string") or (
        number is not None and number.type in {"string", "integer"}
    )
    return schema.type == "string" or (named and "kind" not in fields)


def _walk(resource: Resource, root: Schema) -> Iterator[tuple[FieldPath, Says]]:
    """Yield what the fields of a schema say, breadth first."""
    waiting: deque[tuple[tuple[str, ...], Schema]] = deque([((), root)])
    visited = 0
    while waiting and visited < VISITED:
        path, schema = waiting.popleft()
        fields = schema.properties or {}
        visited += len(fields) + 1
        for name, field in fields.items():
            if name in SCHEDULING or (not path and name in NOT_SAID):
                continue
            here = (*path, name)
            if len(here) >= STEPS - 2:
                continue
            for says in _said(resource, FieldPath(here), name, field, fields):
                yield says.field, says
            if not _selector_shaped(field):
                waiting.append((here, field))
        for below in (schema.items, schema.additional_properties):
            if isinstance(below, Schema):
                waiting.append(((*path, ""), below))


def _selector_shaped(field: Schema) -> bool:
    return field.label_selector or (field.items is not None and field.items.label_selector)


def _said(
    resource: Resource, at: FieldPath, name: str, field: Schema, beside: Mapping[str, Schema]
) -> Iterator[Reference | Selects | Provided]:
    """Yield what one field says, which stands `beside` the others of its object."""
    of = _named_object(name, field)
    text = next((f"{end[0].lower()}{end[1:]}" for end in TEXT_ENDS if name.endswith(end)), name)
    if text in TEXTS and field.type == "string":
        to, place = TEXTS[text]
        elsewhere = f"{name.removesuffix('Name')}Namespace"
        where = _sibling(at, elsewhere) if elsewhere in beside else place
        leads = to == SERVICES and not beside.keys().isdisjoint(("port", "servicePort"))
        yield Reference(at, TypeName.of(to), where, optional=True, leads=leads)
    elif name.endswith(SERVICE_END) and field.type == "string":
        yield Reference(at, TypeName.of(SERVICES), Place.SAME, optional=True)
    elif of is not None:
        inner = field.properties or {}
        if "name" in inner and inner["name"].type == "string":
            yield Reference(
                at.then("name"),
                TypeName.of(of),
                at.then("namespace") if "namespace" in inner else Place.SAME,
                at.then("key") if "key" in inner and of in (SECRETS, CONFIG_MAPS) else None,
                optional=True,
                leads=name == "serviceRef" and "port" in inner,
            )
    elif name in BACKENDS and field.items is not None:
        inner = field.items.properties or {}
        if "port" in inner and "name" in inner and inner["name"].type == "string":
            yield Reference(
                at.then("", "name"),
                TypeName.of(SERVICES),
                at.then("", "namespace") if "namespace" in inner else Place.SAME,
                optional=True,
                leads=True,
            )
    elif name == SCALED or names_provider(name) or names_material(name, at.steps[:-1]):
        inner = field.properties or {}
        if all(one in inner and inner[one].type == "string" for one in ("kind", "name")):
            yield Provided(at, resource.group)
    elif name == "imagePullSecrets" and field.items is not None:
        if "name" in (field.items.properties or {}):
            yield Reference(at.then("", "name"), TypeName.of(SECRETS), optional=True)
    elif name.endswith(("elector", "electors")):
        yield from _selects(resource, at, name, field, beside)


def _named_object(name: str, field: Schema) -> Resource | None:
    """Return of which type the object is that a field with a `name` in it names, if it tells."""
    known = OBJECTS.get(name)
    if known is None:
        known = next((of for end, of in SUFFIXES if name.endswith(end)), None)
    inner = field.properties
    if known is not None or inner is None:
        return known
    if inner.keys() == KEYED and all(one.type == "string" for one in inner.values()):
        return SECRETS
    if inner.keys() <= NAMING_ALONE:
        return next((of for end, of in OBJECT_ENDS if name.endswith(end)), None)
    return None


def _selects(
    resource: Resource, at: FieldPath, name: str, field: Schema, beside: Mapping[str, Schema]
) -> Iterator[Selects]:
    """Yield what a field selects whose name says that it does, where it has such a shape."""
    if name.endswith("s") and field.items is not None:
        at, field = at.then(""), field.items
    stem = _stem(name)
    if field.label_selector:
        form = Form.LABEL_SELECTOR
    elif field.label_map:
        form = Form.MATCH_LABELS
    elif field.type == "string" and (stem in TEXTUAL or _beside_nodes(stem, beside)):
        form = Form.STRING
    else:
        return
    # WHY: a claim's selector is of volumes, which are bound once and for all.
    if "accessModes" in beside or (stem.lower().endswith("namespace") and _whose(name, beside)):
        return
    of = STEMS.get(stem) or TypeName(resource.group, f"{stem[0].upper()}{stem[1:]}")
    if not stem and resource.plural.startswith("service"):
        # WHY: a selector with no word for what it selects is of what its own kind is called after.
        of = STEMS["service"]
    if form is Form.STRING and stem not in STEMS:
        stem, of = "node", STEMS["node"]
    place = _PLACES.get(stem, Place.SAME)
    spaces, by_name = _namespaces(at, stem, beside)
    yield Selects(at, of, form, place, spaces, by_name)


def _beside_nodes(stem: str, beside: Mapping[str, Schema]) -> bool:
    """Whether a text that names no type stands beside one that selects nodes, and so selects them.

    SOURCE: Calico, BGPPeer: `peerSelector` is of nodes, as `nodeSelector` is.
    """
    nodes = beside.get("nodeSelector")
    return stem not in STEMS and nodes is not None and nodes.type == "string"


def _stem(name: str) -> str:
    """Return what stands before `Selector`, `` for `selector` alone; `serviceMonitor` and so on."""
    stem = name.removesuffix("s").removesuffix("elector")[:-1]
    return stem if stem not in PODLIKE else ""


def _whose(name: str, beside: Mapping[str, Schema]) -> bool:
    """Whether a selector of namespaces belongs to another selector beside it."""
    return any(
        other != name and other.endswith("elector") and name in _companions(_stem(other))
        for other in beside
    )


def _companions(stem: str) -> tuple[str, ...]:
    return (f"{stem}NamespaceSelector",) if stem else ("namespaceSelector", "podNamespaceSelector")


def _namespaces(
    at: FieldPath, stem: str, beside: Mapping[str, Schema]
) -> tuple[FieldPath | None, bool]:
    """Return which field beside a selector selects namespaces, and whether that is by name."""
    for name in _companions(stem):
        field = beside.get(name)
        if field is None or not at.steps[-1]:
            continue
        by_name = bool(field.properties) and (field.properties or {}).keys() <= BY_NAME
        if field.label_selector or by_name:
            return _sibling(at, name), by_name
    return None, False


def _sibling(at: FieldPath, name: str) -> FieldPath:
    return FieldPath((*at.steps[:-1], name))
