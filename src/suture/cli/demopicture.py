"""The README's picture of the demo: `python -m suture.cli.demopicture docs/images/demo.svg`.

Drawn by the same code as the demo itself, so that the picture shows what people will see.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from rich.console import Console, Group

from suture.cli.demoview import above_the_fold
from suture.lab.demo import Demo, play

WIDTH = 84
FONT = "'DejaVu Sans Mono', Menlo, Consolas, monospace"


def picture(played: Demo) -> str:
    """Return the demo's first page as SVG, which needs no font from elsewhere."""
    console = Console(
        record=True,
        width=WIDTH,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
    )
    console.print(Group(*above_the_fold(played, WIDTH, plain=False)), highlight=False)
    drawn = console.export_svg(title="suture demo")
    drawn = re.sub(r"@font-face \{.*?\}\n", "", drawn, flags=re.DOTALL)
    return drawn.replace("Fira Code, monospace", FONT)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture(play()), encoding="utf-8")
