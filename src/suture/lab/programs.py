"""The plane's programs: their certificates, configuration files and flags.

Lives in the lab beside the supervisor, which starts what is listed here; split from it so that
every flag can be read, with its reason, on one page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from suture.lab import configuration, nodes
from suture.lab.certificates import Authority, KeyPair, signing_keys
from suture.lab.folder import Folder, Spec, write_atomically

ETCD = "etcd"
APISERVER = "kube-apiserver"
CONTROLLER_MANAGER = "kube-controller-manager"
SCHEDULER = "kube-scheduler"
KWOK = "kwok"
PROGRAMS = (ETCD, APISERVER, CONTROLLER_MANAGER, SCHEDULER, KWOK)

LOOPBACK = "127.0.0.1"
# WHY: loopback is refused here; this range is kept for documentation (RFC 5737), so nobody has it.
ADVERTISED = "192.0.2.1"
SERVICE_RANGE = "10.96.0.0/12"
FIRST_SERVICE_IP = "10.96.0.1"
ADMIN_USER = "suture-lab-admin"
# LIMIT: tests write thousands of objects; 8 GiB is etcd's own recommended maximum.
ETCD_QUOTA_BYTES = 8 * 1024**3
# LIMIT: the default of 20 requests/s for controllers would make 1,000 Deployments take minutes.
CONTROLLER_QPS = 1000
CONTROLLER_BURST = 2000
_STATIC_MANIFESTS_SINCE = (1, 36)


@dataclass(frozen=True)
class Authorities:
    """Who signs for whom in a lab."""

    # The cluster's own: serving certificates, clients of the API server, etcd.
    cluster: Authority
    # Requests that the API server forwards to aggregated servers.
    front_proxy: Authority
    # Signs nothing but the certificate that the API server shows to webhooks.
    webhook_client: Authority
    # Signs the serving certificates of webhooks on this machine.
    webhook_server: Authority

    @classmethod
    def of(cls, folder: Folder) -> Authorities:
        """Return the authorities whose files are, or will be, in the folder."""
        at = folder.certificates
        return cls(
            Authority(at, "cluster-ca"),
            Authority(at, "front-proxy-ca"),
            Authority(at, "webhook-client-ca"),
            Authority(at, "webhook-server-ca"),
        )


def write_document(path: Path, document: Mapping[str, Any]) -> Path:
    """Write a YAML document in one step and return its path."""
    write_atomically(path, as_yaml(document))
    return path


def as_yaml(document: Mapping[str, Any]) -> bytes:
    """Return a document as YAML in the order in which it was written."""
    return yaml.safe_dump(dict(document), sort_keys=False).encode()


def endpoint(ports: Mapping[str, int]) -> str:
    """Return the API server's address."""
    return f"https://{LOOPBACK}:{ports[APISERVER]}"


def has_static_manifests(kubernetes_version: str) -> bool:
    """Whether this version of the API server knows admission configuration on disk."""
    major, minor = kubernetes_version.removeprefix("v").split(".")[:2]
    return (int(major), int(minor)) >= _STATIC_MANIFESTS_SINCE


def prepare(
    folder: Folder, spec: Spec, ports: Mapping[str, int], sockets: Path
) -> dict[str, list[str]]:
    """Write every certificate and configuration file; return the command line of each program."""
    authorities = _certificates(folder)
    _kubeconfigs(folder, authorities, ports)
    _configuration(folder, spec, ports, sockets)
    flags = {
        ETCD: _etcd(folder, ports),
        APISERVER: _apiserver(folder, spec, ports),
        CONTROLLER_MANAGER: _controller_manager(folder, ports),
        SCHEDULER: _scheduler(folder, ports),
        KWOK: _kwok(folder),
    }
    return {name: [spec.binaries[name], *flags[name]] for name in PROGRAMS}


def _certificates(folder: Folder) -> Authorities:
    at = folder.certificates
    authorities = Authorities.of(folder)
    for authority in (
        authorities.cluster,
        authorities.front_proxy,
        authorities.webhook_client,
        authorities.webhook_server,
    ):
        Authority.create(at, authority.name)
    names = ("localhost", LOOPBACK)
    in_cluster = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", FIRST_SERVICE_IP)
    authorities.cluster.server(APISERVER, (*names, *in_cluster))
    for stem in (ETCD, CONTROLLER_MANAGER, SCHEDULER):
        authorities.cluster.server(stem, names)
    authorities.cluster.client("etcd-client", APISERVER)
    authorities.front_proxy.client("front-proxy", "front-proxy")
    authorities.webhook_client.client("webhook-client", "kube-apiserver-webhook-client")
    signing_keys(at / "service-accounts.key", at / "service-accounts.pub")
    return authorities


