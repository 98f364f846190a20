"""Explained, self-healing, lasting: what kind of loss a removal is.

A removal that a recorded cause accounts for is charged to the cause; one that a controller makes
good is a dip; everything else is lasting, and is what budgets and floors are about.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from suture.impact.ground.cascade import absent
from suture.impact.ground.claims import set_names
from suture.impact.ground.kinds import is_custom, is_route
from suture.model.actor import account_of
from suture.model.clock import Now
from suture.model.edges import Edge
from suture.model.facts import SnapshotContentFacts
from suture.model.graph import GraphView, Owner
from suture.model.names import (
    CLAIMS,
    CONFIG_MAPS,
    CRDS,
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    DISRUPTION_BUDGETS,
    ENDPOINT_SLICES,
    INGRESSES,
    JOBS,
    NAMESPACES,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    SERVICE_ACCOUNTS,
    SERVICES,
    SNAPSHOT_CONTENTS,
    STATEFUL_SETS,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClaimFacts, CrdFacts, WorkloadFacts
from suture.model.writes import DAY_S, WEEK_S

RECREATED_BY: dict[Resource, frozenset[Resource]] = {
    PODS: frozenset({REPLICA_SETS, STATEFUL_SETS, DAEMON_SETS, JOBS, REPLICATION_CONTROLLERS}),
    REPLICA_SETS: frozenset({DEPLOYMENTS}),
    JOBS: frozenset({CRON_JOBS}),
    ENDPOINT_SLICES: frozenset({SERVICES}),
}
"""Which built-in controller makes good the loss of which kind. Custom parents are not here: that
their operator would recreate a child is a hope, and the operator may be the one who deletes."""

KEPT_BY_NAME: dict[Resource, frozenset[str]] = {
    SERVICE_ACCOUNTS: frozenset({"default"}),
    CONFIG_MAPS: frozenset({"kube-root-ca.crt"}),
}
"""SOURCE: serviceaccount and root-ca-cert-publisher controllers: one in every namespace."""

ALWAYS_COUNTED: Final = frozenset(
    {SERVICES, DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS, REPLICA_SETS, CRON_JOBS, CLAIMS, INGRESSES}
)
USABLE: Final = frozenset({SERVICES, CLAIMS, PODS, CRDS, DISRUPTION_BUDGETS})
"""Kinds of which the model can tell whether they serve, run or hold data right now."""

NAMES_ASKED: Final = 16
"""LIMIT: pods of a StatefulSet looked at by name, 3 us each: a larger one is told to heal."""

CLIMBED: Final = 8
"""LIMIT: owners above a pod that are followed: Job and CronJob, ReplicaSet and Deployment, are two;
a ring of owners, which nothing forbids, ends here."""

CONTENTS_LOOKED_AT: Final = 4_000
"""LIMIT: contents that are looked through for a later one of a volume: 10 ms. Of more, none is."""

_SPACES: Final = (NAMESPACES,)
_CLAIMED: Final = frozenset({Edge.CLAIM})


def owner_ends(view: GraphView, row: int) -> bool:
    """Whether the owner that answers for an object is gone or going: its controller, else all."""
    if not view.has_owner(row):
        return False
    controller = view.controller(row)
    if controller >= 0:
        return view.terminating(controller)
    owners = view.owners(row)
    answering = [owner for owner in owners if owner.controller] or owners
    return bool(answering) and all(_ends(view, owner, row) for owner in answering)


def _ends(view: GraphView, owner: Owner, row: int) -> bool:
    if owner.present:
        return view.terminating(owner.row)
    return absent(view, owner, view.namespace(row))


def answering(view: GraphView, row: int) -> list[int]:
    """Return what is there and answers for an object: its controller, else its custom owners.

    WHY that too: many operators own what they make, and do not call themselves its controller.
    """
    controller = view.controller(row)
    if controller >= 0:
        return [controller]
    owners = [owner.row for owner in view.owners(row) if owner.present]
    return [one for one in owners if is_custom(view.resource(one))]


def home_ends(view: GraphView, row: int) -> bool:
    """Whether the namespace of an object, or the definition of its type, is going."""
    return space_ends(view, view.namespace(row)) or type_ends(view, view.resource(row))


def space_ends(view: GraphView, namespace: str) -> bool:
    """Whether a namespace is going; that of what is in none is not."""
    home = going_spaces(view).get(namespace)
    return home is not None and not view.gone(home)


def going_spaces(view: GraphView) -> dict[str, int]:
    """Return the namespaces that were seen to be going, by name, and their rows.

    WHY kept: each object of a change is asked whether its namespace goes, and hardly any does.
    """
    return view.made_of(_SPACES, _going_spaces)


def _going_spaces(view: GraphView) -> dict[str, int]:
    rows = view.rows(NAMESPACES)
    return {view.name(row): row for row in view.going(rows) if view.terminating(row)}


def type_ends(view: GraphView, resource: Resource) -> bool:
    """Whether the definition of a type is going; built-in types have none."""
    crd = view.crd(resource)
    return crd is not None and view.terminating(crd)


def own_namespace(
    view: GraphView, row: int, removed: Collection[int], identity: str, now: Now | None
) -> bool:
    """Whether a namespace was made by who asks, and all that counts in it as well.

    Or, within the week, by an account that lives beside that of who asks: what runs tests makes
    namespaces, and what clears up after it has an account of its own. Claims that a controller made
    for its sets are of the one who made those, within the week.
    """
    if not identity or view.resource(row) != NAMESPACES:
        return False
    made = view.history.creation(view.uid(row))
    if made is None:
        return False
    lately = now is not None and now.ago_s(made.at_ns) < WEEK_S
    if not (made.identity == identity or (lately and lives_beside(made.identity, identity))):
        return False
    return all(
        tied(view, one, made.identity, "")
        or (lately and resource == CLAIMS and _made_for(view, one, made.identity))
        for resource, rows in view.by_resource(list(removed)).items()
        if may_count(resource)
        for one in rows
        if counted(view, one)
    )


def _made_for(view: GraphView, claim: int, identity: str) -> bool:
    """Whether all pods that name a claim are of what an identity made; or its set was, and went."""
    pods = [view.one_alike(use.row) for use in view.uses(claim, _CLAIMED) if use.of_pods]
    if pods:
        return all(pod >= 0 and tied(view, pod, identity, "") for pod in pods)
    key, removed_at = view.key(claim), view.history.removed_at
    gone = (removed_at(ObjectKey(STATEFUL_SETS, key.namespace, name)) for name, _ in set_names(key))
    return any(one is not None and one.created_by == identity for one in gone)


def lives_beside(one: str, other: str) -> bool:
    """Whether two identities are accounts of one namespace, that of one program or team.

    WHY not `kube-`, nor `default`: there the accounts of everybody are.
    """
    first, second = account_of(one), account_of(other)
    if first is None or second is None or first.namespace != second.namespace:
        return False
    return first.namespace != "default" and not first.namespace.startswith("kube-")


def self_healing(view: GraphView, row: int, removed: Collection[int]) -> bool:
    """Whether a controller that stays, or is itself brought back, would bring the object back."""
    makers = RECREATED_BY.get(view.resource(row))
    if makers is None:
        return _kept_by_name(view, row, removed)
    maker = view.controller(row)
    if maker < 0 and view.resource(row) == PODS:
        maker = _missing_it(view, row)
    return (
        maker >= 0
        and view.resource(maker) in makers
        and (_stays(view, maker, removed) or self_healing(view, maker, removed))
        and not _name_taken(view, row, maker)
    )


def _missing_it(view: GraphView, pod: int) -> int:
    """Return the StatefulSet that wants a pod of this name and let go of this one; -1 for none.

    Source: StatefulSet controller: it does not make a pod whose name is taken, and does once the
    name is free.
    """
    key = view.key(pod)
    stem, _, ordinal = key.name.rpartition("-")
    row = view.find(ObjectKey(STATEFUL_SETS, key.namespace, stem)) if ordinal.isdecimal() else None
    facts = view.facts(row) if row is not None else None
    if row is None or not isinstance(facts, WorkloadFacts):
        return -1
    return row if int(ordinal) < (facts.replicas or 0) else -1


def _name_taken(view: GraphView, pod: int, maker: int) -> bool:
    """Whether a StatefulSet cannot make a pod before this one, its name being somebody else's."""
    if view.resource(maker) != STATEFUL_SETS:
        return False
    ordinal = view.name(pod).rpartition("-")[2]
    return ordinal.isdecimal() and held_up(view, maker, int(ordinal))


