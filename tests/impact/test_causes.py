"""Why objects go: the causes that account for a removal, and their look-alikes that do not."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.cluster import (
    BALANCERS,
    START,
    delete,
    graph_of,
    namespace,
    operator,
    owner,
    service,
    thing,
    view_of,
    workload,
)
from suture.impact.causes.causes import FEW, Causes
from suture.impact.causes.explained import home_ends, owner_ends
from suture.impact.effects import ObjectsRemoved
from suture.impact.estimate import estimate
from suture.impact.ground.change import Change
from suture.impact.project import project
from suture.model.actor import Actor
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import (
    CLAIMS,
    CONFIG_MAPS,
    JOBS,
    PODS,
    REPLICA_SETS,
    SERVICE_ACCOUNTS,
    STATEFUL_SETS,
    ObjectKey,
    Resource,
)
from suture.model.objects import (
    ClaimFacts,
    ClusterObject,
    CustomFacts,
    PodFacts,
    WorkloadFacts,
)

SETS = Resource("db.example.com", "sets")
APPLICATIONS = Resource("deploy.example.com", "apps")


def row_of(view: GraphView, one: ClusterObject) -> int:
    row = view.find(one.key)
    assert row is not None
    return row


def causes(view: GraphView, *going: ClusterObject) -> Causes:
    return Causes(view, Change(tuple(row_of(view, one) for one in going)), operator().user.username)


def needing(one: ClusterObject, edge: Edge, target: ObjectKey) -> ClusterObject:
    return msgspec.structs.replace(one, needs=(Need(edge, target),))


def removed(view: GraphView, one: ClusterObject) -> ObjectsRemoved:
    request = delete(one)
    impact = estimate(request, project(request, view), view, operator(), {"objects_removed"})
    (found,) = [
        each for each in impact.effects
        if isinstance(each, ObjectsRemoved) and each.resource == str(one.key.resource)
    ]  # fmt: skip
    return found


# ---------------------------------------------------------------- parents that count


def members(wanted: int | None, count: int) -> tuple[ClusterObject, list[ClusterObject]]:
    """Make a custom resource and the claims that name it as their parent."""
    parent = thing(SETS, "db", "shop", facts=CustomFacts(wanted))
    claims = [
        needing(thing(CLAIMS, f"data-{number}", "shop"), Edge.PARENT, parent.key)
        for number in range(count)
    ]
    return parent, claims


def test_a_parent_that_wants_fewer_lets_go_of_the_surplus_and_of_no_more() -> None:
    """Of three children of which one is wanted, two may go, whichever they are."""
    parent, claims = members(1, 3)
    view = view_of(parent, claims)

    found = causes(view, *claims)

    assert [found.explains(row_of(view, one)) for one in claims] == [True, True, False]


def test_a_parent_that_wants_them_all_explains_nothing() -> None:
    """A removal on a stale view of the parent: it wants what it has."""
    parent, claims = members(3, 3)
    view = view_of(parent, claims)

    assert not causes(view, claims[2]).explains(row_of(view, claims[2]))


def test_a_parent_that_says_no_count_explains_nothing() -> None:
    """Not told and zero are two things."""
    parent, claims = members(None, 2)
    view = view_of(parent, claims)

    assert not causes(view, claims[0]).explains(row_of(view, claims[0]))


def test_a_parent_by_name_that_is_gone_explains_only_where_its_kind_is_listed() -> None:
    """What cannot be listed may well be there."""
    _, claims = members(1, 1)
    gone = view_of(thing(SETS, "other", "shop"), claims)
    unknown = view_of(claims)

    assert causes(gone, claims[0]).explains(row_of(gone, claims[0]))
    assert not causes(unknown, claims[0]).explains(row_of(unknown, claims[0]))


def test_pods_that_a_custom_resource_owns_go_down_to_its_wanted_count() -> None:
    """Alike pods of one owner: as many as it can spare are explained, the others are not."""
    parent = thing(SETS, "db", "shop", facts=CustomFacts(2))
    pods = [
        thing(PODS, f"db-{number}", "shop", owners=[owner(parent)], facts=PodFacts(ready=True))
        for number in range(5)
    ]
    view = view_of(parent, pods)
    rows = [row_of(view, one) for one in pods[:4]]
    found = causes(view, *pods[:4])

    assert [found.explained_of(lot) for lot in view.lots(rows)] == [3]


# ---------------------------------------------------------------- built-in parents


def stateful(replicas: int) -> ClusterObject:
    return thing(STATEFUL_SETS, "my-db", "shop", facts=WorkloadFacts(replicas=replicas))


def claim(ordinal: int) -> ClusterObject:
    return thing(CLAIMS, f"data-my-db-{ordinal}", "shop")


def test_a_claim_beyond_the_size_of_its_statefulset_is_left_over() -> None:
    """The one within it is not, nor is any of a set that is scaled to nothing."""
    view = view_of(stateful(2), claim(1), claim(2))
    asleep = view_of(stateful(0), claim(1))

    assert causes(view, claim(2)).explains(row_of(view, claim(2)))
    assert not causes(view, claim(1)).explains(row_of(view, claim(1)))
    assert not causes(asleep, claim(1)).explains(row_of(asleep, claim(1)))


def test_a_claim_that_a_pod_still_uses_is_not_left_over() -> None:
    """Scaled down is not yet gone."""
    pod = needing(
        thing(PODS, "my-db-2", "shop", facts=PodFacts(ready=True)), Edge.CLAIM, claim(2).key
    )
    view = view_of(stateful(2), claim(2), pod)

    assert not causes(view, claim(2)).explains(row_of(view, claim(2)))


def test_a_claim_that_was_never_bound_holds_nothing() -> None:
    """One that a pod waits for is asked for, and one that is bound, or was, holds data."""
    new = thing(CLAIMS, "new", "shop", facts=ClaimFacts())
    waiting = needing(thing(PODS, "web-0", "shop", facts=PodFacts()), Edge.CLAIM, new.key)

    def explained(facts: ClaimFacts, *things: ClusterObject) -> bool:
        one = msgspec.structs.replace(new, facts=facts)
        view = view_of(one, *things)
        return causes(view, one).explains(row_of(view, one))

    assert explained(ClaimFacts())
    assert not explained(ClaimFacts(), waiting)
    assert not explained(ClaimFacts(bound=True, volume="disk"))
    assert not explained(ClaimFacts(volume="disk"))


def test_a_replicaset_at_zero_is_history_while_its_deployment_lives() -> None:
    """One with pods is not, and one that nobody owns is not."""
    deployment, current, *pods = workload("web")
    zero = WorkloadFacts(replicas=0)
    old = thing(REPLICA_SETS, "web-0", "prod", owners=[owner(deployment)], facts=zero)
    loose = thing(REPLICA_SETS, "loose", "prod", facts=zero)
    view = view_of(deployment, current, pods, old, loose)

    assert causes(view, old).explains(row_of(view, old))
    assert not causes(view, current).explains(row_of(view, current))
    assert not causes(view, loose).explains(row_of(view, loose))


def test_what_an_application_keeps_goes_with_it() -> None:
    """While the application is going; one that stays explains nothing."""
    application = thing(Resource("deploy.example.com", "apps"), "shop", "cd", deleted=1.0)
    stays = msgspec.structs.replace(application, deleted=0.0)
    kept = needing(service("web"), Edge.MANAGED_BY, application.key)

    going, staying = view_of(application, kept), view_of(stays, kept)

    assert causes(going, kept).explains(row_of(going, kept))
    assert not causes(staying, kept).explains(row_of(staying, kept))


def test_the_control_plane_keeps_a_default_account_in_every_namespace() -> None:
    """Its loss heals, that of another account does not, nor where the namespace goes as well."""
    default = thing(SERVICE_ACCOUNTS, "default", "shop")
    other = thing(SERVICE_ACCOUNTS, "web", "shop")
    view = view_of(namespace("shop"), default, other)

    assert removed(view, default).self_healing == 1
    assert removed(view, other).lasting == 1
    assert not causes(view, namespace("shop"), default).heals(row_of(view, default))


# ---------------------------------------------------------------- a namespace of one's own


def test_a_namespace_that_the_actor_made_is_its_own_to_delete() -> None:
    """As long as all that counts in it is the actor's too."""
    home, mine, theirs = namespace("ci-7"), service("web", "ci-7"), service("db", "ci-7")
    history = History()
    for one in (home, mine):
        history.note_created(one.uid, operator().user.username, "lb", one.key, START)

    alone = GraphView(graph_of(home, mine), history)
    shared = GraphView(graph_of(home, mine, theirs), history)

    assert removed(alone, home).explained == 1
    assert removed(shared, home).explained == 0


