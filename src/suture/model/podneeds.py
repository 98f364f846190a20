"""What pods name: the few fields of a pod's spec that do, and the needs that they stand for.

In the model because these bytes are how the graph tells pods apart that differ in what they need,
and how a snapshot keeps them. `wire` decodes the fields out of a pod or a pod template; nothing
here loops over containers until somebody asks for the needs themselves.
Source: core/v1 PodSpec.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from suture.model import names
from suture.model.edges import Edge, Need, Needs
from suture.model.names import ObjectKey, Resource

DEFAULT_ACCOUNT = "default"


class _Field(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    """A part of a pod; written again without what it does not say."""


class Named(_Field, gc=False):
    """A reference by name alone."""

    name: str = ""


class _Entry(_Field, gc=False):
    """One entry of a ConfigMap or Secret; or, without a key, the whole of it."""

    name: str = ""
    key: str = ""
    optional: bool | None = None


class _ValueFrom(_Field, gc=False):
    config_map_key_ref: _Entry | None = None
    secret_key_ref: _Entry | None = None


class _Env(_Field, gc=False):
    value_from: _ValueFrom | None = None


class _EnvFrom(_Field, gc=False):
    config_map_ref: _Entry | None = None
    secret_ref: _Entry | None = None


class _Container(_Field, gc=False):
    env: list[_Env] | None = None
    env_from: list[_EnvFrom] | None = None


class _Item(_Field, gc=False):
    key: str = ""


class _Source(_Field, gc=False):
    """A ConfigMap or Secret as files; a Secret of its own volume is named `secretName`."""

    name: str = ""
    secret_name: str = ""
    items: list[_Item] | None = None
    optional: bool | None = None


class _ProjectedPart(_Field, gc=False):
    config_map: _Source | None = None
    secret: _Source | None = None


class _Projected(_Field, gc=False):
    sources: list[_ProjectedPart] | None = None


class _ClaimSource(_Field, gc=False):
    claim_name: str = ""


class _Driver(_Field, gc=False):
    """A volume that a driver makes, with the Secret that it logs in by."""

    secret_ref: Named | None = None
    node_publish_secret_ref: Named | None = None
    secret_name: str = ""


class _Ephemeral(_Field, gc=False):
    """A volume whose claim is made with the pod and named after both."""


class _Volume(_Field, gc=False):
    name: str = ""
    config_map: _Source | None = None
    secret: _Source | None = None
    projected: _Projected | None = None
    persistent_volume_claim: _ClaimSource | None = None
    ephemeral: _Ephemeral | None = None
    csi: _Driver | None = None
    azure_file: _Driver | None = None
    cephfs: _Driver | None = None
    cinder: _Driver | None = None
    flex_volume: _Driver | None = None
    iscsi: _Driver | None = None
    rbd: _Driver | None = None
    scale_io: _Driver | None = msgspec.field(default=None, name="scaleIO")
    storageos: _Driver | None = None


class _ResourceClaim(_Field, gc=False):
    resource_claim_name: str | None = None


class PodRefs(_Field, gc=False):
    """The spec of a pod, as far as it names other objects.

    WHY not `serviceAccount`, the older name of `serviceAccountName`: the API server keeps both
    alike, and reading both would make the bytes of every pod longer.
    """

    node_name: str = ""
    service_account_name: str = ""
    priority_class_name: str = ""
    runtime_class_name: str | None = None
    image_pull_secrets: list[Named] | None = None
    resource_claims: list[_ResourceClaim] | None = None
    volumes: list[_Volume] | None = None
    init_containers: list[_Container] | None = None
    containers: list[_Container] | None = None
    ephemeral_containers: list[_Container] | None = None


class _Projection(msgspec.Struct, omit_defaults=True, gc=False):
    """What the bytes hold: the fields, and what the fields alone do not say."""

    namespace: str
    spec: PodRefs
    pod: str = ""
    claims: tuple[str, ...] = ()
    service: str = ""
    classes: tuple[str, ...] = ()
    given: list[_Volume] | None = None
    more: tuple[Need, ...] = ()


class _Where(msgspec.Struct, gc=False):
    """Where a pod is, of all that the bytes hold."""

    namespace: str


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(_Projection)
_where_decoder = msgspec.json.Decoder(_Where)
_given_decoder = msgspec.json.Decoder(list[_Volume])
_more_decoder = msgspec.json.Decoder(tuple[Need, ...])

_GIVEN, _MORE = b',"given":', b',"more":'
"""What begins the last two parts; in no text of theirs, where a quote would be escaped."""

GIVEN = 4096
"""LIMIT: volumes that pods are given, by namespace, of which it is remembered what they name, 0.5
kB each: the token's, which is the same for all pods of a namespace, is nearly all there is."""


