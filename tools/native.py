"""Machine code of Suture's innermost modules, made by mypyc from the same sources, beside them.

    python tools/native.py build     make what is missing or old; says so where there is no compiler
    python tools/native.py remove    leave plain Python
    python tools/native.py fresh     leave plain Python where machine code is older than its source
    python tools/native.py check     exit 1 where machine code is older than its source

Nothing needs it: it is the faster of two equals. Python prefers it, so that it must never be older
than its source: `make` builds it anew, and the tests refuse to start on what is stale. While you
change what is compiled, PLAIN=1 in the environment leaves it out.
"""

from __future__ import annotations

import ast
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
UNITS = ROOT / "tools" / "units.py"
STAMP = SRC / "suture" / "native.sha256"
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")

ROOMS = ("model/graph", "impact")
ALSO = (
    "budget/affording", "budget/sliding", "journal/writing", "judge", "model/covered",
    "model/difference", "model/history", "model/marks", "model/neighbourhood", "model/parts",
    "model/references", "model/stopping", "model/targets", "model/writes", "policy/case",
    "policy/engines/quickcalls", "policy/evaluate", "policy/index", "verdict", "wire/declared",
    "wire/endings", "wire/managedby", "wire/naming", "wire/openfields", "wire/pooled",
    "wire/projections", "wire/said", "wire/trim",
)  # fmt: skip
"""What judging and listing spend their time in, besides the two rooms."""

PLAIN = ("model/graph/check",)
"""What stays Python all the same: the check looks for members in generators, which mypyc cannot."""

READ = ("model", "impact", "budget", "policy", "journal", "wire")
"""The rooms whose types compiled modules may know; the import rules let them into no other."""

STALE = "machine code in src is older than its sources: `make setup`, or `PLAIN=1 make setup`"


def modules() -> list[Path]:
    """Return the sources that are compiled, in order."""
    package = SRC / "suture"
    found = {path for room in ROOMS for path in (package / room).rglob("*.py")}
    found |= {package / f"{name}.py" for name in ALSO}
    found -= {package / f"{name}.py" for name in PLAIN}
    return fit(sorted(path for path in found if path.name != "__init__.py"))


def fit(sources: list[Path]) -> list[Path]:
    """Return the sources whose classes mypyc makes right.

    Of others it would make something else, and without a word: it drops options of classes, takes
    `==` of two structs for `is`, and gives a class with a base in plain Python a layout that the
    garbage collector stumbles over. All three were seen.
    """
    classes = {
        path: [
            node
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ClassDef)
        ]
        for path in sources
    }
    while True:
        ours = {node.name for nodes in classes.values() for node in nodes}
        wrong = [
            path for path, nodes in classes.items() if not all(_right(node, ours) for node in nodes)
        ]
        if not wrong:
            return list(classes)
        for path in wrong:
            del classes[path]


def _right(node: ast.ClassDef, ours: set[str]) -> bool:
    bases = {ast.unparse(base) for base in node.bases}
    return bases <= ours and not (node.keywords or node.decorator_list)


def read_by() -> list[Path]:
    """Return all that compiled modules may import, in order.

    It is more than what is compiled: what a plain class says of its attributes is cast to in
    machine code that reads them.
    """
    package = SRC / "suture"
    rooms = (package / room for room in READ)
    single = {package / f"{name}.py" for name in ("answers", "errors", "judge", "verdict", "world")}
    return sorted(single | {path for room in rooms for path in room.rglob("*.py")})


def digest() -> str:
    """Return what the machine code depends on: sources, Python, compiler of Python."""
    found = hashlib.sha256(f"{sys.version}{SUFFIX}{version('mypy')}".encode())
    found.update("\0".join(str(path.relative_to(SRC)) for path in modules()).encode())
    for path in read_by():
        found.update(path.relative_to(SRC).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def built() -> list[Path]:
    """Return the machine code that is there."""
    return [path for path in SRC.rglob("*.so") if path.name.endswith(SUFFIX)]


def stale() -> bool:
    """Whether there is machine code, and not of these sources."""
    return bool(built()) and (not STAMP.exists() or STAMP.read_text().strip() != digest())


def remove() -> None:
    """Leave plain Python."""
    for path in built():
        path.unlink()
    STAMP.unlink(missing_ok=True)


def build() -> int:
    """Make what is missing or old. Returns an exit status."""
    if os.environ.get("PLAIN"):
        remove()
        return 0
    wanted = digest()
    if built() and not stale():
        return 0
    remove()
    compiler = os.environ.get("CC", "cc")
    if shutil.which(compiler) is None:
        print(f"no C compiler ({compiler}): Suture runs as plain Python, which is slower and equal")
        return 0
    print(f"compiling {len(modules())} modules; minutes, on all cores", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "src"
        shutil.copytree(SRC, copy, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        names = [str(path.relative_to(SRC)) for path in modules()]
        run = subprocess.run(
            [sys.executable, UNITS, f"--config-file={ROOT / 'pyproject.toml'}", *names],
            cwd=copy,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if run.returncode:
            print(run.stdout[-4000:], file=sys.stderr)
            print("not compiled, see above: Suture runs as plain Python, which is slower and equal")
            return 0
        for path in copy.rglob(f"*{SUFFIX}"):
            target = path.relative_to(copy)
            if "build" not in target.parts:
                shutil.copy2(path, SRC / target)
    STAMP.write_text(f"{wanted}\n")
    return 0


def main() -> int:
    """Run the command that was asked for."""
    match sys.argv[1:]:
        case ["build"]:
            return build()
        case ["remove"]:
            remove()
            return 0
        case ["fresh"]:
            if stale():
                remove()
            return 0
        case ["check"]:
            if stale():
                print(STALE)
            return int(stale())
        case _:
            print(__doc__, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main())
