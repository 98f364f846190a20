"""How large a made cluster is: one number a population, and the sizes that have a name.

S is the cluster of the load-balancer incident, M the size up to which Kubernetes is tested, L the
largest cluster known. SOURCE: sig-scalability thresholds; Ant Group, Sigma ApiServer.
"""

from __future__ import annotations

import msgspec


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How many there are of each; nodes, pods and Services exactly, platform included.

    `idle` Services serve nothing now: headless, without selector, by name, without pods.
    `balanced` Services belong to custom resources of the load-balancer operator, `shared` of
    them to one of those. `largest` is the pods of the largest Deployment.
    """

    nodes: int
    pods: int
    services: int
    namespaces: int
    deployments: int
    stateful_sets: int
    daemon_sets: int
    cron_jobs: int
    jobs: int
    config_maps: int
    secrets: int
    instances: int
    ingresses: int
    disruption_budgets: int
    autoscalers: int
    network_policies: int
    roles: int
    http_routes: int
    snapshots: int
    idle: int
    balanced: int
    shared: int
    largest: int


DEMO = Size(
    nodes=2_000,
    pods=30_000,
    services=2_000,
    namespaces=160,
    deployments=2_600,
    stateful_sets=200,
    daemon_sets=5,
    cron_jobs=60,
    jobs=300,
    config_maps=4_000,
    secrets=3_500,
    instances=6_000,
    ingresses=400,
    disruption_budgets=500,
    autoscalers=300,
    network_policies=250,
    roles=120,
    http_routes=80,
    snapshots=60,
    idle=300,
    balanced=600,
    shared=40,
    largest=500,
)

SIZES: dict[str, Size] = {
    "S": DEMO,
    "M": Size(
        nodes=5_000,
        pods=150_000,
        services=10_000,
        namespaces=800,
        deployments=15_000,
        stateful_sets=1_500,
        daemon_sets=5,
        cron_jobs=800,
        jobs=4_000,
        config_maps=45_000,
        secrets=40_000,
        instances=80_000,
        ingresses=4_000,
        disruption_budgets=5_000,
        autoscalers=5_000,
        network_policies=3_000,
        roles=1_200,
        http_routes=1_000,
        snapshots=600,
        idle=1_500,
        balanced=3_000,
        shared=120,
        largest=1_500,
    ),
    "L": Size(
        nodes=17_000,
        pods=620_000,
        services=40_000,
        namespaces=2_500,
        deployments=60_000,
        stateful_sets=6_000,
        daemon_sets=8,
        cron_jobs=5_000,
        jobs=20_000,
        config_maps=250_000,
        secrets=200_000,
        instances=400_000,
        ingresses=20_000,
        disruption_budgets=25_000,
        autoscalers=20_000,
        network_policies=13_000,
        roles=5_000,
        http_routes=4_000,
        snapshots=2_500,
        idle=6_000,
        balanced=12_000,
        shared=480,
        largest=4_000,
    ),
}

TINY = Size(
    nodes=24,
    pods=900,
    services=200,
    namespaces=40,
    deployments=190,
    stateful_sets=12,
    daemon_sets=3,
    cron_jobs=6,
    jobs=12,
    config_maps=280,
    secrets=260,
    instances=300,
    ingresses=30,
    disruption_budgets=40,
    autoscalers=20,
    network_policies=24,
    roles=14,
    http_routes=10,
    snapshots=6,
    idle=30,
    balanced=60,
    shared=12,
    largest=60,
)
"""For tests: every kind is there, and it is made in a moment."""

SCALES: dict[str, Size] = {"tiny": TINY, **SIZES}
"""Every size that has a name."""