class PodNeeds(Needs):
    """What a pod or a pod template needs, its node apart: that is a fact of its own.

    Equal bytes are equal needs. Siblings have equal bytes: what Kubernetes draws by lot for each
    pod (its node, the name of its token's volume) is not in them.
    """

    __slots__ = ()

    @classmethod
    def of_pod(
        cls, spec: PodRefs, namespace: str, name: str, claims: tuple[str, ...] = ()
    ) -> PodNeeds:
        """Take the needs out of a pod; `claims` are the resource claims that were made for it.

        The spec is used up. Its node is taken out of it by the caller.
        """
        pod, given = "", None
        if spec.volumes:
            for volume in spec.volumes:
                if volume.ephemeral is None:
                    volume.name = ""
                else:
                    pod = name
            given = _take_given(spec)
        return cls(_encoder.encode(_Projection(namespace, spec, pod, claims, given=given)))

    @classmethod
    def of_template(
        cls, spec: PodRefs, namespace: str, *, service: str = "", classes: tuple[str, ...] = ()
    ) -> PodNeeds:
        """Take the needs out of a pod template; the spec is used up.

        `service` governs the names of its pods; `classes` are the StorageClasses of their claims.
        """
        if not spec.service_account_name:
            # SOURCE: the ServiceAccount admission plugin fills it in on every pod.
            spec.service_account_name = DEFAULT_ACCOUNT
        for volume in spec.volumes or ():
            # WHY: the claim of such a volume is named after a pod that is not made yet.
            volume.name, volume.ephemeral = "", None
        given = _take_given(spec)
        return cls(_encoder.encode(_Projection(namespace, spec, "", (), service, classes, given)))

    def also(self, more: tuple[Need, ...]) -> PodNeeds:
        """Return these needs with others that the spec does not tell of; still unread."""
        if _MORE in self.raw:
            head, _, told = self.raw.rpartition(_MORE)
            return PodNeeds(head + b"}").also((*_more_decoder.decode(told[:-1]), *more))
        return PodNeeds(b"%b%b%b}" % (self.raw[:-1], _MORE, _encoder.encode(more)))

    def apart(self) -> tuple[PodNeeds, tuple[Need, ...]]:
        """Return what the template says, which its pods share, and what each of them is given.

        Nothing is given that the template may name as well: both are read in one go then.
        """
        head, found, more = self.raw.rpartition(_MORE)
        own = _more_decoder.decode(more[:-1]) if found else ()
        whole = PodNeeds(head + b"}") if found else self
        start, found, given = whole.raw.rpartition(_GIVEN)
        if not found:
            return whole, own
        alike = PodNeeds(start + b"}")
        needs, texts = _given_needs(given[:-1], _where_decoder.decode(start + b"}").namespace)
        if any(text in alike.raw for text in texts):
            return whole, own
        return alike, (*needs, *own)

    def read(self) -> tuple[Need, ...]:
        """Return the needs, each once; one that is needed here and optional there is needed."""
        projection, found = _decoder.decode(self.raw), _Found()
        _read(projection, found)
        return (*found.needs(projection.namespace), *projection.more)


class _Kind:
    """An edge of pods, and the type that it leads to; told apart by identity, which is quick."""

    __slots__ = ("edge", "namespaced", "resource")

    def __init__(self, edge: Edge, resource: Resource, *, namespaced: bool = True) -> None:
        self.edge = edge
        self.resource = resource
        self.namespaced = namespaced


_ACCOUNT = _Kind(Edge.SERVICE_ACCOUNT, names.SERVICE_ACCOUNTS)
_NODE = _Kind(Edge.NODE, names.NODES, namespaced=False)
_PRIORITY = _Kind(Edge.PRIORITY_CLASS, names.PRIORITY_CLASSES, namespaced=False)
_RUNTIME = _Kind(Edge.RUNTIME_CLASS, names.RUNTIME_CLASSES, namespaced=False)
_SERVICE = _Kind(Edge.GOVERNING_SERVICE, names.SERVICES)
_STORAGE = _Kind(Edge.STORAGE_CLASS, names.STORAGE_CLASSES, namespaced=False)
_PULL = _Kind(Edge.PULL_SECRET, names.SECRETS)
_DEVICE = _Kind(Edge.RESOURCE_CLAIM, names.RESOURCE_CLAIMS)
_CLAIM = _Kind(Edge.CLAIM, names.CLAIMS)
_CONFIG_MAP = _Kind(Edge.CONFIG_MAP, names.CONFIG_MAPS)
_SECRET = _Kind(Edge.SECRET, names.SECRETS)


class _Found(dict[tuple[_Kind, str, str], bool]):
    """What was named so far, and whether only optionally."""

    def add(self, kind: _Kind, name: str, key: str = "", optional: bool = False) -> None:
        """Note what a field names; nothing where it is empty."""
        if name:
            at = kind, name, key
            self[at] = optional and self.get(at, True)

    def needs(self, namespace: str) -> list[Need]:
        """Return what was named, by somebody in a namespace."""
        return [
            Need(
                kind.edge,
                ObjectKey(kind.resource, namespace if kind.namespaced else "", name),
                key,
                optional,
            )
            for (kind, name, key), optional in self.items()
        ]

    def entry(self, kind: _Kind, entry: _Entry) -> None:
        """Note an entry of a ConfigMap or Secret, or the whole of it."""
        self.add(kind, entry.name, entry.key, entry.optional is True)

    def files(self, kind: _Kind, source: _Source, name: str) -> None:
        """Note the entries that a volume lists, each of which must be there; or the whole."""
        optional = source.optional is True
        if not source.items:
            self.add(kind, name, "", optional)
            return
        for item in source.items:
            self.add(kind, name, item.key, optional)


