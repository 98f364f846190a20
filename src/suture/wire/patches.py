"""Patches that know lists by their keys: strategic merge, apply's merging, and kubectl's apply.

For where no API server does it: what-if on files, and scenarios offline; `scenarios.merge` has the
two kinds of patch that need no schema. Pure. Source: patchMergeKey and listMapKey of the core
types; fields that are in no table here are replaced whole. Server-side apply knows no field owners
here: it adds and replaces only. kubectl's own takes away what it wrote last time and no longer has.
"""

from __future__ import annotations

from typing import Any

KEYS: dict[str, tuple[str, ...]] = {
    "containers": ("name",),
    "initContainers": ("name",),
    "ephemeralContainers": ("name",),
    "volumes": ("name",),
    "env": ("name",),
    "volumeMounts": ("mountPath",),
    "volumeDevices": ("devicePath",),
    "imagePullSecrets": ("name",),
    "hostAliases": ("ip",),
    "topologySpreadConstraints": ("topologyKey",),
    "ownerReferences": ("uid",),
    "conditions": ("type",),
    "secrets": ("name",),
    "webhooks": ("name",),
    "ports": ("containerPort", "port"),
    "taints": ("key",),
}
"""By field: what tells the entries of a list apart; the first key that the patch's entries have."""

PLAIN = frozenset({"finalizers"})
"""Lists of plain values that are united."""

WHOLE = frozenset(
    {
        "selector", "labelSelector", "namespaceSelector", "objectSelector", "podSelector",
        "nodeSelector",
    }
)  # fmt: skip
"""Maps that server-side apply replaces as one. SOURCE: `+structType=atomic` of LabelSelector, and
`+mapType=atomic` of the core types' selectors."""


def strategic(thing: Any, change: Any) -> Any:
    """Return the thing with a strategic merge patch applied."""
    return _merged(thing, change, frozenset())


def _merged(thing: Any, change: Any, whole: frozenset[str]) -> Any:
    """Return the thing changed; the fields in `whole` are replaced as one."""
    if not isinstance(change, dict):
        return change
    if change.get("$patch") == "replace":
        return {key: value for key, value in change.items() if key != "$patch"}
    found = dict(thing) if isinstance(thing, dict) else {}
    for key, value in change.items():
        if key.startswith("$deleteFromPrimitiveList/"):
            field = key.partition("/")[2]
            found[field] = [one for one in found.get(field) or [] if one not in value]
        elif key.startswith("$"):
            continue
        elif value is None:
            found.pop(key, None)
        elif isinstance(value, list):
            found[key] = _list(key, found.get(key), value, whole)
        else:
            found[key] = value if key in whole else _merged(found.get(key), value, whole)
    return found


def applied(thing: Any, wish: Any) -> Any:
    """Return the thing with what server-side apply wishes; null is a value there, not a removal."""
    return _merged(thing, _without_nulls(wish), WHOLE)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value


def key_of(field: str, entries: list[Any]) -> str | None:
    """Return what tells the entries of a list apart, None where nothing does."""
    known = KEYS.get(field, ())
    return next((k for k in known if any(isinstance(e, dict) and k in e for e in entries)), None)


def _list(field: str, have: Any, wish: list[Any], whole: frozenset[str]) -> list[Any]:
    there = list(have) if isinstance(have, list) else []
    if field in PLAIN:
        return there + [one for one in wish if one not in there]
    entries = [one for one in wish if isinstance(one, dict)]
    key = key_of(field, entries)
    if not wish and field in KEYS:
        # WHY: to unite with nothing changes nothing.
        return there
    if key is None or len(entries) < len(wish):
        return wish
    for one in entries:
        at = next((i for i, old in enumerate(there) if old.get(key) == one.get(key)), None)
        if one.get("$patch") == "delete":
            if at is not None:
                del there[at]
        elif at is None:
            there.append(_merged({}, one, whole))
        else:
            there[at] = _merged(there[at], one, whole)
    return there


LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def applied_by_kubectl(thing: Any, wish: Any, last: Any) -> Any:
    """Return the thing after `kubectl apply` of a wish: what `last` had and the wish lacks goes.

    SOURCE: kubectl's three-way merge: deletions are last less wish, additions and changes the wish.
    """
    return strategic(_without(thing, wish, last), _without_nulls(wish))


def _without(thing: Any, wish: Any, last: Any) -> Any:
    """Return the thing less what was applied last and is wished for no more."""
    if not (isinstance(thing, dict) and isinstance(wish, dict) and isinstance(last, dict)):
        return thing
    kept = {}
    for key, value in thing.items():
        if key not in last:
            kept[key] = value
        elif key in wish:
            kept[key] = _kept(key, value, wish[key], last[key])
    return kept


def _kept(field: str, value: Any, wish: Any, last: Any) -> Any:
    """Return a field's value less what went; lists are compared entry by entry where keyed."""
    if not (isinstance(value, list) and isinstance(wish, list) and isinstance(last, list)):
        return _without(value, wish, last)
    key = key_of(field, last)
    if key is None:
        return value
    wished = {one.get(key): one for one in wish if isinstance(one, dict)}
    before = {one.get(key): one for one in last if isinstance(one, dict)}
    return [
        _without(one, wished.get(one.get(key), one), before.get(one.get(key), {}))
        for one in value
        if not isinstance(one, dict) or one.get(key) in wished or one.get(key) not in before
    ]
