"""Label selectors and their matching, with empty and absent told apart.

Three meanings that must never blur, since a controller that blurred them deleted every Service
of a cluster: absent (selects nothing for a Service, "no selector" for a collection), empty
(`{}`: selects everything), and one with requirements.
Source: meta/v1 LabelSelector, labels.Selector.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, assert_never

import msgspec

from suture.errors import InputError


class Operator(StrEnum):
    """How a requirement compares, as meta/v1 LabelSelectorRequirement spells it."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


_IN: Final = Operator.IN
# WHY named: to ask an enum for a member costs four times as much, and each Service read asks.


class Requirement(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One condition on one label key; `values` is sorted and empty for the two existence forms."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether `labels` meet this condition. NotIn is met by an absent key."""
        value = labels.get(self.key)
        match self.operator:
            case Operator.IN:
                return value is not None and value in self.values
            case Operator.NOT_IN:
                return value is None or value not in self.values
            case Operator.EXISTS:
                return value is not None
            case Operator.DOES_NOT_EXIST:
                return value is None
            case _:
                assert_never(self.operator)


class Selector(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A label query; without requirements it selects everything. Absent is `None`, not this."""

    requirements: tuple[Requirement, ...] = ()

    @property
    def everything(self) -> bool:
        """Whether this selector excludes nothing."""
        return not self.requirements

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether `labels` meet every requirement."""
        return all(requirement.matches(labels) for requirement in self.requirements)

    def one_value_apart(self, other: Selector) -> bool:
        """Tell whether `other` asks for the same labels, and for the same values of all but one."""
        mine, its = self.requirements, other.requirements
        return [one.key for one in mine] == [one.key for one in its] and (
            sum(one not in its for one in mine) == 1
        )

    @classmethod
    def of(cls, match_labels: Mapping[str, str]) -> Selector:
        """Make the selector that `matchLabels` or a Service's `spec.selector` writes."""
        return cls(
            tuple([Requirement(key, _IN, (value,)) for key, value in sorted(match_labels.items())])
        )

    def __str__(self) -> str:
        return ",".join(map(_text, self.requirements)) or "<everything>"


def _text(requirement: Requirement) -> str:
    values = ",".join(requirement.values)
    match requirement.operator:
        case Operator.IN if len(requirement.values) == 1:
            return f"{requirement.key}={values}"
        case Operator.IN:
            return f"{requirement.key} in ({values})"
        case Operator.NOT_IN:
            return f"{requirement.key} notin ({values})"
        case Operator.EXISTS:
            return requirement.key
        case Operator.DOES_NOT_EXIST:
            return f"!{requirement.key}"
        case _:
            assert_never(requirement.operator)


class SelectorError(InputError):
    """A selector's text cannot be read."""

    code = "selector_malformed"

    def __init__(self, text: str, problem: str) -> None:
        super().__init__(f"label selector `{text}` {problem}")


def parse_selector(text: str) -> Selector:
    """Read the `labelSelector` query string of a list or a collection.

    Forms: `a=b`, `a==b`, `a!=b`, `a in (x,y)`, `a notin (x,y)`, `a`, `!a`, joined by commas.
    Errors: SelectorError for anything else. Empty text is the selector of everything.
    """
    return Selector(tuple(_requirement(text, part) for part in _split(text)))


def _split(text: str) -> list[str]:
    """Split at commas that stand outside parentheses."""
    parts: list[str] = []
    depth = start = 0
    for at, char in enumerate(text):
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def _requirement(text: str, part: str) -> Requirement:
    for word, operator in ((" notin ", Operator.NOT_IN), (" in ", Operator.IN)):
        key, found, rest = part.partition(word)
        if found:
            body = rest.strip()
            if not (body.startswith("(") and body.endswith(")")):
                raise SelectorError(text, f"wants parentheses after `{word.strip()}`")
            values = sorted(value.strip() for value in body[1:-1].split(","))
            return Requirement(key.strip(), operator, tuple(values))
    if "!=" in part:
        key, _, value = part.partition("!=")
        return Requirement(key.strip(), Operator.NOT_IN, (value.strip(),))
    if "=" in part:
        key, _, value = part.partition("=")
        return Requirement(key.strip(), Operator.IN, (value.removeprefix("=").strip(),))
    key = part.removeprefix("!").strip()
    if not key or " " in key:
        raise SelectorError(text, f"has a part that is no requirement: `{part}`")
    return Requirement(key, Operator.DOES_NOT_EXIST if part.startswith("!") else Operator.EXISTS)
