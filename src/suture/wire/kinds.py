"""Which kinds are read whole, and how: the table behind `trim` and behind what is watched.

Pure. To read a kind more closely, give it a projection, facts or needs, and a row here.
"""

from __future__ import annotations

from collections.abc import Mapping

from suture.model import names
from suture.model.names import Resource
from suture.model.rules import REFERENCE_RULES
from suture.wire.accessshapes import (
    AccountDocument,
    BindingDocument,
    KeysDocument,
    LeaseDocument,
    RoleDocument,
    account_needs,
    keys,
    lease,
    lease_needs,
    role,
    role_binding,
    role_binding_needs,
)
from suture.wire.apishapes import (
    ApiServiceDocument,
    CrdDocument,
    WebhookDocument,
    api_service,
    api_service_needs,
    definition,
    definition_needs,
    webhook_needs,
    webhooks,
)
from suture.wire.limitshapes import (
    AutoscalerDocument,
    BudgetDocument,
    NetworkPolicyDocument,
    ScaledObjectDocument,
    autoscaler,
    autoscaler_needs,
    disruption_budget,
    network_policy,
    scaled_object,
    scaled_object_needs,
)
from suture.wire.meshshapes import (
    AuthorizationPolicyDocument,
    PeerAuthenticationDocument,
    authorization_policy,
    peer_authentication,
)
from suture.wire.networkshapes import (
    CalicoDocument,
    ClusterPolicyDocument,
    calico_policy,
    cluster_policy,
)
from suture.wire.podshapes import (
    NodeDocument,
    PodDocument,
    ServiceDocument,
    SliceDocument,
    endpoint_slice,
    node,
    pod,
    pod_needs,
    service,
    slice_needs,
)
from suture.wire.policyshapes import (
    PolicyBindingDocument,
    PolicyDocument,
    policy,
    policy_binding,
    policy_binding_needs,
)
from suture.wire.routeshapes import (
    GatewayDocument,
    IngressDocument,
    RouteDocument,
    gateway,
    gateway_needs,
    ingress,
    ingress_needs,
    route,
    route_needs,
)
from suture.wire.ruleshapes import RuleDocument, reference_rule
from suture.wire.shapes import Shape
from suture.wire.storageshapes import (
    AttachmentDocument,
    ClaimDocument,
    SnapshotContentDocument,
    SnapshotDocument,
    StorageClassDocument,
    VolumeDocument,
    attachment,
    attachment_needs,
    claim,
    claim_needs,
    snapshot,
    snapshot_content,
    snapshot_content_needs,
    snapshot_needs,
    storage_class,
    volume,
    volume_needs,
)
from suture.wire.trafficshapes import CiliumDocument, cilium_policy
from suture.wire.workloadshapes import (
    ControllerDocument,
    CronJobDocument,
    WorkloadDocument,
    controller_needs,
    cron_job,
    cron_job_needs,
    daemon_set,
    daemon_set_needs,
    job,
    replicated,
    replication_controller,
    workload_needs,
)

