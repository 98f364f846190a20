"""The way to a field of any object, as people write it: `spec.backends[*].service.name`.

A value of its own, since rules of the user, rules found in schemas and rules mined from data all
say where a name stands. How an object is walked is the reader's business. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from suture.errors import InputError

STEPS = 40
"""LIMIT: steps of a path; the deepest field of a pod template inside a custom resource has 16."""

LENGTH = 1024
"""LIMIT: characters of a path: 40 steps of 25; an annotation's key has 317 at most."""

_NAME = re.compile(r"[A-Za-z_$][\w$-]*")
_EACH = "[*]"
_QUOTED = re.compile(r"""\[(?:'([^'\]]+)'|"([^"\]]+)")\]""")
_PLAIN = re.compile(r"[A-Za-z_$][\w$-]*\Z")


class FieldPathError(InputError):
    """The text is no path to a field."""

    code = "field_path_malformed"

    def __init__(self, text: str, problem: str) -> None:
        super().__init__(f"`{text}` {problem}")
        self.problem = problem


class FieldPath(msgspec.Struct, frozen=True, gc=False, order=True):
    """Steps into an object: a field or key by its name, or every item, which is the empty text.

    Every item is each element of an array, or each value of a map.
    """

    steps: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> FieldPath:
        """Read `spec.a[*].b` or `metadata.annotations['x/y']`. Errors: FieldPathError."""
        if len(text) > LENGTH:
            raise FieldPathError(text[:40] + "…", f"is longer than {LENGTH} characters")
        steps: list[str] = []
        at = 0
        while at < len(text):
            if text.startswith(_EACH, at):
                steps.append("")
                at += len(_EACH)
            elif (quoted := _QUOTED.match(text, at)) is not None:
                steps.append(quoted[1] or quoted[2])
                at = quoted.end()
            else:
                at += bool(steps) and text[at] == "."
                name = _NAME.match(text, at)
                if name is None or (steps and text[at - 1] != "."):
                    raise FieldPathError(text, _advice(text, at))
                steps.append(name[0])
                at = name.end()
        if not steps or not steps[0]:
            raise FieldPathError(text, "is no path to a field; write it like `spec.secretName`")
        if len(steps) > STEPS:
            raise FieldPathError(text, f"has {len(steps)} steps, at most {STEPS}")
        return cls(tuple(steps))

    @property
    def name(self) -> str:
        """What the field is called, or the list or map of which it is every item."""
        return next(step for step in reversed(self.steps) if step)

    def then(self, *steps: str) -> FieldPath:
        """Return the path of what stands below."""
        return FieldPath((*self.steps, *steps))

    def shared(self, other: FieldPath) -> int:
        """Return how many steps two paths go together."""
        count = 0
        for mine, theirs in zip(self.steps, other.steps, strict=False):
            if mine != theirs:
                break
            count += 1
        return count

    def __str__(self) -> str:
        return path_text(self.steps)


def path_text(steps: Sequence[str]) -> str:
    """Write steps as a path; the inverse of `FieldPath.parse`."""
    parts: list[str] = []
    for step in steps:
        if not step:
            parts.append(_EACH)
        elif _PLAIN.match(step):
            parts.append(f".{step}" if parts else step)
        else:
            parts.append(f"['{step}']" if "'" not in step else f'["{step}"]')
    return "".join(parts)


def _advice(text: str, at: int) -> str:
    rest = text[at:]
    if re.match(r"\[\d+\]", rest):
        return "names one item of an array; every item is `[*]`"
    if rest.startswith("["):
        return "has a bracket that is neither `[*]` nor a key in quotes: `metadata.labels['x/y']`"
    return f"is no path to a field from character {at + 1} on; write it like `spec.a[*].name`"
