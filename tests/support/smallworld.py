"""A world too small for coincidences to be rare: few names, uids and labels, drawn by Hypothesis.

Names come back with other uids, owners before and after their dependents, in circles and in other
namespaces, and one uid is found under two types, as types are that two groups serve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import msgspec
from hypothesis import settings
from hypothesis import strategies as st

from suture.model import names
from suture.model.edges import Edge, Need, Needs
from suture.model.labels import Labels
from suture.model.names import Gvk, ObjectKey, Resource
from suture.model.objects import (
    ApiServiceFacts,
    ClaimFacts,
    ClusterObject,
    CrdFacts,
    Facts,
    NodeFacts,
    OwnerReference,
    PodFacts,
    RouteFacts,
    ServiceFacts,
    ServiceRef,
    SliceFacts,
    Webhook,
    WebhookFacts,
    WebhookRule,
    WorkloadFacts,
)
from suture.model.selectors import Operator, Requirement, Selector

BALANCERS = Resource("lb.example.com", "balancers")
INGRESSES_BEFORE = Resource("extensions", "ingresses")

KINDS: Mapping[Resource, tuple[Gvk, bool]] = {
    names.PODS: (Gvk("", "v1", "Pod"), True),
    names.SERVICES: (Gvk("", "v1", "Service"), True),
    names.ENDPOINT_SLICES: (Gvk("discovery.k8s.io", "v1", "EndpointSlice"), True),
    names.REPLICA_SETS: (Gvk("apps", "v1", "ReplicaSet"), True),
    names.STATEFUL_SETS: (Gvk("apps", "v1", "StatefulSet"), True),
    names.CONFIG_MAPS: (Gvk("", "v1", "ConfigMap"), True),
    names.CLAIMS: (Gvk("", "v1", "PersistentVolumeClaim"), True),
    names.INGRESSES: (Gvk("networking.k8s.io", "v1", "Ingress"), True),
    INGRESSES_BEFORE: (Gvk("extensions", "v1beta1", "Ingress"), True),
    BALANCERS: (Gvk("lb.example.com", "v1", "Balancer"), True),
    names.NODES: (Gvk("", "v1", "Node"), False),
    names.NAMESPACES: (Gvk("", "v1", "Namespace"), False),
    names.CRDS: (Gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition"), False),
    names.API_SERVICES: (Gvk("apiregistration.k8s.io", "v1", "APIService"), False),
    names.VALIDATING_WEBHOOKS: (
        Gvk("admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration"),
        False,
    ),
}
"""Every type of this world: how its objects name it, and whether they live in namespaces."""

# WHY more weight: most indexes are about these.
DRAWN_TYPES = [*KINDS, *[names.PODS] * 6, *[names.SERVICES] * 3, names.ENDPOINT_SLICES]

SPACES = ("p", "q")
NAMES = ("one", "two", "three")
LIVES = 3


def scaled(examples: int) -> int:
    """Return how many examples to try under the current profile: `soak` has many more."""
    return max(1, examples * settings().max_examples // 100)


def uid_of(resource: Resource, namespace: str, name: str, life: int) -> str:
    """Return the uid of one life of a name.

    The first two are one UUID in small and in capital letters, which are two uids; the third is
    no UUID at all.
    """
    # WHY the same for both: one object that two groups serve has one uid.
    kind = names.INGRESSES if resource == INGRESSES_BEFORE else resource
    if life == 2:
        return f"{kind}:{namespace}/{name}"
    number = list(KINDS).index(kind) * 64 + SPACES.index(namespace or "p") * 8 + NAMES.index(name)
    text = f"{number + 0xABC000:08x}-{number:04x}-4abc-8def-{number:012x}"
    return text if life == 0 else text.upper()


@cache
def places(resource: Resource) -> tuple[str, ...]:
    """Return the namespaces in which objects of a type live: none has a name for clusters."""
    return SPACES if KINDS[resource][1] else ("",)


ALL_UIDS = tuple(
    dict.fromkeys(
        uid_of(resource, space, name, life)
        for resource in KINDS
        for space in places(resource)
        for name in NAMES
        for life in range(LIVES)
    )
)

Types = Sequence[Resource]
SOME_TYPES: st.SearchStrategy[Types] = st.lists(
    st.sampled_from(DRAWN_TYPES), min_size=1, max_size=5
).map(tuple)
"""What one history is about: with all types at once, few would ever meet."""

ONE_OF_NAMES = st.sampled_from(NAMES)
ONE_OF_SPACES = st.sampled_from(SPACES)
SERVICE_REFS = st.builds(ServiceRef, ONE_OF_SPACES, ONE_OF_NAMES)


@st.composite
def keys(draw: st.DrawFn, types: Types) -> ObjectKey:
    """Draw where an object is found."""
    resource = draw(st.sampled_from(types))
    return ObjectKey(resource, draw(st.sampled_from(places(resource))), draw(ONE_OF_NAMES))


@st.composite
def uids(draw: st.DrawFn, types: Types) -> str:
    """Draw a uid that somebody may have."""
    key = draw(keys(types))
    return uid_of(key.resource, key.namespace, key.name, draw(st.integers(0, LIVES - 1)))


PAIRS = st.dictionaries(st.sampled_from("ab"), st.sampled_from(["x", "y", ""]), max_size=2)
LABELS: st.SearchStrategy[Mapping[str, str]] = st.one_of(PAIRS, PAIRS.map(Labels.of))
REQUIREMENTS = st.one_of(
    st.builds(
        lambda key, values: Requirement(key, Operator.IN, tuple(sorted(values))),
        st.sampled_from("abc"),
        st.sets(st.sampled_from(["x", "y", ""]), min_size=1, max_size=2),
    ),
    st.builds(
        lambda key, value: Requirement(key, Operator.NOT_IN, (value,)),
        st.sampled_from("abc"),
        st.sampled_from("xy"),
    ),
    st.builds(Requirement, st.sampled_from("abc"), st.just(Operator.EXISTS)),
    st.builds(Requirement, st.sampled_from("abc"), st.just(Operator.DOES_NOT_EXIST)),
)
SELECTORS = st.one_of(
    st.dictionaries(st.sampled_from("ab"), st.sampled_from("xy"), max_size=2).map(Selector.of),
    st.lists(REQUIREMENTS, max_size=3).map(lambda found: Selector(tuple(found))),
)

ALL_SELECTORS = (
    Selector(),
    Selector.of({"a": "x"}),
    Selector.of({"a": "x", "b": "y"}),
    Selector((Requirement("a", Operator.IN, ("x", "y")),)),
    Selector((Requirement("b", Operator.NOT_IN, ("x",)),)),
    Selector((Requirement("a", Operator.EXISTS), Requirement("b", Operator.DOES_NOT_EXIST))),
)
"""One of each form, asked about after every step."""


@st.composite
def owners(draw: st.DrawFn, types: Types) -> OwnerReference:
    """Draw a pointer to an owner that may be there, be its own dependent, or live elsewhere."""
    key = draw(keys(types))
    gvk, _ = KINDS[key.resource]
    uid = uid_of(key.resource, key.namespace, key.name, draw(st.integers(0, LIVES - 1)))
    return OwnerReference(gvk, key.name, uid, draw(st.booleans()), draw(st.booleans()))


class WrittenNeeds(Needs):
    """Needs as bytes, as the reader of pods gives them; all but the first are an object's own."""

    def apart(self) -> tuple[Needs, tuple[Need, ...]]:
        first, *own = self.read() or (None,)
        if first is None:
            return self, ()
        return WrittenNeeds(msgspec.json.encode((first,))), tuple(own)

    def read(self) -> tuple[Need, ...]:
        return msgspec.json.decode(self.raw, type=tuple[Need, ...])


