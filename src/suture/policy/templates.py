"""Templates: the logic of a policy, checked whole, and its expressions compiled for a constraint.

Each expression is compiled alone first, so that a mistake is found at its own line; then what is
asked of many effects at once is put together from parts that are known to be right. Compiled once,
however many constraints bind the template: what a constraint brings are values, bound later.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from suture.errors import DocumentError
from suture.model.clock import Window
from suture.model.documents import Document, Path, did_you_mean, read_as
from suture.policy.case import EFFECT, EFFECT_TYPES, MATCHED, VARIABLES
from suture.policy.engines import (
    Engine,
    ExpressionError,
    Program,
    Scalar,
    Scope,
    ValueType,
)
from suture.policy.format import (
    ClaimFormat,
    TemplateFormat,
    TemplateSpec,
    ViolationFormat,
)
from suture.policy.matching import Reach, read_kind, read_operation, refuse_empty
from suture.policy.parameters import EMPTY, NAMESPACE, Report, Schema, read_schema
from suture.policy.policyset import Asking, ClaimRule, Rule, Said, Violation
from suture.policy.rules import EVERYWHERE, POLICY_ERROR, Enforcement, EnforcementAction, weaker
from suture.policy.windows import Budget, read_windows, windows_parameters

MAX_CHARS = 2048
"""LIMIT: one expression of an author: thirty lines. What is composed of several stays under the
engine's own bound."""
RESERVED_CODES = frozenset({POLICY_ERROR, "budget_exhausted", "quarantined"})

CONTAINER = "template"
"""Below it stand the parameters of a template, whatever the constraint that sets them."""

RESERVED_KINDS = frozenset({"policytemplate", "policytemplates", "referencerule", "referencerules"})
"""Kinds of the same API group, and their plurals: constraints are served under the kind's name."""
_KIND = re.compile(r"[A-Z][A-Za-z0-9]{0,62}\Z")
_CODE = re.compile(r"[a-z][a-z0-9_]{0,62}\Z")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_WORD = re.compile(r"[a-z][a-z0-9-]{0,62}\Z")


@dataclass(frozen=True, slots=True)
class Template:
    """A checked template."""

    document: Document
    name: str
    spec: TemplateSpec
    schema: Schema
    reads: tuple[Reach, ...]
    windows: dict[str, tuple[Window, ...]]
    """Default windows of its budgets that have some."""
    rules: Rules


@dataclass(frozen=True, slots=True)
class Place:
    """What a constraint brings to its template's rules.

    `parameters` are values by full name, below `CONTAINER`; budgets are by name.
    """

    parameters: Mapping[str, object]
    budgets: Mapping[str, Budget]
    enforcement: Enforcement
    actions: Mapping[str, EnforcementAction]
    """How far some rules go here, by their codes, whatever the template says."""


@dataclass(slots=True)
class Rules:
    """The compiled rules of one template, and everything that they read."""

    violations: list[Violation] = field(default_factory=list)
    claims: list[ClaimRule] = field(default_factory=list)
    effects: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)

    def at(self, place: Place) -> tuple[Rule, ...]:
        """Return the rules with what a constraint brings to them."""
        return (
            *(_violation_at(one, place) for one in self.violations),
            *(_claim_at(one, place) for one in self.claims),
        )


def _violation_at(rule: Violation, place: Place) -> Violation:
    asking = Asking.of(rule.asking.program, place.parameters)
    most = place.actions.get(rule.code, rule.most)
    return replace(
        rule,
        enforcement=weaker(place.enforcement, most),
        asking=asking,
        said=Said.of(rule, place.parameters),
    )


def _claim_at(rule: ClaimRule, place: Place) -> ClaimRule:
    return replace(
        rule,
        enforcement=place.enforcement,
        budget=place.budgets[rule.budget.name],
        asking=Asking.of(rule.asking.program, place.parameters),
    )


