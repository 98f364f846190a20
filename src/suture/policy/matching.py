"""Which requests a constraint applies to: operators, operations, kinds, places, names, labels.

Compiled once from a file's `match`; asked for every request, so everything that can be a set is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sized
from dataclasses import dataclass

from suture.model.actor import Actor
from suture.model.documents import Document, Path, did_you_mean
from suture.model.kindnames import misnamed
from suture.model.names import NAMESPACES, Operation
from suture.model.request import Collection, Request
from suture.model.selectors import Operator, Requirement, Selector
from suture.policy.format import KindsFormat, MatchFormat, SelectorFormat
from suture.policy.parameters import Report
from suture.policy.rules import Case, labels_seen

ANY = "*"
_RESOURCE = re.compile(r"(\*|[a-z0-9]([-a-z0-9]*[a-z0-9])?)(/(\*|[a-z]+))?\Z")
_GROUP = re.compile(r"(\*|[a-z0-9]([-a-z0-9.]*[a-z0-9])?)?\Z")


@dataclass(frozen=True, slots=True)
class Globs:
    """A test for any of some names, in which `*` stands for any run of characters."""

    patterns: tuple[str, ...]
    test: Callable[[str], object]

    def __call__(self, name: str) -> object:
        """Tell, by its truth, whether a name is one of them."""
        return self.test(name)


@dataclass(frozen=True, slots=True)
class Reach:
    """Requests of one kind: an operation on a resource of a group; `*` is any of them.

    `resource` carries its subresource as admission rules write it: `pods/eviction`.
    """

    operation: str
    group: str
    resource: str

    def covers(self, operation: str, group: str, resource: str) -> bool:
        """Tell whether a request of this operation on this resource is within reach."""
        return (
            self.operation in (ANY, operation)
            and self.group in (ANY, group)
            and self.resource in (ANY, resource)
        )


@dataclass(frozen=True, slots=True)
class Match:
    """A compiled match; None excludes nothing."""

    operators: Globs | None = None
    excluded_operators: Globs | None = None
    operations: frozenset[Operation] | None = None
    kinds: frozenset[tuple[str, str]] | None = None
    namespaces: Globs | None = None
    excluded_namespaces: Globs | None = None
    names: Globs | None = None
    selector: Selector | None = None

    def matches(self, case: Case) -> bool:
        """Tell whether a constraint with this match applies to a case."""
        if self is EVERYTHING:
            return True
        if not self.of_kind(case.request):
            return False
        if self.operators is not None and not _one_of(self.operators, case.actor):
            return False
        if self.excluded_operators is not None and _one_of(self.excluded_operators, case.actor):
            return False
        namespace = namespace_of(case)
        if self.namespaces is not None and not (namespace and self.namespaces(namespace)):
            return False
        if self.excluded_namespaces is not None and self.excluded_namespaces(namespace):
            return False
        return self._object(case)

    def of_kind(self, request: Request) -> bool:
        """Tell whether a request's operation and kind are such as this match asks for."""
        if self.operations is not None and request.operation not in self.operations:
            return False
        if self.kinds is None:
            return True
        gvr, kinds = request.gvr, self.kinds
        resource = gvr.plural
        if request.subresource:
            resource = f"{resource}/{request.subresource}"
        return (
            (gvr.group, resource) in kinds
            or (gvr.group, ANY) in kinds
            or (ANY, resource) in kinds
            or (ANY, ANY) in kinds
        )

    def _object(self, case: Case) -> bool:
        if isinstance(case.request.extent, Collection):
            # WHY: a whole collection may hold objects of any name and label; whether it does is
            # not known here, and a rule that is not asked cannot refuse.
            return True
        if self.names is not None and not self.names(case.request.key.name):
            return False
        if self.selector is None:
            return True
        # WHY either: else an update that takes the label away would not be seen.
        return any(self.selector.matches(labels) for labels in labels_seen(case))


def _one_of(operators: Globs, actor: Actor) -> bool:
    """Tell whether an actor is one of some operators, by its profile's name or its user name."""
    return bool(operators(actor.operator) or operators(actor.user.username))


EVERYTHING = Match()
"""The match of a constraint that names none; asked for by identity, since it is asked so often."""


def namespace_of(case: Case) -> str:
    """Return where a request happens; a Namespace happens in itself."""
    request = case.request
    if request.key.resource == NAMESPACES:
        return request.key.name
    return request.namespace


