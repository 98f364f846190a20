"""Pods that keep their own state in an object beside them: nobody names it, and they write it.

Beside `tenure`, which asks of fields and marks. Members of a cluster keep their leader and their
identity so, in a ConfigMap or Secret of their namespace, by the account that they run as. Pure.
"""

from __future__ import annotations

from typing import Final

from suture.impact.ground.readers import is_read
from suture.impact.scene import Scene
from suture.model.actor import SERVICE_ACCOUNT, account_of
from suture.model.deeds import What
from suture.model.names import CONFIG_MAPS, SECRETS, SERVICE_ACCOUNTS, ObjectKey
from suture.model.writes import MONTH_S, number

ACCOUNTS: Final = 64
"""LIMIT: accounts of one namespace that are asked whether they wrote an object, 1 us each."""

_STATES: Final = frozenset({CONFIG_MAPS, SECRETS})


def at_work_on(scene: Scene, row: int) -> ObjectKey | None:
    """Return the account of running pods that keep their own state in an object; None: none do.

    WHY not of a person: who mends such a cluster takes it away by hand.
    """
    view = scene.view
    if view.resource(row) not in _STATES or account_of(scene.actor.user.username) is None:
        return None
    return written_beside(scene, view.key(row), view.uid(row))


def written_beside(scene: Scene, key: ObjectKey, uid: str) -> ObjectKey | None:
    """Return the account that wrote an object last, or made it, where pods run beside it as that.

    None where it was somebody else, or nobody was seen to.
    """
    view, now = scene.view, scene.now
    if now is None:
        return None
    last = view.history.writes.last(key, What.WROTE, now, MONTH_S)
    maker = view.history.created_by(uid) if last is None else ""
    if last is None and account_of(maker) is None:
        return None
    by = number(maker) if last is None else last
    for account in view.rows(SERVICE_ACCOUNTS, key.namespace)[:ACCOUNTS]:
        if number(f"{SERVICE_ACCOUNT}{key.namespace}:{view.name(account)}") == by:
            return view.key(account) if is_read(view, account) else None
    return None
