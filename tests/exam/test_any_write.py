"""Whatever is asked of whatever cluster: it is weighed, and no error inside comes of it.

An error inside is doubt, and what is in doubt passes: a rule that trips over a row that is not there
protects nobody. The clusters are those of scenario files, as they are at their end, with all that was
written; what is asked is what each object could be asked, with changes that nobody thought of.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import AsyncIterator, Iterator
from random import Random
from typing import Any

import pytest

from support.exam import LOADED
from suture.judge import judge
from suture.lab.scenarios.offline.guard import OfflineGuard, SutureOffline
from suture.lab.scenarios.offline.loop import run_jumping
from suture.lab.scenarios.offline.place import Offline
from suture.lab.scenarios.offline.reviews import Write, request_of, review_of
from suture.lab.scenarios.offline.store import Store, Thing
from suture.lab.scenarios.run import Runner
from suture.model.actor import UserInfo
from suture.model.names import Gvk, Operation
from suture.wire.admission import decode_review
from suture.world import World

EVERY = 40
"""Of so many scenario files one. With a 1 here, by hand, all are asked: an hour."""

OF_A_KIND = 2
PERSON = UserInfo("admin", groups=("system:masters", "system:authenticated"))
COLLECTOR = UserInfo("system:serviceaccount:kube-system:generic-garbage-collector")
ODD: tuple[Any, ...] = ("", "x", 0, 1, -1, 10**12, None, True, [], {}, [{}], {"a": "b"}, [None])
MARKS = ("labels", "annotations", "ownerReferences", "finalizers")


class Asking(OfflineGuard):
    """Suture, which is asked about any write once the story has been told."""

    asked = 0

    @contextlib.asynccontextmanager
    async def watching(self) -> AsyncIterator[SutureOffline]:
        """Guard as always, then ask."""
        async with super().watching() as suture:
            yield suture
            self._ask(suture.world)

    def _ask(self, world: World) -> None:
        store = self._server.store
        enrolled = [UserInfo(user) for one in world.operators.profiles for user in one.users]
        chance = Random(len(enrolled))  # noqa: S311 no secrets
        disturb(store, chance)
        for write in writes(store, [*enrolled, PERSON, COLLECTOR], chance):
            request = decode_review(review_of(write, request_of(write, "review-1")), store.trimmer)
            judge(request, world.operators.attribute(request.user), world, store.now())
            self.asked += 1


@pytest.mark.parametrize("name", sorted(LOADED)[::EVERY])
def test_each_write_is_weighed(name: str) -> None:
    """By who acts in the story, by a person and by the garbage collector."""
    place = Offline()
    guard = Asking(place.server, "enforce")

    run_jumping(Runner(LOADED[name], place, guard).run())

    assert guard.asked > 100


def disturb(store: Store, chance: Random) -> None:
    """Let some of what there is be gone, belong to nobody, or be as nobody would write it."""
    for thing in list(store):
        body, kind = thing.body, chance.random()
        if kind < 0.1:
            store.remove(thing)
        elif kind < 0.2:
            store.put(thing.api, changed(body, chance))
        elif kind < 0.3:
            metadata = {
                key: body["metadata"][key] for key in body["metadata"] if key not in MARKS[2:]
            }
            store.put(thing.api, {**body, "metadata": metadata})


def writes(store: Store, users: list[UserInfo], chance: Random) -> Iterator[Write]:
    """Yield what may be asked of some objects of each kind."""
    for resource in store.apis:
        things = store.all(resource)
        for thing in chance.sample(things, min(len(things), OF_A_KIND)):
            yield from of_one(thing, chance.choice(users), chance)


def of_one(thing: Thing, user: UserInfo, chance: Random) -> Iterator[Write]:
    """Yield deletes of an object, alone and among others, changes of it, and another like it."""
    api, key, body = thing.api, thing.key, thing.body
    at: dict[str, Any] = {
        "api": api,
        "user": user,
        "gvk": Gvk(api.group, api.version, api.kind),
        "namespace": key.namespace,
    }
    policy = chance.choice(({}, {"propagationPolicy": "Orphan"}))
    yield Write(operation=Operation.DELETE, name=key.name, old=body, options=policy, **at)
    yield Write(operation=Operation.DELETE, name=key.name, old=body, collected=True, **at)
    for _ in range(3):
        new = changed(body, chance)
        yield Write(operation=Operation.UPDATE, name=key.name, old=body, new=new, **at)
    if "status" in body:
        new = changed(body, chance)
        yield Write(
            operation=Operation.UPDATE, name=key.name, sub="status", old=body, new=new, **at
        )
    another = changed(body, chance)
    another["metadata"] |= {"name": f"{key.name}-z"}
    another["metadata"].pop("uid")
    yield Write(operation=Operation.CREATE, name=f"{key.name}-z", new=another, **at)


def changed(body: dict[str, Any], chance: Random) -> dict[str, Any]:
    """Return a body of which some things are gone, less, or of another shape."""
    body = copy.deepcopy(body)
    for _ in range(chance.choice((1, 1, 2, 4))):
        inner = [one for one in body if one not in ("apiVersion", "kind", "metadata")]
        if not inner or chance.random() < 0.25:
            body["metadata"].pop(chance.choice(MARKS), None)
        else:
            _change(body, chance.choice(inner), chance)
    return body


def _change(node: Any, key: Any, chance: Random) -> None:
    """Change something at or below a place."""
    value = node[key]
    if isinstance(value, (dict, list)) and value and chance.random() < 0.85:
        below = list(value) if isinstance(value, dict) else range(len(value))
        _change(value, chance.choice(below), chance)
    elif chance.random() < 0.5:
        del node[key]
    else:
        # WHY a copy: it may be changed further, and would else hold itself some day.
        node[key] = copy.deepcopy(chance.choice(ODD))
