"""A prediction beside what came of it: each line is something that was said wrong.

Pure. A delete that was accepted counts as a removal even while a finalizer holds the object: no
request takes it back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec

from suture.impact.effects import Confidence
from suture.lab.differential.observed import Snapshot
from suture.lab.differential.predicted import Prediction
from suture.model.names import ENDPOINT_SLICES, PODS
from suture.model.objects import ClusterObject

Probes = Mapping[str, bool | None]
"""Whether new pods are blocked, by namespace; None where it cannot be told."""


class Outcome(msgspec.Struct, frozen=True):
    """What came of one case: lines that say what was wrong, the gravest apart."""

    unpredicted: tuple[str, ...] = ()
    """Objects that went and were not said to."""
    wrong: tuple[str, ...] = ()
    """Everything else."""
    owed: Counter[str] = msgspec.field(default_factory=Counter[str])
    """What was said and has not come, because new pods are blocked or a StatefulSet lacks a name:
    how many pods of a workload go (`pods of UID`), and the uids of what goes after them."""

    @property
    def held(self) -> bool:
        """Whether all was as predicted."""
        return not self.unpredicted and not self.wrong


def compare(
    said: Prediction,
    before: Snapshot,
    after: Snapshot,
    probed: tuple[Probes, Probes],
    *,
    refused: bool,
    owed: Counter[str],
) -> Outcome:
    """Return where a prediction and the cluster differ.

    `refused`: the API server answered that a budget forbids it, which then is all that is compared.
    `owed`: what earlier cases of the world have left to come, as soon as it can.
    """
    if refused or said.refused:
        told = "refused and was predicted to be taken", "taken and was predicted to be refused"
        wrongly = () if refused == said.refused else (told[not refused],)
        return Outcome(wrong=wrongly, owed=owed)
    barred = any(probed[0].values()) or any(probed[1].values())
    went = {
        uid: one for uid, one in before.standing.items() if uid not in after.standing
    }  # fmt: skip
    unpredicted = Counter[str]()
    lines: list[str] = []
    for uid, one in went.items():
        if uid in said.removed or uid in owed or _left_by_service(said, one):
            continue
        if one.key.resource == PODS:
            unpredicted[before.maker(one)] += 1
        else:
            lines.append(f"went and was not predicted: {one.key}")
    later = Counter({uid: number for uid, number in owed.items() if uid not in went})
    wrong: list[str] = []
    for uid in sorted(said.removed & before.standing.keys() - went.keys()):
        if (barred and said.restarted) or said.held_up:
            later[uid] = 1
        else:
            wrong.append(f"was predicted to go and stays: {before.standing[uid].key}")
    if len(said.joined) == 1:
        # The pod that joins may be the one too many, whosever it was.
        unpredicted = Counter({before.top(next(iter(said.joined))): unpredicted.total()})
    makers = {*unpredicted, *said.restarted, *(before.top(one) for one in said.resized)}
    for maker in sorted(makers):
        expected, sure = _expected(said, before, maker)
        owing = f"pods of {maker}"
        went_of, due = unpredicted[maker], expected + owed[owing]
        line = f"{went_of} of {before.pods_of(maker)} pods of {before.name(maker)} went"
        if went_of > due:
            lines.append(f"{line}, {due} were predicted")
        elif went_of < expected and sure and not (barred or said.held_up):
            wrong.append(f"{line}, {expected} were predicted")
        stopped = barred or said.held_up or owed[owing] or maker in said.restarted
        later[owing] = due - went_of if stopped else 0
    # LIMIT: where new pods were blocked before, what a controller would bring back stays away; the
    # prediction says that it comes back.
    if not any(probed[0].values()):
        wrong += _endpoints(said, before, after)
        wrong += _probes(said, *probed)
    return Outcome(tuple(lines), tuple(wrong), +later)


def _left_by_service(said: Prediction, one: ClusterObject) -> bool:
    """Whether an object is a slice of a Service that went and left it behind.

    LIMIT: the slice controller takes one that has lost its owner before it hears that the Service
    is gone, now and then; the others stay, and nobody reads either.
    """
    return one.key.resource == ENDPOINT_SLICES and any(
        owner.uid in said.removed for owner in one.owners
    )


def _expected(said: Prediction, before: Snapshot, maker: str) -> tuple[int, bool]:
    """Return how many pods of a workload go, by roll-out or for its size, and whether all must."""
    pods = before.pods_of(maker)
    expected, sure = 0, True
    for workload, size in said.resized.items():
        if before.top(workload) == maker:
            expected = max(0, before.pods_of(workload) - size)
            if workload != maker:
                # WHY any: its Deployment sets the size back, before a pod has gone or after more
                # have come, of which the old ones may be those that go.
                expected, sure = pods, False
    wanted = before.wanted(maker)
    joined = sum(more for uid, more in said.joined.items() if before.top(uid) == maker)
    if joined and wanted is not None:
        # WHY not sure: it adopts by more than labels, as a StatefulSet by names.
        expected, sure = max(expected, pods + joined - wanted), False
    restart = said.restarted.get(maker)
    if restart is not None and not restart.on_delete:
        expected += restart.count
        # WHY: a roll-out waits for pods that never become Ready, and stops half way.
        sure &= restart.healthy
    return expected, sure


def _endpoints(said: Prediction, before: Snapshot, after: Snapshot) -> Iterator[str]:
    """Compare the ready endpoints of each Service that stays, once all is at rest."""
    for uid, had in before.endpoints.items():
        key, effect = before.things[uid].key, said.endpoints.get(uid)
        if effect is not None and effect.before != had:
            yield f"{key} had {had} endpoints, {effect.before} were said"
        if uid not in after.endpoints:
            continue
        # A bounded effect says at most how many, also of those that are likely to come back.
        bounded = effect is not None and effect.confidence is Confidence.BOUNDED
        wanted = had if effect is None or (effect.self_healing and not bounded) else effect.after
        lost, expected = max(0, had - after.endpoints[uid]), max(0, had - wanted)
        # LIMIT: which pod is one too many where another was adopted, and whom it served, is open.
        expected += min(sum(said.joined.values()), had - expected) if lost > expected else 0
        late = _came_late(before, after) if lost < expected else 0
        if lost > expected or (lost + late < expected and not bounded):
            yield f"{key} lost {lost} of {had} endpoints, {expected} were predicted"
        emptied = had > 0 and after.endpoints[uid] == 0
        if emptied != (uid in said.emptied) and not (bounded or said.joined or late):
            yield f"{key} is {'' if emptied else 'not '}empty, and the contrary was predicted"


def _came_late(before: Snapshot, after: Snapshot) -> int:
    """Count the pods that came and had been wanted, and missing, before the write.

    LIMIT: who is refused a pod tries again after ever longer, minutes in the end, also when nothing
    stands in the way any more; what it then makes may serve in place of what was lost.
    """
    late = 0
    for uid in before.standing:
        wanted = before.wanted(uid)
        if wanted is not None and before.top(uid) == uid:
            had = before.pods_of(uid)
            late += max(0, min(wanted, after.pods_of(uid)) - had)
    return late


def _probes(said: Prediction, before: Probes, after: Probes) -> Iterator[str]:
    news = {space for space, one in after.items() if one is not None and before[space] is False}
    if not news:
        return
    blocked = {space for space in news if after[space]}
    if said.blocked is not None and bool(blocked) != said.blocked:
        yield (
            f"new pods are {'' if blocked else 'not '}blocked in {sorted(news)}, "
            "and the contrary was predicted"
        )
