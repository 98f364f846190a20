"""Policy documents -> the policies in force; every authoring mistake is found here, and told.

Templates first, then the constraints that bind them. One mistake does not hide the next: all are
collected, each with file, line, field and, where there is one, the nearest right word.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from suture.errors import DocumentError, InputError
from suture.model.documents import Document, did_you_mean, read_as
from suture.policy.bind import bind_constraint
from suture.policy.engines import Engine
from suture.policy.engines.cel import CelEngine
from suture.policy.format import API_VERSION, TEMPLATE_KIND, Header
from suture.policy.policyset import BoundConstraint, PolicySet, TemplateFacts
from suture.policy.templates import Template, read_template

__all__ = ["Compiled", "PoliciesError", "PolicySet", "compile_all", "compile_policies"]

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,250}[a-z0-9])?\Z")


class PoliciesError(InputError):
    """Policy documents hold mistakes; `errors` has each of them, in the order of the files."""

    code = "policies_invalid"

    def __init__(self, errors: tuple[DocumentError, ...]) -> None:
        super().__init__("\n".join(map(str, errors)))
        self.errors = errors


@dataclass(frozen=True, slots=True)
class Compiled:
    """What could be compiled, and what could not."""

    policies: PolicySet
    errors: tuple[DocumentError, ...]


def compile_policies(documents: Iterable[Document], engine: Engine | None = None) -> PolicySet:
    """Return the policies that documents declare. Errors: PoliciesError, with all mistakes."""
    compiled = compile_all(documents, engine)
    if compiled.errors:
        raise PoliciesError(compiled.errors)
    return compiled.policies


def compile_all(documents: Iterable[Document], engine: Engine | None = None) -> Compiled:
    """Return the policies without those that hold mistakes, and the mistakes. Never raises them.

    A constraint of a template that is wrong is left out and not told of: its template is.
    """
    work = _Work(engine if engine is not None else CelEngine())
    headed = [(document, header) for document in documents if (header := work.header(document))]
    for document, header in headed:
        if header.kind == TEMPLATE_KIND:
            work.template(document, header)
    for document, header in headed:
        if header.kind != TEMPLATE_KIND:
            work.constraint(document, header)
    return work.done()


class _Work:
    """One compilation: what is known so far, and the mistakes so far."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._errors: list[DocumentError] = []
        self._order: dict[str, int] = {}
        self._templates: dict[str, Template] = {}
        self._template_names: dict[str, Document] = {}
        self._broken = False
        self._constraints: dict[str, BoundConstraint] = {}
        self._sources: list[tuple[str, str, object]] = []

    def header(self, document: Document) -> Header | None:
        """Read what every document says of itself; None where that is wrong."""
        self._order.setdefault(document.source, len(self._order))
        try:
            header = read_as(document, Header)
        except DocumentError as error:
            self._errors.append(error)
            return None
        before = len(self._errors)
        if header.api_version != API_VERSION:
            problem = f"is `{header.api_version}`, must be `{API_VERSION}`"
            self._errors.append(document.error(("apiVersion",), problem))
        if not _NAME.match(header.metadata.name):
            problem = f"`{header.metadata.name}` is no name of an object"
            self._errors.append(document.error(("metadata", "name"), problem))
        if len(self._errors) == before:
            return header
        self._broken |= header.kind == TEMPLATE_KIND
        return None

    def template(self, document: Document, header: Header) -> None:
        """Check a template with all its expressions."""
        name = header.metadata.name
        before = len(self._errors)
        self._unique(self._template_names, name, document, "template")
        template = read_template(document, self._engine, self._errors.append)
        if template is None:
            self._broken = True
            return
        kind = template.spec.constraint_kind
        if kind in self._templates:
            other = self._templates[kind].name
            problem = f"`{kind}` is the kind of template `{other}` already"
            self._errors.append(document.error(("spec", "constraintKind"), problem))
        if len(self._errors) > before:
            self._broken = True
            return
        self._template_names[name] = document
        self._templates[kind] = template
        self._sources.append((TEMPLATE_KIND, name, document.at(("spec",))))

    def constraint(self, document: Document, header: Header) -> None:
        """Bind a constraint to its template."""
        template = self._templates.get(header.kind)
        if template is None:
            # WHY: while a template is wrong, it may be the one that declares this kind.
            if not self._broken:
                hint = did_you_mean(header.kind, [TEMPLATE_KIND, *self._templates])
                problem = f"`{header.kind}` is declared by no template{hint}"
                self._errors.append(document.error(("kind",), problem))
            return
        name = header.metadata.name
        if name in self._constraints:
            first = self._constraints[name]
            problem = f"constraint `{name}` is given twice; first in {first.source}:{first.line}"
            self._errors.append(document.error(("metadata", "name"), problem))
            return
        before = len(self._errors)
        bound = bind_constraint(document, template, self._errors.append)
        if bound is not None and len(self._errors) == before:
            self._constraints[name] = bound
            self._sources.append((header.kind, name, document.at(("spec",))))

    def done(self) -> Compiled:
        """Return the set and the mistakes, both in an order that does not depend on the work."""
        bound = tuple(self._constraints[name] for name in sorted(self._constraints))
        by_kind = sorted(self._templates.values(), key=lambda template: template.name)
        policies = PolicySet(
            engine=self._engine,
            constraints=bound,
            templates=tuple(
                TemplateFacts(
                    template.name,
                    template.spec.constraint_kind,
                    template.spec.description,
                    frozenset(template.spec.effects),
                )
                for template in by_kind
            ),
            reads=frozenset(reach for one in bound for reach in one.reads),
            digest=_digest(self._sources),
        )
        errors = sorted(
            self._errors, key=lambda error: (self._order.get(error.source, 0), error.line or 0)
        )
        return Compiled(policies, tuple(errors))

    def _unique(
        self, known: Mapping[str, Document], name: str, document: Document, word: str
    ) -> None:
        first = known.get(name)
        if first is not None:
            where = f"{first.source}:{first.line()}"
            problem = f"{word} `{name}` is given twice; first in {where}"
            self._errors.append(document.error(("metadata", "name"), problem))


def _digest(sources: list[tuple[str, str, object]]) -> str:
    """Name the set by its content: equal for equal policies, in whatever order they came."""
    ordered = sorted(sources, key=lambda source: source[:2])
    text = msgspec.json.encode(ordered, order="deterministic")
    return hashlib.sha256(text).hexdigest()[:16]