def needs(types: Types) -> st.SearchStrategy[Sequence[Need]]:
    """Draw what an object names, as values or as the bytes that they are read from."""
    one = st.builds(
        Need,
        st.sampled_from([Edge.CONFIG_MAP, Edge.CLAIM, Edge.NODE, Edge.ROUTES_TO]),
        keys(types),
        st.sampled_from(["", "k"]),
        st.booleans(),
    )
    several = st.lists(one, max_size=3, unique=True)
    return st.one_of(
        several.map(tuple), several.map(lambda found: WrittenNeeds(msgspec.json.encode(found)))
    )


def facts_of(resource: Resource, types: Types) -> st.SearchStrategy[Facts | None]:
    """Draw what a type adds to its metadata; None: only that was asked for."""
    refs = st.one_of(st.none(), SERVICE_REFS)
    some: Mapping[Resource, st.SearchStrategy[Facts]] = {
        names.PODS: st.builds(
            PodFacts, st.booleans(), st.just(False), st.sampled_from(["", "node-1"])
        ),
        names.SERVICES: st.builds(ServiceFacts, st.one_of(st.none(), SELECTORS)),
        names.ENDPOINT_SLICES: st.builds(
            SliceFacts,
            st.sampled_from(["", *NAMES]),
            st.lists(uids(types), max_size=2).map(tuple),
            st.lists(uids(types), max_size=1).map(tuple),
        ),
        names.REPLICA_SETS: st.builds(WorkloadFacts, st.integers(0, 3), st.one_of(SELECTORS)),
        names.STATEFUL_SETS: st.builds(
            WorkloadFacts, st.integers(0, 3), service=st.sampled_from(["", *NAMES])
        ),
        names.CLAIMS: st.builds(ClaimFacts, st.booleans()),
        names.NODES: st.builds(NodeFacts, st.booleans(), st.booleans()),
        names.INGRESSES: st.builds(
            RouteFacts, st.lists(SERVICE_REFS, max_size=2, unique=True).map(tuple)
        ),
        names.CRDS: st.builds(
            CrdFacts,
            st.sampled_from([BALANCERS, names.INGRESSES]),
            st.just("Balancer"),
            namespaced=st.just(True),
            conversion=refs,
        ),
        names.API_SERVICES: st.builds(ApiServiceFacts, st.just("g"), st.just("v1"), refs),
        names.VALIDATING_WEBHOOKS: st.builds(
            lambda found: WebhookFacts(
                tuple(
                    Webhook(f"h{number}", fail_closed=True, service=ref, rules=(WebhookRule(),))
                    for number, ref in enumerate(found)
                )
            ),
            st.lists(refs, max_size=2),
        ),
    }
    return st.one_of(st.none(), some[resource], some[resource]) if resource in some else st.none()


@st.composite
def objects(draw: st.DrawFn, types: Types, at: ObjectKey | None = None) -> ClusterObject:
    """Draw an object in any state, at a given place or anywhere."""
    key = at if at is not None else draw(keys(types))
    return ClusterObject(
        key,
        uid_of(key.resource, key.namespace, key.name, draw(st.integers(0, LIVES - 1))),
        KINDS[key.resource][0],
        draw(st.sampled_from(["1", "2", "18446744073709551616", "-1", "", "x"])),
        draw(LABELS),
        tuple(draw(st.lists(owners(types), max_size=2))),
        draw(st.sampled_from([(), ("a/b",), ("foregroundDeletion", "a/b")])),
        draw(st.sampled_from([0.0, 1.0, 1_700_000_000.0])),
        draw(st.sampled_from([0.0, 0.0, 0.0, 1_700_000_030.0])),
        draw(facts_of(key.resource, types)),
        draw(needs(types)),
        draw(st.sampled_from([(), ("kubectl",), ("helm", "kubectl")])),
    )
