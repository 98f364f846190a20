"""What pods and pod templates name is read without loss, and told apart by its bytes."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.kubejson import POD, dumps, meta
from suture.model import names
from suture.model.edges import Edge, Need
from suture.model.names import Gvk, ObjectKey, Resource
from suture.model.podneeds import PodNeeds, PodRefs
from suture.wire.kinds import SHAPES
from suture.wire.trim import Trimmer

WORD = st.sampled_from(["a", "b", "web-config", "login", 'od"d', "größe"])
TRUTH = st.sampled_from([None, True, False])
RESOURCE = {Edge.CONFIG_MAP: names.CONFIG_MAPS, Edge.SECRET: names.SECRETS}


def entry(**fields: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Return references whose fields may be absent."""
    return st.fixed_dictionaries({}, optional=fields)


ENTRY = entry(name=WORD, key=WORD, optional=st.booleans())
ITEMS = st.lists(st.fixed_dictionaries({"key": WORD, "path": WORD}), max_size=2)
ENV = entry(
    name=WORD,
    value=WORD,
    valueFrom=entry(configMapKeyRef=ENTRY, secretKeyRef=ENTRY, fieldRef=entry(fieldPath=WORD)),
)
CONTAINER = entry(
    name=WORD,
    image=WORD,
    env=st.lists(ENV, max_size=3),
    envFrom=st.lists(entry(configMapRef=ENTRY, secretRef=ENTRY, prefix=WORD), max_size=2),
)
CONTAINERS = st.lists(CONTAINER, max_size=2)
SOURCE = entry(configMap=entry(name=WORD, items=ITEMS, optional=st.booleans()),
               secret=entry(name=WORD, items=ITEMS, optional=st.booleans()))  # fmt: skip
SOURCES: dict[str, st.SearchStrategy[Any]] = {
    "configMap": entry(name=WORD, items=ITEMS, optional=st.booleans()),
    "secret": entry(secretName=WORD, items=ITEMS, optional=st.booleans()),
    "projected": entry(sources=st.none() | st.lists(SOURCE, max_size=2)),
    "persistentVolumeClaim": entry(claimName=WORD),
    "ephemeral": entry(volumeClaimTemplate=st.just({"spec": {}})),
    "csi": entry(driver=WORD, nodePublishSecretRef=st.none() | entry(name=WORD)),
    "rbd": entry(secretRef=entry(name=WORD)),
    "scaleIO": entry(secretRef=entry(name=WORD)),
    "azureFile": entry(secretName=WORD),
    "emptyDir": st.just({}),
}
VOLUME = st.one_of(
    # One source a volume: more than one is refused by the API server.
    *(st.fixed_dictionaries({"name": WORD, field: source}) for field, source in SOURCES.items())
)
SPEC = entry(
    nodeName=WORD,
    serviceAccountName=WORD,
    priorityClassName=WORD,
    runtimeClassName=WORD,
    imagePullSecrets=st.lists(entry(name=WORD), max_size=2),
    resourceClaims=st.lists(
        entry(name=WORD, resourceClaimName=WORD, resourceClaimTemplateName=WORD), max_size=2
    ),
    volumes=st.lists(VOLUME, max_size=3),
    containers=CONTAINERS,
    initContainers=CONTAINERS,
    ephemeralContainers=CONTAINERS,
)