def explained_of(home: ClusterObject, view: GraphView, by: Actor, hours: int) -> int:
    """Return how many namespaces go for a cause, as one is deleted some hours after the start."""
    request = delete(home, by=by)
    impact = estimate(request, project(request, view), view, by, now=START.plus_s(hours * 3600))
    (told,) = (
        one
        for one in impact.effects
        if isinstance(one, ObjectsRemoved) and one.resource == "namespaces"
    )
    return told.explained


@pytest.mark.parametrize(
    ("maker", "hours", "explained"),
    [
        ("system:serviceaccount:ci:runner", 3, 1),
        ("system:serviceaccount:ci:runner", 30, 1),
        ("system:serviceaccount:ci:runner", 200, 0),
        ("system:serviceaccount:shop:runner", 3, 0),
        ("developer@example.com", 3, 0),
    ],
    ids=["beside", "of the week", "older", "of another namespace", "a person"],
)
def test_what_an_account_beside_the_actor_made_this_week(
    maker: str, hours: int, explained: int
) -> None:
    """What runs tests makes namespaces; what clears up after it has an account of its own."""
    home, web = namespace("e2e-7"), service("web", "e2e-7")
    view = GraphView(graph_of(home, web), History())
    for one in (home, web):
        view.history.note_created(one.uid, maker, maker, one.key, START)
    by = operator("system:serviceaccount:ci:janitor")
    assert explained_of(home, view, by, hours) == explained


