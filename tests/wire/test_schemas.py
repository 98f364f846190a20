"""What the schema of a CustomResourceDefinition tells of its instances."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from suture.model.fieldpath import FieldPath
from suture.model.names import (
    CLAIMS,
    CONFIG_MAPS,
    CRDS,
    NAMESPACES,
    NODES,
    PODS,
    SECRETS,
    SERVICES,
    Gvk,
    Resource,
)
from suture.model.objects import CrdFacts
from suture.model.rules import (
    Called,
    Family,
    Form,
    Open,
    Outside,
    Place,
    Provided,
    Reference,
    ReferenceRule,
    Says,
    Selects,
    TypeName,
)
from suture.wire.fieldrules import NAMING, RULES
from suture.wire.schemas import POOLS, SIZES, rules_of_scale, rules_of_schema
from suture.wire.shapes import ABSENT
from suture.wire.trim import Trimmer

MONITORS = Resource("mon.example.com", "monitors")
OPEN = "x-kubernetes-preserve-unknown-fields"
TEXT: dict[str, Any] = {"type": "string", "description": "a name"}
LABELS: dict[str, Any] = {"type": "object", "additionalProperties": TEXT}
SELECTOR: dict[str, Any] = {
    "type": "object",
    "properties": {
        "matchLabels": LABELS,
        "matchExpressions": {
            "type": "array",
            "items": {"type": "object", "properties": {"key": TEXT, "operator": TEXT}},
        },
    },
}


def fields(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def raw(text: bytes) -> msgspec.Raw:
    return msgspec.Raw(text)


def read(schema: Any) -> list[ReferenceRule]:
    return rules_of_schema(MONITORS, raw(msgspec.json.encode({"openAPIV3Schema": schema})))


def rules(**spec: Any) -> list[ReferenceRule]:
    schema = fields(apiVersion=TEXT, kind=TEXT, metadata={"type": "object"}, spec=fields(**spec))
    return read(schema)


def said(**spec: Any) -> list[Says]:
    """Return what a schema tells but for names that kinds will be held against."""
    return [rule.says for rule in rules(**spec) if not isinstance(rule.says, Called)]


def path(text: str) -> FieldPath:
    return FieldPath.parse(text)


def refers(field: str, to: Resource, place: Place | str = Place.SAME, key: str = "") -> Reference:
    where = place if isinstance(place, Place) else path(place)
    return Reference(path(field), TypeName.of(to), where, path(key) if key else None, optional=True)


def selects(field: str, of: Resource, form: Form, place: Place = Place.SAME) -> Selects:
    return Selects(path(field), TypeName.of(of), form, place)


def test_fields_with_well_known_names_are_references() -> None:
    """Marked as discovered and optional: a name that leads nowhere is no news."""
    rule = rules(tls=fields(secretName=TEXT))[-1]
    assert rule == ReferenceRule(
        "monitors.mon.example.com spec.tls.secretName",
        TypeName.of(MONITORS),
        refers("spec.tls.secretName", SECRETS),
        discovered=True,
    )
    assert said(claimName=TEXT, storageClassName=TEXT) == [
        refers("spec.claimName", CLAIMS),
        refers(
            "spec.storageClassName", Resource("storage.k8s.io", "storageclasses"), Place.CLUSTER
        ),
    ]


def leading(field: str, place: Place | str = Place.SAME) -> Reference:
    return replace(refers(field, SERVICES, place), leads=True)


def test_a_service_beside_which_a_port_stands_is_led_to() -> None:
    """Proxies name their backends so, in items and by themselves."""
    port = {"x-kubernetes-int-or-string": True}
    item = fields(name=TEXT, port=port)
    for name in ("services", "backends", "backendRefs"):
        many = {"type": "array", "items": item}
        assert said(**{name: many}) == [leading(f"spec.{name}[*].name")]
    assert said(serviceRef=item) == [leading("spec.serviceRef.name")]
    assert said(serviceName=TEXT, servicePort=port) == [leading("spec.serviceName")]
    elsewhere = {"type": "array", "items": fields(name=TEXT, namespace=TEXT, port=port)}
    assert said(services=elsewhere) == [
        leading("spec.services[*].name", "spec.services[*].namespace")
    ]


def test_a_service_without_a_port_is_named_and_not_led_to() -> None:
    """Who watches it, or is served by it, names it as well."""
    assert said(serviceName=TEXT) == [refers("spec.serviceName", SERVICES)]
    assert said(serviceRef=fields(name=TEXT)) == [refers("spec.serviceRef.name", SERVICES)]
    assert said(services={"type": "array", "items": fields(name=TEXT)}) == []


@pytest.mark.parametrize(
    "name",
    [
        "issuerRef", "secretStoreRef", "nodeClassRef", "sourceRef", "authenticationRef",
        "scaleTargetRef",
    ],
)  # fmt: skip
def test_what_provides_an_object_is_named_with_its_kind(name: str) -> None:
    """Of whatever kind the field says: a Certificate's issuer, an ExternalSecret's store.

    So is what an autoscaler sizes.
    """
    field = {name: fields(kind=TEXT, name=TEXT, group=TEXT)}
    assert said(**field) == [Provided(path(f"spec.{name}"), MONITORS.group)]


def test_what_a_template_names_with_its_kind_provides_what_is_made_of_it() -> None:
    """Whatever the field is called: a pool's machines, however deep the template lies."""
    ref = fields(apiVersion=TEXT, kind=TEXT, name=TEXT, namespace=TEXT)
    spec = fields(infrastructureRef=ref, bootstrap=fields(ref=ref))
    assert said(template=fields(spec=spec)) == [
        Provided(path(f"spec.template.spec.{name}"), MONITORS.group)
        for name in ("infrastructureRef", "bootstrap.ref")
    ]
    assert said(machineTemplate=fields(infrastructureRef=ref)) == [
        Provided(path("spec.machineTemplate.infrastructureRef"), MONITORS.group)
    ]
    assert said(infrastructureRef=ref) == []