def held_up(view: GraphView, maker: int, size: int) -> bool:
    """Whether a StatefulSet cannot make one of its first `size` pods, the name being another's.

    It then makes none of those that follow, nor lets go of any that it no longer wants, until the
    name is free.
    Source: StatefulSet controller `updateStatefulSet` (it stops at the first that it cannot make).
    """
    if view.resource(maker) != STATEFUL_SETS:
        return False
    key = view.key(maker)
    for number in range(min(size, NAMES_ASKED)):
        pod = view.find(ObjectKey(PODS, key.namespace, f"{key.name}-{number}"))
        if pod is not None and view.controller(pod) != maker:
            return True
    return False


def _stays(view: GraphView, row: int, removed: Collection[int]) -> bool:
    return row not in removed and not view.terminating(row)


def _kept_by_name(view: GraphView, row: int, removed: Collection[int]) -> bool:
    """Whether an object is one that the control plane keeps in every namespace."""
    if view.resource(row) not in KEPT_BY_NAME:
        return False
    key = view.key(row)
    if key.name not in KEPT_BY_NAME[key.resource]:
        return False
    home = view.find(ObjectKey(NAMESPACES, "", key.namespace))
    return home is not None and home not in removed and not view.terminating(home)


def may_count(resource: Resource) -> bool:
    """Whether a budget may count the loss of objects of a type at all."""
    return resource in ALWAYS_COUNTED or resource in (JOBS, CRDS, PODS) or is_route(resource)