def _take_given(spec: PodRefs) -> list[_Volume] | None:
    """Take the volumes that a pod may be given out of its spec; None where there are none."""
    volumes = spec.volumes or ()
    given = [one for one in volumes if _is_given(one)]
    if not given:
        return None
    spec.volumes = [one for one in volumes if not _is_given(one)] or None
    return given


@lru_cache(GIVEN)
def _given_needs(given: bytes, namespace: str) -> tuple[tuple[Need, ...], tuple[bytes, ...]]:
    """Return what given volumes name, and the names as they would stand in the bytes."""
    found = _Found()
    for volume in _given_decoder.decode(given):
        _read_volume(volume, "", found)
    needs = tuple(found.needs(namespace))
    return needs, tuple(_encoder.encode(need.target.name) for need in needs)


def _is_given(volume: _Volume) -> bool:
    """Whether a volume is of the kinds that a pod is given beside what its template says.

    SOURCE: the ServiceAccount admission plugin: the token's, projected, in each pod; and a claim
    of its own for each pod of a StatefulSet. A template that has such itself shares the rest.
    """
    return volume.projected is not None or volume.persistent_volume_claim is not None


def _read(projection: _Projection, found: _Found) -> None:
    spec = projection.spec
    found.add(_ACCOUNT, spec.service_account_name)
    found.add(_NODE, spec.node_name)
    found.add(_PRIORITY, spec.priority_class_name)
    found.add(_RUNTIME, spec.runtime_class_name or "")
    found.add(_SERVICE, projection.service)
    for storage_class in projection.classes:
        found.add(_STORAGE, storage_class)
    for pull in spec.image_pull_secrets or ():
        found.add(_PULL, pull.name)
    for claim in spec.resource_claims or ():
        found.add(_DEVICE, claim.resource_claim_name or "")
    for made in projection.claims:
        found.add(_DEVICE, made)
    for volume in spec.volumes or ():
        _read_volume(volume, projection.pod, found)
    for containers in (spec.init_containers, spec.containers, spec.ephemeral_containers):
        for container in containers or ():
            _read_container(container, found)
    # WHY last: in the order in which they are kept, what siblings share before all else.
    for volume in projection.given or ():
        _read_volume(volume, projection.pod, found)


def _read_volume(volume: _Volume, pod: str, found: _Found) -> None:
    if volume.config_map is not None:
        found.files(_CONFIG_MAP, volume.config_map, volume.config_map.name)
    elif volume.secret is not None:
        found.files(_SECRET, volume.secret, volume.secret.secret_name)
    elif volume.projected is not None:
        for part in volume.projected.sources or ():
            if part.config_map is not None:
                found.files(_CONFIG_MAP, part.config_map, part.config_map.name)
            if part.secret is not None:
                found.files(_SECRET, part.secret, part.secret.name)
    elif volume.persistent_volume_claim is not None:
        found.add(_CLAIM, volume.persistent_volume_claim.claim_name)
    elif volume.ephemeral is not None:
        # SOURCE: core/v1 EphemeralVolumeSource: the claim is named `<pod name>-<volume name>`.
        found.add(_CLAIM, f"{pod}-{volume.name}")
    else:
        _read_driver(volume, found)


def _read_driver(volume: _Volume, found: _Found) -> None:
    """Note the Secret by which a driver logs in; a volume has one source, and so one driver."""
    for driver in (
        volume.csi, volume.azure_file, volume.cephfs, volume.cinder, volume.flex_volume,
        volume.iscsi, volume.rbd, volume.scale_io, volume.storageos,
    ):  # fmt: skip
        if driver is not None:
            found.add(_SECRET, driver.secret_name)
            for ref in (driver.secret_ref, driver.node_publish_secret_ref):
                if ref is not None:
                    found.add(_SECRET, ref.name)


def _read_container(container: _Container, found: _Found) -> None:
    for env in container.env or ():
        origin = env.value_from
        if origin is not None:
            if origin.config_map_key_ref is not None:
                found.entry(_CONFIG_MAP, origin.config_map_key_ref)
            if origin.secret_key_ref is not None:
                found.entry(_SECRET, origin.secret_key_ref)
    for source in container.env_from or ():
        if source.config_map_ref is not None:
            found.entry(_CONFIG_MAP, source.config_map_ref)
        if source.secret_ref is not None:
            found.entry(_SECRET, source.secret_ref)
