"""`suture install`: what a cluster needs in order to ask Suture, printed, compared or applied."""

from __future__ import annotations

import asyncio
import base64
import datetime as dt
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import cyclopts
import msgspec
import yaml
from rich.markup import escape

from suture.cli.terminal import Console
from suture.errors import InputError, NotFoundError
from suture.install.settings import (
    SERVICE,
    Identities,
    Installation,
    ServiceTarget,
    UrlTarget,
    enrol,
)
from suture.model.actor import Profile

if TYPE_CHECKING:
    from suture.adapters.kube import KubeClient
    from suture.install.manifests import Certificates, Workload
    from suture.model.documents import Document

READY_S = 300.0
"""LIMIT: how long the pod may take to list the largest cluster before it is registered."""

SECRET_BITS = 256
HOST_FOLDER = "/etc/kubernetes/suture"

Several = Annotated[list[str] | None, cyclopts.Parameter(negative=())]
Files = Annotated[list[Path] | None, cyclopts.Parameter(negative=())]


def install(
    *,
    apply: bool = False,
    diff: bool = False,
    namespace: str = "suture-system",
    image: str | None = None,
    cluster: str = "",
    url: str | None = None,
    mutual_tls: bool = False,
    authorizer: bool = False,
    authorizer_url: str = "",
    installer: Several = None,
    break_glass_group: Several = None,
    policies: Files = None,
    profiles: Files = None,
    journal_claim: str = "",
    metadata_of_all_kinds: bool = True,
    control_plane_files: Path | None = None,
    host_folder: str = HOST_FOLDER,
    kubeconfig: Path | None = None,
    context: str | None = None,
) -> int:
    """Print the manifests of Suture; with --apply put them on the cluster, registration last.

    After install nothing is refused: every operator is observed. `suture operators set` goes on.
    Exit status: 0 done, 1 with --diff when something differs, 2 it makes no sense, 3 the cluster
    is away or Suture did not get ready (then nothing was registered).

    Parameters
    ----------
    apply:
        Apply server-side, wait until Suture answers, then register it.
    diff:
        Show what applying would change, by server-side dry runs.
    namespace:
        Suture's own namespace; lane 0 and the guards are about it.
    image:
        The image to run.
    cluster:
        A name for this cluster, for policies and reports.
    url:
        API servers reach Suture here and not through a Service: on control-plane hosts.
    mutual_tls:
        Answer only the API server's client certificate; without it, a secret path keeps others out.
    authorizer:
        The cluster asks Suture at authorization too; see --control-plane-files.
    authorizer_url:
        Where it asks then, if not at --url: an API server knows no Services there.
    installer:
        A user, or group:NAME, that may change Suture itself besides people: a GitOps controller.
        May be repeated.
    break_glass_group:
        A group for emergencies: whoever is in it is never refused, always written down and
        alarmed. May be repeated.
    policies:
        Files or folders of templates and constraints; without any, the safety pack.
    profiles:
        Files of OperatorProfiles to enrol; with --apply and --diff those of the cluster count too.
    journal_claim:
        A PersistentVolumeClaim for the journal; without one it goes with the pod.
    metadata_of_all_kinds:
        Grant list and watch of every kind, so that what goes along with an owner is known exactly.
    control_plane_files:
        Write the files for a self-managed control plane into this folder: authorizer, client
        certificate, static guard of the policy kinds.
    host_folder:
        Where those files will be on the hosts.
    kubeconfig, context:
        Which cluster, as kubectl would choose it.
    """
    from suture.adapters.files import read_policies
    from suture.install.manifests import IMAGE, Workload, reads_of
    from suture.policy.compile import compile_policies

    if apply and diff:
        raise InputError("give --apply or --diff, not both")
    base = read_policies(policies or (), pack=not policies)
    found = compile_policies(base)
    installation = Installation(
        namespace=namespace,
        target=UrlTarget(_checked_url(url)) if url else ServiceTarget(namespace, SERVICE),
        installers=installers(installer or ()),
        break_glass=tuple(sorted(set(break_glass_group or ()))),
        reads=reads_of(found.reads),
        authorizer=authorizer,
        authorizer_url=authorizer_url,
    )
    workload = Workload(
        image=image or IMAGE,
        cluster=cluster,
        mutual_tls=mutual_tls,
        journal_claim=journal_claim,
        metadata_of_all_kinds=metadata_of_all_kinds,
    )
    order = _Order(
        installation=installation,
        workload=workload,
        profiles=read_profiles(profiles or ()),
        policies=tuple(base),
        files=control_plane_files,
        host_folder=host_folder,
    )
    if not (apply or diff):
        return _render(order)
    return asyncio.run(_on_cluster(order, kubeconfig, context, apply=apply))


