"""Scenarios without a control plane come out as their files say, through the same lines as live."""

from __future__ import annotations

from pathlib import Path

import pytest

from suture.lab.scenarios.offline.place import judge_offline
from suture.lab.scenarios.reading import BUNDLED, find, load
from suture.lab.scenarios.report import GuardMode, Report

NAMES = sorted(path.stem for path in BUNDLED.glob("*.yaml"))
BALANCERS = ["load-balancer-operator", "load-balancer-nil-selector"]
BENIGN = [
    "collection-by-label",
    "helm-upgrade-200",
    "load-balancer-twin",
    "rollout-500",
    "service-rename-30",
]


def told(report: Report) -> str:
    """Return a report in words, for a test that fails."""
    return "; ".join([report.void_reason, *report.reasons[:3], *report.unreached, *report.notes])


@pytest.mark.parametrize("authorizer", [True, False], ids=["authorizer", "admission-alone"])
@pytest.mark.parametrize("name", NAMES)
def test_guarded_it_comes_out_as_its_file_says(name: str, authorizer: bool) -> None:
    """Every bundled file, with the authorizer and without it."""
    report = judge_offline(load(find(name)), "enforce", authorizer=authorizer, replayed=False)

    assert report.expected, told(report)
    assert (report.place, report.added_latency_ms) == ("offline", None)
    assert report.would_refuse == report.refused
    if name in BENIGN:
        assert (report.verdict, report.refused, report.harm.lost) == ("passed", 0, 0)


@pytest.mark.parametrize("mode", ["off", "observe"])
@pytest.mark.parametrize("name", BALANCERS)
def test_without_enforcement_the_incident_does_its_harm(name: str, mode: str) -> None:
    """Every Service goes, and then no pod can be created; observed, it is known what would help."""
    report = judge_offline(load(find(name)), "off" if mode == "off" else "observe", replayed=False)

    assert report.expected, told(report)
    # WHY one less when observed: Suture's own Service is guarded in-process in every stage.
    spared = 1 if mode == "observe" else 0
    assert report.harm.lost == report.harm.population - spared
    assert report.harm.population >= 1000
    assert report.harm.probes["pod_creation_blocked"] >= 100
    assert (report.would_refuse > 90) is (mode == "observe")


def test_one_by_one_ten_of_a_thousand_go() -> None:
    """At most what the budget allows, and nothing that a webhook needs."""
    report = judge_offline(load(find("load-balancer-operator")), "enforce", replayed=False)

    assert 0 < report.harm.lost <= 10
    assert report.bound == 10
    assert report.harm.probes == {"pod_creation_blocked": 0}
    lost = report.harm.by_kind["services"].examples
    assert not any("pod-policy" in one or "pod-injector" in one or "suture" in one for one in lost)


@pytest.mark.parametrize("authorizer", [True, False], ids=["authorizer", "admission-alone"])
def test_a_nil_selector_deletes_nothing(authorizer: bool) -> None:
    """Not one Service of a thousand, whether the selector is seen or not."""
    report = judge_offline(
        load(find("load-balancer-nil-selector")),
        "enforce",
        authorizer=authorizer,
        replayed=False,
    )

    assert report.harm.lost == 0
    assert report.harm.probes == {"pod_creation_blocked": 0}


def test_every_verb_is_known() -> None:
    """A stranger's file with all of them runs through, as it does on the lab."""
    report = judge_offline(load(Path(__file__).parent / "data" / "verbs.yaml"), "enforce")

    assert report.verdict == "passed", told(report)


def test_paces_cost_no_time_and_windows_count_them(tmp_path: Path) -> None:
    """Ten minutes of writes are judged in seconds, and a budget's window has passed meanwhile."""
    file = tmp_path / "slow.yaml"
    file.write_text(
        """
kind: benign
cluster: {shapes: [{shape: services-with-deployments, count: 40, namespaces: [calm]}]}
actors: {operator: {serviceAccount: calm-system/operator}}
steps:
  - {by: operator, verb: create, resource: configmaps, namespaces: [calm], names: [new], body: {}}
  - {wait: 10m}
  - {verb: wait, resource: services, namespaces: [calm], names: [app-0], until: ready}
harm: {kinds: [services]}
"""
    )
    report = judge_offline(load(file), "enforce")

    assert report.verdict == "passed", told(report)
    assert report.duration_s < 60


def test_two_runs_say_the_same() -> None:
    """What is predicted twice is the same twice."""
    first, again = (
        judge_offline(load(find("load-balancer-operator")), "enforce", replayed=False) for _ in "12"
    )

    assert first.harm == again.harm
    assert (first.refused, first.first_refused_write, first.reasons) == (
        again.refused,
        again.first_refused_write,
        again.reasons,
    )