@pytest.mark.parametrize(
    ("maker", "hours", "named", "explained"),
    [
        (operator().user.username, 3, True, 1),
        (operator().user.username, 30, True, 1),
        (operator().user.username, 200, True, 0),
        (operator().user.username, 3, False, 0),
        ("developer@example.com", 3, True, 0),
    ],
    ids=["of the day", "of the week", "older", "named by nobody", "of another's set"],
)
def test_claims_of_a_set_that_the_actor_made_are_its_own(
    maker: str, hours: int, named: bool, explained: int
) -> None:
    """They are made by a controller; of what is older nobody knows what lies in them by now."""
    home, by = namespace("e2e-7"), operator()
    members = thing(STATEFUL_SETS, "db", "e2e-7", facts=WorkloadFacts(replicas=1))
    data = thing(CLAIMS, "data-db-0", "e2e-7", facts=ClaimFacts(bound=True))
    pod = thing(PODS, "db-0", "e2e-7", owners=[owner(members)], facts=PodFacts(ready=True))
    view = view_of(home, members, data, needing(pod, Edge.CLAIM, data.key) if named else pod)
    view.history.note_created(home.uid, by.user.username, "ci", home.key, START)
    view.history.note_created(members.uid, maker, maker, members.key, START)
    assert explained_of(home, view, by, hours) == explained


@pytest.mark.parametrize(("maker", "explained"), [("me", 1), ("developer@example.com", 0)])
def test_claims_of_a_set_that_went_first(maker: str, explained: int) -> None:
    """An uninstall takes the set away, and the namespace then with the claim that it left."""
    home, by = namespace("e2e-7"), operator()
    maker = by.user.username if maker == "me" else maker
    members = thing(STATEFUL_SETS, "my-db", "e2e-7", facts=WorkloadFacts(replicas=1))
    data = thing(CLAIMS, "data-my-db-0", "e2e-7", facts=ClaimFacts(bound=True))
    view = view_of(home, data)
    view.history.note_created(home.uid, by.user.username, "ci", home.key, START)
    view.history.note_created(members.uid, maker, maker, members.key, START)
    view.history.note_removed(members.uid, members.key, START)
    assert explained_of(home, view, by, 3) == explained


def test_a_namespace_of_unknown_origin_is_not() -> None:
    """Forgetting can only make stricter."""
    view = view_of(namespace("ci-7"), service("web", "ci-7"))

    assert removed(view, namespace("ci-7")).explained == 0


