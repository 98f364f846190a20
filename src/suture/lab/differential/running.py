"""What runs in a world, and the ground that all of a world is built on: dice, names, owners.

Apart from `worlds`, which says what there is and how likely: here is how the workloads look.
"""

from __future__ import annotations

from random import Random
from typing import Any

from suture.lab import nodes
from suture.lab.clusters.chance import dice as chance
from suture.lab.clusters.chance import uid as made_uid
from suture.lab.differential.writes import Body, Create, OwnedBy, Write
from suture.lab.scenarios.shapes import parts

GROUP = "differential.test"
NODE = "node-0"


def prefix_of(seed: int, number: int) -> str:
    """Return what a world's cluster-wide names begin with."""
    return f"d{seed}-{number}-"


class Ground:
    """The dice of one world, and what they have made so far."""

    def __init__(self, seed: int, number: int) -> None:
        self.seed, self.number = seed, number
        self.dice: Random = chance(seed, "world", number)
        prefix = prefix_of(seed, number)
        self.prefix = prefix
        self.spaces = [f"{prefix}a"] + ([f"{prefix}b"] if self.dice.random() < 0.35 else [])
        self.first: list[Create] = []
        self.then: list[Write] = []
        self.probed: list[str] = []
        self.may_own: list[OwnedBy] = []
        self.budgeted = False

    def add(self, *bodies: Body, owners: tuple[OwnedBy, ...] = ()) -> None:
        """Have objects made, in this order."""
        self.first += [Create(body, owners) for body in bodies]

    def space(self) -> str:
        """Draw one of the world's namespaces."""
        return self.dice.choice(self.spaces)

    def owners(self, space: str) -> tuple[OwnedBy, ...]:
        """Draw owners that a thing of `space` may have; one at least of them lives."""
        near = [one for one in self.may_own if one.place in {"", space}]
        if not space:
            near = [one for one in near if not one.place]
        if not near:
            return ()
        wanted = self.dice.choices([0, 1, 2], [3, 5, 3])[0]
        found = self.dice.sample(near, min(wanted, len(near)))
        if found and self.dice.random() < 0.15:
            far = [one for one in self.may_own if one.place not in {"", space}]
            stranger = OwnedBy("v1", "ConfigMap", "never", space, self.uid(space, "never"))
            found.append(self.dice.choice([stranger, *far]))
        return tuple(found)

    def uid(self, *place: object) -> str:
        """Return a uid that nothing has."""
        return made_uid(self.seed, self.number, *place)


