"""Entries that a write drops from inside an object: which, who reads them, whether it matters."""

from __future__ import annotations

from base64 import b64encode

import pytest
from msgspec.structs import replace

from support.asking import update
from support.cluster import BALANCERS, START, crd, delete, operator, thing, view_of
from support.writes import Body, body, changed, trimmed, write
from suture.impact.effects import EntriesDropped
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.model.edges import Edge, Need
from suture.model.facts import StorageClassFacts
from suture.model.graph import GraphView
from suture.model.habits import RELEASES
from suture.model.names import (
    CLUSTER_ROLE_BINDINGS,
    CONFIG_MAPS,
    CRDS,
    DEPLOYMENTS,
    NODES,
    PODS,
    SECRETS,
    SERVICES,
    STORAGE_CLASSES,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject, PodFacts, ServiceFacts
from suture.model.selectors import Selector


def told(view: GraphView, resource: Resource, old: Body, new: Body) -> list[EntriesDropped]:
    request = write(resource, old, new)
    impact = estimate(request, project(request, view), view, operator(), {"entries_dropped"})
    return [one for one in impact.effects if isinstance(one, EntriesDropped)]


def settings(namespace: str = "prod", *managers: str, **data: str) -> Body:
    fields = [{"manager": one} for one in managers]
    return body("ConfigMap", "settings", namespace, metadata={"managedFields": fields}, data=data)


def reader(name: str, key: str = "", *, resource: Resource = CONFIG_MAPS) -> ClusterObject:
    edge = Edge.CONFIG_MAP if resource == CONFIG_MAPS else Edge.SECRET
    target = ObjectKey(resource, "prod", "settings")
    pod = thing(PODS, name, "prod", facts=PodFacts(ready=True, node="n"))
    return ClusterObject(
        key=pod.key, uid=pod.uid, gvk=pod.gvk, facts=pod.facts, needs=(Need(edge, target, key),)
    )


def test_a_key_that_is_gone_and_who_reads_it() -> None:
    """Pods that read another key do not count, those that read the whole do."""
    old = settings(a="1", b="2")
    readers = [reader("whole"), reader("one", "b"), reader("other", "a")]
    view = view_of(trimmed(CONFIG_MAPS, old), readers)

    (found,) = told(view, CONFIG_MAPS, old, changed(old, data={"a": "1"}))

    assert (found.field, found.before, found.dropped, found.entries) == ("data", 2, 1, ("b",))
    assert (found.readers, found.critical) == (2, False)


@pytest.mark.parametrize(
    ("before", "after", "critical"),
    [
        ((), (), True),
        (("init",), ("init", "other"), True),
        (("init", "other"), ("init", "other"), True),
        (("reporter",), ("reporter",), False),
    ],
)
def test_what_is_the_clusters_own(
    before: tuple[str, ...], after: tuple[str, ...], *, critical: bool
) -> None:
    """In kube-system it is critical, unless it is the notes of the one who alone writes it."""
    old = settings("kube-system", *before, roles="- a\n- b\n")
    new = settings("kube-system", *after, roles="- b\n")

    (found,) = told(view_of(trimmed(CONFIG_MAPS, old)), CONFIG_MAPS, old, new)

    assert (found.field, found.entries, found.critical) == ("data.roles", ("- a",), critical)


@pytest.mark.parametrize(("key", "critical"), [("used", False), ("kept", True), ("", True)])
def test_a_key_that_none_of_its_readers_reads(key: str, *, critical: bool) -> None:
    """A copy of the last configuration, beside the one that the pods mount by its key."""
    old = settings("kube-system", "init", "other", used="1", kept="2")
    target = ObjectKey(CONFIG_MAPS, "kube-system", "settings")
    pod = thing(PODS, "dns", "kube-system", facts=PodFacts(ready=True, node="n"))
    reads = replace(pod, needs=(Need(Edge.CONFIG_MAP, target, key),))
    new = changed(old, data={"used": "1"})

    (found,) = told(view_of(trimmed(CONFIG_MAPS, old), reads), CONFIG_MAPS, old, new)

    assert (found.entries, found.critical) == (("kept",), critical)


def test_of_a_secret_only_the_keys_are_told() -> None:
    """A value that is another says nothing; a key that is wiped does, by its name."""

    def secret(**data: str) -> Body:
        encoded = {key: b64encode(value.encode()).decode() for key, value in data.items()}
        return body("Secret", "settings", data=encoded)

    old = secret(token="a\nb\n", other="x")
    view = view_of(trimmed(SECRETS, old), reader("pod", resource=SECRETS))

    assert told(view, SECRETS, old, secret(token="a\n", other="x")) == []
    (found,) = told(view, SECRETS, old, secret(token="a\nb\n", other=""))
    assert (found.entries, found.readers) == (("other",), 1)


def test_a_peer_that_is_gone_from_a_custom_resource() -> None:
    """Lists inside custom resources are compared; what is not custom has effects of its own."""
    spec = {"peers": [{"name": "a"}, {"name": "b"}]}
    old = body("Balancer", "front", apiVersion="lb.example.com/v1", spec=spec)
    view = view_of(crd(), trimmed(BALANCERS, old))
    new = changed(old, spec={"peers": [{"name": "b"}]})

    (found,) = told(view, BALANCERS, old, new)

    assert (found.field, found.entries) == ("spec.peers", ("a",))
    assert (
        told(view, DEPLOYMENTS, {**old, "kind": "Deployment"}, {**new, "kind": "Deployment"}) == []
    )


def test_a_subject_that_is_gone_from_a_binding_of_the_system() -> None:
    """Bindings that the API server makes are the cluster's own, others are not."""
    both = [{"kind": "User", "name": name} for name in ("a", "b")]
    old = body("ClusterRoleBinding", "system:node", "", subjects=both)
    mine = body("ClusterRoleBinding", "mine", "", subjects=both)

    (system,) = told(view_of(), CLUSTER_ROLE_BINDINGS, old, changed(old, subjects=both[:1]))
    (own,) = told(view_of(), CLUSTER_ROLE_BINDINGS, mine, {**mine, "subjects": None})

    assert (system.entries, system.critical) == (("b",), True)
    assert (own.entries, own.critical) == (("a", "b"), False)


def login(said: str) -> Body:
    data = {".dockerconfigjson": b64encode(said.encode()).decode()}
    return body("Secret", "settings", "prod", type="kubernetes.io/dockerconfigjson", data=data)


@pytest.mark.parametrize(
    ("old", "new", "gone"),
    [
        ('{"auths":{"a":{"auth":"b"}}}', '{"auths":{}}', True),
        ('{"auths":{"a":{"auth":"b"}}}', "{}", True),
        ('{"auths":{"a":{"auth":"b"}}}', '{"auths":{"a":{"auth":"c"}}}', False),
        ('{"auths":{"a":{"auth":"b"}}}', "not JSON", False),
        ("{}", '{"auths":{}}', False),
        ("{}", '{"auths":{"a":{"auth":"b"}}}', False),
    ],
)
def test_a_login_that_names_no_registry_any_more(old: str, new: str, *, gone: bool) -> None:
    """It has its key still, and no pod can start from it; of what it says nothing is told."""
    view = view_of(trimmed(SECRETS, login(old)), reader("pod", resource=SECRETS))
    found = told(view, SECRETS, login(old), login(new))
    assert [one.entries for one in found] == ([(".dockerconfigjson",)] if gone else [])


def test_a_default_class_that_is_none_any_more() -> None:
    """Without another default, claims that name no class wait for ever."""

    def fast(default: str) -> Body:
        annotations = {"storageclass.kubernetes.io/is-default-class": default}
        return body("StorageClass", "fast", "", metadata={"annotations": annotations})

    other = body("StorageClass", "slow", "", metadata=fast("true")["metadata"] | {"name": "slow"})
    alone = view_of(trimmed(STORAGE_CLASSES, fast("true")))
    beside = view_of(trimmed(STORAGE_CLASSES, fast("true")), trimmed(STORAGE_CLASSES, other))

    assert told(alone, STORAGE_CLASSES, fast("true"), fast("false"))[0].critical
    assert told(alone, STORAGE_CLASSES, fast("false"), fast("true")) == []
    assert not told(beside, STORAGE_CLASSES, fast("true"), fast("false"))[0].critical


def test_the_default_is_moved_to_another_class() -> None:
    """First the one is said to be none, then the other to be it: the documented order."""

    def classed(name: str, annotations: dict[str, str]) -> Body:
        return body("StorageClass", name, "", metadata={"annotations": annotations})

    mark = "storageclass.kubernetes.io/is-default-class"
    fast = classed("fast", {mark: "true"})
    view = view_of(trimmed(STORAGE_CLASSES, fast), trimmed(STORAGE_CLASSES, classed("slow", {})))

    said = told(view, STORAGE_CLASSES, fast, classed("fast", {mark: "false"}))
    left_out = told(view, STORAGE_CLASSES, fast, classed("fast", {}))
    assert (said[0].critical, left_out[0].critical) == (False, True)


def default_class(name: str = "fast", *, default: bool = True, keeper: str = "") -> ClusterObject:
    needs = (Need(Edge.MANAGED_BY, ObjectKey(RELEASES, "infra", keeper)),) if keeper else ()
    return replace(
        thing(STORAGE_CLASSES, name, facts=StorageClassFacts(default=default)), needs=needs
    )


def gone(view: GraphView, one: ClusterObject) -> list[EntriesDropped]:
    request, me = delete(one), operator()
    impact = estimate(request, project(request, view), view, me, {"entries_dropped"})
    return [one for one in impact.effects if isinstance(one, EntriesDropped)]


def test_the_last_default_class_goes() -> None:
    """Its object goes as a whole: the same as where it is the default no more."""
    other = default_class("slow")
    (alone,) = gone(view_of(default_class()), default_class())
    (beside,) = gone(view_of(default_class(), other), default_class())
    assert (alone.critical, alone.dropped, alone.before) == (True, 1, 1)
    assert not beside.critical
    assert gone(view_of(default_class(default=False)), default_class(default=False)) == []


def test_who_keeps_a_default_class_makes_it_anew() -> None:
    """Most of a class cannot be changed; who made it, or deploys its release, deletes it first."""
    me = operator().user.username
    made = view_of(default_class())
    made.history.note_created(default_class().uid, me, me, default_class().key, START)
    assert gone(made, default_class()) == []

    kept = default_class(keeper="storage")
    mark = update(None, kept)
    view = view_of(kept)
    view.history.habits.note(mark)
    assert gone(view, kept) == []
    assert gone(view_of(kept), kept)[0].critical


def test_a_usual_refresh_drops_nothing() -> None:
    """The same keys with other values, more keys, more lines: nothing is gone."""
    old = settings(a="x: 1\n", b="2")
    view = view_of(trimmed(CONFIG_MAPS, old))

    assert told(view, CONFIG_MAPS, old, changed(old, data={"a": "x: 2\ny: 3\n", "b": "3"})) == []


def dns(*ports: str, name: str = "kube-dns", namespace: str = "kube-system") -> Body:
    """Make a Service that is asked at some ports, `53/UDP`."""
    asked = [{"port": int(one.split("/")[0]), "protocol": one.split("/")[1]} for one in ports]
    spec = {"selector": {"app": "dns"}, "ports": asked}
    return body("Service", name, namespace, spec=spec)


@pytest.mark.parametrize(
    ("after", "name", "namespace", "ready", "entries"),
    [
        pytest.param(["53/TCP", "9153/TCP"], "kube-dns", "kube-system", True, ("53/UDP",), id="udp"),
        pytest.param(["9153/TCP"], "kube-dns", "kube-system", True, ("53/UDP", "53/TCP"), id="both"),
        pytest.param(["53/UDP", "53/TCP"], "kube-dns", "kube-system", True, (), id="metrics"),
        pytest.param(["53/TCP"], "other", "kube-system", True, (), id="another Service"),
        pytest.param(["53/TCP"], "kube-dns", "shop", True, (), id="somebody's own"),
        pytest.param(["53/TCP"], "kube-dns", "kube-system", False, (), id="nobody answers"),
    ],
)  # fmt: skip
def test_a_port_at_which_dns_is_asked(
    after: list[str], name: str, namespace: str, ready: bool, entries: tuple[str, ...]
) -> None:
    """Every pod asks the cluster's DNS by UDP and TCP; any other port may go."""
    old = dns("53/UDP", "53/TCP", "9153/TCP", name=name, namespace=namespace)
    pod = thing(PODS, "dns-1", namespace, labels={"app": "dns"}, facts=PodFacts(ready=ready))
    view = view_of(trimmed(SERVICES, old), pod)

    found = told(view, SERVICES, old, dns(*after, name=name, namespace=namespace))

    assert [(one.entries, one.before, one.critical) for one in found] == [
        ((port,), 1, True) for port in entries
    ]


def zones(*lines: str) -> Body:
    return settings("kube-system", "init", "other", Corefile="\n".join((*lines, "")))


@pytest.mark.parametrize(
    ("new", "told_of"),
    [
        ((".:53 {", "  errors", "  forward . 10.0.0.1", "}"), True),
        ((".:53 {", "  errors", "  # zone cluster.local", "  forward . 10.0.0.1", "}"), True),
        ((".:53 {", "  zone cluster.local", "  forward . 10.0.0.1", "}"), False),
    ],
)
def test_the_domain_of_the_cluster_in_what_its_dns_reads(
    new: tuple[str, ...], *, told_of: bool
) -> None:
    """Its zone is one line of many, and without it no Service is found by its name."""
    old = zones(".:53 {", "  errors", "  zone cluster.local", "  forward . 10.0.0.1", "}")

    found = told(view_of(trimmed(CONFIG_MAPS, old)), CONFIG_MAPS, old, zones(*new))

    critical = [one for one in found if one.critical and one.dropped == one.before]
    assert [one.entries for one in critical] == ([("cluster.local",)] if told_of else [])


@pytest.mark.parametrize(("label", "told_of"), [("dns", True), ("proxy", False)])
def test_the_domain_in_what_others_read_says_nothing(label: str, *, told_of: bool) -> None:
    """Only pods behind the cluster's DNS answer for it."""
    old, new = zones("zone cluster.local"), zones("zone example.com")
    facts = ServiceFacts(Selector.of({"app": "dns"}), ports=("53/UDP",))
    dns = thing(SERVICES, "kube-dns", "kube-system", facts=facts)
    target = ObjectKey(CONFIG_MAPS, "kube-system", "settings")
    pod = thing(
        PODS, "p", "kube-system", labels={"app": label}, facts=PodFacts(ready=True, node="n")
    )
    reads = replace(pod, needs=(Need(Edge.CONFIG_MAP, target),))

    found = told(view_of(trimmed(CONFIG_MAPS, old), dns, reads), CONFIG_MAPS, old, new)

    assert ([one.entries for one in found if one.field == "data"] != []) is told_of


ROLE = "- rolearn: {0}\n  username: {0}\n  groups:\n  - {1}\n"
NODES_ROLE = ROLE.format("workers", "system:nodes")
OTHERS = ROLE.format("admins", "system:masters") + ROLE.format("ci", "deployers")


@pytest.mark.parametrize(
    ("old", "new", "critical"),
    [
        pytest.param(NODES_ROLE + OTHERS, OTHERS, True, id="one-of-three-entries"),
        pytest.param(NODES_ROLE + OTHERS, OTHERS + "# system:nodes\n", True, id="but-a-remark"),
        pytest.param(
            NODES_ROLE + OTHERS + ROLE.format("more", "system:nodes"), NODES_ROLE + OTHERS, False,
            id="another-entry-for-nodes-stays",
        ),
        pytest.param(NODES_ROLE + OTHERS, NODES_ROLE, False, id="entries-of-people"),
    ],
)  # fmt: skip
def test_a_map_of_roles_in_which_nodes_are_no_more(old: str, new: str, *, critical: bool) -> None:
    """Nodes may be one entry of many: without it the cluster hears none of them any more."""
    before = settings("kube-system", "eksctl", "team", mapRoles=old)
    after = settings("kube-system", "eksctl", "team", mapRoles=new)
    view = view_of(trimmed(CONFIG_MAPS, before), thing(NODES, "worker-1"))
    found = [one for one in told(view, CONFIG_MAPS, before, after) if one.field == "data"]
    assert [(one.entries, one.critical) for one in found] == (
        [(("system:nodes",), True)] if critical else []
    )


def test_a_map_of_roles_of_a_cluster_without_nodes() -> None:
    """Nobody is left out of it."""
    before = settings("kube-system", "eksctl", "team", mapRoles=NODES_ROLE + OTHERS)
    after = settings("kube-system", "eksctl", "team", mapRoles=OTHERS)
    view = view_of(trimmed(CONFIG_MAPS, before))
    assert not [one for one in told(view, CONFIG_MAPS, before, after) if one.field == "data"]


ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
SPEC = {"type": "object", "properties": {"spec": {"type": "object"}, "status": {"type": "object"}}}
BARE = {"type": "object", "properties": {"metadata": {"type": "object"}}}


def definition(*versions: tuple[str, object, bool]) -> Body:
    listed = [
        {"name": name, "served": served, "storage": at == 0, "schema": {"openAPIV3Schema": schema}}
        for at, (name, schema, served) in enumerate(versions)
    ]
    names = {"kind": "Widget", "plural": "widgets"}
    spec = {"group": "x.io", "names": names, "scope": "Namespaced", "versions": listed}
    return body("CustomResourceDefinition", "widgets.x.io", "", spec=spec)


@pytest.mark.parametrize(
    ("old", "new", "gone"),
    [
        pytest.param([("v1", SPEC, True)], [("v1", BARE, True)], ("spec",), id="described"),
        pytest.param(
            [("v1", ANYTHING, True)], [("v1", BARE, True)], ("all that it said",), id="any"
        ),
        pytest.param([("v1", SPEC, True)], [("v1", BARE, False)], (), id="no more served"),
        pytest.param([("v1", SPEC, True)], [("v1", ANYTHING, True)], (), id="takes any"),
        pytest.param([("v1", ANYTHING, True)], [("v1", SPEC, True)], (), id="described now"),
        pytest.param([("v1", BARE, True)], [("v1", BARE, True)], (), id="as before"),
        pytest.param([("v1", SPEC, True)], [("v1", SPEC, True), ("v2", BARE, True)], (), id="new"),
    ],
)
def test_a_version_that_knows_no_more_what_its_instances_say(
    old: list[tuple[str, object, bool]], new: list[tuple[str, object, bool]], gone: tuple[str, ...]
) -> None:
    """What a schema does not describe the API server drops, from what is read and written."""
    before = definition(*old)
    instance = thing(Resource("x.io", "widgets"), "w", "shop")
    view = view_of(trimmed(CRDS, before), [instance])
    found = told(view, CRDS, before, definition(*new))
    assert [(one.field, one.entries) for one in found if one.critical] == (
        [("the schema of version v1", gone)] if gone else []
    )
    assert not told(view_of(trimmed(CRDS, before)), CRDS, before, definition(*new))