# ---------------------------------------------------------------- many at once


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["none", "live", "going"])), max_size=12))
def test_many_are_told_apart_as_each_by_itself(drawn: list[tuple[bool, str]]) -> None:
    """The quick way with many objects of a kind that nobody counts finds the same causes."""
    parents = {
        "live": thing(BALANCERS, "live", "shop"),
        "going": thing(BALANCERS, "going", "shop", deleted=1.0),
    }
    things = [
        thing(
            CONFIG_MAPS,
            f"c{number}",
            "shop",
            owners=[owner(parents[kind])] if kind in parents else [],
            deleted=1.0 if gone else 0.0,
        )
        for number, (gone, kind) in enumerate(drawn)
    ]
    filler = [thing(CONFIG_MAPS, f"filler-{number}", "shop") for number in range(FEW)]
    view = view_of(parents.values(), things, filler)
    rows = [row_of(view, one) for one in (*things, *filler)]
    found = Causes(view, Change(tuple(rows))).unexplained(CONFIG_MAPS, rows)

    assert found == [
        row for row in rows
        if not (view.terminating(row) or owner_ends(view, row) or home_ends(view, row))
    ]  # fmt: skip


@given(
    st.lists(
        st.tuples(
            st.booleans(),
            st.sampled_from(["none", "live", "going"]),
            st.frozensets(st.sampled_from(["stays", "ends"])),
            st.sampled_from([CONFIG_MAPS, CLAIMS, JOBS]),
        ),
        max_size=30,
    )
)
def test_causes_of_a_kind_are_those_of_each(
    drawn: list[tuple[bool, str, frozenset[str], Resource]],
) -> None:
    """Column by column as object by object: owners, marks of applications, what goes already."""
    parents = {
        "live": thing(BALANCERS, "live", "shop"),
        "going": thing(BALANCERS, "going", "shop", deleted=1.0),
    }
    marks = {
        "stays": thing(APPLICATIONS, "stays", "shop"),
        "ends": thing(APPLICATIONS, "ends", "shop", deleted=1.0),
    }
    things = [
        msgspec.structs.replace(
            thing(
                resource,
                f"c{number}",
                "shop",
                owners=[owner(parents[kind])] if kind in parents else [],
                deleted=1.0 if gone else 0.0,
            ),
            needs=tuple(Need(Edge.MANAGED_BY, marks[one].key) for one in sorted(kept)),
        )
        for number, (gone, kind, kept, resource) in enumerate(drawn)
    ]
    view = view_of(parents.values(), marks.values(), things)
    change = Change(tuple(row_of(view, one) for one in things))
    for resource, rows in view.by_resource(change.direct).items():
        slow = Causes(view, change)
        fast = Causes(view, change).unexplained(resource, rows)
        assert fast == [row for row in rows if not slow.explains(row)]
        firsts = {
            target: next(row for row in rows if target in dict(view.targets(row, Edge.MANAGED_BY)))
            for row in rows
            for target, _ in view.targets(row, Edge.MANAGED_BY)
        }
        assert view.marked(rows) == firsts


def test_a_finished_job_is_explained() -> None:
    """By itself, with no owner."""
    job = thing(JOBS, "done", "shop", facts=WorkloadFacts(finished=True))
    view = view_of(job)

    assert causes(view, job).explains(row_of(view, job))


@pytest.mark.parametrize(
    ("idle", "explained"), [(True, 0), (False, 1)], ids=["another-is-idle", "all-are-in-use"]
)
def test_a_parent_that_wants_fewer_gives_up_the_claim_that_nobody_uses(
    *, idle: bool, explained: int
) -> None:
    """CrunchyData/postgres-operator#1915: one member fewer, and the claims of all went.

    Where none is idle yet it is one in use: its pod goes next.
    """
    parent = thing(SETS, "main", "prod", facts=CustomFacts(wanted=2))
    named = (Need(Edge.PARENT, parent.key),)
    claims = [
        msgspec.structs.replace(thing(CLAIMS, f"data-{number}", "prod"), needs=named)
        for number in range(3)
    ]
    pods = [
        msgspec.structs.replace(
            thing(PODS, f"db-{number}", "prod", facts=PodFacts(ready=True, node="node-1")),
            needs=(Need(Edge.CLAIM, claim.key),),
        )
        for number, claim in enumerate(claims[1:] if idle else claims)
    ]
    view = view_of(parent, claims, pods)
    row = view.find(claims[2].key)
    assert row is not None
    assert int(Causes(view, Change((row,))).explains(row)) == explained