def test_budgets_count_in_the_time_of_the_story() -> None:
    """Five an hour go twice, hours apart, and then the day's ten are spent: as on the lab."""
    report = judge_offline(load(Path(__file__).parent / "data" / "hours-apart.yaml"), "enforce")

    assert (report.writes, report.refused, report.first_refused_write) == (11, 1, 11)
    assert "in 24h" in report.reasons[0]
    assert report.moved_s == 0


TENANT = """\
id: TENANT
kind: incident
title: A tenant goes, and with it the namespace that it owns
family: closure
detectable: before
cluster:
  files:
    - apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: {name: tenants.example.com}
      spec:
        group: example.com
        scope: Cluster
        names: {plural: tenants, singular: tenant, kind: Tenant, listKind: TenantList}
        versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {
          type: object, x-kubernetes-preserve-unknown-fields: true}}}]
    - {apiVersion: example.com/v1, kind: Tenant, metadata: {name: oil}, spec: {}}
    - apiVersion: v1
      kind: Namespace
      metadata:
        name: oil
        ownerReferences: [{apiVersion: example.com/v1, kind: Tenant, name: oil}]
  shapes:
    - {shape: services-with-deployments, count: 12, namespaces: [oil], replicas: 2}
actors:
  op: {serviceAccount: tenants/operator}
steps:
  - {by: op, verb: delete, resource: tenants.example.com, names: oil}
harm:
  kinds: [services]
"""


@pytest.mark.parametrize(("mode", "lost"), [("off", 12), ("enforce", 0)])
def test_a_namespace_may_be_owned_by_what_comes_after_it(
    tmp_path: Path, mode: GuardMode, lost: int
) -> None:
    """All that lies in a namespace needs it first, and its owner's uid is known only then."""
    file = tmp_path / "tenant.yaml"
    file.write_text(TENANT)

    report = judge_offline(load(file), mode, replayed=False)

    assert report.expected, told(report)
    assert report.harm.lost == lost


SCHEDULES = """\
id: SCHEDULES
kind: incident
title: An operator suspends every schedule, one a minute
family: pace
detectable: nth
cluster:
  shapes:
    - {shape: cronjobs, count: 30, namespaces: [jobs], suspend: false, schedule: "0 3 1 1 *"}
    - {shape: services-with-deployments, count: 20, namespaces: "team-{0..7}", replicas: 2}
actors:
  op: {serviceAccount: batch/operator}
steps:
  - by: op
    verb: patch
    resource: cronjobs.batch
    namespaces: [jobs]
    select: all
    over: 30m
    patch: {value: {spec: {suspend: true}}}
harm:
  probes: {writes_admitted: 20}
"""


def test_what_updates_cost_is_counted_however_slow_they_are(tmp_path: Path) -> None:
    """A minute apart each is seen, and none is given back: the hour's window holds."""
    file = tmp_path / "schedules.yaml"
    file.write_text(SCHEDULES)

    report = judge_offline(load(file), "enforce", replayed=False)

    assert report.expected, told(report)
    assert (report.writes, report.refused) == (30, 10)


@pytest.mark.parametrize(
    ("step", "why"),
    [
        pytest.param("namespaces: [shp], select: all", "nothing is selected", id="selects-nothing"),
        pytest.param(
            "namespaces: [shop], names: [a, b]", "nothing of its 2 writes", id="not-there"
        ),
        pytest.param("namespaces: [shop], names: [web-0, b]", "", id="some-are"),
        pytest.param("namespaces: [shp], verb: deletecollection", "nothing of its 1", id="empty"),
    ],
)
def test_a_step_that_writes_nothing_proves_nothing(step: str, why: str, tmp_path: Path) -> None:
    """Its run is void, so that a slip in a name does not pass for peace."""
    verb = "" if "verb:" in step else ", verb: delete"
    report = of(tmp_path, "benign", f"{{by: janitor, resource: services, {step}{verb}}}")

    assert (report.verdict == "void") is bool(why), told(report)
    assert why in report.void_reason


def test_one_of_several_steps_may_find_nothing(tmp_path: Path) -> None:
    """A delete of what may be there or not is ordinary, as of a hook that was run before."""
    steps = [
        "{by: janitor, verb: delete, resource: jobs.batch, namespaces: [shop], names: [hook]}",
        "{by: janitor, verb: delete, resource: services, namespaces: [shop], names: [web-0]}",
    ]
    assert of(tmp_path, "benign", *steps).verdict != "void"


def test_a_step_after_a_refusal_may_find_nothing(tmp_path: Path) -> None:
    """What it was about was to come of what did not happen."""
    steps = [
        "{by: janitor, verb: delete, resource: namespaces, names: [shop], guilty: true}",
        "{by: janitor, verb: delete, resource: services, namespaces: [shop], names: [gone]}",
    ]
    report = of(tmp_path, "incident", *steps)

    assert report.verdict == "stopped", told(report)


