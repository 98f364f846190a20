"""Layers and order: which column a node stands in, and where in it, so that few edges cross.

Knows nodes and directed edges as numbers, nothing of what they mean. Node 0 is the root.
Source: the usual four steps of a layered drawing (Sugiyama, Tagawa, Toda): break cycles, layer by
longest path, order by barycentre, then place; the last by isotonic regression, which is exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import msgspec

SWEEPS = 12
"""LIMIT: passes over the layers; the order of up to a hundred nodes settles within a few."""

Edge = tuple[int, int]


class Layering(msgspec.Struct, frozen=True):
    """Nodes by layer, in order from the top, and the path that each edge takes.

    Beyond the nodes given there are bends: where an edge passes a layer, it has a place of its own
    there, so that it runs through nothing. `backward` edges close a cycle and are in no path.
    """

    layers: tuple[tuple[int, ...], ...]
    paths: Mapping[Edge, tuple[int, ...]]
    bends: frozenset[int]
    backward: tuple[Edge, ...]


def layered(edges: Sequence[Edge]) -> Layering:
    """Lay out what can be reached from node 0, each node past all that lead to it."""
    forward, backward = _without_cycles(edges)
    level = _levels(forward)
    node = max((max(edge) for edge in edges), default=0) + 1
    layers: list[list[int]] = [[] for _ in range(max(level.values()) + 1)]
    for one in sorted(level):
        layers[level[one]].append(one)
    paths: dict[Edge, tuple[int, ...]] = {}
    bends: set[int] = set()
    for near, far in forward:
        path = [near]
        for between in range(level[near] + 1, level[far]):
            layers[between].append(node)
            bends.add(node)
            path.append(node)
            node += 1
        paths[near, far] = (*path, far)
    steps = [step for path in paths.values() for step in pairwise(path)]
    return Layering(_ordered(layers, steps), paths, frozenset(bends), tuple(backward))


def _without_cycles(edges: Sequence[Edge]) -> tuple[list[Edge], list[Edge]]:
    """Split edges into those that can all run one way, and those that close a cycle."""
    behind: dict[int, list[int]] = {}
    for near, far in dict.fromkeys(edges):
        behind.setdefault(near, []).append(far)
    forward: list[Edge] = []
    backward: list[Edge] = []
    open_, done = {0}, set[int]()
    stack = [(0, iter(behind.get(0, ())))]
    while stack:
        near, rest = stack[-1]
        for far in rest:
            if far in open_:
                backward.append((near, far))
                continue
            forward.append((near, far))
            if far not in done:
                open_.add(far)
                stack.append((far, iter(behind.get(far, ()))))
                break
        else:
            stack.pop()
            open_.discard(near)
            done.add(near)
    return forward, backward


def _levels(forward: Sequence[Edge]) -> dict[int, int]:
    """Return the longest way from the root to each node."""
    level = {0: 0}
    changed = True
    while changed:
        changed = False
        for near, far in forward:
            if near in level and level.get(far, 0) < level[near] + 1:
                level[far] = level[near] + 1
                changed = True
    return level


def _ordered(layers: list[list[int]], steps: Sequence[Edge]) -> tuple[tuple[int, ...], ...]:
    """Return the layers in the order, of all tried, in which the fewest edges cross."""
    near_of, far_of = _ends(steps)
    best, fewest = [list(layer) for layer in layers], _crossings(layers, far_of)
    for sweep in range(SWEEPS):
        outwards = sweep % 2 == 0
        neighbours = near_of if outwards else far_of
        numbers = range(1, len(layers)) if outwards else range(len(layers) - 2, -1, -1)
        for number in numbers:
            other = layers[number - 1] if outwards else layers[number + 1]
            place = {node: at for at, node in enumerate(other)}
            before = {node: at for at, node in enumerate(layers[number])}
            layers[number].sort(
                key=lambda node: (
                    _mean([place[one] for one in neighbours.get(node, ())], before[node]),
                    before[node],
                )
            )
        crossings = _crossings(layers, far_of)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    return tuple(tuple(layer) for layer in best)


def _ends(steps: Sequence[Edge]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    near_of: dict[int, list[int]] = {}
    far_of: dict[int, list[int]] = {}
    for near, far in steps:
        near_of.setdefault(far, []).append(near)
        far_of.setdefault(near, []).append(far)
    return near_of, far_of


def _mean(places: Sequence[float], otherwise: float) -> float:
    return sum(places) / len(places) if places else otherwise


def _crossings(layers: Sequence[Sequence[int]], far_of: Mapping[int, Sequence[int]]) -> int:
    """Count the pairs of steps between two layers that cross."""
    count = 0
    for layer, following in pairwise(layers):
        place = {node: at for at, node in enumerate(following)}
        ends = [place[far] for node in layer for far in sorted(far_of.get(node, ()), key=place.get)]  # type: ignore[arg-type] # all are placed
        count += sum(one > other for at, one in enumerate(ends) for other in ends[at + 1 :])
    return count


def placed(layering: Layering, heights: Mapping[int, float], gap: float) -> dict[int, float]:
    """Return the height of each node's middle; the root's is 0, and more is further down.

    Each node is as near to the mean of its neighbours as the order lets it, `gap` apart.
    """
    steps = [step for path in layering.paths.values() for step in pairwise(path)]
    near_of, far_of = _ends(steps)
    middle: dict[int, float] = {}
    for layer in layering.layers:
        _stack(layer, heights, gap, dict.fromkeys(layer, 0.0), middle)
    last = len(layering.layers) - 1
    for sweep in range(SWEEPS + 1):
        outwards = sweep % 2 == 0
        for number in range(1, last + 1) if outwards else range(last - 1, 0, -1):
            layer = layering.layers[number]
            neighbours = near_of if outwards else far_of
            wanted = {
                node: _mean([middle[one] for one in neighbours.get(node, ())], middle[node])
                for node in layer
            }
            _stack(layer, heights, gap, wanted, middle)
    return middle


def _stack(
    layer: Sequence[int],
    heights: Mapping[int, float],
    gap: float,
    wanted: Mapping[int, float],
    middle: dict[int, float],
) -> None:
    """Place a layer as near to `wanted` as it can be, in the least-squares sense.

    With the room that nodes must keep taken off, what is left is an isotonic regression: runs of
    nodes that want to be in each other's way share the mean of what they want.
    """
    offset, offsets = 0.0, list[float]()
    for at, node in enumerate(layer):
        if at:
            before = layer[at - 1]
            offset += (heights[before] + heights[node]) / 2 + gap
        offsets.append(offset)
    runs: list[tuple[float, int]] = []
    for at, node in enumerate(layer):
        total, count = wanted[node] - offsets[at], 1
        while runs and runs[-1][0] / runs[-1][1] > total / count:
            more, others = runs.pop()
            total, count = total + more, count + others
        runs.append((total, count))
    settled = [total / count for total, count in runs for _ in range(count)]
    for node, place, kept in zip(layer, settled, offsets, strict=True):
        middle[node] = place + kept