def read_match(written: MatchFormat, document: Document, path: Path, report: Report) -> Match:
    """Check a match and compile it."""
    if written == MatchFormat():
        return EVERYTHING
    for name in ("operators", "operations", "kinds", "namespaces", "names"):
        refuse_empty(getattr(written, name), document, (*path, name), report)
    return Match(
        operators=_globs(written.operators),
        excluded_operators=_globs(written.excluded_operators or None),
        operations=_operations(written.operations, document, (*path, "operations"), report),
        kinds=_kinds(written.kinds, document, (*path, "kinds"), report),
        namespaces=_globs(written.namespaces),
        excluded_namespaces=_globs(written.excluded_namespaces or None),
        names=_globs(written.names),
        selector=_selector(written.label_selector, document, (*path, "labelSelector"), report),
    )


def _globs(patterns: list[str] | None) -> Globs | None:
    """Return a test for any of some names, in which `*` stands for any run of characters."""
    if patterns is None:
        return None
    return Globs(tuple(patterns), _test(patterns))


def _test(patterns: list[str]) -> Callable[[str], object]:
    if ANY in patterns:
        return lambda _: True
    if not any(ANY in pattern for pattern in patterns):
        return frozenset(patterns).__contains__
    parts = (".*".join(map(re.escape, pattern.split(ANY))) for pattern in patterns)
    return re.compile(f"(?:{'|'.join(parts)})", re.DOTALL).fullmatch


def read_operation(text: str, document: Document, path: Path, report: Report) -> None:
    """Report an operation that there is not."""
    if text != ANY and text not in list(Operation):
        hint = did_you_mean(text, [*Operation, ANY])
        report(document.error(path, f"`{text}` is no operation{hint}"))


def read_kind(
    groups: list[str], resources: list[str], document: Document, path: Path, report: Report
) -> None:
    """Report groups and resources that cannot be."""
    for index, group in enumerate(groups):
        if not _GROUP.match(group):
            problem = f'`{group}` is no API group; the core group is `""`, all are `*`'
            report(document.error((*path, "groups", index), problem))
    for index, resource in enumerate(resources):
        if not _RESOURCE.match(resource):
            problem = f"`{resource}` is no resource; plural and lower case: `pods`, `pods/eviction`"
            report(document.error((*path, "resources", index), problem))
            continue
        meant = [misnamed(group, resource.partition("/")[0]) for group in groups]
        right = [one for one in meant if one is not None]
        if right and len(right) == len(groups):
            where = "" if right[0].group in groups else f" of group `{right[0].group}`"
            problem = f"`{resource}` names nothing; did you mean `{right[0].plural}`{where}"
            report(document.error((*path, "resources", index), problem))
    refuse_empty(groups, document, (*path, "groups"), report)
    refuse_empty(resources, document, (*path, "resources"), report)


def refuse_empty(values: Sized | None, document: Document, path: Path, report: Report) -> None:
    """Report a list of what is meant that means nothing; None was left out, and means all."""
    if values is not None and not values:
        report(document.error(path, "is empty, and so matches nothing; name what is meant"))


def _operations(
    written: list[str] | None, document: Document, path: Path, report: Report
) -> frozenset[Operation] | None:
    if written is None or ANY in written:
        return None
    for index, text in enumerate(written):
        read_operation(text, document, (*path, index), report)
    return frozenset(Operation(text) for text in written if text in list(Operation))


def _kinds(
    written: list[KindsFormat] | None, document: Document, path: Path, report: Report
) -> frozenset[tuple[str, str]] | None:
    if written is None:
        return None
    for index, kinds in enumerate(written):
        read_kind(kinds.groups, kinds.resources, document, (*path, index), report)
    return frozenset(
        (group, resource)
        for kinds in written
        for group in kinds.groups
        for resource in kinds.resources
    )


def _selector(
    written: SelectorFormat | None, document: Document, path: Path, report: Report
) -> Selector | None:
    if written is None:
        return None
    requirements = list(Selector.of(written.match_labels).requirements)
    for index, expression in enumerate(written.match_expressions):
        at = (*path, "matchExpressions", index)
        if expression.operator not in list(Operator):
            hint = did_you_mean(expression.operator, Operator)
            problem = f"`{expression.operator}` is no operator{hint}"
            report(document.error((*at, "operator"), problem))
            continue
        operator = Operator(expression.operator)
        if (operator in (Operator.IN, Operator.NOT_IN)) != bool(expression.values):
            problem = f"`{operator}` {'needs' if not expression.values else 'takes no'} values"
            report(document.error(at, problem))
        values = tuple(sorted(expression.values))
        requirements.append(Requirement(expression.key, operator, values))
    return Selector(tuple(requirements))
