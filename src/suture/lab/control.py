"""From a lab's user to its supervisor: launch it, wait for it, give it orders, end it.

Lives in the lab between `plane`, which knows what a lab is for, and `supervisor`, which does the
work in a process of its own.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import msgspec

from suture.errors import UnavailableError
from suture.lab import processes
from suture.lab.folder import Folder, State
from suture.lab.progress import Progress, Report
from suture.lab.supervisor import READY_LIMIT_S, SOCKETS_PREFIX, Order, Reply

# LIMIT: a restart waits for readiness inside the supervisor; the rest answers within milliseconds.
ORDER_LIMIT_S = READY_LIMIT_S + 10.0
# LIMIT: SIGKILL to six processes and a few unlinked files.
DOWN_LIMIT_S = 15.0
# LIMIT: the end of a log that fits on a screen.
LOG_TAIL_CHARACTERS = 2000
_POLL_S = 0.02


@dataclass(frozen=True)
class Launched:
    """A supervisor that this process started."""

    process: subprocess.Popen[bytes]
    # The end that keeps an owned lab alive: closed by us, or by the kernel when we end.
    pipe: IO[bytes] | None


def launch(folder: Folder, *, owned: bool) -> Launched:
    """Start the supervisor; an owned one ends when the returned object does."""
    read_end: int | None = None
    pipe: IO[bytes] | None = None
    if owned:
        read_end, write_end = os.pipe()
        pipe = os.fdopen(write_end, "wb")
    try:
        with folder.log("supervisor").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "suture.lab.supervisor", str(folder.root)],
                stdin=subprocess.DEVNULL if read_end is None else read_end,
                stdout=log,
                stderr=log,
                # WHY: a Ctrl-C in the caller's terminal must not end it half-way; `down` and the
                # owner's pipe do.
                start_new_session=True,
                cwd="/",
            )
    finally:
        if read_end is not None:
            os.close(read_end)
    return Launched(process, pipe)


def await_ready(folder: Folder, launched: Launched, report: Report) -> None:
    """Wait until the lab is ready, saying what it does meanwhile."""
    # WHY: the supervisor gives up first and says why; the rest is for a machine that stutters.
    deadline = time.monotonic() + READY_LIMIT_S + 5
    said = ""
    while time.monotonic() < deadline:
        state = folder.read_state()
        if state is not None and state.phase == "ready":
            return
        if state is not None and state.phase in ("failed", "stopped"):
            raise UnavailableError(
                f"the lab did not start: {state.message}; logs are in `{folder.logs}`"
            )
        # WHY: one that is not owned detaches itself, and then its starter ends with status 0.
        ended = launched.process.poll() not in (None, 0)
        if ended or (state is not None and not is_running(folder)):
            log = folder.log("supervisor").read_text(errors="replace")
            raise UnavailableError(f"the lab's supervisor ended: {log[-LOG_TAIL_CHARACTERS:]}")
        if state is not None and state.message not in ("", said):
            said = state.message
            report(Progress(said))
        time.sleep(_POLL_S)
    raise UnavailableError(
        f"the lab is not ready after {READY_LIMIT_S:g} s; logs are in `{folder.logs}`"
    )


def is_running(folder: Folder) -> bool:
    """Whether the supervisor of the lab in this folder lives."""
    state = folder.read_state()
    return state is not None and processes.is_alive(state.supervisor.pid, state.supervisor.started)


def send(folder: Folder, sockets: str, order: Order) -> None:
    """Give an order and wait until it is carried out."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(ORDER_LIMIT_S)
            connection.connect(f"{sockets}/control")
            connection.sendall(msgspec.json.encode(order) + b"\n")
            with connection.makefile("rb") as answers:
                line = answers.readline()
    except OSError as error:
        raise UnavailableError(
            f"the lab in `{folder.root}` does not answer ({error}); see `suture lab status`"
        ) from error
    if not line:
        raise UnavailableError(f"the lab in `{folder.root}` ended while asked")
    reply = msgspec.json.decode(line, type=Reply)
    if not reply.ok:
        raise UnavailableError(reply.error)


def end(folder: Folder, launched: Launched | None) -> None:
    """End the supervisor by request, by signal, and what is left of its children."""
    state = folder.read_state()
    if state is not None:
        _end_supervisor(folder, state, launched)
        last = folder.read_state() or state
        for child in last.processes.values():
            processes.end(child.pid, child.started, grace_s=0.0)
        # WHY: a supervisor that was killed could not remove its sockets.
        if Path(last.sockets).name.startswith(SOCKETS_PREFIX):
            shutil.rmtree(last.sockets, ignore_errors=True)
    if launched is None:
        return
    if launched.pipe is not None:
        with contextlib.suppress(OSError):
            launched.pipe.close()
    try:
        launched.process.wait(DOWN_LIMIT_S)
    except subprocess.TimeoutExpired:
        launched.process.kill()
        launched.process.wait(processes.KILL_WAIT_S)


def _end_supervisor(folder: Folder, state: State, launched: Launched | None) -> None:
    supervisor = state.supervisor
    if not processes.is_alive(supervisor.pid, supervisor.started):
        return
    with contextlib.suppress(UnavailableError):
        send(folder, state.sockets, Order(do="down"))
    deadline = time.monotonic() + DOWN_LIMIT_S
    while processes.is_alive(supervisor.pid, supervisor.started) and time.monotonic() < deadline:
        # WHY: a zombie of ours counts as gone, but it has to be collected.
        if launched is not None:
            launched.process.poll()
        time.sleep(_POLL_S)
    processes.end(supervisor.pid, supervisor.started, grace_s=1.0)
