"""A real webhook server for tests: it writes down what the API server asks and answers as told.

HTTPS with mutual TLS, so that what it sees is what Suture would see. It runs on a thread of its
own, since the tests' client blocks. `/authorize` takes SubjectAccessReviews, every other path
AdmissionReviews.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from suture.lab.plane import Plane

# LIMIT: what the API server does asynchronously it does within a second or two; tests share cores.
WAIT_S = 60.0


@dataclass(frozen=True)
class Answer:
    """What to say to one review. `denied` is for authorization only: deny, not "no opinion"."""

    allowed: bool = True
    denied: bool = False
    message: str = ""
    warnings: tuple[str, ...] = ()
    delay_s: float = 0.0
    hang_up: bool = False
    status: int = 200


@dataclass(frozen=True)
class Seen:
    """One review as it came."""

    path: str
    review: dict[str, Any]
    client: str

    @property
    def request(self) -> dict[str, Any]:
        """The request of an AdmissionReview, or the spec of a SubjectAccessReview."""
        found: dict[str, Any] = self.review.get("request") or self.review["spec"]
        return found

    @property
    def attributes(self) -> dict[str, Any]:
        """The resource attributes of a SubjectAccessReview."""
        found: dict[str, Any] = self.request.get("resourceAttributes", {})
        return found

    @property
    def user(self) -> str:
        """Who asks."""
        request = self.request
        return str(request["userInfo"]["username"] if "userInfo" in request else request["user"])

    @property
    def resource(self) -> str:
        """The resource and its subresource, like `pods/eviction`."""
        request = self.request
        if "resource" in request:
            name, sub = request["resource"]["resource"], request.get("subResource", "")
        else:
            name, sub = self.attributes.get("resource", ""), self.attributes.get("subresource", "")
        return f"{name}/{sub}" if sub else str(name)

    @property
    def verb(self) -> str:
        """The operation of an AdmissionReview, or the verb of a SubjectAccessReview."""
        return str(self.request.get("operation") or self.attributes.get("verb", ""))

    @property
    def namespace(self) -> str:
        """The namespace; empty for what has none."""
        return str(self.request.get("namespace") or self.attributes.get("namespace", ""))

    @property
    def object_name(self) -> str:
        """The name in the object, which is there when the request's own name is not."""
        body = self.request.get("object") or self.request.get("oldObject") or {}
        return str(body.get("metadata", {}).get("name", ""))

    @property
    def old(self) -> dict[str, Any]:
        """The metadata of the object as it was."""
        found: dict[str, Any] = (self.request.get("oldObject") or {}).get("metadata", {})
        return found

    @property
    def wish(self) -> tuple[Any, ...]:
        """What it asks for: the object as it is to be, less what controllers write beside it.

        The API server applies a patch again, with a review of its own each time, when it began
        from an old copy or a controller's status came between. Reviews in a row with one wish
        are one request, and the last of them is what was stored.
        """
        body = self.request.get("object") or {}
        metadata = body.get("metadata", {})
        parts = ("finalizers", "labels", "ownerReferences")
        return (self.verb, body.get("spec"), *(metadata.get(part) for part in parts))


Decide = Callable[[Seen], Answer | None]


def _no_opinion(_seen: Seen) -> None:
    return None