@pytest.mark.parametrize("name", ["claimRef", "consumerRef", "targetRef", "backupRef", "parentRef"])
def test_what_an_object_is_made_for_does_not_provide_it(name: str) -> None:
    """It may well go first."""
    assert said(**{name: fields(kind=TEXT, name=TEXT)}) == []


def test_without_a_kind_it_is_not_known_what_provides_an_object() -> None:
    """A name alone leads nowhere."""
    assert said(issuerRef=fields(name=TEXT)) == []


def test_references_are_read_with_their_namespace_and_key() -> None:
    """Where the schema has such fields beside the name."""
    assert said(secretRef=fields(name=TEXT, namespace=TEXT)) == [
        refers("spec.secretRef.name", SECRETS, "spec.secretRef.namespace")
    ]
    assert said(configMapKeyRef=fields(name=TEXT, key=TEXT)) == [
        refers("spec.configMapKeyRef.name", CONFIG_MAPS, key="spec.configMapKeyRef.key")
    ]
    assert said(secretName=TEXT, secretNamespace=TEXT) == [
        refers("spec.secretName", SECRETS, "spec.secretNamespace")
    ]


@pytest.mark.parametrize("name", ["secret", "clientSecret", "existingSecret"])
def test_a_secret_that_may_stand_there_itself_is_no_name(name: str) -> None:
    """Its value would be kept in the model, and in every snapshot."""
    assert said(**{name: TEXT}) == []


@pytest.mark.parametrize("name", ["credentialName", "tlsCredentialName"])
def test_a_secret_is_named_by_shorter_words_too(name: str) -> None:
    """As gateways of a mesh do; an object of that name is none."""
    assert said(**{name: TEXT}) == [refers(f"spec.{name}", SECRETS)]
    assert said(**{name: fields(key=TEXT)}) == []


@pytest.mark.parametrize(
    ("name", "of"), [("superuserSecret", SECRETS), ("tuningConfigMap", CONFIG_MAPS)]
)
def test_an_object_that_only_names_is_of_what_it_is_called_after(name: str, of: Resource) -> None:
    """One that says more is a thing of its own; a text may be the value itself."""
    assert said(**{name: fields(name=TEXT)}) == [refers(f"spec.{name}.name", of)]
    assert said(**{name: fields(name=TEXT, namespace=TEXT, key=TEXT)}) == [
        refers(f"spec.{name}.name", of, f"spec.{name}.namespace", key=f"spec.{name}.key")
    ]
    assert said(**{name: fields(name=TEXT, size=TEXT)}) == []


