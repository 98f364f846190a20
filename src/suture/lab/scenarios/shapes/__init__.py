"""Named populations with parameters, and the one list of them.

A room of its own inside the scenarios because people extend it most often: a shape is a struct
whose fields are its parameters and whose docstring is its help. Pure: values in, manifests out.
"""

from __future__ import annotations

from collections.abc import Mapping

from suture.lab.scenarios.shapes.cluster import Namespaces, Nodes, Release, Webhook
from suture.lab.scenarios.shapes.custom import DELETED, CrdWithInstances, Owned
from suture.lab.scenarios.shapes.parts import Object, Shape
from suture.lab.scenarios.shapes.serving import (
    ClusterDns,
    IdleServices,
    Ingresses,
    ServicesWithDeployments,
    SlowServices,
)
from suture.lab.scenarios.shapes.storage import Claims, Configs
from suture.lab.scenarios.shapes.workloads import (
    CronJobs,
    DaemonSets,
    Deployments,
    Jobs,
    Pods,
    StatefulSets,
)

__all__ = ["DELETED", "SHAPES", "Object", "Shape"]

SHAPES: Mapping[str, type[Shape]] = {
    "services-with-deployments": ServicesWithDeployments,
    "slow-services": SlowServices,
    "idle-services": IdleServices,
    "ingresses": Ingresses,
    "cluster-dns": ClusterDns,
    "deployments": Deployments,
    "statefulsets": StatefulSets,
    "daemonsets": DaemonSets,
    "pods": Pods,
    "jobs": Jobs,
    "cronjobs": CronJobs,
    "claims": Claims,
    "configs": Configs,
    "crd-with-instances": CrdWithInstances,
    "owned": Owned,
    "webhook": Webhook,
    "release": Release,
    "namespaces": Namespaces,
    "nodes": Nodes,
}
"""Every shape by the name that files use."""
