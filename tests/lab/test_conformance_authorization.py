"""What the authorization webhook really sees, and how soon its answers bite."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator

import pytest

from support.recorder import Answer, Recorder, Seen, until
from support.scene import CONFIGURATIONS, Scene, by_url, refused, webhook
from suture.lab.identities import ServiceAccount
from suture.lab.plane import Plane
from suture.lab.rest import Object, Rest

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def _chain(plane: Plane, recorder: Recorder) -> Iterator[None]:
    """Put the recorder into the API server's authorization chain."""
    plane.set_authorizer(True, port=recorder.port)
    yield
    plane.set_authorizer(False)


@pytest.fixture
def operator(scene: Scene, _chain: None) -> Iterator[Rest]:
    """Return a client of a service account with all rights, whom the authorizer sees."""
    account = scene.account("operator")
    yield scene.plane.client(account)
    scene.decisions.pop("/authorize", None)


def asked(scene: Scene, **wanted: str) -> list[Seen]:
    """Return what the authorizer was asked about the scene's operator."""
    user = ServiceAccount(scene.namespace, "operator").user
    return scene.recorder.authorizations(user=user, **wanted)


def deny(scene: Scene, verb: str = "") -> None:
    """Deny the scene's operator from now on."""
    user = ServiceAccount(scene.namespace, "operator").user
    scene.decisions["/authorize"] = lambda seen: (
        Answer(denied=True, message="quarantined by the test")
        if seen.user == user and verb in ("", seen.verb)
        else None
    )


def test_a_collection_is_asked_once_before_anything_dies(scene: Scene, operator: Rest) -> None:
    """Fact 21: with the parsed selector; a deny leaves every object alive."""
    for name in ("one", "two"):
        scene.config_map(name, labels={"app": "x"})
    deny(scene, "deletecollection")
    error = refused(
        lambda: operator.delete(
            scene.path("configmaps"),
            labelSelector="app=x,tier in (a,b)",
            fieldSelector="metadata.name=one",
        )
    )
    assert (error.http_status, "quarantined by the test" in error.message) == (403, True)
    (seen,) = asked(scene, verb="deletecollection")
    assert seen.attributes["labelSelector"]["requirements"] == [
        {"key": "app", "operator": "In", "values": ["x"]},
        {"key": "tier", "operator": "In", "values": ["a", "b"]},
    ]
    assert not scene.seen("configmaps", verb="DELETE")
    assert len(scene.admin.list(scene.path("configmaps"), labelSelector="app=x")) == 2


def test_a_nil_selector_is_absent(scene: Scene, operator: Rest) -> None:
    """Fact 21: "everything" is told from a selector by the missing field."""
    deny(scene, "deletecollection")
    refused(lambda: operator.delete(scene.path("configmaps")))
    (seen,) = asked(scene, verb="deletecollection")
    assert "labelSelector" not in seen.attributes
    assert "name" not in seen.attributes


def test_no_collection_spans_namespaces(scene: Scene, operator: Rest) -> None:
    """Fact 21: deleting a namespaced kind in all namespaces at once does not exist."""
    assert refused(lambda: operator.delete("/api/v1/configmaps")).http_status == 405


def test_webhook_configurations_are_seen_here(
    scene: Scene, operator: Rest, plane: Plane, recorder: Recorder
) -> None:
    """Facts 14 and 22: admission never sees their writes, authorization does."""
    name = f"{scene.namespace}-guard"
    kind = "validatingwebhookconfigurations"
    mine = [{"name": "mine", "expression": f"request.namespace == '{scene.namespace}'"}]
    body = webhook(name, by_url(plane, recorder.port), matchConditions=mine)
    operator.create(CONFIGURATIONS, body)
    operator.patch(f"{CONFIGURATIONS}/{name}", {"metadata": {"labels": {"a": "b"}}})
    operator.delete(f"{CONFIGURATIONS}/{name}")
    assert [seen.verb for seen in asked(scene, resource=kind)] == ["create", "patch", "delete"]
    assert not recorder.found("/admit", resource=kind)


def test_without_caches_a_denial_bites_at_once(scene: Scene, operator: Rest) -> None:
    """Fact 23: with both caches off the next write is refused."""
    for number in range(3):
        operator.create(scene.path("configmaps"), {"metadata": {"name": f"before-{number}"}})
    deny(scene)
    error = refused(
        lambda: operator.create(scene.path("configmaps"), {"metadata": {"name": "after"}})
    )
    assert error.http_status == 403
    scene.decisions.pop("/authorize")
    operator.create(scene.path("configmaps"), {"metadata": {"name": "released"}})


def test_with_caches_a_denial_waits(scene: Scene, operator: Rest, plane: Plane) -> None:
    """Fact 23: the API server's default caches let writes pass after the denial."""
    plane.set_authorizer(True, port=scene.recorder.port, cached=True)
    try:
        operator.create(scene.path("configmaps"), {"metadata": {"name": "before"}})
        deny(scene)
        operator.create(scene.path("configmaps"), {"metadata": {"name": "after"}})
    finally:
        plane.set_authorizer(True, port=scene.recorder.port)


def test_an_error_status_costs_seconds(scene: Scene, operator: Rest) -> None:
    """Fact 24: 500 makes the API server try again and again; answer 200 with a decision."""
    user = ServiceAccount(scene.namespace, "operator").user
    scene.decisions["/authorize"] = lambda seen: Answer(status=500) if seen.user == user else None
    began = time.monotonic()
    operator.create(scene.path("configmaps"), {"metadata": {"name": "late"}})
    assert time.monotonic() - began > 2
    assert len(asked(scene, verb="create", resource="configmaps")) > 2


