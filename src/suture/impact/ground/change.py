"""What would differ afterwards: what a request takes away, makes, resizes, rewrites or moves.

Values only, in rows of the graph: they mean nothing once the caller returns to the event loop.
"""

from __future__ import annotations

import msgspec

from suture.model.objects import ClusterObject, Facts


class Resized(msgspec.Struct, frozen=True, gc=False):
    """A workload, or whatever has a scale, whose wanted size changes.

    `asked`: of what keeps the workload, whose controller will then write the size.
    """

    row: int
    before: int
    after: int
    asked: bool = False


class Rewritten(msgspec.Struct, frozen=True, gc=False):
    """An object that stays or is new, and differs in anything that the model reads, or in a part.

    `row` None and `before` None: it is created. `row` None with `before`: the graph has not heard
    of it, the request shows it. `parts` are the parts beside its metadata and status that differ
    (`spec`, `data`), as far as the request shows both bodies.
    """

    row: int | None
    before: ClusterObject | None
    after: ClusterObject
    parts: tuple[str, ...] = ()

    @property
    def facts_before(self) -> Facts | None:
        """What the object said of its kind before; None where it is new too."""
        return self.before.facts if self.before is not None else None


class Change(msgspec.Struct, frozen=True, gc=False):
    """All that would differ, direct and cascaded.

    `direct` are the request's own objects, `cascaded` those that controllers take along; no row
    stands in both. `evicted`: the direct ones go by eviction. `orphaned`: dependents stay, without
    their owner. An update by which its own object goes (no owner is left, or no finalizer) has it
    in `direct` and in `rewritten`. `unready` is a Ready pod that a status says is so no more.
    `doubt` names what the model could not know.
    """

    direct: tuple[int, ...] = ()
    cascaded: tuple[int, ...] = ()
    resized: Resized | None = None
    rewritten: Rewritten | None = None
    evicted: bool = False
    orphaned: bool = False
    unready: int | None = None
    doubt: tuple[str, ...] = ()

    @property
    def removed(self) -> tuple[int, ...]:
        """Every row that would be gone."""
        return self.direct + self.cascaded

    @property
    def created(self) -> ClusterObject | None:
        """The object that is new."""
        made = self.rewritten
        return made.after if made is not None and made.before is None else None

    @property
    def empty(self) -> bool:
        """Whether nothing that the model knows would differ."""
        return (
            not (self.direct or self.cascaded or self.resized or self.rewritten)
            and self.unready is None
        )


NOTHING = Change()
