"""Suture's own kinds become what is in force: profiles, quarantine list, grants, freeze windows.

Level-based: whenever one of them changes, all of them are read again and replace what was.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any, Protocol

import msgspec
import structlog

from suture.app.freezes import read_freezes
from suture.app.grants import read_grants
from suture.errors import NotFoundError, SutureError
from suture.install.freezes import FREEZES_PATH
from suture.install.grants import GRANTS_PATH
from suture.install.profiles import PROFILES_PATH
from suture.install.settings import QUARANTINE
from suture.judge import World
from suture.model.actor import Operators, Profile, Stage, WhenDead
from suture.model.freezes import Freezes

log = structlog.get_logger(__name__)

NONE_SERVED = b'{"items": []}'
"""WHY it is as good as none: before its definition is applied, nobody can have made one."""

RETRY_S = 1.0
"""LIMIT: between attempts when a list cannot be read; two small lists cost nothing."""


class Source(Protocol):
    """What is read of the cluster: one document, and the word that something changed."""

    async def get_raw(self, path: str, *, query: Mapping[str, str] | None = None) -> bytes:
        """Return a document. Errors: SutureError."""

    def watch_lines(self, path: str, resource_version: str | None) -> AsyncIterator[bytes]:
        """Yield whole watch lines from a version on, until the stream ends."""


class _Metadata(msgspec.Struct, rename="camel"):
    name: str = ""
    resource_version: str = ""


class _ProfileSpec(msgspec.Struct, rename="camel"):
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    stage: Stage = Stage.OBSERVE
    when_dead: WhenDead = WhenDead.PASS
    default: bool = False


class _ProfileDocument(msgspec.Struct):
    metadata: _Metadata
    spec: _ProfileSpec


class _List(msgspec.Struct):
    metadata: _Metadata
    items: tuple[msgspec.Raw, ...] = ()


class _Quarantine(msgspec.Struct):
    data: dict[str, str] | None = None


_list_decoder = msgspec.json.Decoder(_List)
_profile_decoder = msgspec.json.Decoder(_ProfileDocument)
_quarantine_decoder = msgspec.json.Decoder(_Quarantine)


def read_profiles(body: bytes) -> tuple[tuple[Profile, ...], tuple[str, ...]]:
    """Read a list of OperatorProfiles; return them, and a line for each that cannot be read.

    One bad profile does not take the others out of force.
    """
    profiles: list[Profile] = []
    problems: list[str] = []
    for raw in _list_decoder.decode(body).items:
        try:
            document = _profile_decoder.decode(raw)
        except msgspec.ValidationError as error:
            problems.append(f"operatorprofile cannot be read: {error}")
            continue
        spec = document.spec
        profiles.append(
            Profile(
                name=document.metadata.name,
                users=spec.users,
                groups=spec.groups,
                stage=spec.stage,
                when_dead=spec.when_dead,
                default=spec.default,
            )
        )
    return tuple(profiles), tuple(problems)


def read_quarantine(body: bytes) -> dict[str, str]:
    """Read the quarantine list: reasons by `user NAME` or `group NAME`.

    An entry's first line says who, the others why; the in-process policy reads the same.
    """
    entries: dict[str, str] = {}
    for raw in _list_decoder.decode(body).items:
        for value in (_quarantine_decoder.decode(raw).data or {}).values():
            who, _, why = value.partition("\n")
            entries[who.strip()] = why.strip() or "no reason given"
    return entries


class Enforcer:
    """Keeps operators, and what people allow them, as the cluster's own kinds say."""

    def __init__(
        self,
        source: Source,
        world: World,
        namespace: str,
        own: Iterable[str],
        break_glass: Iterable[str] = (),
    ) -> None:
        self._source = source
        self._world = world
        self._namespace = namespace
        self._own = tuple(own)
        self._break_glass = tuple(break_glass)
        self._profiles: tuple[Profile, ...] | None = None
        self._quarantined: Mapping[str, str] | None = None
        self._consent: set[str] = set()

    @property
    def read(self) -> bool:
        """Whether each kind was read at least once."""
        own = self._profiles is not None and self._quarantined is not None
        return own and self._consent == {GRANTS_PATH, FREEZES_PATH}

    async def run(self) -> None:
        """Follow them all; never returns."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(follow(self._source, PROFILES_PATH, self.take_profiles))
            tasks.create_task(
                follow(
                    self._source,
                    f"/api/v1/namespaces/{self._namespace}/configmaps",
                    self.take_quarantine,
                    query={"fieldSelector": f"metadata.name={QUARANTINE}"},
                )
            )
            tasks.create_task(
                follow(self._source, GRANTS_PATH, self.take_grants, absent=NONE_SERVED)
            )
            tasks.create_task(
                follow(self._source, FREEZES_PATH, self.take_freezes, absent=NONE_SERVED)
            )

    def take_profiles(self, body: bytes) -> None:
        """Put a list of profiles in force."""
        self._profiles, problems = read_profiles(body)
        for problem in problems:
            log.error("profile is not in force", problem=problem)
        self._apply()

    def take_quarantine(self, body: bytes) -> None:
        """Put a quarantine list in force; a list that is not there is an empty one."""
        self._quarantined = read_quarantine(body)
        self._apply()

    def take_grants(self, body: bytes) -> None:
        """Put a list of grants in force."""
        grants, problems = read_grants(body)
        for problem in problems:
            log.error("grant is not in force", problem=problem)
        self._world.grants.replace(grants)
        self._consent.add(GRANTS_PATH)

    def take_freezes(self, body: bytes) -> None:
        """Put a list of freeze windows in force."""
        windows, problems = read_freezes(body)
        for problem in problems:
            log.error("freeze window is not in force", problem=problem)
        self._world.freezes = Freezes(windows)
        self._consent.add(FREEZES_PATH)

    def _apply(self) -> None:
        self._world.operators = Operators(
            self._profiles or (),
            self._quarantined or {},
            own=self._own,
            break_glass=self._break_glass,
        )


async def follow(
    source: Source,
    path: str,
    take: Callable[[bytes], None],
    *,
    query: dict[str, Any] | None = None,
    absent: bytes | None = None,
    absent_s: float = RETRY_S,
) -> None:
    """Call `take` with the document at `path` now, and again after every change; never returns.

    `absent`: what to take where the kind is not served; without it that is an error like others.
    `absent_s`: seconds until it is looked for again.
    """
    while True:
        wait_s = RETRY_S
        try:
            body = await source.get_raw(path, query=query)
            take(body)
            version = _list_decoder.decode(body).metadata.resource_version
            async for lines in source.watch_lines(path, version):
                if b'"BOOKMARK"' not in lines:
                    take(await source.get_raw(path, query=query))
        except NotFoundError as error:
            if absent is None:
                log.warning("own kinds cannot be read", path=path, error=str(error))
            else:
                wait_s = absent_s
                take(absent)
        except (SutureError, msgspec.MsgspecError) as error:
            log.warning("own kinds cannot be read", path=path, error=str(error))
        await asyncio.sleep(wait_s)