def walk(spec: dict[str, Any], pod: str) -> Iterator[tuple[Edge, Resource, str, str, bool]]:
    """Yield what a spec names, read the slow and obvious way; `pod` empty: it is a template."""
    for field, edge, resource in (
        ("priorityClassName", Edge.PRIORITY_CLASS, names.PRIORITY_CLASSES),
        ("runtimeClassName", Edge.RUNTIME_CLASS, names.RUNTIME_CLASSES),
        *([] if pod else [("nodeName", Edge.NODE, names.NODES)]),
    ):
        yield edge, resource, spec.get(field, ""), "", False
    unbound = not pod or not spec.get("nodeName")
    account = spec.get("serviceAccountName", "default" if unbound else "")
    yield Edge.SERVICE_ACCOUNT, names.SERVICE_ACCOUNTS, account, "", False
    for pull in spec.get("imagePullSecrets", ()):
        yield Edge.PULL_SECRET, names.SECRETS, pull.get("name", ""), "", False
    for claim in spec.get("resourceClaims", ()):
        name = claim.get("resourceClaimName", "")
        yield Edge.RESOURCE_CLAIM, names.RESOURCE_CLAIMS, name, "", False
    for volume in spec.get("volumes", ()):
        yield from walk_volume(volume, pod)
    for field in ("containers", "initContainers", "ephemeralContainers"):
        for container in spec.get(field, ()):
            for env in container.get("env", ()):
                origin = env.get("valueFrom", {})
                yield from walk_entry(Edge.CONFIG_MAP, origin.get("configMapKeyRef"))
                yield from walk_entry(Edge.SECRET, origin.get("secretKeyRef"))
            for source in container.get("envFrom", ()):
                yield from walk_entry(Edge.CONFIG_MAP, source.get("configMapRef"))
                yield from walk_entry(Edge.SECRET, source.get("secretRef"))


def walk_entry(
    edge: Edge, found: dict[str, Any] | None
) -> Iterator[tuple[Edge, Resource, str, str, bool]]:
    """Yield one entry of a ConfigMap or Secret."""
    ref = found or {}
    yield edge, RESOURCE[edge], ref.get("name", ""), ref.get("key", ""), ref.get("optional", False)


def walk_volume(
    volume: dict[str, Any], pod: str
) -> Iterator[tuple[Edge, Resource, str, str, bool]]:
    """Yield what a volume names."""
    projected = (volume.get("projected") or {}).get("sources") or ()
    sources = [
        (Edge.CONFIG_MAP, volume.get("configMap"), "name"),
        (Edge.SECRET, volume.get("secret"), "secretName"),
        *((Edge.CONFIG_MAP, one.get("configMap"), "name") for one in projected),
        *((Edge.SECRET, one.get("secret"), "name") for one in projected),
    ]
    for edge, source, field in sources:
        for item in (source or {}).get("items") or [{"key": ""}]:
            found = {**(source or {}), "name": (source or {}).get(field, ""), "key": item["key"]}
            yield from walk_entry(edge, found)
    claim = (volume.get("persistentVolumeClaim") or {}).get("claimName", "")
    yield Edge.CLAIM, names.CLAIMS, claim, "", False
    if pod and "ephemeral" in volume:
        yield Edge.CLAIM, names.CLAIMS, f"{pod}-{volume['name']}", "", False
    for driver, field in (("csi", "nodePublishSecretRef"), ("rbd", "secretRef"),
                          ("scaleIO", "secretRef")):  # fmt: skip
        ref = (volume.get(driver) or {}).get(field) or {}
        yield Edge.SECRET, names.SECRETS, ref.get("name", ""), "", False
    login = (volume.get("azureFile") or {}).get("secretName", "")
    yield Edge.SECRET, names.SECRETS, login, "", False


CLUSTER_SCOPED = {names.NODES, names.PRIORITY_CLASSES, names.RUNTIME_CLASSES}


def slowly(spec: dict[str, Any], pod: str) -> set[Need]:
    """Return the needs of a spec in namespace `shop`; what is needed once is not optional."""
    found: dict[tuple[Edge, ObjectKey, str], bool] = {}
    for edge, resource, name, key, optional in walk(spec, pod):
        if name:
            namespace = "" if resource in CLUSTER_SCOPED else "shop"
            at = edge, ObjectKey(resource, namespace, name), key
            found[at] = optional and found.get(at, True)
    return {Need(edge, target, key, optional) for (edge, target, key), optional in found.items()}


def trimmed(trimmer: Trimmer, document: object, resource: Resource = names.PODS) -> Any:
    """Trim a document as the API server would spell it."""
    body = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
    return trimmer.trim(body, resource, Gvk(resource.group, "v1", SHAPES[resource].kind))


