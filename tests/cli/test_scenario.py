"""`suture scenario` tells its format, reads files, and exits with a status that means something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from suture.cli import scenario
from suture.errors import InputError, SutureError


def run(*words: str) -> int:
    """Run a command and return its exit status."""
    try:
        status = scenario.app(words, result_action="return_value")
    except SystemExit as ended:
        status = ended.code
    return int(status or 0)


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """As JSON, with the draft that it is of."""
    assert run("schema") == 0
    assert "2020-12" in json.loads(capsys.readouterr().out)["$schema"]


@pytest.mark.parametrize("what", ["shapes", "probes", "list"])
def test_lists_for_people_and_programs(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In words and as JSON, of the same things."""
    assert run(what) == 0
    words = capsys.readouterr().out
    assert run(what, "--output", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found) >= 9
    names = found if isinstance(found, dict) else [one["name"] for one in found]
    assert all(name in words for name in names)


def test_files_are_read_without_being_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """0 when all can be read; 2 with file, line and field when one cannot."""
    bad = tmp_path / "bad.yaml"
    bad.write_text("kind: incident\nsteps:\n  - {verb: destroy}\n")

    assert run("check", "rollout-500", "load-balancer-twin.yaml") == 0
    assert "benign" in capsys.readouterr().out
    assert run("check", "rollout-500", str(bad)) == 2
    assert f"{bad}:3: field `steps[0].verb`" in capsys.readouterr().err


def test_whoever_is_to_stop_an_incident_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A policy of the pack, or of those that are given; what the API server asks has no file."""
    file = tmp_path / "s.yaml"
    for name, status in (
        ("serving-floor", 0),
        ("webhook-safety", 0),
        ("freeze-window", 0),
        ("servin-floor", 2),
    ):
        file.write_text(
            "kind: incident\nsteps: [{by: a, verb: delete, resource: pods, names: x}]\n"
            f"actors: {{a: {{user: u}}}}\nexpect: {{stopped_by: [{name}]}}\n"
        )
        assert run("check", str(file)) == status
    assert "4: field `expect.stopped_by`" in (told := capsys.readouterr().err)
    assert "did you mean `serving-floor`" in told


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["run", "nowhere", "--lab"], "no scenario file"),
        (["run", "rollout-500", "--lab", "--speed", "0"], "more than 0"),
        (["run", "rollout-500", "--lab-name", "nowhere"], "no lab"),
    ],
)
def test_mistakes_are_told(
    words: list[str], match: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is started."""
    monkeypatch.setenv("SUTURE_CACHE", str(tmp_path))
    with pytest.raises(SutureError, match=match):
        run(*words)


def test_an_input_error_is_one() -> None:
    """The file's mistakes have exit status 2, which `main` gives to every InputError."""
    with pytest.raises(InputError):
        run("run", "nowhere", "--lab")
