"""Which write a case makes: drawn from what stands in its world at that moment.

Apart from the world's making because later cases meet what earlier ones left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random

from suture.lab.clusters.chance import uid as made_uid
from suture.lab.differential.worlds import KEPT
from suture.lab.differential.writes import (
    Body,
    Delete,
    DeleteAll,
    Evict,
    OwnedBy,
    Patch,
    Scale,
    Write,
)
from suture.model.names import (
    CLAIMS,
    CONFIG_MAPS,
    CRDS,
    DAEMON_SETS,
    DEPLOYMENTS,
    DISRUPTION_BUDGETS,
    ENDPOINT_SLICES,
    JOBS,
    NAMESPACES,
    PODS,
    REPLICA_SETS,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    STATEFUL_SETS,
    VALIDATING_WEBHOOKS,
    VOLUMES,
    ObjectKey,
    Propagation,
    Resource,
)
from suture.model.objects import ClusterObject, ServiceFacts

SCALED = frozenset({DEPLOYMENTS, STATEFUL_SETS, REPLICA_SETS})
TEMPLATED = frozenset({DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS})
COLLECTED = (PODS, CONFIG_MAPS, SECRETS, SERVICES, DEPLOYMENTS, REPLICA_SETS, JOBS, CLAIMS)
ADOPTED = frozenset({PODS, REPLICA_SETS, ENDPOINT_SLICES, Resource("apps", "controllerrevisions")})
"""What controllers take back at once, so that an edit of its owners races with them."""

WHOLE = frozenset({NAMESPACES, CRDS})
"""What takes so much along that no case of the world comes after it."""

_NOT_OURS = frozenset(
    {Resource("", "events"), Resource("events.k8s.io", "events"), Resource("", "endpoints")}
)


class Chooser:
    """The objects of one world now, and the writes that could be made to them."""

    def __init__(self, things: Iterable[ClusterObject], dice: Random) -> None:
        self._dice = dice
        self.all = sorted((one for one in things if _ours(one)), key=lambda one: one.key)
        self.standing = [one for one in self.all if not one.terminating]

    def draw(self, *, last: bool) -> Write | None:
        """Return a write; None where nothing is left to write. `last`: it may take a namespace."""
        ways: list[tuple[int, Callable[[], Write | None]]] = [
            (30, self._delete),
            (8, self._delete_all),
            (7, self._evict),
            (9, self._scale),
            (8, self._template),
            (7, self._select),
            (7, self._relabel),
            (6, self._release),
            (10, self._own),
            (3, self._touch),
            (2, self._budget),
            (4, self._hook),
            (5, self._backend),
        ]
        if last:
            ways.append((45, self._whole))
        # WHY a shuffle by weight: what finds nothing to write gives way to another.
        weights = [(self._dice.random() ** (1 / weight), way) for weight, way in ways]
        for _, way in sorted(weights, key=lambda one: -one[0]):
            write = way()
            if write is not None:
                return write
        return None

    def _one(self, *resources: Resource) -> ClusterObject | None:
        found = [one for one in self.standing if one.key.resource in resources]
        return self._dice.choice(found) if found else None

    def _of_kinds(self, things: Sequence[ClusterObject]) -> ClusterObject | None:
        """Draw a kind first, so that the many do not crowd out the few."""
        kinds = sorted({one.key.resource for one in things})
        if not kinds:
            return None
        resource = self._dice.choice(kinds)
        return self._dice.choice([one for one in things if one.key.resource == resource])

    def _delete(self) -> Write | None:
        one = self._of_kinds([one for one in self.standing if one.key.resource not in WHOLE])
        if one is None:
            return None
        return Delete(one.key, self._dice.choice([None, None, *Propagation]))

    def _whole(self) -> Write | None:
        one = self._one(*WHOLE)
        return None if one is None else Delete(one.key, self._dice.choice([None, *Propagation]))

    def _delete_all(self) -> Write | None:
        one = self._one(*COLLECTED)
        if one is None:
            return None
        labels = dict(one.labels)
        picked = self._dice.choice([*sorted(labels), ""]) if labels else ""
        selector = f"{picked}={labels[picked]}" if picked else None
        return DeleteAll(ObjectKey(one.key.resource, one.key.namespace, ""), selector)

    def _evict(self) -> Write | None:
        one = self._one(PODS)
        return None if one is None else Evict(one.key)

    def _scale(self) -> Write | None:
        one = self._one(*SCALED)
        if one is None:
            return None
        size = self._dice.choice([0, 0, 1, 2, 3, 4])
        if self._dice.random() < 0.5:
            return Scale(one.key, size)
        return Patch(one.key, "size", {"spec": {"replicas": size}})

    def _template(self) -> Write | None:
        one = self._one(*TEMPLATED)
        if one is None:
            return None
        turn = {"turn": f"{self._dice.randrange(1 << 30)}"}
        return Patch(
            one.key, "template", {"spec": {"template": {"metadata": {"annotations": turn}}}}
        )

    def _select(self) -> Write | None:
        # LIMIT: not those that have none: their slices by hand would stay beside the controller's,
        # and the model counts the one or the other.
        found = [
            one
            for one in self.standing
            if isinstance(one.facts, ServiceFacts) and one.facts.selector is not None
        ]
        if not found:
            return None
        one = self._dice.choice(found)
        selector = self._dice.choice(
            [None, {"app": "nobody"}, {"app": "db"}, {"app": "web"}, {"tier": "x"}]
        )
        # WHY both left out: a merge keeps the keys that it does not name.
        body: Body = {"app": None, "tier": None, **selector} if selector else {}
        return Patch(one.key, "selector", {"spec": {"selector": body or None}})

    def _relabel(self) -> Write | None:
        one = self._one(PODS)
        if one is None:
            return None
        label = self._dice.choice(["app", "app", "tier"])
        value = self._dice.choice([None, "web", "db", "x", "lone"])
        return Patch(one.key, "labels", {"metadata": {"labels": {label: value}}})

    def _release(self) -> Write | None:
        found = [one for one in self.all if one.terminating and KEPT in one.finalizers]
        if not found:
            return None
        one = self._dice.choice(found)
        return Patch(one.key, "finalizers", {"metadata": {"finalizers": None}})

    def _own(self) -> Write | None:
        one = self._of_kinds(
            [
                one
                for one in self.standing
                if one.key.resource not in ADOPTED | WHOLE and not _by_system(one)
            ]
        )
        if one is None:
            return None
        return Patch(one.key, "owners", {}, self._owners(one))

    def _owners(self, thing: ClusterObject) -> tuple[OwnedBy, ...]:
        """Draw owners anew: none, one or two, of which some cannot own."""
        others = [
            one
            for one in self.all
            if one.uid != thing.uid and one.key.resource not in WHOLE and one.key.resource != PODS
        ]
        near = [one for one in others if one.key.namespace in {"", thing.key.namespace}]
        far = [one for one in others if one.key.namespace not in {"", thing.key.namespace}]
        had = {one.uid for one in thing.owners}
        drawn: list[OwnedBy] = []
        for _ in range(self._dice.choice([0, 1, 1, 2])):
            match self._dice.randrange(8):
                case 0:
                    uid = made_uid(self._dice.randrange(1 << 30))
                    drawn.append(OwnedBy("v1", "ConfigMap", "never", uid=uid))
                case 1 if far:
                    drawn.append(_owner(self._dice.choice(far)))
                case 2 if near:
                    # LIMIT: of an owner that it has not: the collector looks at a reference when
                    # its uid is new, and at all of them only when it starts anew.
                    one = _owner(self._dice.choice(near))
                    if one.uid not in had:
                        drawn.append(OwnedBy("v1", "Secret", one.name, uid=one.uid))
                case _ if near:
                    drawn.append(_owner(self._dice.choice(near)))
        return tuple(drawn)

    def _touch(self) -> Write | None:
        one = self._of_kinds([one for one in self.standing if one.key.resource not in WHOLE])
        if one is None:
            return None
        touched = {"metadata": {"annotations": {"touched": f"{self._dice.randrange(1 << 30)}"}}}
        return Patch(one.key, "nothing", touched)

    def _budget(self) -> Write | None:
        one = self._one(DISRUPTION_BUDGETS)
        if one is None:
            return None
        return Patch(one.key, "budget", {"spec": {"minAvailable": None, "maxUnavailable": 0}})

    def _hook(self) -> Write | None:
        one = self._one(VALIDATING_WEBHOOKS)
        return None if one is None else Delete(one.key)

    def _backend(self) -> Write | None:
        """Take what is behind a webhook, in one of the ways that it goes."""
        found = [
            one
            for one in self.standing
            if one.key.name == "hook" or one.labels.get("app") == "hook"
        ]
        one = self._of_kinds(found)
        if one is None:
            return None
        if one.key.resource == DEPLOYMENTS and self._dice.random() < 0.5:
            return Scale(one.key, 0)
        return Delete(one.key)


def _ours(one: ClusterObject) -> bool:
    return one.key.resource not in _NOT_OURS


def _by_system(one: ClusterObject) -> bool:
    """Whether a controller keeps an object by its name, whoever owns it."""
    key = one.key
    return (key.resource == CONFIG_MAPS and key.name == "kube-root-ca.crt") or (
        key.resource in {SERVICE_ACCOUNTS, VOLUMES} and key.name == "default"
    )


def _owner(one: ClusterObject) -> OwnedBy:
    gvk = one.gvk
    version = f"{gvk.group}/{gvk.version}" if gvk.group else gvk.version
    return OwnedBy(version, gvk.kind, one.key.name, one.key.namespace, one.uid)
