"""The objects of a scenario's world as its file gives them: shapes, files, documents that follow.

Apart from `reading`, which reads the story. Errors: DocumentError with line and field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from suture.errors import DocumentError, InputError
from suture.lab.scenarios.expand import expand
from suture.lab.scenarios.format import Scenario
from suture.lab.scenarios.shapes import SHAPES, Object
from suture.model.documents import Document, did_you_mean, read_as
from suture.model.documents import Path as Field
from suture.wire.yaml import read_documents


def from_shapes(document: Document) -> list[Object]:
    """Return the objects of every shape that the file uses."""
    given = document.at(("cluster", "shapes"))
    found: list[Object] = []
    for at, name, parameters in _uses(document, given):
        shape = SHAPES.get(name)
        if shape is None:
            problem = f"`{name}` is not a shape{did_you_mean(name, SHAPES)}"
            raise document.error(at, problem + "; see `suture scenario shapes`")
        # WHY a document of its own: parameters that the file does not write as a map have no lines.
        part = document if parameters is None else Document(document.source, parameters)
        try:
            found += read_as(part, shape, at if parameters is None else ()).dressed()
        except DocumentError as error:
            raise error if parameters is None else document.error(at, error.problem) from None
        except InputError as error:
            raise document.error(at, str(error)) from None
    return found


def _uses(document: Document, given: object) -> list[tuple[Field, str, dict[str, Any] | None]]:
    """Return every use of a shape: its place, its name, and short parameters (None: a map)."""
    base: Field = ("cluster", "shapes")
    found: list[tuple[Field, str, dict[str, Any] | None]] = []
    if isinstance(given, dict):
        for name, parameters in given.items():
            several = parameters if isinstance(parameters, list) else [parameters]
            for number, one in enumerate(several):
                at = (*base, str(name), number) if parameters is several else (*base, str(name))
                found.append((at, str(name), _short(document, at, one)))
    elif isinstance(given, list):
        for number, use in enumerate(given):
            at = (*base, number)
            if isinstance(use, str):
                found.append((at, use, {}))
            elif isinstance(use, dict) and "shape" in use:
                found.append((at, str(use["shape"]), None))
            elif isinstance(use, dict) and len(use) == 1:
                [(name, below)] = use.items()
                at = (*at, str(name))
                found.append((at, str(name), _short(document, at, below)))
            else:
                raise document.error(at, "lacks the field `shape`: the shape's name")
    elif given is not None:
        raise document.error(base, "must be a list of shapes or a map from names to parameters")
    return found


def _short(document: Document, at: Field, given: object) -> dict[str, Any] | None:
    """Return parameters that are not a map: none at all, or a bare count."""
    if given is None:
        return {}
    if isinstance(given, int) and not isinstance(given, bool):
        return {"count": given}
    if not isinstance(given, dict):
        raise document.error(at, "must be a map of parameters")
    return None


def from_files(document: Document, scenario: Scenario, folder: Path) -> list[Object]:
    """Return the objects of `cluster.files`, whether named or written out."""
    given = scenario.cluster.files
    found: list[Object] = []
    for number, item in enumerate(given if isinstance(given, tuple) else (given,)):
        at: Field = (
            ("cluster", "files", number) if isinstance(given, tuple) else ("cluster", "files")
        )
        if isinstance(item, dict):
            found += _objects(Document(document.source, item), partial(document.error, at))
            continue
        try:
            paths = [path for name in expand([item]) for path in _paths(folder, name)]
        except InputError as error:
            raise document.error(at, str(error)) from None
        for path in paths:
            for part in read_documents(bytes_of(path), str(path)):
                found += _objects(part, partial(part.error, ()))
    return found


def trailing(documents: Iterable[Document]) -> list[Object]:
    """Return the manifests that follow the scenario in its own file."""
    found: list[Object] = []
    for document in documents:
        if isinstance(document.value, dict) and "steps" in document.value:
            raise document.error(("steps",), "is a second scenario; one file holds one")
        found += _objects(document, partial(document.error, ()))
    return found


def _paths(folder: Path, name: str) -> list[Path]:
    path = folder / name
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if p.suffix in (".yaml", ".yml", ".json"))
    elif path.is_file():
        return [path]
    else:
        # WHY not for absolute paths: pathlib's glob takes relative patterns only.
        found = (
            [] if Path(name).is_absolute() else sorted(p for p in folder.glob(name) if p.is_file())
        )
    if not found:
        raise InputError(f"names no file: `{path}` is not there")
    return found


def _objects(document: Document, wrong: Callable[[str], InputError]) -> list[Object]:
    """Return the objects of one document; a List is taken apart."""
    value = document.value
    if not isinstance(value, dict):
        raise wrong("is not a Kubernetes object: not a map")
    kind, items = value.get("kind"), value.get("items")
    if isinstance(kind, str) and kind.endswith("List") and isinstance(items, list):
        return [o for item in items for o in _objects(Document(document.source, item), wrong)]
    metadata = value.get("metadata")
    name = (
        metadata.get("name") or metadata.get("generateName") if isinstance(metadata, dict) else ""
    )
    for field, present in (("apiVersion", value.get("apiVersion")), ("kind", kind)):
        if not isinstance(present, str) or not present:
            raise wrong(f"is not a Kubernetes object: it lacks `{field}`")
    if not isinstance(name, str) or not name:
        raise wrong("is not a Kubernetes object: it lacks `metadata.name`")
    return [dict(value)]


def bytes_of(path: Path) -> bytes:
    """Read a file. Errors: InputError, with the system's own words."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"`{path}` cannot be read: {error.strerror or error}") from error
