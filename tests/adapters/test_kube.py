"""The API server client against a small TLS server that answers what a test tells it to."""

from __future__ import annotations

import asyncio
import inspect
import json
from typing import Any

import httpx2
import pytest

from support.apiserver import PODS, ClientOf, Script, always, api_server, query_of, status
from support.serving import Pki
from suture.adapters import kubepools
from suture.adapters.kube import resource_path
from suture.adapters.kubeanswers import transport_errors
from suture.errors import (
    AlreadyExistsError,
    ApiConflictError,
    ApiError,
    ApiUnavailableError,
    ConflictError,
    ForbiddenError,
    GoneError,
    InputError,
    NotFoundError,
    TooManyRequestsError,
    UnavailableError,
)
from suture.model.names import Propagation
from suture.wire.discovery import ApiResource, DiscoveryError, StaleGroup

# ---------------------------------------------------------------------- paths


@pytest.mark.parametrize(
    ("parts", "path"),
    [
        (("", "v1", "pods"), "/api/v1/pods"),
        (("", "v1", "pods", "shop"), "/api/v1/namespaces/shop/pods"),
        (("", "v1", "namespaces", None, "shop"), "/api/v1/namespaces/shop"),
        (("", "v1", "nodes", "", "n1"), "/api/v1/nodes/n1"),
        (("", "v1", "pods", "a", "b", "eviction"), "/api/v1/namespaces/a/pods/b/eviction"),
        (("apps", "v1", "deployments", "a"), "/apis/apps/v1/namespaces/a/deployments"),
        (
            ("rbac.authorization.k8s.io", "v1", "clusterroles", None, "system:node"),
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node",
        ),
        (
            ("", "v1", "services", "a", "b", "proxy/x y"),
            "/api/v1/namespaces/a/services/b/proxy/x%20y",
        ),
    ],
)
def test_paths(parts: tuple[Any, ...], path: str) -> None:
    """Collections, objects and subresources have the paths of the API's reference."""
    assert resource_path(*parts) == path


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a%2fb", "../secrets/x"])
def test_paths_lead_nowhere_else(name: str) -> None:
    """A name that would make another path is refused, not sent."""
    with pytest.raises(InputError, match="cannot be part of a path"):
        resource_path("", "v1", "pods", "shop", name)
    with pytest.raises(InputError, match="needs a name"):
        resource_path("", "v1", "pods", "shop", None, "status")


# ---------------------------------------------------------------------- calls


async def test_calls_say_what_they_mean(pki: Pki, client_of: ClientOf) -> None:
    """Each verb sends its method, options and content type; dry run is never lost."""
    async with api_server(pki, always(200, {"kind": "Pod"})) as script, client_of(script) as client:
        path = resource_path("", "v1", "pods", "shop", "p")
        assert await client.get(path, query={"resourceVersion": "0"}) == {"kind": "Pod"}
        await client.create(PODS, {"a": 1}, dry_run=True, field_manager="me")
        await client.update(path, b'{"raw":true}', dry_run=True)
        for kind in ("json", "merge", "strategic"):
            await client.patch(path, [{"op": "test"}], type=kind)
        await client.patch(path, {}, type="apply", dry_run=True, force=True, field_manager="me")
        await client.delete(
            path,
            propagation_policy=Propagation.ORPHAN,
            grace_period_seconds=0,
            uid="u",
            resource_version="7",
            dry_run=True,
        )
        await client.delete(path)
        assert await client.get_raw("/readyz", accept="text/plain") == b'{"kind": "Pod"}'

        methods = [method for method, *_ in script.seen]
        assert methods == ["GET", "POST", "PUT", *["PATCH"] * 4, "DELETE", "DELETE", "GET"]
        types = [headers.get("content-type") for _, _, headers, _ in script.seen]
        assert types == [
            None,
            ["application/json"],
            ["application/json"],
            ["application/json-patch+json"],
            ["application/merge-patch+json"],
            ["application/strategic-merge-patch+json"],
            ["application/apply-patch+yaml"],
            ["application/json"],
            ["application/json"],
            None,
        ]
        assert query_of(script, 0) == {"resourceVersion": ["0"]}
        assert query_of(script, 1) == {"dryRun": ["All"], "fieldManager": ["me"]}
        assert query_of(script, 2) == {"dryRun": ["All"], "fieldManager": ["suture"]}
        assert script.seen[2][3] == b'{"raw":true}'
        assert query_of(script, 3) == {"fieldManager": ["suture"]}
        assert query_of(script, 6) == {
            "dryRun": ["All"],
            "fieldManager": ["me"],
            "force": ["true"],
        }
        assert json.loads(script.seen[7][3]) == {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Orphan",
            "gracePeriodSeconds": 0,
            "preconditions": {"uid": "u", "resourceVersion": "7"},
            "dryRun": ["All"],
        }
        assert json.loads(script.seen[8][3]) == {"apiVersion": "v1", "kind": "DeleteOptions"}
        assert script.seen[9][2]["accept"] == ["text/plain"]
        assert script.seen[0][2]["accept-encoding"] == ["identity"]
        with pytest.raises(InputError, match="no meaning for a merge patch"):
            await client.patch(path, {}, type="merge", force=True)


