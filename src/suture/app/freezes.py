"""Freeze windows of the cluster, read for the decision."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from suture.model.freezes import Freeze


class _Metadata(msgspec.Struct):
    name: str


class _Spec(msgspec.Struct, rename={"from_": "from"}):
    from_: datetime
    until: datetime
    reason: str
    operators: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()


class _Document(msgspec.Struct):
    metadata: _Metadata
    spec: _Spec


class _List(msgspec.Struct):
    items: tuple[msgspec.Raw, ...] = ()


_list_decoder = msgspec.json.Decoder(_List)
_freeze_decoder = msgspec.json.Decoder(_Document)


def read_freezes(body: bytes) -> tuple[tuple[Freeze, ...], tuple[str, ...]]:
    """Read a list of FreezeWindows; return them, and a line for each that cannot be read."""
    windows: list[Freeze] = []
    problems: list[str] = []
    for raw in _list_decoder.decode(body).items:
        try:
            document = _freeze_decoder.decode(raw)
        except msgspec.ValidationError as error:
            problems.append(f"freeze window cannot be read: {error}")
            continue
        spec = document.spec
        windows.append(
            Freeze(
                name=document.metadata.name,
                from_utc_s=_utc_s(spec.from_),
                until_utc_s=_utc_s(spec.until),
                reason=spec.reason,
                operators=spec.operators,
                namespaces=spec.namespaces,
            )
        )
    return tuple(windows), tuple(problems)


def _utc_s(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
