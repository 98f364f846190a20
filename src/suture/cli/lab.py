"""`suture lab`: a real control plane on this machine, up, down and looked at.

Thin: everything is done by `suture.lab`; here are words, tables and exit statuses.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import cyclopts
from rich.markup import escape

from suture.cli.terminal import Console, plain
from suture.errors import ConflictError, InputError, SutureError

if TYPE_CHECKING:
    from suture.lab.folder import AuditLevel, Folder, State
    from suture.lab.plane import Plane
    from suture.lab.progress import Progress

app = cyclopts.App(
    name="lab",
    help="Run a real control plane on this machine: no containers, no root.",
    help_epilogue=(
        "Exit status: 0 done, 1 `status` of a lab that is not ready, 2 the input makes no sense, "
        "3 something needed is away, 4 it is already so."
    ),
)

Output = Literal["table", "json"]
Name = Annotated[str, cyclopts.Parameter(help="Which lab; several may run side by side.")]
Dir = Annotated[
    Path | None,
    cyclopts.Parameter(name="--dir", help="Keep the lab in this folder, not in the cache."),
]

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d)?")
_SECONDS = {None: 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
# LIMIT: where nobody watches live, one line per step and one each half minute is enough.
_QUIET_EVERY_S = 30


@app.command
def up(
    *,
    name: Name = "default",
    dir: Dir = None,  # noqa: A002 - the flag's name
    nodes: int = 3,
    kubernetes_version: str | None = None,
    download: bool = False,
    audit: bool = False,
    audit_level: Literal["Metadata", "Request", "RequestResponse"] = "RequestResponse",
    stop_after: str = "2h",
    output: Output = "table",
) -> int:
    """Start a control plane: etcd, API server, controllers, scheduler and nodes that behave.

    The first time its programs are built with Go, which takes minutes; afterwards it is ready in
    seconds. It runs until `suture lab down`, or until its time is over.

    Parameters
    ----------
    nodes:
        How many Ready nodes it has.
    kubernetes_version:
        Another version than the pinned one, like v1.36.2; its programs are built first.
    download:
        Fetch the official release with checksums where the programs are not there, and do not
        build them.
    audit:
        Write an audit log of all writes.
    audit_level:
        How much of each write the audit log holds.
    stop_after:
        End by itself after this time, like 90s, 30m, 2h or 1d.
    output:
        A table for people or JSON for programs.
    """
    with _errors_as_exit_status():
        from suture.lab import assets
        from suture.lab.plane import Plane

        level: AuditLevel | None = audit_level if audit else None
        with _progress() as report:
            plane = Plane.start(
                name,
                folder=_folder(dir),
                kubernetes_version=kubernetes_version or assets.KUBERNETES_VERSION,
                allow_download=download,
                nodes=_at_least_none("--nodes", nodes),
                audit=level,
                stop_after_s=seconds(stop_after),
                report=report,
            )
        _show(plane, output)
    return 0


@app.command
def guard(
    *,
    name: Name = "default",
    dir: Dir = None,  # noqa: A002 - the flag's name
    authorizer: bool = True,
    policies: Annotated[list[Path] | None, cyclopts.Parameter(negative=())] = None,
) -> int:
    """Install Suture on a running lab and serve it until Ctrl-C; then take it away again.

    The profiles that the lab has stay in force. In another terminal: `suture lab kubeconfig`
    gives KUBECONFIG for `suture status`, `suture operators set`, `suture quarantine`.

    Parameters
    ----------
    authorizer:
        Have the API server ask Suture at authorization too.
    policies:
        Files or folders of templates and constraints; without any, the safety pack.
    """
    import signal
    import threading

    from suture.app.enforce import read_profiles
    from suture.install.profiles import PROFILES_PATH
    from suture.lab.guard import Guard

    with contextlib.closing(_attach(name, dir)) as plane:
        known = plane.admin.request("GET", PROFILES_PATH)
        profiles = read_profiles(known.content)[0] if known.is_success else ()
        suture = Guard(plane, profiles, authorizer=authorizer, policies=tuple(policies or ()))
        over = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: over.set())
        console = Console()
        try:
            suture.install()
            console.print(
                f"suture guards lab `{escape(name)}`; Ctrl-C takes it away", highlight=False
            )
            console.print(f"  export KUBECONFIG={escape(str(plane.kubeconfig()))}", highlight=False)
            console.print(f"  export SUTURE_JOURNAL={escape(str(suture.journal))}", highlight=False)
            over.wait()
        finally:
            suture.uninstall()
    return 0


@app.command
def down(
    *,
    name: Name = "default",
    dir: Dir = None,  # noqa: A002 - the flag's name
    keep: bool = False,
    output: Output = "table",
) -> int:
    """Stop a lab and remove its folder; nothing of it survives.

    Parameters
    ----------
    keep:
        Leave the folder with its logs.
    output:
        A line for people or JSON for programs.
    """
    with _errors_as_exit_status():
        plane = _attach(name, dir)
        ran = plane.is_running()
        plane.down(delete=not keep)
        said = {"name": name, "stopped": ran, "folder": str(plane.folder.root), "removed": not keep}
        _print(
            said,
            f"lab `{name}` is {'stopped' if ran else 'not running'}"
            + (f"; its logs are in {plane.folder.logs}" if keep else " and removed"),
            output,
        )
    return 0


@app.command
def status(
    *,
    name: Name = "default",
    dir: Dir = None,  # noqa: A002 - the flag's name
    output: Output = "table",
) -> int:
    """Say what runs, since when, and where to reach it; status 1 when it is not ready.

    Parameters
    ----------
    output:
        A table for people or JSON for programs.
    """
    with _errors_as_exit_status():
        plane = _attach(name, dir)
        _show(plane, output)
        state = plane.status()
        running = all(process.running for process in state.processes.values())
        return 0 if state.phase == "ready" and running else 1
    return 0  # pragma: no cover - the block above returns or exits


@app.command(name="list")
def list_labs(*, output: Output = "table") -> int:
    """List the labs in the cache, running or not.

    Parameters
    ----------
    output:
        A table for people or JSON for programs.
    """
    with _errors_as_exit_status():
        from suture.lab.folder import Folder, cache_folder
        from suture.lab.plane import Plane

        found = [
            {"name": root.name, "running": Plane(Folder(root)).is_running(), "folder": str(root)}
            for root in sorted((cache_folder() / "labs").glob("*"))
        ]
        lines = [
            f"{lab['name']}: {'running' if lab['running'] else 'stopped'}, {lab['folder']}"
            for lab in found
        ]
        _print(found, "\n".join(lines) or "no labs; start one with `suture lab up`", output)
    return 0


@app.command
def kubeconfig(
    *,
    name: Name = "default",
    dir: Dir = None,  # noqa: A002 - the flag's name
    service_account: str | None = None,
    user: str | None = None,
    group: tuple[str, ...] = (),
    output: Output = "table",
) -> int:
    """Print the path of a kubeconfig: for the administrator, or for anybody you name.

    Use it as `export KUBECONFIG=$(suture lab kubeconfig)`.

    Parameters
    ----------
    service_account:
        Be a service account, written NAMESPACE/NAME; it gets a token for a day.
    user:
        Be a user, by client certificate.
    group:
        A group of that user; may be given several times.
    output:
        The path alone, or JSON.
    """
    with _errors_as_exit_status():
        from suture.lab.identities import ADMIN, Identity, Person, ServiceAccount

        identity: Identity = ADMIN
        if service_account is not None and (user is not None or group):
            raise InputError("give either --service-account or --user with --group, not both")
        if service_account is not None:
            namespace, slash, account = service_account.partition("/")
            if not (namespace and slash and account):
                raise InputError(f"`{service_account}` must be NAMESPACE/NAME")
            identity = ServiceAccount(namespace, account)
        elif user is not None:
            identity = Person(user, group)
        elif group:
            raise InputError("--group needs --user")
        with contextlib.closing(_attach(name, dir)) as plane:
            path = str(plane.kubeconfig(identity))
        _print({"kubeconfig": path}, path, output)
    return 0


@app.command
def build(
    *,
    kubernetes_version: str | None = None,
    download: bool = False,
    output: Output = "table",
) -> int:
    """Get the control plane's programs ready without starting anything.

    Parameters
    ----------
    kubernetes_version:
        Another version than the pinned one, like v1.36.2.
    download:
        Fetch the official release with checksums, and do not build.
    output:
        Lines for people or JSON for programs.
    """
    with _errors_as_exit_status():
        from suture.lab import assets

        with _progress() as report:
            found = assets.find(
                kubernetes_version or assets.KUBERNETES_VERSION,
                allow_download=download,
                report=report,
            )
        programs = {program: str(path) for program, path in found.programs.items()}
        said = {
            "kubernetes_version": found.kubernetes_version,
            "source": found.source,
            "programs": programs,
        }
        lines = [f"Kubernetes {found.kubernetes_version} from {found.source}"]
        lines += [f"  {program}: {path}" for program, path in programs.items()]
        _print(said, "\n".join(lines), output)
    return 0


def seconds(text: str) -> float:
    """Read a time like 90, 90s, 30m, 2h or 1d."""
    found = _DURATION.fullmatch(text.strip())
    if found is None or float(found[1]) <= 0:
        raise InputError(f"`{text}` must be a time like 90s, 30m, 2h or 1d")
    return float(found[1]) * _SECONDS[found[2]]


def _at_least_none(flag: str, number: int) -> int:
    if number < 0:
        raise InputError(f"`{flag} {number}` must be 0 or more")
    return number


def _folder(chosen: Path | None) -> Folder | None:
    from suture.lab.folder import Folder

    return None if chosen is None else Folder(chosen)


def _attach(name: str, chosen: Path | None) -> Plane:
    from suture.lab.plane import Plane

    return Plane.attach(name, folder=_folder(chosen))


def _show(plane: Plane, output: Output) -> None:
    state, spec = plane.status(), plane.folder.read_spec()
    said = {
        "name": spec.name,
        "phase": state.phase,
        "message": state.message,
        "kubernetes_version": spec.kubernetes_version,
        "endpoint": plane.endpoint if state.ports else None,
        "kubeconfig": str(plane.folder.kubeconfigs / "admin.yaml"),
        "folder": str(plane.folder.root),
        "started_at": state.started_at,
        "ready_after_s": state.ready_after_s,
        "stop_after_s": spec.stop_after_s,
        "audit_log": str(plane.audit_log) if spec.audit is not None else None,
        "ports": state.ports,
        "processes": {
            process: {
                "pid": seen.pid,
                "running": seen.running,
                "paused": seen.paused,
                "exit_status": seen.exit_status,
                "revivals": seen.revivals,
                "log": str(plane.folder.log(process)),
            }
            for process, seen in state.processes.items()
        },
    }
    if output == "json":
        _print(said, "", output)
        return
    _print_table(said, state)


def _print_table(said: dict[str, Any], state: State) -> None:
    from rich.table import Table

    console = Console()
    ready = "" if said["ready_after_s"] is None else f", ready after {said['ready_after_s']:g} s"
    console.print(f"lab `{escape(said['name'])}` is {state.phase}{ready}", highlight=False)
    if state.message:
        console.print(f"  {escape(state.message)}", highlight=False)
    table = Table("program", "pid", "state", box=None, pad_edge=False)
    # WHY: a path is there to be copied; it may break a line but must not lose its end.
    table.add_column("log", overflow="fold")
    for program, seen in said["processes"].items():
        word = "paused" if seen["paused"] else "running" if seen["running"] else "ended"
        if seen["revivals"]:
            word += f" (ended by itself {seen['revivals']} times)"
        table.add_row(program, str(seen["pid"] or ""), word, escape(seen["log"]))
    console.print(table)
    if state.phase == "ready":
        print(f"reach it with: export KUBECONFIG={said['kubeconfig']}")


def _print(said: Any, text: str, output: Output) -> None:
    print(json.dumps(said, indent=2) if output == "json" else plain(text))


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[Progress], None]]:
    """Show progress on standard error: live for people, a line now and then for logs."""
    console = Console(stderr=True)
    if console.is_terminal:
        with console.status("starting") as live:
            yield lambda progress: live.update(escape(str(progress)))
        return
    said: tuple[str, int] = ("", -1)

    def line(progress: Progress) -> None:
        nonlocal said
        now = (progress.what, int(progress.elapsed_s) // _QUIET_EVERY_S)
        if now != said:
            said = now
            print(plain(str(progress)), file=sys.stderr, flush=True)

    yield line


@contextlib.contextmanager
def _errors_as_exit_status() -> Iterator[None]:
    """Turn an error into one line on standard error and an exit status."""
    try:
        yield
    except SutureError as error:
        print(plain(f"suture lab: {error}"), file=sys.stderr)
        status = (
            2 if isinstance(error, InputError) else 4 if isinstance(error, ConflictError) else 3
        )
        sys.exit(status)
    except KeyboardInterrupt:
        print("suture lab: interrupted; nothing was left running", file=sys.stderr)
        sys.exit(130)