async def test_collections_are_deleted_by_selector_or_whole(pki: Pki, client_of: ClientOf) -> None:
    """No selector is no parameter, an empty one is an empty parameter; options are in the body."""
    async with api_server(pki, always(200, {})) as script, client_of(script) as client:
        await client.delete_collection(PODS, label_selector=None, dry_run=True)
        await client.delete_collection(PODS, label_selector="")
        await client.delete_collection(PODS, label_selector="a in (b,c)", field_selector="x=y")
        assert query_of(script, 0) == {}
        assert json.loads(script.seen[0][3])["dryRun"] == ["All"]
        assert query_of(script, 1) == {"labelSelector": [""]}
        assert query_of(script, 2) == {"labelSelector": ["a in (b,c)"], "fieldSelector": ["x=y"]}


async def test_metadata_only_is_asked_for(pki: Pki, client_of: ClientOf) -> None:
    """Objects, lists and watches can be asked for without their contents."""

    async def play(script: Script, writer: asyncio.StreamWriter, _: str, __: str) -> None:
        script.reply(writer, 200, {"metadata": {"resourceVersion": "1"}, "items": []})

    async with api_server(pki, play) as script, client_of(script) as client:
        await client.get(PODS, metadata_only=True)
        assert [page async for page in client.list_pages(PODS, metadata_only=True)]
        with pytest.raises(UnavailableError):  # what is no line is no event
            _ = [block async for block in client.watch_lines(PODS, "1", metadata_only=True)]
    accepted = [headers["accept"][0] for _, _, headers, _ in script.seen]
    assert accepted == [
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    ]


async def test_impersonation_is_of_this_client_only(pki: Pki, client_of: ClientOf) -> None:
    """An impersonating client shares connections, replaces earlier impersonation, closes nothing."""
    async with api_server(pki, always(200, {})) as script, client_of(script) as client:
        someone = client.impersonating(
            "system:serviceaccount:a:b",
            ["g1", "g2"],
            uid="u",
            extra={"authentication.kubernetes.io/pod-name": ["p1", "p2"], "X/Y": ["ü"]},
        )
        async with someone:
            await someone.get(PODS)
        await someone.impersonating("other").get(PODS)
        await client.get(PODS)
        first, second, third = (headers for _, _, headers, _ in script.seen)
        assert first["impersonate-user"] == ["system:serviceaccount:a:b"]
        assert first["impersonate-group"] == ["g1", "g2"]
        assert first["impersonate-uid"] == ["u"]
        assert first["impersonate-extra-authentication.kubernetes.io%2fpod-name"] == ["p1", "p2"]
        assert first["impersonate-extra-x%2fy"] == ["ü"]
        assert second["impersonate-user"] == ["other"]
        assert "impersonate-group" not in second
        assert not any(name.startswith("impersonate") for name in third)
        with pytest.raises(InputError, match="unprintable"):
            client.impersonating("a\r\nAuthorization: stolen")


