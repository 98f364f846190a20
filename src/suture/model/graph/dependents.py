"""Everything that is owned: by many objects a level at a time, by a single one object by object.

A namespace takes 5,000 objects along, a definition 70,000; asked one by one each costs
microseconds. a column is read at many rows in one call, which is thirty times less.
Of a Deployment with its ReplicaSet and three pods the making of each level would cost more than
all that is in it: those are walked.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, compress
from typing import Final

from suture.model.graph.reading import Readable
from suture.model.graph.rows import POD_CLASS

FEW: Final = 64
"""LIMIT: owners walked one by one, about where a level at a time begins to cost less."""


def owned_alone(
    graph: Readable, root: int, *, leaving: int, with_content: frozenset[int]
) -> list[int] | None:
    """Return all that goes with an object by its owners, where that is simple; None where not.

    Simple: at most FEW of them own anything, none has an owner beside, is in a place of
    `with_content`, or is in no namespace. What has a flag of `leaving` is gone.
    INVARIANT: each row once: what has one owner is met through that one alone.
    """
    owners, rows = graph.owners, graph.rows_of
    heads, following, source = owners.in_head, owners.in_next, owners.source
    first, further = owners.out_head, owners.out_next
    flags, place = rows.flags, rows.place
    spaces = graph.places.namespace
    found: list[int] = []
    queue = [root]
    for row in queue:
        if place[row] in with_content or len(queue) > FEW:
            return None
        link = heads[row]
        while link >= 0:
            one = source[link]
            if further[first[one]] >= 0 or one == root:
                return None
            if flags[one] & POD_CLASS:
                pods = graph.pods_of_class(one)
                if max(heads.at(pods)) >= 0:
                    return None
                found += [pod for pod in pods if not flags[pod] & leaving] if leaving else pods
            elif not flags[one] & leaving:
                if not spaces[place[one]]:
                    return None
                found.append(one)
                if heads[one] >= 0 or place[one] in with_content:
                    queue.append(one)
            link = following[link]
    return found


def dependents(graph: Readable, rows: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return what the objects in some rows own: by them alone, and together with other owners.

    Each row once; pods for their classes.
    """
    owners = graph.owners
    sources: list[int] = []
    links = _links(owners.in_head.at(rows))
    while links:
        sources += owners.source.at(links)
        links = _links(owners.in_next.at(links))
    if not sources:
        return [], []
    sources = list(dict.fromkeys(sources))
    further = owners.out_next.at(owners.out_head.at(sources))
    if max(further) < 0:
        return _objects(graph, sources), []
    alone = [link < 0 for link in further]
    shared = compress(sources, (not one for one in alone))
    return _objects(graph, list(compress(sources, alone))), _objects(graph, list(shared))


def _objects(graph: Readable, rows: list[int]) -> list[int]:
    """Return rows with the pods of each class in its place."""
    if not rows:
        return rows
    flags = graph.rows_of.flags.at(rows)
    # INVARIANT: POD_CLASS is above every flag of an object, and nothing else has an owner.
    if max(flags) < POD_CLASS:
        return rows
    of_pods = [one & POD_CLASS for one in flags]
    pods = chain.from_iterable(map(graph.pods_of_class, compress(rows, of_pods)))
    return [*compress(rows, (not one for one in of_pods)), *pods]


def _links(found: list[int]) -> Sequence[int]:
    if not found or max(found) < 0:
        return ()
    return found if min(found) >= 0 else [link for link in found if link >= 0]
