"""Objects that are odd on purpose: each has a meaning, and none breaks the graph.

Read by the reader of watches and lists, so that what is promised holds for what a cluster sends.
The table in docs/reference/odd-objects.md says the same in fewer words.
"""

from __future__ import annotations

import time
from typing import Any

import pytest

from support.kubejson import CRD, DEPLOYMENT, POD, SERVICE, dumps
from support.oddobjects import NEIGHBOURS, SPACE, Taken, meta, owner, pod
from suture.impact.ground.cascade import closure
from suture.model import names
from suture.model.graph import Graph
from suture.model.names import Gvk, ObjectKey, Resource
from suture.model.objects import CrdFacts, PodFacts, ServiceFacts, WorkloadFacts
from suture.model.selectors import Selector
from suture.wire.trim import Trimmer

ALIKE = "6f2e3a52-7a41-4d0b-9b2e-"
MAPS, PODS, SERVICES = names.CONFIG_MAPS, names.PODS, names.SERVICES
WAYS = pytest.mark.parametrize("way", ["list", "watch"])


def service(name: str, **spec: Any) -> dict[str, Any]:
    return {**SERVICE, "metadata": meta(name), "spec": spec}


# ---- what cannot be named is left out


@WAYS
@pytest.mark.parametrize(
    "odd",
    [
        pytest.param({"kind": "Pod"}, id="no-metadata"),
        pytest.param({"metadata": None}, id="null-metadata"),
        pytest.param({"metadata": "web"}, id="metadata-is-text"),
        pytest.param({"metadata": [meta()]}, id="metadata-is-a-list"),
        pytest.param({"metadata": {"uid": "u"}}, id="no-name"),
        pytest.param({"metadata": {"name": "", "uid": "u"}}, id="empty-name"),
        pytest.param({"metadata": {"name": 7, "uid": "u"}}, id="name-is-a-number"),
        pytest.param({"metadata": {"name": "odd"}}, id="no-uid"),
        pytest.param({"metadata": {"name": "odd", "uid": ["u"]}}, id="uid-is-a-list"),
        pytest.param(7, id="a-number"),
        pytest.param(None, id="null"),
        pytest.param([], id="a-list"),
        pytest.param(b'{"metadata":{"name":"\xff","uid":"u"}}', id="no-utf-8"),
        pytest.param(b'{"spec":' + b"[" * 50_000 + b"]" * 50_000 + b"}", id="nested-very-deeply"),
    ],
)
def test_what_cannot_be_named_is_left_out_and_counted(way: str, odd: Any) -> None:
    """Without a name or uid nothing can be kept of an object; its neighbours are, and it counts."""
    taken = Taken(way)
    assert taken.beside_neighbours(PODS, odd) == []
    assert sum(taken.odd.values()) > 0


@WAYS
def test_an_object_without_anything_but_a_name_is_one(way: str) -> None:
    """Name and uid suffice: everything else is empty, and a pod of which nothing is known serves nobody."""
    taken = Taken(way)
    (bare,) = taken.beside_neighbours(PODS, {"metadata": {"name": "odd", "uid": "u"}})
    assert bare.key == ObjectKey(PODS, "", "odd")
    assert (bare.labels, bare.owners, bare.finalizers) == ({}, (), ())
    assert bare.facts == PodFacts()
    assert not taken.view.serves(taken.row(PODS, "odd", ""))


# ---- names and uids


@WAYS
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("n" * 253, id="as-long-as-may-be"),
        pytest.param("n" * 100_000, id="longer-than-may-be"),
        pytest.param("größe-日本-😀", id="unicode"),
        pytest.param("a/b", id="slash"),
        pytest.param("a\u0000b", id="nul"),
        pytest.param("a\nb", id="line-feed"),
        pytest.param(" ", id="blank"),
    ],
)
def test_a_name_is_any_text(way: str, name: str) -> None:
    """Names are compared as they are; none is cut, folded or split."""
    taken = Taken(way)
    (kept,) = taken.beside_neighbours(PODS, pod(name))
    assert kept.key.name == name
    assert taken.at(PODS, name).uid == f"uid-{name}"


