"""The policies in force, ready to be asked: what `compile` makes and `evaluate` runs.

Values and compiled programs; nothing here changes after it was made. A new set replaces the old.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from suture.policy.case import EFFECT_TYPES, VARIABLES
from suture.policy.engines import Engine, Program
from suture.policy.index import Index
from suture.policy.matching import Match, Reach
from suture.policy.rules import Enforcement, EnforcementAction
from suture.policy.windows import Budget


@dataclass(frozen=True, slots=True)
class Asking:
    """The one expression of a rule that is asked of every case, and what it reads.

    `constants` are the parameters that it reads, by their full names; `facts` are the names that
    come from the case. `quick` asks the same of values as they are, where the engine can.
    """

    program: Program
    constants: Mapping[str, object]
    facts: tuple[str, ...]
    quick: Callable[[Mapping[str, object]], object] | None

    @classmethod
    def of(cls, program: Program, parameters: Mapping[str, object]) -> Asking:
        """Tell apart what a program reads of a constraint and what it reads of a case."""
        constants = {name: parameters[name] for name in program.reads if name in parameters}
        facts = tuple(sorted(program.reads - constants.keys()))
        return cls(program, constants, facts, program.quick(constants))


Quick = Callable[[Mapping[str, object]], object]
"""An expression as a function of the values of a case, as they are."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a violation says once it holds, asked of values as they are.

    `when` and `count` are None for a rule that does not say `each`.
    """

    message: Quick
    retry: Quick | None
    when: Quick | None
    count: Quick | None

    @classmethod
    def of(cls, rule: Violation, parameters: Mapping[str, object]) -> Said | None:
        """Return them where the engine can, for each that the rule has; else None."""

        def quick(program: Program | None) -> Quick | None:
            if program is None:
                return None
            reads = {name: parameters[name] for name in program.reads if name in parameters}
            return program.quick(reads)

        each = rule.count is not None
        message, retry = quick(rule.message), quick(rule.retry)
        when, count = (quick(rule.when), quick(rule.count)) if each else (None, None)
        if message is None or (rule.retry is not None and retry is None):
            return None
        if each and (when is None or count is None):
            return None
        return cls(message, retry, when, count)


@dataclass(frozen=True, slots=True)
class Violation:
    """A condition that must not hold.

    With `each`, `when`, `message` and `retry` read one effect at hand; `asking` and `count` ask
    the same of all effects of that name at once: whether, and for how many, `when` holds. Without
    it, `asking` is `when`. `effects` are the effects that are read: where none of them is present
    the rule is not asked.
    """

    code: str
    most: EnforcementAction
    enforcement: Enforcement
    asking: Asking
    when: Program
    message: Program
    retry: Program | None
    effects: frozenset[str]
    each: str = ""
    count: Program | None = None
    said: Said | None = None

    @property
    def reads(self) -> frozenset[str]:
        """The names that its expressions read."""
        programs = (self.asking.program, self.when, self.message, self.retry, self.count)
        return frozenset[str]().union(*(one.reads for one in programs if one is not None))


@dataclass(frozen=True, slots=True)
class ClaimRule:
    """An amount asked of a budget for each effect of a name.

    `asking` gives `[key, amount, population, message]` for all effects for which `when` holds, in
    one go. `single` gives `[key, amount, population]` for one effect at hand, for when one of them
    errs, and `message` its words.
    """

    enforcement: Enforcement
    budget: Budget
    each: str
    asking: Asking
    when: Program
    single: Program
    message: Program

    @property
    def effects(self) -> frozenset[str]:
        """What it is asked of: cases with its effect."""
        return frozenset({self.each})

    @property
    def reads(self) -> frozenset[str]:
        """The names that its expressions read."""
        return self.asking.program.reads


Rule = Violation | ClaimRule


@dataclass(frozen=True, slots=True)
class BoundConstraint:
    """A constraint in force: a template's rules with their parameters, and where they apply."""

    name: str
    template: str
    match: Match
    enforcement: Enforcement
    rules: tuple[Rule, ...]
    parameters: Mapping[str, object]
    """Values of its parameters, by the full names that its programs read."""
    effects: frozenset[str]
    words: frozenset[str]
    """Every word of its expressions: a field of an effect that none of them is cannot be read."""
    always: bool
    """Whether some rule of it reads no effect, and so is asked of every request that matches."""
    reads: frozenset[Reach] = frozenset()
    budgets: tuple[Budget, ...] = ()
    source: str = ""
    line: int | None = None

    def concerning(self, present: Collection[str]) -> tuple[Rule, ...]:
        """Return the rules that are asked of a case with these effects, and no others."""
        return tuple(
            rule for rule in self.rules if not rule.effects or not rule.effects.isdisjoint(present)
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """Constraints with those of their rules that are asked, and the names that these read.

    Each rule with its function: to ask it for that costs as much as some rules do.
    """

    rules: tuple[tuple[BoundConstraint, tuple[tuple[Rule, Quick | None], ...]], ...]
    names: tuple[str, ...]


MIXTURES = 4_096
"""LIMIT: mixtures of candidates and effects that are remembered, some tuples each: a few MB."""


@dataclass(frozen=True, slots=True)
class TemplateFacts:
    """What is worth saying of a template in a list of policies."""

    name: str
    constraint_kind: str
    description: str
    effects: frozenset[str]


@dataclass(frozen=True)
class PolicySet:
    """All constraints in force, in the order of their names."""

    engine: Engine
    constraints: tuple[BoundConstraint, ...] = ()
    templates: tuple[TemplateFacts, ...] = ()
    reads: frozenset[Reach] = frozenset()
    """Requests that some constraint must see to claim or refuse, beyond deletes, evictions, scale
    downs and changes of finalizers and owners, which are always seen."""
    digest: str = ""
    needs: frozenset[str] = field(init=False)
    """Names of the effects that some constraint reads; no others need be computed."""
    always: bool = field(init=False)
    """Whether some rule reads no effect, and so is asked of cases that have none."""
    reads_labels: bool = field(init=False)
    """Whether some match or expression asks for labels of the request's object."""
    reads_space: bool = field(init=False)
    """Whether some expression asks for the labels of the request's namespace."""
    reads_usage: bool = field(init=False)
    """Whether some expression reads what operators have spent."""
    index: Index = field(init=False, repr=False, compare=False)
    """Which constraints a case can concern at all."""
    _asked: dict[tuple[tuple[int, ...], frozenset[str]], Asked] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )
    shown: Mapping[str, tuple[str, ...]] = field(init=False)
    """The fields of each effect that some expression can read; no others need be converted."""

    def __post_init__(self) -> None:
        needs = frozenset(name for bound in self.constraints for name in bound.effects)
        object.__setattr__(self, "needs", needs)
        words = frozenset(word for bound in self.constraints for word in bound.words)
        object.__setattr__(self, "always", any(bound.always for bound in self.constraints))
        object.__setattr__(self, "index", Index([bound.match for bound in self.constraints]))
        selected = any(bound.match.selector is not None for bound in self.constraints)
        reads = {name for bound in self.constraints for rule in bound.rules for name in rule.reads}
        object.__setattr__(self, "reads_labels", selected or "request.labels" in reads)
        object.__setattr__(self, "reads_space", "request.namespaceLabels" in reads)
        object.__setattr__(self, "reads_usage", "usage" in reads)
        shown = {
            name: tuple(field for field, _ in record.fields if field in words)
            for name, record in EFFECT_TYPES.items()
        }
        object.__setattr__(self, "shown", shown)

    def asked(self, candidates: Iterable[int], present: Collection[str]) -> Asked:
        """Return the rules of some constraints that cases with these effects can concern.

        Each constraint with its rules, in the order of the numbers. Found once for each mixture
        of effects, of which ordinary life has a few hundred.
        """
        key = (tuple(candidates), frozenset(present))
        found = self._asked.get(key)
        if found is None:
            if len(self._asked) >= MIXTURES:
                self._asked.clear()
            asked = tuple(
                (bound, tuple((rule, rule.asking.quick) for rule in rules))
                for bound in (self.constraints[number] for number in key[0])
                if (rules := bound.concerning(key[1]))
            )
            reads = {name for _, rules in asked for rule, _ in rules for name in rule.reads}
            found = self._asked[key] = Asked(asked, tuple(sorted(reads & VARIABLES.keys())))
        return found

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """Every budget in force."""
        return tuple(budget for bound in self.constraints for budget in bound.budgets)

    def at_speed(self, speed: float) -> PolicySet:
        """Return the same policies with windows `speed` times as short, for a world played faster.

        A window is at least one second long. Speed 1 is life.
        """
        if speed == 1:
            return self
        return replace(self, constraints=tuple(_faster(bound, speed) for bound in self.constraints))


def _faster(bound: BoundConstraint, speed: float) -> BoundConstraint:
    return replace(
        bound,
        rules=tuple(
            replace(rule, budget=rule.budget.at_speed(speed))
            if isinstance(rule, ClaimRule)
            else rule
            for rule in bound.rules
        ),
        budgets=tuple(budget.at_speed(speed) for budget in bound.budgets),
    )
