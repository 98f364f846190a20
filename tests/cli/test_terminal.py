"""What is written reaches people and programs whole, whatever it names and whoever reads it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from suture.cli.terminal import EXIT_PIPE, Console, plain

RED = "\x1b[31m"
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "web",
                        "envFrom": [
                            {"configMapRef": {"name": f"one{RED}"}},
                            {"configMapRef": {"name": "grün"}},
                            {"configMapRef": {"name": "[/two]"}},
                        ],
                    }
                ]
            },
        },
    },
}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "relays.x.io"},
    "spec": {
        "group": "x.io",
        "names": {"plural": "relays", "kind": "Relay"},
        "scope": "Namespaced",
        "versions": [{"name": "v1", "served": True, "storage": True}],
    },
}
RULE = {
    "apiVersion": "policies.suture.dev/v1alpha1",
    "kind": "ReferenceRule",
    "metadata": {"name": "relay-reader"},
    "spec": {
        "of": {"group": "x.io", "resource": "relays"},
        "needs": [{"field": "spec.reader", "to": {"group": "y.io", "resource": "readers"}}],
    },
}


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    """Return a folder with names that a terminal, markup and encodings take amiss."""
    folder = tmp_path / "manifests"
    folder.mkdir()
    (folder / "web.json").write_text(json.dumps(DEPLOYMENT))
    return folder


def run(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "suture", *map(str, words)],
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_no_name_gives_orders_to_the_terminal(manifests: Path) -> None:
    """An escape sequence is seen as its number; markup is text."""
    ran = run("model", "show", "deploy/web", "--from", manifests, COLUMNS="200")

    assert ran.returncode == 0, ran.stderr
    assert b"one\\u001b[31m" in ran.stdout
    assert b" [/two]" in ran.stdout
    assert b"\x1b" not in ran.stdout


@pytest.mark.parametrize("output", ["tree", "json"])
def test_an_encoding_that_lacks_a_character(manifests: Path, output: str) -> None:
    """It is written as JSON has it, so that JSON stays what it was."""
    words = ("model", "show", "deploy/web", "--from", manifests, "--output", output)
    ran = run(*words, PYTHONIOENCODING="ascii")

    assert ran.returncode == 0, ran.stderr
    assert b"gr\\u00fcn" in ran.stdout
    if output == "json":
        assert json.loads(ran.stdout) == json.loads(run(*words).stdout)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("snapshot", "show", "[/nope]"), id="a-file"),
        pytest.param(("model", "show", "deploy/[/x]", "--from", "{manifests}"), id="an-object"),
        pytest.param(("verify", "./[/nope]"), id="a-suite"),
        pytest.param(("explain", "[/nope]", "--journal", "{manifests}"), id="a-decision"),
    ],
)
def test_an_error_is_said_as_it_is(words: tuple[str, ...], manifests: Path) -> None:
    """With every bracket of what was given, and no traceback."""
    ran = run(*(word.format(manifests=manifests) for word in words))

    assert ran.returncode == 2
    assert ran.stderr.startswith(b"error: ")
    assert b"[/nope]" in ran.stderr or b"[/x]" in ran.stderr


@pytest.mark.parametrize("output", ["table", "json"])
def test_a_reader_that_has_seen_enough(manifests: Path, output: str) -> None:
    """The command ends as one that a broken pipe ends, without a word."""
    reader, writer = os.pipe()
    os.close(reader)
    ran = subprocess.run(
        [sys.executable, "-m", "suture", "model", "stats", "--from", str(manifests),
         "--output", output],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )  # fmt: skip
    os.close(writer)

    assert (ran.returncode, ran.stderr) == (EXIT_PIPE, b"")


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("snapshot", "save", "{folder}/a.snapshot"), id="snapshot"),
        pytest.param(("impact", "delete", "deploy/web"), id="impact"),
    ],
)
def test_standard_output_is_for_answers(words: tuple[str, ...], manifests: Path) -> None:
    """A rule that waits for a type is logged, and not into the JSON."""
    (manifests / "rule.jsonl").write_text(f"{json.dumps(DEFINITION)}\n{json.dumps(RULE)}")
    told = [word.format(folder=manifests.parent) for word in words]
    ran = run(*told, "--from", manifests, "--output", "json")

    assert isinstance(json.loads(ran.stdout), dict)


LOGS = """
import structlog
from suture.cli.terminal import log_to_stderr
log_to_stderr()
token = "s" + "3" + "cret"
try:
    1 / 0
except ZeroDivisionError:
    structlog.get_logger().exception("a judgement failed")
"""


def test_a_logged_error_shows_where_and_no_values() -> None:
    """What stood in local variables may be a token, or a model of a whole cluster."""
    ran = subprocess.run([sys.executable, "-c", LOGS], capture_output=True, check=True)

    assert b"a judgement failed" in ran.stderr
    assert b"ZeroDivisionError: division by zero" in ran.stderr
    assert b"s3cret" not in ran.stderr


def test_names_are_no_emoji(capsys: pytest.CaptureFixture[str]) -> None:
    """Nor do they move the cursor in a table; what rich adds itself stays."""
    Console(highlight=False).print("system:key:reader \x9b2J")

    assert capsys.readouterr().out == "system:key:reader \\u009b2J\n"


def test_lines_stay_lines() -> None:
    """What makes text of several lines is kept; what reorders it is shown."""
    assert plain("a\tb\nc\r\u202ed\x7f") == "a\tb\nc\\u000d\\u202ed\\u007f"