@WAYS
def test_half_a_character_is_replaced(way: str) -> None:
    """What no text can hold is read as U+FFFD, as the API server reads it."""
    odd = b'{"metadata":{"name":"a\\ud800","namespace":"shop","uid":"u"}}'
    (kept,) = Taken(way).beside_neighbours(PODS, odd)
    assert kept.key.name == "a\ufffd"


@WAYS
def test_a_uid_is_any_text(way: str) -> None:
    """A uid need not be a UUID; capital letters, braces and blanks make it another one."""
    small = "6f2e3a52-7a41-4d0b-9b2e-0c1f6d9f1a01"
    uids = [small, small.upper(), f"{{{small}}}", f"urn:uuid:{small}", small.replace("-", ""),
            "7", "-", " ", "ü", "u" * 5000, "00000000-0000-0000-0000-000000000000"]  # fmt: skip
    taken = Taken(way)
    kept = taken.beside_neighbours(
        PODS, *({"metadata": meta(f"p{at}", uid=uid)} for at, uid in enumerate(uids))
    )
    assert [one.uid for one in kept] == uids
    for at, uid in enumerate(uids):
        assert taken.view.find_uid(uid) == taken.row(PODS, f"p{at}")


@pytest.mark.parametrize(
    ("way", "first"),
    [
        ("list", "a"),
        ("list", "b"),
        ("watch", "a"),
        ("watch", "b"),
    ],
)
def test_one_uid_under_two_names_is_two_objects(way: str, first: str) -> None:
    """A name is what tells objects apart; behind a uid either is found, until both are gone."""
    taken = Taken(way)
    taken.beside_neighbours(
        PODS, {"metadata": meta("a", uid="u")}, {"metadata": meta("b", uid="u")}
    )
    taken.removes(ObjectKey(PODS, SPACE, first), "u")
    taken.agree()
    (other,) = {"a", "b"} - {first}
    assert taken.view.find_uid("u") == taken.row(PODS, other)
    taken.removes(ObjectKey(PODS, SPACE, other), "u")
    assert taken.view.find_uid("u") is None


@WAYS
def test_told_twice_the_last_state_holds(way: str) -> None:
    """A list that has a name twice is read in order, as a watch is."""
    taken = Taken(way)
    taken.take(PODS, pod("odd", a="x"), {"metadata": meta("odd", uid="later")})
    assert taken.at(PODS, "odd").uid == "later"
    assert taken.view.find_uid("uid-odd") is None
    assert len(taken.graph) == 1


@WAYS
def test_of_a_member_written_twice_the_last_holds(way: str) -> None:
    """JSON that has a key twice means what its last one says, as the API server reads it."""
    taken = Taken(way)
    taken.beside_neighbours(
        PODS,
        b'{"metadata":{"name":"x","name":"odd","uid":"u","labels":{"a":"y","a":"x"}},"metadata":'
        b'{"name":"odd","namespace":"shop","uid":"v","labels":{"a":"y","a":"x"}}}',
    )
    assert taken.at(PODS, "odd").uid == "v"
    assert taken.at(PODS, "odd").labels == {"a": "x"}


@WAYS
@pytest.mark.parametrize(
    "api_version", ["apps/v9", "v1beta17", "", "a/b/c", "/", 7, None, "no.such.group/v1"]
)
def test_the_api_version_of_an_object_does_not_matter(way: str, api_version: Any) -> None:
    """What it is was asked for by its resource; the version that it was written in changes nothing."""
    odd = {**DEPLOYMENT, "apiVersion": api_version, "metadata": meta("odd")}
    taken = Taken(way)
    (kept,) = taken.beside_neighbours(names.DEPLOYMENTS, odd)
    assert kept.key.resource == names.DEPLOYMENTS
    assert isinstance(kept.facts, WorkloadFacts)


# ---- labels


@WAYS
def test_labels_of_a_megabyte_are_labels(way: str) -> None:
    """Ten thousand labels, or one as long as a body may be, are kept whole and select as others do."""
    many = {f"label-{number}": "v" * 90 for number in range(10_000)}
    taken = Taken(way)
    taken.beside_neighbours(PODS, pod("many", **many), pod("long", a="v" * 1_000_000))
    taken.take(
        SERVICES, service("many", selector={"label-9999": "v" * 90}),
        service("long", selector={"a": "v" * 1_000_000}),
    )  # fmt: skip
    for name in ("many", "long"):
        (selecting,) = taken.view.services_selecting(taken.at(PODS, name))
        assert taken.view.at(selecting).key.name == name
    taken.hears(PODS, ("MODIFIED", pod("many")))
    assert taken.view.services_selecting(taken.at(PODS, "many")) == []


