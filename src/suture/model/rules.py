"""What users, schemas and data say of custom resources: which field names or selects what.

A ReferenceRule speaks of kinds as people do; `rulebook` turns all rules into what the reader of
each kind must do, once it is known which kinds a cluster serves. Pure values.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TypeVar

import msgspec

from suture.model.fieldpath import FieldPath
from suture.model.names import Resource

REFERENCE_RULES = Resource("policies.suture.dev", "referencerules")
"""Where ReferenceRules are stored."""

SPEC = FieldPath(("spec",))

R = TypeVar("R")


class TypeName(msgspec.Struct, frozen=True, gc=False, order=True):
    """A type as a rule names it: group, and kind or plural, of which one is empty."""

    group: str
    kind: str = ""
    plural: str = ""

    @classmethod
    def of(cls, resource: Resource) -> TypeName:
        """Return the name of a type that is known."""
        return cls(resource.group, plural=resource.plural)

    def __str__(self) -> str:
        name = self.kind or self.plural
        return f"{name}.{self.group}" if self.group else name


class Place(StrEnum):
    """Where the named object is: a field may say it, else one of these."""

    SAME = "same"
    """In the namespace of the object that names it."""
    CLUSTER = "cluster"
    """In no namespace: it is cluster-scoped."""


class Reference(msgspec.Struct, frozen=True, gc=False, tag_field="form", tag="reference"):
    """A field holds the name of another object."""

    field: FieldPath
    to: TypeName
    place: Place | FieldPath = Place.SAME
    key: FieldPath | None = None
    """Where the entry of a ConfigMap or Secret is named that is read."""
    optional: bool = False
    leads: bool = False
    """It is a Service, and a port stands beside it: traffic is sent there."""


class By(StrEnum):
    """How a parent knows its children."""

    OWNER = "owner"
    LABEL = "label"
    NAME = "name"


class Child(msgspec.Struct, frozen=True, gc=False):
    """One kind of children, and how each names its parent.

    `label`: the key whose value is the parent's name. `name`: the child's name as `{name}-*`,
    where `*` stands for one or more characters that are neither `-` nor `.`.
    """

    of: TypeName
    by: By
    label: str = ""
    name: str = ""
    place: Place = Place.SAME
    """Where the parent is, seen from the child."""


class Family(msgspec.Struct, frozen=True, gc=False, tag_field="form", tag="children"):
    """A custom resource has children, and says how many it wants.

    `pools`: where each of its parts says so of itself. `ended`: where it says that its work is
    over, after which nothing wants its children. `lists`: where it lists them by type and name.
    `suspend`: where it says whether they are to wait.
    """

    children: tuple[Child, ...] = ()
    wanted: FieldPath | None = None
    pools: tuple[FieldPath, ...] = ()
    ended: tuple[FieldPath, ...] = ()
    lists: tuple[FieldPath, ...] = ()
    suspend: FieldPath | None = None


class Form(StrEnum):
    """How a selector is written."""

    LABEL_SELECTOR = "labelSelector"
    """`matchLabels` and `matchExpressions`; empty selects everything."""
    MATCH_LABELS = "matchLabels"
    """A map of labels; an empty one is as good as absent, and selects nothing."""
    STRING = "string"
    """As `kubectl -l` takes it, or as `has(a) && b == "c"`; empty text is as good as absent, and
    selects nothing."""


class Selects(msgspec.Struct, frozen=True, gc=False, tag_field="form", tag="selector"):
    """A field selects other objects by label.

    `namespaces`: the field with a label selector of the namespaces to look into; where the object
    has none it is its own; `by_name`: with `matchNames`, or `any`, instead. `place` CLUSTER: the
    selected kind has no namespaces.
    """

    field: FieldPath
    of: TypeName
    written: Form = Form.LABEL_SELECTOR
    place: Place = Place.SAME
    namespaces: FieldPath | None = None
    by_name: bool = False


class Outside(msgspec.Struct, frozen=True, gc=False, tag_field="form", tag="outside"):
    """A custom resource stands for something outside the cluster.

    The field says what becomes of that when the object goes (`Delete`, `Orphan`), or which thing
    it is (a provider's id). A yes or no says it by its name: see `speaks_of_outside`.
    """

    field: FieldPath


class Provided(msgspec.Struct, frozen=True, gc=False, tag_field="form", tag="provided"):
    """A field names what provides an object with what it is for, and says of which kind that is.

    `group`: of which it is where the field does not say it.
    """

    field: FieldPath
    group: str


class Called(msgspec.Struct, frozen=True, gc=False, tag_field="form", tag="called"):
    """Fields that may hold names, each of an object of a kind that it is called after.

    That is a kind of the same group; which there are is not known where it is said.
    """

    fields: tuple[FieldPath, ...]


class Open(msgspec.Struct, frozen=True, gc=False, tag_field="form", tag="open"):
    """The `spec` of a kind takes any fields: what they say, their names alone tell."""


_BECOMES = re.compile(
    r"(?:(?P<goes>delete|destroy|drop|erase|purge|wipe)|keep|orphan|preserve|retain)(?:[A-Z]\w*)?"
    r"On(?:Delete|Deletion|Destroy|Removal|Remove)"
)


def speaks_of_outside(name: str) -> bool:
    """Whether a field of this name says, with a yes or no, what becomes of a thing outside.

    As in `destroyResourcesOnDeletion`, `dropOnDelete` and `preserveOnDelete`: what is done begins
    the name, and when ends it.
    """
    return _BECOMES.fullmatch(name) is not None


def takes_along(name: str, *, said: bool) -> bool:
    """Whether such a field has the thing outside go with the object: by a yes, or a no to keep."""
    found = _BECOMES.fullmatch(name)
    return found is not None and (found["goes"] is not None) is said


Says = Reference | Family | Selects | Outside | Provided | Called | Open


class ReferenceRule(msgspec.Struct, frozen=True, gc=False):
    """One thing that is said of one kind.

    `discovered`: by the shape of its schema and not by a person, so that a name that leads nowhere
    is no news.
    """

    name: str
    of: TypeName
    says: Says
    discovered: bool = False


class RuleFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="rule"
):
    """What a ReferenceRule of the cluster says; `problem` where that makes no sense."""

    rule: ReferenceRule | None = None
    problem: str = ""
