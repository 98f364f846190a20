"""A verdict follows from counts alone."""

from __future__ import annotations

import msgspec
import pytest

from suture.lab.scenarios.format import Scenario
from suture.lab.scenarios.refusals import Refusal, refusal_in
from suture.lab.scenarios.report import (
    HarmFound,
    Report,
    idle_steps,
    steps_of,
    unexpected,
    verdict_of,
)
from suture.lab.scenarios.written import Outcome, Written


def scenario(kind: str, **more: object) -> Scenario:
    """Return a scenario of one write."""
    steps = [{"by": "a", "verb": "delete", "resource": "pods", "names": "x"}]
    return msgspec.convert(
        {"kind": kind, "actors": {"a": {"user": "u"}}, "steps": steps, **more}, Scenario
    )


@pytest.mark.parametrize(
    ("kind", "refused", "lost", "bound", "probe", "unreached", "wanted"),
    [
        ("incident", 1, 0, 10, 0, [], "stopped"),
        ("incident", 1, 10, 10, 0, [], "bounded"),
        ("incident", 1, 11, 10, 0, [], "missed"),
        ("incident", 0, 0, 10, 0, [], "missed"),
        ("incident", 1, 0, 10, 3, [], "missed"),
        ("incident", 1, 0, 10, 0, ["x is still there"], "stopped"),
        ("benign", 0, 0, 0, 0, [], "passed"),
        ("benign", 1, 0, 0, 0, [], "disturbed"),
        ("benign", 0, 0, 0, 0, ["x is still there"], "disturbed"),
        ("benign", 0, 5, 0, 0, [], "passed"),
        ("benign", 0, 0, 0, 3, [], "disturbed"),
    ],
)
def test_verdicts(
    kind: str, refused: int, lost: int, bound: int, probe: int, unreached: list[str], wanted: str
) -> None:
    """stopped, bounded, missed; passed, disturbed."""
    found = verdict_of(
        scenario(kind, harm={"probes": {"nodes_cordoned": 2}}),
        refused_guilty=refused if kind == "incident" else 0,
        refused=refused,
        lost=lost,
        bound=bound,
        probes={"nodes_cordoned": probe},
        unreached=unreached,
    )
    assert found == wanted


def report(verdict: str, guard: str = "enforce", lost: int = 0, by: tuple[str, ...] = ()) -> Report:
    """Return a report that matters only in these respects."""
    return msgspec.convert(
        {
            "scenario": "s",
            "guard": guard,
            "kind": "incident",
            "writes": 1,
            "refused": 0,
            "would_refuse": 0,
            "false_refusals": 0,
            "first_refused_write": None,
            "harm": msgspec.to_builtins(HarmFound(population=9, lost=lost, by_kind={})),
            "verdict": verdict,
            "added_latency_ms": None,
            "stopped_by": by,
        },
        Report,
    )


@pytest.mark.parametrize(
    ("kind", "expect", "found", "wanted"),
    [
        ("incident", {}, report("stopped"), True),
        ("incident", {}, report("bounded"), True),
        ("incident", {}, report("missed"), False),
        ("incident", {"verdict": "stopped"}, report("bounded"), False),
        ("incident", {"verdict": ["stopped", "bounded"]}, report("bounded"), True),
        ("incident", {"verdict": "missed"}, report("missed"), True),
        ("incident", {"stopped_by": "a"}, report("stopped", by=("a",)), True),
        ("incident", {"stopped_by": ["a", "b"]}, report("stopped", by=("b",)), True),
        ("incident", {"stopped_by": "a"}, report("stopped", by=("c",)), False),
        ("incident", {}, report("void"), False),
        ("incident", {}, report("missed", "off", lost=3), True),
        ("incident", {}, report("missed", "off", lost=0), False),
        ("benign", {}, report("passed"), True),
        ("benign", {}, report("disturbed"), False),
        ("benign", {}, report("passed", "off"), True),
    ],
)
def test_what_is_expected(
    kind: str, expect: dict[str, object], found: Report, wanted: bool
) -> None:
    """As the file says; without a guard an incident must do its harm."""
    assert (unexpected(scenario(kind, expect=expect), found) == "") is wanted