@WAYS
def test_labels_are_what_they_say_not_how_they_are_written(way: str) -> None:
    """Escapes, blanks and the order of keys make no difference; unicode is a value like others."""
    taken = Taken(way)
    texts = [
        b'{"a":"x","b":"y/<>&"}',
        b'{"b":"y\\/\\u003c\\u003e\\u0026","a":"x"}',
        b'{ "\\u0061" : "\\u0078" , "b": "y/<>&" }',
    ]
    pods = [
        b'{"metadata":{"name":"p%d","namespace":"shop","uid":"u%d","labels":%s}}' % (at, at, text)
        for at, text in enumerate(texts)
    ]
    taken.beside_neighbours(PODS, *pods, pod("p3", größe="日本😀\u0000\n"))
    selected = taken.view.pods_selected(SPACE, Selector.of({"a": "x", "b": "y/<>&"}))
    assert taken.names(selected) == {"p0", "p1", "p2"}
    selected = taken.view.pods_selected(SPACE, Selector.of({"größe": "日本😀\u0000\n"}))
    assert taken.names(selected) == {"p3"}


@WAYS
@pytest.mark.parametrize(
    ("labels", "read"),
    [
        pytest.param(None, {}, id="null"),
        pytest.param({}, {}, id="empty"),
        pytest.param({"a": None, "b": 7, "c": "x", "d": {}}, {"c": "x"}, id="values-are-no-texts"),
        pytest.param(["a"], {}, id="a-list"),
        pytest.param("a=x", {}, id="text"),
        pytest.param({"": ""}, {"": ""}, id="empty-key-and-value"),
    ],
)
def test_labels_that_are_none_are_left_out(way: str, labels: Any, read: dict[str, str]) -> None:
    """A label is a text with a text; what else stands in their place is no label."""
    taken = Taken(way)
    (kept,) = taken.beside_neighbours(PODS, {**POD, "metadata": meta(labels=labels)})
    assert kept.labels == read
    assert isinstance(kept.facts, PodFacts)


# ---- owners


@WAYS
def test_owners_in_a_circle_go_together(way: str) -> None:
    """Each is the other's dependent; a delete of one takes all, and the walk comes to its end."""
    taken = Taken(way)
    circle = [
        {"metadata": meta(f"m{at}", ownerReferences=[owner(f"uid-m{(at + 1) % 3}")])}
        for at in range(3)
    ]
    taken.beside_neighbours(MAPS, *circle)
    rows = [taken.row(MAPS, f"m{at}") for at in range(3)]
    assert set(closure(taken.view, rows[:1])) == set(rows[1:])


@WAYS
def test_who_owns_itself_is_its_own_dependent(way: str) -> None:
    """It goes when it is deleted, and once."""
    taken = Taken(way)
    taken.beside_neighbours(MAPS, {"metadata": meta(ownerReferences=[owner("uid-odd")])})
    row = taken.row(MAPS, "odd")
    assert list(taken.view.children("uid-odd")) == [row]
    assert closure(taken.view, [row]) == ()


@WAYS
def test_an_owner_in_another_namespace_is_named_but_keeps_nothing(way: str) -> None:
    """The dependent is found by the uid that it names, as the collector treats it as dangling."""
    taken = Taken(way)
    taken.beside_neighbours(
        MAPS,
        {"metadata": meta("theirs", namespace="bank")},
        {"metadata": meta("ours", ownerReferences=[owner("uid-theirs")])},
    )
    assert taken.names(taken.view.children("uid-theirs")) == {"ours"}
    assert taken.names(taken.view.members("bank")) == {"theirs"}


@WAYS
@pytest.mark.parametrize(
    "reference",
    [
        pytest.param({"kind": "ReplicaSet", "name": "rs"}, id="no-uid"),
        pytest.param(owner(""), id="empty-uid"),
        pytest.param(owner(7), id="uid-is-a-number"),
        pytest.param(None, id="null"),
        pytest.param("rs", id="text"),
    ],
)
def test_an_owner_without_a_uid_owns_nothing(way: str, reference: Any) -> None:
    """Names can be used again, so that only a uid ties; the other references of the list do."""
    taken = Taken(way)
    taken.take(names.REPLICA_SETS, {"metadata": meta("rs")})
    taken.beside_neighbours(
        PODS, {**POD, "metadata": meta(ownerReferences=[reference, owner("uid-rs")])}
    )
    assert taken.names(taken.view.children("uid-rs")) == {"odd"}
    assert taken.view.find_uid("") is None


