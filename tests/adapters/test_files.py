"""Policy files on disk: folders, single files, and what cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from suture.adapters import files
from suture.adapters.files import PolicyFilesError, load_policies, read_policy_files
from suture.policy.compile import PoliciesError

LOOSE = """\
apiVersion: policies.suture.dev/v1alpha1
kind: ShareBudget
metadata: {name: share-budget-of-ci}
spec:
  match: {operators: [ci]}
  parameters:
    windows: [{seconds: 1h, count: 500}]
"""


def test_a_folder_adds_to_the_pack(tmp_path: Path) -> None:
    """Folders are read with all below them; hidden ones, as ConfigMaps have them, only once."""
    (tmp_path / "team").mkdir()
    (tmp_path / "team" / "loose.yml").write_text(LOOSE)
    (tmp_path / "..data").mkdir()
    (tmp_path / "..data" / "loose.yaml").write_text(LOOSE)
    (tmp_path / "notes.txt").write_text("{")
    names = [bound.name for bound in load_policies([tmp_path]).constraints]
    pack = [bound.name for bound in load_policies().constraints]
    assert sorted(names) == sorted([*pack, "share-budget-of-ci"])


def test_a_file_without_the_pack(tmp_path: Path) -> None:
    """A constraint alone is of no known kind: the pack was not wanted."""
    file = tmp_path / "loose.yaml"
    file.write_text(LOOSE)
    with pytest.raises(PoliciesError, match=rf"{file}:2: field `kind` `ShareBudget`"):
        load_policies([file], pack=False)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PolicyFilesError, match="cannot be read"):
        read_policy_files([tmp_path / "missing.yaml"])


def test_a_file_that_is_not_yaml(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("a: [")
    with pytest.raises(PoliciesError, match=rf"^{file}:2:"):
        read_policy_files([file])


def test_every_file_that_is_not_yaml_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: 1\na: 2\n")
    (tmp_path / "b.yaml").write_text(LOOSE)
    (tmp_path / "c.yaml").write_text("a: [")
    with pytest.raises(PoliciesError) as raised:
        load_policies([tmp_path])
    assert [(one.source, one.line) for one in raised.value.errors] == [
        (str(tmp_path / "a.yaml"), 2),
        (str(tmp_path / "c.yaml"), 2),
    ]


def test_too_many_files(tmp_path: Path) -> None:
    for number in range(files.MAX_FILES + 1):
        (tmp_path / f"{number}.yaml").write_text("")
    with pytest.raises(PolicyFilesError, match="at most"):
        read_policy_files([tmp_path])
