"""What keeps pods from being created anew: fail-closed webhooks for which nobody answers.

Some are dead already, others through the change itself: `admissionpath` says which.
Source: the API server's dispatcher (a call that cannot be made fails the request under `Fail`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from suture.model.graph import GraphView
from suture.model.matchsets import Call, Evaluate, Match, matches
from suture.model.names import PODS, WEBHOOKS
from suture.model.objects import EXTERNAL_NAME, ServiceFacts, ServiceRef, Webhook, WebhookFacts


class Bars:
    """Tells whether a pod could not be created anew, while a change is weighed."""

    __slots__ = ("_breaking", "_dead", "_evaluate", "_removed", "_view")

    def __init__(
        self,
        view: GraphView,
        removed: Collection[int],
        evaluate: Evaluate | None,
        breaking: Sequence[Webhook] = (),
    ) -> None:
        self._view, self._removed, self._evaluate = view, removed, evaluate
        self._breaking = breaking
        self._dead: list[Webhook] | None = None

    def barred(self, pod: int) -> bool:
        """Whether a pod like this one could not be created. What only may be in the way is not."""
        if self._dead is None:
            self._dead = dead_hooks(self._view, self._removed)
        if not (self._dead or self._breaking):
            return False
        view = self._view
        call = creation(view, view.namespace(pod), view.labels(pod))
        return any(
            matches(hook, call, self._evaluate) is Match.YES
            for hooks in (self._breaking, self._dead)
            for hook in hooks
        )


def dead_hooks(view: GraphView, removed: Collection[int] = ()) -> list[Webhook]:
    """Return the fail-closed webhooks on new pods, of those that stay, that are dead for good."""
    # WHY kept: all but a few of a cluster's configurations are about something else.
    return [
        hook
        for row, hook in view.made_of(WEBHOOKS, _on_new_pods)
        if hook.service is not None
        and _abandoned(view, hook.service)
        and not (row in removed or view.gone(row))
    ]


def _on_new_pods(view: GraphView) -> list[tuple[int, Webhook]]:
    """Return the fail-closed webhooks that a new pod may have to pass, by their rows."""
    facts = ((row, view.facts(row)) for resource in WEBHOOKS for row in view.rows(resource))
    return [
        (row, hook)
        for row, its in facts
        if isinstance(its, WebhookFacts)
        for hook in its.webhooks
        if hook.fail_closed and hook.service is not None and on_pods(hook)
    ]


def _abandoned(view: GraphView, ref: ServiceRef) -> bool:
    """Whether no pod answers for a Service, and none is about to: what starts anew does soon."""
    if answering(view, ref):
        return False
    row = view.service(ref)
    return row is None or view.terminating(row) or not view.pods_of(row)


def answering(view: GraphView, ref: ServiceRef) -> int:
    """Return how many endpoints answer for a Service; of a name outside it is one."""
    row = view.service(ref)
    if row is None or view.terminating(row):
        return 0
    facts = view.facts(row)
    if isinstance(facts, ServiceFacts) and facts.type == EXTERNAL_NAME:
        return 1
    return view.serving_count(row)


def creation(
    view: GraphView,
    namespace: str,
    labels: Mapping[str, str],
    of_namespace: Mapping[str, str] | None = None,
) -> Call:
    """Return the call that makes a pod; where they would be others, with labels `of_namespace`."""
    return Call(
        operation="CREATE",
        resource=PODS,
        namespace=namespace,
        namespace_labels=view.namespace_labels(namespace) if of_namespace is None else of_namespace,
        labels=labels,
    )


def on_pods(hook: Webhook) -> bool:
    """Whether a webhook is asked of any new pod."""
    return any(
        not {"*", "CREATE"}.isdisjoint(rule.operations)
        and not {"*", ""}.isdisjoint(rule.groups)
        and not {"*", "*/*", "pods", "pods/*"}.isdisjoint(rule.resources)
        for rule in hook.rules
    )