async def test_token_replaces_the_certificate(pki: Pki, client_of: ClientOf) -> None:
    """A client for a token shows the token and no certificate, which would win over it."""
    peers: list[object] = []

    async def play(script: Script, writer: asyncio.StreamWriter, _: str, __: str) -> None:
        peers.append(writer.get_extra_info("peercert"))
        script.reply(writer, 200, {})

    async with api_server(pki, play) as script, client_of(script) as client:
        await client.get(PODS)
        async with client.with_token("t0ken") as other:
            await other.get(PODS)
    assert peers[0]
    assert not peers[1]
    assert script.seen[1][2]["authorization"] == ["Bearer t0ken"]


async def test_warnings_are_heard(pki: Pki, client_of: ClientOf) -> None:
    """Warning headers reach who wants them, as their text, also beside a refusal."""
    header = 'Warning: 299 - "say \\"no\\""\r\nWarning: 299 - "two"\r\n'
    heard: list[str] = []
    async with api_server(pki, always(200, {}, header)) as script, client_of(script) as client:
        await client.hearing(heard.append).get(PODS)
        await client.get(PODS)
        script.play = always(403, {}, "Warning: odd\r\n")
        with pytest.raises(ForbiddenError):
            await client.hearing(heard.append).get(PODS)
    assert heard == ['say "no"', "two", "odd"]


# ------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("code", "reason", "kind", "also"),
    [
        (400, "BadRequest", ApiError, ApiError),
        (401, "Unauthorized", ApiError, ApiError),
        (403, "Forbidden", ForbiddenError, ApiError),
        (404, "NotFound", NotFoundError, ApiError),
        (409, "Conflict", ApiConflictError, ConflictError),
        (409, "AlreadyExists", AlreadyExistsError, ConflictError),
        (410, "Expired", GoneError, ApiError),
        (422, "Invalid", ApiError, ApiError),
        (429, "TooManyRequests", TooManyRequestsError, UnavailableError),
        (500, "InternalError", ApiUnavailableError, UnavailableError),
        (503, "ServiceUnavailable", ApiUnavailableError, UnavailableError),
        (504, "Timeout", ApiUnavailableError, UnavailableError),
        (302, "Found", ApiError, ApiError),
    ],
)
async def test_refusals_keep_the_servers_words(
    *, pki: Pki, client_of: ClientOf, code: int, reason: str, kind: type[ApiError], also: type
) -> None:
    """Each status becomes its error, exactly, with message, reason, details and the call."""
    body = status(code, reason, 'admission webhook "x" denied: budget b-1', name="p")
    async with api_server(pki, always(code, body)) as script, client_of(script) as client:
        with pytest.raises(ApiError) as caught:
            await client.delete(PODS + "/p")
    error = caught.value
    assert type(error) is kind
    assert isinstance(error, also)
    assert (error.status, error.reason) == (code, reason)
    assert error.message == 'admission webhook "x" denied: budget b-1'
    assert error.message in str(error)
    assert "DELETE /api/v1/pods/p" in str(error)
    assert error.details == {"name": "p"}


async def test_retry_after_is_told(pki: Pki, client_of: ClientOf) -> None:
    """Seconds to wait come from the header, else from the details, else are unknown."""
    async with api_server(pki, always(200, {})) as script, client_of(script) as client:
        for play, expected in (
            (always(429, {}, "Retry-After: 3\r\n"), 3.0),
            (always(429, status(429, "TooManyRequests", "m", retryAfterSeconds=10)), 10.0),
            (always(503, status(503, "X", "m", retryAfterSeconds=0)), None),
            (always(503, b"", "Retry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\n"), None),
        ):
            script.play = play
            with pytest.raises(ApiUnavailableError) as caught:
                await client.get(PODS)
            assert caught.value.retry_after_s == expected