def test_a_text_beside_a_selector_of_nodes_is_of_nodes() -> None:
    """It names no type itself; one that does, or stands alone, is left alone."""
    assert said(nodeSelector=TEXT, peerSelector=TEXT, podSelector=TEXT) == [
        selects("spec.nodeSelector", NODES, Form.STRING, Place.CLUSTER),
        selects("spec.peerSelector", NODES, Form.STRING, Place.CLUSTER),
    ]
    assert said(peerSelector=TEXT) == []


def test_items_of_arrays_and_maps_are_looked_at() -> None:
    """Every item has the same fields."""
    volumes = {"type": "array", "items": fields(secret=fields(secretName=TEXT))}
    pools = {"type": "object", "additionalProperties": fields(secretRef=fields(name=TEXT))}
    pull = {"type": "array", "items": fields(name=TEXT)}
    assert said(volumes=volumes, pools=pools, imagePullSecrets=pull) == [
        refers("spec.imagePullSecrets[*].name", SECRETS),
        refers("spec.pools[*].secretRef.name", SECRETS),
        refers("spec.volumes[*].secret.secretName", SECRETS),
    ]


@pytest.mark.parametrize(
    ("name", "shape", "expected"),
    [
        ("selector", SELECTOR, selects("spec.selector", PODS, Form.LABEL_SELECTOR)),
        ("podSelector", SELECTOR, selects("spec.podSelector", PODS, Form.LABEL_SELECTOR)),
        ("labelSelector", LABELS, selects("spec.labelSelector", PODS, Form.MATCH_LABELS)),
        (
            "nodeSelector",
            LABELS,
            selects("spec.nodeSelector", NODES, Form.MATCH_LABELS, Place.CLUSTER),
        ),
        (
            "nodeSelector",
            TEXT,
            selects("spec.nodeSelector", NODES, Form.STRING, Place.CLUSTER),
        ),
        (
            "namespaceSelector",
            SELECTOR,
            selects("spec.namespaceSelector", NAMESPACES, Form.LABEL_SELECTOR, Place.CLUSTER),
        ),
        (
            "serviceMonitorSelector",
            SELECTOR,
            Selects(
                path("spec.serviceMonitorSelector"), TypeName("mon.example.com", "ServiceMonitor")
            ),
        ),
        (
            "selectors",
            {"type": "array", "items": SELECTOR},
            selects("spec.selectors[*]", PODS, Form.LABEL_SELECTOR),
        ),
    ],
)
def test_hidden_selectors_are_found(name: str, shape: dict[str, Any], expected: Selects) -> None:
    """By their name and their shape; what stands before `Selector` tells what is selected."""
    assert said(**{name: shape}) == [expected]


def test_a_selector_of_namespaces_belongs_to_the_selector_beside_it() -> None:
    """It says where to look, and selects nothing of its own."""
    assert said(selector=SELECTOR, namespaceSelector=SELECTOR) == [
        Selects(
            path("spec.selector"),
            TypeName.of(PODS),
            namespaces=path("spec.namespaceSelector"),
        )
    ]
    assert said(ruleSelector=SELECTOR, ruleNamespaceSelector=SELECTOR) == [
        Selects(
            path("spec.ruleSelector"),
            TypeName("mon.example.com", "Rule"),
            namespaces=path("spec.ruleNamespaceSelector"),
        )
    ]


@pytest.mark.parametrize(
    "spec",
    [
        {"secretName": {"type": "integer"}},
        {"secretRef": TEXT},
        {"secretRef": fields(id=TEXT)},
        {"selector": TEXT},
        {"selector": fields(any=TEXT)},
        {"nodeSelector": fields(nodeSelectorTerms={"type": "array", "items": SELECTOR})},
        {"affinity": fields(podAffinity=fields(labelSelector=SELECTOR, secretName=TEXT))},
        {"volumeClaim": fields(accessModes={"type": "array"}, selector=SELECTOR)},
        {"name": TEXT},
    ],
)
def test_other_shapes_say_nothing(spec: dict[str, Any]) -> None:
    """A name alone is no evidence, and neither is what a scheduler prefers."""
    assert said(**spec) == []


