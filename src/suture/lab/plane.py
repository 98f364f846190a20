"""A lab as its user sees it: bring a control plane up, reach it as anybody, disturb it, end it.

Lives in the lab as its front door: the command line, tests and scenarios use `Plane` and nothing
behind it. The processes belong to the supervisor; a `Plane` only knows the folder, so that any
process may `attach` to a running lab.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict, Unpack

import msgspec

from suture.errors import ConflictError, InputError, UnavailableError
from suture.lab import assets, configuration, control, nodes, programs
from suture.lab.certificates import KeyPair, client_context
from suture.lab.folder import (
    AuditLevel,
    Folder,
    Spec,
    State,
    named_folder,
    write_atomically,
)
from suture.lab.identities import ADMIN, Identity, Person, ServiceAccount, Tokens, file_stem
from suture.lab.progress import Report, silent
from suture.lab.rest import Rest
from suture.lab.supervisor import Order

# LIMIT: a test session, or an afternoon's try; a forgotten lab does not stay for days.
DEFAULT_STOP_AFTER_S = 2 * 3600.0


class Options(TypedDict, total=False):
    """What `Plane.up` takes; each as in `Plane.start`."""

    folder: Folder
    binaries: assets.Assets
    kubernetes_version: str
    nodes: int
    audit: AuditLevel | None
    stop_after_s: float
    allow_download: bool
    report: Report


class Plane:
    """A control plane on this machine, by its folder."""

    def __init__(self, folder: Folder) -> None:
        """Take a folder in which a lab was started; `up` and `attach` are the usual ways here."""
        self.folder = folder
        self.disturbances = 0
        """How many orders this face has given to restart, kill, freeze or wake a program."""
        self._launched: control.Launched | None = None
        self._clients: list[Rest] = []

    # ---- beginning and end

    @classmethod
    @contextlib.contextmanager
    def up(cls, name: str | None = None, **options: Unpack[Options]) -> Iterator[Plane]:
        """Start a control plane for the length of a `with` block; options as in `start`.

        It ends with the block, and with this process however that ends.
        """
        with contextlib.ExitStack() as ended:
            if "folder" not in options:
                root = ended.enter_context(tempfile.TemporaryDirectory(prefix="suture-plane-"))
                options["folder"] = Folder(Path(root))
            plane = cls.start(name, owned=True, **options)
            ended.callback(plane.down)
            yield plane

    @classmethod
    def start(
        cls,
        name: str | None = None,
        *,
        folder: Folder | None = None,
        binaries: assets.Assets | None = None,
        kubernetes_version: str = assets.KUBERNETES_VERSION,
        nodes: int = 3,
        audit: AuditLevel | None = None,
        stop_after_s: float = DEFAULT_STOP_AFTER_S,
        owned: bool = False,
        allow_download: bool = False,
        report: Report = silent,
    ) -> Plane:
        """Start a control plane and wait until it is ready.

        `binaries` are the programs to run; by default they are found, and built if need be.
        `owned` ties its life to the returned object and so to this process; else it runs until
        `down` or `stop_after_s`.
        Errors: ConflictError when it runs already, UnavailableError when it does not get ready.
        """
        if sys.platform != "linux":
            raise UnavailableError(
                f"the lab needs Linux, and this is {sys.platform}; run it in a Linux machine"
            )
        name = name or "default"
        plane = cls(folder if folder is not None else named_folder(name))
        if plane.is_running():
            raise ConflictError(
                f"lab `{name}` runs already in `{plane.folder.root}`; "
                "use it, or stop it with `suture lab down`"
            )
        found = binaries or assets.find(
            kubernetes_version, allow_download=allow_download, report=report
        )
        plane._clear()
        plane.folder.make()
        spec = Spec(
            name=name,
            kubernetes_version=found.kubernetes_version,
            binaries={program: str(path) for program, path in found.programs.items()},
            nodes=nodes,
            audit=audit,
            stop_after_s=stop_after_s,
            owned=owned,
        )
        write_atomically(plane.folder.spec, msgspec.json.encode(spec))
        plane._launched = control.launch(plane.folder, owned=owned)
        try:
            control.await_ready(plane.folder, plane._launched, report)
        except BaseException:
            plane.down()
            raise
        return plane

    @classmethod
    def attach(cls, name: str = "default", *, folder: Folder | None = None) -> Plane:
        """Return a lab that somebody else started."""
        plane = cls(folder if folder is not None else named_folder(name))
        plane.folder.read_spec()
        return plane

    def down(self, *, delete: bool = False) -> None:
        """End every process of the lab, whatever state they are in; `delete` removes the folder."""
        self.close()
        control.end(self.folder, self._launched)
        self._launched = None
        if delete:
            self._clear()

    def close(self) -> None:
        """Close the clients that this object made; the lab goes on."""
        for client in self._clients:
            client.close()
        self._clients.clear()
        for cached in ("admin", "tokens"):
            self.__dict__.pop(cached, None)

    def is_running(self) -> bool:
        """Whether the supervisor lives."""
        return control.is_running(self.folder)

    def status(self) -> State:
        """Return what is: a lab whose supervisor is gone is stopped, whatever it last wrote."""
        state = self.folder.read_state()
        if state is None:
            self.folder.read_spec()
            raise UnavailableError(
                f"the lab in `{self.folder.root}` has not started; "
                f"see `{self.folder.log('supervisor')}`"
            )
        if state.phase in ("starting", "ready") and not self.is_running():
            message = "its supervisor is gone"
            return msgspec.structs.replace(state, phase="stopped", message=message)
        return state

    # ---- reaching it

    @property
    def endpoint(self) -> str:
        """The API server's address."""
        return programs.endpoint(self.ports)

    @cached_property
    def ports(self) -> dict[str, int]:
        """The ports of this lab by name: its programs, `authorizer`, `static`, `spare-0`, etc."""
        return self.status().ports

    @property
    def authorizer_port(self) -> int:
        """The loopback port kept free for the authorization webhook, at path `/authorize`."""
        return self.ports["authorizer"]

    @property
    def static_port(self) -> int:
        """The loopback port kept free for webhooks of static manifests and others by URL."""
        return self.ports["static"]

    @property
    def ca_file(self) -> Path:
        """What clients of the API server trust."""
        return self._authorities.cluster.certificate

    @property
    def webhook_client_ca(self) -> Path:
        """What a webhook trusts: it signs the API server's webhook client certificate alone."""
        return self._authorities.webhook_client.certificate

    @property
    def webhook_server_ca(self) -> Path:
        """What a webhook registration names in `caBundle` for servers made by `issue_server`."""
        return self._authorities.webhook_server.certificate

    @property
    def static_manifests(self) -> Path:
        """One folder per admission plugin, named as the plugin, for manifests; read when changed.

        `ValidatingAdmissionWebhook` and `MutatingAdmissionWebhook` (by URL only),
        `ValidatingAdmissionPolicy` and `MutatingAdmissionPolicy`. Names end in `.static.k8s.io`.
        """
        return self.folder.static_manifests

    @property
    def audit_log(self) -> Path:
        """Audit events as JSON lines, when started with an audit level."""
        return self.folder.audit_log

    @property
    def _authorities(self) -> programs.Authorities:
        return programs.Authorities.of(self.folder)

    @cached_property
    def admin(self) -> Rest:
        """A client in group system:masters."""
        return self.client(ADMIN)

    @cached_property
    def tokens(self) -> Tokens:
        """Tokens of service accounts."""
        return Tokens(self.admin)

    def client(self, identity: Identity = ADMIN, *, token: str | None = None) -> Rest:
        """Return a client under an identity, or under a given token; `down` closes it."""
        user = {"token": token} if token is not None else self._user(identity)
        pair = None
        if "token" not in user:
            pair = KeyPair(Path(user["client-certificate"]), Path(user["client-key"]))
        client = Rest(
            self.endpoint, context=client_context(self.ca_file, pair), token=user.get("token")
        )
        self._clients.append(client)
        return client

    def kubeconfig(self, identity: Identity = ADMIN) -> Path:
        """Return the path of a kubeconfig for an identity.

        Each call writes a service account's token anew: the account may be another one by now.
        """
        stem = "admin" if identity == ADMIN else file_stem(identity)
        path = self.folder.kubeconfigs / f"{stem}.yaml"
        if path.exists() and isinstance(identity, Person):
            return path
        return programs.write_kubeconfig(self.folder, self.ports, stem, self._user(identity))

    def issue_server(self, stem: str, names: Sequence[str]) -> KeyPair:
        """Issue a webhook's serving certificate, which the API server trusts by `caBundle`."""
        return self._authorities.webhook_server.server(f"server-{stem}", names)

    def _user(self, identity: Identity) -> dict[str, Any]:
        match identity:
            case ServiceAccount():
                return {"token": self.tokens.create(identity.namespace, identity.name)}
            case Person():
                stem = "client-admin" if identity == ADMIN else f"client-{file_stem(identity)}"
                at = self.folder.certificates
                pair = KeyPair(at / f"{stem}.crt", at / f"{stem}.key")
                if not pair.certificate.exists():
                    authority = self._authorities.cluster
                    pair = authority.client(stem, identity.user, identity.groups)
                return programs.certificate_user(pair)

    # ---- disturbing it

    def restart(self, name: str) -> None:
        """End a program and start it again; returns when it is ready."""
        self._disturb(Order(do="restart", name=name))

    def kill(self, name: str) -> None:
        """End a program with SIGKILL; `restart` brings it back."""
        self._disturb(Order(do="kill", name=name))

    def pause(self, name: str) -> None:
        """Freeze a program with its sockets open (SIGSTOP)."""
        self._disturb(Order(do="pause", name=name))

    def resume(self, name: str) -> None:
        """Let a frozen program go on (SIGCONT)."""
        self._disturb(Order(do="resume", name=name))

    def log(self, name: str) -> str:
        """Return a program's log so far; `supervisor` is one too."""
        return self.folder.log(name).read_text(errors="replace")

    def route(
        self,
        namespace: str,
        service: str,
        loopback_port: int,
        *,
        port: int | None = None,
        needs_endpoints: bool = False,
    ) -> None:
        """Send what the API server asks of a Service to a loopback port, whenever it exists.

        `port` is the Service's; None takes every port that has no route of its own. With
        `needs_endpoints` connections are refused and cut while the Service has no ready endpoint.
        """
        self._order(
            Order(
                do="route",
                namespace=namespace,
                name=service,
                port=port,
                loopback_port=loopback_port,
                needs_endpoints=needs_endpoints,
            )
        )

    def unroute(self, namespace: str, service: str) -> None:
        """Take a route back; its connections are cut."""
        self._order(Order(do="unroute", namespace=namespace, name=service))

    def set_authorizer(
        self,
        enabled: bool,
        *,
        conditions: Sequence[str] | None = None,
        timeout_s: float = 1.0,
        cached: bool = False,
        ca_file: Path | None = None,
        port: int | None = None,
        path: str = "/authorize",
    ) -> None:
        """Put the authorization webhook into the API server's chain, or take it out.

        Returns when the API server uses the new chain. The webhook is asked at `port` (default
        `authorizer_port`) and its certificate checked against `ca_file` (default
        `webhook_server_ca`); `cached` leaves the API server's caches on, to measure them.
        """
        if not enabled:
            self._order(Order(do="authorizer"))
            return
        client = self.folder.certificates / "webhook-client.crt"
        document = configuration.kubeconfig(
            server=f"https://{programs.LOOPBACK}:{port or self.authorizer_port}{path}",
            authority=str(ca_file or self.webhook_server_ca),
            user=programs.certificate_user(KeyPair(client, client.with_suffix(".key"))),
        )
        # WHY: the API server reads a kubeconfig once per chain, and a chain is new only when its
        # own text is; so each content has a name of its own.
        digest = hashlib.sha256(repr(document).encode()).hexdigest()[:12]
        kubeconfig = programs.write_document(
            self.folder.configuration / f"authorizer-{digest}.yaml", document
        )
        options: dict[str, Any] = {
            "webhook_kubeconfig": str(kubeconfig),
            "timeout": f"{round(timeout_s * 1000)}ms",
            "cached": cached,
        }
        if conditions is not None:
            options["conditions"] = list(conditions)
        self._order(Order(do="authorizer", authorizer=options))

    def add_nodes(self, count: int, *, prefix: str, zones: int = 3) -> None:
        """Create nodes that KWOK keeps Ready."""
        for body in nodes.several(count, prefix=prefix, zones=zones):
            self.admin.create("/api/v1/nodes", body)

    # ---- behind the door

    def _disturb(self, order: Order) -> None:
        self.disturbances += 1
        self._order(order)

    def _order(self, order: Order) -> None:
        control.send(self.folder, self.status().sockets, order)

    def _clear(self) -> None:
        """Remove what an earlier lab left; never a folder that is not a lab's."""
        root = self.folder.root
        if not root.exists() or not any(root.iterdir()):
            return
        if not self.folder.spec.exists():
            raise InputError(f"`{root}` is not empty and not a lab's folder; choose another")
        shutil.rmtree(root)
