"""Whom a scenario enrols: who has a client of its own, and whom Suture may refuse."""

from __future__ import annotations

import pytest

from suture.lab.scenarios.account import is_enrolled
from suture.lab.scenarios.actors import Voice
from suture.lab.scenarios.format import Actor, ActorStage
from suture.lab.scenarios.offline.client import OfflineClient
from suture.lab.scenarios.offline.place import Offline


@pytest.mark.parametrize(
    ("account", "stage", "enrolled"),
    [
        pytest.param("shop/operator", "enforce", True, id="an operator"),
        pytest.param("shop/operator", "observe", True, id="one that is observed"),
        pytest.param("shop/operator", "none", False, id="one that is not to be"),
        pytest.param("kube-system/job-controller", "enforce", True, id="who decides for itself"),
        pytest.param("kube-system/deployment-controller", "enforce", False, id="who is only told"),
    ],
)
def test_who_is_enrolled(account: str, stage: ActorStage, enrolled: bool) -> None:
    user = f"system:serviceaccount:{account.replace('/', ':')}"
    actor = Actor(serviceAccount=account, stage=stage)
    client = OfflineClient(Offline().server)
    assert is_enrolled(Voice("who", actor, user, (), client)) is enrolled
    assert not is_enrolled(Voice("who", actor, user, (), None))