class Running(Ground):
    """The workloads of a world."""

    def labels(self, app: str) -> dict[str, str]:
        """Draw the labels of an app's pods."""
        return {"app": app, "tier": self.dice.choice("xy")}

    def pods(self, app: str, **more: Any) -> Body:
        """Draw a template; pods of some are never Ready."""
        annotations = {nodes.NEVER_READY: "true"} if self.dice.random() < 0.08 else None
        return parts.template(self.labels(app), annotations=annotations, **more)

    def served_deployment(self) -> None:
        """Make a Deployment with a Service or two, and who depends on them."""
        space = self.spaces[0]
        self.deployment("web", space)
        self.add(parts.service(space, "web", {"app": "web"}, selector={"app": "web"}))
        if self.dice.random() < 0.3:
            tier = {"tier": self.dice.choice("xy")}
            self.add(parts.service(space, "tier", {"app": "web"}, selector=tier))
        if self.dice.random() < 0.2:
            self.add(parts.service(space, "twin", {"app": "web"}, selector={"app": "web"}))
        if self.dice.random() < 0.3:
            self.add(parts.ingress(space, "web", {"app": "web"}, service="web"))
        if self.dice.random() < 0.5:
            allows: Body = self.dice.choice(
                [{"minAvailable": 1}, {"maxUnavailable": 1}, {"minAvailable": "50%"},
                 {"maxUnavailable": 0}]
            )  # fmt: skip
            self.add(self.budget(space, "web", allows))
            self.budgeted = True
        if self.dice.random() < 0.2:
            self.add(self.autoscaler(space, "web"))

    def budget(self, space: str, app: str, allows: Body) -> Body:
        """Return a budget for an app's pods."""
        spec = {"selector": {"matchLabels": {"app": app}}, **allows}
        return parts.thing("policy/v1", "PodDisruptionBudget", app, space, spec=spec)

    def autoscaler(self, space: str, name: str) -> Body:
        """Return an autoscaler of a Deployment."""
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
        # WHY so wide: it must leave alone what the cases scale.
        spec = {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 20}
        return parts.thing("autoscaling/v2", "HorizontalPodAutoscaler", name, space, spec=spec)

    def deployment(self, app: str = "db", space: str = "") -> None:
        """Make a Deployment of one to four pods, of any strategy."""
        strategy = self.dice.choice(
            [None, None, {"type": "Recreate"},
             {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}]
        )  # fmt: skip
        more: Body = {} if strategy is None else {"strategy": strategy}
        if self.dice.random() < 0.1:
            more["paused"] = True
        if self.dice.random() < 0.25:
            more["revisionHistoryLimit"] = self.dice.randrange(2)
        space = space or self.space()
        body = parts.workload(
            "Deployment", space, app, self.labels(app), self.pods(app),
            replicas=self.dice.randrange(5), more=more,
        )  # fmt: skip
        self.add(body, owners=self.owners(space)[:1])
        self.may_own.append(OwnedBy("apps/v1", "Deployment", app, space))

    def replica_set(self) -> None:
        """Make a ReplicaSet that no Deployment keeps."""
        space = self.space()
        replicas = self.dice.randrange(1, 4)
        self.add(
            parts.workload(
                "ReplicaSet", space, "lone", {"app": "lone"}, self.pods("lone"), replicas=replicas
            ),
            owners=self.owners(space)[:1],
        )

    def stateful(self) -> None:
        """Make a StatefulSet with its Service; claims follow it, or stay."""
        space, replicas = self.space(), self.dice.randrange(1, 4)
        update = self.dice.choice(
            [{"type": "RollingUpdate"}, {"type": "OnDelete"},
             {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}]
        )  # fmt: skip
        more: Body = {
            "serviceName": "set",
            "podManagementPolicy": self.dice.choice(["Parallel", "OrderedReady"]),
            "updateStrategy": update,
        }
        if self.dice.random() < 0.5:
            storage = f"{self.prefix}disk"
            # WHY so many: who loses a claim needs a volume for the next, and nobody makes any.
            self.add(*[self.volume(f"{storage}-{n}", storage) for n in range(2 * replicas + 3)])
            more["volumeClaimTemplates"] = [
                {"metadata": {"name": "data"}, "spec": self.claim_spec(storage)}
            ]
            keep = self.dice.choice([None, ("Delete", "Retain"), ("Retain", "Delete")])
            if keep is not None:
                more["persistentVolumeClaimRetentionPolicy"] = {
                    "whenDeleted": keep[0], "whenScaled": keep[1],
                }  # fmt: skip
        headless = {"clusterIP": "None"}
        self.add(
            parts.service(space, "set", {"app": "set"}, selector={"app": "set"}, more=headless)
        )
        self.add(
            parts.workload(
                "StatefulSet", space, "set", self.labels("set"), self.pods("set"),
                replicas=replicas, more=more,
            )
        )  # fmt: skip

    def daemon(self) -> None:
        """Make a DaemonSet of one pod."""
        space = self.space()
        update = self.dice.choice([{"type": "RollingUpdate"}, {"type": "OnDelete"}])
        self.add(
            parts.workload(
                "DaemonSet", space, "agent", self.labels("agent"),
                self.pods("agent", node_selector={"kubernetes.io/hostname": NODE}),
                replicas=None, more={"updateStrategy": update},
            )
        )  # fmt: skip

    def jobs(self) -> None:
        """Make a suspended CronJob that has a Job, and a Job of nobody; one of them runs."""
        space = self.space()
        runs = {nodes.COMPLETES_AFTER: "24h"}
        pods = parts.template({"app": "job"}, annotations=runs, restart="Never")
        done = parts.template({"app": "job"}, restart="Never")
        spec = {
            "schedule": "0 0 1 1 *",
            "suspend": True,
            "jobTemplate": {"spec": {"template": done}},
        }
        self.add(parts.thing("batch/v1", "CronJob", "cron", space, {"app": "job"}, spec=spec))
        owner = OwnedBy("batch/v1", "CronJob", "cron", space)
        for name, template, owners in (("cron-1", done, (owner,)), ("lone-job", pods, ())):
            body = parts.thing(
                "batch/v1", "Job", name, space, {"app": "job"}, spec={"template": template}
            )
            self.add(body, owners=owners)

    def bare_pods(self) -> None:
        """Make a pod or two that nobody keeps, some behind the Service of others."""
        for number in range(self.dice.randrange(1, 3)):
            # LIMIT: not under a budget: one by share does not count pods that nobody keeps, and its
            # status of none is not told from one that is not written yet.
            apps = ["db", "bare"] if self.budgeted else ["web", "db", "bare"]
            space, app = self.space(), self.dice.choice(apps)
            self.add(
                parts.pod(space, f"bare-{number}", self.pods(app)), owners=self.owners(space)[:1]
            )

    def claim_spec(self, storage: str) -> Body:
        """Return the spec of a claim on a class."""
        return {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": storage,
            "resources": {"requests": {"storage": "1Gi"}},
        }

    def volume(self, name: str, storage: str) -> Body:
        """Return a volume that one claim can have."""
        return parts.thing(
            "v1",
            "PersistentVolume",
            name,
            spec={
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "persistentVolumeReclaimPolicy": "Retain",
                "storageClassName": storage,
                "csi": {"driver": GROUP, "volumeHandle": name},
            },
        )
