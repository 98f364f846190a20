"""On a real API server: the pack's kinds are served, and what people put there is in force."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.recorder import until
from support.scene import operators
from suture.adapters.files import read_pack
from suture.cli import policies as commands
from suture.errors import InputError
from suture.install.policies import TEMPLATES_PATH, constraints_path, policy_definitions
from suture.lab.guard import Guard, guarded
from suture.lab.identities import ServiceAccount
from suture.lab.plane import Plane
from suture.lab.rest import Rest, StatusError
from suture.model.actor import Profile, Stage

pytestmark = pytest.mark.lab

SPACE = "own-policies"
ACCOUNT = ServiceAccount(SPACE, "tidier")
MAPS = f"/api/v1/namespaces/{SPACE}/configmaps"
OWN = Path(__file__).parents[2] / "docs" / "how-to" / "write-a-policy" / "policy.yaml"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

IN_FORCE_S = 60.0
"""Kinds that appear are looked for every ten seconds; a busy machine is given six times that."""


@pytest.fixture(scope="module")
def guard(plane: Plane) -> Iterator[Guard]:
    """Return a running guard and an enforced operator."""
    admin = plane.admin
    operators(plane, SPACE, ACCOUNT)
    with guarded(plane, profiles=[Profile("tidier", (ACCOUNT.user,), stage=Stage.ENFORCE)]) as one:
        yield one
    for definition in policy_definitions(read_pack()):
        path = f"{DEFINITIONS}/{definition['metadata']['name']}"
        if admin.exists(path):
            admin.delete(path)
    admin.delete(f"{DEFINITIONS}/keptobjects.policies.suture.dev")
    admin.delete(f"/api/v1/namespaces/{SPACE}")


def run(guard: Guard, command: str, *words: str) -> int:
    """Run `suture policies` against the lab."""
    where = ["--kubeconfig", str(guard.plane.kubeconfig())]
    status = commands.app([command, *words, *where], result_action="return_value")
    assert isinstance(status, int)
    return status


def refused(write: Callable[[], Any]) -> bool:
    try:
        write()
    except StatusError as error:
        if "kept-configuration" not in error.message:
            raise
        return True
    return False


def kept(admin: Rest, name: str) -> str:
    labels = {"example.com/keep": "true"}
    admin.create(MAPS, {"metadata": {"name": name, "labels": labels}})
    return f"{MAPS}/{name}"


def test_a_policy_of_ones_own_is_installed_and_taken_back(guard: Guard) -> None:
    """By the how-to: applied, in force on the running server, and gone when it is deleted."""
    admin, operator = guard.plane.admin, guard.plane.client(ACCOUNT)
    numbers = iter(range(1000))

    assert run(guard, "apply", str(OWN)) == 0

    def refuses() -> bool:
        return refused(lambda: operator.delete(kept(admin, f"kept-{next(numbers)}")))

    until("the constraint to be in force", refuses, limit_s=IN_FORCE_S)

    mistaken = {"spec": {"parameters": {"windows": [{"seconds": "1h", "count": -1}]}}}
    constraint = f"{constraints_path('KeptObjects')}/kept-configuration"
    with pytest.raises(StatusError, match="greater than or equal to 0"):
        admin.patch(constraint, mistaken, kind="merge")

    with pytest.raises(StatusError, match="may not delete"):
        operator.delete(constraint)

    admin.delete(constraint)
    until("the constraint to be gone", lambda: not refuses(), limit_s=IN_FORCE_S)
    admin.delete(f"{TEMPLATES_PATH}/kept-objects")


def test_a_constraint_of_the_pack_is_tuned(
    guard: Guard, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Shown, changed, applied; a mistake is told at its line, and changes nothing."""
    capsys.readouterr()
    commands.app(["show", "delete-protection"], result_action="return_value")
    mine = yaml.safe_load(capsys.readouterr().out)
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump({**mine, "spec": {"enforcementActoin": "warn"}}))
    with pytest.raises(InputError, match=r"mine.yaml:\d+.*enforcementAction"):
        run(guard, "apply", str(file))

    file.write_text(yaml.safe_dump({**mine, "spec": {"enforcementAction": "dryrun"}}))
    assert run(guard, "apply", str(file)) == 0

    capsys.readouterr()
    assert run(guard, "list", "--output", "json") == 0
    said = json.loads(capsys.readouterr().out)
    (row,) = [one for one in said["constraints"] if one["name"] == "delete-protection"]
    assert (row["from"], row["actions"]["admission"]) == ("cluster", "dryrun")
    path = f"{constraints_path(mine['kind'])}/delete-protection"
    guard.plane.admin.delete(path)


def test_every_kind_of_the_pack_is_served_with_its_schema(guard: Guard) -> None:
    """Their definitions are structural, and the pack's own constraints fit them, nothing pruned."""
    admin = guard.plane.admin
    for definition in policy_definitions(read_pack()):
        name = definition["metadata"]["name"]
        admin.patch(f"{DEFINITIONS}/{name}", definition, kind="apply", force="true")
    for document in read_pack():
        kind, body = document.at(("kind",)), document.value
        if kind == "PolicyTemplate":
            continue
        assert isinstance(body, dict)
        path = constraints_path(str(kind))
        made = dry_run(admin, f"{path}/{body['metadata']['name']}", body)
        assert made["spec"] == body["spec"]


def dry_run(admin: Rest, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Apply without a trace, unknown fields being errors; a kind just served may need a moment."""
    deadline = time.monotonic() + IN_FORCE_S
    while True:
        try:
            found: dict[str, Any] = admin.patch(
                path, body, kind="apply", force="true", dryRun="All", fieldValidation="Strict"
            )
        except StatusError as error:
            if error.http_status != 404 or time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return found
