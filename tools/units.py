"""Compiles the modules that it is given, in place: mypyc to C, a unit a module, on all cores.

    python tools/units.py [OPTION OF MYPY ...] MODULE.py ...

`native.py` runs it in a copy of the sources. All modules share one library, within which calls are
direct. One unit of C for all, mypyc's own way, takes a compiler of C far longer, and but one core.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor

from mypyc.build import mypycify
from setuptools import setup
from setuptools.command.build_ext import build_ext


class OnAllCores(build_ext):  # type: ignore[misc] # setuptools has no types
    """Compiles the units of an extension side by side; setuptools does one after the other."""

    def build_extensions(self) -> None:
        """Compile and link every extension."""
        compile_in_turn = self.compiler.compile

        def compile_side_by_side(sources: list[str], **options: object) -> list[str]:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                made = pool.map(lambda source: compile_in_turn([source], **options), sources)
                return [name for names in made for name in names]

        self.compiler.compile = compile_side_by_side
        super().build_extensions()


if __name__ == "__main__":
    setup(
        name="native",
        script_args=["--quiet", "build_ext", "--inplace"],
        cmdclass={"build_ext": OnAllCores},
        ext_modules=mypycify(sys.argv[1:], opt_level="2", debug_level="0", multi_file=True),
    )