def read_template(document: Document, engine: Engine, report: Report) -> Template | None:
    """Check a template and every expression in it. None: it is not even shaped like one."""
    try:
        written = read_as(document, TemplateFormat)
    except DocumentError as error:
        report(error)
        return None
    spec = written.spec
    _check_words(spec, document, report)
    mistakes: list[DocumentError] = []
    schema = EMPTY
    if spec.parameters is not None:
        path = ("spec", "parameters", "openAPIV3Schema")
        schema = read_schema(spec.parameters.schema, document, path, mistakes.append)
    _check_effects(spec, document, mistakes.append)
    template = Template(
        document,
        written.metadata.name,
        spec,
        schema,
        _reads(spec, document, report),
        _budget_windows(spec, schema, document, report),
        Rules(),
    )
    for mistake in mistakes:
        report(mistake)
    if not mistakes:
        # WHY only then: expressions that read a wrong schema would be wrong for its sake.
        return replace(template, rules=_rules(template, engine, report))
    return template


def _check_effects(spec: TemplateSpec, document: Document, report: Report) -> None:
    for index, name in enumerate(spec.effects):
        if name not in EFFECT_TYPES:
            hint = did_you_mean(name, EFFECT_TYPES)
            report(document.error(("spec", "effects", index), f"`{name}` is no effect{hint}"))


def _rules(template: Template, engine: Engine, report: Report) -> Rules:
    """Compile every expression; hold `effects` against what is read."""
    spec = template.spec
    budgets = {one.name: Budget("", one.name, (), {}) for one in spec.budgets}
    mistakes: list[DocumentError] = []
    rules = _compiled(template, budgets, engine, mistakes.append)
    for mistake in mistakes:
        report(mistake)
    if mistakes:
        return rules
    for index, name in enumerate(spec.effects):
        if name not in rules.effects:
            problem = f"`{name}` is read by no rule: leave it out, it costs time to compute"
            report(template.document.error(("spec", "effects", index), problem))
    return rules


def _check_words(spec: TemplateSpec, document: Document, report: Report) -> None:
    if not _KIND.match(spec.constraint_kind):
        problem = f"`{spec.constraint_kind}` is no kind; write it like `ShareBudget`"
        report(document.error(("spec", "constraintKind"), problem))
    if spec.constraint_kind.lower() in RESERVED_KINDS:
        problem = f"`{spec.constraint_kind}` is a kind of Suture's own; choose another"
        report(document.error(("spec", "constraintKind"), problem))
    if not spec.violations and not spec.claims:
        report(document.error(("spec",), "has neither `violations` nor `claims`"))
    for index, violation in enumerate(spec.violations):
        path: Path = ("spec", "violations", index, "code")
        if violation.code and not _CODE.match(violation.code):
            report(document.error(path, f"`{violation.code}` is no code; write it like `too_many`"))
        if violation.code in RESERVED_CODES:
            report(document.error(path, f"`{violation.code}` has a meaning of its own already"))
        action = violation.enforcement_action
        if action not in list(EnforcementAction):
            at: Path = ("spec", "violations", index, "enforcementAction")
            hint = did_you_mean(action, EnforcementAction)
            report(document.error(at, f"cannot be `{action}`{hint}"))


def _reads(spec: TemplateSpec, document: Document, report: Report) -> tuple[Reach, ...]:
    for index, reads in enumerate(spec.reads):
        path = ("spec", "reads", index)
        for position, operation in enumerate(reads.operations):
            read_operation(operation, document, (*path, "operations", position), report)
        refuse_empty(reads.operations, document, (*path, "operations"), report)
        read_kind(reads.groups, reads.resources, document, path, report)
    return tuple(
        Reach(operation, group, resource)
        for reads in spec.reads
        for operation in reads.operations
        for group in reads.groups
        for resource in reads.resources
    )