def test_what_a_step_made_may_go_with_its_owner(tmp_path: Path) -> None:
    """It was to stay as long as what owns it: that it goes along is no lost end."""
    thing = "by: janitor, verb: create, resource: configmaps, namespaces: [shop]"
    owner = "{apiVersion: v1, kind: ConfigMap, name: whole, controller: true}"
    report = of(
        tmp_path,
        "benign",
        f"{{{thing}, names: [whole], body: {{data: {{}}}}}}",
        f"{{{thing}, names: [part], body: {{metadata: {{ownerReferences: [{owner}]}}}}}}",
        "{by: janitor, verb: delete, resource: configmaps, namespaces: [shop], names: [whole]}",
    )

    assert report.verdict == "passed", told(report)


def test_an_owner_that_an_update_writes_gets_its_uid(tmp_path: Path) -> None:
    """As one that is created or patched with: what is changed goes along with it."""
    thing = "resource: configmaps, namespaces: [shop]"
    owner = "{apiVersion: v1, kind: ConfigMap, name: whole, controller: true}"
    report = of(
        tmp_path,
        "benign",
        f"{{by: janitor, verb: create, {thing}, names: [whole, part], body: {{data: {{}}}}}}",
        f"{{by: janitor, verb: update, {thing}, names: [part],"
        f" body: {{metadata: {{ownerReferences: [{owner}]}}}}}}",
        f"{{by: janitor, verb: delete, {thing}, names: [whole]}}",
        f"{{verb: wait, {thing}, names: [part], until: gone, over: 30s}}",
    )

    assert report.verdict == "passed", told(report)


OWNER = "{apiVersion: v1, kind: ConfigMap, name: whole, controller: true}"


@pytest.mark.parametrize(
    "patch",
    [
        pytest.param(
            f"{{op: add, path: /metadata/ownerReferences, value: [{OWNER}]}}", id="all-of-them"
        ),
        pytest.param(
            "{op: add, path: /metadata/ownerReferences, value: []},"
            f" {{op: add, path: /metadata/ownerReferences/-, value: {OWNER}}}",
            id="one-more",
        ),
        pytest.param(
            f"{{op: replace, path: /metadata, value: {{name: part, namespace: shop,"
            f" ownerReferences: [{OWNER}]}}}}",
            id="in-its-metadata",
        ),
    ],
)
def test_an_owner_that_a_json_patch_writes_gets_its_uid(patch: str, tmp_path: Path) -> None:
    """As one that an update or a merge patch writes: what is changed goes along with it."""
    thing = "resource: configmaps, namespaces: [shop]"
    report = of(
        tmp_path,
        "benign",
        f"{{by: janitor, verb: create, {thing}, names: [whole, part], body: {{data: {{}}}}}}",
        f"{{by: janitor, verb: patch, {thing}, names: [part], patch: {{value: [{patch}]}}}}",
        f"{{by: janitor, verb: delete, {thing}, names: [whole]}}",
        f"{{verb: wait, {thing}, names: [part], until: gone, over: 30s}}",
    )

    assert report.verdict == "passed", told(report)


def test_an_owner_without_uid_is_refused_as_the_api_server_does(tmp_path: Path) -> None:
    """A patch that takes a uid away makes a run void; it ends no other."""
    thing = "resource: configmaps, namespaces: [shop]"
    report = of(
        tmp_path,
        "benign",
        f"{{by: janitor, verb: create, {thing}, names: [whole], body: {{data: {{}}}}}}",
        f"{{by: janitor, verb: create, {thing}, names: [part],"
        f" body: {{metadata: {{ownerReferences: [{OWNER}]}}}}}}",
        f"{{by: janitor, verb: patch, {thing}, names: [part],"
        " patch: {value: [{op: remove, path: /metadata/ownerReferences/0/uid}]}}",
    )

    assert report.verdict == "void"
    assert "ownerReferences[0].uid: must not be empty" in report.void_reason


def test_an_update_of_nothing_writes_the_object_as_it_is(tmp_path: Path) -> None:
    """As an operator does that comes up again; it does not take the size of a set away."""
    file = tmp_path / "again.yaml"
    file.write_text(
        """\
kind: benign
cluster: {shapes: [{shape: statefulsets, count: 1, namespaces: [data]}]}
actors: {keeper: {serviceAccount: data/keeper}}
steps:
- {by: keeper, verb: update, resource: statefulsets.apps, namespaces: [data], names: db-0, body: {}}
harm: {probes: {replicas_lost: 0}}
"""
    )
    report = judge_offline(load(file), "off")
    assert (report.verdict, report.harm.probes) == ("passed", {"replicas_lost": 0})