def test_the_scale_subresource_tells_count_and_selector() -> None:
    """Both are paths with a dot before them."""
    scale = b'{"scale":{"specReplicasPath":".spec.size","labelSelectorPath":".status.selector"}}'
    assert [rule.says for rule in rules_of_scale(MONITORS, raw(scale))] == [
        Family(wanted=path("spec.size")),
        selects("status.selector", PODS, Form.STRING),
    ]
    for odd in (
        b'{"specReplicasPath":"[0]"}',
        b'{"specReplicasPath":7}',
        b"7",
        b"null",
        b"{}",
        b"x",
    ):
        assert rules_of_scale(MONITORS, raw(b'{"scale":' + odd + b"}")) == []
        assert rules_of_scale(MONITORS, raw(odd)) == []
        assert rules_of_schema(MONITORS, raw(odd)) == []
    assert rules_of_scale(MONITORS, ABSENT) == rules_of_schema(MONITORS, ABSENT) == []


@pytest.mark.parametrize(
    ("schema", "known"),
    [
        ({"properties": {"spec": {"properties": {"replicas": {"type": "integer"}}}}}, True),
        ({"properties": {"spec": {"x-kubernetes-preserve-unknown-fields": True}}}, True),
        ({"x-kubernetes-preserve-unknown-fields": True}, True),
        ({"properties": {"spec": {"properties": {"replicas": {"type": "string"}}}}}, False),
        ({"properties": {"spec": {"properties": {"size": {"type": "integer"}}}}}, False),
        ({}, False),
    ],
)
def test_replicas_are_the_wanted_count_by_their_name(schema: dict[str, Any], known: bool) -> None:
    """Where a definition has it, or takes any fields and so may have it."""
    document = msgspec.json.encode({"openAPIV3Schema": schema})
    found = [rule.says for rule in rules_of_schema(MONITORS, raw(document))]
    counted = [one for one in found if isinstance(one, Family) and one.wanted is not None]
    assert counted == ([Family(wanted=path("spec.replicas"))] if known else [])


@pytest.mark.parametrize(
    ("schema", "known"),
    [
        ({"properties": {"spec": {"properties": {"suspend": {"type": "boolean"}}}}}, True),
        ({"properties": {"spec": {"x-kubernetes-preserve-unknown-fields": True}}}, True),
        ({"properties": {"spec": {"properties": {"suspended": {"type": "boolean"}}}}}, False),
        ({}, False),
    ],
)
def test_whether_it_waits_is_read_where_a_definition_lets_it(
    schema: dict[str, Any], known: bool
) -> None:
    """By its name, at the top of the spec."""
    document = msgspec.json.encode({"openAPIV3Schema": schema})
    found = [rule.says for rule in rules_of_schema(MONITORS, raw(document))]
    waiting = [one for one in found if isinstance(one, Family) and one.suspend is not None]
    assert waiting == ([Family(suspend=path("spec.suspend"))] if known else [])


COUNT: dict[str, Any] = {"type": "integer"}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param(
            {"nodeSets": {"type": "array", "items": fields(name=TEXT, count=COUNT)}},
            ["spec.nodeSets[*].count"],
            id="a-list",
        ),
        pytest.param(
            {"pools": {"type": "object", "additionalProperties": fields(size=COUNT)}},
            ["spec.pools[*].size"],
            id="a-map",
        ),
        pytest.param(
            {
                "datacenter": fields(
                    racks={"type": "array", "items": fields(name=TEXT, members=COUNT)},
                    sidecar=fields(replicas=COUNT),
                )
            },
            ["spec.datacenter.racks[*].members"],
            id="a-list-of-a-part",
        ),
        pytest.param(
            {"store": fields(replicas=COUNT), "router": fields(replicas=COUNT)},
            ["spec.store.replicas", "spec.router.replicas"],
            id="named-parts",
        ),
        pytest.param({"size": COUNT, "days": COUNT}, ["spec.size"], id="of-itself"),
        pytest.param(
            {"clusterSize": COUNT, "numPeers": COUNT, "workerCount": COUNT, "dayCount": COUNT},
            ["spec.clusterSize", "spec.numPeers", "spec.workerCount"],
            id="by-the-words-of-its-name",
        ),
        pytest.param({"store": fields(replicas=TEXT, disk=COUNT)}, [], id="no-count"),
    ],
)
def test_parts_say_how_many_they_want(spec: dict[str, Any], expected: list[str]) -> None:
    """By the names that such fields have, right below the spec."""
    assert said(**spec) == ([Family(pools=tuple(map(path, expected)))] if expected else [])


