"""A grant for what is not there is refused, with the nearest right word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
import pytest

from suture.adapters.files import read_pack
from suture.app.grantnames import check_names
from suture.app.grantsmade import Terms, for_policies
from suture.errors import ForbiddenError, InputError, NotFoundError
from suture.install.policies import constraints_path
from suture.install.profiles import PROFILES_PATH
from suture.model.clock import Now
from suture.model.grants import Scope
from suture.policy.format import API_VERSION
from suture.wire.discovery import ApiResource, Discovery, StaleGroup

OWN = {"apiVersion": API_VERSION, "metadata": {"name": "few-in-shop"}, "spec": {}}
PROFILE = {"metadata": {"name": "scaler"}, "spec": {"users": ["ops"]}}
SERVED = (("", "services", "Service"), ("apps", "deployments", "Deployment"))


class Cluster:
    """An API server with one policy of its own, one profile, and two kinds."""

    def __init__(self, *, readable: bool = True, stale: bool = False) -> None:
        self.readable = readable
        self.stale = stale

    async def get_raw(self, path: str, *, query: dict[str, Any] | None = None) -> bytes:
        if not self.readable:
            raise ForbiddenError(403, "Forbidden", "no")
        if path == constraints_path("DeleteProtection"):
            return msgspec.json.encode({"items": [OWN]})
        raise NotFoundError(404, "NotFound", "no such kind")

    async def get(self, path: str) -> dict[str, Any]:
        assert path == PROFILES_PATH
        if not self.readable:
            raise ForbiddenError(403, "Forbidden", "no")
        return {"items": [PROFILE]}

    async def discover(self) -> Discovery:
        resources = tuple(
            ApiResource(group, "v1", plural, kind, True, frozenset())
            for group, plural, kind in SERVED
        )
        return Discovery(resources, (StaleGroup("x.example.com", "v1"),) if self.stale else ())

    async def patch(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        type: Literal["apply"],  # noqa: A002
        dry_run: bool = False,
        force: bool = False,
    ) -> dict[str, Any]:
        raise NotImplementedError

    async def update(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        raise NotImplementedError


async def check(
    cluster: Cluster, operator: str, policy: str = "live-data", *resources: str
) -> None:
    terms, now = Terms(reason="agreed", seconds=600), Now(0, 0.0)
    wanted = for_policies(operator, (policy,), Scope(resources), terms, now)
    await check_names(cluster, read_pack(), wanted)


@pytest.mark.parametrize(
    ("operator", "policy", "resources"),
    [
        ("scaler", "live-data", ()),
        ("ops", "few-in-shop", ("services",)),
        ("system:serviceaccount:x:y", "*", ("deployments.apps", "services")),
        ("bob@example.com", "freeze-window", ()),
    ],
)
async def test_what_is_there_is_granted(
    operator: str, policy: str, resources: tuple[str, ...]
) -> None:
    """Policies of the pack and of the cluster, profiles and users, kinds that are served."""
    await check(Cluster(), operator, policy, *resources)


@pytest.mark.parametrize(
    ("operator", "policy", "resources", "words"),
    [
        ("scalr", "live-data", (), "no profile `scalr`; did you mean `scaler`"),
        ("scaler", "live-dta", (), "no policy `live-dta`; did you mean `live-data`"),
        ("scaler", "*", ("deployment",), "no resource `deployment`; did you mean `deployments.apps`"),
    ],
)  # fmt: skip
async def test_what_is_not_there_is_told(
    operator: str, policy: str, resources: tuple[str, ...], words: str
) -> None:
    with pytest.raises(InputError, match=words) as raised:
        await check(Cluster(), operator, policy, *resources)
    assert str(raised.value).endswith("--force grants it all the same")


async def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(InputError, match=r"`nope`.*`scalr`.*`deploy`"):
        await check(Cluster(), "scalr", "nope", "deploy")


async def test_what_cannot_be_looked_up_is_not_held_against_it() -> None:
    """Who may grant need not be able to read policies, and some API may be away."""
    await check(Cluster(readable=False), "scalr", "nope")
    await check(Cluster(stale=True), "scaler", "*", "things.x.example.com")
