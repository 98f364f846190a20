"""`suture model`: look at the model of a cluster, at one object and its neighbours or at it all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import cyclopts
import msgspec
from rich.markup import escape

from suture.cli.options import From
from suture.cli.terminal import Console
from suture.errors import InputError

if TYPE_CHECKING:
    from suture.cli.modelsources import Loaded
    from suture.model.boxes import Neighbourhood
    from suture.model.names import ObjectKey
    from suture.model.neighbours import Side

app = cyclopts.App(name="model", help="Look at the model: an object's neighbours, the whole size.")

app.command(
    "suture.cli.modelmine:mine",
    name="mine",
    help="Propose ReferenceRules: fields whose values keep naming objects that exist.",
)


class DrawingError(InputError):
    """A drawing cannot be written where it was asked for."""

    code = "drawing_unwritable"


@app.command
def show(
    thing: str,
    /,
    *,
    namespace: Annotated[str | None, cyclopts.Parameter(name=["--namespace", "-n"])] = None,
    source: From = None,
    kubeconfig: Path | None = None,
    context: str | None = None,
    depth: int | None = None,
    direction: Literal["needs", "needed-by", "both"] = "both",
    html: Path | None = None,
    svg: Path | None = None,
    output: Literal["tree", "json"] = "tree",
) -> int:
    """Show what an object needs and what needs it, as a tree, a drawing, or JSON.

    Alike objects are one line with a count; what is needed and is not there is told in red, what
    cannot be known in yellow. Without `--from` the live cluster is listed once, which takes a
    while where it is large: take a snapshot then, and look at that.
    Exit status: 0 shown, 2 no such object or bad input, 3 the cluster cannot be reached.

    Parameters
    ----------
    thing:
        KIND/NAME, or KIND/NAMESPACE/NAME, the kind as kubectl takes it: `deploy/web`, `svc/web`,
        `certificates.cert-manager.io/web`.
    namespace:
        Where it is; may be left out where only one namespace has such an object.
    source:
        A snapshot, a folder of manifests, the output of `kubectl get -o json`, or `-` for stdin.
    kubeconfig, context:
        Which cluster, as kubectl would choose it.
    depth:
        How many steps to follow each way; 4 unless told.
    direction:
        Which side to show.
    html:
        Write a drawing to this file, as a page to move and fold; it needs no network.
    svg:
        Write a drawing to this file, as a picture.
    output:
        `tree` for people, `json` for programs.
    """
    from suture.cli.modelsources import load
    from suture.model.graph import GraphView
    from suture.model.neighbourhood import DEPTH, neighbourhood
    from suture.model.neighbours import Side

    if depth is not None and depth < 1:
        raise InputError(f"`--depth {depth}` must be 1 or more")
    sides = tuple(Side) if direction == "both" else (Side(direction),)
    kind, slash, name = thing.partition("/")
    if not (kind and slash and name):
        raise InputError(f"`{thing}` must be KIND/NAME, like `deploy/web`")
    loaded = load(source, kubeconfig, context)
    view = GraphView(loaded.graph)
    row = view.find(_find(loaded, kind, name, namespace))
    if row is None:  # pragma: no cover - found a moment ago, and nothing changes it
        raise InputError(f"`{thing}` is gone")
    found = neighbourhood(view, row, loaded.graph.kinds, sides=sides, depth=depth or DEPTH)
    if output == "json":
        print(msgspec.json.encode(_document(loaded, found)).decode())
    else:
        _print(found, sides)
    _draw(loaded, found, html, svg)
    return 0


def _find(loaded: Loaded, kind: str, name: str, namespace: str | None) -> ObjectKey:
    from suture.model.graph import GraphView
    from suture.model.kindnames import kind_in, resolve_object

    graph = loaded.graph
    resource = kind_in(kind, graph)
    keys = (graph.at(row).key for row in graph.rows(resource))
    unknown = GraphView(graph).unknown(resource)
    return resolve_object(resource, name, namespace, keys, unknown=unknown)


def _document(loaded: Loaded, found: Neighbourhood) -> dict[str, object]:
    taken = None if loaded.taken is None else loaded.taken.isoformat(timespec="seconds")
    return {
        "source": loaded.where,
        "taken": taken,
        "depth": found.depth,
        "boxes": found.boxes,
        "lines": found.lines,
    }


def _print(found: Neighbourhood, sides: tuple[Side, ...]) -> None:
    from suture.cli.modeltree import tree

    console = Console()
    console.print(tree(found, sides, plain=console.options.ascii_only), highlight=False)


def _draw(loaded: Loaded, found: Neighbourhood, html: Path | None, svg: Path | None) -> None:
    if html is None and svg is None:
        return
    from suture.cli.drawing.page import page
    from suture.cli.drawing.placing import draw
    from suture.cli.drawing.svg import Titles
    from suture.cli.drawing.svg import svg as picture

    centre = found.centre
    place = f"{centre.namespace}/" if centre.namespace else ""
    count = (
        f"{found.objects:,} object{'' if found.objects == 1 else 's'} within {found.depth} steps"
    )
    titles = Titles(f"{centre.kind} {place}{centre.names[0]}", (*loaded.titles, count))
    drawing = draw(found)
    for path, text in ((html, page), (svg, picture)):
        if path is not None:
            write_drawing(path, text(drawing, titles))


def write_drawing(path: Path, text: str) -> None:
    """Write a drawing to a file, and say so. Errors: DrawingError."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DrawingError(f"`{path}` cannot be written: {error.strerror}") from error
    Console(stderr=True, soft_wrap=True).print(f"drawn: {escape(str(path))}", highlight=False)


@app.command
def stats(
    *,
    source: From = None,
    server: str | None = None,
    kubeconfig: Path | None = None,
    context: str | None = None,
    every: Annotated[bool, cyclopts.Parameter(name="--all", negative=())] = False,
    output: Literal["table", "json"] = "table",
) -> int:
    """Say what the model holds: objects, bytes an object, staleness, by kind.

    Of a source, of a running Suture (`--server`), or else of the live cluster, listed once.
    Exit status: 0 told, 2 bad input, 3 what was asked is away.

    Parameters
    ----------
    source:
        A snapshot, a folder of manifests, the output of `kubectl get -o json`, or `-` for stdin.
    server:
        The health port of a running Suture, like http://127.0.0.1:8080.
    kubeconfig, context:
        Which cluster, as kubectl would choose it.
    every:
        Show every kind, also those of which there is nothing.
    output:
        `table` for people, `json` for programs.
    """
    from suture.cli.modelstatsview import show as view

    if server is not None and source is not None:
        raise InputError("give either --from or --server, not both")
    if server is not None:
        from suture.adapters.servermetrics import server_stats

        found = server_stats(server)
    else:
        from suture.cli.modelmeasure import measured

        found = measured(source, kubeconfig, context)
    if output == "json":
        document = {
            **msgspec.structs.asdict(found),
            "size_bytes": found.size_bytes,
            "bytes_per_object": round(found.bytes_per_object, 1),
        }
        print(msgspec.json.encode(document).decode())
    else:
        view(found, Console(), every=every)
    return 0
