"""What the caller is told: which reason comes first, in how many words, and when to come again."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.cluster import operator
from suture.budget.claims import Claim, Receipt, Shortfall
from suture.model.actor import Stage
from suture.model.clock import Window
from suture.policy.rules import BudgetRef, ClaimAsked, EnforcementAction, Finding, Findings
from suture.verdict import (
    ALLOWED,
    MESSAGE_CHARS,
    Answer,
    Reason,
    claims_of,
    decide,
    refusal_message,
    span,
)

GRANTED = Receipt(granted=True)
MINUTE = Window(60, 5, 1.0)
BUDGET = BudgetRef("share-budget", "removals", (MINUTE,))


def finding(
    action: EnforcementAction = EnforcementAction.DENY,
    code: str = "serving_floor",
    retry_after_s: int | None = None,
) -> Finding:
    return Finding(
        code, "floor", "serving-floor", action, "3 endpoints would be lost", retry_after_s
    )


def asked(amount: int = 1, action: EnforcementAction = EnforcementAction.DENY) -> ClaimAsked:
    return ClaimAsked(BUDGET, "services", amount, 1000, action, "removes services")


def short() -> Receipt:
    (claim,) = claims_of(operator(), [asked()])
    return Receipt(granted=False, shortfalls=(Shortfall(claim, MINUTE, 10, 10),))


def test_nothing_found_is_allowed() -> None:
    """No finding and no shortfall: the one plain allow, without words."""
    assert decide(Findings(), operator(), GRANTED) is ALLOWED


@pytest.mark.parametrize(
    ("stage", "answer"),
    [
        pytest.param(Stage.ENFORCE, Answer.DENY, id="enforce-refuses"),
        pytest.param(Stage.WARN, Answer.WARN, id="warn-warns"),
        pytest.param(Stage.OBSERVE, Answer.ALLOW, id="observe-lets-pass"),
    ],
)
def test_the_stage_decides_how_far_a_refusal_goes(stage: Stage, answer: Answer) -> None:
    """The same finding refuses, warns or is only written down; `would` says deny in each."""
    verdict = decide(Findings((finding(),)), operator(stage=stage), GRANTED)

    assert (verdict.answer, verdict.would) == (answer, Answer.DENY)
    assert bool(verdict.warnings) == (stage is Stage.WARN)


def test_a_reason_comes_before_a_budget() -> None:
    """A person can mend a reason and only wait for a budget."""
    verdict = decide(Findings((finding(),), (asked(),)), operator(), short())

    assert [reason.code for reason in verdict.reasons] == ["serving_floor", "budget_exhausted"]


def test_a_budget_says_its_numbers() -> None:
    """What is used, asked and allowed, in which window."""
    verdict = decide(Findings((), (asked(),)), operator(), short())

    assert verdict.message == (
        "removes services; services: 10 removed and 1 asked of 10 in 1m [share-budget]"
    )
    assert verdict.status == 403


def test_a_budget_says_all_that_one_write_asks_of_it() -> None:
    """Several effects may each ask a part; what only warns, or is of another key, asks nothing."""
    other = replace(asked(9), key="pods")
    parts = (asked(2), asked(3), asked(7, EnforcementAction.WARN), other)
    verdict = decide(Findings((), parts), operator(), short())

    assert "10 removed and 5 asked of 10 in 1m" in verdict.message


def test_a_passing_refusal_says_when_to_come_again() -> None:
    """429 with a time when every reason passes by itself, 403 as soon as one does not."""
    passing = decide(Findings((finding(retry_after_s=10),)), operator(), GRANTED)
    mixed = decide(Findings((finding(retry_after_s=10), finding())), operator(), GRANTED)

    assert (passing.status, passing.retry_after_s) == (429, 10)
    assert (mixed.status, mixed.retry_after_s) == (403, None)


def test_a_warning_never_refuses() -> None:
    """EnforcementAction warn and dryrun stop short of a refusal; dryrun says nothing."""
    warned = decide(Findings((finding(EnforcementAction.WARN),)), operator(), GRANTED)

    assert warned.answer is Answer.WARN
    assert decide(Findings((finding(EnforcementAction.DRYRUN),)), operator(), GRANTED) is ALLOWED


def test_an_erring_rule_is_heard_and_refuses_nothing() -> None:
    """A rule that cannot be evaluated is a reason of its own, not a silent pass and no refusal."""
    verdict = decide(Findings((finding(code="policy_error"),)), operator(), GRANTED)

    assert (verdict.answer, verdict.reasons[0].code) == (Answer.WARN, "policy_error")


def test_only_what_denies_is_charged() -> None:
    """Claims of nothing, and of constraints that do not deny, reserve nothing."""
    claims = claims_of(operator(), [asked(0), asked(2, EnforcementAction.WARN), asked(3)])

    assert [claim.amount for claim in claims] == [3]
    assert isinstance(claims[0], Claim)


def test_a_long_reason_gives_way_to_what_to_do() -> None:
    """The policy, the decision id and the advice are kept whole within the limit."""
    reason = Reason("c", "serving-floor", "x" * 999)

    message = refusal_message(reason, "06g1w2k3m4n5p", "run: suture explain 06g1w2k3m4n5p")

    assert len(message) <= MESSAGE_CHARS
    assert message.endswith(
        "[serving-floor] (decision 06g1w2k3m4n5p; run: suture explain 06g1w2k3m4n5p)"
    )


@pytest.mark.parametrize(
    ("seconds", "words"), [(60, "1m"), (3600, "1h"), (86400, "24h"), (604800, "7d"), (45, "45s")]
)
def test_windows_are_said_as_people_say_them(seconds: int, words: str) -> None:
    """A day is 24h, since that is what rolls; a week is 7d."""
    assert span(seconds) == words