def _budget_windows(
    spec: TemplateSpec, schema: Schema, document: Document, report: Report
) -> dict[str, tuple[Window, ...]]:
    """Check the budgets of a template and return the default windows of those that have some."""
    found: dict[str, tuple[Window, ...]] = {}
    seen: set[str] = set()
    for index, budget in enumerate(spec.budgets):
        path = ("spec", "budgets", index)
        if not _WORD.match(budget.name):
            problem = f"`{budget.name}` is no name; lower case letters, digits and dashes"
            report(document.error((*path, "name"), problem))
        if budget.name in seen:
            report(document.error((*path, "name"), f"budget `{budget.name}` is declared twice"))
        seen.add(budget.name)
        if budget.windows is not None:
            at = (*path, "windows")
            found[budget.name] = read_windows(budget.windows, document, at, report)
    names = [n for one in spec.budgets for n in (one.parameter, one.by_key) if n]
    for name in sorted(windows_parameters(tuple(spec.budgets))):
        if names.count(name) > 1 or name in (schema.properties or {}):
            problem = f"parameter `{name}` is taken twice; name the budgets' parameters apart"
            report(document.error(("spec", "budgets"), problem))
    return found


def _compiled(
    template: Template, budgets: Mapping[str, Budget], engine: Engine, report: Report
) -> Rules:
    """Compile a template's expressions; rules with mistakes are left out."""
    declared = dict(template.schema.variables(f"{CONTAINER}.{NAMESPACE}"))
    scope = Scope({**VARIABLES, **declared}, CONTAINER)
    compiler = _Compiler(template, budgets, scope, engine, report)
    rules = Rules()
    for index, violation in enumerate(template.spec.violations):
        found = compiler.violation(violation, ("spec", "violations", index))
        if found is not None:
            rules.violations.append(found)
    for index, claim in enumerate(template.spec.claims):
        asked = compiler.claim(claim, ("spec", "claims", index))
        if asked is not None:
            rules.claims.append(asked)
    rules.effects, rules.words = compiler.effects, compiler.words
    return rules


