"""Patches worked out on our side, for updates that read, change and replace as operators do.

Lives in the scenarios because everywhere else the API server works patches out. Pure.
Source: RFC 7386 (merge), RFC 6902 (JSON patch).
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from suture.errors import InputError


class PatchError(InputError):
    """A patch does not fit the object that it is to change."""

    code = "patch_misfit"


def merged(thing: Any, change: Any) -> Any:
    """Return the thing with a merge patch applied: null removes, maps go deeper."""
    if not isinstance(change, dict):
        return change
    found = dict(thing) if isinstance(thing, dict) else {}
    for key, value in change.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = merged(found.get(key), value)
    return found


def patched(thing: Any, operations: Any) -> Any:
    """Return the thing with JSON patch operations applied in order.

    Errors: PatchError when a path leads nowhere or a test does not hold.
    """
    found = deepcopy(thing)
    for operation in operations if isinstance(operations, list) else []:
        found = _apply(found, operation)
    return found


def _apply(thing: Any, operation: dict[str, Any]) -> Any:
    kind, path = operation.get("op"), str(operation.get("path", ""))
    if kind == "test":
        if _at(thing, path) != operation.get("value"):
            raise PatchError(f"test of `{path}` does not hold")
        return thing
    if kind == "move":
        value = _at(thing, str(operation["from"]))
        return _put(_drop(thing, str(operation["from"])), path, value, replace=False)
    if kind == "copy":
        return _put(thing, path, deepcopy(_at(thing, str(operation["from"]))), replace=False)
    if kind == "remove":
        return _drop(thing, path)
    if kind in ("add", "replace"):
        return _put(thing, path, operation.get("value"), replace=kind == "replace")
    raise PatchError(f"`{kind}` is not a JSON patch operation")


def _parts(path: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]


def _at(thing: Any, path: str) -> Any:
    for part in _parts(path):
        try:
            thing = thing[int(part)] if isinstance(thing, list) else thing[part]
        except (KeyError, IndexError, ValueError, TypeError):
            raise PatchError(f"`{path}` leads nowhere") from None
    return thing


def _put(thing: Any, path: str, value: Any, *, replace: bool) -> Any:
    if not path:
        return value
    *way, last = _parts(path)
    place = _at(thing, "".join(f"/{_escaped(part)}" for part in way))
    if replace:
        _at(place, f"/{_escaped(last)}")
    if isinstance(place, list):
        if last == "-":
            place.append(value)
        elif replace:
            place[int(last)] = value
        else:
            place.insert(int(last), value)
    elif isinstance(place, dict):
        place[last] = value
    else:
        raise PatchError(f"`{path}` leads into a plain value")
    return thing


def _drop(thing: Any, path: str) -> Any:
    *way, last = _parts(path)
    _at(thing, path)
    place = _at(thing, "".join(f"/{_escaped(part)}" for part in way))
    if isinstance(place, list):
        del place[int(last)]
    else:
        del place[last]
    return thing


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")