@given(spec=SPEC)
def test_a_pod_names_what_its_spec_says(spec: dict[str, Any]) -> None:
    """The needs read from bytes are those that a walk over the whole spec finds."""
    trimmer = Trimmer()
    thing = trimmed(trimmer, {"metadata": meta("web-1", "shop"), "spec": spec})
    assert not trimmer.odd
    assert isinstance(thing.needs, PodNeeds)
    assert len(thing.needs) == len(set(thing.needs))
    assert set(thing.needs) == slowly(spec, "web-1")
    # The bytes alone are enough: that is what is kept.
    assert PodNeeds(thing.needs.raw) == thing.needs
    assert thing.facts.node == spec.get("nodeName", "")


@given(spec=SPEC)
def test_a_template_names_what_its_pods_will(spec: dict[str, Any]) -> None:
    """As a pod's, save claims that are named after a pod, and with a node where it says one."""
    trimmer = Trimmer()
    document = {"metadata": meta("web", "shop"), "spec": {"template": {"spec": spec}}}
    assert set(trimmed(trimmer, document, names.DEPLOYMENTS).needs) == slowly(spec, "")
    cron = {"metadata": meta("web", "shop"), "spec": {"jobTemplate": {"spec": document["spec"]}}}
    assert set(trimmed(trimmer, cron, names.CRON_JOBS).needs) == slowly(spec, "")
    old = trimmed(trimmer, document, names.REPLICATION_CONTROLLERS)
    assert set(old.needs) == slowly(spec, "")
    assert not trimmer.odd


@given(spec=SPEC, other=SPEC)
def test_equal_bytes_are_equal_needs(spec: dict[str, Any], other: dict[str, Any]) -> None:
    """Bytes never say that two pods need the same where they do not."""
    trimmer = Trimmer()
    one, two = (
        trimmed(trimmer, {"metadata": meta("web-1", "shop"), "spec": found}).needs
        for found in (spec, other)
    )
    if one.raw == two.raw:
        assert set(one) == set(two)
    assert (one == two) is (tuple(one) == tuple(two))