class _Compiler:
    """Compiles the expressions of one template in one scope, and notes the effects they read."""

    def __init__(
        self,
        template: Template,
        budgets: Mapping[str, Budget],
        scope: Scope,
        engine: Engine,
        report: Report,
    ) -> None:
        self._name = template.name
        self._listed = frozenset(template.spec.effects)
        self._document = template.document
        self._budgets = budgets
        self._scope = scope
        self._engine = engine
        self._report = report
        self._failed = False
        self.effects: set[str] = set()
        self.words: set[str] = set()

    def violation(self, written: ViolationFormat, path: Path) -> Violation | None:
        """Compile a violation; None where it holds a mistake."""
        self._failed = False
        scopes = self._scopes(written.each, path)
        if scopes is None:
            return None
        scope, said = scopes
        when = self._written(written.when, scope, Scalar.BOOL, (*path, "when"))
        message = self._written(written.message, said, Scalar.STRING, (*path, "message"))
        retry = None
        if written.retry_after_seconds:
            at = (*path, "retryAfterSeconds")
            retry = self._written(written.retry_after_seconds, said, Scalar.INT, at)
        if self._failed or when is None or message is None:
            return None
        # WHY it alone: a rule about each effect of a name has nothing to say where there is none.
        effects = frozenset({written.each}) if written.each else _effects(when)
        code = code_of(self._name, written)
        asked, count = when, None
        if written.each:
            every, at = f"effects.{written.each}", (*path, "when")
            anywhere = f"{every}.exists({EFFECT}, {written.when}\n)"
            how_many = f"size({every}.filter({EFFECT}, {written.when}\n))"
            asked = self._one(anywhere, self._scope, Scalar.BOOL, at) or when
            count = self._one(how_many, self._scope, Scalar.INT, at)
        return Violation(
            code=code,
            most=_most(written),
            enforcement=EVERYWHERE,
            asking=Asking.of(asked, {}),
            when=when,
            message=message,
            retry=retry,
            effects=effects,
            each=written.each,
            count=count,
        )

    def claim(self, written: ClaimFormat, path: Path) -> ClaimRule | None:
        """Compile a claim; None where it holds a mistake."""
        self._failed = False
        budget = self._budgets.get(written.budget)
        if budget is None:
            hint = did_you_mean(written.budget, self._budgets)
            problem = f"`{written.budget}` is no budget of this template{hint}"
            self._fail(self._document.error((*path, "budget"), problem))
        scopes = self._scopes(written.each, path)
        if scopes is None:
            return None
        scope, _ = scopes
        when = self._written(written.when, scope, Scalar.BOOL, (*path, "when"))
        parts = (
            ("key", written.key, Scalar.STRING),
            ("amount", written.amount, Scalar.INT),
            ("population", written.population, Scalar.INT),
            ("message", written.message, Scalar.STRING),
        )
        *_, message = [
            self._written(text, scope, kind, (*path, name)) for name, text, kind in parts
        ]
        if self._failed or when is None or budget is None or message is None:
            return None
        cells = [f"dyn({text}\n)" for _, text, _ in parts]
        row = ", ".join(cells)
        single = self._one(f"[{', '.join(cells[:-1])}]", scope, Scalar.ANY, path)
        chosen = f"effects.{written.each}.filter({EFFECT}, {written.when}\n)"
        asked = self._one(f"{chosen}.map({EFFECT}, [{row}])", self._scope, Scalar.ANY, path)
        if single is None or asked is None:
            return None
        asking = Asking.of(asked, {})
        return ClaimRule(EVERYWHERE, budget, written.each, asking, when, single, message)

    def _scopes(self, each: str, path: Path) -> tuple[Scope, Scope] | None:
        """Return what a condition may read, and what the words that follow from it may.

        None: `each` names no effect.
        """
        if not each:
            return self._scope, self._scope
        kind = EFFECT_TYPES.get(each)
        if kind is None:
            hint = did_you_mean(each, EFFECT_TYPES)
            self._fail(self._document.error((*path, "each"), f"`{each}` is no effect{hint}"))
            return None
        self._note({each}, (*path, "each"))
        scope = self._scope.extended(**{EFFECT: kind})
        return scope, scope.extended(**{MATCHED: Scalar.INT})

    def _written(self, text: str, scope: Scope, result: ValueType, path: Path) -> Program | None:
        """Compile what an author wrote, within its bound; what is composed of it is longer."""
        if len(text) > MAX_CHARS:
            problem = f"is {len(text)} characters long, at most {MAX_CHARS}"
            self._fail(self._document.error(path, problem))
            return None
        return self._one(text, scope, result, path)

    def _one(self, text: str, scope: Scope, result: ValueType, path: Path) -> Program | None:
        self.words.update(_IDENTIFIER.findall(text))
        try:
            program = self._engine.compile(text, scope, result)
        except ExpressionError as error:
            self._fail(self._document.error(path, error.problem, text_line=error.line))
            return None
        self._note(_effects(program), path)
        return program

    def _note(self, effects: set[str] | frozenset[str], path: Path) -> None:
        for name in sorted(effects - self.effects):
            self.effects.add(name)
            if name not in self._listed:
                problem = f"reads effect `{name}`, which `spec.effects` does not list"
                self._fail(self._document.error(path, problem))

    def _fail(self, error: DocumentError) -> None:
        self._failed = True
        self._report(error)


def code_of(template: str, written: ViolationFormat) -> str:
    """Return the reason code of a rule."""
    return written.code or template.replace("-", "_").replace(".", "_")


def _most(written: ViolationFormat) -> EnforcementAction:
    """Return how far a rule goes by its template; a word that is none was told of already."""
    known = written.enforcement_action in list(EnforcementAction)
    return EnforcementAction(written.enforcement_action) if known else EnforcementAction.DENY


def _effects(program: Program) -> frozenset[str]:
    return frozenset(
        name.removeprefix("effects.") for name in program.reads if name.startswith("effects.")
    )
