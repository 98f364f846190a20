"""What is rendered: a golden file, rights, probes, the pod's profile, the control plane's files."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from suture.adapters.certificates import make_certificates, usable
from suture.adapters.files import load_policies
from suture.cli.install import installers, read_profiles
from suture.errors import InputError
from suture.install.controlplane import control_plane_files
from suture.install.manifests import (
    Certificates,
    Workload,
    all_manifests,
    base_manifests,
    reads_of,
)
from suture.install.paths import path_of
from suture.install.registration import registration, remembered, renewed
from suture.install.settings import (
    Identities,
    Installation,
    Read,
    ServiceTarget,
    UrlTarget,
    enrol,
)
from suture.model.actor import Profile, Stage, WhenDead

GOLDEN = Path(__file__).parent.parent / "golden" / "install.yaml"
CERTIFICATES = Certificates(authority=b"authority", certificate=b"certificate", key=b"key")


def rendered() -> str:
    """Return everything that a first `suture install` prints, with words for certificates."""
    installation = Installation(
        ca_bundle=CERTIFICATES.authority,
        secret_path="secret-path",
        reads=reads_of(load_policies().reads),
    )
    documents = all_manifests(installation, Workload(image="suture:golden"), CERTIFICATES)
    return yaml.safe_dump_all(documents, sort_keys=False, width=100)


def test_the_manifests_are_as_reviewed() -> None:
    """What changes here changes on every cluster: look at it, then write the file anew.

    SUTURE_WRITE_GOLDEN=1 writes it.
    """
    if os.environ.get("SUTURE_WRITE_GOLDEN"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(rendered())
    assert rendered() == GOLDEN.read_text()


def by_kind(documents: tuple[dict[str, Any], ...], kind: str) -> list[dict[str, Any]]:
    return [one for one in documents if one["kind"] == kind]


def test_the_serving_identity_changes_nothing_of_the_cluster() -> None:
    """Cluster-wide it reads, and marks that a grant was used; the rest is in its own namespace."""
    documents = base_manifests(Installation())
    for role in by_kind(documents, "ClusterRole"):
        for rule in role["rules"]:
            marks = rule.get("resources") == ["grants/status"]
            assert set(rule["verbs"]) <= ({"patch"} if marks else {"get", "list", "watch"})
            assert "impersonate" not in rule["verbs"]
    (own,) = by_kind(documents, "Role")
    written = {
        kind for rule in own["rules"] if {"create", "update"} & {*rule["verbs"]}
        for kind in rule["resources"]
    }  # fmt: skip
    assert written == {"leases", "events"}
    narrow = base_manifests(Installation(), Workload(metadata_of_all_kinds=False))
    assert not [
        rule
        for role in by_kind(narrow, "ClusterRole")
        for rule in role["rules"]
        if "*" in rule.get("apiGroups", ()) or "secrets" in rule.get("resources", ())
    ]


def test_the_order_of_documents() -> None:
    """The namespace comes first, what answers before what asks, the registration last."""
    kinds = [one["kind"] for one in all_manifests(Installation(), Workload(), CERTIFICATES)]
    assert kinds[0] == "Namespace"
    assert kinds[-1] == "ValidatingWebhookConfiguration"
    assert kinds.index("Secret") < kinds.index("Deployment")
    assert kinds.index("Deployment") < kinds.index("ValidatingAdmissionPolicy")


def test_a_frozen_server_is_ended_in_time() -> None:
    """The liveness probe ends a server that hangs within ten seconds."""
    (deployment,) = by_kind(base_manifests(Installation()), "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    probe = container["livenessProbe"]
    worst = probe["failureThreshold"] * probe["periodSeconds"] + probe["timeoutSeconds"]
    assert worst + probe["terminationGracePeriodSeconds"] < 10
    assert "cpu" not in container["resources"]["limits"]


def test_by_url_nothing_runs_on_the_cluster() -> None:
    """On control-plane hosts there is no workload, and still every guard."""
    kinds = {one["kind"] for one in base_manifests(Installation(target=UrlTarget("https://a")))}
    assert not kinds & {"Deployment", "Service", "NetworkPolicy", "PodDisruptionBudget"}
    assert "Role" in kinds


def test_ways_to_keep_others_out() -> None:
    """With a client certificate there is no secret path in the pod, without one there is."""
    for mutual in (True, False):
        (found,) = by_kind(
            base_manifests(Installation(), Workload(mutual_tls=mutual)), "Deployment"
        )
        (container,) = found["spec"]["template"]["spec"]["containers"]
        assert ("--client-ca=/etc/suture/tls/ca.crt" in container["args"]) == mutual
        names = {one["name"] for one in container["env"]}
        assert ("SUTURE_SECRET_PATH" in names) != mutual


def test_paths() -> None:
    """Every document has a path that an API server would know."""
    paths = {path_of(one) for one in all_manifests(Installation(), Workload(), CERTIFICATES)}
    assert "/api/v1/namespaces/suture-system" in paths
    assert "/apis/apps/v1/namespaces/suture-system/deployments/suture" in paths
    assert "/apis/networking.k8s.io/v1/namespaces/suture-system/networkpolicies/suture" in paths
    assert "/apis/policy/v1/namespaces/suture-system/poddisruptionbudgets/suture" in paths


def test_enrolling_makes_the_conditions_anew() -> None:
    """A live registration remembers how it was made; its address stays what it is."""
    made = Installation(
        target=ServiceTarget("elsewhere", "s", 8443),
        namespace="elsewhere",
        installers=Identities(("argo",)),
        reads=(Read("UPDATE", "", "services"),),
        ca_bundle=b"pem",
    )
    live = registration(made)
    again = enrol(remembered(live), [Profile("ci", users=("ci",), when_dead=WhenDead.HOLD)])
    assert (again.namespace, again.installers, again.reads) == (
        "elsewhere", made.installers, made.reads,
    )  # fmt: skip
    wanted = renewed(live, again)
    assert wanted["webhooks"][0]["clientConfig"] == live["webhooks"][0]["clientConfig"]
    assert wanted["webhooks"][1]["matchConditions"] != live["webhooks"][1]["matchConditions"]
    with pytest.raises(InputError, match="install --apply"):
        remembered({"metadata": {}})
    with pytest.raises(InputError, match="lacks"):
        renewed({**live, "webhooks": live["webhooks"][:2]}, again)


def test_control_plane_files() -> None:
    """No file is named that is not written; caches are off; the secret path is in the address."""
    bare = Installation(
        target=UrlTarget("https://10.0.0.1:8443"), authorizer=True, secret_path="s3cret"
    )
    files = control_plane_files(bare, "/etc/suture", certificate=False)
    assert "client.crt" not in str(files)
    webhook = files["authorization.yaml"][0]["authorizers"][1]["webhook"]
    assert webhook["cacheAuthorizedRequests"] is webhook["cacheUnauthorizedRequests"] is False
    assert webhook["failurePolicy"] == "NoOpinion"
    cluster = files["authorizer.yaml"][0]["clusters"][0]["cluster"]
    assert cluster["server"] == "https://10.0.0.1:8443/s3cret/authorize"
    full = control_plane_files(bare, "/etc/suture", certificate=True)
    assert "webhook-users.yaml" in full
    for hook in full["static/ValidatingAdmissionWebhook/suture.yaml"][0]["webhooks"]:
        assert hook["name"].endswith(".static.k8s.io")
        assert "url" in hook["clientConfig"]
    with pytest.raises(InputError, match="--authorizer-url"):
        control_plane_files(Installation(authorizer=True), "/etc/suture", certificate=False)


def test_certificates_are_kept_until_they_run_out() -> None:
    """A set is usable for its own names, with its own authority, until two months before the end."""
    names = ["suture.suture-system.svc", "10.0.0.1"]
    made, other = make_certificates(names, client=True), make_certificates(names, client=False)
    now = dt.datetime.now(dt.UTC)
    assert usable(made, names, now)
    assert usable(made, names[:1], now)
    assert not usable(made, [*names, "new.example.com"], now)
    assert not usable(made, names, now + dt.timedelta(days=310))
    mixed = Certificates(authority=other.authority, certificate=made.certificate, key=made.key)
    assert not usable(mixed, names, now)
    assert not usable(CERTIFICATES, names, now)
    assert made.client_key
    assert not other.client_key


def test_installers_and_profiles_are_read(tmp_path: Path) -> None:
    """Names as given on the command line and in files; what is none is said."""
    assert installers(["argo", "group:gitops"]) == Identities(("argo",), ("gitops",))
    with pytest.raises(InputError):
        installers(["group:"])
    file = tmp_path / "profiles.yaml"
    file.write_text(
        "kind: OperatorProfile\nmetadata: {name: ci}\nspec: {users: [ci], stage: enforce}\n"
    )
    assert read_profiles([file]) == (Profile("ci", users=("ci",), stage=Stage.ENFORCE),)
    file.write_text("kind: OperatorProfile\nmetadata: {name: ci}\nspec: {stage: never}\n")
    with pytest.raises(InputError, match=r"profiles\.yaml"):
        read_profiles([file])
    file.write_text("kind: ConfigMap\n")
    with pytest.raises(InputError, match="OperatorProfile"):
        read_profiles([file])
