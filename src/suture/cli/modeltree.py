"""The neighbourhood of an object as a tree in the terminal: each box once, where it is nearest."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from suture.cli import modelwords as words
from suture.model.boxes import Box, Line, Neighbourhood, Presence
from suture.model.neighbours import Side

HEADS = {Side.NEEDS: "needs", Side.NEEDED_BY: "is needed by"}
NOTHING = {Side.NEEDS: "needs nothing", Side.NEEDED_BY: "nothing needs it"}
ALERT, DOUBT, QUIET = "red", "yellow", "dim"


def tree(found: Neighbourhood, sides: tuple[Side, ...], *, plain: bool) -> RenderableType:
    """Return the tree, and under it what is not in it. `plain`: no characters beyond ASCII."""
    centre = found.centre
    place = f"{centre.namespace}/" if centre.namespace else ""
    head = Text.assemble((f"{centre.kind} ", "bold"), (f"{place}{centre.names[0]}", "bold cyan"))
    _add_state(head, found, centre)
    root = Tree(head, guide_style=QUIET)
    for side in sides:
        branch = _Branch(found, side, plain=plain)
        count = branch.objects
        if count:
            many = f"  {count:,} object{'' if count == 1 else 's'}"
            branch.grow(root.add(Text.assemble((HEADS[side], "bold"), (many, QUIET))), 0)
        else:
            root.add(Text(NOTHING[side], QUIET))
    if any(box.more for box in found.boxes):
        mark = _mark(plain=plain)
        note = f"{mark} more follows: --depth {found.depth + 1}, or show that object"
        return Group(root, Text(note, QUIET))
    return root


def _mark(*, plain: bool) -> str:
    return "+" if plain else "⋯"


class _Branch:
    """One side of the tree while it grows."""

    def __init__(self, found: Neighbourhood, side: Side, *, plain: bool) -> None:
        self._found = found
        self._side = side
        self._plain = plain
        self._boxes: Mapping[int, Box] = {
            box.number: box for box in found.boxes if box.side is side
        }
        self._shown: set[int] = set()

    @property
    def objects(self) -> int:
        """How many objects there are on this side."""
        return sum(box.count for box in self._boxes.values())

    def grow(self, at: Tree, number: int) -> None:
        """Add what is behind a box; a box that two lead to is shown at the nearer one."""
        met: dict[int, list[Line]] = {}
        for line in self._found.lines:
            near, far = self._ends(line)
            if near == number and (far in self._boxes or far == 0):
                met.setdefault(far, []).append(line)
        depth = self._boxes[number].depth if number else 0
        for far, lines in met.items():
            if far == 0:
                if number in self._boxes:
                    at.add(self._again(self._found.centre, lines))
                continue
            box = self._boxes[far]
            if far in self._shown or box.depth != depth + 1:
                for objects in sorted({line.objects or 0 for line in lines}, reverse=True):
                    same = [line for line in lines if (line.objects or 0) == objects]
                    at.add(self._again(box, same))
                continue
            self._shown.add(far)
            self.grow(at.add(self._line(box, lines)), far)

    def _ends(self, line: Line) -> tuple[int, int]:
        forward = self._side is Side.NEEDS
        return (line.needer, line.needed) if forward else (line.needed, line.needer)

    def _line(self, box: Box, lines: list[Line]) -> Text:
        text = self._edge(lines)
        colour = {Presence.MISSING: ALERT, Presence.UNKNOWN: DOUBT}.get(box.presence, "")
        text.append(self._spelled(words.title(box)), colour)
        if box.namespace and box.namespace != words.home(self._found):
            text.append(f" in {box.namespace}", QUIET)
        listed = words.names(box)
        if listed:
            text.append(f": {self._spelled(listed)}", QUIET)
        read = [keys for line in lines if (keys := words.keys(line))]
        if read:
            text.append(f" [{', '.join(read)}]", "cyan")
        _add_state(text, self._found, box)
        if box.more:
            text.append(f" {_mark(plain=self._plain)}", QUIET)
        return text

    def _again(self, box: Box, lines: list[Line]) -> Text:
        where = "the object itself" if box.number == 0 else "see there"
        arrow = "^" if self._plain else "↑"
        text = self._edge(lines)
        text.append(f"{self._spelled(words.title(box, lines[0].objects))} {arrow} {where}", QUIET)
        return text

    def _edge(self, lines: list[Line]) -> Text:
        said = ", ".join(dict.fromkeys(words.edge(line) for line in lines))
        arrow = ("->" if self._plain else "→") if self._side is Side.NEEDS else (
            "<-" if self._plain else "←"
        )  # fmt: skip
        return Text.assemble((f"{said} {arrow} ", QUIET))

    def _spelled(self, text: str) -> str:
        return text.replace("…", "...") if self._plain else text


def _add_state(text: Text, found: Neighbourhood, box: Box) -> None:
    parts = words.states(found, box)
    if not parts:
        return
    if box.presence is Presence.PRESENT:
        colour = ALERT if words.bad(found, box) else DOUBT if box.condition.terminating else "green"
        told = box.condition.countable or words.share(box) or colour != "green"
        colour = colour if told else QUIET
    else:
        colour = ALERT if box.presence is Presence.MISSING else DOUBT
    text.append("  ")
    text.append(", ".join(parts), colour)
