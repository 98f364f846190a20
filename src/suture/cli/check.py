"""`suture check`: manifests at rest under the policies, for CI, before anything is applied."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import cyclopts

from suture.cli.options import From
from suture.errors import InputError

EXIT_WARNED = 10
EXIT_DENIED = 12
EXIT_INPUT = 2


def check(
    *files: Annotated[str, cyclopts.Parameter(allow_leading_hyphen=True)],
    source: From = None,
    kubeconfig: Path | None = None,
    context: str | None = None,
    namespace: Annotated[str | None, cyclopts.Parameter(name=["--namespace", "-n"])] = None,
    as_: Annotated[str | None, cyclopts.Parameter(name="--as")] = None,
    policies: Annotated[tuple[Path, ...], cyclopts.Parameter(name="--policies")] = (),
    pack: bool = True,
    output: Annotated[
        Literal["table", "json", "sarif", "krm"], cyclopts.Parameter(name=["--output", "-o"])
    ] = "table",
) -> int:
    """Check manifests as if they were applied: `helm template . | suture check -`.

    Without --from each object is judged as new, in the company of the others; with it against that
    cluster: what is there is judged as changed. Constraints say how grave they are at this point by
    `enforcementPoints: {check: ...}`. A KRM ResourceList on standard input is answered with one,
    its findings among the results, as function runners want it.
    Exit status: 0 nothing found, 10 warnings, 12 something would be refused, 2 a document cannot
    be read (the rest is checked), 3 the cluster cannot be reached.

    Parameters
    ----------
    files:
        Manifests, folders of them, or `-` for stdin: plain, rendered by Helm or kustomize, or a KRM
        ResourceList.
    source:
        A snapshot, manifests, `-` for stdin, or `cluster` for the live one.
    kubeconfig, context:
        Which cluster, as kubectl would choose it.
    namespace:
        Where objects belong that name none.
    as_:
        In whose name they would be applied: `NAMESPACE/SERVICEACCOUNT` or a user name.
    policies:
        Files or folders of policies beside the safety pack.
    pack:
        Whether the safety pack is in force; `--no-pack` checks by --policies alone.
    output:
        `table` for people, `json` for programs, `sarif` for code scanning, `krm` for function
        runners (chosen by itself where a ResourceList comes in).
    """
    from suture.cli.checkrun import Checked
    from suture.cli.checkview import show

    if not files:
        raise InputError("nothing to check: name files or folders, or `-`; see --help")
    checked = Checked.of(
        files,
        source=source,
        kubeconfig=kubeconfig,
        context=context,
        namespace=namespace,
        name=as_,
        policies=policies,
        pack=pack,
    )
    show(checked, output)
    if checked.problems:
        return EXIT_INPUT
    if any(one.level == "error" for one in checked.found):
        return EXIT_DENIED
    return EXIT_WARNED if any(one.level == "warning" for one in checked.found) else 0