async def test_refusals_of_others_in_between_are_told(pki: Pki, client_of: ClientOf) -> None:
    """A proxy's HTML, an empty body and a JSON that is no Status still make a message."""
    async with api_server(pki, always(200, {})) as script, client_of(script) as client:
        for body, message in (
            (b"<html>bad gateway</html>", "<html>bad gateway</html>"),
            (b"", "no reason given"),
            (b"[1]", "[1]"),
        ):
            script.play = always(502, body)
            with pytest.raises(ApiUnavailableError) as caught:
                await client.get(PODS)
            assert caught.value.message == message


@pytest.mark.parametrize("body", [b"", b"<html>", b"[1]", b'{"a":'])
async def test_answers_that_are_no_objects_are_unavailable(
    pki: Pki, client_of: ClientOf, body: bytes
) -> None:
    """A success that is not a JSON object is somebody else's answer."""
    async with api_server(pki, always(200, body)) as script, client_of(script) as client:
        with pytest.raises(UnavailableError, match="cannot be read"):
            await client.get(PODS)


# ------------------------------------------------------------------ transport


def all_errors(kind: type[Exception]) -> set[type[Exception]]:
    """Return the class and those below it that are the library's own."""
    below = (all_errors(sub) for sub in kind.__subclasses__())
    return {known for known in {kind}.union(*below) if known.__module__.startswith("httpx2")}


@pytest.mark.parametrize(
    "kind",
    sorted(all_errors(httpx2.HTTPError) | {httpx2.InvalidURL}, key=str),
)
def test_every_error_of_the_transport_is_mapped(kind: type[Exception]) -> None:
    """Whatever the HTTP library can throw becomes UnavailableError and names what it was."""
    parameters = inspect.signature(kind).parameters
    request = httpx2.Request("GET", "https://x")
    more: dict[str, Any] = {}
    if "response" in parameters:
        more = {"request": request, "response": httpx2.Response(200, request=request)}
    error = kind("words", **more)
    with (
        pytest.raises(UnavailableError, match=f"`GET /x`.*{kind.__name__}: words") as caught,
        transport_errors("GET /x"),
    ):
        raise error
    assert caught.value.__cause__ is error


def test_the_map_of_errors_is_of_the_whole_tree() -> None:
    """The tree that the test above walks is the library's: nothing public is beside it."""
    public = {
        value
        for value in vars(httpx2).values()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    known = all_errors(httpx2.HTTPError) | {httpx2.InvalidURL} | all_errors(httpx2.StreamError)
    assert {httpx2.TransportError, httpx2.ReadTimeout, httpx2.ProxyError} <= known
    # Never raised by a client that keeps no cookies and reads no server-sent events.
    assert public - known <= {httpx2.CookieConflict, httpx2.SSEError}


async def test_failures_on_the_way_are_unavailable(pki: Pki, client_of: ClientOf) -> None:
    """Nobody listening, a cut in the answer, nonsense instead of one: UnavailableError each."""

    async def cut(_: Script, writer: asyncio.StreamWriter, __: str, ___: str) -> None:
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"a":')
        writer.close()

    async def nonsense(_: Script, writer: asyncio.StreamWriter, __: str, ___: str) -> None:
        writer.write(b"not http at all\r\n\r\n")

    async with api_server(pki, cut) as script, client_of(script) as client:
        with pytest.raises(UnavailableError, match="RemoteProtocolError"):
            await client.get(PODS)
        script.play = nonsense
        with pytest.raises(UnavailableError, match="RemoteProtocolError"):
            await client.get(PODS)
    async with client_of(script) as client:
        with pytest.raises(UnavailableError, match="ConnectError"):
            await client.get(PODS)


async def test_untrusted_servers_are_unavailable(
    pki: Pki, own_pki: Pki, client_of: ClientOf
) -> None:
    """A server of another authority is not spoken to, and the message says why."""
    async with api_server(own_pki, always(200, {})) as script, client_of(script) as client:
        with pytest.raises(UnavailableError, match="CERTIFICATE_VERIFY_FAILED"):
            await client.get(PODS)
        assert script.seen == []


async def test_slow_answers_end_in_time(pki: Pki, client_of: ClientOf) -> None:
    """A call's time is for the whole of it, also when the answer comes drop by drop."""

    async def play(_: Script, writer: asyncio.StreamWriter, __: str, ___: str) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
        for _drop in range(100):
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.03)

    async with api_server(pki, play) as script, client_of(script) as client:
        start = asyncio.get_running_loop().time()
        with pytest.raises(UnavailableError, match=r"not answered .* within 0.2 s"):
            await client.get(PODS, timeout_s=0.2)
        assert asyncio.get_running_loop().time() - start < 1
        script.play = always(200, {})  # and the connection is not left in the middle
        assert await client.get(PODS) == {}


