"""The process that owns a lab: starts the programs, runs the proxy, obeys, and ends with its time.

Lives in the lab as a process of its own, so that a lab outlives the command that started it and
still has an end: its time runs out, its owner's pipe closes, somebody says `down`, or it is
killed, in which case the kernel kills its children. Run as `python -m suture.lab.supervisor DIR`;
it takes orders as JSON lines on a unix socket and writes what is to `state.json`.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import hashlib
import logging
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import msgspec

from suture.errors import InputError, SutureError, UnavailableError
from suture.lab import configuration, nodes, ports, programs, proxy, routes
from suture.lab.certificates import KeyPair, client_context
from suture.lab.folder import Folder, Phase, ProcessState, Spec, State, write_atomically
from suture.lab.processes import Child, start_time
from suture.lab.programs import APISERVER, CONTROLLER_MANAGER, ETCD, KWOK, PROGRAMS, SCHEDULER

log = logging.getLogger("suture.lab")

# LIMIT: ready takes 3 s on two idle cores; this is for machines that are not idle.
READY_LIMIT_S = 120.0
# LIMIT: how long a program that is restarted may take to end by itself before it is killed.
RESTART_GRACE_S = 1.0
# WHY these: a scheduler whose cache an API server's restart has corrupted ends itself on purpose
# (kube-scheduler, backend/cache UpdatePod), counting on its kubelet, and controllers do the like.
# etcd and the API server never do, so an end of theirs is worth being seen.
REVIVED = (CONTROLLER_MANAGER, SCHEDULER, KWOK)
# LIMIT: before a program that ended by itself is started again, doubled each time.
REVIVE_FIRST_S, REVIVE_LAST_S = 1.0, 30.0
POLL_S = 0.05
SOCKETS_PREFIX = "suture-lab-"
# LIMIT: one order is one line; the longest names a program and a few numbers.
ORDER_LIMIT_BYTES = 64 * 1024


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a client may ask on the control socket."""

    do: str
    name: str = ""
    namespace: str = ""
    port: int | None = None
    loopback_port: int = 0
    needs_endpoints: bool = False
    authorizer: dict[str, Any] | None = None


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to an order."""

    ok: bool
    error: str = ""


class Supervisor:
    """One lab's owner."""

    def __init__(self, folder: Folder, spec: Spec) -> None:
        """Take in what was asked for; nothing is started yet."""
        self.folder = folder
        self.spec = spec
        self.table = proxy.RouteTable()
        self.children: dict[str, Child] = {}
        self.ports: dict[str, int] = {}
        self.sockets = Path(tempfile.mkdtemp(prefix=SOCKETS_PREFIX))
        self.stopping = asyncio.Event()
        self.phase: Phase = "starting"
        self.message = ""
        self.started_at = dt.datetime.now(dt.UTC)
        self.began = time.monotonic()
        self.ready_after_s: float | None = None
        self._claimed: ports.PortBlock | None = None
        self._client: httpx2.AsyncClient | None = None

    async def run(self) -> None:
        """Start everything, obey until told to stop, end everything."""
        tasks: list[asyncio.Future[Any]] = []
        servers: list[asyncio.Server] = []
        self._save()
        try:
            self._claimed = ports.claim()
            self.ports = self._claimed.by_name()
            # WHY: unix socket paths are cut at 107 bytes, and a lab's folder may lie deep.
            servers.append(await proxy.serve(self.sockets / "egress", self.table))
            self._prepare()
            self._save()
            servers.append(
                await asyncio.start_unix_server(
                    self._obey, path=self.sockets / "control", limit=ORDER_LIMIT_BYTES
                )
            )
            if self.spec.owned:
                tasks.append(asyncio.ensure_future(self._end_with_owner()))
            await self._until_ready_or_stopped(tasks)
            tasks.append(asyncio.ensure_future(self._end_in_time()))
            await self._watch_children()
        except (SutureError, OSError) as error:
            self.phase, self.message = "failed", str(error)
            log.exception("lab failed")
        finally:
            await self._end(tasks, servers)

    def _prepare(self) -> None:
        argv = programs.prepare(self.folder, self.spec, self.ports, self.sockets)
        self.children = {name: Child(name, argv[name], self.folder.log(name)) for name in PROGRAMS}

    async def _until_ready_or_stopped(self, tasks: list[asyncio.Future[Any]]) -> None:
        starting = asyncio.ensure_future(self._start_all(tasks))
        stopped = asyncio.ensure_future(self.stopping.wait())
        tasks += [starting, stopped]
        await asyncio.wait(
            {starting, stopped}, timeout=READY_LIMIT_S, return_when=asyncio.FIRST_COMPLETED
        )
        if stopped.done():
            return
        if not starting.done():
            raise UnavailableError(f"not ready after {READY_LIMIT_S:g} s: {self.message}")
        starting.result()
        self.ready_after_s = round(time.monotonic() - self.began, 2)
        self.phase, self.message = "ready", ""
        self._save()

    async def _start_all(self, tasks: list[asyncio.Future[Any]]) -> None:
        self._step("etcd and kube-apiserver are starting")
        await self.children[ETCD].start()
        await self.children[APISERVER].start()
        context = client_context(
            self.folder.certificates / "cluster-ca.crt", self._admin_certificate()
        )
        self._client = httpx2.AsyncClient(
            base_url=programs.endpoint(self.ports), verify=context, timeout=5.0, trust_env=False
        )
        await self._ready(APISERVER)
        self._step("controllers, scheduler and nodes are starting")
        tasks.append(
            asyncio.ensure_future(routes.follow(programs.endpoint(self.ports), context, self.table))
        )
        await self.children[CONTROLLER_MANAGER].start()
        await self.children[SCHEDULER].start()
        for path, body in nodes.kwok_rights():
            await self._create(path, body)
        await self.children[KWOK].start()
        for body in nodes.several(self.spec.nodes):
            await self._create("/api/v1/nodes", body)
        # WHY: pods are refused until their namespace has its default ServiceAccount.
        await self._until(
            "the default ServiceAccount",
            lambda: self._found("/api/v1/namespaces/default/serviceaccounts/default"),
            (ETCD, APISERVER, CONTROLLER_MANAGER),
        )
        await self._until("nodes to be Ready", self._nodes_ready, PROGRAMS)
        await self._ready(SCHEDULER)

    def _admin_certificate(self) -> KeyPair:
        at = self.folder.certificates
        return KeyPair(at / "client-admin.crt", at / "client-admin.key")

    async def _create(self, path: str, body: dict[str, Any]) -> None:
        if self._client is None:  # pragma: no cover - made before the first call
            return
        answer = await self._client.post(path, json=body)
        if not answer.is_success and answer.status_code != httpx2.codes.CONFLICT:
            raise UnavailableError(f"cannot create in {path}: {answer.text[:300]}")

    async def _found(self, path: str) -> bool:
        if self._client is None:  # pragma: no cover - made before the first call
            return False
        with contextlib.suppress(httpx2.HTTPError):
            return (await self._client.get(path)).is_success
        return False

    async def _nodes_ready(self) -> bool:
        if self._client is None:  # pragma: no cover - made before the first call
            return False
        answer = await self._client.get("/api/v1/nodes", params={"limit": "500"})
        ready = sum(_takes_pods(node) for node in answer.json().get("items", ()))
        return ready >= min(self.spec.nodes, 500)

    async def _ready(self, name: str) -> None:
        """Wait until a program says that it is ready; those without a probe are at once."""
        if name == ETCD:
            await self._until("etcd to answer", lambda: self._found("/readyz/etcd"), (ETCD,))
        elif name == APISERVER:
            await self._until(
                "kube-apiserver to be ready", lambda: self._found("/readyz"), (ETCD, APISERVER)
            )
        elif name in (CONTROLLER_MANAGER, SCHEDULER):
            url = f"https://{programs.LOOPBACK}:{self.ports[name]}/healthz"
            await self._until(f"{name} to be healthy", lambda: self._found(url), (name,))

    async def _until(
        self,
        what: str,
        holds: Callable[[], Awaitable[bool]],
        needed: tuple[str, ...],
    ) -> None:
        deadline = time.monotonic() + READY_LIMIT_S
        self._step(f"waiting for {what}")
        while not await holds():
            for name in needed:
                child = self.children[name]
                if not child.running:
                    status = child.process.returncode if child.process else None
                    raise UnavailableError(
                        f"`{name}` ended with status {status} while waiting for {what}; "
                        f"its log `{child.log}` ends:\n{child.tail()}"
                    )
            if time.monotonic() > deadline:
                raise UnavailableError(f"waited {READY_LIMIT_S:g} s for {what}")
            await asyncio.sleep(POLL_S)

    def _step(self, message: str) -> None:
        self.message = message
        self._save()

    async def _watch_children(self) -> None:
        """Note whatever ends without being told to, and revive it, until it is time to stop."""
        before = self._children_states()
        due: dict[str, float] = {}
        while not self.stopping.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), timeout=0.25)
            for name in REVIVED:
                await self._revive(self.children[name], due)
            now = self._children_states()
            if now != before:
                before = now
                self._save()

    async def _revive(self, child: Child, due: dict[str, float]) -> None:
        """Start a program again that ended by itself, when its time has come, as a kubelet does."""
        if child.running or not child.wanted:
            due.pop(child.name, None)
        elif child.name not in due:
            wait_s = min(REVIVE_FIRST_S * 2**child.revivals, REVIVE_LAST_S)
            due[child.name] = time.monotonic() + wait_s
            status = child.process.returncode if child.process else None
            log.warning("%s ended with status %s; again in %g s", child.name, status, wait_s)
        elif time.monotonic() >= due[child.name]:
            del due[child.name]
            child.revivals += 1
            await child.start()

    async def _end_in_time(self) -> None:
        await asyncio.sleep(self.spec.stop_after_s)
        self.message = f"its time of {self.spec.stop_after_s:g} s was over"
        self.stopping.set()

    async def _end_with_owner(self) -> None:
        """Stop when the other end of our standard input is closed, which its end does too."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
        while await reader.read(1024):
            pass
        self.message = "its owner has ended"
        self.stopping.set()

    async def _end(self, tasks: list[asyncio.Future[Any]], servers: list[asyncio.Server]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # WHY: the data is thrown away; nobody gains from an orderly shutdown.
        await asyncio.gather(
            *(child.stop(grace_s=0) for child in self.children.values()), return_exceptions=True
        )
        for server in servers:
            server.close()
        if self._client is not None:
            await self._client.aclose()
        shutil.rmtree(self.sockets, ignore_errors=True)
        shutil.rmtree(self.folder.etcd, ignore_errors=True)
        if self._claimed is not None:
            self._claimed.release()
        if self.phase != "failed":
            self.phase = "stopped"
        self._save()

    async def _obey(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry out the orders of one client, one line each."""
        try:
            while line := await reader.readline():
                try:
                    await self._carry_out(msgspec.json.decode(line, type=Order))
                    reply = Reply(ok=True)
                except (SutureError, msgspec.DecodeError, OSError, httpx2.HTTPError) as error:
                    reply = Reply(ok=False, error=str(error) or repr(error))
                self._save()
                writer.write(msgspec.json.encode(reply) + b"\n")
                await writer.drain()
        except (OSError, ValueError):
            log.debug("a client of the control socket went away")
        finally:
            writer.close()

    async def _carry_out(self, order: Order) -> None:
        match order.do:
            case "down":
                self.message = "it was told to stop"
                self.stopping.set()
            case "restart":
                child = self._child(order.name)
                await child.stop(grace_s=RESTART_GRACE_S)
                await child.start()
                await self._ready(order.name)
            case "kill":
                await self._child(order.name).stop(grace_s=0)
            case "pause":
                self._child(order.name).pause()
            case "resume":
                self._child(order.name).resume()
            case "route":
                self.table.register(
                    (order.namespace, order.name),
                    order.port,
                    order.loopback_port,
                    needs_endpoints=order.needs_endpoints,
                )
            case "unroute":
                self.table.unregister((order.namespace, order.name))
            case "authorizer":
                await self._set_authorizer(order.authorizer)
            case _:
                raise InputError(f"`{order.do}` is not an order")

    def _child(self, name: str) -> Child:
        child = self.children.get(name)
        if child is None:
            raise InputError(f"`{name}` is not one of {', '.join(PROGRAMS)}")
        return child

    async def _set_authorizer(self, options: dict[str, Any] | None) -> None:
        """Write the authorization chain anew and wait until the API server uses it."""
        document = configuration.authorization(
            **(options if options is not None else {"webhook_kubeconfig": None})
        )
        content = programs.as_yaml(document)
        write_atomically(self.folder.authorization, content)
        await self._until_reloaded(hashlib.sha256(content).hexdigest())

    async def _until_reloaded(self, digest: str) -> None:
        """Wait until the API server's own metric names the hash of the file as it is now."""

        async def reloaded() -> bool:
            if self._client is None:
                return False
            with contextlib.suppress(httpx2.HTTPError):
                return digest in (await self._client.get("/metrics")).text
            return False

        await self._until("kube-apiserver to reload its authorization", reloaded, (APISERVER,))
        self.message = ""

    def _children_states(self) -> dict[str, ProcessState]:
        return {name: child.state() for name, child in self.children.items()}

    def _save(self) -> None:
        state = State(
            phase=self.phase,
            message=self.message,
            supervisor=ProcessState(
                pid=os.getpid(), started=start_time(os.getpid()), running=self.phase != "stopped"
            ),
            processes=self._children_states(),
            ports=self.ports,
            sockets=str(self.sockets),
            started_at=self.started_at.isoformat(timespec="seconds"),
            ready_after_s=self.ready_after_s,
        )
        # WHY: `down --delete` may remove the folder while the last lines are written.
        with contextlib.suppress(FileNotFoundError):
            write_atomically(self.folder.state, msgspec.json.encode(state))


def _takes_pods(node: dict[str, Any]) -> bool:
    """Whether a node is Ready, and the controller that saw it so has lifted its taint.

    SOURCE: TaintNodesByCondition: a node begins with `node.kubernetes.io/not-ready`.
    """
    conditions = node.get("status", {}).get("conditions", ())
    is_ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    return is_ready and not node["spec"].get("taints")


def _detach() -> None:
    """Leave the command that started us: it sees its child end at once and never has to wait.

    Called before anything else runs, so there is one thread to fork and nothing to flush.
    """
    if os.fork():
        os._exit(0)


async def _supervise(folder: Folder, spec: Spec) -> int:
    supervisor = Supervisor(folder, spec)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, supervisor.stopping.set)
    await supervisor.run()
    return 1 if supervisor.phase == "failed" else 0


def _main(root: Path) -> int:
    folder = Folder(root)
    spec = folder.read_spec()
    if not spec.owned:
        _detach()
    return asyncio.run(_supervise(folder, spec))


if __name__ == "__main__":
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s %(message)s", level="INFO")
    logging.getLogger("httpx2").setLevel("WARNING")
    sys.exit(_main(Path(sys.argv[1])))