@dataclass(frozen=True)
class _Order:
    """What was asked for, read."""

    installation: Installation
    workload: Workload
    profiles: tuple[Profile, ...]
    policies: tuple[Document, ...]
    files: Path | None
    host_folder: str


def _render(order: _Order) -> int:
    from suture.install.manifests import all_manifests
    from suture.install.policies import policy_definitions

    note = Console(stderr=True, soft_wrap=True, highlight=False)
    installation, certificates = _with_certificates(order, None, "")
    installation = enrol(installation, order.profiles)
    documents = (
        *policy_definitions(order.policies),
        *all_manifests(installation, order.workload, certificates),
    )
    print(as_yaml(documents), end="")
    _write_files(order, installation, certificates, note)
    note.print(
        "[dim]each rendering makes new certificates; `suture install --apply` keeps those of the "
        "cluster until they run out. Nothing is refused until `suture operators set`.[/]"
    )
    return 0


async def _on_cluster(
    order: _Order, kubeconfig: Path | None, context: str | None, *, apply: bool
) -> int:
    from suture.adapters.kube import KubeClient
    from suture.app.apply import apply_documents, await_deployment, await_kind, compare
    from suture.app.operators import profiles_of
    from suture.app.policyapply import in_force
    from suture.app.quarantine import Endpoint, prove_list
    from suture.install.guards import guards
    from suture.install.manifests import base_manifests, reads_of
    from suture.install.policies import policy_definitions
    from suture.install.profiles import PROFILES_PATH
    from suture.install.registration import registration

    console = Console(soft_wrap=True, highlight=False)

    def step(words: str) -> None:
        console.print(f"[dim]{escape(words)}[/]")

    async with KubeClient.from_kubeconfig(kubeconfig, context) as client:
        secret = await _secret(client, order.installation.namespace)
        installation, certificates = _with_certificates(order, *_kept(secret))
        try:
            known = await profiles_of(client)
        except InputError:  # the first install
            known = ()
        named = {profile.name: profile for profile in (*known, *order.profiles)}
        policies, _ = await in_force(client, order.policies)
        installation = msgspec.structs.replace(
            installation, reads=reads_of(policies.policies.reads)
        )
        installation = enrol(installation, named.values())
        base = (
            *policy_definitions(order.policies),
            *base_manifests(installation, order.workload, certificates),
        )
        rest = (*guards(installation), registration(installation))
        if not apply:
            return _show_differences(await compare(client, [*base, *rest]), console)
        await apply_documents(client, base, step)
        await await_kind(client, PROFILES_PATH, step)
        await apply_documents(client, guards(installation), step)
        step("the quarantine list to be followed")
        await prove_list(Endpoint("", client), namespace=installation.namespace)
        for document in base:
            if document["kind"] == "Deployment":
                await await_deployment(client, document, READY_S, step)
        await apply_documents(client, [registration(installation)], step)
    _write_files(order, installation, certificates, console)
    console.print(
        "Suture is asked and observes. See `suture status`; then "
        "`suture operators set --default --stage warn`."
    )
    return 0


def installers(names: Sequence[str]) -> Identities:
    """Read `--installer` values: users, and groups as `group:NAME`."""
    groups = [name.removeprefix("group:") for name in names if name.startswith("group:")]
    users = [name for name in names if not name.startswith("group:")]
    if not all((*users, *groups)):
        raise InputError("an installer needs a name")
    return Identities(tuple(sorted(users)), tuple(sorted(groups)))


def read_profiles(files: Sequence[Path]) -> tuple[Profile, ...]:
    """Read OperatorProfiles from YAML files. Errors: InputError for what is none."""
    from suture.adapters.files import read_policy_files

    profiles = []
    for document in read_policy_files(files):
        value = document.value
        if not isinstance(value, dict) or value.get("kind") != "OperatorProfile":
            raise InputError(f"{document.source}: wanted documents of kind OperatorProfile")
        try:
            body = {"name": value["metadata"]["name"], **value["spec"]}
            body["when_dead"] = body.pop("whenDead", "pass")
            profiles.append(msgspec.convert(body, Profile))
        except (KeyError, TypeError, msgspec.ValidationError) as error:
            raise InputError(f"{document.source}: is no OperatorProfile: {error}") from error
    return tuple(profiles)


