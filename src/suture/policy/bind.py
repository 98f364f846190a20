"""Constraints: a template bound to where, how far and with which numbers it is enforced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from suture.errors import DocumentError
from suture.model.documents import Document, Path, did_you_mean, read_as
from suture.model.kindnames import misnamed
from suture.model.names import Resource
from suture.policy.format import ConstraintFormat, ConstraintSpec
from suture.policy.matching import ANY, Match, Reach, read_match
from suture.policy.parameters import NAMESPACE, Report, check, leaves
from suture.policy.policyset import BoundConstraint
from suture.policy.rules import Enforcement, EnforcementAction, Point
from suture.policy.templates import CONTAINER, Place, Template, code_of
from suture.policy.windows import Budget, read_budget, windows_parameters

_PARAMETERS: Path = ("spec", "parameters")
_RESOURCE = "effect.resource"
"""The key of claims that are counted by resource: `services`, `deployments.apps`."""


def bind_constraint(
    document: Document, template: Template, report: Report
) -> BoundConstraint | None:
    """Check a constraint and make it ready. None: it is not shaped like one."""
    try:
        written = read_as(document, ConstraintFormat)
    except DocumentError as error:
        report(error)
        return None
    name, spec = written.metadata.name, written.spec
    enforcement = _enforcement(spec, document, report)
    match = read_match(spec.match, document, ("spec", "match"), report)
    budgets = {
        one.name: read_budget(
            one, template.windows.get(one.name), name, document, _PARAMETERS, report=report
        )
        for one in template.spec.budgets
    }
    _check_keys(budgets, template, document, report)
    parameters = _parameters(spec, template, document, report)
    actions = _actions(spec, template, document, report)
    rules = template.rules
    return BoundConstraint(
        name=name,
        template=template.name,
        match=match,
        enforcement=enforcement,
        rules=rules.at(Place(parameters, budgets, enforcement, actions)),
        parameters=parameters,
        effects=frozenset(rules.effects),
        words=frozenset(rules.words),
        always=any(not violation.effects for violation in rules.violations),
        reads=frozenset(_reads(template, match, enforcement)),
        budgets=tuple(budgets.values()),
        source=document.source,
        line=document.line(),
    )


def _enforcement(spec: ConstraintSpec, document: Document, report: Report) -> Enforcement:
    general = _action(spec.enforcement_action, document, ("spec", "enforcementAction"), report)
    enforcement = dict.fromkeys(Point, general)
    for point, action in spec.enforcement_points.items():
        path = ("spec", "enforcementPoints", point)
        if point not in list(Point):
            problem = f"is no enforcement point{did_you_mean(point, Point)}"
            report(document.error(path, problem))
            continue
        enforcement[Point(point)] = _action(action, document, path, report)
    return enforcement


def _actions(
    spec: ConstraintSpec, template: Template, document: Document, report: Report
) -> Mapping[str, EnforcementAction]:
    codes = {code_of(template.name, one) for one in template.spec.violations}
    actions: dict[str, EnforcementAction] = {}
    for code, text in spec.rules.items():
        path: Path = ("spec", "rules", code)
        if code not in codes:
            report(document.error(path, f"is no rule of this kind{did_you_mean(code, codes)}"))
        actions[code] = _action(text, document, path, report)
    return actions


def _action(text: str, document: Document, path: Path, report: Report) -> EnforcementAction:
    if text in list(EnforcementAction):
        return EnforcementAction(text)
    hint = did_you_mean(text, EnforcementAction)
    report(document.error(path, f"cannot be `{text}`{hint}"))
    return EnforcementAction.DENY


def _parameters(
    spec: ConstraintSpec, template: Template, document: Document, report: Report
) -> Mapping[str, object]:
    """Return the values of a constraint's parameters by the names that its programs read."""
    own = windows_parameters(tuple(template.spec.budgets))
    given = {name: value for name, value in spec.parameters.items() if name not in own}
    mistakes: list[DocumentError] = []
    value = check(template.schema, given, document, _PARAMETERS, mistakes.append)
    for mistake in mistakes:
        report(mistake)
    if mistakes:
        return {}
    return dict(leaves(template.schema, value, f"{CONTAINER}.{NAMESPACE}"))


def _check_keys(
    budgets: Mapping[str, Budget], template: Template, document: Document, report: Report
) -> None:
    """Report windows for resources that there are not, where resources are what is counted by."""
    for one in template.spec.budgets:
        if any(c.key.strip() != _RESOURCE for c in template.spec.claims if c.budget == one.name):
            continue
        for key in budgets[one.name].by_key:
            resource = Resource.parse(key)
            meant = misnamed(resource.group, resource.plural)
            if meant is not None:
                problem = f"names nothing; did you mean `{meant}`"
                report(document.error((*_PARAMETERS, one.by_key, key), problem))


def _reads(template: Template, match: Match, enforcement: Enforcement) -> Iterator[Reach]:
    """Yield what a constraint must see: what its template reads, within what it matches."""
    if enforcement[Point.ADMISSION] is EnforcementAction.DRYRUN:
        return
    operations = match.operations if match.operations is not None else (ANY,)
    kinds = match.kinds if match.kinds is not None else ((ANY, ANY),)
    for reach in template.reads:
        for operation in operations:
            for group, resource in kinds:
                narrowed = (
                    _both(reach.operation, str(operation)),
                    _both(reach.group, group),
                    _both(reach.resource, resource),
                )
                if None not in narrowed:
                    yield Reach(*map(str, narrowed))


def _both(one: str, other: str) -> str | None:
    """Return what two names, of which each may be `*`, have in common."""
    if ANY in (one, other):
        return other if one == ANY else one
    return one if one == other else None