@WAYS
@pytest.mark.parametrize("references", [None, [], {}, "rs", 7])
def test_owner_references_that_are_no_list_are_none(way: str, references: Any) -> None:
    """The object is kept, and owned by nobody."""
    taken = Taken(way)
    (kept,) = taken.beside_neighbours(PODS, {**POD, "metadata": meta(ownerReferences=references)})
    assert kept.owners == ()


@WAYS
def test_ten_thousand_owners_are_owners(way: str) -> None:
    """Each of them has the dependent, whether it is there or not, until the references go."""
    taken = Taken(way)
    references = [owner(f"uid-{number}") for number in range(10_000)]
    taken.beside_neighbours(MAPS, {"metadata": meta(ownerReferences=references * 2)})
    for number in (0, 4_999, 9_999):
        assert taken.names(taken.view.children(f"uid-{number}")) == {"odd"}
    taken.hears(MAPS, ("MODIFIED", {"metadata": meta()}))
    assert list(taken.view.children("uid-9999")) == []


def test_owners_that_are_named_alike_cost_no_more() -> None:
    """UUIDs are chosen by whoever writes a reference: no choice makes a put take seconds."""

    def cost_s(number: int) -> float:
        body = {
            "metadata": meta(ownerReferences=[owner(f"{ALIKE}{at:012}") for at in range(number)])
        }
        resource, gvk = Resource("", "configmaps"), Gvk("", "v1", "ConfigMap")
        thing = Trimmer().trim(dumps(body), resource, gvk)
        start = time.thread_time()
        Graph().put(thing)
        return time.thread_time() - start

    # Eight times as many, in CPU time, on machines that are busy; quadratic work takes 64 times.
    assert cost_s(2000) < 24 * min(cost_s(250) for _ in range(3)) + 0.2


@WAYS
@pytest.mark.parametrize("api_version", ["apps/v9", "no.such.group/v1", "", "a/b/c", 7])
def test_an_owner_of_any_version_owns(way: str, api_version: Any) -> None:
    """The uid ties; the version and kind that a reference names are for people, unless unreadable."""
    taken = Taken(way)
    reference = owner("uid-rs", apiVersion=api_version)
    taken.beside_neighbours(PODS, {**POD, "metadata": meta(ownerReferences=[reference])})
    readable = isinstance(api_version, str)
    assert taken.names(taken.view.children("uid-rs")) == ({"odd"} if readable else set())


# ---- versions and times


@WAYS
@pytest.mark.parametrize(
    "version",
    ["-1", "0", "9" * 400, "1e3", " 7", "٣", "", "0x7", "seven",
     *(str(2**bits + more) for bits in (32, 40, 64) for more in (-1, 0, 1)),
     "9" * 12, "1" + "0" * 12],
)  # fmt: skip
def test_a_version_is_any_text(way: str, version: str) -> None:
    """A resourceVersion is kept as it is; one that is no number compares by equality only."""
    taken = Taken(way)
    (kept,) = taken.beside_neighbours(MAPS, {"metadata": meta(resourceVersion=version)})
    assert kept.resource_version == version
    assert taken.graph.version(taken.row(MAPS, "odd")) == version


@WAYS
@pytest.mark.parametrize("version", [7, -1, 1e300, None, ["7"], True])
def test_a_version_that_is_no_text_is_none(way: str, version: Any) -> None:
    """The object is kept without a version, and is never taken for what we have already."""
    taken = Taken(way)
    (kept,) = taken.beside_neighbours(MAPS, {"metadata": meta(resourceVersion=version)})
    assert kept.resource_version == ""


