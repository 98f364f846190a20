"""The connections to one API server, shared by all who speak to it as whomever.

Beside `kube`, which says what goes over them: here is how many there are, and how long they wait.
"""

from __future__ import annotations

import httpx2

from suture import __version__
from suture.adapters.kubeconfig import Login
from suture.adapters.kubetransport import KubeTransport, proxied

MAX_CALLS = 64
"""LIMIT: calls in flight, further ones wait. An API server serves 400 reads and 200 writes at
once by default; a tenth of that is ours at most."""

MAX_STREAMS = 1024
"""LIMIT: open watches, one connection each: 60 built-in kinds, and a cluster with 900 custom
ones is the largest known of."""

CONNECT_S = 2.5
"""LIMIT: TCP and TLS: within a region 3 round trips, under 0.2 s; one lost SYN costs 1 s. Less
than any wait of ours around a call (3 s), so that the call is told what it waited for."""

CALL_S = 65.0
"""LIMIT: a whole call. The API server ends every call of its own accord after 60 s; the rest is
connecting."""

KEEPALIVE_S = 60.0
"""LIMIT: the API server closes idle connections after 90 s; leaving first means never to write
into a connection that is just being closed."""

IDLE_S = 90.0
"""LIMIT: silence on a watch with bookmarks, of which one comes each minute. What is silent for
longer is dead (a half-open connection tells nobody)."""


class Pools:
    """The connections behind a client and all that impersonate through it."""

    def __init__(self, login: Login) -> None:
        self.login = login
        tls, auth = login.tls(), login.auth()

        # The environment's proxies, where they apply, are the HTTP library's own to find.
        direct = not (login.trust_env and proxied(login.server))

        def pool(size: int, timeout: httpx2.Timeout) -> httpx2.AsyncClient:
            return httpx2.AsyncClient(
                base_url=login.server,
                transport=KubeTransport(
                    login.server, tls, size=size, keep=MAX_CALLS, keep_s=KEEPALIVE_S
                )
                if direct
                else None,
                verify=tls,
                auth=auth,
                trust_env=login.trust_env,
                timeout=timeout,
                limits=httpx2.Limits(
                    max_connections=size,
                    max_keepalive_connections=MAX_CALLS,
                    keepalive_expiry=KEEPALIVE_S,
                ),
                headers={
                    "User-Agent": f"suture/{__version__}",
                    # WHY: gzip costs both ends more than a cluster's network does.
                    "Accept-Encoding": "identity",
                },
            )

        # WHY two: a thousand open watches must neither starve a call of its connection nor make
        # the pool walk past them for each. What bounds a call as a whole is `timeout_s`.
        self.calls = pool(MAX_CALLS, httpx2.Timeout(CALL_S, connect=CONNECT_S))
        self.streams = pool(
            MAX_STREAMS,
            httpx2.Timeout(IDLE_S, connect=CONNECT_S, write=CONNECT_S, pool=CONNECT_S),
        )

    async def aclose(self) -> None:
        """Close all of them."""
        await self.calls.aclose()
        await self.streams.aclose()