def test_any_part_may_say_it_where_a_definition_takes_any_fields() -> None:
    """Nobody describes them, and yet they are there."""
    open_ = {"x-kubernetes-preserve-unknown-fields": True}
    for schema in (open_, {"properties": {"spec": open_}}):
        (pools,) = [
            rule.says.pools
            for rule in read(schema)
            if isinstance(rule.says, Family) and rule.says.pools
        ]
        parts = tuple(path(f"spec[*].{name}") for name in POOLS)
        assert pools == tuple(path(f"spec.{name}") for name in SIZES) + parts


def test_any_field_may_tell_of_a_thing_outside_where_a_definition_takes_any() -> None:
    """Each that it is known by; of those that are described the first alone."""
    open_ = {"x-kubernetes-preserve-unknown-fields": True}
    both = {"properties": {"spec": fields(providerID=TEXT, deletionPolicy=TEXT)}}
    named = "spec.deletionPolicy", "spec.reclaimPolicy", "spec", "spec.providerID"
    ids = "status.providerID", "status.selfLink", "status.arn", "status[*].arn"
    known = [path(one) for one in ("spec.managementPolicies", *named, *ids, "spec.prune")]
    for schema, expected in ((open_, known), (both, known[1:2])):
        told = [rule.says for rule in read(schema) if isinstance(rule.says, Outside)]
        assert told == [Outside(field) for field in expected]


@pytest.mark.parametrize(
    ("status", "steps"),
    [
        pytest.param(fields(arn=TEXT), ("arn",), id="itself"),
        pytest.param(fields(phase=TEXT, made=fields(arn=TEXT)), ("made", "arn"), id="in-a-part"),
        pytest.param(fields(made=fields(of=fields(arn=TEXT))), (), id="of-a-part-of-a-part"),
        pytest.param(fields(arn={"type": "object"}), (), id="no-text"),
        pytest.param(TEXT, (), id="no-fields"),
    ],
)
def test_a_status_may_name_a_thing_outside_in_the_words_of_its_provider(
    status: Any, steps: tuple[str, ...]
) -> None:
    """What becomes of it comes first, where the spec says so."""
    found = [Outside(FieldPath(("status", *steps)))] if steps else []
    policy = {"properties": {"spec": fields(deletionPolicy=TEXT), "status": status}}
    for schema, expected in (
        ({"properties": {"status": status}}, found),
        (policy, [Outside(path("spec.deletionPolicy"))]),
    ):
        assert [rule.says for rule in read(schema) if isinstance(rule.says, Outside)] == expected


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("destroyResourcesOnDeletion", True),
        ("dropOnDelete", True),
        ("deleteClusterOnRemoval", True),
        ("preserveResourcesOnDeletion", True),
        ("preventDestroyOnDeletion", False),
        ("deleteAfterDays", False),
        ("droppedOnDelete", False),
    ],
)
def test_a_yes_or_no_says_by_its_name_what_becomes_of_a_thing_outside(
    name: str, *, told: bool
) -> None:
    """That it goes with the object; a text of that name says nothing, and a policy says more."""
    spec = fields(**{name: {"type": "boolean"}}, providerID=TEXT)
    found = [r.says for r in read({"properties": {"spec": spec}}) if isinstance(r.says, Outside)]
    asked = [Outside(path(f"spec.{name}"))] if told else []
    assert found == [*asked, Outside(path("spec.providerID"))]
    for other in (fields(**{name: TEXT}), fields(deletionPolicy=TEXT, **spec["properties"])):
        rules = read({"properties": {"spec": other}})
        assert Outside(path(f"spec.{name}")) not in [one.says for one in rules]


@pytest.mark.parametrize("where", ["spec", "status"])
def test_an_id_tells_of_a_thing_outside_wherever_its_maker_writes_it(where: str) -> None:
    """What was asked for has it in its spec, what was made in its status; not any other field."""
    for name, expected in (("providerID", [Outside(path(f"{where}.providerID"))]), ("image", [])):
        schema = {"properties": {where: fields(**{name: TEXT})}}
        assert [one.says for one in read(schema) if isinstance(one.says, Outside)] == expected


