"""Match conditions are decided where the model knows what they read, and nowhere else."""

from __future__ import annotations

import pytest

from suture.model.matchsets import Call, Match, matches
from suture.model.names import PODS
from suture.model.objects import MatchCondition, Webhook, WebhookRule
from suture.policy.matchconditions import MatchConditions

CALL = Call(
    operation="CREATE", resource=PODS, namespace="prod", labels={"app": "web"}, old_labels=None
)


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        pytest.param("request.operation == 'CREATE'", True, id="operation"),
        pytest.param("request.operation != 'CREATE'", False, id="not-this-operation"),
        pytest.param("request.namespace.startsWith('kube-')", False, id="namespace"),
        pytest.param("request.resource.resource == 'pods'", True, id="resource"),
        pytest.param("request.resource.group == 'apps'", False, id="group"),
        pytest.param("object.metadata.labels['app'] == 'web'", True, id="label"),
        pytest.param("'other' in object.metadata.labels", False, id="no-such-label"),
        pytest.param("object.metadata.labels['other'] == 'x'", None, id="error-at-run-time"),
        pytest.param("'app' in oldObject.metadata.labels", None, id="no-old-object"),
        pytest.param("!has(object.spec.hostNetwork)", None, id="a-field-that-is-not-kept"),
        pytest.param("request.userInfo.username != 'x'", None, id="who-asks-is-not-known"),
        pytest.param("object != null", None, id="the-object-as-a-whole"),
        pytest.param("this is no CEL", None, id="no-cel"),
    ],
)
def test_a_condition_is_decided_by_what_is_known(expression: str, holds: bool | None) -> None:
    """True, false, or undecided; twice, since it is compiled once."""
    conditions = MatchConditions()
    assert conditions(expression, CALL) is holds
    assert conditions(expression, CALL) is holds


def test_an_object_without_labels_leaves_a_condition_on_them_undecided() -> None:
    """The API server would fail to evaluate it, and then do as the failurePolicy says."""
    call = Call(operation="CREATE", resource=PODS, namespace="prod", labels={})
    assert MatchConditions()("'app' in object.metadata.labels", call) is None


def test_a_webhook_whose_condition_does_not_hold_is_not_called() -> None:
    """One false condition is enough, beside an undecided one."""
    hook = Webhook(
        "w.example.com",
        fail_closed=True,
        rules=(WebhookRule(("*",), ("*",), ("*",), ("*",)),),
        conditions=(
            MatchCondition("who", "request.userInfo.username != 'x'"),
            MatchCondition("where", "request.namespace != 'prod'"),
        ),
    )
    assert matches(hook, CALL) is Match.MAYBE
    assert matches(hook, CALL, MatchConditions()) is Match.NO
