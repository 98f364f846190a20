"""A replay server as its user has it: a process that lives as long as a `with` block.

Makes the pages of the cluster where they are not on the disk yet, starts the server beside, and
speaks its own words to it; for the Kubernetes API it gives address, certificate and token.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import secrets
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import msgspec

from suture.errors import DefectError, UnavailableError
from suture.lab.certificates import Authority, client_context
from suture.lab.clusters.cluster import SEED
from suture.lab.clusters.pages import Index, Told, read_index
from suture.lab.clusters.store import cluster_pages
from suture.lab.replay.state import (
    ALL,
    Break,
    Churn,
    Fault,
    Happening,
    OrderError,
    ReplayState,
    Spec,
    Started,
)

IDLE_S = 600.0
"""LIMIT: a server to which nobody is connected; a breakpoint in a test may last minutes."""

ORDER_S = 30.0
"""LIMIT: an order is answered at once; a machine that is short of cores may take a while."""

END_S = 5.0

POLL_S = 0.05


class ReplayServer:
    """A server of a made cluster, as a context manager, with `async` or without.

    `scale` is `tiny`, `S`, `M` or `L`; `folder`, in its place, pages that are there already.
    `told` hears of pages being made. Errors, on entering: those of making pages.
    """

    def __init__(
        self,
        scale: str = "tiny",
        seed: int = SEED,
        *,
        folder: Path | None = None,
        idle_s: float | None = IDLE_S,
        told: Told = lambda _resource, _count, _size: None,
    ) -> None:
        self.scale = scale
        self.seed = seed
        self.token = secrets.token_urlsafe(24)
        self.url = ""
        self.pid = 0
        self._folder = folder
        self._idle_s = idle_s
        self._told = told
        self._process: subprocess.Popen[bytes] | None = None
        self._files = contextlib.ExitStack()
        self._private = Path()

    # ---- its life

    def __enter__(self) -> Self:
        """Make the pages if need be, and start."""
        folder = self._folder or cluster_pages(self.scale, self.seed, told=self._told)
        self.index: Index = read_index(folder)
        self._folder = folder
        with contextlib.ExitStack() as files:
            private = files.enter_context(tempfile.TemporaryDirectory(prefix="suture-replay-"))
            self._private = Path(private)
            self._start(folder)
            self._files = files.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the process."""
        self.close()

    async def __aenter__(self) -> Self:
        """Do the same; making pages takes a while and is best done before."""
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the process."""
        self.close()

    def _start(self, folder: Path) -> None:
        authority = Authority.create(self._private, "authority")
        pair = authority.server("server", ["127.0.0.1", "localhost"])
        process = subprocess.Popen(
            [sys.executable, "-m", "suture.lab.replay"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # WHY: a Ctrl-C in the caller's terminal is the caller's; it ends with its input.
            start_new_session=True,
        )
        self._process = process
        spec = Spec(
            folder=str(folder.absolute()),
            certificate=str(pair.certificate),
            key=str(pair.key),
            token=self.token,
            idle_s=self._idle_s,
        )
        told, heard = _pipes(process)
        told.write(msgspec.json.encode(spec) + b"\n")
        told.flush()
        line = heard.readline()
        if not line:
            self.close()
            raise UnavailableError("the replay server ended before its time; its error is above")
        self.pid = process.pid
        self.url = f"https://127.0.0.1:{msgspec.json.decode(line, type=Started).port}"
        self.kubeconfig.write_text(json.dumps(self._login()))
        self.kubeconfig.chmod(0o600)

    def close(self) -> None:
        """End the process and remove what it left."""
        process, self._process = self._process, None
        if process is not None:
            told, heard = _pipes(process)
            with contextlib.suppress(BrokenPipeError):
                told.close()
            heard.close()
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(END_S)
        self._files.close()

    @property
    def running(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    # ---- how to reach it

    @property
    def ca_file(self) -> Path:
        """The certificate of who signed the server's."""
        return self._private / "authority.crt"

    @property
    def kubeconfig(self) -> Path:
        """A kubeconfig with address, certificate and token; gone with the server."""
        return self._private / "kubeconfig"

    @property
    def folder(self) -> Path:
        """The folder of the pages that it serves."""
        if self._folder is None:
            raise DefectError("a replay server has its pages once it is entered")
        return self._folder

    def _login(self) -> dict[str, object]:
        cluster = {"server": self.url, "certificate-authority": str(self.ca_file)}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "replay",
            "contexts": [{"name": "replay", "context": {"cluster": "replay", "user": "replay"}}],
            "clusters": [{"name": "replay", "cluster": cluster}],
            "users": [{"name": "replay", "user": {"token": self.token}}],
        }

    # ---- its own words

    def state(self) -> ReplayState:
        """Return how it stands."""
        return self._say("GET", "/-/state", None)

    def churn(
        self,
        pods_per_second: float,
        seconds: float,
        kind: Happening = Happening.CREATE,
        *,
        lifetime_s: float = 5.0,
        wait: bool = False,
    ) -> ReplayState:
        """Let pods come and go; returns at once, or with `wait` when the last has gone.

        A new pod is five events: created, scheduled, Ready, told to go, gone. Errors: OrderError.
        """
        state = self._say(
            "POST",
            "/-/churn",
            Churn(
                pods_per_second=pods_per_second, seconds=seconds, kind=kind, lifetime_s=lifetime_s
            ),
        )
        return self.settled() if wait else state

    def settled(self) -> ReplayState:
        """Wait until no pods come and go any more."""
        while (state := self.state()).churning:
            time.sleep(POLL_S)
        return state

    def break_(
        self, what: Fault, resource: str = ALL, *, seconds: float = 0.0, count: int = 0
    ) -> ReplayState:
        """Let something go wrong, with one type or with all. Errors: OrderError."""
        order = Break(what=what, resource=resource, seconds=seconds, count=count)
        return self._say("POST", "/-/break", order)

    def _say(self, method: str, path: str, order: msgspec.Struct | None) -> ReplayState:
        host, port = self.url.removeprefix("https://").split(":")
        context = client_context(self.ca_file)
        body = None if order is None else msgspec.json.encode(order)
        with contextlib.closing(
            http.client.HTTPSConnection(host, int(port), timeout=ORDER_S, context=context)
        ) as connection:
            try:
                connection.request(method, path, body, {"Authorization": f"Bearer {self.token}"})
                answer = connection.getresponse()
                text = answer.read()
            except (OSError, http.client.HTTPException) as error:
                raise UnavailableError(f"the replay server does not answer: {error}") from error
        if answer.status != http.HTTPStatus.OK:
            raise OrderError(msgspec.json.decode(text)["message"])
        return msgspec.json.decode(text, type=ReplayState)


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:
        raise DefectError("a replay server was started without pipes")
    return process.stdin, process.stdout