def test_a_scale_subresource_stands_against_the_name() -> None:
    """What says which field counts is believed before a name that only suggests it."""
    spec = {"properties": {"replicas": {"type": "integer"}, "size": {"type": "integer"}}}
    definition = {
        "spec": {
            "group": "m.example.org",
            "names": {"kind": "Monitor", "plural": "monitors"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "subresources": {"scale": {"specReplicasPath": ".spec.size"}},
                    "schema": {"openAPIV3Schema": {"properties": {"spec": spec}}},
                }
            ],
        }
    }
    thing = Trimmer().trim(
        msgspec.json.encode({"metadata": {"name": "monitors.m.example.org"}, **definition}),
        CRDS,
        Gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
    )
    assert isinstance(thing.facts, CrdFacts)
    assert [rule.says for rule in thing.facts.rules] == [Family(wanted=path("spec.size"))]


def test_what_several_rules_tell_of_one_field_is_all_kept() -> None:
    """A spec that takes any fields may say how many members it wants, and what goes with it."""
    spec = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "schema": {"openAPIV3Schema": fields(spec=spec)}}
    definition = {
        "group": MONITORS.group, "scope": "Namespaced", "versions": [version],
        "names": {"plural": MONITORS.plural, "kind": "Monitor"},
    }  # fmt: skip
    thing = Trimmer().trim(
        msgspec.json.encode({"metadata": {"name": str(MONITORS)}, "spec": definition}),
        CRDS,
        Gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
    )
    assert isinstance(thing.facts, CrdFacts)
    told = {type(one.says) for one in thing.facts.rules if one.name == f"{MONITORS} spec"}
    assert told == {Family, Outside, Open}


def test_rules_of_one_definition_are_bounded_and_the_nearest_are_kept() -> None:
    """What is nested deep is the likeliest to be of somebody else's types."""
    many = {f"part{at}": fields(deep=fields(secretName=TEXT)) for at in range(2 * RULES)}
    assert len(rules(**many, secretName=TEXT)) == RULES
    found = said(**many, secretName=TEXT)
    assert found[0] == refers("spec.secretName", SECRETS)


def called(schema: Any) -> list[str]:
    """Return the fields of a schema that kinds are held against."""
    (says,) = (rule.says for rule in read(schema) if isinstance(rule.says, Called))
    return [str(one) for one in says.fields]


def test_fields_that_may_hold_a_name_are_held_against_kinds_later() -> None:
    """Texts, and objects with a name and no kind; at the top of a spec and one below, or in lists.

    Which kinds there are, one definition does not know.
    """
    spec = fields(
        project=TEXT, size={"type": "integer"}, target=fields(name=TEXT),
        owner=fields(kind=TEXT, name=TEXT), pools={"type": "array", "items": TEXT},
        rules={"type": "array", "items": fields(queue=TEXT, deep=fields(below=TEXT))},
        part=fields(queue=TEXT),
    )  # fmt: skip
    assert called(fields(spec=spec)) == [
        "spec.project", "spec.target", "spec.pools", "spec.target.name", "spec.owner.kind",
        "spec.owner.name", "spec.rules[*].queue", "spec.part.queue",
    ]  # fmt: skip
    many = {f"field{at}": TEXT for at in range(2 * NAMING)}
    assert len(called(fields(spec=fields(**many)))) == NAMING


def test_fields_of_a_status_may_hold_a_name_or_a_number_that_is_one() -> None:
    status = fields(
        identity=fields(id={"type": "integer"}, labels={"type": "array", "items": TEXT}),
        count={"type": "integer"},
    )
    assert called(fields(status=status)) == ["status.identity"]


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        pytest.param({OPEN: True}, [Open()], id="any fields"),
        pytest.param({**fields(secretName=TEXT), OPEN: True}, [Open()], id="some are described"),
        pytest.param(fields(part={OPEN: True}, size=TEXT), [Open()], id="a part of it"),
        pytest.param(fields(part=fields(name=TEXT)), [], id="all are described"),
    ],
)
def test_of_a_spec_that_takes_any_fields_its_objects_tell(
    spec: dict[str, Any], told: list[Open]
) -> None:
    """Where it describes some, the objects tell of the others."""
    schema = fields(spec=spec)
    assert [rule.says for rule in read(schema) if isinstance(rule.says, Open)] == told


def test_of_a_definition_that_takes_any_fields_its_objects_tell() -> None:
    told = read({"type": "object", OPEN: True})
    assert [rule.says for rule in told if isinstance(rule.says, Open)] == [Open()]