@dataclass
class Recorder:
    """The server. `decide` may be replaced at any time; None from it lets the request pass."""

    plane: Plane
    port: int
    names: tuple[str, ...] = ("localhost", "127.0.0.1")
    seen: list[Seen] = field(default_factory=list)
    decide: Decide = _no_opinion
    # Connections that were opened and closed again without a request that could be read.
    refused: int = 0
    _loop: asyncio.AbstractEventLoop | None = None
    _thread: threading.Thread | None = None
    _open: set[asyncio.StreamWriter] = field(default_factory=set)

    def start(self) -> None:
        """Listen; returns when connections are accepted."""
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)))
        self._thread.start()
        if not ready.wait(WAIT_S):
            raise TimeoutError("the recorder did not start")

    def stop(self) -> None:
        """Close everything, connections included."""
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._thread.join(WAIT_S)
            self._thread = None

    def cut(self) -> None:
        """Close the open connections and go on listening."""
        if self._loop is not None:
            for writer in list(self._open):
                self._loop.call_soon_threadsafe(writer.transport.abort)

    def admissions(self, namespace: str, **wanted: str) -> list[Seen]:
        """Return the AdmissionReviews of a namespace, by attributes of `Seen`."""
        return self.found("/admit", namespace=namespace, **wanted)

    def authorizations(self, **wanted: str) -> list[Seen]:
        """Return the SubjectAccessReviews, by attributes of `Seen`."""
        return self.found("/authorize", **wanted)

    def found(self, path: str, **wanted: str) -> list[Seen]:
        """Return what came to a path and has these attributes."""
        return [
            seen
            for seen in list(self.seen)
            if seen.path.startswith(path)
            and all(getattr(seen, key) == value for key, value in wanted.items())
        ]

    async def _serve(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        pair = self.plane.issue_server(f"recorder-{self.port}", self.names)
        context = ssl.create_default_context(
            ssl.Purpose.CLIENT_AUTH, cafile=str(self.plane.webhook_client_ca)
        )
        context.load_cert_chain(pair.certificate, pair.key)
        context.verify_mode = ssl.CERT_REQUIRED
        server = await asyncio.start_server(
            self._connection, "127.0.0.1", self.port, ssl=context, limit=8 * 1024 * 1024
        )
        self._loop.set_exception_handler(lambda _loop, _context: None)
        ready.set()
        await self._stopped.wait()
        server.close()
        for writer in list(self._open):
            writer.transport.abort()
        await asyncio.sleep(0)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        certificate = writer.get_extra_info("peercert") or {}
        client = dict(part for rdn in certificate.get("subject", ()) for part in rdn)
        try:
            while await self._one(reader, writer, client.get("commonName", "")):
                pass
        except (OSError, asyncio.IncompleteReadError, ValueError):
            self.refused += 1
        finally:
            self._open.discard(writer)
            writer.transport.abort()

    async def _one(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: str
    ) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = head.split("\r\n")
        headers = {
            key.lower(): value.strip()
            for key, _, value in (line.partition(":") for line in lines[1:] if line)
        }
        body = await reader.readexactly(int(headers["content-length"]))
        seen = Seen(lines[0].split()[1].partition("?")[0], json.loads(body), client)
        self.seen.append(seen)
        # WHY: an authorizer without an opinion must not allow, or it would overrule RBAC.
        answer = self.decide(seen) or Answer(allowed=seen.path != "/authorize")
        if answer.delay_s:
            await asyncio.sleep(answer.delay_s)
        if answer.hang_up:
            return False
        reply = json.dumps(_reply(seen, answer)).encode()
        writer.write(
            f"HTTP/1.1 {answer.status} X\r\ncontent-type: application/json\r\n"
            f"content-length: {len(reply)}\r\n\r\n".encode()
            + reply
        )
        await writer.drain()
        return True


def _reply(seen: Seen, answer: Answer) -> dict[str, Any]:
    if seen.review["kind"] == "SubjectAccessReview":
        status = {
            "allowed": answer.allowed and not answer.denied,
            "denied": answer.denied,
            "reason": answer.message,
        }
        return {**seen.review, "status": status}
    response: dict[str, Any] = {"uid": seen.request["uid"], "allowed": answer.allowed}
    if not answer.allowed:
        response["status"] = {"code": 403, "message": answer.message or "refused by the test"}
    if answer.warnings:
        response["warnings"] = list(answer.warnings)
    return {
        "apiVersion": seen.review["apiVersion"],
        "kind": "AdmissionReview",
        "response": response,
    }


T = TypeVar("T")


def until(what: str, look: Callable[[], T | None], limit_s: float = WAIT_S) -> T:
    """Look again until there is something; fail with `what` was waited for."""
    deadline = time.monotonic() + limit_s
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {limit_s:g} s for {what}")
        time.sleep(0.02)
