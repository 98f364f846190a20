"""In-process policies: what holds while Suture is dead, and what guards Suture itself.

Pure. Each policy runs inside the API server: no webhook, no network, edits of webhook
configurations included. INVARIANT: every expression is total, since under `failurePolicy: Fail` an
error refuses the write it was asked about, whosever it is.
"""

from __future__ import annotations

from typing import Any

from suture.install.expressions import (
    API_SERVER,
    CONTROLLERS,
    DELETED,
    EVENTS,
    GROUPS,
    LABELS,
    LABELS_CHANGED,
    LEASES,
    NAMESPACE,
    NODES,
    OWNERS_CHANGED,
    REVIEWS,
    SCALED_DOWN,
    SELECTOR_CHANGED,
    SPEC_CHANGED,
    SUBRESOURCE,
    USER,
    in_groups,
    kind,
    machine,
    mapped,
    one_of,
    text,
    texts,
)
from suture.install.inprocess import admission_binding, admission_policy
from suture.install.lanes import any_of
from suture.install.reach import reach_policy, system_policy
from suture.install.settings import QUARANTINE, Installation
from suture.model.actor import SERVICE_ACCOUNT

Document = dict[str, Any]

NAMESPACE_POLICY = "suture-namespace"
REGISTRATION_POLICY = "suture-registration"
GRANTS_POLICY = "suture-grants"
STATIC_SUFFIX = "static.k8s.io"

QUARANTINED_KEPT = 256
"""LIMIT: entries that the quarantine policy reads. Two comparisons an entry and one more for each
group of the asking user stay under the API server's cost limit of an expression; what is past it
would be refused as an error, so a longer list is read as none, and the command refuses to make
one."""

QUARANTINE_GROUPS = 128
"""LIMIT: groups of one user that are compared with the list: twice what a token header of 8 KiB
holds of a company's group names."""

# Names as they are used in messages and tests.
_NAME = (
    "(has(request.name) && request.name != '' ? request.name : "
    "(oldObject != null && has(oldObject.metadata) && has(oldObject.metadata.name) ? "
    "oldObject.metadata.name : ''))"
)
_VARIABLES = {"user": USER, "groups": GROUPS, "sub": SUBRESOURCE, "name": _NAME}


def guards(installation: Installation) -> tuple[Document, ...]:
    """Return all policies with their bindings and the parameter object, in the order to apply."""
    return (
        quarantine_list(installation),
        *quarantine_policy(installation),
        *namespace_policy(installation),
        *registration_policy(installation),
        *grants_policy(installation),
        *reach_policy(installation),
        *system_policy(installation),
    )


# -- quarantine


def quarantine_list(installation: Installation) -> Document:
    """Return the parameter object, empty.

    Each value of `data` is one quarantined identity: on its first line `user NAME` or
    `group NAME`, on the others the reason. Keys are of no meaning to the policy.
    """
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": QUARANTINE,
            "namespace": installation.namespace,
            "labels": LABELS,
        },
    }


def quarantine_policy(installation: Installation) -> tuple[Document, Document]:
    """Return the policy that refuses every write of who is on the list, and its binding.

    Leases, events, status and reviews of access pass, as do nodes, the API server and Suture.
    A list that is not there refuses nothing: the other way round, one deleted ConfigMap would
    stop every write of the cluster, and its deletion by machines is guarded anyway.
    """
    kept = (
        "has(params.data) && size(params.data) <= "
        f"{QUARANTINED_KEPT} && size(variables.groups) <= {QUARANTINE_GROUPS}"
    )
    # One list of at most one entry: that of the user, else of one of the groups.
    entry = (
        f"{kept} ? params.data.map(k, params.data[k]).filter(v, "
        "v.startsWith('user ' + variables.user + '\\n') || "
        "variables.groups.exists(g, v.startsWith('group ' + g + '\\n'))) : []"
    )
    passes = any_of(
        (
            LEASES,
            EVENTS,
            REVIEWS,
            f"{SUBRESOURCE} == 'status'",
            f"{text(NODES)} in {GROUPS}",
            f"{USER} == {text(API_SERVER)}",
            f"{USER}.startsWith({text(f'{SERVICE_ACCOUNT}{installation.namespace}:')})",
            in_groups(installation.break_glass),
        )
    )
    policy = admission_policy(
        QUARANTINE,
        operations=("CREATE", "UPDATE", "DELETE", "CONNECT"),
        rules=(("*", "*/*"),),
        conditions=(("not-excepted", f"!{passes}"),),
        variables={"user": USER, "groups": GROUPS, "entries": entry},
        expression="size(variables.entries) == 0",
        message=(
            "'suture: ' + variables.user + ' is quarantined, all its writes are refused'"
            # WHY replace: a message with a line break is not used by the API server.
            " + variables.entries.map(v, v.substring(v.indexOf('\\n') + 1).replace('\\n', '; '))"
            ".map(r, ': ' + (size(r) > 160 ? r.substring(0, 160) : r)).join(',')"
            f" + ' [{QUARANTINE}]; a person ends it with `suture release`'"
        ),
        plain="suture: this identity is quarantined, all its writes are refused",
    )
    policy["spec"]["paramKind"] = {"apiVersion": "v1", "kind": "ConfigMap"}
    binding = admission_binding(QUARANTINE)
    binding["spec"]["paramRef"] = {
        "name": QUARANTINE,
        "namespace": installation.namespace,
        "parameterNotFoundAction": "Allow",
    }
    return policy, binding


