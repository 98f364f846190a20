"""The in-process policies that keep fail-closed webhooks from what must work while they are down.

Pure. Writes of webhook configurations are sent to no webhook, so that Suture is not asked about
them; these policies are, inside the API server. The first refuses what is certain from the
configuration alone, and what makes every call fail at once: the authority taken away that vouched
for who answers. The second has kube-system itself as its parameter, so that it knows whether the
labels which decide are there. Where labels of another namespace or a match condition decide, both
let pass, and the watch tells of it.
Source: the webhook predicates and `caBundle` of the API server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from suture.install.expressions import GROUPS, USER, in_groups, machine, text, texts
from suture.install.inprocess import admission_binding, admission_policy
from suture.install.lanes import any_of
from suture.install.profiles import GROUP, KIND, VERSION
from suture.install.settings import Installation
from suture.model.actor import SERVICE_ACCOUNT, Stage

Document = dict[str, Any]
_Says = Callable[[str], str]

REACH_POLICY = "suture-webhook-safety"
SYSTEM_POLICY = "suture-webhook-safety-kube-system"

_API = "admissionregistration.k8s.io"
_NAME_LABEL = "kubernetes.io/metadata.name"
_SYSTEM = "kube-system"
_HEARTBEATS = (_SYSTEM, "kube-node-lease")
_WRITES = ("*", "CREATE", "UPDATE", "DELETE")
_SMALLEST_BUNDLE = 64
"""A shorter `caBundle` is no certificate: charts write a line break where others fill it in."""

_INJECTED = r"^([^/]*/)?(inject-ca|inject-apiserver-ca)"
"""As `impact.admission.vouching` has it."""

_BEFORE = "oldObject != null && has(oldObject.webhooks) && oldObject.webhooks"

_RENEWED_WITHIN_S = 5
"""As `impact.admission.scope` has it."""

# What the components in kube-system write, or are made of; `impact.admission.scope` has the same.
_ESSENTIAL = (
    ("", ("pods", "services", "configmaps", "secrets", "serviceaccounts")),
    ("apps", ("deployments", "replicasets", "daemonsets")),
    ("discovery.k8s.io", ("endpointslices",)),
    ("coordination.k8s.io", ("leases",)),
)

# What has to be written before a pod runs and is Ready; `impact.admission.scope` has the same.
_STARTS = (
    ("CREATE", "pods", "binding"),
    ("UPDATE", "pods", "status"),
    ("CREATE", "serviceaccounts", "token"),
)


def reach_policy(installation: Installation) -> tuple[Document, Document]:
    """Return the policy and its binding; its parameters are the operator profiles.

    So a stage is in force as soon as it is for Suture itself. WHY `Ignore`: a policy whose kind of
    parameters is gone would refuse every webhook configuration, and repairs with them.
    """
    pods = _newly(
        (("its own backend", _closed, _closed, _own), (_SYSTEM, _closed, _closed, _system))
    )
    others = _newly(
        (
            ("nodes", _closed, _closed, _nodes),
            ("leases", _closed, _closed, _leases),
            ("leases for too long", _slow, _closed_or_slow, _leases),
        ),
    )
    document = admission_policy(
        REACH_POLICY,
        operations=("CREATE", "UPDATE"),
        rules=((_API, "validatingwebhookconfigurations", "mutatingwebhookconfigurations"),),
        conditions=(),
        variables={
            "user": USER,
            "groups": GROUPS,
            "enforced": _enforced(installation),
            # WHY apart: an expression has a longest text, here and in an API server.
            "pods": f"object != null ? {pods} : []",
            "newly": f"variables.pods + (object != null ? {others} : [])",
            "unvouched": f"object != null && {_unvouched()} : []",
        },
        expression=(
            "!variables.enforced || size(variables.newly) == 0 && size(variables.unvouched) == 0"
        ),
        message=(
            "'suture: a webhook of ' + (has(object.metadata.name) ? object.metadata.name : '') + "
            "(size(variables.newly) > 0 ? "
            "' fails closed, or waits too long, and would match ' + variables.newly.join(', ') + "
            f"', which could not be written while it is down [{REACH_POLICY}]; exclude "
            "kube-system and its own namespace by kubernetes.io/metadata.name, or ask a person' : "
            "' fails closed and would lose its caBundle: every call to ' + "
            f"variables.unvouched.join(', ') + ' would fail [{REACH_POLICY}]; keep the field, have "
            "it filled in by an annotation, or ask a person')"
        ),
        plain="suture: a fail-closed webhook would match what must work while it is down",
        failure="Ignore",
    )
    document["spec"]["paramKind"] = {"apiVersion": f"{GROUP}/{VERSION}", "kind": KIND}
    bound = admission_binding(REACH_POLICY)
    bound["spec"]["paramRef"] = {"selector": {}, "parameterNotFoundAction": "Allow"}
    return document, bound


def system_policy(installation: Installation) -> tuple[Document, Document]:
    """Return the policy that knows the labels of kube-system, and its binding.

    WHY apart: a policy has one kind of parameters. So whose stage is enforce is known as of the
    last `suture operators set`; the labels are those of now.
    """
    newly = _newly(
        (
            (_SYSTEM, _closed, _closed, _system_by_labels),
            ("leases", _closed, _closed, _leases_by_labels),
        ),
    )
    document = admission_policy(
        SYSTEM_POLICY,
        operations=("CREATE", "UPDATE"),
        rules=((_API, "validatingwebhookconfigurations", "mutatingwebhookconfigurations"),),
        conditions=(),
        variables={
            "user": USER,
            "groups": GROUPS,
            "enforced": _enforced_as_told(installation),
            "labels": "has(params.metadata.labels) ? params.metadata.labels : {}",
            "newly": f"object != null ? {newly} : []",
        },
        expression="!variables.enforced || size(variables.newly) == 0",
        message=(
            "'suture: a webhook of ' + (has(object.metadata.name) ? object.metadata.name : '') + "
            "' fails closed and would match ' + variables.newly.join(', ') + ', "
            f"as kube-system is labelled now [{SYSTEM_POLICY}]; label it to be left out, "
            "exclude it by kubernetes.io/metadata.name, or ask a person'"
        ),
        plain="suture: a fail-closed webhook would match kube-system, as its labels are",
        failure="Ignore",
    )
    document["spec"]["paramKind"] = {"apiVersion": "v1", "kind": "Namespace"}
    bound = admission_binding(SYSTEM_POLICY)
    bound["spec"]["paramRef"] = {"name": _SYSTEM, "parameterNotFoundAction": "Allow"}
    return document, bound


def _newly(asked: Iterable[tuple[str, _Says, _Says, _Says]]) -> str:
    """Return the words for what a webhook would match and did not before, as a list.

    Of each: its word, when it stands in the way now, when it did before, and what it matches.
    """
    return " + ".join(
        f"(has(object.webhooks) && object.webhooks.exists(w, ({holds('w')}) && ({met('w')}) && "
        f"!({_BEFORE}.exists(o, o.name == w.name && ({held('o')}) && ({met('o')})))) "
        f"? [{text(word)}] : [])"
        for word, holds, held, met in asked
    )


def _enforced(installation: Installation) -> str:
    """Whether the profile at hand enforces on the asker: by name, by group, or as the default."""
    stage = f"has(params.spec.stage) && params.spec.stage == {text(Stage.ENFORCE.value)}"
    meant = _meant(
        installation,
        user="has(params.spec.users) && variables.user in params.spec.users",
        group=("has(params.spec.groups) && variables.groups.exists(g, g in params.spec.groups)"),
        default="has(params.spec.default) && params.spec.default",
    )
    return f"has(params.spec) && {stage} && {meant}"


def _enforced_as_told(installation: Installation) -> str:
    """Whether profiles enforced on the asker when this was written."""
    enforced = installation.enforced
    return _meant(
        installation,
        user=f"variables.user in {texts(enforced.users)}",
        group=f"variables.groups.exists(g, g in {texts(enforced.groups)})",
        default="true" if installation.enforced_default else "false",
    )


def _meant(installation: Installation, *, user: str, group: str, default: str) -> str:
    """Whether the asker is one of those by name, by group, or as a machine that no profile names.

    Not Suture, nor who is in a break-glass group. A profile is asked by itself, so that who is
    named by another is known from the installation: as of the last `suture operators set`.
    """
    own = text(f"{SERVICE_ACCOUNT}{installation.namespace}:")
    users = {*installation.held.users, *installation.passed.users}
    groups = {*installation.held.groups, *installation.passed.groups}
    by_name = f"variables.user in {texts(sorted(users))}"
    by_group = f"variables.groups.exists(g, g in {texts(sorted(groups))})"
    machines = machine(
        installation.enrolled,
        installation.break_glass,
        user="variables.user",
        groups="variables.groups",
    )
    meant = any_of(
        (
            user,
            f"!({by_name}) && {group}",
            f"{default} && ({machines}) && !({by_name}) && !({by_group})",
        )
    )
    spared = in_groups(installation.break_glass, groups="variables.groups")
    return f"!variables.user.startsWith({own}) && !({spared}) && {meant}"


# -- what a webhook matches for certain: `w` is the name of a variable


def _closed(w: str) -> str:
    """Whether it fails closed, and nothing but its selectors and rules narrows it."""
    return f"{_fails(w)} && !(has({w}.matchConditions) && size({w}.matchConditions) > 0)"


def _fails(w: str) -> str:
    return f"(!has({w}.failurePolicy) || {w}.failurePolicy != 'Ignore')"


def _unvouched() -> str:
    """Which webhooks that stay where they lead lose their authority, as a condition and a list."""
    return (
        f"has(object.webhooks) && !({_injected('object')}) ? object.webhooks.filter(w, "
        f"{_fails('w')} && has(w.clientConfig.service) && !({_vouched('w')}) && "
        f"{_BEFORE}.exists(o, o.name == w.name && ({_same_service('o', 'w')}) && "
        f"({_vouched('o')}))).map(w, w.name)"
    )


def _vouched(w: str) -> str:
    """Whether it names an authority for the certificate of who answers."""
    bundle = f"{w}.clientConfig.caBundle"
    return f"has({bundle}) && size({bundle}) >= {_SMALLEST_BUNDLE}"


def _same_service(o: str, w: str) -> str:
    """Whether one led, before, to the Service that the other leads to."""
    was, now = f"{o}.clientConfig.service", f"{w}.clientConfig.service"
    return f"has({was}) && {was}.name == {now}.name && {was}.namespace == {now}.namespace"


def _injected(thing: str) -> str:
    """Whether an annotation asks somebody to fill the authority in."""
    noted = f"{thing}.metadata.annotations"
    return f"has({noted}) && {noted}.exists(k, k.matches({text(_INJECTED)}))"


def _slow(w: str) -> str:
    """Whether it fails open, but waits for longer than who renews a Lease does."""
    return (
        f"has({w}.failurePolicy) && {w}.failurePolicy == 'Ignore' && "
        f"(!has({w}.timeoutSeconds) || {w}.timeoutSeconds >= {_RENEWED_WITHIN_S}) && "
        f"!(has({w}.matchConditions) && size({w}.matchConditions) > 0)"
    )


def _closed_or_slow(w: str) -> str:
    return f"({_closed(w)} || {_slow(w)})"


def _own(w: str) -> str:
    service = f"{w}.clientConfig.service"
    return (
        f"has({service}) && {_selects(w, f'{service}.namespace')} && "
        f"({_rules(w, (('', ('pods',)),), ('*', 'CREATE'))} || {_starts(w)})"
    )


def _system(w: str) -> str:
    return _matches_system(w, _selects(w, text(_SYSTEM)))


def _system_by_labels(w: str) -> str:
    return _matches_system(w, _selects_labels(w))


def _matches_system(w: str, selects: str) -> str:
    return f"{selects} && ({_rules(w, _ESSENTIAL)} || {_starts(w)})"


def _starts(w: str) -> str:
    """Whether a rule names what has to be written before a pod runs and is Ready."""
    return " || ".join(
        _rules(w, (("", (f"{plural}/*", f"{plural}/{part}")),), ("*", operation), all_of=("*/*",))
        for operation, plural, part in _STARTS
    )


def _nodes(w: str) -> str:
    # No selector of namespaces exempts what has none.
    return (
        f"{_unlabelled(w, 'objectSelector')} && "
        f"{_rules(w, (('', ('nodes', 'nodes/*', 'nodes/status')),), scope='Namespaced')}"
    )


def _leases(w: str) -> str:
    somewhere = " || ".join(_selects(w, text(one)) for one in _HEARTBEATS)
    return _matches_leases(w, f"({somewhere})")


def _leases_by_labels(w: str) -> str:
    return _matches_leases(w, _selects_labels(w))


def _matches_leases(w: str, selects: str) -> str:
    leases = (("coordination.k8s.io", ("leases",)),)
    return f"{selects} && {_rules(w, leases, ('*', 'CREATE', 'UPDATE'))}"


def _selects(w: str, namespace: str) -> str:
    """Whether it looks into a namespace whatever labels that has, and at objects with any."""
    key = text(_NAME_LABEL)
    spaces = _looks_into(
        w,
        lambda labels: f"k == {key} && {labels}[k] == {namespace}",
        f"e.key == {key} && (e.operator == 'Exists' || "
        f"e.operator == 'In' && has(e.values) && {namespace} in e.values || "
        f"e.operator == 'NotIn' && !(has(e.values) && {namespace} in e.values))",
    )
    return f"{_unlabelled(w, 'objectSelector')} && {spaces}"


def _selects_labels(w: str) -> str:
    """Whether it looks into the namespace that has `variables.labels`, and at unlabelled objects.

    An operator of selectors that is not known here selects, as `NotIn` of nothing would.
    """
    known = "variables.labels"
    has_value = f"e.key in {known} && has(e.values) && {known}[e.key] in e.values"
    spaces = _looks_into(
        w,
        lambda labels: f"k in {known} && {known}[k] == {labels}[k]",
        f"e.operator == 'Exists' ? e.key in {known} : "
        f"e.operator == 'DoesNotExist' ? !(e.key in {known}) : "
        f"e.operator == 'In' ? {has_value} : !({has_value})",
    )
    return f"{_asks_no_label(w, 'objectSelector')} && {spaces}"


def _looks_into(w: str, has_label: Callable[[str], str], meets: str) -> str:
    """Whether its selector of namespaces asks for nothing that is not so.

    `has_label` says it of the label `k` of the map at a path, `meets` of an expression `e`.
    """
    selector = f"{w}.namespaceSelector"
    labels, asked = f"{selector}.matchLabels", f"{selector}.matchExpressions"
    return (
        f"(!has({selector}) || ("
        f"(!has({labels}) || {labels}.all(k, {has_label(labels)})) && "
        f"(!has({asked}) || {asked}.all(e, {meets}))))"
    )


def _asks_no_label(w: str, field: str) -> str:
    """Whether a selector selects what bears no labels."""
    selector = f"{w}.{field}"
    return (
        f"(!has({selector}) || "
        f"!(has({selector}.matchLabels) && size({selector}.matchLabels) > 0) && "
        f"(!has({selector}.matchExpressions) || "
        f"{selector}.matchExpressions.all(s, s.operator in ['DoesNotExist', 'NotIn'])))"
    )


def _unlabelled(w: str, field: str) -> str:
    """Whether a selector selects everything."""
    selector = f"{w}.{field}"
    return (
        f"(!has({selector}) || "
        f"!(has({selector}.matchLabels) && size({selector}.matchLabels) > 0) && "
        f"!(has({selector}.matchExpressions) && size({selector}.matchExpressions) > 0))"
    )


def _rules(
    w: str,
    wanted: Iterable[tuple[str, tuple[str, ...]]],
    operations: Iterable[str] = _WRITES,
    *,
    scope: str = "Cluster",
    all_of: tuple[str, ...] = ("*", "*/*"),
) -> str:
    """Whether a rule names one of some resources; `scope`: of the rules that mean others.

    `all_of` is how a rule names them all: `*` has no subresource.
    """
    kinds = " || ".join(
        f"r.apiGroups.exists(g, g in {texts(('*', group))}) && "
        f"r.resources.exists(p, p in {texts((*all_of, *plurals))})"
        for group, plurals in wanted
    )
    return (
        f"has({w}.rules) && {w}.rules.exists(r, (!has(r.scope) || r.scope != {text(scope)}) && "
        "has(r.operations) && has(r.apiGroups) && has(r.resources) && "
        f"r.operations.exists(o, o in {texts(operations)}) && ({kinds}))"
    )