def _kubeconfigs(folder: Folder, authorities: Authorities, ports: Mapping[str, int]) -> None:
    people = {
        "admin": (ADMIN_USER, ("system:masters",)),
        CONTROLLER_MANAGER: ("system:kube-controller-manager", ()),
        SCHEDULER: ("system:kube-scheduler", ()),
        KWOK: (nodes.KWOK_USER, ("system:nodes",)),
    }
    for stem, (user, groups) in people.items():
        pair = authorities.cluster.client(f"client-{stem}", user, groups)
        write_kubeconfig(folder, ports, stem, certificate_user(pair))


def write_kubeconfig(
    folder: Folder, ports: Mapping[str, int], stem: str, user: dict[str, Any]
) -> Path:
    """Write a kubeconfig for the lab's API server and return its path."""
    document = configuration.kubeconfig(
        server=endpoint(ports),
        authority=str(Authorities.of(folder).cluster.certificate),
        user=user,
    )
    path = write_document(folder.kubeconfigs / f"{stem}.yaml", document)
    path.chmod(0o600)
    return path


def certificate_user(pair: KeyPair) -> dict[str, Any]:
    """Return a kubeconfig user that shows a client certificate."""
    return {"client-certificate": str(pair.certificate), "client-key": str(pair.key)}


def _configuration(folder: Folder, spec: Spec, ports: Mapping[str, int], sockets: Path) -> None:
    at = folder.configuration
    webhook_client = KeyPair(
        folder.certificates / "webhook-client.crt", folder.certificates / "webhook-client.key"
    )
    users = configuration.webhook_users(
        certificate=str(webhook_client.certificate), key=str(webhook_client.key)
    )
    static = has_static_manifests(spec.kubernetes_version)
    if static:
        for plugin in configuration.STATIC_PLUGINS:
            (folder.static_manifests / plugin).mkdir(exist_ok=True)
    documents = {
        "webhook-users.yaml": users,
        "admission.yaml": configuration.admission(
            webhook_kubeconfig=str(at / "webhook-users.yaml"),
            static_manifests=str(folder.static_manifests) if static else None,
        ),
        "egress.yaml": configuration.egress(proxy_socket=str(sockets / "egress")),
        # WHY: off until Suture is there; see `Plane.set_authorizer`.
        folder.authorization.name: configuration.authorization(webhook_kubeconfig=None),
        "authorizer.yaml": configuration.kubeconfig(
            server=f"https://{LOOPBACK}:{ports['authorizer']}/authorize",
            authority=str(Authorities.of(folder).webhook_server.certificate),
            user=certificate_user(webhook_client),
        ),
    }
    if spec.audit is not None:
        documents["audit.yaml"] = configuration.audit_policy(spec.audit)
    for name, document in documents.items():
        write_document(at / name, document)
    write_atomically(at / "stages.yaml", nodes.stages().encode())


def _tls(folder: Folder, stem: str) -> tuple[str, str]:
    return str(folder.certificates / f"{stem}.crt"), str(folder.certificates / f"{stem}.key")


def _etcd(folder: Folder, ports: Mapping[str, int]) -> list[str]:
    certificate, key = _tls(folder, ETCD)
    authority = str(folder.certificates / "cluster-ca.crt")
    client = f"https://{LOOPBACK}:{ports['etcd']}"
    peer = f"https://{LOOPBACK}:{ports['etcd-peer']}"
    return [
        "--name=lab",
        f"--data-dir={folder.etcd}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=lab={peer}",
        f"--cert-file={certificate}",
        f"--key-file={key}",
        f"--trusted-ca-file={authority}",
        "--client-cert-auth",
        f"--peer-cert-file={certificate}",
        f"--peer-key-file={key}",
        f"--peer-trusted-ca-file={authority}",
        "--peer-client-cert-auth",
        # WHY: the data is thrown away with the lab; waiting for the disk is most of a write.
        "--unsafe-no-fsync",
        f"--quota-backend-bytes={ETCD_QUOTA_BYTES}",
        "--log-level=warn",
    ]