def test_a_controller_whose_turn_comes_last_does_not_hide_that_nothing_was_written(
    tmp_path: Path,
) -> None:
    file = tmp_path / "nothing.yaml"
    file.write_text(
        """\
kind: benign
cluster: {shapes: [{shape: services-with-deployments, count: 1, namespaces: [shop]}]}
actors: {tidy: {serviceAccount: ops/tidy}, endpoints: {controller: endpointslice-controller}}
steps:
- {by: tidy, verb: delete, resource: configmaps, namespaces: [shop], select: {labels: old=yes}}
- {by: endpoints, verb: update, resource: endpoints, namespaces: [shop], select: all, body: {}}
"""
    )
    report = judge_offline(load(file), "off")
    assert (report.verdict, report.void_reason) == (
        "void", "step 0 (delete configmaps) writes nothing: nothing is selected",
    )  # fmt: skip


def test_namespaces_keep_their_labels_whichever_shape_comes_last(tmp_path: Path) -> None:
    """Every shape brings the namespaces that it stands in, and says nothing of their labels."""
    file = tmp_path / "labels.yaml"
    file.write_text(
        """\
kind: benign
cluster:
  shapes:
  - {shape: namespaces, names: [calm], labels: {team: red}}
  - {shape: services-with-deployments, count: 1, namespaces: [calm]}
actors: {maker: {serviceAccount: tools/maker}}
steps:
- {by: maker, verb: create, resource: configmaps, namespaces: {labels: {team: red}},
   names: [here], body: {data: {}}}
harm: {kinds: [services]}
"""
    )
    report = judge_offline(load(file), "enforce", replayed=False)

    assert (report.verdict, report.writes) == ("passed", 1), told(report)


def of(folder: Path, kind: str, *steps: str) -> Report:
    """Judge what a janitor does to three Services that serve."""
    path = folder / "s.yaml"
    written = "".join(f"- {step}\n" for step in steps)
    path.write_text(
        f"kind: {kind}\n"
        "cluster:\n  shapes:\n"
        "  - {shape: services-with-deployments, count: 3, namespaces: [shop], prefix: web}\n"
        "  - {shape: services-with-deployments, count: 30, namespaces: [other]}\n"
        f"actors: {{janitor: {{serviceAccount: tools/janitor}}}}\nsteps:\n{written}"
        "harm: {kinds: [deployments.apps]}\n"
    )
    return judge_offline(load(path), "enforce", replayed=False)


@pytest.mark.parametrize("verb", ["evict", "delete"])
def test_a_pod_taken_by_name_may_have_a_successor_of_that_name(verb: str, tmp_path: Path) -> None:
    """A StatefulSet makes the next one by the same name: what was to go is gone."""
    path = tmp_path / "taken.yaml"
    path.write_text(
        "kind: benign\n"
        "cluster: {shapes: [{shape: statefulsets, count: 1, namespaces: [dbs], replicas: 3}]}\n"
        "actors: {hand: {serviceAccount: ops/hand}}\n"
        "steps:\n"
        f"  - {{by: hand, verb: {verb}, resource: pods, namespaces: [dbs], names: db-0-2}}\n"
        "  - {wait: 5m}\n"
        "harm: {probes: {pods_lost: 0}}\n"
    )
    report = judge_offline(load(path), "off", replayed=False)

    assert (report.verdict, report.unreached) == ("passed", ()), told(report)


@pytest.mark.parametrize(("kind", "refused"), [("benign", 0), ("incident", 1)])
def test_ordinary_work_that_takes_all_there_is_means_no_guard(
    kind: str, refused: int, tmp_path: Path
) -> None:
    """Without a guard nothing of it is there; a sweep takes what it finds."""
    hook = (
        "{name: a.example.com, failurePolicy: Ignore, sideEffects: None, "
        "admissionReviewVersions: [v1], clientConfig: {service: {name: gone, namespace: tools}}, "
        "rules: [{apiGroups: [batch], apiVersions: [v1], operations: [CREATE], resources: [jobs]}]}"
    )
    path = tmp_path / "hooks.yaml"
    path.write_text(
        f"kind: {kind}\n"
        "cluster:\n  shapes:\n"
        "  - {shape: services-with-deployments, count: 20, namespaces: [shop]}\n"
        "  files:\n"
        "  - {apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration,"
        f" metadata: {{name: old}}, webhooks: [{hook}]}}\n"
        "actors: {hand: {user: oncall@example.com}}\n"
        "steps:\n"
        "  - {by: hand, verb: delete, select: all,"
        " resource: validatingwebhookconfigurations.admissionregistration.k8s.io}\n"
        "harm: {kinds: [services]}\n"
    )
    report = judge_offline(load(path), "enforce", replayed=False)

    assert (report.writes, report.refused) == (1 + refused, refused), told(report)
