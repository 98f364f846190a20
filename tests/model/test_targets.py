"""Names of types: what is meant by one that no type has."""

from __future__ import annotations

import pytest

from suture.model import names
from suture.model.kindnames import misnamed
from suture.model.names import Resource


@pytest.mark.parametrize(
    ("group", "name", "meant"),
    [
        ("apps", "deployment", "deployments.apps"),
        ("apps", "deploy", "deployments.apps"),
        ("", "deployments", "deployments.apps"),
        ("", "svc", "services"),
        ("", "Service", "services"),
        ("networking.k8s.io", "ingress", "ingresses.networking.k8s.io"),
        ("networking.k8s.io", "networkpolicy", "networkpolicies.networking.k8s.io"),
        ("storage.k8s.io", "sc", "storageclasses.storage.k8s.io"),
        ("*", "statefulset", "statefulsets.*"),
    ],
)
def test_a_singular_or_short_name_means_a_type(group: str, name: str, meant: str) -> None:
    assert misnamed(group, name) == Resource.parse(meant)


@pytest.mark.parametrize(
    ("group", "name"),
    [
        ("", "endpoints"),
        ("", "events"),
        ("", "componentstatuses"),
        ("metrics.k8s.io", "pods"),
        ("example.com", "deployment"),
        ("cluster.x-k8s.io", "machine"),
        ("*", "kafka"),
        ("*", "*"),
        ("apps", "*"),
    ],
)
def test_what_some_type_may_be_called_is_not_doubted(group: str, name: str) -> None:
    """Definitions name their types as they like."""
    assert misnamed(group, name) is None


def test_every_type_that_the_model_knows_is_called_right() -> None:
    known = [one for one in vars(names).values() if isinstance(one, Resource)]
    assert len(known) > 40
    assert not [one for one in known if misnamed(one.group, one.plural)]
