"""Policy tests: each case asked of a world of its own, by the code that judges live.

Pure of files: whoever runs it reads them. A case passes when the answer, the refusal's place, the
findings and the effects are as its author says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from suture.app.suiteformat import CaseFormat, FindingFormat, RequestFormat
from suture.app.suiteworld import BEGIN, Changed, SuiteWorld
from suture.app.whatif import QuestionError, Questions, asker
from suture.errors import SutureError
from suture.impact.effects import NAMES
from suture.judge import Judgement, World, judge
from suture.model.actor import Operators, Profile, Stage
from suture.model.graph import Graph
from suture.model.kindnames import kind_in, resolve_object
from suture.model.names import ObjectKey, Propagation
from suture.model.request import Request
from suture.model.selectors import parse_selector
from suture.policy.policyset import ClaimRule, PolicySet
from suture.verdict import Answer

APART_S = 0.1
"""Between two requests of one case: one operator's pace."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of one constraint, as coverage counts it."""

    constraint: str
    code: str

    def __str__(self) -> str:
        return f"{self.constraint}/{self.code}"


@dataclass(slots=True)
class Coverage:
    """Which rules some case made speak, and which some case let be silent though it was asked."""

    rules: frozenset[Rule]
    fired: set[Rule] = field(default_factory=set)

    @property
    def missing(self) -> list[Rule]:
        """The rules that no case made speak."""
        return sorted(self.rules - self.fired, key=str)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one case went; no failures: it passed."""

    suite: str
    test: str
    case: str
    failures: tuple[str, ...]
    seconds: float = 0.0
    podless: tuple[str, ...] = ()
    """Workloads of its world that want pods and have none there."""


def coverage_of(policies: PolicySet) -> Coverage:
    """Return an empty coverage of all rules of some policies."""
    return Coverage(
        frozenset(
            Rule(bound.name, rule.budget.name if isinstance(rule, ClaimRule) else rule.code)
            for bound in policies.constraints
            for rule in bound.rules
        )
    )


def run_case(
    case: CaseFormat,
    world: SuiteWorld,
    policies: PolicySet,
    coverage: Coverage,
    files: Sequence[Mapping[str, object]] = (),
) -> tuple[str, ...]:
    """Run one case on a world, which it changes; return what is not as expected."""
    graph = world.graph
    user = asker(case.request.by, case.request.groups)
    profile = Profile(user.username, users=(user.username,), stage=Stage.ENFORCE)
    judging = World(policies=policies, graph=graph, operators=Operators([profile]))
    actor = judging.operators.attribute(user)
    try:
        requests = _requests(case.request, world, Questions(graph, user), files)
    except SutureError as error:
        return (f"the request cannot be made: {error}",)
    now, heard = BEGIN, list[Judgement]()
    for request in requests:
        judgement = judge(request, actor, judging, now)
        heard.append(judgement)
        coverage.fired |= _fired(judgement)
        now = now.plus_s(APART_S)
        if judgement.verdict.denies:
            break
        _happen(request, judgement, graph)
    return tuple(_failures(case, heard))


def _fired(judgement: Judgement) -> set[Rule]:
    findings = judgement.findings
    fired = {Rule(one.constraint, one.code) for one in findings.violations}
    return fired | {Rule(one.budget.constraint, one.budget.name) for one in findings.claims}


def _happen(request: Request, judgement: Judgement, graph: Graph) -> None:
    """Let what was not refused happen, so that the next request meets it."""
    for row in judgement.change.removed:
        graph.remove(graph.key(row), graph.uid(row))
    if request.new is not None and not request.subresource:
        graph.put(request.new)


def _failures(case: CaseFormat, heard: Sequence[Judgement]) -> list[str]:
    expect, failures = case.expect, list[str]()
    refused = next((at for at, one in enumerate(heard, 1) if one.verdict.denies), None)
    last = heard[-1] if refused is None else heard[refused - 1]
    answer = max((one.verdict.answer for one in heard), key=_GRAVITY.index)
    if answer.value != expect.answer:
        why = last.verdict.message or "; ".join(one.message for one in last.verdict.reasons)
        more = f" ({why})" if why else ""
        failures.append(f"answer: {answer.value}, not {expect.answer}{more}")
    if expect.at is not None and refused != expect.at:
        place = "none" if refused is None else f"number {refused}"
        failures.append(f"refused request: {place}, not number {expect.at}")
    found = [(one.constraint, one.code, one.message) for one in last.verdict.reasons]
    for wanted in expect.findings:
        if not any(
            constraint == wanted.policy
            and wanted.code in ("", code)
            and re.search(wanted.message, message)
            for constraint, code, message in found
        ):
            said = "; ".join(f"{policy}/{code}: {words}" for policy, code, words in found)
            failures.append(f"no finding {_named(wanted)}; found: {said or 'none'}")
    if expect.only:
        names = {(one.policy, one.code) for one in expect.findings}
        failures += [
            f"finding {constraint}/{code} was not expected: {message}"
            for constraint, code, message in found
            if not {(constraint, code), (constraint, "")} & names
        ]
    present = {NAMES[type(effect)] for one in heard for effect in one.case.impact.effects}
    failures += [f"no effect {name}" for name in expect.effects if name not in present]
    return failures


_GRAVITY = [Answer.ALLOW, Answer.WARN, Answer.DENY]


def _named(wanted: FindingFormat) -> str:
    code = f"/{wanted.code}" if wanted.code else ""
    return f"{wanted.policy}{code}" + (f" matching `{wanted.message}`" if wanted.message else "")


# ---- requests


def _requests(
    asked: RequestFormat,
    world: SuiteWorld,
    questions: Questions,
    files: Sequence[Mapping[str, object]],
) -> tuple[Request, ...]:
    """Return the requests that a case makes."""
    if asked.verb in ("create", "apply"):
        objects = [*([asked.thing] if asked.thing else []), *asked.objects, *files]
        if not objects:
            raise QuestionError(f"`{asked.verb}` needs an `object`, `objects` or a `file`")
        changes = [world.written(one, asked.namespace, asked.verb) for one in objects]
        return tuple(_update(changed, questions) for changed in changes)
    if asked.verb == "deletecollection":
        resource = kind_in(asked.target, world.graph)
        selector = None if asked.selector is None else parse_selector(asked.selector)
        return (questions.collection(resource, asked.namespace or "", selector),)
    keys = _keys(asked, world.graph)
    match asked.verb:
        case "delete":
            return questions.delete(keys, _propagation(asked), "").requests
        case "evict":
            return questions.evict(keys, "").requests
        case "scale":
            if asked.replicas is None:
                raise QuestionError("`scale` needs `replicas`")
            return tuple(questions.scale(key, asked.replicas, "").requests[0] for key in keys)
        case "restart":
            return tuple(questions.restart(key, "").requests[0] for key in keys)
        case _:
            if asked.patch is None:
                raise QuestionError("`patch` needs a `patch`")
            return tuple(_update(world.patched(key, asked.patch), questions) for key in keys)


def _update(changed: Changed, questions: Questions) -> Request:
    return questions.update(changed.old, changed.new, "", bodies=changed.bodies).requests[0]


def _propagation(asked: RequestFormat) -> Propagation | None:
    return None if asked.propagation is None else Propagation(asked.propagation.capitalize())


def _keys(asked: RequestFormat, graph: Graph) -> list[ObjectKey]:
    """Return what a request is about: named, or of a kind and selected."""
    if asked.selector is not None:
        selector, resource = parse_selector(asked.selector), kind_in(asked.target, graph)
        rows = graph.rows(resource, asked.namespace)
        keys = sorted(graph.key(row) for row in rows if selector.matches(graph.labels(row) or {}))
    else:
        names = [asked.target] if asked.target else asked.targets
        keys = [_key(name, asked.namespace, graph) for name in names]
    if not keys:
        raise QuestionError(f"`{asked.verb}` is about nothing: name a `target` or `targets`")
    return keys


def _key(name: str, namespace: str | None, graph: Graph) -> ObjectKey:
    kind, slash, rest = name.partition("/")
    if not (kind and slash and rest):
        raise QuestionError(f"`{name}` must be KIND/NAME, or KIND/NAMESPACE/NAME")
    home, inner, last = rest.rpartition("/")
    resource = kind_in(kind, graph)
    keys = (graph.key(row) for row in graph.rows(resource))
    return resolve_object(resource, last, home if inner else namespace, keys)