def _checked_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname or parts.query or parts.fragment:
        raise InputError(f"`{url}` is no address for a webhook: wanted https://HOST[:PORT][/PATH]")
    return url


def _with_certificates(
    order: _Order, kept: Certificates | None, secret_path: str
) -> tuple[Installation, Certificates]:
    """Return the installation with certificates: those that are there if they will do."""
    from suture.adapters.certificates import make_certificates, usable

    installation = order.installation
    target = installation.target
    names = [f"{SERVICE}.{installation.namespace}.svc"]
    for address in (
        target.url if isinstance(target, UrlTarget) else "",
        installation.authorizer_url,
    ):
        host = urlsplit(address).hostname or ""
        if host and host not in names:
            names.append(str(ip_address(host)) if _is_address(host) else host)
    needs_client = order.workload.mutual_tls and order.files is not None
    if kept is None or needs_client or not usable(kept, names, dt.datetime.now(dt.UTC)):
        kept = make_certificates(names, client=order.workload.mutual_tls)
    if not order.workload.mutual_tls and not secret_path:
        secret_path = secrets.token_urlsafe(SECRET_BITS // 8)
    return (
        msgspec.structs.replace(
            installation,
            ca_bundle=kept.authority,
            secret_path="" if order.workload.mutual_tls else secret_path,
        ),
        kept,
    )


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


async def _secret(client: KubeClient, namespace: str) -> Mapping[str, bytes]:
    from suture.install.manifests import TLS_SECRET

    try:
        found = await client.get(f"/api/v1/namespaces/{namespace}/secrets/{TLS_SECRET}")
    except NotFoundError:
        return {}
    return {key: base64.b64decode(value) for key, value in (found.get("data") or {}).items()}


def _kept(secret: Mapping[str, bytes]) -> tuple[Certificates | None, str]:
    from suture.install.manifests import Certificates

    try:
        certificates = Certificates(
            authority=secret["ca.crt"], certificate=secret["tls.crt"], key=secret["tls.key"]
        )
    except KeyError:
        return None, ""
    return certificates, secret.get("secret-path", b"").decode()


def _write_files(
    order: _Order, installation: Installation, certificates: Certificates, console: Console
) -> None:
    """Write the files for the control plane's hosts; keys are readable by their owner only."""
    from suture.install.controlplane import control_plane_files

    folder = order.files
    if folder is None:
        if installation.authorizer:
            console.print(
                "[yellow]--authorizer needs files on the control plane: "
                "give --control-plane-files FOLDER[/]"
            )
        return
    documents = control_plane_files(
        installation, order.host_folder, certificate=bool(certificates.client_key)
    )
    texts = {name: as_yaml(found).encode() for name, found in documents.items()}
    texts["ca.crt"] = certificates.authority
    if certificates.client_key:
        texts["client.crt"] = certificates.client_certificate
        texts["client.key"] = certificates.client_key
    try:
        # API servers do not start without the folders that admission.yaml names, empty or not.
        for name in ("ValidatingAdmissionWebhook", "ValidatingAdmissionPolicy"):
            (folder / "static" / name).mkdir(parents=True, exist_ok=True)
        for name, content in texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)  # keys, and the secret path
            path.write_bytes(content)
    except OSError as error:
        raise InputError(f"folder `{folder}` cannot be written: {error}") from error
    hosts = escape(order.host_folder)
    console.print(
        f"[dim]{len(texts)} files in {escape(str(folder))}: copy them to {hosts} on every "
        "control-plane host; start API servers with --admission-control-config-file "
        f"{hosts}/admission.yaml"
        + (
            f" and --authorization-config {hosts}/authorization.yaml"
            if installation.authorizer
            else ""
        )
        + "[/]"
    )


def _show_differences(found: Sequence[Any], console: Console) -> int:
    for difference in found:
        if difference.absent:
            console.print(f"[green]+ {escape(difference.label)}[/]")
            continue
        console.print(f"[yellow]~ {escape(difference.label)}[/]")
        for field, live, wanted in difference.fields:
            console.print(f"    {field}: {live} → {wanted}", markup=False)
    if not found:
        console.print("the cluster is as wanted")
    return 1 if found else 0


def as_yaml(documents: Sequence[Mapping[str, Any]]) -> str:
    """Return manifests as people read them: in the order given, nothing abbreviated."""
    return yaml.dump_all(documents, Dumper=_Dumper, sort_keys=False, width=100, explicit_start=True)


class _Dumper(yaml.SafeDumper):
    """Repeats what is shared instead of pointing at it: manifests are read by people."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 the library's signature
        """Tell the library never to use an anchor."""
        return True
