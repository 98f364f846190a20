"""`suture policies`: which policies are in force, and putting one's own on a cluster."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import cyclopts
import yaml
from rich.markup import escape
from rich.table import Table

from suture.cli.terminal import Console
from suture.errors import InputError

if TYPE_CHECKING:
    from suture.app.clusterpolicies import InForce
    from suture.model.documents import Document

app = cyclopts.App(
    name="policies", help="See the policies in force, and put your own on a cluster."
)

Files = Annotated[list[Path] | None, cyclopts.Parameter(negative=())]


@app.command(name="list")
def list_(
    *,
    policies: Files = None,
    cluster: bool = True,
    kubeconfig: Path | None = None,
    context: str | None = None,
    output: Literal["table", "json"] = "table",
) -> int:
    """List the constraints in force: the safety pack's, and the cluster's in their place or beside.

    Exit status: 0 all are in force, 1 some are not, 2 files make no sense, 3 the cluster is away.

    Parameters
    ----------
    policies:
        Files or folders that `suture serve` was given in place of the safety pack.
    cluster:
        Ask the cluster; without it only files and the pack are listed.
    kubeconfig, context:
        Which cluster, as kubectl would choose it.
    output:
        `table` for people, `json` for programs.
    """
    from suture.adapters.files import read_policies

    base = read_policies(policies or (), pack=not policies)
    found, own = asyncio.run(_in_force(base, kubeconfig, context, cluster=cluster))
    rows: list[dict[str, Any]] = [
        {
            "name": one.name,
            "template": one.template,
            "actions": {point.value: action.value for point, action in one.enforcement.items()},
            "from": "cluster" if one.source in own else one.source,
        }
        for one in found.policies.constraints
    ]
    if output == "json":
        said = {"constraints": rows, "problems": dict(found.problems)}
        print(json.dumps(said, indent=2))
        return 1 if found.problems else 0
    table = Table("constraint", "template", "at admission", "from", box=None, pad_edge=False)
    for row in rows:
        told = (row["name"], row["template"], row["actions"]["admission"], row["from"])
        table.add_row(*map(escape, told))
    console = Console(soft_wrap=True, highlight=False)
    console.print(table)
    _tell_problems(found, console)
    return 1 if found.problems else 0


@app.command
def show(name: str, /, *, policies: Files = None) -> int:
    """Print a constraint of the safety pack, to be changed and applied in its place.

    `suture policies show share-budget > mine.yaml`, change the numbers, then
    `suture policies apply mine.yaml`. `kubectl delete` of it brings the pack's own back.

    Parameters
    ----------
    name:
        The constraint, as in `suture policies list`.
    policies:
        Files or folders to look into in place of the safety pack.
    """
    from suture.adapters.files import read_policies
    from suture.model.documents import did_you_mean
    from suture.policy.format import TEMPLATE_KIND

    constraints = {
        str(document.at(("metadata", "name"))): document
        for document in read_policies(policies or (), pack=not policies)
        if document.at(("kind",)) != TEMPLATE_KIND
    }
    if name not in constraints:
        hint = did_you_mean(name, constraints)
        raise InputError(f"there is no constraint `{name}`{hint}; see `suture policies list`")
    print(yaml.safe_dump(constraints[name].value, sort_keys=False, width=100), end="")
    return 0


@app.command
def manifests(*paths: Path, policies: Files = None) -> int:
    """Print what `apply` would write: definitions first, then templates, then constraints.

    For whoever applies by GitOps. Without PATHS the definitions of the safety pack's own kinds.

    Parameters
    ----------
    paths:
        Files or folders of templates and constraints.
    policies:
        Files or folders that `suture serve` was given in place of the safety pack.
    """
    from suture.adapters.files import read_policies, read_policy_files
    from suture.app.policyapply import body_of, checked, definitions_for
    from suture.cli.install import as_yaml
    from suture.install.policies import policy_definitions
    from suture.policy.format import TEMPLATE_KIND

    base = read_policies(policies or (), pack=not policies)
    documents = read_policy_files(paths)
    checked(documents, base)
    definitions = definitions_for(documents, base) if documents else policy_definitions(base)
    ordered = sorted(documents, key=lambda one: one.at(("kind",)) != TEMPLATE_KIND)
    every = [*definitions, *(body_of(one) for one in ordered)]
    print(as_yaml(every), end="")
    return 0


@app.command
def apply(
    *paths: Path,
    policies: Files = None,
    kubeconfig: Path | None = None,
    context: str | None = None,
) -> int:
    """Put templates and constraints on the cluster; in force within ten seconds.

    One of the same kind and name as the safety pack's takes its place. Everything is checked first:
    what is wrong is told with file, line and field, and nothing is written.

    Exit status: 0 done, 1 some policy of the cluster is not in force, 2 files make no sense, 3 the
    cluster is away.

    Parameters
    ----------
    paths:
        Files or folders of templates and constraints; without any, the registration alone is
        brought into line with the policies of the cluster.
    policies:
        Files or folders that `suture serve` was given in place of the safety pack.
    kubeconfig, context:
        Which cluster, as kubectl would choose it.
    """
    from suture.adapters.files import read_policies, read_policy_files

    base = read_policies(policies or (), pack=not policies)
    console = Console(soft_wrap=True, highlight=False)
    found = asyncio.run(_apply(read_policy_files(paths), base, kubeconfig, context, console))
    console.print(
        f"{len(found.policies.constraints)} constraints in force, digest {found.policies.digest}"
    )
    _tell_problems(found, console)
    return 1 if found.problems else 0


async def _in_force(
    base: list[Document], kubeconfig: Path | None, context: str | None, *, cluster: bool
) -> tuple[InForce, frozenset[str]]:
    from suture.adapters.kube import KubeClient
    from suture.app.clusterpolicies import combine
    from suture.app.policyapply import in_force

    if not cluster:
        return combine(base, ()), frozenset()
    async with KubeClient.from_kubeconfig(kubeconfig, context) as client:
        return await in_force(client, base)


async def _apply(
    documents: list[Document],
    base: list[Document],
    kubeconfig: Path | None,
    context: str | None,
    console: Console,
) -> InForce:
    from suture.adapters.kube import KubeClient
    from suture.app.policyapply import apply_policies

    async with KubeClient.from_kubeconfig(kubeconfig, context) as client:
        return await apply_policies(
            client, documents, base, lambda step: console.print(f"[dim]{escape(step)}[/]")
        )


def _tell_problems(found: InForce, console: Console) -> None:
    for at, problem in found.problems.items():
        console.print(f"[red]not in force[/] {escape(f'{at}: {problem}')}")
