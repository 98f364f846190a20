"""Packs changed lines: `python -m suture.lab.clusters LINES`, where LINES is the readable file.

For whoever changes the bundled cluster; no command of `suture`, since nobody else needs it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from suture.lab.clusters.lines import BUNDLED, pack

if __name__ == "__main__":
    packed = pack(Path(sys.argv[1]).read_bytes())
    target = Path(__file__).parents[1] / "data" / BUNDLED
    target.write_bytes(packed)
    sys.stdout.write(f"{target}: {len(packed)} bytes\n")
