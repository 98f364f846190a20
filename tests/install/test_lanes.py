"""Which lane a request is in; that lane 0 is in none; that no expression can err."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings

from support.celworld import WORLDS, asked, lanes_of, thing
from suture.errors import InputError
from suture.install.lanes import lanes
from suture.install.registration import registration, remembered
from suture.install.settings import (
    NAMED_IDENTITIES,
    Identities,
    Installation,
    Read,
    UrlTarget,
    enrol,
)
from suture.model.actor import CONSEQUENCE_CONTROLLERS, Profile, WhenDead

HELD = "system:serviceaccount:db:postgres"
CONTROLLER = "system:serviceaccount:kube-system:"
INSTALLATION = enrol(
    Installation(reads=(Read("UPDATE", "", "services"), Read("CREATE", "apps", "deployments"))),
    [
        Profile("ci", users=("ci@example.com",), groups=("robots",)),
        Profile("db", users=(HELD,), groups=("held-robots",), when_dead=WhenDead.HOLD),
        Profile("named", users=("calm@example.com",)),
    ],
)


DESTRUCTIVE = [
    pytest.param(asked("DELETE", "services", old=thing()), id="delete"),
    pytest.param(asked("DELETE", "services", name="", old=thing()), id="of-a-collection"),
    pytest.param(asked("DELETE", "nodes", namespace="", old=thing()), id="cluster-scoped"),
    pytest.param(asked("CREATE", "pods/eviction", new=thing()), id="eviction"),
    pytest.param(
        asked(
            "UPDATE", "deployments.apps/scale",
            old=thing(spec={"replicas": 3}), new=thing(spec={"replicas": 2}),
        ),
        id="scale-down",
    ),
    pytest.param(
        asked("UPDATE", "deployments.apps/scale", old=thing(spec={"replicas": 3}), new=thing(spec={})),
        id="scale-to-zero-is-left-out",
    ),
    pytest.param(
        asked(
            "UPDATE", "rollouts.argoproj.io",
            old=thing(spec={"replicas": 3}), new=thing(spec={"replicas": 1}),
        ),
        id="custom-replicas-down",
    ),
    pytest.param(
        asked("UPDATE", "services", old=thing(finalizers=["a", "b"]), new=thing(finalizers=["b"])),
        id="finalizer-removed",
    ),
    pytest.param(
        asked("UPDATE", "configmaps", old=thing(finalizers=["a"]), new=thing()),
        id="last-finalizer-removed",
    ),
    pytest.param(
        asked("UPDATE", "configmaps", old=thing(), new=thing(ownerReferences=[{"uid": "u"}])),
        id="owner-given",
    ),
    pytest.param(
        asked("UPDATE", "configmaps", old=thing(ownerReferences=[{"uid": "u"}]), new=thing()),
        id="owner-taken",
    ),
    pytest.param(
        asked(
            "UPDATE", "services",
            old=thing(spec={"selector": {"a": "b"}}), new=thing(spec={"selector": {"a": "c"}}),
        ),
        id="update-that-a-constraint-reads",
    ),
    pytest.param(
        asked("UPDATE", "services", old=thing(labels={"a": "b"}), new=thing()),
        id="labels-that-a-constraint-reads",
    ),
    pytest.param(asked("CREATE", "deployments.apps", new=thing()), id="create-that-is-read"),
]  # fmt: skip
ORDINARY = [
    pytest.param(asked("CREATE", "services", new=thing()), id="create"),
    pytest.param(asked("UPDATE", "configmaps", old=thing(), new=thing(labels={})), id="update"),
    pytest.param(
        asked("UPDATE", "services", old=thing(spec={"a": 1}), new=thing(spec={"a": 1})),
        id="read-update-without-a-change-of-the-wish",
    ),
    pytest.param(
        asked("UPDATE", "services/status", old=thing(spec={"a": 1}), new=thing(spec={"a": 2})),
        id="status",
    ),
    pytest.param(
        asked(
            "UPDATE", "deployments.apps/scale",
            old=thing(spec={"replicas": 2}), new=thing(spec={"replicas": 3}),
        ),
        id="scale-up",
    ),
    pytest.param(
        asked("UPDATE", "secrets", old=thing(finalizers=["a"]), new=thing(finalizers=["b", "a"])),
        id="finalizer-added",
    ),
    pytest.param(
        asked("CREATE", "services", new=thing(ownerReferences=[{"uid": "u"}])),
        id="owner-at-creation",
    ),
    pytest.param(asked("CREATE", "evictions.example.com", new=thing()), id="an-unlucky-name"),
]  # fmt: skip


@pytest.mark.parametrize("world", DESTRUCTIVE)
@pytest.mark.parametrize(
    ("user", "groups", "lane"),
    [
        ("system:serviceaccount:infra:operator", ("system:serviceaccounts",), "destructive"),
        ("ci@example.com", (), "destructive"),
        ("someone@example.com", ("other", "robots"), "destructive"),
        (HELD, (), "destructive-held"),
        ("someone@example.com", ("held-robots",), "destructive-held"),
        ("calm@example.com", ("held-robots",), "destructive"),
        ("alice@example.com", ("staff",), "people"),
        ("system:admin", ("system:masters",), "people"),
        (f"{CONTROLLER}node-controller", (), "destructive"),
    ],
)
def test_destructive_requests(
    world: dict[str, Any], user: str, groups: tuple[str, ...], lane: str
) -> None:
    """What takes something away is in the identity's destructive lane, and in that one only."""
    who = {"username": user, "groups": list(groups)}
    request = {**world["request"], "userInfo": who}
    assert lanes_of(INSTALLATION, {**world, "request": request}) == [lane]


