"""Webhook configurations that have got another name: the next stands beside them already.

Whoever upgrades a release makes what is new of it first and then takes away what it names no more,
Services before webhook configurations, so that for a moment what is called by the former is gone.
Told by what is there: the actor works for what keeps both, and the next, made within the hour, asks
the same of a Service that answers; and only of types of somebody's own, whose writes can wait.

What is lost if the former configuration stays after all: writes of these types fail until it goes.
Source: Helm, `kube.Client.Update` deletes last, in the order in which kinds are installed.
"""

from __future__ import annotations

from typing import Final

from suture.impact.ground.bars import answering
from suture.impact.ground.kinds import is_custom
from suture.impact.ordinary.keepers import works_for
from suture.impact.scene import Scene
from suture.model.graph import GraphView
from suture.model.names import Resource
from suture.model.objects import Webhook, WebhookFacts
from suture.model.writes import HOUR_S

ASKED: Final = 256
"""LIMIT: webhook configurations among which the next of one is looked for, 1 us each."""


def is_followed(scene: Scene, row: int) -> bool:
    """Whether the next of a webhook configuration is there already, of the same keeper."""
    view, marks = scene.view, frozenset(scene.marks(row))
    facts = view.facts(row)
    if not isinstance(facts, WebhookFacts) or not marks:
        return False
    closed = [one for one in facts.webhooks if one.fail_closed]
    if not all(map(_is_own, closed)) or not all(works_for(scene, one) for one in marks):
        return False
    return any(
        other != row
        and marks.intersection(scene.marks(other))
        and _is_new(scene, other, row)
        and all(_is_asked_by(view, other, one) for one in closed)
        for other in view.rows(view.resource(row))[:ASKED]
    )


def _is_own(hook: Webhook) -> bool:
    """Whether a webhook is about types of somebody's own, and nothing of Kubernetes'."""
    groups = [group for rule in hook.rules for group in rule.groups]
    return bool(groups) and all(group != "*" and is_custom(Resource(group, "")) for group in groups)


def _is_new(scene: Scene, row: int, than: int) -> bool:
    """Whether one object was made within the hour, after another, and stays.

    WHY by its own word: webhook configurations are not sent to webhooks, so that who made one is
    not known.
    """
    view, now, born = scene.view, scene.now, scene.view.created(row)
    return (
        now is not None
        and view.created(than) < born
        and now.utc_s - born < HOUR_S
        and scene.stays(row)
    )


def _is_asked_by(view: GraphView, row: int, hook: Webhook) -> bool:
    """Whether a configuration has the same asked, of a Service of its own that answers."""
    facts = view.facts(row)
    return isinstance(facts, WebhookFacts) and any(
        one.service is not None
        and one.service != hook.service
        and set(hook.rules) <= set(one.rules)
        and answering(view, one.service) > 0
        for one in facts.webhooks
    )
