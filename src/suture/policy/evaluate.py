"""A case weighed by the policies in force: total, in the order of the set, never raising.

A rule is asked only where one of the effects that it reads is present; a rule that reads none is
asked of every case that its constraint matches. It is asked of the values as they are, where the
engine can; else, and wherever that raises, the engine itself is asked, for which values are
converted, once a case. A rule that errs is a finding of its own, never a silent pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from suture.impact.effects import Effect
from suture.policy.case import EFFECT, MATCHED, effects_by_name, facts_of, plain, value_of
from suture.policy.engines import Bindings, EvaluationError, Program
from suture.policy.matching import EVERYTHING
from suture.policy.policyset import (
    BoundConstraint,
    ClaimRule,
    PolicySet,
    Quick,
    Rule,
    Said,
    Violation,
)
from suture.policy.rules import POLICY_ERROR, Case, ClaimAsked, Finding, Findings

MESSAGE_CHARS: Final = 220
"""LIMIT: a finding's words; the verdict adds policy, decision and advice up to its own 300."""
EFFECTS_AT_ONCE: Final = 1000
"""LIMIT: effects of one name shown to an expression that says `each`, far below the 9,999 steps
that an expression may take; more of them are asked about in several goes, none is left out."""

NOTHING: Final = Findings()


def evaluate(policies: PolicySet, case: Case) -> Findings:
    """Return what the policies say of a case. Never raises."""
    if not policies.constraints:
        return NOTHING
    grouped = effects_by_name(case.impact)
    present = grouped.keys()
    if not grouped and not policies.always:
        return NOTHING
    asked = policies.asked(policies.index.candidates(case), present)
    rules = [
        (bound, rule, quick)
        for bound, concerning in asked.rules
        # WHY asked here: most constraints name none, and machine code tells that at once.
        if bound.match is EVERYTHING or bound.match.matches(case)
        for rule, quick in concerning
    ]
    if not rules:
        return NOTHING
    weighing = _Weighing(policies, case, grouped, rules, asked.names)
    for bound, rule, quick in rules:
        weighing.rule(bound, rule, quick)
    if not weighing.violations and not weighing.claims:
        return NOTHING
    return Findings(tuple(weighing.violations), tuple(weighing.claims))


