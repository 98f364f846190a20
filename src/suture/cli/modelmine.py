"""`suture model mine`: fields that keep naming objects which exist, as rules to be applied."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.markup import escape

from suture.cli.options import CLUSTER, From
from suture.cli.terminal import Console
from suture.errors import InputError

if TYPE_CHECKING:
    from suture.app.prospect import Prospected
    from suture.model.mining import Mined, Proposal

NOTES = 5
"""LIMIT: notes shown; the rest is counted."""

ANNOTATIONS = "mined.suture.dev"
"""Under which the evidence stands in a proposed rule."""


def mine(
    *,
    source: From = None,
    kubeconfig: Path | None = None,
    context: str | None = None,
    min_support: int = 5,
    min_confidence: float = 0.9,
    output: Literal["table", "yaml", "json"] = "table",
) -> int:
    """Propose ReferenceRules: fields whose values keep naming objects that exist.

    Whole bodies are read, once, and nothing of them is kept; of Secrets and ConfigMaps only the
    names. What built-in edges and the schemas of definitions tell already is not proposed again.
    Without `--from` the live cluster is listed. Read what is proposed before you apply it:
    `suture model mine --output yaml > rules.yaml`.

    Exit status: 0 looked through, 2 bad input, 3 the cluster cannot be reached.

    Parameters
    ----------
    source:
        A folder of manifests, a file of manifests or of `kubectl get -A -o json` output, or `-`
        for standard input.
    kubeconfig, context:
        Which cluster, as kubectl would choose it.
    min_support:
        How many objects must have the field.
    min_confidence:
        Which share of its different values must name an existing object, above 0 and at most 1.
    output:
        `table` for people, `yaml` to be applied, `json` for programs.
    """
    if min_support < 1:
        raise InputError(f"`--min-support {min_support}` must be 1 or more")
    if not 0 < min_confidence <= 1:
        raise InputError(f"`--min-confidence {min_confidence:g}` must be above 0 and at most 1")
    with _progress() as say:
        if source in (None, CLUSTER):
            found = asyncio.run(_listed(kubeconfig, context, say, min_support, min_confidence))
        else:
            found = _read(source, say, min_support, min_confidence)
    _tell(found)
    if not found.mined.objects:
        raise InputError(f"`{source or 'the cluster'}` holds no object that can be read")
    _PRINTED[output](found.mined)
    return 0


def _read(source: str, say: Say, support: int, confidence: float) -> Prospected:
    from suture.adapters.sources import texts
    from suture.app.prospect import Prospector

    prospector = Prospector(say)
    for text, place in texts(source):
        prospector.add(text, place)
    return prospector.finish(support=support, confidence=confidence)


async def _listed(
    kubeconfig: Path | None, context: str | None, say: Say, support: int, confidence: float
) -> Prospected:
    from suture.adapters.kube import KubeClient
    from suture.app.prospect import Prospector

    prospector = Prospector(say)
    async with KubeClient.from_kubeconfig(kubeconfig, context) as client:
        await prospector.survey(client)
    return prospector.finish(support=support, confidence=confidence)


Say = Callable[[int, str], None]


@contextmanager
def _progress() -> Iterator[Say]:
    """Show on standard error how far it is, for people only; it leaves no trace."""
    console = Console(stderr=True)
    with console.status("reading") as status:
        yield lambda count, place: status.update(f"{count:,} objects, {escape(place)}")


def _tell(found: Prospected) -> None:
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    for note in found.notes[:NOTES]:
        console.print(f"[yellow]{escape(note)}[/]")
    if len(found.notes) > NOTES:
        console.print(f"[yellow]and {len(found.notes) - NOTES:,} more notes[/]")
    for kind in found.mined.left_out:
        console.print(f"[yellow]too many to be looked for by name: {escape(str(kind))}[/]")


def _table(mined: Mined) -> None:
    from rich.table import Table

    console = Console(highlight=False)
    looked = f"{mined.objects:,} objects of {mined.kinds} kinds"
    if not mined.proposals:
        console.print(f"nothing to propose, in {looked}")
        return
    table = Table(box=None, pad_edge=False)
    for column in ("from", "field", "names"):
        table.add_column(column, overflow="fold")
    for column in ("objects", "values", "confidence", "lift"):
        table.add_column(column, justify="right")
    for one in mined.proposals:
        also = "".join(f"\n[dim]or {escape(str(kind))}[/]" for kind in one.also)
        table.add_row(
            escape(str(one.of)),
            escape(str(one.says.field)),
            f"{escape(str(one.says.to))}{also}",
            f"{one.support:,}",
            f"{one.distinct:,}",
            f"{one.confidence:.1%}",
            f"{one.lift:,.0f}×",
        )
    console.print(table)
    console.print(
        f"\n{len(mined.proposals)} proposed, in {looked}\n"
        "[dim]→ suture model mine --output yaml > rules.yaml, read it, kubectl apply -f it[/]"
    )


def _yaml(mined: Mined) -> None:
    import yaml

    print(yaml.safe_dump_all(map(_document, mined.proposals), sort_keys=False, width=100), end="")


def _json(mined: Mined) -> None:
    import msgspec

    told = {
        "objects": mined.objects,
        "kinds": mined.kinds,
        "leftOut": [str(kind) for kind in mined.left_out],
        "proposals": [
            {
                "support": one.support,
                "distinct": one.distinct,
                "confidence": round(one.confidence, 4),
                "lift": round(one.lift, 1),
                "also": [str(kind) for kind in one.also],
                "rule": _document(one, evidence=False),
            }
            for one in mined.proposals
        ],
    }
    print(msgspec.json.encode(told).decode())


_PRINTED: Mapping[str, Callable[[Mined], None]] = {"table": _table, "yaml": _yaml, "json": _json}


def _document(one: Proposal, *, evidence: bool = True) -> dict[str, Any]:
    from suture.model.ruleformat import rule_document

    told = {
        "support": f"{one.support}",
        "distinct": f"{one.distinct}",
        "confidence": f"{one.confidence:.4f}",
        "lift": f"{one.lift:.1f}",
        **({"also": ", ".join(map(str, one.also))} if one.also else {}),
    }
    annotations = {f"{ANNOTATIONS}/{key}": value for key, value in told.items()}
    return rule_document(one.rule, annotations if evidence else None)