def test_an_authorizer_that_is_away_costs_nothing(
    scene: Scene, operator: Rest, plane: Plane
) -> None:
    """A refused connection is no opinion, without retries: RBAC decides within milliseconds."""
    plane.set_authorizer(True, port=plane.ports["spare-1"])
    try:
        began = time.monotonic()
        for number in range(20):
            operator.create(scene.path("configmaps"), {"metadata": {"name": f"plain-{number}"}})
        assert time.monotonic() - began < 2
    finally:
        plane.set_authorizer(True, port=scene.recorder.port)


def test_what_costs_nothing_is_not_asked(scene: Scene, operator: Rest) -> None:
    """The lab's chain asks neither about reads nor about leases, events, reviews and tokens."""
    before = len(asked(scene))
    operator.list(scene.path("configmaps"))
    leases = scene.path("leases", group="coordination.k8s.io/v1")
    operator.create(leases, {"metadata": {"name": "mine"}})
    event = {"name": "x", "namespace": scene.namespace}
    operator.create(scene.path("events"), {"metadata": event, "involvedObject": event})
    operator.create("/apis/authentication.k8s.io/v1/selfsubjectreviews", {})
    operator.create(scene.path("serviceaccounts", "default/token"), {"spec": {}})
    assert len(asked(scene)) == before
    operator.create(scene.path("configmaps"), {"metadata": {"name": "asked"}})
    assert len(asked(scene)) > before


def test_masters_are_never_asked_about(scene: Scene, operator: Rest) -> None:
    """Fact 25: members of system:masters do not reach the authorizer."""
    scene.config_map("by-a-master")
    operator.create(scene.path("configmaps"), {"metadata": {"name": "by-another"}})
    assert asked(scene, verb="create", resource="configmaps")
    assert not [
        seen
        for seen in scene.recorder.authorizations()
        if "system:masters" in seen.request.get("groups", ())
    ]


def test_open_watches_survive_a_denial(scene: Scene, operator: Rest) -> None:
    """Fact 26: writes stop now, open streams go on."""
    events: list[Object] = []
    stream = operator.watch(scene.path("configmaps"), timeout_s=20, labelSelector="seen=yes")
    thread = threading.Thread(target=lambda: events.extend(itertools.islice(stream, 2)))
    thread.start()
    scene.config_map("first", labels={"seen": "yes"})
    until("the first event", lambda: scene.admin.exists(scene.path("configmaps", "first")))
    deny(scene)
    refused(lambda: operator.create(scene.path("configmaps"), {"metadata": {"name": "no"}}))
    scene.config_map("second", labels={"seen": "yes"})
    thread.join(15)
    assert [event["object"]["metadata"]["name"] for event in events] == ["first", "second"]


@pytest.mark.parametrize(
    ("headers", "wanted"),
    [
        pytest.param(
            {"Impersonate-User": "alice"},
            {("impersonate-on:user-info:delete", "none"), ("impersonate:user-info", "alice")},
            id="user",
        ),
        pytest.param(
            {"Impersonate-User": "alice", "Impersonate-Group": "system:masters"},
            {("impersonate", "alice"), ("impersonate", "system:masters")},
            id="masters",
        ),
        pytest.param(
            {"Impersonate-User": "system:serviceaccount:default:default"},
            {
                ("impersonate-on:serviceaccount:delete", "none"),
                ("impersonate:serviceaccount", "default"),
            },
            id="account",
        ),
    ],
)
def test_impersonation_is_seen_here(
    scene: Scene, operator: Rest, headers: dict[str, str], wanted: set[tuple[str, str]]
) -> None:
    """Fact 27: who impersonates whom, and in order to do what; admission sees neither."""
    operator.request("DELETE", scene.path("configmaps", "none"), headers=headers)
    assert wanted <= {(seen.verb, seen.attributes.get("name", "")) for seen in asked(scene)}


def test_a_permitted_impersonation_is_remembered(scene: Scene, operator: Rest) -> None:
    """It is not asked again for ten seconds: a denial of the impersonator does not stop it.

    Source: k8s.io/apiserver/pkg/endpoints/filters/impersonation/cache.go. The write itself is
    asked under the impersonated name, so it has to be denied there.
    """
    other = scene.account("other")

    def write(name: str) -> int:
        headers = {"Impersonate-User": other.user}
        path, body = scene.path("configmaps"), {"metadata": {"name": name}}
        return operator.request("POST", path, body=body, headers=headers).status_code

    assert write("before") == 201
    questions = len(asked(scene))
    deny(scene)
    assert write("after") == 201
    assert len(asked(scene)) == questions
    scene.decisions["/authorize"] = lambda seen: (
        Answer(denied=True) if seen.user == other.user else None
    )
    assert write("under-its-own-name") == 403


def test_a_dry_run_looks_like_the_real_thing(scene: Scene, operator: Rest) -> None:
    """Fact 27a: nothing says that it is one, and `kubectl auth can-i` asks the same."""
    operator.delete(scene.path("configmaps"), labelSelector="a=b", dryRun="All")
    operator.delete(scene.path("configmaps"), labelSelector="a=b")
    dry, real = (seen.request for seen in asked(scene, verb="deletecollection"))
    assert dry == real
    attributes = {
        "namespace": scene.namespace,
        "verb": "deletecollection",
        "resource": "configmaps",
    }
    operator.create(
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        {"spec": {"resourceAttributes": attributes}},
    )
    assert len(asked(scene, verb="deletecollection")) == 3


def test_an_apply_that_creates_is_asked_as_patch_and_create(scene: Scene, operator: Rest) -> None:
    """Fact 18: server-side apply needs both verbs."""
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}}
    operator.patch(scene.path("configmaps", "applied"), body, kind="apply")
    assert [seen.verb for seen in asked(scene, resource="configmaps")] == ["patch", "create"]
