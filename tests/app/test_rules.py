"""Rules follow the cluster: definitions, ReferenceRules and files become readers and watches."""

from __future__ import annotations

import itertools
import json
from typing import Any

from support.cluster import START
from support.fakecluster import FakeCluster, api
from support.following import CRD, WIDGETS, World, until
from suture.app.listing import Lister
from suture.app.rules import REGISTRAR, Rules, rules_wants
from suture.app.sources import Gathered, Gatherer
from suture.app.watches import Want, Watches
from suture.model import names
from suture.model.absence import ARGO_APPLICATIONS, ARGO_PROJECTS
from suture.model.edges import Edge, Need
from suture.model.fieldpath import FieldPath
from suture.model.graph import Graph
from suture.model.names import (
    CONFIG_MAPS,
    CRDS,
    DEPLOYMENTS,
    PODS,
    SECRETS,
    Gvk,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject, CrdFacts, CustomFacts, Facts
from suture.model.rulebook import KindRules, Waiting
from suture.model.rules import (
    REFERENCE_RULES,
    By,
    Child,
    Family,
    Reference,
    ReferenceRule,
    RuleFacts,
    TypeName,
)
from suture.wire.managedby import Applications
from suture.wire.trim import Trimmer

WIDGET = TypeName("example.com", "Widget")
API = api(WIDGETS, "Widget")


def path(text: str) -> FieldPath:
    return FieldPath.parse(text)


def reference(
    name: str, field: str, to: str = "Secret", *, discovered: bool = False
) -> ReferenceRule:
    says = Reference(path(field), TypeName("", to))
    return ReferenceRule(name, WIDGET, says, discovered=discovered)


def thing(resource: Resource, name: str, facts: Facts) -> ClusterObject:
    return ClusterObject(
        ObjectKey(resource, "", name), f"uid-{name}", Gvk("g", "v1", "K"), facts=facts
    )


def rule(found: ReferenceRule) -> ClusterObject:
    return thing(REFERENCE_RULES, found.name, RuleFacts(found))


def definition(*rules: ReferenceRule) -> ClusterObject:
    facts = CrdFacts(WIDGETS, "Widget", namespaced=True, rules=rules)
    return thing(CRDS, "widgets.example.com", facts)


class Place:
    """Rules with what they steer, put in force when `turn` is called."""

    def __init__(self, *files: ReferenceRule) -> None:
        self.graph = Graph()
        self.graph.declare("", "Secret", SECRETS)
        self.graph.declare("", "ConfigMap", CONFIG_MAPS)
        self.in_force: dict[Resource, KindRules] = {}
        self.declared = 0
        self.watches = Watches()
        self.applications = Applications()
        self.due: list[Any] = []
        self.rules = Rules(self, self.watches, self.graph, files=files, later=self.due.append)

    def declare(self, rules: Any) -> None:
        self.in_force = dict(rules)
        self.declared += 1

    def turn(self) -> None:
        calls, self.due[:] = list(self.due), []
        for call in calls:
            call()

    def named(self) -> list[Resource]:
        found = self.in_force.get(WIDGETS)
        return [] if found is None else [one.to for one in found.named]


def test_a_definition_brings_the_rules_of_its_schema() -> None:
    """Its instances are read whole from then on, and as metadata again when it is gone."""
    place = Place()
    assert place.watches.want(API) == Want()
    place.rules.began(definition(reference("found", "spec.secretName", discovered=True)))
    place.turn()
    assert place.named() == [SECRETS]
    want = place.watches.want(API)
    assert want == Want(full=True, rules=place.in_force[WIDGETS])
    place.rules.ended(definition())
    place.turn()
    assert place.in_force == {}
    assert place.watches.want(API) == Want()


def test_a_reference_rule_comes_changes_and_goes() -> None:
    """What it says is in force as it is now."""
    place = Place()
    place.rules.began(definition())
    place.rules.began(rule(reference("told", "spec.ref")))
    place.turn()
    assert place.named() == [SECRETS]
    place.rules.changed(rule(reference("told", "spec.ref", "ConfigMap")), terminates=False)
    place.turn()
    assert place.named() == [CONFIG_MAPS]
    place.rules.ended(rule(reference("told", "spec.ref")))
    place.turn()
    assert place.named() == []


def test_a_rule_that_makes_no_sense_is_told_and_not_in_force() -> None:
    """Its earlier state neither: what it said is withdrawn."""
    place = Place()
    place.rules.began(definition())
    place.rules.began(rule(reference("told", "spec.ref")))
    place.rules.changed(
        thing(REFERENCE_RULES, "told", RuleFacts(problem="spec is odd")), terminates=False
    )
    place.turn()
    assert place.named() == []
    assert place.rules.problems == {"told": "spec is odd"}
    place.rules.changed(rule(reference("told", "spec.ref")), terminates=False)
    place.turn()
    assert place.rules.problems == {}
    assert place.named() == [SECRETS]


def test_a_rule_waits_for_its_type() -> None:
    """It is in force once the definition is there."""
    place = Place()
    place.rules.began(rule(reference("told", "spec.ref")))
    place.turn()
    assert place.rules.waiting == (Waiting("told", WIDGET),)
    place.rules.began(definition())
    place.turn()
    assert not place.rules.waiting
    assert place.named() == [SECRETS]


def test_what_changes_in_one_turn_is_put_in_force_once() -> None:
    """And what says nothing new not at all: every heartbeat of a definition is a change."""
    place = Place()
    for at in range(10):
        place.rules.began(rule(reference(f"told-{at}", f"spec.ref{at}")))
    place.turn()
    assert place.declared == 1
    place.rules.changed(rule(reference("told-3", "spec.ref3")), terminates=False)
    assert place.due == []


def test_rules_of_files_are_in_force_at_once() -> None:
    """As far as the types are known; the rest waits."""
    parent = ReferenceRule(
        "family",
        TypeName.of(WIDGETS),
        Family((Child(TypeName.of(PODS), By.LABEL, label="widget"),)),
    )
    place = Place(parent, reference("told", "spec.ref"))
    assert set(place.in_force) == {PODS}
    assert place.rules.waiting == (Waiting("told", WIDGET),)


def test_rules_of_a_loaded_graph_are_heeded() -> None:
    """A graph of a file has its definitions and rules in it."""
    place = Place()
    for one in (definition(), rule(reference("told", "spec.ref"))):
        place.graph.put(one)
    place.rules.load(place.graph)
    assert place.named() == [SECRETS]


def test_secrets_are_never_asked_for_whole() -> None:
    """Whatever a rule reads of them is metadata; nor are kinds of which nothing else is read."""
    place = Place()
    label = ReferenceRule(
        "family",
        TypeName.of(WIDGETS),
        Family((Child(TypeName.of(SECRETS), By.LABEL, label="widget"),)),
    )
    place.rules.began(rule(label))
    place.turn()
    wants = rules_wants(place.in_force)
    assert wants == {SECRETS: Want(rules=place.in_force[SECRETS])}
    place.watches.withdraw(REGISTRAR)


# ---------------------------------------------------------------- with a mirror

SCHEMA = {
    "openAPIV3Schema": {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "secretName": {"type": "string"},
                    "size": {"type": "integer"},
                    "other": {"type": "string"},
                },
            }
        },
    }
}
SUBRESOURCES = {"scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}}


def widgets_definition() -> dict[str, Any]:
    version = {"name": "v1", "served": True, "schema": SCHEMA, "subresources": SUBRESOURCES}
    return {**CRD, "spec": {**CRD["spec"], "versions": [version]}}


def rule_body(to: str) -> dict[str, Any]:
    source = {"group": "example.com", "kind": "Widget"}
    return {"spec": {"from": source, "field": "spec.other", "to": {"kind": to}}}


def need(resource: Resource, name: str, *, optional: bool = False) -> Need:
    return Need(Edge.RULE, ObjectKey(resource, "shop", name), "", optional)


async def test_the_model_reads_custom_resources_by_their_rules() -> None:
    """Those of the schema as soon as it is there, those of a ReferenceRule when that comes."""
    world = World()
    trimmer = world.mirror._trimmer
    assert isinstance(trimmer, Trimmer)
    rules = Rules(trimmer, world.mirror.watches, world.graph)
    world.mirror._intake.join(rules)
    cluster = world.cluster
    own = api(REFERENCE_RULES, "ReferenceRule", namespaced=False, version="v1alpha1")
    cluster.apis |= {one.path(): one for one in (API, own)}
    cluster.write(CRDS, "widgets.example.com", **widgets_definition())
    spec = {"secretName": "s", "size": 3, "other": "o"}
    cluster.write(WIDGETS, "w", "shop", spec=spec)

    def known() -> tuple[list[Need], Facts | None]:
        found = world.at(WIDGETS, "w", "shop")
        return ([], None) if found is None else (list(found.needs), found.facts)

    async with world.running():
        by_schema = need(SECRETS, "s", optional=True)
        await until(lambda: known() == ([by_schema], CustomFacts(wanted=3)))
        cluster.write(REFERENCE_RULES, "other", **rule_body("ConfigMap"))
        await until(lambda: known()[0] == [need(names.CONFIG_MAPS, "o"), by_schema])
        cluster.write(REFERENCE_RULES, "other", **rule_body("Service"))
        await until(lambda: known()[0] == [need(names.SERVICES, "o"), by_schema])
        cluster.delete(REFERENCE_RULES, "other")
        await until(lambda: known()[0] == [by_schema])
        cluster.delete(CRDS, "widgets.example.com")
        await until(lambda: rules.waiting == ())


async def test_a_start_lists_custom_resources_once() -> None:
    """In the form that their schema asks for: half a million of them are not to be read twice."""
    world = World()
    trimmer = world.mirror._trimmer
    assert isinstance(trimmer, Trimmer)
    world.mirror._intake.join(Rules(trimmer, world.mirror.watches, world.graph))
    cluster = world.cluster
    cluster.apis[API.path()] = API
    cluster.write(CRDS, "widgets.example.com", **widgets_definition())
    cluster.write(WIDGETS, "w", "shop", spec={"secretName": "s", "size": 3})
    async with world.running():
        await until(lambda: world.mirror.ready()[0])
    found = world.at(WIDGETS, "w", "shop")
    assert found is not None
    assert found.facts == CustomFacts(wanted=3)
    lists = [asked for asked in cluster.asked if asked[0] != "watch" and asked[1] == API.path()]
    assert lists == [("stream", API.path(), False)]


# ---------------------------------------------------------------- of files, and of one listing


def whole(kind: str, name: str, version: str = "v1", **body: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "shop"}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **body}


