"""What a life counts as a false refusal, and what it does not."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from support.apiserver import Script, api_server, kubeconfig, status
from support.serving import Pki
from suture.adapters.kube import KubeClient
from suture.lab.clusters.chance import dice
from suture.lab.life.hand import Hand, Tally, at
from suture.lab.life.meter import spread
from suture.lab.life.report import Report, false_refusals, lines

DECISION = "5764qkcewkqfe"
WORDS = (
    'admission webhook "judge.suture.dev" denied the request: suture: 2 ready pods would go and '
    f"come back [share-budget] (decision {DECISION}; run: suture explain {DECISION})"
)
REFUSED = status(403, "Forbidden", WORDS)
LATER = status(429, "TooManyRequests", WORDS)
BUDGET = status(429, "TooManyRequests", "Cannot evict pod as it would violate its budget")

Answers = list[tuple[int, Any]]


@asynccontextmanager
async def hand_answered(folder: Path, *answers: tuple[int, Any]) -> AsyncIterator[Hand]:
    """Give a hand whose API server answers its writes one after the other; the last one stays."""
    left = list(answers)

    async def play(script: Script, writer: asyncio.StreamWriter, _: str, __: str) -> None:
        code, body = left.pop(0) if len(left) > 1 else left[0]
        script.reply(writer, code, body)

    pki = Pki(folder)
    path = folder / "kubeconfig"
    async with api_server(pki, play) as script:
        path.write_text(kubeconfig(script.url, pki))
        async with KubeClient.from_kubeconfig(path) as client:
            yield Hand(
                "mover", "mover@example.com", client, dice(1), Tally(), math.inf, again_s=0.01
            )


async def test_a_write_that_suture_refuses_is_a_false_refusal(tmp_path: Path) -> None:
    """With who, what, and the decision to explain."""
    async with hand_answered(tmp_path, (403, REFUSED)) as hand:
        assert await hand.delete("Service", "shop", "front") is None

    (found,) = false_refusals(hand.tally, [])
    assert (found.decision, found.identity) == (DECISION, "mover@example.com")
    assert found.what == "delete /api/v1/namespaces/shop/services/front"
    assert hand.tally.verbs == {"mover delete services": 1}


async def test_an_update_that_is_to_come_again_is_refused_too(tmp_path: Path) -> None:
    """Only who evicts is used to 429."""
    async with hand_answered(tmp_path, (429, LATER)) as hand:
        await hand.patch("Node", "", "one", {"spec": {"unschedulable": True}})

    assert len(false_refusals(hand.tally, [])) == 1


async def test_an_eviction_that_passes_later_was_held(tmp_path: Path) -> None:
    """It is counted, by who held it, and is no refusal."""
    answers = [(429, LATER), (429, BUDGET), (429, LATER), (201, {})]
    async with hand_answered(tmp_path, *answers) as hand:
        assert await hand.evict("shop", "front-1")

    assert len(hand.tally.held) == 2
    assert hand.tally.disruption == {"mover": 1}
    assert false_refusals(hand.tally, []) == []


async def test_an_eviction_that_never_passes_was_refused(tmp_path: Path) -> None:
    """After as long as a drain is given."""
    async with hand_answered(tmp_path, (429, LATER)) as hand:
        hand.held_s = 0.05
        assert not await hand.evict("shop", "front-1")

    assert false_refusals(hand.tally, [])
    assert not hand.tally.held


@pytest.mark.parametrize(("code", "reason"), [(404, "NotFound"), (409, "Conflict")])
async def test_what_others_were_quicker_at_is_no_refusal(
    tmp_path: Path, code: int, reason: str
) -> None:
    """The cluster is shared."""
    async with hand_answered(tmp_path, (code, status(code, reason, "it is so"))) as hand:
        await hand.delete("Pod", "shop", "front-1")

    assert hand.tally.missed == {"mover": 1}
    assert not hand.tally.failures
    assert false_refusals(hand.tally, []) == []


async def test_an_eviction_in_a_namespace_that_ends_is_no_failure(tmp_path: Path) -> None:
    """An eviction is an object to be made, and none is made there any more."""
    words = "unable to create new content in namespace shop because it is being terminated"
    body = status(403, "Forbidden", words)
    body["details"] = {"causes": [{"reason": "NamespaceTerminating", "message": words}]}
    async with hand_answered(tmp_path, (403, body)) as hand:
        assert not await hand.evict("shop", "front-1")

    assert hand.tally.missed == {"mover": 1}
    assert not hand.tally.failures


async def test_any_other_answer_is_a_failure_of_the_lab(tmp_path: Path) -> None:
    """Told, since a life among failures proves little."""
    body = status(422, "Invalid", "spec.replicas: must be whole")
    async with hand_answered(tmp_path, (422, body)) as hand:
        await hand.patch("Deployment", "shop", "front", {"spec": {"replicas": -1}}, "scale")

    assert len(hand.tally.failures) == 1
    assert false_refusals(hand.tally, []) == []


def test_a_life_in_which_somebody_did_nothing_has_not_passed() -> None:
    """Nobody is refused who never asks."""
    report = Report(
        seed=1,
        minutes=2.0,
        writes={"mover": 3, "sleeper": 0},
        verbs={},
        refused=(),
        held=0,
        held_by={},
        held_by_budget={},
        missed={},
        failures=(),
        judged=3,
        doubts={},
        added_ms=spread([3.0, 1.0, 2.0]),
        staleness_s=None,
        lag_s=None,
    )

    assert not report.passed
    text = "\n".join(lines(report))
    assert "IDLE: sleeper" in text
    assert "median 2 ms" in text


def test_paths_name_what_is_written() -> None:
    """A subresource after its object."""
    assert at("Pod", "shop", "front-1", "eviction") == (
        "/api/v1/namespaces/shop/pods/front-1/eviction"
    )
    assert at("Node", "", "one") == "/api/v1/nodes/one"