SHAPES: Mapping[Resource, Shape] = {
    names.PODS: Shape("Pod", PodDocument, pod, pod_needs, states=True),
    names.SERVICES: Shape("Service", ServiceDocument, service),
    names.ENDPOINT_SLICES: Shape("EndpointSlice", SliceDocument, endpoint_slice, slice_needs),
    names.NODES: Shape("Node", NodeDocument, node),
    names.CONFIG_MAPS: Shape("ConfigMap", KeysDocument, keys),
    names.SERVICE_ACCOUNTS: Shape("ServiceAccount", AccountDocument, None, account_needs),
    names.LEASES: Shape("Lease", LeaseDocument, lease, lease_needs),
    # what makes pods
    names.DEPLOYMENTS: Shape(
        "Deployment", WorkloadDocument, replicated, workload_needs, apart=True
    ),
    names.REPLICA_SETS: Shape(
        "ReplicaSet", WorkloadDocument, replicated, workload_needs, apart=True
    ),
    names.STATEFUL_SETS: Shape(
        "StatefulSet", WorkloadDocument, replicated, workload_needs, apart=True
    ),
    names.DAEMON_SETS: Shape(
        "DaemonSet", WorkloadDocument, daemon_set, daemon_set_needs, apart=True
    ),
    names.JOBS: Shape("Job", WorkloadDocument, job, workload_needs, apart=True),
    names.CRON_JOBS: Shape("CronJob", CronJobDocument, cron_job, cron_job_needs, apart=True),
    names.REPLICATION_CONTROLLERS: Shape(
        "ReplicationController", ControllerDocument, replication_controller, controller_needs
    ),
    # what bounds them
    names.DISRUPTION_BUDGETS: Shape("PodDisruptionBudget", BudgetDocument, disruption_budget),
    names.NETWORK_POLICIES: Shape("NetworkPolicy", NetworkPolicyDocument, network_policy),
    names.CILIUM_POLICIES: Shape("CiliumNetworkPolicy", CiliumDocument, cilium_policy),
    names.CILIUM_CLUSTER_POLICIES: Shape(
        "CiliumClusterwideNetworkPolicy", CiliumDocument, cilium_policy
    ),
    names.ADMIN_POLICIES: Shape("AdminNetworkPolicy", ClusterPolicyDocument, cluster_policy),
    names.BASELINE_POLICIES: Shape(
        "BaselineAdminNetworkPolicy", ClusterPolicyDocument, cluster_policy
    ),
    names.CLUSTER_POLICIES: Shape("ClusterNetworkPolicy", ClusterPolicyDocument, cluster_policy),
    names.CALICO_POLICIES: Shape("NetworkPolicy", CalicoDocument, calico_policy),
    names.CALICO_GLOBAL_POLICIES: Shape("GlobalNetworkPolicy", CalicoDocument, calico_policy),
    names.CALICO_STORED_POLICIES: Shape("NetworkPolicy", CalicoDocument, calico_policy),
    names.CALICO_STORED_GLOBAL_POLICIES: Shape(
        "GlobalNetworkPolicy", CalicoDocument, calico_policy
    ),
    names.PEER_AUTHENTICATIONS: Shape(
        "PeerAuthentication", PeerAuthenticationDocument, peer_authentication
    ),
    names.AUTHORIZATION_POLICIES: Shape(
        "AuthorizationPolicy", AuthorizationPolicyDocument, authorization_policy
    ),
    names.AUTOSCALERS: Shape(
        "HorizontalPodAutoscaler", AutoscalerDocument, autoscaler, autoscaler_needs
    ),
    names.SCALED_OBJECTS: Shape(
        "ScaledObject", ScaledObjectDocument, scaled_object, scaled_object_needs
    ),
    # what leads to them
    names.INGRESSES: Shape("Ingress", IngressDocument, ingress, ingress_needs),
    names.GATEWAYS: Shape("Gateway", GatewayDocument, gateway, gateway_needs),
    names.HTTP_ROUTES: Shape("HTTPRoute", RouteDocument, route, route_needs),
    names.GRPC_ROUTES: Shape("GRPCRoute", RouteDocument, route, route_needs),
    names.TLS_ROUTES: Shape("TLSRoute", RouteDocument, route, route_needs),
    names.TCP_ROUTES: Shape("TCPRoute", RouteDocument, route, route_needs),
    names.UDP_ROUTES: Shape("UDPRoute", RouteDocument, route, route_needs),
    # what they keep
    names.CLAIMS: Shape("PersistentVolumeClaim", ClaimDocument, claim, claim_needs),
    names.VOLUMES: Shape("PersistentVolume", VolumeDocument, volume, volume_needs),
    names.STORAGE_CLASSES: Shape("StorageClass", StorageClassDocument, storage_class),
    names.VOLUME_ATTACHMENTS: Shape(
        "VolumeAttachment", AttachmentDocument, attachment, attachment_needs
    ),
    names.SNAPSHOTS: Shape("VolumeSnapshot", SnapshotDocument, snapshot, snapshot_needs),
    names.SNAPSHOT_CONTENTS: Shape(
        "VolumeSnapshotContent", SnapshotContentDocument, snapshot_content, snapshot_content_needs
    ),
    # what the API stands on
    names.CRDS: Shape("CustomResourceDefinition", CrdDocument, definition, definition_needs),
    names.API_SERVICES: Shape("APIService", ApiServiceDocument, api_service, api_service_needs),
    names.VALIDATING_WEBHOOKS: Shape(
        "ValidatingWebhookConfiguration", WebhookDocument, webhooks, webhook_needs
    ),
    names.MUTATING_WEBHOOKS: Shape(
        "MutatingWebhookConfiguration", WebhookDocument, webhooks, webhook_needs
    ),
    names.VALIDATING_POLICIES: Shape("ValidatingAdmissionPolicy", PolicyDocument, policy),
    names.VALIDATING_POLICY_BINDINGS: Shape(
        "ValidatingAdmissionPolicyBinding",
        PolicyBindingDocument,
        policy_binding,
        policy_binding_needs,
    ),
    names.MUTATING_POLICIES: Shape("MutatingAdmissionPolicy", PolicyDocument, policy),
    names.MUTATING_POLICY_BINDINGS: Shape(
        "MutatingAdmissionPolicyBinding",
        PolicyBindingDocument,
        policy_binding,
        policy_binding_needs,
    ),
    names.ROLES: Shape("Role", RoleDocument, role),
    names.CLUSTER_ROLES: Shape("ClusterRole", RoleDocument, role),
    names.ROLE_BINDINGS: Shape("RoleBinding", BindingDocument, role_binding, role_binding_needs),
    names.CLUSTER_ROLE_BINDINGS: Shape(
        "ClusterRoleBinding", BindingDocument, role_binding, role_binding_needs
    ),
    # what users say of their own kinds
    REFERENCE_RULES: Shape("ReferenceRule", RuleDocument, reference_rule),
}
"""Kinds that are read whole; of every other kind the metadata is all that is known."""

SECRET_KEYS: Mapping[Resource, Shape] = {names.SECRETS: Shape("Secret", KeysDocument, keys)}
"""Read whole on request only: who may list Secrets whole holds every password of a cluster."""

CLOSELY: frozenset[Resource] = frozenset(
    {
        names.PODS,
        names.SERVICES,
        names.ENDPOINT_SLICES,
        names.NODES,
        names.DEPLOYMENTS,
        names.REPLICA_SETS,
        names.STATEFUL_SETS,
        names.DAEMON_SETS,
        names.JOBS,
        names.CRON_JOBS,
        names.REPLICATION_CONTROLLERS,
        names.DISRUPTION_BUDGETS,
        names.INGRESSES,
        names.CLAIMS,
        names.CRDS,
        names.API_SERVICES,
        names.VALIDATING_WEBHOOKS,
        names.MUTATING_WEBHOOKS,
    }
)
"""Kinds that decisions rest on closely: their age must be known within seconds. Of the others a
reference that is a minute old is still good advice."""
