"""A drawing as one HTML page: the same picture, to move, zoom, look into and fold.

Nothing is loaded from anywhere, and the page's own policy forbids it: it can be mailed, kept, and
opened where there is no network.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib import resources

import msgspec

from suture.cli.drawing.colours import DARK, LIGHT
from suture.cli.drawing.lettering import FAMILY
from suture.cli.drawing.placing import Drawing
from suture.cli.drawing.svg import Titles, svg, tooltip

THEME = "data-theme"


def page(drawing: Drawing, titles: Titles) -> str:
    """Write a drawing as an HTML page."""
    script = _script()
    told = [tooltip(one).splitlines() for one in drawing.boxes]
    # WHY: names come from the cluster, and must not end the element that holds them.
    data = msgspec.json.encode(told).decode().replace("<", "\\u003c")
    picture = svg(drawing, titles, theme=THEME)
    return _PAGE.format(
        title=escape(titles.title),
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src '{_digest(script)}'",
        style=_style(),
        svg=picture,
        data=data,
        script=script,
    )


@cache
def _script() -> str:
    """Return the script, as it stands in the page."""
    file = resources.files("suture.cli.drawing") / "page.js"
    return f"\n{file.read_text(encoding='utf-8')}"


def _digest(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest())
    return f"sha256-{digest.decode()}"


def _style() -> str:
    dark = (
        f"@media (prefers-color-scheme: dark) {{ {_colours(DARK, f':root:not([{THEME}=light])')} }}"
    )
    chosen = _colours(DARK, f":root[{THEME}=dark]")
    return "\n".join((_colours(LIGHT, ":root"), dark, chosen, _FIXED))


def _colours(palette: Mapping[str, str], scope: str) -> str:
    names = ("paper", "card", "ink", "quiet", "rule")
    return f"{scope} {{ {' '.join(f'--{name}: {palette[name]};' for name in names)} }}"


_FIXED = f"""
html, body {{ margin: 0; height: 100%; background: var(--paper); color: var(--ink);
  font: 13px {FAMILY}; overflow: hidden; }}
body > svg {{ width: 100vw; height: 100vh; display: block; cursor: grab; touch-action: none; }}
body > svg:active {{ cursor: grabbing; }}
.box {{ cursor: pointer; outline: none; }}
.box:focus-visible .card {{ stroke-width: 3; }}
.away {{ display: none; }}
.folded > .card {{ stroke-width: 2.4; stroke-dasharray: 1 3; stroke-linecap: round; }}
.box, .edge, .label {{ transition: opacity 0.12s; }}
.looking .box:not(.lit), .looking .edge:not(.lit), .looking .label:not(.lit) {{ opacity: 0.22; }}
.looking .edge.lit .route {{ stroke-width: 2.2; }}
#bar {{ position: fixed; right: 16px; top: 16px; display: flex; gap: 6px; align-items: center; }}
#bar button {{ font: inherit; color: var(--ink); background: var(--card); padding: 5px 10px;
  border: 1px solid var(--rule); border-radius: 7px; cursor: pointer; min-width: 30px; }}
#hidden {{ color: var(--quiet); margin-right: 8px; }}
#tip {{ position: fixed; pointer-events: none; max-width: 420px; padding: 9px 12px;
  line-height: 1.5; background: var(--card); border: 1px solid var(--rule); border-radius: 8px;
  box-shadow: 0 6px 24px rgb(0 0 0 / 0.18); overflow-wrap: anywhere; }}
#tip div {{ color: var(--quiet); }}
@media print {{ #bar, #tip {{ display: none; }} }}
"""

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
{svg}<div id="bar"><span id="hidden" role="status"></span>
<button data-do="out" title="smaller (-)">−</button>
<button data-do="in" title="larger (+)">+</button>
<button data-do="fit" title="all of it (0)">fit</button>
<button data-do="fold" title="fold (f); a click on a box folds what is behind">fold</button>
<button data-do="theme" title="light or dark (t)">light/dark</button></div>
<div id="tip" role="tooltip" hidden></div>
<script type="application/json" id="told">{data}</script>
<script>{script}</script>
</body>
</html>
"""