@pytest.mark.parametrize("world", ORDINARY)
@pytest.mark.parametrize(
    ("user", "lane"),
    [
        ("system:serviceaccount:infra:operator", "other"),
        ("ci@example.com", "other"),
        (HELD, "other"),
        ("alice@example.com", "people"),
    ],
)
def test_ordinary_requests(world: dict[str, Any], user: str, lane: str) -> None:
    """Everything else of a machine is in the other lane; what holds an operator holds no more."""
    request = {**world["request"], "userInfo": {"username": user}}
    assert lanes_of(INSTALLATION, {**world, "request": request}) == [lane]


LANE_ZERO = [
    pytest.param(asked("UPDATE", "leases.coordination.k8s.io"), id="lease"),
    pytest.param(asked("DELETE", "leases.coordination.k8s.io", old=thing()), id="lease-deleted"),
    pytest.param(asked("CREATE", "events", new=thing()), id="event"),
    pytest.param(asked("DELETE", "events.events.k8s.io", old=thing()), id="new-event"),
    pytest.param(asked("CREATE", "tokenreviews.authentication.k8s.io"), id="token-review"),
    pytest.param(asked("CREATE", "selfsubjectreviews.authentication.k8s.io"), id="self-review"),
    *(
        pytest.param(asked("CREATE", f"{name}.authorization.k8s.io", new=thing()), id=name)
        for name in (
            "subjectaccessreviews",
            "selfsubjectaccessreviews",
            "localsubjectaccessreviews",
            "selfsubjectrulesreviews",
        )
    ),
    pytest.param(asked("CREATE", "serviceaccounts/token", new=thing()), id="token-request"),
    pytest.param(
        asked("DELETE", "pods", user="system:node:n1", groups=("system:nodes",), old=thing()),
        id="a-node",
    ),
    pytest.param(
        asked("DELETE", "ipaddresses.networking.k8s.io", user="system:apiserver", old=thing()),
        id="api-server",
    ),
    pytest.param(asked("DELETE", "services", namespace="suture-system", old=thing()), id="own"),
    pytest.param(
        asked("DELETE", "namespaces", namespace="suture-system", name="suture-system", old=thing()),
        id="own-namespace",
    ),
    pytest.param(
        asked("DELETE", "pods", user="system:serviceaccount:suture-system:suture", old=thing()),
        id="suture",
    ),
    pytest.param(
        asked("CREATE", "pods/binding", user="system:kube-scheduler", groups=(), new=thing()),
        id="scheduler-binds",
    ),
    pytest.param(
        asked("DELETE", "pods", user="system:kube-scheduler", groups=(), old=thing()),
        id="scheduler-preempts",
    ),
    pytest.param(
        asked("CREATE", "pods", user=f"{CONTROLLER}replicaset-controller", new=thing()),
        id="a-consequence-that-takes-nothing-away",
    ),
    pytest.param(
        asked(
            "UPDATE", "endpointslices.discovery.k8s.io",
            user=f"{CONTROLLER}endpointslice-controller", old=thing(), new=thing(),
        ),
        id="a-consequence-that-updates",
    ),
]  # fmt: skip


@pytest.mark.parametrize("world", LANE_ZERO)
def test_lane_zero_is_in_no_lane(world: dict[str, Any]) -> None:
    """No rule matches lane 0, with whatever is enrolled: it never waits on Suture."""
    assert lanes_of(INSTALLATION, world) == []
    assert lanes_of(Installation(), world) == []


@pytest.mark.parametrize("user", sorted(CONSEQUENCE_CONTROLLERS))
def test_consequences_by_name(user: str) -> None:
    """Controllers that carry out what others asked for are matched for removals only."""
    finalizer = asked("UPDATE", "pods", user=user, old=thing(finalizers=["a"]), new=thing())
    owners = asked("UPDATE", "pods", user=user, old=thing(ownerReferences=[{}]), new=thing())
    assert lanes_of(INSTALLATION, asked("DELETE", "pods", user=user, old=thing())) == [
        "consequences"
    ]
    assert lanes_of(INSTALLATION, finalizer) == ["consequences"]
    assert lanes_of(INSTALLATION, owners) == []