@WAYS
@pytest.mark.parametrize(
    "time",
    ["2026-11-20T10:11:12Z", "1969-07-20T20:17:40Z", "1970-01-01T00:00:00Z",
     "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "10000-01-01T00:00:00Z",
     "2026-11-20T10:11:12", "2026-11-20", "soon", "", 7, -7, 1e300, [], True],
)  # fmt: skip
def test_who_is_to_be_deleted_is_going_whatever_the_time(way: str, time: Any) -> None:
    """A deletionTimestamp is there or not; a pod that has one serves nobody, however odd it is."""
    taken = Taken(way)
    going = meta(deletionTimestamp=time, creationTimestamp=time, finalizers=["a/b"])
    (kept,) = taken.beside_neighbours(PODS, {**POD, "metadata": going})
    assert kept.terminating
    assert kept.finalizers == ("a/b",)
    assert not taken.view.serves(taken.row(PODS, "odd"))


@WAYS
@pytest.mark.parametrize(
    ("finalizers", "read"),
    [(None, ()), ([], ()), ("a/b", ()), ([7, "a/b", None], ("", "a/b", "")), ({}, ())],
)
def test_finalizers_that_are_no_texts(way: str, finalizers: Any, read: tuple[str, ...]) -> None:
    """What is no list is none; an entry that is no text is one without a name, and still holds."""
    taken = Taken(way)
    (kept,) = taken.beside_neighbours(MAPS, {"metadata": meta(finalizers=finalizers)})
    assert kept.finalizers == read


# ---- selectors and the rest of a body


@WAYS
@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({}, id="absent"),
        pytest.param({"selector": None}, id="null"),
        pytest.param({"selector": {}}, id="empty"),
        pytest.param({"selector": ["app"]}, id="a-list"),
        pytest.param({"selector": {"app": 7}}, id="value-is-a-number"),
        pytest.param({"selector": {"matchLabels": {"a": "x"}}}, id="another-kind-s-selector"),
        pytest.param({"selector": {"a": "x"}, "type": "ExternalName"}, id="a-cname"),
    ],
)
def test_a_service_that_selects_nothing(way: str, spec: dict[str, Any]) -> None:
    """Absent, null, empty or unreadable: a Service without labels to look for has no pods."""
    taken = Taken(way)
    taken.take(PODS, pod("p", a="x"), pod("q"))
    taken.beside_neighbours(SERVICES, service("odd", **spec))
    row = taken.row(SERVICES, "odd")
    assert taken.view.ready_endpoints(row) == set()
    for name in ("p", "q"):
        assert row not in taken.view.services_selecting(taken.at(PODS, name))


@WAYS
@pytest.mark.parametrize(
    ("selector", "read"),
    [
        pytest.param(None, None, id="null-selects-nothing"),
        pytest.param({}, Selector(), id="empty-selects-everything"),
        pytest.param({"matchLabels": None}, Selector(), id="null-labels"),
        pytest.param({"matchExpressions": []}, Selector(), id="no-expressions"),
    ],
)
def test_selectors_of_others(way: str, selector: Any, read: Selector | None) -> None:
    """Of every kind but Services, absent and empty are opposites."""
    taken = Taken(way)
    odd = {"metadata": meta(), "spec": {"selector": selector}}
    (kept,) = taken.beside_neighbours(names.DEPLOYMENTS, odd)
    assert isinstance(kept.facts, WorkloadFacts)
    assert kept.facts.selector == read


@WAYS
@pytest.mark.parametrize(
    ("resource", "body"),
    [
        pytest.param(PODS, {"status": "fine"}, id="status-is-text"),
        pytest.param(PODS, {"status": {"conditions": {"type": "Ready"}}}, id="conditions-no-list"),
        pytest.param(PODS, {"spec": []}, id="spec-is-a-list"),
        pytest.param(SERVICES, {"spec": {"ports": [{"port": "80"}]}}, id="port-is-text"),
        pytest.param(names.DEPLOYMENTS, {"spec": {"replicas": "3"}}, id="replicas-is-text"),
        pytest.param(names.DEPLOYMENTS, {"spec": {"replicas": 1.5}}, id="half-a-replica"),
        pytest.param(names.DEPLOYMENTS, {"spec": {"replicas": 2**63}}, id="no-64-bits-hold-it"),
        pytest.param(
            names.DEPLOYMENTS,
            {"spec": {"selector": {"matchExpressions": [{"key": "a", "operator": "Like"}]}}},
            id="unknown-operator",
        ),
        pytest.param(names.CRDS, {"spec": {"names": "gadgets"}}, id="crd-names-is-text"),
        pytest.param(names.ENDPOINT_SLICES, {"endpoints": [7]}, id="endpoint-is-a-number"),
        pytest.param(names.VALIDATING_WEBHOOKS, {"webhooks": {"name": "h"}}, id="webhooks-no-list"),
    ],
)
def test_a_body_of_odd_shape_leaves_metadata(way: str, resource: Resource, body: Any) -> None:
    """The object is there, with name, labels and owners; what it says is unknown, and counted."""
    taken = Taken(way)
    odd = {"metadata": meta(labels={"a": "x"}, ownerReferences=[owner("uid-rs")]), **body}
    (kept,) = taken.beside_neighbours(resource, odd)
    assert kept.facts is None
    assert kept.labels == {"a": "x"}
    assert taken.names(taken.view.children("uid-rs")) == {"odd"}
    assert taken.odd[str(resource), "facts"] == 1