# -- Suture itself


def foreign_machine(installation: Installation) -> str:
    """Whether the asker is a machine that has no business with Suture itself.

    Not people, nodes, Suture's own accounts, the controllers of kube-controller-manager by name
    (not all of kube-system: operators live there too), nor a named installer.
    """
    user, groups = "variables.user", "variables.groups"
    own = text(f"{SERVICE_ACCOUNT}{installation.namespace}:")
    exempt = [
        f"{user}.startsWith({own})",
        f"{user} in {texts(CONTROLLERS)}",
        f"{text(NODES)} in {groups}",
    ]
    if not installation.installers.empty:
        exempt.append(one_of(installation.installers, user=user, groups=groups))
    enrolled = machine(installation.enrolled, installation.break_glass, user=user, groups=groups)
    return f"({enrolled}) && !{any_of(exempt)}"


def namespace_policy(installation: Installation) -> tuple[Document, Document]:
    """Return the guard of Suture's own namespace, which lane 0 keeps from Suture's own eyes.

    Evictions pass: Suture's disruption budget answers for them.
    """
    here = f"{NAMESPACE} == {text(installation.namespace)}"
    harmful = any_of(
        (
            DELETED,
            SCALED_DOWN,
            OWNERS_CHANGED,
            # What leads traffic to Suture: selectors and ports, endpoints, labels of its pods.
            f"{kind('', 'services')} && {SPEC_CHANGED}",
            f"{kind('', 'pods')} && {LABELS_CHANGED}",
            kind("", "endpoints"),
            kind("discovery.k8s.io", "endpointslices"),
            SELECTOR_CHANGED,
            # Its policies' parameters: the quarantine list, and what else bears its name.
            f"{kind('', 'configmaps')} && variables.name.startsWith('suture')",
        )
    )
    policy = admission_policy(
        NAMESPACE_POLICY,
        operations=("CREATE", "UPDATE", "DELETE"),
        rules=(("*", "*/*"),),
        conditions=(("own-namespace", here),),
        variables={**_VARIABLES, "foreign": foreign_machine(installation)},
        expression=f"!(variables.foreign && {harmful})",
        message=(
            "'suture: ' + variables.user + ' may not ' + request.operation.lowerAscii() + ' ' + "
            "request.resource.resource + (variables.name == '' ? '' : ' ' + variables.name) + "
            f"' in namespace {installation.namespace}: it would take the guard down "
            f"[{NAMESPACE_POLICY}]; ask a person, or name an installer with `suture install`'"
        ),
        plain=f"suture: namespace {installation.namespace} is guarded against machines",
    )
    return policy, admission_binding(NAMESPACE_POLICY)