async def test_answers_are_bounded(pki: Pki, client_of: ClientOf) -> None:
    """An answer larger than its limit is given up, not kept in memory."""
    large = always(200, b" " * 2_000_000)
    async with api_server(pki, large) as script, client_of(script) as client:
        with pytest.raises(UnavailableError, match="larger than 1 MiB; ask for less"):
            await client._send("GET", PODS, {}, max_bytes=1 << 20)


async def test_many_calls_share_few_connections(pki: Pki, client_of: ClientOf) -> None:
    """Calls beyond the limit wait for their turn; none fails."""
    open_now = most = 0

    async def play(script: Script, writer: asyncio.StreamWriter, _: str, __: str) -> None:
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        await asyncio.sleep(0.002)
        open_now -= 1
        script.reply(writer, 200, {})

    async with api_server(pki, play) as script, client_of(script) as client:
        answers = await asyncio.gather(*(client.get(PODS) for _ in range(300)))
    assert answers == [{}] * 300
    assert 1 < most <= kubepools.MAX_CALLS


# ------------------------------------------------------------------ discovery


async def test_discovery_finds_kinds_and_what_is_stale(pki: Pki, client_of: ClientOf) -> None:
    """Kinds come at their preferred version, with subresources; silent backends are named."""

    def kind(plural: str, name: str, scope: str = "Namespaced") -> dict[str, object]:
        return {
            "resource": plural,
            "scope": scope,
            "responseKind": {"group": "", "version": "", "kind": name},
            "verbs": ["get", "list"],
        }

    scale = {"subresources": [{"subresource": "scale", "verbs": ["get"]}]}
    core = {
        "kind": "APIGroupDiscoveryList",
        "items": [
            {
                "versions": [
                    {
                        "version": "v1",
                        "resources": [kind("nodes", "Node", "Cluster")],
                        "freshness": "Current",
                    }
                ]
            }
        ],
    }
    groups = {
        "kind": "APIGroupDiscoveryList",
        "items": [
            {
                "metadata": {"name": "apps"},
                "versions": [
                    {"version": "v1", "resources": [kind("deployments", "Deployment") | scale]},
                    {
                        "version": "v1beta1",
                        "resources": [kind("deployments", "Deployment"), kind("olds", "Old")],
                    },
                ],
            },
            {
                "metadata": {"name": "metrics.k8s.io"},
                "versions": [{"version": "v1beta1", "freshness": "Stale"}],
            },
        ],
    }

    async def play(script: Script, writer: asyncio.StreamWriter, _: str, target: str) -> None:
        script.reply(writer, 200, core if target == "/api" else groups)

    async with api_server(pki, play) as script, client_of(script) as client:
        found = await client.discover()
    reads = frozenset({"get", "list"})
    assert found.resources == (
        ApiResource("", "v1", "nodes", "Node", False, reads),
        ApiResource("apps", "v1", "deployments", "Deployment", True, reads, frozenset({"scale"})),
        ApiResource("apps", "v1beta1", "olds", "Old", True, reads),
    )
    assert found.stale == (StaleGroup("metrics.k8s.io", "v1beta1"),)
    assert "apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" in script.seen[0][2]["accept"][0]


async def test_servers_without_aggregated_discovery_are_told(pki: Pki, client_of: ClientOf) -> None:
    """An old list of groups is not taken for an empty cluster."""
    for body, words in (({"kind": "APIGroupList"}, "APIGroupList"), (b"[]", "cannot be read")):
        async with api_server(pki, always(200, body)) as script, client_of(script) as client:
            with pytest.raises(DiscoveryError, match=words):
                await client.discover()