def sibling(name: str, node: str, token: str, namespace: str = "shop") -> dict[str, Any]:
    """Return a pod as the API server draws up one of many."""
    pod = copy.deepcopy(POD)
    pod["metadata"] |= {"name": name, "namespace": namespace}
    pod["spec"] |= {"nodeName": node, "serviceAccountName": "web"}
    pod["spec"]["volumes"] = [
        {"name": "conf", "configMap": {"name": "web", "defaultMode": 420}},
        {
            "name": f"kube-api-access-{token}",
            "projected": {
                "sources": [
                    {"serviceAccountToken": {"path": "token"}},
                    {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt"}]}},
                ]
            },
        },
    ]
    return pod


def test_siblings_share_their_needs() -> None:
    """What is drawn by lot for each pod is not in the bytes; the namespace is."""
    trimmer = Trimmer()
    one = trimmed(trimmer, sibling("web-a", "node-1", "4tjc8")).needs
    two = trimmed(trimmer, sibling("web-b", "node-2", "x7k2p")).needs
    elsewhere = trimmed(trimmer, sibling("web-a", "node-1", "4tjc8", "other")).needs
    assert one is two
    assert one.raw != elsewhere.raw
    assert [need.target.namespace for need in elsewhere] == ["other"] * 3
    assert b"kube-api-access" not in one.raw


def test_pods_share_the_needs_of_their_template() -> None:
    """What each pod gets for its token stands apart, and what a release makes of the workload."""
    trimmer, pod = Trimmer(), sibling("web-a", "node-1", "4tjc8")
    spec = {**pod["spec"], "volumes": pod["spec"]["volumes"][:1]}
    del spec["nodeName"]
    workload = {"metadata": meta("web", "shop"), "spec": {"template": {"spec": spec}}}
    marks = {"meta.helm.sh/release-name": "r", "meta.helm.sh/release-namespace": "shop"}
    managed = {**workload, "metadata": {**meta("web", "shop"), "annotations": marks}}
    template = trimmed(trimmer, workload, names.REPLICA_SETS).needs
    of_pod, of_workload = (
        trimmed(trimmer, pod).needs, trimmed(trimmer, managed, names.DEPLOYMENTS).needs,
    )  # fmt: skip
    authority = ObjectKey(names.CONFIG_MAPS, "shop", "kube-root-ca.crt")
    release = Need(Edge.MANAGED_BY, ObjectKey(Resource("helm.sh", "releases"), "shop", "r"))
    assert template.apart() == (template, ())
    for needs, own in (
        (of_pod, Need(Edge.CONFIG_MAP, authority, "ca.crt")),
        (of_workload, release),
    ):
        assert needs.apart() == (template, (own,))
        assert needs.apart()[0].raw == template.raw
        assert tuple(needs) == (*template, own)


@given(spec=SPEC)
def test_what_is_apart_is_all_there_is(spec: dict[str, Any]) -> None:
    """In the same order, and each once: what is shared first, then what a pod is given."""
    pod = {"metadata": meta("web-1", "shop"), "spec": spec}
    release = Need(Edge.MANAGED_BY, ObjectKey(Resource("helm.sh", "releases"), "shop", "r"))
    for needs in (trimmed(Trimmer(), pod).needs, trimmed(Trimmer(), pod).needs.also((release,))):
        alike, own = needs.apart()
        assert (*alike, *own) == tuple(needs)
        assert alike.apart() == (alike, ())


def test_the_pods_of_a_stateful_set_share_all_but_their_claims() -> None:
    """Each has claims of its own, named after it."""
    found = set()
    for name in ("db-0", "db-1"):
        pod = sibling(name, "n", "x")
        claim = {"name": "data", "persistentVolumeClaim": {"claimName": f"data-{name}"}}
        pod["spec"]["volumes"].append(claim)
        alike, own = trimmed(Trimmer(), pod).needs.apart()
        found.add(alike.raw)
        assert [need.target.name for need in own] == ["kube-root-ca.crt", f"data-{name}"]
    assert len(found) == 1


def test_what_a_pod_also_names_by_itself_is_named_once() -> None:
    """A pod that reads the authority's certificate beside its token's volume."""
    pod = sibling("web-a", "node-1", "4tjc8")
    pod["spec"]["volumes"].append(
        {"name": "ca", "configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt"}]}}
    )
    needs = trimmed(Trimmer(), pod).needs
    assert needs.apart() == (needs, ())
    assert len(needs) == len(set(needs)) == len(trimmed(Trimmer(), sibling("b", "n", "x")).needs)


def test_remembered_needs_are_bounded() -> None:
    """A cluster of pods that are all different does not make the reader grow."""
    trimmer = Trimmer(interned=10)
    for number in range(100):
        trimmed(trimmer, sibling(f"p{number}", "n", "x", f"ns-{number}"))
    assert len(trimmer.needs) <= 20


def test_claims_that_are_made_for_a_pod() -> None:
    """Resource claims from a template are named in the status; ephemeral volumes after the pod."""
    pod = {
        "metadata": meta("web-1", "shop"),
        "spec": {
            "nodeName": "n",
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpus"}],
            "volumes": [{"name": "scratch", "ephemeral": {}}, {"name": "tmp", "emptyDir": {}}],
        },
        "status": {
            "resourceClaimStatuses": [
                {"name": "gpu", "resourceClaimName": "web-1-gpu-x"},
                {"name": "spare", "resourceClaimName": None},
            ]
        },
    }
    needs = list(trimmed(Trimmer(), pod).needs)
    assert needs == [
        Need(Edge.RESOURCE_CLAIM, ObjectKey(names.RESOURCE_CLAIMS, "shop", "web-1-gpu-x")),
        Need(Edge.CLAIM, ObjectKey(names.CLAIMS, "shop", "web-1-scratch")),
    ]


