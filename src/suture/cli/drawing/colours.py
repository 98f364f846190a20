"""Colours by family of kinds, for light and dark, as one style sheet.

A box says in letters what its colour says: no meaning hangs on colour alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from suture.cli.drawing.lettering import FAMILY
from suture.model.names import Resource


class Family(StrEnum):
    """Kinds that belong together, in the order of the legend."""

    WORKLOAD = "workload"
    NETWORK = "network"
    CONFIG = "config"
    STORAGE = "storage"
    ACCESS = "access"
    API = "api"
    CLUSTER = "cluster"
    CUSTOM = "custom"


GROUPS: Mapping[str, Family] = {
    "apps": Family.WORKLOAD,
    "batch": Family.WORKLOAD,
    "autoscaling": Family.WORKLOAD,
    "policy": Family.WORKLOAD,
    "keda.sh": Family.WORKLOAD,
    "discovery.k8s.io": Family.NETWORK,
    "networking.k8s.io": Family.NETWORK,
    "gateway.networking.k8s.io": Family.NETWORK,
    "storage.k8s.io": Family.STORAGE,
    "snapshot.storage.k8s.io": Family.STORAGE,
    "rbac.authorization.k8s.io": Family.ACCESS,
    "apiextensions.k8s.io": Family.API,
    "apiregistration.k8s.io": Family.API,
    "admissionregistration.k8s.io": Family.API,
    "coordination.k8s.io": Family.CLUSTER,
    "node.k8s.io": Family.CLUSTER,
    "scheduling.k8s.io": Family.CLUSTER,
}
CORE: Mapping[str, Family] = {
    "pods": Family.WORKLOAD,
    "replicationcontrollers": Family.WORKLOAD,
    "services": Family.NETWORK,
    "endpoints": Family.NETWORK,
    "configmaps": Family.CONFIG,
    "secrets": Family.CONFIG,
    "persistentvolumes": Family.STORAGE,
    "persistentvolumeclaims": Family.STORAGE,
    "serviceaccounts": Family.ACCESS,
}

LIGHT: Mapping[str, str] = {
    Family.WORKLOAD: "#2563eb",
    Family.NETWORK: "#7c3aed",
    Family.CONFIG: "#b45309",
    Family.STORAGE: "#047857",
    Family.ACCESS: "#be185d",
    Family.API: "#0e7490",
    Family.CLUSTER: "#475569",
    Family.CUSTOM: "#4d7c0f",
    "paper": "#f8fafc",
    "card": "#ffffff",
    "ink": "#0f172a",
    "quiet": "#5b6b80",
    "rule": "#cbd5e1",
    "edge": "#94a3b8",
    "bar": "#e2e8f0",
    "good": "#16a34a",
    "alarm": "#dc2626",
    "doubt": "#a16207",
}
DARK: Mapping[str, str] = {
    Family.WORKLOAD: "#6ea8fe",
    Family.NETWORK: "#b197fc",
    Family.CONFIG: "#f0b445",
    Family.STORAGE: "#3ecf9b",
    Family.ACCESS: "#f783ac",
    Family.API: "#3bc9db",
    Family.CLUSTER: "#a3b1c6",
    Family.CUSTOM: "#a9d34f",
    "paper": "#0d1117",
    "card": "#161b22",
    "ink": "#e6edf3",
    "quiet": "#9aa7b5",
    "rule": "#343d49",
    "edge": "#606c7a",
    "bar": "#2b333d",
    "good": "#3fb950",
    "alarm": "#ff7b72",
    "doubt": "#e3b341",
}


def family(resource: Resource) -> Family:
    """Return the family that a type belongs to; what is not built in is custom."""
    if not resource.group:
        return CORE.get(resource.plural, Family.CLUSTER)
    return GROUPS.get(resource.group, Family.CUSTOM)


def style(*, theme: str = "") -> str:
    """Return the style sheet: light, and dark where the reader's system is.

    WHY no variables: several programs that show SVG know none. With `theme`, an attribute of the
    root element that a page may set to `light` or `dark`, that choice goes first.
    """
    parts = [_FIXED, _rules(LIGHT, "")]
    dark = _rules(DARK, f":root:not([{theme}=light]) " if theme else "svg ")
    parts.append(f"@media (prefers-color-scheme: dark) {{\n{dark}}}\n")
    if theme:
        parts.append(_rules(DARK, f":root[{theme}=dark] "))
    return "".join(parts)


_FIXED = f"""text {{ font-family: {FAMILY}; }}
.h1 {{ font-size: 20px; font-weight: 700; }}
.h2 {{ font-size: 12px; }}
.side {{ font-size: 12px; font-weight: 600; letter-spacing: 0.4px; }}
.caption {{ font-size: 11px; font-weight: 700; }}
.place {{ font-size: 11px; }}
.name {{ font-size: 13px; font-weight: 700; }}
.state {{ font-size: 11px; }}
.label {{ font-size: 10.5px; }}
.pill {{ font-size: 9.5px; font-weight: 700; }}
.legend {{ font-size: 11px; }}
.card {{ stroke-width: 1.2; }}
.centre .card {{ stroke-width: 2.4; }}
.missing .card {{ stroke-width: 1.6; stroke-dasharray: 6 4; }}
.unknown .card {{ stroke-width: 1.4; stroke-dasharray: 2 3; }}
.route {{ fill: none; stroke-width: 1.4; }}
.route.alarm, .route.mild {{ stroke-dasharray: 6 4; }}
"""


def _rules(palette: Mapping[str, str], scope: str) -> str:
    """Return what depends on light and dark, each selector below `scope`."""
    paper, card, ink, quiet = palette["paper"], palette["card"], palette["ink"], palette["quiet"]
    rules = {
        ".paper": f"fill: {paper}",
        ".card": f"fill: {card}; stroke: {palette['rule']}",
        "text": f"fill: {ink}",
        "text.quiet, text.place, text.state, text.label": f"fill: {quiet}",
        ".label": f"paint-order: stroke; stroke: {paper}; stroke-width: 3px",
        ".route": f"stroke: {palette['edge']}",
        ".arrow": f"fill: {palette['edge']}; stroke: none",
        ".route.alarm": f"stroke: {palette['alarm']}",
        ".arrow.alarm": f"fill: {palette['alarm']}",
        ".route.mild": f"stroke: {palette['doubt']}",
        ".arrow.mild": f"fill: {palette['doubt']}",
        ".track": f"fill: {palette['bar']}",
        ".share": f"fill: {palette['good']}",
        "text.pilled": f"fill: {card}",
        "text.bad, text.gone": f"fill: {palette['alarm']}",
        "text.doubt": f"fill: {palette['doubt']}",
        ".lost": f"fill: {palette['alarm']}",
    }
    for one in Family:
        rules[f".{one} .stripe, .{one}.stripe"] = f"fill: {palette[one]}"
        rules[f".{one} .caption"] = f"fill: {palette[one]}"
        rules[f".{one}.centre .card"] = f"stroke: {palette[one]}"
    rules[".missing .card"] = f"stroke: {palette['alarm']}"
    rules[".unknown .card, .missing.mild .card"] = f"stroke: {palette['doubt']}"
    return "".join(
        f"{', '.join(f'{scope}{part.strip()}' for part in parts.split(','))} {{ {text}; }}\n"
        for parts, text in rules.items()
    )
