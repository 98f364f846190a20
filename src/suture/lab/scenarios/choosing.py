"""How a scenario file names the objects that it means: one or several, by labels, by fields.

Beside `format`, whose page is what stands in a file: forms that mean the same (a name or a list of
names, `all` or a selector) are told apart here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from suture.errors import InputError
from suture.lab.scenarios.expand import expand

Labels = Annotated[
    dict[str, str] | str,
    Meta(description="Labels as a map, or a selector as kubectl takes it: `app in (a,b),!old`."),
]


class Closed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of the format: unknown fields are errors."""


class Select(Closed, frozen=True, kw_only=True):
    """Objects by what they carry; with nothing given, all of them."""

    labels: Labels | None = None
    fields: Annotated[
        dict[str, str] | str | None,
        Meta(description="A field selector: `status.phase=Failed`."),
    ] = None
    all: Annotated[bool, Meta(description="Every object; the same as an empty selector.")] = False

    @property
    def label_selector(self) -> str | None:
        """The query string, None when labels were not given at all."""
        return _selector(self.labels)

    @property
    def field_selector(self) -> str | None:
        """The query string, None when fields were not given at all."""
        return _selector(self.fields)


class Meant(Closed, frozen=True, kw_only=True):
    """Objects whose loss is meant, and therefore no harm. All that is given must fit."""

    resource: Annotated[str, Meta(description="plural.group; left out: any of the kinds.")] = ""
    namespaces: tuple[str, ...] | str | None = None
    names: Annotated[
        tuple[str, ...] | str | None, Meta(description="Names; `*` and `?` stand for letters.")
    ] = None
    select: Select | str | None = None
    labels: Labels | None = None

    @property
    def label_selector(self) -> str | None:
        """The labels wanted, from either place, as a query."""
        if self.labels is not None:
            return _selector(self.labels)
        chosen = selection(self.select)
        return None if chosen is None else chosen.label_selector


def listed(given: Sequence[str] | str | None) -> list[str]:
    """Return one name or several as a list, ranges written out."""
    if given is None:
        return []
    return expand((given,) if isinstance(given, str) else given)


def selection(given: Select | str | None) -> Select | None:
    """Return what a selection means: `all`, a query, or labels and fields."""
    if isinstance(given, str):
        return Select(all=True) if given in ("all", "*") else Select(labels=given)
    return given


def _selector(given: Mapping[str, str] | str | None) -> str | None:
    if given is None or isinstance(given, str):
        return given
    return ",".join(f"{key}={value}" for key, value in given.items())


def meants(given: tuple[Meant | str, ...] | Meant | str) -> list[Meant]:
    """Return objects that are meant in one form."""
    several = given if isinstance(given, tuple) else (given,)
    return [_meant(item) if isinstance(item, str) else item for item in several]


def _meant(text: str) -> Meant:
    """Read `services/shop-0/cart` or `namespaces/shop-0`."""
    # WHY: no name has one, so that such a text would mean nothing and count nothing.
    if "=" in text:
        raise InputError(
            f"`{text}` names no object; labels are written as {{labels: {{KEY: VALUE}}}}"
        )
    resource, _, rest = text.replace(" ", "/").partition("/")
    namespace, _, name = rest.rpartition("/")
    return Meant(
        resource=resource,
        namespaces=(namespace,) if namespace else None,
        names=(name,) if name else None,
    )
