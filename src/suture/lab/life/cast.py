"""Who lives in the lab, under which identity, and which controllers act for them.

Lives apart from the actors, which know no identities, and from the run, which knows no work.
"""

from __future__ import annotations

from suture.lab.identities import Identity, Person, ServiceAccount
from suture.lab.life.actor import Actor
from suture.lab.life.actors.backup import Backup
from suture.lab.life.actors.batch import Batch
from suture.lab.life.actors.certificates import Certificates
from suture.lab.life.actors.ci import Pipeline
from suture.lab.life.actors.consolidator import Consolidator
from suture.lab.life.actors.deployer import Deployer
from suture.lab.life.actors.drainer import Drainer
from suture.lab.life.actors.gitops import GitOps
from suture.lab.life.actors.person import Person as Somebody
from suture.lab.life.actors.rings import RingOperator, RingOwner

# INVARIANT: the operator defines its kind before the team that uses it asks for any.
CAST: dict[str, tuple[Identity, type[Actor]]] = {
    "deployer": (ServiceAccount("delivery", "deployer"), Deployer),
    "batch": (ServiceAccount("batch-system", "runner"), Batch),
    "drainer": (ServiceAccount("kube-system", "drainer"), Drainer),
    "consolidator": (ServiceAccount("kube-system", "consolidator"), Consolidator),
    "certificates": (ServiceAccount("certificates-system", "rotator"), Certificates),
    "ci": (ServiceAccount("ci", "pipeline"), Pipeline),
    "gitops": (ServiceAccount("gitops-system", "applier"), GitOps),
    "ring-operator": (ServiceAccount("rings-system", "operator"), RingOperator),
    "ring-owner": (Person("ring-owner@example.com", ("developers",)), RingOwner),
    "backup": (ServiceAccount("backup-system", "backup"), Backup),
    "person": (Person("somebody@example.com", ("developers",)), Somebody),
}
"""Everybody, each with rights to all of the cluster: what stops one is to be Suture alone."""

CONTROLLERS = (
    "cronjob-controller",
    "daemon-set-controller",
    "deployment-controller",
    "disruption-controller",
    "endpointslice-controller",
    "generic-garbage-collector",
    "horizontal-pod-autoscaler",
    "job-controller",
    "namespace-controller",
    "node-controller",
    "persistent-volume-binder",
    "pod-garbage-collector",
    "pv-protection-controller",
    "pvc-protection-controller",
    "replicaset-controller",
    "resourcequota-controller",
    "root-ca-cert-publisher",
    "service-account-controller",
    "statefulset-controller",
    "ttl-after-finished-controller",
)
"""SOURCE: kube-controller-manager runs each with the service account of its name in kube-system."""