class _Weighing:
    """One case being weighed: its values as far as they were needed, and the findings so far."""

    def __init__(
        self,
        policies: PolicySet,
        case: Case,
        grouped: dict[str, list[Effect]],
        rules: list[tuple[BoundConstraint, Rule, Quick | None]],
        names: tuple[str, ...],
    ) -> None:
        self._engine = policies.engine
        self._case = case
        self._grouped = grouped
        self._rules = rules
        self._facts = facts_of(case, grouped, names)
        self._shown = policies.shown
        self._values: dict[str, object] = {}
        self._shared: dict[str, Bindings] = {}
        self.violations: list[Finding] = []
        self.claims: list[ClaimAsked] = []

    def rule(self, bound: BoundConstraint, rule: Rule, quick: Quick | None) -> None:
        """Add what one rule says; `quick` is its function."""
        if quick is not None:
            try:
                answer = quick(self._facts)
            except Exception:  # noqa: BLE001 whatever it is, the engine tells what it means
                answer = None
            if answer is False:
                return
            if answer is True and isinstance(rule, Violation) and rule.said is not None:
                found = self._said(bound, rule, rule.said)
                if found is not None:
                    self.violations.append(found)
                    return
            if isinstance(rule, ClaimRule) and isinstance(answer, list):
                for row in answer:
                    self._ask(bound, rule, row)
                return
        try:
            if isinstance(rule, Violation):
                self._violation(bound, rule, self._bound(bound))
            else:
                self._claim(bound, rule, self._bound(bound))
        except Exception as error:  # noqa: BLE001 never raises: an error is a finding
            self._err(bound, rule, str(error))

    def _said(self, bound: BoundConstraint, rule: Violation, said: Said) -> Finding | None:
        """Return the finding of a rule that holds, or None where the engine has to tell."""
        facts = self._facts
        try:
            if said.when is not None and said.count is not None:
                facts[MATCHED] = max(1, _whole(said.count(facts)))
                for effect in self._grouped[rule.each]:
                    facts[EFFECT] = effect
                    if said.when(facts) is True:
                        break
                else:
                    return None
            message = words(str(said.message(facts)))
            retry = said.retry(facts) if said.retry is not None else None
        except Exception:  # noqa: BLE001 whatever it is, the engine tells what it means
            return None
        finally:
            facts.pop(EFFECT, None)
            facts.pop(MATCHED, None)
        return self._finding(bound, rule, message, None if retry is None else _whole(retry))

    def _finding(
        self, bound: BoundConstraint, rule: Violation, message: str, retry: int | None
    ) -> Finding:
        return Finding(
            code=rule.code,
            constraint=bound.name,
            template=bound.template,
            enforcement=rule.enforcement[self._case.point],
            message=message,
            retry_after_s=retry if retry is not None and retry > 0 else None,
        )

    def _bound(self, bound: BoundConstraint) -> Bindings:
        """Return what the rules of a constraint ask of a case, bound once."""
        shared = self._shared.get(bound.name)
        if shared is None:
            values: dict[str, object] = {}
            for constraint, rule, _ in self._rules:
                if constraint is bound:
                    values.update(rule.asking.constants)
                    for name in rule.asking.facts:
                        values[name] = self._value(name)
            shared = self._shared[bound.name] = self._engine.bind(values)
        return shared

    def _violation(self, bound: BoundConstraint, rule: Violation, shared: Bindings) -> None:
        ask = rule.asking.program
        if rule.count is None:
            if ask.evaluate(shared) is True:
                self._find(bound, rule, self._bind(bound, (rule.message, rule.retry)))
            return
        held: list[Bindings] = []
        trouble = ""
        for chunk in self._chunks(bound, rule.each, (ask, rule.count), shared):
            try:
                if ask.evaluate(chunk) is True:
                    held.append(chunk)
            except EvaluationError as error:
                trouble = str(error)
        if held:
            self._find_first(bound, rule, sum(map(_whole, _values(rule.count, held))))
        elif trouble:
            self._err(bound, rule, trouble)

    def _find_first(self, bound: BoundConstraint, rule: Violation, matched: int) -> None:
        """Add the finding of a rule that says `each`, in the words of the first it holds for."""
        programs = (rule.when, rule.message, rule.retry)
        for effect in self._grouped[rule.each]:
            bindings = self._bind(
                bound, programs, effect=self._plain(rule.each, effect), matched=max(1, matched)
            )
            if _holds(rule.when, bindings):
                self._find(bound, rule, bindings)
                return
        self._err(bound, rule, "holds for all effects together and for none alone")

    def _find(self, bound: BoundConstraint, rule: Violation, bindings: Bindings) -> None:
        """Add a finding. The condition holds, so a message that errs does not take it back."""
        try:
            message = words(str(rule.message.evaluate(bindings)))
        except EvaluationError as error:
            message = words(f"{bound.template} refuses this; its message failed: {error}")
        retry: int | None = None
        if rule.retry is not None:
            try:
                retry = _whole(rule.retry.evaluate(bindings))
            except EvaluationError as error:
                self._err(bound, rule, f"retryAfterSeconds: {error}")
        self.violations.append(self._finding(bound, rule, message, retry))

    def _claim(self, bound: BoundConstraint, rule: ClaimRule, shared: Bindings) -> None:
        rows: list[object] = []
        try:
            ask = rule.asking.program
            for chunk in self._chunks(bound, rule.each, (ask,), shared):
                found = ask.evaluate(chunk)
                rows.extend(found if isinstance(found, list) else ())
        except EvaluationError:
            # WHY again, one by one: the error of one effect must not hide what the others cost.
            self._claim_singly(bound, rule)
            return
        for row in rows:
            self._ask(bound, rule, row)

    def _claim_singly(self, bound: BoundConstraint, rule: ClaimRule) -> None:
        trouble = ""
        for effect in self._grouped[rule.each]:
            bindings = self._bind(
                bound, (rule.when, rule.single, rule.message), effect=self._plain(rule.each, effect)
            )
            try:
                if rule.when.evaluate(bindings) is True:
                    row = rule.single.evaluate(bindings)
                    if isinstance(row, list):
                        self._ask(bound, rule, [*row, _claim_words(bound, rule, bindings)])
            except EvaluationError as error:
                trouble = str(error)
        if trouble:
            self._err(bound, rule, trouble)

    def _ask(self, bound: BoundConstraint, rule: ClaimRule, row: object) -> None:
        key, amount, population, message = row if isinstance(row, list | tuple) else ("", 0, 0, "")
        if _whole(amount) <= 0:
            return
        self.claims.append(
            ClaimAsked(
                budget=rule.budget.ref(str(key)),
                key=str(key),
                amount=_whole(amount),
                population=max(0, _whole(population)),
                enforcement=bound.enforcement[self._case.point],
                message=words(str(message)),
            )
        )

    def _chunks(
        self,
        bound: BoundConstraint,
        each: str,
        programs: tuple[Program, ...],
        shared: Bindings,
    ) -> Iterator[Bindings]:
        """Yield bindings that together show all effects of a name; nearly always the shared one."""
        effects = self._grouped[each]
        if len(effects) <= EFFECTS_AT_ONCE:
            yield shared
            return
        for start in range(0, len(effects), EFFECTS_AT_ONCE):
            part = [
                self._plain(each, effect) for effect in effects[start : start + EFFECTS_AT_ONCE]
            ]
            yield self._bind(bound, programs, **{f"effects.{each}": part})

    def _bind(
        self, bound: BoundConstraint, programs: tuple[Program | None, ...], **more: object
    ) -> Bindings:
        """Bind what some expressions of a constraint read, with a few values given."""
        values = dict(more)
        for program in programs:
            for name in program.reads if program is not None else ():
                if name in values:
                    continue
                if name in bound.parameters:
                    values[name] = bound.parameters[name]
                elif name not in (EFFECT, MATCHED):
                    values[name] = self._value(name)
        return self._engine.bind(values)

    def _plain(self, each: str, effect: Effect) -> dict[str, object]:
        return plain(effect, self._shown[each])

    def _value(self, name: str) -> object:
        if name not in self._values:
            self._values[name] = value_of(name, self._case, self._grouped, self._shown)
        return self._values[name]

    def _err(self, bound: BoundConstraint, rule: Rule, problem: str) -> None:
        self.violations.append(
            Finding(
                code=POLICY_ERROR,
                constraint=bound.name,
                template=bound.template,
                enforcement=rule.enforcement[self._case.point],
                message=words(f"policy {bound.name} could not be evaluated: {problem}"),
            )
        )


def _claim_words(bound: BoundConstraint, rule: ClaimRule, bindings: Bindings) -> str:
    """Return the words of a claim. What is asked is known, so a message that errs asks no less."""
    try:
        return str(rule.message.evaluate(bindings))
    except EvaluationError as error:
        return f"{bound.template} asks for this; its message failed: {error}"


def _holds(when: Program, bindings: Bindings) -> bool:
    """Whether a condition holds of one effect; of one for which it errs, it does not."""
    try:
        return when.evaluate(bindings) is True
    except EvaluationError:
        return False


def _values(program: Program, chunks: list[Bindings]) -> Iterator[object]:
    for chunk in chunks:
        try:
            yield program.evaluate(chunk)
        except EvaluationError:
            yield 1


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def words(text: str) -> str:
    """Return a message as one line within its limit."""
    line = " ".join(text.split())
    return line if len(line) <= MESSAGE_CHARS else f"{line[: MESSAGE_CHARS - 1]}…"
