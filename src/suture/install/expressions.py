"""CEL fragments about a request's identity and change, as the API server itself evaluates them.

Pure text. INVARIANT: every fragment is total, that is, it evaluates to a boolean for any request:
an error would let a request past a lane, or refuse it under a fail-closed policy. Optional fields
are asked for with `has()`, and what custom resources may type freely is asked for its type first.
Source: admission.k8s.io/v1 AdmissionRequest, whose empty fields are absent.
"""

from __future__ import annotations

from collections.abc import Iterable

from suture.install.settings import Identities
from suture.model.actor import CONSEQUENCE_CONTROLLERS, SERVICE_ACCOUNT

LABELS = {"app.kubernetes.io/name": "suture"}
"""What every document of ours bears, and what Suture's Service selects."""

NODES = "system:nodes"
API_SERVER = "system:apiserver"
ADMIN = "system:admin"
JOB_CONTROLLER = f"{SERVICE_ACCOUNT}kube-system:job-controller"
JOB_TRACKING = "batch.kubernetes.io/job-tracking"

USER = "(has(request.userInfo.username) ? request.userInfo.username : '')"
GROUPS = "(has(request.userInfo.groups) ? request.userInfo.groups : [])"
SUBRESOURCE = "(has(request.subResource) ? request.subResource : '')"
NAMESPACE = "(has(request.namespace) ? request.namespace : '')"

# Of kube-controller-manager, each under its own account; they carry out what others asked for, or
# keep what Suture's namespace needs. Source: kube-controller-manager's controller descriptors.
CONTROLLERS = tuple(
    sorted(
        CONSEQUENCE_CONTROLLERS
        | {
            f"{SERVICE_ACCOUNT}kube-system:{name}"
            for name in (
                "certificate-controller",
                "clusterrole-aggregation-controller",
                "daemon-set-controller",
                "disruption-controller",
                "ephemeral-volume-controller",
                "expand-controller",
                "job-controller",
                "legacy-service-account-token-cleaner",
                "node-controller",
                "pod-garbage-collector",
                "resource-claim-controller",
                "resourcequota-controller",
                "root-ca-cert-publisher",
                "service-account-controller",
                "service-controller",
                "taint-eviction-controller",
                "ttl-controller",
                "validatingadmissionpolicy-status-controller",
            )
        }
    )
)


def text(value: str) -> str:
    """Return a CEL string literal."""
    escaped = "".join(
        char if char.isprintable() and char not in "'\\" else f"\\U{ord(char):08x}"
        for char in value
    )
    return f"'{escaped}'"


def texts(values: Iterable[str]) -> str:
    """Return a CEL list of string literals."""
    return f"[{', '.join(map(text, values))}]"


def one_of(identities: Identities, *, user: str = USER, groups: str = GROUPS) -> str:
    """Whether the identity is named, itself or by a group of its."""
    parts = []
    if identities.users:
        parts.append(f"{user} in {texts(identities.users)}")
    if identities.groups:
        parts.append(f"{groups}.exists(g, g in {texts(identities.groups)})")
    return " || ".join(parts) if parts else "false"


def machine(
    enrolled: Identities,
    break_glass: Iterable[str] = (),
    *,
    user: str = USER,
    groups: str = GROUPS,
) -> str:
    """Whether the identity is no person: a service account, or enrolled by name or group.

    Nobody in a break-glass group is one, whatever else they are.
    """
    found = f"{user}.startsWith({text(SERVICE_ACCOUNT)})"
    if not enrolled.empty:
        found = f"{found} || {one_of(enrolled, user=user, groups=groups)}"
    spared = in_groups(break_glass, groups=groups)
    return found if spared == "false" else f"({found}) && !({spared})"


def in_groups(names: Iterable[str], *, groups: str = GROUPS) -> str:
    """Whether the identity is in one of some groups."""
    return one_of(Identities(groups=tuple(names)), groups=groups)


def mapped(path: str) -> str:
    """Whether what is at a path is a map, so that its fields can be asked for."""
    return f"type({path}) == map"


def _replicas(root: str) -> str:
    """Whether a document has a whole number of replicas."""
    return (
        f"has({root}.spec) && {mapped(f'{root}.spec')} && has({root}.spec.replicas) && "
        f"type({root}.spec.replicas) == int"
    )


def kind(group: str, *plurals: str) -> str:
    """Whether the request is about one of these resources, or their subresources."""
    found = f"request.resource.group == {text(group)} && request.resource.resource "
    return found + (f"== {text(plurals[0])}" if len(plurals) == 1 else f"in {texts(plurals)}")


LEASES = kind("coordination.k8s.io", "leases")
EVENTS = "request.resource.resource == 'events' && request.resource.group in ['', 'events.k8s.io']"
REVIEWS = "request.resource.group in ['authentication.k8s.io', 'authorization.k8s.io']"
TOKENS = f"{kind('', 'serviceaccounts')} && {SUBRESOURCE} == 'token'"

BOTH = "object != null && oldObject != null"
BOTH_METADATA = f"{BOTH} && has(object.metadata) && has(oldObject.metadata)"

DELETED = "request.operation == 'DELETE'"
EVICTED = f"request.operation == 'CREATE' && {kind('', 'pods')} && {SUBRESOURCE} == 'eviction'"
# WHY absent is fewer: `Scale` leaves zero out.
SCALED_DOWN = (
    f"request.operation == 'UPDATE' && {BOTH} && {_replicas('oldObject')} && "
    f"oldObject.spec.replicas > 0 && "
    f"!({_replicas('object')} && object.spec.replicas >= oldObject.spec.replicas)"
)
FINALIZER_REMOVED = (
    f"request.operation == 'UPDATE' && {BOTH_METADATA} && has(oldObject.metadata.finalizers) && "
    "oldObject.metadata.finalizers.exists(f, !has(object.metadata.finalizers) || "
    "!(f in object.metadata.finalizers))"
)
OWNERS_CHANGED = (
    f"request.operation == 'UPDATE' && {BOTH_METADATA} && "
    "(has(object.metadata.ownerReferences) != has(oldObject.metadata.ownerReferences) || "
    "(has(object.metadata.ownerReferences) && "
    "object.metadata.ownerReferences != oldObject.metadata.ownerReferences))"
)
LABELS_CHANGED = (
    f"request.operation == 'UPDATE' && {BOTH_METADATA} && "
    "(has(object.metadata.labels) != has(oldObject.metadata.labels) || "
    "(has(object.metadata.labels) && object.metadata.labels != oldObject.metadata.labels))"
)
SELECTOR_CHANGED = (
    f"request.operation == 'UPDATE' && {BOTH} && has(object.spec) && has(oldObject.spec) && "
    f"{mapped('object.spec')} && {mapped('oldObject.spec')} && "
    "(has(object.spec.selector) != has(oldObject.spec.selector) || "
    "(has(object.spec.selector) && object.spec.selector != oldObject.spec.selector))"
)
SPEC_CHANGED = (
    f"request.operation == 'UPDATE' && {BOTH} && "
    "(!has(object.spec) || !has(oldObject.spec) || object.spec != oldObject.spec)"
)
"""The wish changed; true as well for kinds that keep it outside `spec`."""

JOB_TRACKING_LIFTED = (
    f"{USER} == {text(JOB_CONTROLLER)} && {kind('', 'pods')} && {FINALIZER_REMOVED} && "
    "oldObject.metadata.finalizers.all(f, "
    f"f == {text(JOB_TRACKING)} || (has(object.metadata.finalizers) && "
    "f in object.metadata.finalizers))"
)
"""The job controller counts a finished pod: a consequence, not a removal of somebody's hold."""
