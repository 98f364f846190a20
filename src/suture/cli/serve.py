"""`suture serve`: the process that answers API servers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import cyclopts


def serve(
    *,
    kubeconfig: Path | None = None,
    in_cluster: bool = False,
    host: str = "127.0.0.1",
    port: int = 8443,
    health_host: str | None = None,
    health_port: int = 8080,
    certificate: Path,
    key: Path,
    client_ca: Path | None = None,
    client_name: Annotated[list[str] | None, cyclopts.Parameter(negative=())] = None,
    secret_path: Annotated[str | None, cyclopts.Parameter(env_var="SUTURE_SECRET_PATH")] = None,
    policies: Annotated[list[Path] | None, cyclopts.Parameter(negative=())] = None,
    journal: Path | None = None,
    snapshot: Path | None = None,
    state: Path | None = None,
    secret_keys: bool = False,
    namespace: str = "suture-system",
    cluster: str = "",
    authorizer: bool = False,
    break_glass_group: Annotated[list[str] | None, cyclopts.Parameter(negative=())] = None,
    speed: float = 1.0,
    lab_clock: Path | None = None,
    drain: float = 5.0,
    log_level: str = "info",
) -> int:
    """Answer AdmissionReviews and SubjectAccessReviews from a live model of the cluster.

    Runs until SIGTERM; then it says so in its readiness, answers what was asked, and ends.

    Parameters
    ----------
    kubeconfig:
        How to reach the cluster; else KUBECONFIG, else ~/.kube/config.
    in_cluster:
        Log in as the pod's service account instead.
    host, port:
        Where API servers find the webhook.
    health_host, health_port:
        Where /healthz, /readyz and /metrics are; plain HTTP.
    certificate, key:
        The server's own certificate; both are read again when they change.
    client_ca:
        The authority of the API server's client certificate: only its holders are answered.
    client_name:
        Common names that may ask; without any, everyone whom the authority signed.
    secret_path:
        For API servers that present no client certificate: the first part of the path.
    policies:
        Files or folders of templates and constraints; without any, the safety pack.
    journal:
        Where decisions are written down; without it, they are kept in memory only.
    snapshot:
        Where the model is saved each minute and at the end, and read from at the start: a restart
        then goes on from there instead of listing the cluster.
    state:
        Where what budgets were spent is saved each second, and what was written lately each
        minute; without it, a restart forgets both.
    secret_keys:
        Read whole Secrets for the names of their entries; nothing else of them is kept.
    namespace:
        Suture's own namespace.
    cluster:
        A name for this cluster, for policies and reports.
    authorizer:
        The cluster asks Suture at authorization too.
    break_glass_group:
        Whoever is in it is never refused, and always written down and alarmed. May be repeated.
    speed:
        Divides the windows of budgets, for scenarios played faster than life.
    lab_clock:
        A file by which a lab moves the clock of budgets, history and grants forward; refused
        where the API server is not on this machine.
    drain:
        Seconds to go on serving after SIGTERM, until no endpoint names this server any more.
    log_level:
        debug, info, warning or error.
    """
    from suture.wiring import Settings, run

    settings = Settings(
        kubeconfig=kubeconfig,
        in_cluster=in_cluster,
        host=host,
        port=port,
        health_host=health_host if health_host is not None else host,
        health_port=health_port,
        certificate=certificate,
        key=key,
        client_ca=client_ca,
        client_names=frozenset(client_name or ()),
        secret_path=secret_path,
        policies=tuple(policies or ()),
        journal=journal,
        snapshot=snapshot,
        state=state,
        secret_keys=secret_keys,
        namespace=namespace,
        cluster=cluster,
        authorizer=authorizer,
        break_glass=tuple(break_glass_group or ()),
        speed=speed,
        lab_clock=lab_clock,
        drain_s=drain,
        log_level=log_level,
    )
    run(settings)
    return 0