def instances() -> list[dict[str, Any]]:
    """Return an instance before its definition, and a rule after both."""
    spec = {"secretName": "s", "size": 3, "other": "o"}
    own = "policies.suture.dev/v1alpha1"
    return [
        whole("Widget", "w", "example.com/v1", spec=spec),
        whole("CustomResourceDefinition", "d", "apiextensions.k8s.io/v1", **widgets_definition()),
        whole("ReferenceRule", "other", own, **rule_body("ConfigMap")),
    ]


def gathered(items: list[dict[str, Any]]) -> Gathered:
    gatherer = Gatherer("here", START)
    for item in items:
        gatherer.add(json.dumps(item).encode(), "a file")
    return gatherer.finish()


def read(graph: Graph) -> tuple[list[Need], Facts | None]:
    row = graph.row(ObjectKey(WIDGETS, "shop", "w"))
    assert row is not None
    return list(graph.at(row).needs), graph.at(row).facts


BY_BOTH = ([need(CONFIG_MAPS, "o"), need(SECRETS, "s", optional=True)], CustomFacts(wanted=3))


def test_rules_are_heeded_in_files() -> None:
    """Whatever the order of definition, rule and instance."""
    for order in itertools.permutations(instances()):
        found = gathered([*order, whole("ConfigMap", "o"), whole("Secret", "s")])
        assert read(found.graph) == BY_BOTH
        assert found.notes == ()