def test_a_stateful_set_names_its_service_and_classes() -> None:
    """Beside what its template names: who names its pods, and where their volumes come from."""
    document = {
        "metadata": meta("db", "shop"),
        "spec": {
            "serviceName": "db",
            "template": {"spec": {}},
            "volumeClaimTemplates": [
                {"metadata": {"name": "data"}, "spec": {"storageClassName": "fast"}},
                {"metadata": {"name": "log"}, "spec": {}},
                {"metadata": {"name": "wal"}, "spec": {"storageClassName": "fast"}},
            ],
        },
    }
    assert list(trimmed(Trimmer(), document, names.STATEFUL_SETS).needs) == [
        Need(Edge.SERVICE_ACCOUNT, ObjectKey(names.SERVICE_ACCOUNTS, "shop", "default")),
        Need(Edge.GOVERNING_SERVICE, ObjectKey(names.SERVICES, "shop", "db")),
        Need(Edge.STORAGE_CLASS, ObjectKey(names.STORAGE_CLASSES, "", "fast")),
    ]


def test_needs_that_the_template_does_not_tell_of_stay_unread() -> None:
    """Who manages a workload is added to the bytes, and read with the rest."""
    fields = {"spec": {"template": {"spec": {"serviceAccountName": "web"}}}}
    plain = trimmed(Trimmer(), {"metadata": meta("web", "shop"), **fields}, names.DEPLOYMENTS)
    marks = {"meta.helm.sh/release-name": "r", "meta.helm.sh/release-namespace": "shop"}
    metadata = {**meta("web", "shop"), "annotations": marks}
    kept = trimmed(Trimmer(), {"metadata": metadata, **fields}, names.DEPLOYMENTS)
    assert isinstance(kept.needs, PodNeeds)
    release = Need(Edge.MANAGED_BY, ObjectKey(Resource("helm.sh", "releases"), "shop", "r"))
    assert list(kept.needs) == [*plain.needs, release]


def test_a_mirror_of_a_static_pod_has_no_account() -> None:
    """Admission gives every pod an account before it has a node, and a static pod's mirror none."""
    bound = {"metadata": meta("etcd", "shop"), "spec": {"nodeName": "n"}}
    assert list(trimmed(Trimmer(), bound).needs) == []
    new = {"metadata": meta("etcd", "shop"), "spec": {}}
    assert [need.target.name for need in trimmed(Trimmer(), new).needs] == ["default"]


@pytest.mark.parametrize("spec", ["absent", None, {}])
def test_a_pod_without_a_spec_names_nothing_more(spec: object) -> None:
    """Absent, null and empty are no reason to count an object as odd."""
    trimmer = Trimmer()
    document = {"metadata": meta("p", "shop")} | ({} if spec == "absent" else {"spec": spec})
    found = [need.edge for need in trimmed(trimmer, document).needs]
    assert found == ([Edge.SERVICE_ACCOUNT] if spec == {} else [])
    assert not trimmer.odd


@pytest.mark.parametrize(
    "template", [7, "text", [], {"spec": []}, {"spec": {"containers": [{"env": 1}]}}]
)
def test_an_odd_template_costs_the_needs_alone(template: object) -> None:
    """Facts of a workload stay, and that its needs are not known is counted."""
    trimmer = Trimmer()
    document = {"metadata": meta("web", "shop"), "spec": {"replicas": 3, "template": template}}
    thing = trimmed(trimmer, document, names.DEPLOYMENTS)
    assert thing.facts.replicas == 3
    assert list(thing.needs) == []
    assert trimmer.odd == {("deployments.apps", "needs"): 1}


def test_an_odd_volume_costs_facts_and_needs() -> None:
    """A pod that the API server would never store is still there, by its metadata."""
    trimmer = Trimmer()
    pod = {"metadata": meta("p", "shop"), "spec": {"nodeName": "n", "volumes": {"a": 1}}}
    thing = trimmer.trim(dumps(pod), names.PODS, Gvk("", "v1", "Pod"))
    assert (thing.facts, thing.needs, thing.key.name) == (None, (), "p")
    assert trimmer.odd == {("pods", "facts"): 1}


def test_what_is_told_beside_the_spec_twice_is_all_told() -> None:
    """The one does not take the place of the other."""
    one, other = (Need(Edge.RULE, ObjectKey(names.SECRETS, "shop", name)) for name in ("a", "b"))
    plain = PodNeeds.of_template(PodRefs(), "shop")
    told = plain.also((one,)).also((other,))
    assert told.read() == (*plain.read(), one, other)
    assert told.apart() == (plain, (one, other))