def test_the_job_controller_counts_its_pods() -> None:
    """Lifting the tracking finalizer is a consequence; lifting another one with it is not."""
    tracking, user = "batch.kubernetes.io/job-tracking", f"{CONTROLLER}job-controller"
    counted = asked("UPDATE", "pods", user=user, old=thing(finalizers=[tracking]), new=thing())
    more = asked("UPDATE", "pods", user=user, old=thing(finalizers=[tracking, "a"]), new=thing())
    assert lanes_of(INSTALLATION, counted) == ["consequences"]
    assert lanes_of(INSTALLATION, more) == ["destructive"]


@settings(max_examples=400)
@given(WORLDS)
def test_expressions_are_total(world: dict[str, Any]) -> None:
    """Whatever is asked, no condition errs, and a request is in one lane at most."""
    assert len(lanes_of(INSTALLATION, world)) <= 1


def test_the_registration_says_what_happens_without_us() -> None:
    """Only the held lane is fail-closed; nobody waits longer than two seconds."""
    rendered = registration(
        Installation(target=UrlTarget("https://10.0.0.1:8443/"), ca_bundle=b"pem", secret_path="s3")
    )
    hooks = {hook["name"]: hook for hook in rendered["webhooks"]}
    assert [
        (name, hook["failurePolicy"], hook["timeoutSeconds"]) for name, hook in hooks.items()
    ] == [
        ("destructive.suture.dev", "Ignore", 2),
        ("destructive-held.suture.dev", "Fail", 2),
        ("other.suture.dev", "Ignore", 1),
        ("consequences.suture.dev", "Ignore", 1),
        ("people.suture.dev", "Ignore", 1),
    ]
    for hook in hooks.values():
        assert hook["sideEffects"] == "NoneOnDryRun"
        assert len(hook["matchConditions"]) <= 64
    config = hooks["other.suture.dev"]["clientConfig"]
    assert config == {"url": "https://10.0.0.1:8443/s3/admit/other", "caBundle": "cGVt"}


def test_reads_may_be_of_anything() -> None:
    """A constraint that reads everything brings every write but status into the lane."""
    every = Installation(reads=(Read("*", "*", "*"), Read("CREATE", "", "pods/binding")))
    narrow = Installation(reads=(Read("CREATE", "", "pods/binding"), Read("DELETE", "*", "*")))
    bound = asked("CREATE", "pods/binding", new=thing())
    status = asked("UPDATE", "services/status", old=thing(spec={"a": 1}), new=thing(spec={}))
    assert lanes_of(every, asked("CREATE", "secrets", new=thing())) == ["destructive"]
    assert lanes_of(every, status) == ["other"]
    assert lanes_of(every, bound) == lanes_of(narrow, bound) == ["destructive"]
    assert lanes_of(narrow, asked("CREATE", "pods", new=thing())) == ["other"]


def test_names_are_quoted() -> None:
    """A name cannot end its literal: it is compared, whatever it holds."""
    odd = "o'brien\\' || true || '\n\u2028"
    named = enrol(Installation(), [Profile("odd", users=(odd,), when_dead=WhenDead.HOLD)])
    world = asked("DELETE", "pods", user=odd, old=thing())
    assert lanes_of(named, world) == ["destructive-held"]
    assert lanes_of(named, asked("DELETE", "pods", user="o", old=thing())) == ["people"]


def test_a_condition_has_a_longest_form() -> None:
    """The longest list of identities still makes expressions that an API server reads."""
    users = tuple(f"{'u' * 74}{number:06d}" for number in range(NAMED_IDENTITIES))
    full = enrol(Installation(), [Profile("all", users=users, when_dead=WhenDead.HOLD)])
    for lane in lanes(full):
        assert max(len(condition.expression) for condition in lane.conditions) < 100_000
    with pytest.raises(InputError, match="at most"):
        enrol(Installation(), [Profile("all", users=(*users, "one-more"))])


@pytest.mark.parametrize("user", [HELD, "ci@example.com", "alice@example.com"])
def test_break_glass_goes_the_way_of_people(user: str) -> None:
    """Machines too, held ones too: nobody is refused for want of an answer."""
    spared = msgspec.structs.replace(INSTALLATION, break_glass=("oncall",))
    world = asked("DELETE", "services", old=thing(), user=user, groups=("oncall",))
    assert lanes_of(spared, world) == ["people"]
    other = asked("DELETE", "services", old=thing(), user=user, groups=("staff",))
    assert lanes_of(spared, other) == lanes_of(INSTALLATION, other)
    remade = remembered(registration(spared))
    assert remade.break_glass == ("oncall",)


def test_service_accounts_are_machines_unnamed() -> None:
    """Enrolling a service account that passes leaves the registration as it is."""
    named = enrol(Installation(), [Profile("op", users=("system:serviceaccount:a:b",))])
    assert named.enrolled == Identities()
    assert registration(named) == registration(Installation())