@WAYS
@pytest.mark.parametrize("replicas", [-1, 2**31, 2**63 - 1, -(2**63)])
def test_a_workload_wants_any_number(way: str, replicas: int) -> None:
    """A count past what the API server takes, or below nothing, is kept as it is said."""
    taken = Taken(way)
    odd = {"metadata": meta(), "spec": {"replicas": replicas}}
    (kept,) = taken.beside_neighbours(names.DEPLOYMENTS, odd)
    assert isinstance(kept.facts, WorkloadFacts)
    assert kept.facts.replicas == replicas


@WAYS
@pytest.mark.parametrize("levels", [100, 5_000, 50_000])
def test_what_is_nested_deeply_costs_at_most_its_own_facts(way: str, levels: int) -> None:
    """Fields that nobody reads may be nested as deeply as they like, until the reader gives up."""
    deep = b'"x":' + b"[" * levels + b"]" * levels
    odd = b'{"metadata":{"name":"odd","namespace":"shop","uid":"u"},"spec":{' + deep + b"}}"
    taken = Taken(way)
    kept = taken.beside_neighbours(PODS, odd)
    assert [one.key.name for one in kept] in ([], ["odd"])
    assert kept or sum(taken.odd.values()) > 0


@WAYS
def test_definitions_may_serve_anything(way: str) -> None:
    """Two definitions of one type, and one of a type without a name: the type has one while any is."""

    def definition(name: str, **spec: Any) -> dict[str, Any]:
        return {**CRD, "metadata": meta(name), "spec": {**CRD["spec"], **spec}}

    taken = Taken(way)
    kept = taken.beside_neighbours(
        names.CRDS, definition("one"), definition("two"), definition("none", group="", names={})
    )
    served = kept[0].facts
    assert isinstance(served, CrdFacts)
    for name in ("two", *NEIGHBOURS):
        taken.removes(ObjectKey(names.CRDS, SPACE, name))
        taken.agree()
    assert taken.view.crd(served.resource) == taken.row(names.CRDS, "one")


@WAYS
def test_an_endpoint_slice_of_no_service(way: str) -> None:
    """Without the label that names its Service a slice belongs to none; the object is kept."""
    taken = Taken(way)
    taken.take(SERVICES, service("web"))
    taken.beside_neighbours(
        names.ENDPOINT_SLICES, {"metadata": meta(), "endpoints": [{"addresses": ["10.0.0.1"]}]}
    )
    assert taken.view.ready_endpoints(taken.row(SERVICES, "web")) == set()


@WAYS
def test_kinds_that_nobody_knows_are_objects(way: str) -> None:
    """Any group and plural is a type; nothing is read of it but metadata."""
    taken = Taken(way)
    odd = Resource("no.such.group", "gizmos")
    (kept,) = taken.beside_neighbours(odd, {"metadata": meta(), "spec": {"anything": [1]}})
    assert kept.facts is None
    assert kept.gvk == Gvk("no.such.group", "v1", "Gizmos")


def test_services_and_facts_are_what_the_table_says() -> None:
    """A Service whose ports are of a later Kubernetes is a Service; the reader reads what it knows."""
    taken = Taken("list")
    (kept,) = taken.beside_neighbours(SERVICES, service("odd", selector={"a": "x"}, news={"x": 1}))
    assert isinstance(kept.facts, ServiceFacts)
    assert kept.facts.selector == Selector.of({"a": "x"})