def test_rules_of_files_are_heeded_of_what_was_read_before() -> None:
    """Of kinds that are read closely, and of kinds that are known by their metadata alone."""
    own = "policies.suture.dev/v1alpha1"
    to = {"kind": "Secret"}
    for kind, version, resource in (
        ("Deployment", "apps/v1", DEPLOYMENTS),
        ("ResourceQuota", "v1", Resource("", "resourcequotas")),
    ):
        source = {"group": resource.group, "kind": kind}
        at = "metadata.annotations['example.com/key']"
        rule = whole("ReferenceRule", "keys", own, spec={"from": source, "field": at, "to": to})
        thing = whole(kind, "w", version)
        thing["metadata"] |= {"annotations": {"example.com/key": "s"}, "uid": "u"}
        bad = whole(kind, "bad", version, spec=7, status=7)
        found = gathered([thing, bad, whole("Secret", "s"), rule])
        row = found.graph.row(ObjectKey(resource, "shop", "w"))

        assert row is not None
        assert need(SECRETS, "s") in found.graph.at(row).needs
        assert [note for note in found.notes if not note.startswith("odd: 1 ")] == []


def test_a_rule_of_files_may_name_what_no_file_holds() -> None:
    """A kind that every cluster has is known, whether there is one among the files or not."""
    found = gathered(instances())

    assert read(found.graph) == BY_BOTH
    assert found.notes == ()


def test_rules_of_files_that_cannot_be_heeded_are_noted() -> None:
    """About a kind that is not there; and those that make no sense, with their place."""
    own = "policies.suture.dev/v1alpha1"
    source = {"from": {"group": "example.com", "kind": "Widget"}}
    late = whole("ReferenceRule", "family", own, spec={**source, "wanted": "spec.size"})
    assert [note for note in gathered([late]).notes if "rule family" in note]

    wrong = whole("ReferenceRule", "wrong", own, spec={**source, "wanted": "spec..size"})
    newer = whole("ReferenceRule", "newer", "policies.suture.dev/v1beta9", spec=late["spec"])
    found = gathered([wrong, newer, *instances()])
    assert [note.partition(": ReferenceRule")[0] for note in found.notes] == [
        "not heeded: a file"
    ] * 2
    assert "`spec.wanted`" in found.notes[0]
    assert "`apiVersion` cannot be `policies.suture.dev/v1beta9`; give `" in found.notes[1]
    assert not found.whole


