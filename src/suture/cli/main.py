"""The front door: `suture`, its groups of verbs, and what an error looks like.

Verbs live one module a group and are imported only when asked for, so that `--help` is quick.
"""

from __future__ import annotations

import sys

import cyclopts
from rich.console import Console
from rich.markup import escape

from suture import __version__
from suture.errors import ConflictError, InputError, SutureError, UnavailableError

app = cyclopts.App(
    name="suture",
    version=__version__,
    help=(
        "A dynamic permission layer for Kubernetes operators: each write is weighed against a "
        "live model of the whole cluster, and refused, with the reason, when it would break what "
        "must hold."
    ),
)

GROUPS = {
    "lab": "suture.cli.lab:app",
    "scenario": "suture.cli.scenario:app",
    "operators": "suture.cli.operators:app",
    "policies": "suture.cli.policies:app",
    "snapshot": "suture.cli.snapshot:app",
    "demo": "suture.cli.demo:demo",
    "serve": "suture.cli.serve:serve",
    "install": "suture.cli.install:install",
    "status": "suture.cli.status:status",
    "impact": "suture.cli.impact:app",
    "replay": "suture.cli.replay:replay",
    "check": "suture.cli.check:check",
    "verify": "suture.cli.verify:verify",
    "explain": "suture.cli.explain:explain",
    "quarantine": "suture.cli.quarantine:quarantine",
    "grant": "suture.cli.grant:app",
    "release": "suture.cli.quarantine:release",
    "model": "suture.cli.model:app",
    "generate": "suture.cli.generate:generate",
    "bench": "suture.cli.bench:bench",
}
for name, target in GROUPS.items():
    app.command(target, name=name)

EXIT_INPUT = 2
EXIT_UNAVAILABLE = 3
EXIT_CONFLICT = 4


def main() -> None:
    """Run a command. Exit status: its own, or 2 bad input, 3 something away, 4 conflict."""
    try:
        status = app()
    except SutureError as error:
        said = f"[red]error[/red]: {escape(str(error))}"
        Console(stderr=True, soft_wrap=True).print(said, highlight=False)
        sys.exit(exit_status(error))
    sys.exit(status if isinstance(status, int) else 0)


def exit_status(error: SutureError) -> int:
    """Return the exit status of an error, by whose fault it is."""
    match error:
        case InputError():
            return EXIT_INPUT
        case UnavailableError():
            return EXIT_UNAVAILABLE
        case ConflictError():
            return EXIT_CONFLICT
        case _:
            return 70
