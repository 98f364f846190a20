"""Which Python `make` sets up with: the first at hand that was built with its optimizations.

    python3 tools/interpreter.py    print its path; on standard error, why it is not this one

CPython that is built without them (`--enable-optimizations`), as version managers do unless they
are told otherwise, takes a quarter more CPU for everything that Suture does. Distributions build
with them. Runs under any Python 3, since it is asked before one is chosen.
"""

from __future__ import annotations

import json
import subprocess
import sys

OURS = sys.executable
OTHERS = ("/usr/bin/python3", "/usr/local/bin/python3")
"""Where distributions and official images have theirs."""

OLDEST = [3, 11]

ASKED_S = 10.0
"""LIMIT: a Python starts in a tenth of a second; what takes longer is none."""

QUESTIONS = """
import importlib.util, json, os, sys, sysconfig
built = sysconfig.get_config_var("CONFIG_ARGS") or ""
print(json.dumps({
    "version": list(sys.version_info[:2]),
    "optimized": "--enable-optimizations" in built or sys.base_prefix == "/usr",
    "headers": os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")),
    "venv": importlib.util.find_spec("ensurepip") is not None,
}))
"""


def facts(python: str) -> dict[str, object]:
    """Return what a Python says of itself; nothing where there is none."""
    try:
        run = subprocess.run(
            [python, "-c", QUESTIONS], capture_output=True, timeout=ASKED_S, check=True
        )
        found: dict[str, object] = json.loads(run.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}
    return found


def fits(found: dict[str, object]) -> bool:
    """Whether Suture can be set up with a Python of these facts, machine code included."""
    version = found.get("version")
    new_enough = isinstance(version, list) and version >= OLDEST
    return new_enough and bool(found["headers"] and found["venv"])


def chosen(ours: str, others: tuple[str, ...]) -> str:
    """Return `ours`, unless it is slow or too old and one of `others` is neither."""
    mine = facts(ours)
    if fits(mine) and mine["optimized"]:
        return ours
    for other in others:
        found = facts(other)
        if fits(found) and found["optimized"]:
            return other
    return ours


if __name__ == "__main__":
    python = chosen(OURS, OTHERS)
    if python != OURS:
        why = "was built without optimizations" if fits(facts(OURS)) else "does not fit"
        print(f"{OURS} {why}: {python}; PYTHON=python3 keeps it", file=sys.stderr)
    print(python)
