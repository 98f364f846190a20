"""Policy files on disk and in the package, read into documents: the rim of the policy room.

The safety pack is read exactly as a user's folder is; nothing in it is privileged.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import resources
from pathlib import Path

from suture.errors import DocumentError, InputError
from suture.model.documents import Document
from suture.policy.compile import PoliciesError, PolicySet, compile_policies
from suture.wire.yaml import read_documents

SUFFIXES = (".yaml", ".yml", ".json")
MAX_FILES = 1000
"""LIMIT: files of one folder; a policy library has a few hundred at most."""


class PolicyFilesError(InputError):
    """A file or folder of policies cannot be read at all."""

    code = "policy_files_unreadable"


def read_pack() -> list[Document]:
    """Return the documents of the safety pack that ships with Suture."""
    folder = resources.files("suture.policy") / "pack"
    files = sorted(
        (entry for entry in folder.iterdir() if entry.name.endswith(SUFFIXES)),
        key=lambda entry: entry.name,
    )
    return [
        document
        for entry in files
        for document in read_documents(entry.read_bytes(), f"pack/{entry.name}")
    ]


def read_policy_files(paths: Iterable[Path]) -> list[Document]:
    """Return the documents of files, and of the YAML and JSON files of folders, hidden ones not.

    Errors: PolicyFilesError for what is not there; PoliciesError for what is not YAML, the first
    mistake of each file.
    """
    found: list[Document] = []
    mistakes: list[DocumentError] = []
    for path in paths:
        for file in _files(path):
            try:
                found += read_documents(_bytes(file), str(file))
            except DocumentError as error:
                mistakes.append(error)
    if mistakes:
        # WHY not compiled: of half the files, much would seem to be missing.
        raise PoliciesError(tuple(mistakes))
    return found


def load_policies(paths: Iterable[Path] = (), *, pack: bool = True) -> PolicySet:
    """Return the policies of the safety pack, if wanted, and of the given files and folders."""
    files = tuple(paths)
    return (
        pack_policies() if pack and not files else compile_policies(read_policies(files, pack=pack))
    )


@cache
def pack_policies() -> PolicySet:
    """Return the policies of the safety pack alone, which is compiled once: half a second."""
    return compile_policies(read_pack())


def read_policies(paths: Iterable[Path] = (), *, pack: bool = True) -> list[Document]:
    """Return the documents of the safety pack, if wanted, and of the given files and folders."""
    return [*(read_pack() if pack else ()), *read_policy_files(paths)]


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(
        file
        for file in path.rglob("*")
        if file.suffix in SUFFIXES
        and file.is_file()
        # WHY: mounted ConfigMaps keep their real files in hidden folders beside links to them.
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
    )
    if len(found) > MAX_FILES:
        raise PolicyFilesError(f"folder `{path}` holds {len(found)} files, at most {MAX_FILES}")
    return found


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise PolicyFilesError(f"`{path}` cannot be read: {error.strerror}") from None
