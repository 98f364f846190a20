"""`suture operators`: who is an operator, and how far it is enforced."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Literal

import cyclopts
import msgspec
from rich.markup import escape
from rich.table import Table

from suture.app.operators import DEFAULT, Wanted
from suture.cli.terminal import Console
from suture.errors import InputError
from suture.model.actor import Profile, Stage, WhenDead

app = cyclopts.App(name="operators", help="Say who is an operator, and how far it is enforced.")

Names = Annotated[list[str] | None, cyclopts.Parameter(negative=())]


@app.command(name="set")
def set_(
    name: str | None = None,
    /,
    *,
    default: bool = False,
    stage: Literal["observe", "warn", "enforce", "confirm"] | None = None,
    when_dead: Literal["pass", "hold"] | None = None,
    user: Names = None,
    group: Names = None,
    kubeconfig: Path | None = None,
    context: str | None = None,
) -> int:
    """Enrol operator NAME, or change how far it is enforced; what is not given stays as it is.

    Examples: `suture operators set balancer --user system:serviceaccount:infra:balancer --stage
    warn`; `suture operators set --default --stage enforce` for all that no profile names.

    Exit status: 0 done, 2 it makes no sense, 3 the cluster is away, 4 others changed it meanwhile.

    Parameters
    ----------
    name:
        The operator's name; its profile is an OperatorProfile of this name.
    default:
        Mean every machine that no profile names. People are observed only, unless named.
    stage:
        observe: journal what would be refused; warn: tell it too; enforce: refuse; confirm, for
        people: refuse with the impact, and let through what they say again.
    when_dead:
        What happens to its destructive requests while Suture cannot answer: pass, or hold them.
    user:
        A user name; a service account is system:serviceaccount:NAMESPACE:NAME. May be repeated.
    group:
        A group; whoever is in it is meant. May be repeated.
    kubeconfig, context:
        Which cluster, as kubectl would choose it.
    """
    if default and name not in {None, DEFAULT}:
        raise InputError(f"--default has no name of its own; leave `{name}` out")
    if name is None and not default:
        raise InputError("which operator? give its name, or --default for all without a profile")
    wanted = Wanted(
        name=DEFAULT if default or name is None else name,
        default=default,
        stage=Stage(stage) if stage else None,
        when_dead=WhenDead(when_dead) if when_dead else None,
        users=tuple(user or ()),
        groups=tuple(group or ()),
    )
    console = Console(soft_wrap=True)
    profile = asyncio.run(_set(wanted, kubeconfig, context, console))
    console.print(
        f"{escape(profile.name)}: stage [bold]{profile.stage.value}[/], "
        f"when dead [bold]{profile.when_dead.value}[/]",
        highlight=False,
    )
    return 0


async def _set(
    wanted: Wanted, kubeconfig: Path | None, context: str | None, console: Console
) -> Profile:
    from suture.adapters.kube import KubeClient
    from suture.app.operators import set_operator

    async with KubeClient.from_kubeconfig(kubeconfig, context) as client:
        return await set_operator(
            client, wanted, lambda step: console.print(f"[dim]{escape(step)}[/]")
        )


@app.command(name="list")
def list_(
    *,
    kubeconfig: Path | None = None,
    context: str | None = None,
    output: Literal["table", "json"] = "table",
) -> int:
    """List the operators of the cluster and how far each is enforced.

    Parameters
    ----------
    kubeconfig, context:
        Which cluster, as kubectl would choose it.
    output:
        `table` for people, `json` for programs.
    """
    profiles = asyncio.run(_list(kubeconfig, context))
    if output == "json":
        print(msgspec.json.encode(profiles).decode())
        return 0
    table = Table("operator", "stage", "when dead", "who", box=None, pad_edge=False)
    for one in sorted(profiles, key=lambda profile: (profile.default, profile.name)):
        who = "every machine without a profile" if one.default else "\n".join(one.users)
        groups = "\n".join(f"group {group}" for group in one.groups)
        whom = f"{who}\n{groups}".strip() or "nobody"
        table.add_row(*map(escape, (one.name, one.stage.value, one.when_dead.value, whom)))
    Console().print(table if profiles else "no profiles: everybody is observed")
    return 0


async def _list(kubeconfig: Path | None, context: str | None) -> tuple[Profile, ...]:
    from suture.adapters.kube import KubeClient
    from suture.app.operators import profiles_of

    async with KubeClient.from_kubeconfig(kubeconfig, context) as client:
        return await profiles_of(client)
