"""`suture demo`: the load-balancer incident without and with Suture, on a bundled cluster.

Thin: `suture.lab.demo` plays, `demoview` draws; here are flags, progress and the exit status.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from suture.cli.terminal import Console

Say = Callable[[str], None]


def demo(
    *,
    seed: int | None = None,
    lab: bool = False,
    output: Literal["table", "json"] = "table",
) -> int:
    """Replay a real incident on a bundled cluster, first without Suture and then with it.

    A load-balancer operator's label selector comes out empty; it lists every Service of a cluster
    of 2,000 nodes and 30,000 pods and deletes each. Needs nothing but Python, and seconds.

    Exit status: 0 Suture held, 1 it did not.

    Parameters
    ----------
    seed:
        Make another cluster of the same size: other names, other numbers, the same incident.
    lab:
        Do it on a real control plane on this machine; the first time its programs are built.
    output:
        Pictures and tables for people, JSON for programs.
    """
    if lab:
        return _on_the_lab(output)
    from suture.lab.clusters.cluster import SEED
    from suture.lab.demo import play

    with _progress() as say:
        played = play(seed=SEED if seed is None else seed, say=say)
    if output == "json":
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(played)).decode())
    else:
        from suture.cli.demoview import show

        show(played, Console())
    return 0 if played.held else 1


@contextmanager
def _progress() -> Iterator[Say]:
    """Show on standard error what is under way: live for people, a line each for logs."""
    console = Console(stderr=True)
    if console.is_terminal:
        with console.status("starting") as live:
            yield live.update
        return
    said = ""

    def line(words: str) -> None:
        # WHY without numbers and kinds: seconds that pass and kinds that are loaded are for people.
        nonlocal said
        step = re.sub(r"[\d.,]+", "", words.partition("cluster: ")[0])
        if step != said:
            said = step
            print(words, file=sys.stderr, flush=True)

    yield line


def _on_the_lab(output: Literal["table", "json"]) -> int:
    from suture.lab.demolab import play_on_the_lab

    with _progress() as say:
        played = play_on_the_lab(say=say)
    if output == "json":
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(played)).decode())
    else:
        from suture.cli.demoview import show_lab

        show_lab(played, Console())
    return 0 if played.held else 1