def write(step: int, outcome: Outcome) -> Written:
    return Written(
        number=1, step=step, guilty=True, verb="delete", resource="pods", namespace="",
        name="x", outcome=outcome,
    )  # fmt: skip


def test_steps_that_found_nothing_are_named() -> None:
    """Each name was missing, or nothing was selected; a wait writes nothing anyway."""
    steps = [
        {"by": "a", "verb": "delete", "resource": "pods", "names": "x"},
        {"wait": "1s"},
        {"by": "a", "verb": "evict", "resource": "pods", "select": "app=x"},
    ]
    told = scenario("benign", steps=steps)
    assert idle_steps(told, [write(0, "done"), write(0, "missing")]) == (
        "step 2 (evict pods) found nothing to write",
    )
    assert idle_steps(told, [write(0, "missing"), write(2, "done")]) == (
        "step 0 (delete pods) found nothing to write",
    )


def test_each_step_says_why_it_was_refused() -> None:
    """Who sets the scene may be refused as well, and for another reason than the deed."""
    steps = [{"by": "a", "verb": "delete", "resource": one} for one in ("deployments.apps", "pods")]
    refused = [
        msgspec.structs.replace(
            write(step, "refused"),
            refusal=Refusal(decision=decision, message=f"{why} ({decision})"),
        )
        for step, why, decision in ((0, "no", "1"), (1, "too many", "2"), (1, "too many", "3"))
    ]

    first, second = steps_of(scenario("benign", steps=steps), [*refused, write(1, "done")])
    assert (first.refused, first.reasons) == (1, ("no (…)",))
    assert (second.refused, second.reasons) == (2, ("too many (…)",))


ADMISSION = (
    'admission webhook "destructive.suture.dev" denied the request: suture: 3 services would go '
    "[share-budget] (decision 06g1w2k3m4n5p; run: suture explain 06g1w2k3m4n5p)"
)


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        (
            ADMISSION,
            Refusal(
                decision="06g1w2k3m4n5p",
                policy="share-budget",
                message=ADMISSION[ADMISSION.index("suture: 3") :],
            ),
        ),
        ("services is forbidden: User x cannot delete", None),
        ('admission webhook "other.example.com" denied the request: (decision 7; no)', None),
        ('failed calling webhook "destructive.suture.dev": connection refused', None),
        ("ValidatingAdmissionPolicy 'team-rule' with binding 'b' denied request: no", None),
    ],
)
def test_whose_refusal_it_is(message: str, wanted: Refusal | None) -> None:
    """Suture's by its decision id; nobody else's, and not its absence."""
    assert refusal_in(message) == wanted


def test_an_in_process_refusal() -> None:
    """Is known by the policy's name."""
    message = (
        "ValidatingAdmissionPolicy 'suture-namespace' with binding 'x' denied request: suture: no"
    )
    found = refusal_in(message)

    assert found is not None
    assert found.policy == "suture-namespace"


def test_a_report_says_how_it_differs() -> None:
    """In words that name what the file asks for and what came."""
    asked = scenario("incident", expect={"stopped_by": ["a", "b"]})
    assert unexpected(asked, report("stopped", by=("c", "d"))) == (
        "its file expects a or b to stop it, and c, d did"
    )
    assert unexpected(asked, report("missed")) == "its file expects stopped or bounded"


def test_a_report_says_what_was_borne_where_something_was_refused() -> None:
    """A first file bears nothing, and a budget lets the first two nodes be closed."""
    asked = scenario("incident", harm={"probes": {"nodes_cordoned": 1}})
    late = report("missed", by=("node-budget",))
    harm = msgspec.structs.replace(late.harm, probes={"nodes_cordoned": 2})

    assert unexpected(asked, msgspec.structs.replace(late, harm=harm)) == (
        "its file expects stopped or bounded; node-budget refused, and what came before is more "
        "than its harm.probes bear: 2 nodes_cordoned, and 1 borne"
    )
    unseen = msgspec.structs.replace(late, harm=harm, stopped_by=())
    assert unexpected(asked, unseen) == "its file expects stopped or bounded"