def _apiserver(folder: Folder, spec: Spec, ports: Mapping[str, int]) -> list[str]:
    at, config = folder.certificates, folder.configuration
    certificate, key = _tls(folder, APISERVER)
    etcd_certificate, etcd_key = _tls(folder, "etcd-client")
    proxy_certificate, proxy_key = _tls(folder, "front-proxy")
    flags = [
        f"--bind-address={LOOPBACK}",
        f"--secure-port={ports[APISERVER]}",
        f"--advertise-address={ADVERTISED}",
        "--endpoint-reconciler-type=none",
        f"--etcd-servers=https://{LOOPBACK}:{ports['etcd']}",
        f"--etcd-cafile={at / 'cluster-ca.crt'}",
        f"--etcd-certfile={etcd_certificate}",
        f"--etcd-keyfile={etcd_key}",
        f"--tls-cert-file={certificate}",
        f"--tls-private-key-file={key}",
        f"--client-ca-file={at / 'cluster-ca.crt'}",
        f"--requestheader-client-ca-file={at / 'front-proxy-ca.crt'}",
        "--requestheader-allowed-names=front-proxy",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={proxy_certificate}",
        f"--proxy-client-key-file={proxy_key}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={at / 'service-accounts.pub'}",
        f"--service-account-signing-key-file={at / 'service-accounts.key'}",
        # LIMIT: the default range holds 254 Services; this one a million.
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        f"--authorization-config={folder.authorization}",
        f"--admission-control-config-file={config / 'admission.yaml'}",
        f"--egress-selector-config-file={config / 'egress.yaml'}",
        # LIMIT: far above what a test's clients hold open, so that nothing queues in the server.
        "--max-requests-inflight=3000",
        "--max-mutating-requests-inflight=1000",
        "--allow-privileged=true",
        "--profiling=false",
    ]
    if has_static_manifests(spec.kubernetes_version):
        flags.append("--feature-gates=ManifestBasedAdmissionControlConfig=true")
    if spec.audit is not None:
        flags += [
            f"--audit-policy-file={config / 'audit.yaml'}",
            f"--audit-log-path={folder.audit_log}",
            "--audit-log-mode=blocking-strict",
        ]
    return flags


def _controller_manager(folder: Folder, ports: Mapping[str, int]) -> list[str]:
    at = folder.certificates
    certificate, key = _tls(folder, CONTROLLER_MANAGER)
    return [
        f"--kubeconfig={folder.kubeconfigs / CONTROLLER_MANAGER}.yaml",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={ports[CONTROLLER_MANAGER]}",
        f"--tls-cert-file={certificate}",
        f"--tls-private-key-file={key}",
        f"--service-account-private-key-file={at / 'service-accounts.key'}",
        f"--root-ca-file={at / 'cluster-ca.crt'}",
        f"--cluster-signing-cert-file={at / 'cluster-ca.crt'}",
        f"--cluster-signing-key-file={at / 'cluster-ca.key'}",
        # WHY: without it all controllers are one user, and no write can be told from another.
        "--use-service-account-credentials",
        "--leader-elect=false",
        f"--kube-api-qps={CONTROLLER_QPS}",
        f"--kube-api-burst={CONTROLLER_BURST}",
        "--controllers=*,-nodeipam",
        # WHY: the default is under /usr, where it would make a folder.
        f"--flex-volume-plugin-dir={folder.root / 'flex-volumes'}",
        "--profiling=false",
    ]


def _scheduler(folder: Folder, ports: Mapping[str, int]) -> list[str]:
    certificate, key = _tls(folder, SCHEDULER)
    return [
        f"--kubeconfig={folder.kubeconfigs / SCHEDULER}.yaml",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={ports[SCHEDULER]}",
        f"--tls-cert-file={certificate}",
        f"--tls-private-key-file={key}",
        "--leader-elect=false",
        f"--kube-api-qps={CONTROLLER_QPS}",
        f"--kube-api-burst={CONTROLLER_BURST}",
        "--profiling=false",
    ]


def _kwok(folder: Folder) -> list[str]:
    return [
        f"--kubeconfig={folder.kubeconfigs / KWOK}.yaml",
        f"--config={folder.configuration / 'stages.yaml'}",
        "--manage-all-nodes",
        f"--node-lease-duration-seconds={nodes.LEASE_S}",
        f"--cidr={nodes.POD_RANGE}",
        f"--node-ip={nodes.NODE_IP}",
    ]