async def test_rules_are_heeded_when_a_cluster_is_listed_once() -> None:
    """Definitions and rules are listed first."""
    cluster = FakeCluster()
    own = api(REFERENCE_RULES, "ReferenceRule", namespaced=False, version="v1alpha1")
    cluster.apis |= {one.path(): one for one in (API, own)}
    widget, definition_, rule_ = instances()
    cluster.write(WIDGETS, "w", "shop", spec=widget["spec"])
    cluster.write(CRDS, "d", spec=definition_["spec"], status=definition_["status"])
    cluster.write(REFERENCE_RULES, "other", spec=rule_["spec"])
    found = await Lister(cluster, lambda: START).run()
    assert read(found.graph) == BY_BOTH
    assert found.whole


def test_schemas_of_kinds_with_a_projection_tell_nothing() -> None:
    """Who wrote the projection knew more."""
    place = Place()
    says = Reference(path("spec.secretName"), TypeName("", "Secret"))
    found = ReferenceRule("found", TypeName.of(names.HTTP_ROUTES), says, discovered=True)
    facts = CrdFacts(names.HTTP_ROUTES, "HTTPRoute", namespaced=True, rules=(found,))
    place.rules.began(thing(CRDS, "httproutes", facts))
    place.turn()
    assert place.in_force == {}


def project(namespace: str, name: str = "default") -> ClusterObject:
    return ClusterObject(
        ObjectKey(ARGO_PROJECTS, namespace, name), f"{namespace}-{name}", Gvk("g", "v1", "K")
    )


def test_argo_cd_is_found_by_its_first_project() -> None:
    """Where several installations are, or none any more, its usual place is assumed."""
    place = Place()
    place.rules.began(project("elsewhere", "shop"))
    assert place.applications.home == "elsewhere"
    place.rules.began(project("gitops"))
    assert place.applications.home == "gitops"
    place.rules.began(project("gitops-too"))
    assert place.applications.home == "argocd"
    place.rules.ended(project("gitops"))
    assert place.applications.home == "gitops-too"
    place.rules.ended(project("gitops-too"))
    assert place.applications.home == "elsewhere"
    place.rules.ended(project("elsewhere", "shop"))
    assert place.applications.home == "argocd"


def test_an_application_is_found_by_its_name() -> None:
    """Where one namespace has it, that; where several have one, that of the first project."""
    place = Place()

    def application(namespace: str) -> ClusterObject:
        key = ObjectKey(ARGO_APPLICATIONS, namespace, "front")
        return ClusterObject(key, namespace, Gvk("g", "v1", "K"))

    place.rules.began(application("gitops"))
    assert "front" in place.applications
    assert place.applications.place("front") == "gitops"
    assert place.applications.place("back") == "argocd"
    place.rules.began(application("team-a"))
    assert place.applications.place("front") == "argocd"
    place.rules.ended(application("gitops"))
    place.rules.ended(application("team-a"))
    place.rules.ended(application("team-a"))
    assert "front" not in place.applications
    assert len(place.applications) == 0


def test_an_application_is_tied_to_one_that_comes_after_it() -> None:
    """In one list `app-0` comes before the `root` that its label names, and is read before it."""
    place = Place()
    trimmer = Trimmer()
    place.applications = trimmer.applications
    gvk = Gvk("argoproj.io", "v1alpha1", "Application")

    def read(name: str, **labels: str) -> ClusterObject:
        meta = {"name": name, "namespace": "delivery", "uid": name, "labels": labels}
        raw = json.dumps({"metadata": meta}).encode()
        return trimmer.trim(raw, ARGO_APPLICATIONS, gvk)

    child = read("app-0", **{"app.kubernetes.io/instance": "root"})
    place.graph.put(child)
    place.rules.began(child)
    place.turn()
    assert list(child.needs) == []

    root = read("root", **{"app.kubernetes.io/instance": "root"})
    place.graph.put(root)
    place.rules.began(root)
    place.turn()

    row, above = place.graph.row(child.key), place.graph.row(root.key)
    assert row is not None
    assert above is not None
    wanted = [Need(Edge.MANAGED_BY, root.key)]
    assert [list(place.graph.at(one).needs) for one in (row, above)] == [wanted, []]
    assert not place.applications.awaited