def counted(view: GraphView, row: int) -> bool:
    """Whether the lasting loss of an object matters to a budget.

    Services, workloads, claims and routes do whether or not they serve at this moment: an idle
    Service is tomorrow's failover. A definition with instances does, and a pod that serves.
    """
    resource = view.resource(row)
    if resource in ALWAYS_COUNTED or is_route(resource):
        return True
    if resource == JOBS:
        return not view.finished(row)
    return resource in (CRDS, PODS) and in_use(view, row)


def in_use(view: GraphView, row: int) -> bool:
    """Whether an object serves, runs something that serves, or holds data right now."""
    resource = view.resource(row)
    if resource == SERVICES:
        return view.serving_count(row) > 0
    if resource == CLAIMS:
        facts = view.facts(row)
        return isinstance(facts, ClaimFacts) and facts.bound
    if resource == PODS:
        return view.serves(row) and bool(view.services_of(row))
    if resource == CRDS:
        facts = view.facts(row)
        return isinstance(facts, CrdFacts) and view.count(facts.resource) > 0
    if resource == DISRUPTION_BUDGETS:
        # WHY several: a size of one has no floor, and its budget only bars drains.
        return sum(map(view.serving_alike, view.classes_selected(row))) > 1
    return False


def of_account(view: GraphView, row: int, account: ObjectKey | None) -> bool:
    """Whether an object is controlled by a pod that runs as an account."""
    controller = view.controller(row) if account is not None else -1
    if controller < 0 or view.resource(controller) != PODS:
        return False
    return _runs_as(view, controller, account)


def is_at_hand(view: GraphView, owner: int, account: ObjectKey | None) -> bool:
    """Whether an owner is the Deployment whose pods run as an account, and asks for what they say.

    An operator hangs what it makes on its own Deployment, for which no controller makes any of it.
    WHY not `default`: so runs whatever says nothing.
    """
    if account is None or account.name == "default" or view.resource(owner) != DEPLOYMENTS:
        return False
    return _runs_as(view, owner, account)


def _runs_as(view: GraphView, row: int, account: ObjectKey | None) -> bool:
    return any(view.key(one) == account for one, _ in view.targets(row, Edge.SERVICE_ACCOUNT))


def given_up(view: GraphView, content: int) -> bool:
    """Whether the snapshot that a content is bound to is going, or was seen to go."""
    return any(
        view.terminating(one) if present else view.history.removed_at(view.key(one)) is not None
        for one, present in view.targets(content, Edge.BOUND_SNAPSHOT)
    )


def has_later(view: GraphView, content: int, removed: Collection[int]) -> bool:
    """Whether a later content of the same volume stays, and no snapshot stands for this one.

    So who keeps backups lets the old ones go. What is lost if that was a mistake: an earlier hour
    of a volume of which a later one stays; the last one of each is asked for itself.
    """
    facts = view.facts(content)
    if not isinstance(facts, SnapshotContentFacts) or not facts.source:
        return False
    heads = view.targets(content, Edge.BOUND_SNAPSHOT)
    if any(present and not view.terminating(one) for one, present in heads):
        return False
    born, others = view.created(content), view.rows(SNAPSHOT_CONTENTS)
    return len(others) <= CONTENTS_LOOKED_AT and any(
        view.created(one) > born
        and one not in removed
        and not view.terminating(one)
        and isinstance(its := view.facts(one), SnapshotContentFacts)
        and its.source == facts.source
        for one in others
    )


def was_made_by(
    view: GraphView, row: int, identity: str, now: Now | None, within_s: int = DAY_S
) -> bool:
    """Whether an object was made by who asks, within the day or `within_s`."""
    made = view.history.creation(view.uid(row))
    return (
        made is not None
        and now is not None
        and made.identity == identity
        and now.ago_s(made.at_ns) < within_s
    )


def tied(view: GraphView, row: int, identity: str, pod_uid: str) -> bool:
    """Whether the model can tie an object to the actor: made by it, or by something it made."""
    queue, seen = [row], set[int]()
    while queue:
        current = queue.pop()
        if current in seen:
            continue
        seen.add(current)
        uid = view.uid(current)
        if view.history.created_by(uid) == identity or (pod_uid and uid == pod_uid):
            return True
        # WHY also those that are absent: the actor may have made an owner that is gone since.
        queue += view.owner_rows(current)
    return False
