"""As much of a Kubernetes client as starting and checking a lab takes; no more.

Lives in the lab because it is synchronous, speaks plain dictionaries and knows certificates by
file; Suture's own client is `suture.adapters.kube`.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Literal, Self

import httpx2

from suture.errors import SutureError, UnavailableError

Object = dict[str, Any]
PatchKind = Literal["merge", "strategic", "json", "apply"]

# LIMIT: longer than the longest webhook timeout (30 s), so that a slow webhook is seen as such.
REQUEST_LIMIT_S = 40.0
# LIMIT: pages of a list, so that a list of many objects is not one huge body.
PAGE = 500

_PATCH_TYPES: Mapping[PatchKind, str] = {
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "json": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
}


class StatusError(SutureError):
    """The API server answered with a failure; `http_status`, `reason` and `message` say which."""

    code = "api_status"

    def __init__(self, method: str, path: str, http_status: int, reason: str, message: str) -> None:
        super().__init__(f"{method} {path}: {http_status} {reason}: {message}")
        self.http_status = http_status
        self.reason = reason
        self.message = message


class Rest:
    """A synchronous client of one API server under one identity."""

    def __init__(
        self,
        endpoint: str,
        *,
        context: ssl.SSLContext,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        connections: int = 32,
    ) -> None:
        """Open nothing yet; connections are made by the first request and kept alive."""
        given = {"authorization": f"Bearer {token}"} if token is not None else {}
        self._client = httpx2.Client(
            base_url=endpoint,
            verify=context,
            headers={**given, **(headers or {}), "accept": "application/json"},
            timeout=REQUEST_LIMIT_S,
            limits=httpx2.Limits(
                max_connections=connections, max_keepalive_connections=connections
            ),
            trust_env=False,
        )

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """Send one request and return the answer, whatever its status."""
        content = None if body is None else json.dumps(body).encode()
        sent = {"content-type": "application/json", **(headers or {})}
        try:
            return self._client.request(method, path, content=content, params=params, headers=sent)
        except httpx2.HTTPError as error:
            raise UnavailableError(
                f"{method} {path} got no answer from {self._client.base_url}: {error!r}; "
                "see `suture lab status`"
            ) from error

    def call(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Object:
        """Send one request; return the object of the answer, raise `StatusError` on a failure."""
        answer = self.request(method, path, body=body, params=params, headers=headers)
        if answer.is_success:
            found: Object = answer.json()
            return found
        raise status_error(method, path, answer)

    def get(self, path: str, /, **params: str) -> Object:
        """Read one object."""
        return self.call("GET", path, params=params)

    def list(self, path: str, /, **params: str) -> list[Object]:
        """Read a whole collection, page by page."""
        items: list[Object] = []
        after = ""
        while True:
            page = self.call("GET", path, params={"limit": str(PAGE), **params, "continue": after})
            items.extend(page.get("items") or [])
            after = page["metadata"].get("continue") or ""
            if not after:
                return items

    def create(self, path: str, body: Object, /, **params: str) -> Object:
        """Create an object in the collection `path`."""
        return self.call("POST", path, body=body, params=params)

    def replace(self, path: str, body: Object, /, **params: str) -> Object:
        """Replace the object at `path`."""
        return self.call("PUT", path, body=body, params=params)

    def patch(self, path: str, body: Any, *, kind: PatchKind = "merge", **params: str) -> Object:
        """Patch the object at `path`."""
        named = {"fieldManager": "suture-lab", **params} if kind == "apply" else params
        return self.call(
            "PATCH", path, body=body, params=named, headers={"content-type": _PATCH_TYPES[kind]}
        )

    def delete(self, path: str, body: Object | None = None, /, **params: str) -> Object:
        """Delete the object, or the collection, at `path`."""
        return self.call("DELETE", path, body=body, params=params)

    def exists(self, path: str) -> bool:
        """Whether there is an object at `path`."""
        answer = self.request("GET", path)
        if answer.status_code == httpx2.codes.NOT_FOUND:
            return False
        if answer.is_success:
            return True
        raise status_error("GET", path, answer)

    def watch(self, path: str, *, timeout_s: float = 30.0, **params: str) -> Iterator[Object]:
        """Yield watch events until the server ends the stream after `timeout_s`."""
        asked = {"watch": "1", "timeoutSeconds": str(max(1, int(timeout_s))), **params}
        with self._client.stream("GET", path, params=asked) as answer:
            if not answer.is_success:
                answer.read()
                raise status_error("GET", path, answer)
            for line in answer.iter_lines():
                if line:
                    yield json.loads(line)


def status_error(method: str, path: str, answer: httpx2.Response) -> StatusError:
    """Return the failure that an answer holds."""
    try:
        status = answer.json()
    except ValueError:
        return StatusError(method, path, answer.status_code, "", answer.text[:500])
    return StatusError(
        method,
        path,
        answer.status_code,
        str(status.get("reason", "")),
        str(status.get("message", "")),
    )
