"""`suture lab` says what it does, in words or JSON, and exits with a status that means something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from suture.cli import lab
from suture.errors import InputError
from suture.lab.assets import Assets


def run(*words: str) -> int:
    """Run a command and return its exit status."""
    try:
        status = lab.app(words, result_action="return_value")
    except SystemExit as ended:
        status = ended.code
    return int(status or 0)


@pytest.mark.parametrize(
    ("text", "wanted"), [("90", 90), ("90s", 90), ("1.5m", 90), ("2h", 7200), ("1d", 86400)]
)
def test_times_are_read(text: str, wanted: float) -> None:
    """In seconds, unless they say otherwise."""
    assert lab.seconds(text) == wanted


@pytest.mark.parametrize("text", ["", "0", "-1", "2 weeks", "h"])
def test_what_is_no_time_is_refused(text: str) -> None:
    """With an example of what would do."""
    with pytest.raises(InputError, match="30m"):
        lab.seconds(text)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["up", "--stop-after", "soon"], (2, "must be a time")),
        (["up", "--nodes", "-1"], (2, "0 or more")),
        (["up", "--name", "Not A Name"], (2, "lower-case")),
        (["up", "--kubernetes-version", "latest"], (2, "must look like")),
        (["status", "--name", "nowhere"], (3, "no lab")),
        (["kubeconfig", "--name", "nowhere", "--group", "x"], (2, "--user")),
        (["kubeconfig", "--service-account", "x"], (2, "NAMESPACE/NAME")),
    ],
)
def test_mistakes_have_a_status_and_a_word(
    words: list[str],
    wanted: tuple[int, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """2 for what makes no sense, 3 for what is not there, one line on standard error."""
    monkeypatch.setenv("SUTURE_CACHE", str(tmp_path))
    assert run(*words) == wanted[0]
    shown = capsys.readouterr()
    assert wanted[1] in shown.err
    assert "Traceback" not in shown.err
    assert not shown.out


@pytest.mark.lab
def test_a_lab_from_up_to_down(
    lab_assets: Assets,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Up, status, kubeconfig, up again, list, down: each says what a program needs."""
    folder = lab_assets.programs["etcd"].parent
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(folder))
    monkeypatch.setenv("SUTURE_CACHE", str(tmp_path))

    def answer(*words: str) -> object:
        assert run(*words, "--name", "cli", "--output", "json") == 0
        return json.loads(capsys.readouterr().out)

    try:
        up = answer("up", "--nodes", "1", "--stop-after", "5m", "--audit")
        assert isinstance(up, dict)
        assert up["phase"] == "ready"
        assert all(process["running"] for process in up["processes"].values())
        assert up["audit_log"].endswith("audit.jsonl")
        assert answer("status") == up
        kubeconfig = answer("kubeconfig", "--service-account", "default/default")
        assert isinstance(kubeconfig, dict)
        assert "token:" in Path(kubeconfig["kubeconfig"]).read_text()
        assert run("up", "--name", "cli") == 4
        assert "runs already" in capsys.readouterr().err
        assert run("list") == 0
        assert "cli: running" in capsys.readouterr().out
        assert run("status", "--name", "cli") == 0
        assert "kube-apiserver" in capsys.readouterr().out
    finally:
        down = answer("down")
    assert isinstance(down, dict)
    assert (down["stopped"], down["removed"]) == (True, True)
    assert not Path(up["folder"]).exists()