@pytest.mark.parametrize(
    ("field", "of", "key"),
    [
        ("apiTokenSecretRef", SECRETS, True),
        ("tlsConfigMapKeyRef", CONFIG_MAPS, True),
        ("credential", SECRETS, True),
        ("passwordSecretRef", SECRETS, False),
    ],
)
def test_a_word_may_say_what_a_secret_is_for(field: str, of: Resource, *, key: bool) -> None:
    """Before the end of the name; a name and a key, and nothing else, are of a Secret's entry."""
    inner = {"name": TEXT, "key": TEXT} if key else {"name": TEXT}
    at = f"spec.{field}.key" if key else ""
    assert said(**{field: fields(**inner)}) == [refers(f"spec.{field}.name", of, key=at)]


def test_a_text_may_say_what_a_secret_is_for() -> None:
    assert said(tlsSecretName=TEXT, tlsMapName=TEXT) == [refers("spec.tlsSecretName", SECRETS)]
    assert said(rules=fields(name=TEXT, key=TEXT, value=TEXT)) == []


def test_a_selector_is_of_what_its_own_kind_is_called_after() -> None:
    """As in a monitor of Services, which selects namespaces by name."""
    monitors = Resource("mon.example.com", "servicemonitors")
    by_name = fields(any={"type": "boolean"}, matchNames={"type": "array", "items": TEXT})
    schema = fields(spec=fields(selector=SELECTOR, namespaceSelector=by_name))
    told = rules_of_schema(monitors, raw(msgspec.json.encode({"openAPIV3Schema": schema})))
    found = [rule.says for rule in told if isinstance(rule.says, Selects)]
    chosen = selects("spec.selector", SERVICES, Form.LABEL_SELECTOR)
    assert found == [replace(chosen, namespaces=path("spec.namespaceSelector"), by_name=True)]


def test_deep_schemas_are_left_alone() -> None:
    """A schema that is nested without end is no schema."""
    deep: dict[str, Any] = fields(secretName=TEXT)
    for _ in range(60):
        deep = fields(below=deep)
    assert said(**deep["properties"]) == []
    endless = b'{"items":' * 5000 + b"{}" + b"}" * 5000
    assert rules_of_schema(MONITORS, raw(b'{"openAPIV3Schema":' + endless + b"}")) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["string", "object", "array"]),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "properties",
                    "items",
                    "additionalProperties",
                    "secretName",
                    "secretRef",
                    "name",
                    "selector",
                    "matchLabels",
                    "Selector",
                    "imagePullSecrets",
                ]
            ),
            below,
            max_size=5,
        )
    ),
    max_leaves=30,
)


@given(JSON)
def test_any_json_is_read_without_complaint(schema: Any) -> None:
    """A definition of odd shape tells nothing, and is no error."""
    for rule in read(schema):
        assert rule.discovered


REFERENCES = {"type": "array", "items": fields(apiVersion=TEXT, kind=TEXT, name=TEXT, uid=TEXT)}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param(fields(resourceRefs=REFERENCES), ["spec.resourceRefs[*]"], id="list"),
        pytest.param(fields(kept=fields(refs=REFERENCES)), ["spec.kept.refs[*]"], id="deeper"),
        pytest.param(fields(ref=REFERENCES["items"]), [], id="one"),
        pytest.param(
            fields(refs={"type": "array", "items": fields(kind=TEXT, name=TEXT)}), [], id="part"
        ),
        pytest.param(
            {**fields(size=TEXT), "x-kubernetes-preserve-unknown-fields": True}, ["spec[*][*]"],
            id="any",
        ),
    ],
)  # fmt: skip
def test_lists_of_objects_by_type_and_name_are_read(spec: Any, expected: list[str]) -> None:
    """What an item has tells it, whatever the list is called."""
    found = [r.says for r in read(fields(spec=spec)) if isinstance(r.says, Family) and r.says.lists]
    assert [str(one) for family in found for one in family.lists] == expected


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        pytest.param(fields(prune={"type": "boolean"}), True, id="yes or no"),
        pytest.param(fields(prune=TEXT), False, id="text"),
        pytest.param({"x-kubernetes-preserve-unknown-fields": True}, True, id="any fields"),
        pytest.param(fields(other=TEXT), False, id="not described"),
    ],
)
def test_whether_it_prunes_is_read_where_a_definition_lets_it(spec: object, told: bool) -> None:
    """It is a yes or no there, or any field may be there; of these only a no is read."""
    found = [one.says for one in read({"properties": {"spec": spec}})]
    assert (Outside(path("spec.prune")) in found) is told
