"""The irregular part of made clusters: teams, platform components, webhooks, definitions.

One JSON object a line, for people to read and to change; shipped compressed, since the names of
fifty teams are the larger part. What is regular (pods, nodes, replica sets) is made from a seed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

import msgspec

from suture.errors import InputError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BUNDLED = "cluster.jsonl.zst"

LINES_BYTES = 4 << 20
"""LIMIT: unpacked lines; the bundled ones are 41 KB, a hundred times that is no cluster's names."""

LEVEL = 19
"""Packed once, unpacked on every run: the slowest level that needs no special memory."""


class LinesError(InputError):
    """The lines of a made cluster cannot be read."""

    code = "cluster_lines_malformed"


class Line(msgspec.Struct, frozen=True, tag_field="kind", forbid_unknown_fields=True):
    """One line; its `kind` says which."""


class Pool(Line, frozen=True, tag="pool"):
    """Nodes of one sort, and their share of all nodes."""

    name: str
    type: str
    share: float
    labels: dict[str, str]


class Zone(Line, frozen=True, tag="zone"):
    """A zone that nodes stand in."""

    name: str


class Region(Line, frozen=True, tag="region"):
    """A part of namespace names; clusters with more namespaces use more of them."""

    name: str


class Stage(Line, frozen=True, tag="stage"):
    """A part of namespace names, and how much runs there."""

    name: str
    weight: float


class Role(Line, frozen=True, tag="role"):
    """The second half of a Deployment's name."""

    name: str
    port: int
    weight: float


class Store(Line, frozen=True, tag="store"):
    """The second half of a StatefulSet's name."""

    name: str
    port: int


class Team(Line, frozen=True, tag="team"):
    """A team: its namespaces are named after it, its apps after its nouns."""

    name: str
    nouns: tuple[str, ...]


class Namespace(Line, frozen=True, tag="namespace"):
    """A namespace of the platform."""

    name: str
    labels: dict[str, str]


class ServiceLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A Service of a component."""

    name: str
    ports: tuple[int, ...]
    type: str = "ClusterIP"
    headless: bool = False


class Component(Line, frozen=True, tag="component"):
    """A workload of the platform with its Services."""

    namespace: str
    name: str
    controller: str
    replicas: int
    image: str
    labels: dict[str, str]
    services: tuple[ServiceLine, ...] = ()
    account: str = ""


class Verbatim(Line, frozen=True, tag="object"):
    """An object as Kubernetes writes it: webhook configurations, definitions, APIServices."""

    object: dict[str, Any]


class Instances(Line, frozen=True, tag="instances"):
    """How large a part of all custom resources is of one type."""

    resource: str
    weight: float


AnyLine = (
    Pool
    | Zone
    | Region
    | Stage
    | Role
    | Store
    | Team
    | Namespace
    | Component
    | Verbatim
    | Instances
)
L = TypeVar("L", bound=Line)
_decoder = msgspec.json.Decoder(AnyLine)


class Lines:
    """All lines, by kind, each in its file's order."""

    def __init__(self, lines: Iterable[AnyLine]) -> None:
        self._lines: tuple[AnyLine, ...] = tuple(lines)

    def of(self, kind: type[L]) -> tuple[L, ...]:
        """Return the lines of one kind. Errors: LinesError when there is none."""
        found = tuple(line for line in self._lines if isinstance(line, kind))
        if not found:
            raise LinesError(f"a made cluster needs a line of kind `{kind.__struct_config__.tag}`")
        return found


def read_lines(text: bytes) -> Lines:
    """Read lines. Errors: LinesError, with the number of the line that is wrong."""
    found: list[AnyLine] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                found.append(_decoder.decode(line))
            except msgspec.DecodeError as error:
                raise LinesError(f"line {number} of a made cluster: {error}") from error
    return Lines(found)


def pack(text: bytes) -> bytes:
    """Return lines as they are shipped; those that cannot be read are not packed."""
    read_lines(text)
    return zstd.compress(text, level=LEVEL)


def unpack(packed: bytes) -> bytes:
    """Return the lines that were packed. Errors: LinesError for anything else."""
    try:
        text = zstd.ZstdDecompressor().decompress(packed, max_length=LINES_BYTES)
    except zstd.ZstdError as error:
        raise LinesError(f"packed lines of a made cluster: {error}") from error
    return text


def bundled_text() -> bytes:
    """Return the lines that come with Suture, as text."""
    return unpack((files("suture.lab") / "data" / BUNDLED).read_bytes())


@cache
def bundled() -> Lines:
    """Return the lines that come with Suture."""
    return read_lines(bundled_text())
