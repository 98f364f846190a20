"""`suture grant` reads decisions, refuses what makes no sense, and asks for nothing else."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from suture.adapters.sqlite import SqliteJournal
from suture.cli import grant
from suture.errors import InputError, UnavailableError
from suture.journal.entry import Asked, Entry
from suture.model.names import SERVICES, ObjectKey, Operation
from suture.policy.rules import Point
from suture.verdict import Answer, Reason

DECISION = "06g1w2k3m4n5p"
AWAY = """
apiVersion: v1
kind: Config
current-context: away
contexts: [{name: away, context: {cluster: away, user: away}}]
clusters: [{name: away, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: away, user: {}}]
"""


def entry(would: Answer = Answer.DENY) -> Entry:
    return Entry(
        decision=DECISION, utc_s=0.0, lane="destructive", point=Point.ADMISSION, identity="op",
        operator="op", stage="enforce",
        asked=Asked(
            review="r", operation=Operation.DELETE, key=ObjectKey(SERVICES, "prod", "web"), uid="u"
        ),
        answer=would, would=would, reasons=(Reason("protected", "delete-protection", "kept"),),
        digest="a" * 32,
    )  # fmt: skip


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Return a journal with one refusal in it."""
    path = tmp_path / "journal.sqlite"

    async def write() -> None:
        opened = SqliteJournal(path)
        await opened.append([entry()], deadline_s=10)
        await opened.close()

    asyncio.run(write())
    return path


@pytest.fixture
def away(tmp_path: Path) -> Path:
    """Return a kubeconfig of a cluster that does not answer."""
    path = tmp_path / "kubeconfig"
    path.write_text(AWAY)
    return path


def run(*words: str | Path) -> int:
    return int(grant.app([str(word) for word in words], result_action="return_value") or 0)


def test_a_refused_decision_goes_to_the_cluster(journal: Path, away: Path) -> None:
    """From the journal, or from what another machine printed of it."""
    rest = ("--reason", "agreed", "--kubeconfig", away)
    explained = journal.with_name("explained.json")
    explained.write_bytes(msgspec.json.encode([entry()]))
    with pytest.raises(UnavailableError):
        run(DECISION, "--journal", journal, *rest)
    with pytest.raises(UnavailableError):
        run(DECISION, "--explained", explained, *rest)


def test_a_decision_that_is_not_there(journal: Path, away: Path) -> None:
    assert run("06g1w2k3m4n5q", "--reason", "r", "--journal", journal, "--kubeconfig", away) == 1


def test_what_was_not_refused(journal: Path) -> None:
    explained = journal.with_name("explained.json")
    explained.write_bytes(msgspec.json.encode([entry(Answer.WARN)]))
    with pytest.raises(InputError, match="refused nothing"):
        run(DECISION, "--reason", "r", "--explained", explained)
    explained.write_text("{}")
    with pytest.raises(InputError, match="suture explain"):
        run(DECISION, "--reason", "r", "--explained", explained)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param((), id="nothing-to-grant"),
        pytest.param((DECISION, "--policy", "live-data"), id="both"),
        pytest.param((DECISION, "--journal", "/nowhere"), id="no-such-journal"),
        pytest.param((DECISION, "--explained", "/nowhere"), id="no-such-file"),
        pytest.param((DECISION, "--operator", "op"), id="an-operator-of-its-own"),
        pytest.param((DECISION, "--for", "tomorrow"), id="no-time"),
        pytest.param((DECISION, "--uses", "-1"), id="no-number"),
        pytest.param(("no-decision-id",), id="no-id"),
        pytest.param(("--policy", "live-data"), id="for-nobody"),
    ],
)
def test_what_makes_no_sense(words: tuple[str, ...], away: Path) -> None:
    """Each is told what to give instead, and nothing is written."""
    with pytest.raises(InputError):
        run(*words, "--reason", "r", "--kubeconfig", away)