def registration_policy(installation: Installation) -> tuple[Document, Document]:
    """Return the guard of what makes the API server ask Suture, and of Suture's own settings.

    Seen here and by no webhook: webhook configurations. Not seen here: the policy kinds
    themselves, which only the authorizer or a static manifest can guard.
    """
    named = any_of(("variables.name == 'suture'", "variables.name.startsWith('suture-')"))
    by_name = texts(("admissionregistration.k8s.io", "rbac.authorization.k8s.io"))
    by_group = texts(("apiregistration.k8s.io", "apiextensions.k8s.io"))
    ours = any_of(
        (
            f"request.resource.group in {by_name} && {named}",
            f"request.resource.group in {by_group} && variables.name.endsWith('.suture.dev')",
            # WHY: an operator that sets its own stage to observe has no guard any more.
            "request.resource.group == 'suture.dev'",
            "request.resource.group.endsWith('.suture.dev')",
        )
    )
    policy = admission_policy(
        REGISTRATION_POLICY,
        operations=("CREATE", "UPDATE", "DELETE"),
        rules=(
            (
                "admissionregistration.k8s.io",
                "validatingwebhookconfigurations",
                "mutatingwebhookconfigurations",
            ),
            ("apiregistration.k8s.io", "apiservices"),
            ("apiextensions.k8s.io", "customresourcedefinitions"),
            ("rbac.authorization.k8s.io", "clusterroles", "clusterrolebindings"),
            ("suture.dev", "*/*"),
            ("policies.suture.dev", "*/*"),
        ),
        conditions=(),
        variables={**_VARIABLES, "foreign": foreign_machine(installation)},
        expression=f"!(variables.foreign && {ours})",
        message=(
            "'suture: ' + variables.user + ' may not ' + request.operation.lowerAscii() + ' ' + "
            "request.resource.resource + (variables.name == '' ? '' : ' ' + variables.name) + "
            f"': it is part of the guard [{REGISTRATION_POLICY}]; ask a person, or name an "
            "installer with `suture install`'"
        ),
        plain="suture: its own registration is guarded against machines",
    )
    return policy, admission_binding(REGISTRATION_POLICY)


def grants_policy(installation: Installation) -> tuple[Document, Document]:
    """Return the guard of grants: people make and take them back, each in their own name.

    No installer is excepted: whoever may change Suture may still not allow itself anything. Suture
    marks in a grant's status that it was used, and nothing else.
    """
    own = text(f"{SERVICE_ACCOUNT}{installation.namespace}:")
    marks = f"variables.user.startsWith({own}) && variables.sub == 'status'"
    by_machine = machine(
        installation.enrolled,
        installation.break_glass,
        user="variables.user",
        groups="variables.groups",
    )
    in_own_name = (
        "request.operation != 'CREATE' || variables.sub != '' || "
        f"(object != null && has(object.spec) && {mapped('object.spec')} && "
        "has(object.spec.approver) && object.spec.approver == variables.user)"
    )
    policy = admission_policy(
        GRANTS_POLICY,
        operations=("CREATE", "UPDATE", "DELETE"),
        rules=(("suture.dev", "grants", "grants/*"),),
        conditions=(),
        variables={"user": USER, "groups": GROUPS, "sub": SUBRESOURCE},
        expression=f"({marks}) || (!({by_machine}) && ({in_own_name}))",
        message=(
            "'suture: ' + variables.user + ' may not ' + request.operation.lowerAscii() + "
            "' this grant: a person grants, in their own name as approver "
            f"[{GRANTS_POLICY}]; run: suture grant'"
        ),
        plain="suture: grants are given by people, in their own name",
    )
    return policy, admission_binding(GRANTS_POLICY)


def static_guard(installation: Installation) -> tuple[Document, Document]:
    """Return the policy for the API server's static manifest folder, with its binding.

    A file on the control plane that no API call can remove: it guards the policy kinds, which no
    other guard of this page sees. It has no parameters and needs nothing of Suture.
    """
    name = f"suture-guards.{STATIC_SUFFIX}"
    policy = admission_policy(
        name,
        operations=("CREATE", "UPDATE", "DELETE"),
        rules=(
            (
                "admissionregistration.k8s.io",
                "validatingadmissionpolicies",
                "validatingadmissionpolicybindings",
                "mutatingadmissionpolicies",
                "mutatingadmissionpolicybindings",
                "validatingwebhookconfigurations",
                "mutatingwebhookconfigurations",
            ),
        ),
        conditions=(),
        variables={**_VARIABLES, "foreign": foreign_machine(installation)},
        expression=(
            "!(variables.foreign && (variables.name == 'suture' || "
            "variables.name.startsWith('suture-')))"
        ),
        message=(
            "'suture: ' + variables.user + ' may not ' + request.operation.lowerAscii() + ' ' + "
            "request.resource.resource + ' ' + variables.name + ': it is part of the guard "
            f"[{name}]; ask a person'"
        ),
        plain="suture: its own policies are guarded against machines",
    )
    return policy, admission_binding(name)
