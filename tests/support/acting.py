"""Proof that the controllers of a control plane act, for tests that come after a disturbance.

A controller that found no API server some times in a row looks again after up to a minute (client-go:
30 s of backoff and as much jitter), each of its watches for itself, and the waits grow with each
disturbance within two minutes. What needs two of them adds them up, and what fails meanwhile is tried
again after twice the time each. Measured after the third restart of an API server within a minute:
46 s until a namespace had its service account, 60 s until there was a pod; and 300 s were not always
enough. Begun anew they wait for nothing: with controllers and scheduler restarted the same pod was
there after 1 s in each of four rounds. What waits for a controller next would be measuring the test
before it.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator

from support.recorder import until
from suture.lab.plane import Plane
from suture.lab.rest import Object

LIMIT_S = 300.0
"""LIMIT: five watches that wait one for the other (Deployment, ReplicaSet, scheduler, node, slices),
each up to 30 s of backoff and as much jitter (client-go's reflector); of the nodes alone where the
others are begun anew."""

BEGUN_ANEW = "kube-controller-manager", "kube-scheduler"
"""WHY not the nodes' agent: another one takes its nodes only when the leases of the first end."""

LINE_LIMIT = 400
"""LIMIT: characters of a program's line; KWOK's are of JSON, and half of one is where it is from."""

_numbers = itertools.count(1)


def controllers_act(plane: Plane) -> None:
    """Wait until a Deployment's pod is Ready behind a Service, and its namespace can go again.

    Controllers and scheduler are begun anew first, so that none of them waits for the last test.
    """
    for program in BEGUN_ANEW:
        plane.restart(program)
    name = f"acting-{next(_numbers)}"
    admin, home = plane.admin, f"/api/v1/namespaces/{name}"
    labels = {"app": name}
    admin.create("/api/v1/namespaces", {"metadata": {"name": name}})
    service: Object = {
        "metadata": {"name": name},
        "spec": {"selector": labels, "ports": [{"port": 80}]},
    }
    # WHY no grace: the namespace controller looks again only after half of its pods' longest.
    spec = {
        "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "main", "image": "none"}],
    }
    template = {"metadata": {"labels": labels}, "spec": spec}
    deployment: Object = {
        "metadata": {"name": name},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
    }
    admin.create(f"{home}/services", service)
    admin.create(f"/apis/apps/v1/namespaces/{name}/deployments", deployment)
    slices = f"/apis/discovery.k8s.io/v1/namespaces/{name}/endpointslices"

    def serving() -> bool:
        return any(
            endpoint.get("conditions", {}).get("ready")
            for one in admin.get(slices)["items"]
            for endpoint in one.get("endpoints") or ()
        )

    with told_where(plane, name):
        until("controllers, scheduler and kubelet to act again", serving, limit_s=LIMIT_S)
        admin.delete(home)
        until(f"{name} to be gone", lambda: not admin.exists(home), limit_s=LIMIT_S)


@contextlib.contextmanager
def told_where(plane: Plane, namespace: str) -> Iterator[None]:
    """Add to a wait that fails how far the namespace's objects have come."""
    try:
        yield
    except AssertionError as error:
        error.add_note(standing(plane, namespace))
        raise


def standing(plane: Plane, name: str) -> str:
    """Return what each program last said, and how far a namespace's objects have come.

    The objects last: where only the end of a long output is kept, they are what is looked for.
    """
    lines = []
    for program in ("kwok", "kube-scheduler", "kube-controller-manager"):
        said = plane.log(program).splitlines()[-25:]
        lines += [f"{program}: {line[:LINE_LIMIT]}" for line in said]
    home = f"/api/v1/namespaces/{name}"
    apps = f"/apis/apps/v1/namespaces/{name}"
    lines += [
        f"{one['lastTimestamp']} {one['reason']}: {one['message']}"
        for one in plane.admin.get(f"{home}/events")["items"]
    ]
    for path in (f"{home}/serviceaccounts", f"{home}/endpoints"):
        lines += [f"{path}: {one['metadata']['name']}" for one in plane.admin.get(path)["items"]]
    for path in (f"{apps}/deployments", f"{apps}/replicasets", f"{home}/pods"):
        lines += [f"{path}: {one.get('status')}" for one in plane.admin.get(path)["items"]]
    lines += [f"{state}" for state in plane.status().processes.items()]
    lines += [f"{home}: {plane.admin.get(home).get('status')}"]
    return "\n".join(lines)
