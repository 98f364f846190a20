"""Processes that end with their owner: identity by start time, signals, and the child itself.

Lives in the lab because only the lab starts programs. Knows no Kubernetes.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from suture.errors import UnavailableError
from suture.lab.folder import ProcessState

_PR_SET_PDEATHSIG = 1
_STAT_STARTTIME = 21  # proc(5): field 22, counted here from 0
# WHY: found here and not after a fork, where the loader's lock may be held by nobody any more.
_PRCTL = ctypes.CDLL(None).prctl if sys.platform == "linux" else None
# LIMIT: a process that was sent SIGKILL and is still there after this is in the kernel's hands.
KILL_WAIT_S = 5.0


def start_time(pid: int) -> int | None:
    """Return when a process started, in ticks since boot; None when it is gone or a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # WHY: the command name may contain spaces and brackets; fields count from the last bracket.
    fields = stat.rpartition(")")[2].split()
    if fields[0] == "Z":
        return None
    return int(fields[_STAT_STARTTIME - 2])


def is_alive(pid: int | None, started: int | None) -> bool:
    """Whether the very process that was noted still runs, not a later one with its pid."""
    if pid is None or started is None:
        return False
    return start_time(pid) == started


def end(pid: int | None, started: int | None, *, grace_s: float) -> None:
    """End a process that is not our child: SIGTERM, wait, SIGKILL, wait; bounded."""
    for signal_number, wait_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, KILL_WAIT_S)):
        if pid is None or not is_alive(pid, started):
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal_number)
        deadline = time.monotonic() + wait_s
        while time.monotonic() < deadline:
            if not is_alive(pid, started):
                return
            time.sleep(0.02)


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent ends, however it ends (Linux)."""
    if _PRCTL is not None:
        _PRCTL(_PR_SET_PDEATHSIG, signal.SIGKILL)


_STARTER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="starts-processes")
"""WHY a thread that never ends: the kernel takes the thread that started a process for its parent,
and those of callers end before their process does."""


def start_bound(command: Sequence[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a program that is killed when this process ends, however it ends (Linux)."""
    return _STARTER.submit(
        subprocess.Popen, command, stdout=log, stderr=log, preexec_fn=die_with_parent
    ).result()


@dataclass
class Child:
    """One program under the supervisor, with its log."""

    name: str
    argv: Sequence[str]
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    process: asyncio.subprocess.Process | None = None
    started: int | None = None
    paused: bool = False
    wanted: bool = False
    """Whether it should be running: it was started, and nobody ended it."""
    revivals: int = 0
    """How often it ended by itself and was started again."""
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def running(self) -> bool:
        """Whether it was started and has not ended."""
        return self.process is not None and self.process.returncode is None

    def state(self) -> ProcessState:
        """Return what is known of it, for the state file."""
        process = self.process
        return ProcessState(
            pid=None if process is None else process.pid,
            started=self.started,
            running=self.running,
            paused=self.paused,
            exit_status=None if process is None else process.returncode,
            revivals=self.revivals,
        )

    async def start(self) -> None:
        """Start it; its output is appended to the log."""
        async with self._changing:
            await self._start()

    async def _start(self) -> None:
        if self.running:
            return
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *self.argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self.environment},
                # WHY: a Ctrl-C in the caller's terminal must not reach the plane's processes.
                start_new_session=True,
                # WHY: safe here: the supervisor's other threads do nothing but wait for children.
                preexec_fn=die_with_parent,
            )
        self.started = start_time(self.process.pid)
        self.paused, self.wanted = False, True

    async def stop(self, *, grace_s: float) -> None:
        """End it: SIGTERM and `grace_s` to comply, then SIGKILL. 0 kills at once."""
        self.wanted = False
        async with self._changing:
            await self._stop(grace_s)

    async def _stop(self, grace_s: float) -> None:
        process = self.process
        if process is None or process.returncode is not None:
            return
        if self.paused:
            self.resume()
        if grace_s > 0:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), grace_s)
                return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        try:
            await asyncio.wait_for(process.wait(), KILL_WAIT_S)
        except TimeoutError:
            raise UnavailableError(
                f"`{self.name}` (pid {process.pid}) did not end {KILL_WAIT_S:g} s after SIGKILL"
            ) from None

    def pause(self) -> None:
        """Freeze it with its sockets open, as a process that hangs."""
        self._signal(signal.SIGSTOP)
        self.paused = True

    def resume(self) -> None:
        """Let a frozen process go on."""
        self._signal(signal.SIGCONT)
        self.paused = False

    def _signal(self, number: signal.Signals) -> None:
        if self.process is None or self.process.returncode is not None:
            raise UnavailableError(f"`{self.name}` is not running; start it with restart")
        self.process.send_signal(number)

    def tail(self, lines: int = 15) -> str:
        """Return the end of its log, for the message of a failed start."""
        try:
            content = self.log.read_bytes()
        except OSError:
            return ""
        return "\n".join(content.decode(errors="replace").splitlines()[-lines:])
