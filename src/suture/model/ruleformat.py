"""ReferenceRules as their authors write them, and back: documents <-> values.

Beside `rules` because the shape of a file changes for its readers' sake, and what a rule means
does not. Pure; every authoring mistake is found here, with its line and field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import assert_never

import msgspec

from suture.model.documents import Document, Path, did_you_mean, read_as
from suture.model.fieldpath import FieldPath, FieldPathError
from suture.model.names import NODES, PODS
from suture.model.rulebook import SPEC
from suture.model.rules import (
    By,
    Called,
    Child,
    Family,
    Form,
    Open,
    Outside,
    Place,
    Provided,
    Reference,
    ReferenceRule,
    Says,
    Selects,
    TypeName,
)

API_VERSION = "policies.suture.dev/v1alpha1"
KIND = "ReferenceRule"

CHILDREN = 32
"""LIMIT: kinds of children of one custom resource; a large database operator makes twelve."""

METADATA = ("name", "namespace", "labels", "annotations")
"""What rules can read of an object's metadata."""

SHORT = {"pods": (TypeName.of(PODS), Place.SAME), "nodes": (TypeName.of(NODES), Place.CLUSTER)}


class _Type(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    group: str = ""
    kind: str = ""
    resource: str = ""


class _To(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    group: str = ""
    kind: str = ""
    resource: str = ""
    namespace: str = "same"
    key: str = ""


class _Child(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    group: str = ""
    kind: str = ""
    resource: str = ""
    by: By
    label: str = ""
    name: str = ""
    parent: Place = Place.SAME


class _Selector(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    field: str
    of: str | _Type = "pods"
    form: Form = Form.LABEL_SELECTOR
    namespace: Place = Place.SAME
    namespaces: str = ""


class _Spec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    source: _Type = msgspec.field(name="from")
    field: str = ""
    to: _To | None = None
    optional: bool = False
    children: list[_Child] = []
    wanted: str = ""
    selector: _Selector | None = None
    outside: str = ""


class _Metadata(msgspec.Struct, frozen=True):
    name: str


class _Rule(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str
    kind: str
    metadata: _Metadata
    spec: _Spec


def is_rule(document: Document) -> bool:
    """Whether a document says that it is a ReferenceRule."""
    return document.at(("kind",)) == KIND and document.at(("apiVersion",)) == API_VERSION


def read_rules(documents: Iterable[Document]) -> tuple[ReferenceRule, ...]:
    """Read documents that must all be ReferenceRules. Errors: DocumentError."""
    rules: dict[str, ReferenceRule] = {}
    for document in documents:
        rule = read_rule(document)
        if rule.name in rules:
            raise document.error(("metadata", "name"), f"`{rule.name}` is given twice")
        rules[rule.name] = rule
    return tuple(rules.values())


def read_rule(document: Document) -> ReferenceRule:
    """Read one ReferenceRule. Errors: DocumentError."""
    if document.at(("kind",)) != KIND:
        raise document.error(("kind",), f"is no `{KIND}` of `{API_VERSION}`")
    if (version := document.at(("apiVersion",))) != API_VERSION:
        raise document.error(("apiVersion",), f"cannot be `{version}`; give `{API_VERSION}`")
    found = read_as(document, _Rule)
    spec = found.spec
    at: Path = ("spec",)
    source = _type(document, (*at, "from"), spec.source)
    says = _says(document, at, spec)
    if source in (TypeName("", "Secret"), TypeName("", plural="secrets")):
        _metadata_alone(document, at, says)
    return ReferenceRule(found.metadata.name, source, says)


def _says(document: Document, at: Path, spec: _Spec) -> Says:
    forms = [
        name
        for name, there in (
            ("field", bool(spec.field or spec.to)),
            ("children", bool(spec.children or spec.wanted)),
            ("selector", spec.selector is not None),
            ("outside", bool(spec.outside)),
        )
        if there
    ]
    if len(forms) != 1:
        given = " and ".join(f"`{form}`" for form in forms) or "none"
        raise document.error(
            at,
            "must say one thing: `field` with `to`, `children`, `selector`, or `outside`; "
            f"given: {given}",
        )
    if spec.optional and forms != ["field"]:
        raise document.error((*at, "optional"), "belongs to `field`; leave it out here")
    if spec.selector is not None:
        return _selects(document, (*at, "selector"), spec.selector)
    if spec.outside:
        return Outside(_path(document, (*at, "outside"), spec.outside))
    if forms == ["children"]:
        return _family(document, at, spec)
    return _reference(document, at, spec)


def _reference(document: Document, at: Path, spec: _Spec) -> Reference:
    if spec.to is None:
        raise document.error(at, "lacks the field `to`: what does `field` name?")
    if not spec.field:
        raise document.error(at, "lacks the field `field`: which field names it?")
    to = (*at, "to")
    place: Place | FieldPath
    if spec.to.namespace in list(Place):
        place = Place(spec.to.namespace)
    else:
        place = _path(document, (*to, "namespace"), spec.to.namespace)
    return Reference(
        _path(document, (*at, "field"), spec.field),
        _type(document, to, spec.to),
        place,
        _path(document, (*to, "key"), spec.to.key) if spec.to.key else None,
        spec.optional,
    )


def _family(document: Document, at: Path, spec: _Spec) -> Family:
    if len(spec.children) > CHILDREN:
        raise document.error((*at, "children"), f"has more than {CHILDREN} entries")
    return Family(
        tuple(
            _child(document, (*at, "children", number), one)
            for number, one in enumerate(spec.children)
        ),
        _path(document, (*at, "wanted"), spec.wanted) if spec.wanted else None,
    )


def _child(document: Document, at: Path, found: _Child) -> Child:
    """Read one kind of children, which says how it names its parent and nothing beside."""
    told = {By.LABEL: found.label, By.NAME: found.name}
    for by, text in told.items():
        if by is found.by and not text:
            raise document.error(at, f"lacks the field `{by}`: children are known by it")
        if by is not found.by and text:
            raise document.error((*at, by.value), f"is not read where `by` is `{found.by}`")
    if found.by is By.NAME:
        _check_template(document, (*at, "name"), found.name)
    return Child(_type(document, at, found), found.by, found.label, found.name, found.parent)


def _check_template(document: Document, at: Path, text: str) -> None:
    parts = re.split(r"(\{name\}|\*)", text)
    if parts.count("{name}") != 1:
        raise document.error(at, "must have `{name}`, the parent's name, once: `{name}-*`")
    if any(not re.fullmatch(r"[a-z0-9.-]*", part) for part in parts[::2]):
        raise document.error(at, "can have letters, digits, `-` and `.` beside `{name}` and `*`")
    # WHY: `{name}*` would fit in many ways, and which part is the parent's name is a guess.
    between = parts[2:-1:2]
    if any(not (set(part) & set("-.")) for part in between):
        raise document.error(at, "must hold `*` and `{name}` apart by `-` or `.`: `{name}-*`")


def _selects(document: Document, at: Path, found: _Selector) -> Selects:
    place = found.namespace
    if isinstance(found.of, str):
        if found.of not in SHORT:
            hint = did_you_mean(found.of, SHORT)
            raise document.error((*at, "of"), f"cannot be `{found.of}`, or give a kind{hint}")
        of, place = SHORT[found.of]
    else:
        of = _type(document, (*at, "of"), found.of)
    namespaces = (*at, "namespaces")
    return Selects(
        _path(document, (*at, "field"), found.field),
        of,
        found.form,
        place,
        _path(document, namespaces, found.namespaces) if found.namespaces else None,
    )


def _type(document: Document, at: Path, found: _Type | _To | _Child) -> TypeName:
    if bool(found.kind) == bool(found.resource):
        raise document.error(at, "must have one of `kind` and `resource`")
    return TypeName(found.group, found.kind, found.resource)


def _path(document: Document, at: Path, text: str) -> FieldPath:
    try:
        path = FieldPath.parse(text)
    except FieldPathError as error:
        raise document.error(at, f"{error}") from None
    if path.steps[0] in ("kind", "apiVersion"):
        raise document.error(at, f"`{text}` says what the object is, and names no other")
    if path.steps[0] == "metadata" and path.steps[1:2] not in [(part,) for part in METADATA]:
        hint = ", ".join(f"`{part}`" for part in METADATA)
        raise document.error(at, f"`{text}` is not read: of `metadata` {hint} are")
    return path


def _metadata_alone(document: Document, at: Path, says: Says) -> None:
    paths: list[FieldPath | None]
    match says:
        case Reference():
            paths = [says.field, says.key]
        case Family():
            paths = [says.wanted]
        case Selects():
            paths = [says.field, says.namespaces]
        case Outside() | Provided():
            paths = [says.field]
        case Called():
            paths = [*says.fields]
        case Open():
            paths = [SPEC]
        case _:
            assert_never(says)
    if any(path is not None and path.steps[0] != "metadata" for path in paths):
        raise document.error((*at, "from"), "is a Secret, of which nothing but metadata is read")


# ---------------------------------------------------------------- values -> documents


def rule_document(
    rule: ReferenceRule, annotations: Mapping[str, str] | None = None
) -> dict[str, object]:
    """Return a rule as a document, ready to be applied; `read_rule` reads it back."""
    metadata: dict[str, object] = {"name": rule.name}
    if annotations:
        metadata["annotations"] = dict(annotations)
    spec: dict[str, object] = {"from": _written(rule.of)}
    says = rule.says
    match says:
        case Reference():
            to = _written(says.to)
            if says.place is not Place.SAME:
                to["namespace"] = str(says.place)
            if says.key is not None:
                to["key"] = str(says.key)
            spec |= {"field": str(says.field), "to": to}
            if says.optional:
                spec["optional"] = True
        case Family():
            spec |= _family_document(says)
        case Selects():
            spec["selector"] = _selector_document(says)
        case Outside():
            spec["outside"] = str(says.field)
        case Provided() | Called() | Open():
            pass  # WHY: schemas alone tell of it; a person names the kind, as a reference.
        case _:
            assert_never(says)
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": spec}


def _family_document(says: Family) -> dict[str, object]:
    written: dict[str, object] = {}
    if says.children:
        written["children"] = [
            {
                **_written(child.of),
                "by": child.by.value,
                **({"label": child.label} if child.label else {}),
                **({"name": child.name} if child.name else {}),
                **({} if child.place is Place.SAME else {"parent": child.place.value}),
            }
            for child in says.children
        ]
    if says.wanted is not None:
        written["wanted"] = str(says.wanted)
    return written


def _selector_document(says: Selects) -> dict[str, object]:
    short = [name for name, known in SHORT.items() if known == (says.of, says.place)]
    written: dict[str, object] = {
        "field": str(says.field),
        "of": short[0] if short else _written(says.of),
        "form": says.written.value,
    }
    if not short and says.place is not Place.SAME:
        written["namespace"] = says.place.value
    if says.namespaces is not None:
        written["namespaces"] = str(says.namespaces)
    return written


def _written(name: TypeName) -> dict[str, str]:
    return {
        "group": name.group,
        **({"kind": name.kind} if name.kind else {"resource": name.plural}),
    }
