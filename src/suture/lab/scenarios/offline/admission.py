"""What stands between a write and the store: in-process policies, Suture, other webhooks.

Lives apart from `server`, which keeps the store's own rules. Suture is asked through a hook, since
a run may have none; of other webhooks only whether they answer is known, not what.
Source: the API server's order of admission plugins; kube-apiserver's webhook dispatcher.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from suture.lab.scenarios.backends import NONE
from suture.lab.scenarios.cluster import Object
from suture.lab.scenarios.offline import answers
from suture.lab.scenarios.offline.expressions import Expressions, Policies
from suture.lab.scenarios.offline.reviews import Write, request_of
from suture.lab.scenarios.offline.store import Store, Thing
from suture.model.matchsets import Call, Evaluate, Match, matches
from suture.model.names import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS, Resource
from suture.model.objects import Webhook, WebhookFacts
from suture.policy.engines import Bindings, EvaluationError

_GROUP = "admissionregistration.k8s.io"
POLICIES = Resource(_GROUP, "validatingadmissionpolicies")
BINDINGS = Resource(_GROUP, "validatingadmissionpolicybindings")
HIDDEN = frozenset(
    Resource(_GROUP, plural)
    for plural in (
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
    )
)
"""Kinds whose writes no policy and no webhook is shown."""
CONFIGURATIONS = frozenset({VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS})
"""Kinds whose writes no webhook is shown; policies are."""
OWN = "suture"
"""Suture's own registration: asked through the hook instead."""

Ask = Callable[[Write, Mapping[str, Any]], Awaitable[None]]
"""Suture, asked about a write and its review's request. Errors: ApiError for a refusal."""


class Admission:
    """Asks everybody who stands before a write."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.expressions = Expressions()
        self._policies = Policies(self.expressions)
        self.suture: Ask | None = None
        self._reviews = 0

    async def check(self, write: Write) -> None:
        """Let a write pass. Errors: ApiError of whoever refuses it or cannot be asked."""
        if write.api.resource in HIDDEN:
            return
        self._reviews += 1
        request = request_of(write, f"offline-{self._reviews}")
        self._in_process(write, request)
        if write.api.resource in CONFIGURATIONS:
            return
        if self.suture is not None:
            await self.suture(write, request)
        self.reached(write)

    # ---- in-process policies

    def _in_process(self, write: Write, request: Mapping[str, Any]) -> None:
        bound = self._store.all(BINDINGS)
        if not bound:
            return
        values = {"request": request, "object": write.new, "oldObject": write.old}
        for binding in bound:
            spec = binding.spec
            policy = self._store.find(POLICIES, "", str(spec.get("policyName", "")))
            if policy is None or "Deny" not in (spec.get("validationActions") or ()):
                continue
            if not self._meant(policy.spec.get("matchConstraints") or {}, write):
                continue
            self._ask_policy(policy, binding, write, values)

    def _ask_policy(
        self, policy: Thing, binding: Thing, write: Write, values: Mapping[str, Any]
    ) -> None:
        asked: list[Object | None] = [None]
        if policy.spec.get("paramKind"):
            asked = [one.body for one in self._parameters(policy, binding)]
        for params in asked:
            try:
                words = self._policies.refusal(policy.body, binding.body, params, values)
            except EvaluationError as error:
                words = ""
                if policy.spec.get("failurePolicy", "Fail") == "Fail":
                    words = f"ValidatingAdmissionPolicy '{policy.key.name}' failed: {error}"
            if words:
                raise answers.forbidden(write.api.resource, write.name, words)

    def _parameters(self, policy: Thing, binding: Thing) -> list[Thing]:
        """Return a binding's parameter objects; without one this page knows no refusal.

        One by name, or all of the type: Suture's own bindings select by no label.
        """
        kind, reference = policy.spec["paramKind"], binding.spec.get("paramRef") or {}
        group = str(kind.get("apiVersion", "")).rpartition("/")[0]
        resource = self._store.graph.kinds.get((group, kind.get("kind", "")))
        if resource is None:
            return []
        if "selector" in reference:
            labels = (reference["selector"] or {}).get("matchLabels") or {}
            return [
                one
                for one in self._store.all(resource)
                if labels.items() <= (one.metadata.get("labels") or {}).items()
            ]
        named = self._store.find(
            resource, reference.get("namespace", ""), reference.get("name", "")
        )
        return [] if named is None else [named]

    def _meant(self, constraints: Object, write: Write) -> bool:
        rules = constraints.get("resourceRules") or ()
        return any(_rule_meant(rule, write) for rule in rules)

    # ---- webhooks

    def reached(self, write: Write) -> None:
        """Ask every webhook that a write matches. Errors: ApiError where a fail-closed one is dead.

        Those that live let everything pass.
        """
        view = self._store.view
        call = Call(
            operation=write.operation.value,
            resource=write.api.resource,
            subresource=write.sub,
            namespace=write.namespace,
            namespace_labels=view.namespace_labels(write.namespace),
            labels=write.labels,
        )
        holds = self._conditions(write)
        for configuration, hook in self._hooks():
            if not hook.fail_closed or matches(hook, call, holds) is Match.NO:
                continue
            why = self.dead(configuration, hook)
            if why:
                raise answers.webhook_failed(hook.name, why)

    def _conditions(self, write: Write) -> Evaluate:
        """Return what tells whether a match condition holds for a write.

        WHY not told where one fails: the API server knows more, such as what the user may do.
        """
        bindings: list[Bindings] = []

        def holds(expression: str, _call: Call) -> bool | None:
            if not bindings:
                values = {"request": request_of(write, ""), "object": write.new}
                bindings.append(self.expressions.bind({**values, "oldObject": write.old}))
            try:
                return self.expressions.value(expression, bindings[0]) is True
            except EvaluationError:
                return None

        return holds

    def _hooks(self) -> Iterator[tuple[Thing, Webhook]]:
        for resource in (MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS):
            if not self._store.count(resource):
                continue
            for configuration in self._store.all(resource):
                facts = configuration.seen.facts
                if configuration.key.name != OWN and isinstance(facts, WebhookFacts):
                    yield from ((configuration, hook) for hook in facts.webhooks)

    def dead(self, configuration: Thing, hook: Webhook) -> str:
        """Return why a webhook cannot be asked, empty where it answers."""
        annotations = configuration.metadata.get("annotations") or {}
        if hook.service is None or annotations.get(NONE) == "none":
            return "failed to call webhook: connection refused"
        view = self._store.view
        row = view.service(hook.service)
        if row is None:
            return f'failed to call webhook: service "{hook.service.name}" not found'
        if not view.ready_endpoints(row):
            return f'no endpoints available for service "{hook.service.name}"'
        return ""


def _rule_meant(rule: Object, write: Write) -> bool:
    api = write.api
    named = f"{api.plural}/{write.sub}" if write.sub else api.plural
    wanted = set(rule.get("resources") or ())
    fits = {"*/*", named, f"{api.plural}/*" if write.sub else "*", f"*/{write.sub}"} & wanted
    return bool(
        fits
        and {"*", api.group} & set(rule.get("apiGroups") or ())
        and {"*", api.version} & set(rule.get("apiVersions") or ())
        and {"*", write.operation.value} & set(rule.get("operations") or ())
    )
