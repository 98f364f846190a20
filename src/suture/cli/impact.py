"""`suture impact`: what a change would do, before anybody makes it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import cyclopts

from suture.cli.options import From
from suture.errors import InputError

if TYPE_CHECKING:
    from suture.cli.impactrun import Run

app = cyclopts.App(
    name="impact",
    help=(
        "Say what a change would do, before it is made: what goes with it, who loses what, what "
        "could not start again, and which policy would refuse it."
    ),
)

EXIT_NOTABLE = 10
EXIT_SEVERE = 11
EXIT_REFUSED = 12

STATUS = """
Exit status: 0 nothing of consequence, 10 something notable, 11 something severe, 12 the policies
would refuse it, 2 bad input (what could be answered is), 3 the cluster cannot be reached.
"""


@cyclopts.Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Common:
    """Options that every question has.

    Parameters
    ----------
    namespace:
        Where it is, as kubectl has it; of manifests, where what names none belongs.
    source:
        A snapshot, a folder of manifests, the output of `kubectl get -A -o json`, `-` for stdin, or
        `cluster`, which is what is asked without it: the live cluster, listed once.
    kubeconfig, context:
        Which cluster, as kubectl would choose it.
    as_:
        In whose name: `NAMESPACE/SERVICEACCOUNT` or a user name. Judged as an enforced operator.
    group:
        Groups of that user; may be given several times.
    server:
        Send what is applied, created, patched or restarted to the live API server as a dry run
        first, so that defaults, other webhooks and mutations are in it. Nothing is changed. A
        delete, a size, an eviction and a cordon have no body to default.
    victims:
        `some` names five of each effect, `all` every one.
    output:
        `table` for people, `json` for programs, `markdown` for a pull request's comment.
    svg, html:
        Draw what goes and who is hit to this file, as a picture or as a page to move and fold.
    policies:
        Files or folders of policies beside the safety pack.
    """

    namespace: Annotated[str | None, cyclopts.Parameter(name=["--namespace", "-n"])] = None
    source: From = None
    kubeconfig: Path | None = None
    context: str | None = None
    as_: Annotated[str | None, cyclopts.Parameter(name="--as")] = None
    group: Annotated[tuple[str, ...], cyclopts.Parameter(name="--as-group")] = ()
    server: Annotated[bool, cyclopts.Parameter(negative=())] = False
    victims: Literal["some", "all"] = "some"
    output: Annotated[
        Literal["table", "json", "markdown"], cyclopts.Parameter(name=["--output", "-o"])
    ] = "table"
    svg: Path | None = None
    html: Path | None = None
    policies: Annotated[tuple[Path, ...], cyclopts.Parameter(name="--policies")] = ()


Files = Annotated[
    tuple[str, ...],
    cyclopts.Parameter(
        name=["--filename", "-f"], help="Manifests; `-` is stdin.", allow_leading_hyphen=True
    ),
]
Kustomization = Annotated[
    Path | None,
    cyclopts.Parameter(name=["--kustomize", "-k"], help="A folder with a kustomization."),
]
Propagation = Annotated[
    Literal["background", "foreground", "orphan"] | None,
    cyclopts.Parameter(name=["--propagation", "--cascade"], help="As kubectl's --cascade."),
]
DEFAULTS = Common()


def _run(common: Common) -> Run:
    from suture.cli.impactrun import Run

    return Run(common)


@app.default
def manifests(
    *, filename: Files = (), kustomize: Kustomization = None, common: Common = DEFAULTS
) -> int:
    """Say what `kubectl apply` of manifests would do: `suture impact -f change.yaml`.

    Each document is a change of its own, in the order of the file; kinds defined in the same file
    are known. What is wrong with one is said by file, line and field, and the rest is answered.
    Exit status: 0 nothing of consequence, 10 notable, 11 severe, 12 the policies would refuse it,
    2 bad input (what could be answered is), 3 the cluster cannot be reached.
    """
    return apply(filename=filename, kustomize=kustomize, common=common)


@app.command
def apply(
    *, filename: Files = (), kustomize: Kustomization = None, common: Common = DEFAULTS
) -> int:
    """Say what `kubectl apply` of manifests would do.

    Exit status: 0 nothing of consequence, 10 notable, 11 severe, 12 refused, 2 bad input, 3 away.
    """
    if not filename and kustomize is None:
        raise InputError("nothing to look at: give -f FILE, -k FOLDER, or a verb; see --help")
    run = _run(common)
    run.apply(filename, kustomize)
    return run.finish()


@app.command
def delete(
    *things: str,
    filename: Files = (),
    selector: Annotated[str | None, cyclopts.Parameter(name=["--selector", "-l"])] = None,
    every: Annotated[bool, cyclopts.Parameter(name="--all", negative=())] = False,
    propagation: Propagation = None,
    common: Common = DEFAULTS,
) -> int:
    """Say what a delete would do: `suture impact delete svc/checkout -n prod`.

    Exit status: 0 nothing of consequence, 10 notable, 11 severe, 12 refused, 2 bad input, 3 away.

    Parameters
    ----------
    things:
        KIND/NAME ..., or KIND NAME ..., or KIND with `--selector` or `--all`.
    selector:
        Those with these labels, as kubectl has it.
    every:
        All of the kind, in the namespace, or everywhere where none is named.
    """
    run = _run(common)
    run.delete(things, filename, selector=selector, every=every, propagation=propagation)
    return run.finish()


@app.command
def scale(*things: str, replicas: int, common: Common = DEFAULTS) -> int:
    """Say what another size would do: `suture impact scale deploy/web --replicas 0 -n shop`.

    Exit status: 0 nothing of consequence, 10 notable, 11 severe, 12 refused, 2 bad input, 3 away.
    """
    if replicas < 0:
        raise InputError(f"`--replicas {replicas}` must be 0 or more")
    run = _run(common)
    run.scale(things, replicas)
    return run.finish()


@app.command
def restart(*things: str, common: Common = DEFAULTS) -> int:
    """Say what `kubectl rollout restart`, or any change of a pod template, would do.

    Exit status: 0 nothing of consequence, 10 notable, 11 severe, 12 refused, 2 bad input, 3 away.
    """
    run = _run(common)
    run.restart(things)
    return run.finish()


@app.command
def patch(
    thing: str,
    /,
    *,
    patch: Annotated[str, cyclopts.Parameter(name=["--patch", "-p"])],
    kind: Annotated[
        Literal["strategic", "merge", "json"], cyclopts.Parameter(name="--type")
    ] = "strategic",
    common: Common = DEFAULTS,
) -> int:
    """Say what a patch would do; needs the object's body: a live cluster, or manifests.

    Exit status: 0 nothing of consequence, 10 notable, 11 severe, 12 refused, 2 bad input, 3 away.
    """
    run = _run(common)
    run.patch(thing, patch, kind)
    return run.finish()


@app.command
def evict(*pods: str, common: Common = DEFAULTS) -> int:
    """Say what the eviction of pods would do.

    Exit status: 0 nothing of consequence, 10 notable, 11 severe, 12 refused, 2 bad input, 3 away.
    """
    run = _run(common)
    run.evict(pods)
    return run.finish()


@app.command
def cordon(*nodes: str, common: Common = DEFAULTS) -> int:
    """Say what closing nodes to new pods would do.

    Exit status: 0 nothing of consequence, 10 notable, 11 severe, 12 refused, 2 bad input, 3 away.
    """
    run = _run(common)
    run.cordon(nodes)
    return run.finish()


@app.command
def drain(*nodes: str, common: Common = DEFAULTS) -> int:
    """Say what draining nodes would do: each is closed, then its pods are evicted, DaemonSets' not.

    Exit status: 0 nothing of consequence, 10 notable, 11 severe, 12 refused, 2 bad input, 3 away.
    """
    run = _run(common)
    run.drain(nodes)
    return run.finish()
