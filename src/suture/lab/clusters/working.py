"""What makes pods in a made cluster, and what sets how many: workloads, Jobs, autoscalers, budgets.

One of the families of kinds; pods themselves are `pods`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from suture.lab.clusters.apps import App
from suture.lab.clusters.bodies import Object
from suture.lab.clusters.plan import DATABASES, listed, spread
from suture.lab.clusters.scribe import Scribe, Writer
from suture.lab.clusters.templates import job_template, template
from suture.model.names import (
    AUTOSCALERS,
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    DISRUPTION_BUDGETS,
    JOBS,
    REPLICA_SETS,
    STATEFUL_SETS,
    Resource,
)

REVISIONS = 2
"""ReplicaSets of a Deployment: the current one, and the empty one before it."""

CLAIM_GB = 100

DATABASE_LABEL = "databases.example.com/name"
"""How the database operator finds the StatefulSet of its custom resource."""


def _workloads(resource: Resource, scribe: Scribe) -> Iterator[bytes]:
    for app in listed(app for app in scribe.plan.apps if app.controller == resource):
        spec: Object = {
            "selector": {"matchLabels": dict(app.labels)},
            "template": template(scribe.plan, app),
        }
        status: Object = {"currentNumberScheduled": app.replicas}
        if resource in (DEPLOYMENTS, STATEFUL_SETS):
            spec = {"replicas": app.replicas, **spec}
            status = {"replicas": app.replicas}
        if resource == STATEFUL_SETS:
            spec |= {"serviceName": app.name, "volumeClaimTemplates": [_claim_template()]}
        labels, owners = dict(app.labels), []
        database = scribe.plan.databases.get((app.namespace, app.name))
        if database is not None:
            labels[DATABASE_LABEL] = app.name
        if database == DATABASES:
            owners.append(scribe.owner(DATABASES, app.namespace, app.name))
        meta = scribe.meta(
            resource, app.namespace, app.name, labels=labels, owners=owners, kept=database is None
        )
        yield scribe.thing(resource, meta, spec=spec, status=status)


def _claim_template() -> Object:
    return {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": f"{CLAIM_GB}Gi"}},
        },
    }


def _replica_sets(scribe: Scribe) -> Iterator[bytes]:
    plan = scribe.plan
    made = sorted(
        (app.namespace, f"{app.name}-{revision}", at, turn)
        for at, app in enumerate(plan.apps)
        if app.controller == DEPLOYMENTS
        for turn in range(REVISIONS)
        for revision in [plan.revision(app, turn)]
    )
    known, stamp = -1, template(plan, plan.apps[0])
    for namespace, name, at, turn in made:
        app = plan.apps[at]
        if at != known:  # both revisions of an app mostly follow each other
            known, stamp = at, template(plan, app)
        labels = {**app.labels, "pod-template-hash": name[len(app.name) + 1 :]}
        own = {**stamp, "metadata": {**stamp["metadata"], "labels": labels}}
        wanted = app.replicas if turn == 0 else 0
        maker = scribe.owner(DEPLOYMENTS, namespace, app.name)
        meta = scribe.meta(REPLICA_SETS, namespace, name, labels=labels, owners=[maker])
        spec = {"replicas": wanted, "selector": {"matchLabels": labels}, "template": own}
        yield scribe.thing(REPLICA_SETS, meta, spec=spec, status={"replicas": wanted})


def _jobs(scribe: Scribe) -> Iterator[bytes]:
    for run in listed(scribe.plan.runs):
        maker = scribe.owner(CRON_JOBS, run.namespace, run.cron)
        meta = scribe.meta(JOBS, run.namespace, run.name, owners=[maker])
        stamp = job_template(scribe.plan, run.namespace, run.cron)
        spec = {"parallelism": 1, "completions": 1, "template": stamp}
        ended = [{"type": "Complete", "status": "True"}] if run.finished else []
        status = {"active": 0 if run.finished else 1, "conditions": ended}
        yield scribe.thing(JOBS, meta, spec=spec, status=status)


def _cron_jobs(scribe: Scribe) -> Iterator[bytes]:
    for namespace, cron in sorted({(run.namespace, run.cron) for run in scribe.plan.runs}):
        stamp = job_template(scribe.plan, namespace, cron)
        spec = {
            "schedule": "17 3 * * *",
            "jobTemplate": {"spec": {"parallelism": 1, "completions": 1, "template": stamp}},
        }
        meta = scribe.meta(CRON_JOBS, namespace, cron, kept=True)
        yield scribe.thing(CRON_JOBS, meta, spec=spec)


def _autoscalers(scribe: Scribe) -> Iterator[bytes]:
    for app, name in _of_deployments(scribe, scribe.plan.size.autoscalers):
        spec = {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": app.name},
            "minReplicas": 1,
            "maxReplicas": max(3, app.replicas * 2),
        }
        meta = scribe.meta(AUTOSCALERS, app.namespace, name, kept=True)
        status = {"currentReplicas": app.replicas, "desiredReplicas": app.replicas}
        yield scribe.thing(AUTOSCALERS, meta, spec=spec, status=status)


def _of_deployments(scribe: Scribe, count: int) -> Iterator[tuple[App, str]]:
    apps = scribe.plan.apps
    chosen = [app for app in apps if app.controller == DEPLOYMENTS and not app.platform]
    found = [(app, name) for app, name, _ in spread(count, chosen)]
    return iter(sorted(found, key=lambda one: (one[0].namespace, one[1])))


def _budgets(scribe: Scribe) -> Iterator[bytes]:
    plan = scribe.plan
    teams = [app for app in plan.apps if not app.platform]
    made = [(app, name) for app, name, _ in spread(plan.size.disruption_budgets, teams)]
    for app, name in sorted(made, key=lambda one: (one[0].namespace, one[1])):
        ready = sum(pod.ready for pod in plan.pods_of(app))
        floor: Object = {"maxUnavailable": 1}
        if app.replicas > 3:
            floor = {"minAvailable": "80%"}
        wanted = app.replicas - 1 if app.replicas <= 3 else -(-app.replicas * 4 // 5)
        status = {
            "currentHealthy": ready,
            "desiredHealthy": wanted,
            "expectedPods": app.replicas,
            "disruptionsAllowed": max(0, ready - wanted),
        }
        meta = scribe.meta(DISRUPTION_BUDGETS, app.namespace, name, labels=app.labels, kept=True)
        spec = {**floor, "selector": {"matchLabels": dict(app.labels)}}
        yield scribe.thing(DISRUPTION_BUDGETS, meta, spec=spec, status=status)


WRITERS: Mapping[Resource, Writer] = {
    **{
        resource: partial(_workloads, resource)
        for resource in (DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS)
    },
    REPLICA_SETS: _replica_sets,
    JOBS: _jobs,
    CRON_JOBS: _cron_jobs,
    AUTOSCALERS: _autoscalers,
    DISRUPTION_BUDGETS: _budgets,
}
