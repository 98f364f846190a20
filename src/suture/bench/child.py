"""Benchmarks that need a process of their own: how it is started, told what to do, and heard.

A process of its own because memory and CPU time are counted by process.
"""

from __future__ import annotations

import logging
import subprocess
import sys
from contextlib import suppress
from typing import IO, TypeVar

import msgspec
import structlog

from suture.bench.measure import Setting
from suture.errors import DefectError, UnavailableError

CHILD_S = 1_800.0
"""LIMIT: one run of a child; loading 2 million objects takes a few minutes at most."""

END_S = 10.0
"""LIMIT: for a child to end once its input has."""

T = TypeVar("T")


def start(module: str, setting: Setting, *more: str) -> subprocess.Popen[bytes]:
    """Start a module with a setting as its first argument, and talk to it over its pipes."""
    told = msgspec.json.encode(setting).decode()
    return subprocess.Popen(
        [sys.executable, "-m", module, told, *more],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def ask(module: str, setting: Setting, wanted: type[T], *more: str) -> T:
    """Start a module, wait until it ends, and return what it said last."""
    with start(module, setting, *more) as process:
        try:
            out, _ = process.communicate(timeout=CHILD_S)
        except subprocess.TimeoutExpired as error:
            raise UnavailableError(f"`{module}` was not done within {CHILD_S:g} s") from error
        finally:
            end(process)
    return heard(out, wanted, module.rpartition(".")[2])


def quiet_logs(level: int = logging.WARNING) -> None:
    """Write what goes wrong to standard error; standard output is for what is said."""
    structlog.configure(
        # WHY not as by default: a traceback with colours and locals takes seconds to draw, in
        # which the child would measure nothing else.
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
    )


def pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    """Return where a child hears and where it speaks."""
    if process.stdin is None or process.stdout is None:
        raise DefectError("a child was started without pipes")
    return process.stdin, process.stdout


def end(process: subprocess.Popen[bytes]) -> None:
    """Let a child end, and see to it that it does."""
    with suppress(BrokenPipeError):
        if process.stdin is not None:
            process.stdin.close()
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()


def told() -> Setting:
    """Return the setting that this child was started with."""
    return msgspec.json.decode(sys.argv[1], type=Setting)


def heard(line: bytes, wanted: type[T], who: str) -> T:
    """Read what a child said. Errors: UnavailableError when it has ended without a word."""
    if not line:
        raise UnavailableError(f"the benchmark's {who} ended before its time; its error is above")
    return msgspec.json.decode(line, type=wanted)


def say(value: object) -> None:
    """Say something to the parent: one line of JSON."""
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.buffer.flush()
