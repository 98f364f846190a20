"""What a field's name says by convention: that an object is named there, and of which kind.

Pure. Source: API conventions, by which a reference is called `fooName` or `fooRef` after the kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from suture.model.names import Resource

PROVIDERS = (
    "authentication", "class", "issuer", "pool", "provider", "providerconfig", "resource", "source",
    "store",
)  # fmt: skip
"""How fields with a `kind` and a `name` in them end, before `Ref`, that say through what an object
comes by what it is for; a `resource` is what a claim is bound to, and works by. WHY only these:
others name what is made of it, or once was its cause."""

SHORTEST = 4
"""LIMIT: characters of a name that is held against kinds; with less, too many end by chance."""

_TEMPLATE = "emplate"
"""How fields end that hold what others are made like: `template`, `machineTemplate`."""

_AFTER = ("Names", "Name", "References", "Reference", "Refs", "Ref")
_PLURALS = (("ies", "y"), ("es", ""), ("s", ""))


SCALED = "scaleTargetRef"
"""How autoscalers call the workload whose size they set. SOURCE: autoscaling/v2."""


def names_provider(field: str) -> bool:
    """Whether a field in which a kind and a name stand says through what its object works."""
    return field.endswith("Ref") and field[:-3].lower().endswith(PROVIDERS)


def names_material(field: str, steps: Sequence[str]) -> bool:
    """Whether a field in which a kind and a name stand says of what more of a kind are made.

    Such a field is a reference within a template: `spec.template.spec.infrastructureRef`.
    """
    return field.endswith(("Ref", "ref")) and any(one.endswith(_TEMPLATE) for one in steps)


def is_template(resource: Resource) -> bool:
    """Whether objects of a type are called templates: there to be made others of, again and again.

    SOURCE: Cluster API, contract of infrastructure providers: kinds that end in `Template`.
    """
    return resource.plural.endswith("templates")


def kinds_called(
    field: str, kinds: Sequence[tuple[str, Resource]]
) -> tuple[tuple[str, Resource], ...]:
    """Return those kinds whose last words a field is called after: `project` after `AppProject`.

    Where a kind is called just so, it alone is meant.
    """
    found: dict[tuple[str, Resource], int] = {}
    for name in _spellings(field):
        for one in kinds:
            if _ends(one[0], name):
                found[one] = max(len(name), found.get(one, 0))
    alone = tuple(one for one, size in found.items() if size == len(one[0]))
    return alone or tuple(found)


def _spellings(field: str) -> Iterator[str]:
    """Yield how the kind may be spelled that a field is called after, in lower case."""
    bare = next((field.removesuffix(end) for end in _AFTER if field.endswith(end)), field)
    name = bare.lower()
    if len(name) >= SHORTEST:
        yield name
    for plural, single in _PLURALS:
        if name.endswith(plural) and len(name) - len(plural) >= SHORTEST:
            yield name.removesuffix(plural) + single


def _ends(kind: str, name: str) -> bool:
    """Whether the last words of a kind are a name: not a part of a word."""
    return kind.lower().endswith(name) and kind[len(kind) - len(name)].isupper()
