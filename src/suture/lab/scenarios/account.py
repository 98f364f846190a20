"""What a run's guard says afterwards: whom it enrolled, what it would refuse, what it allowed.

Lives apart from `suture` and `offline.guard`, the two ways to have Suture for a run: what is read
out of its journal and its budgets is the same for both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from suture.app.ports import Journal
from suture.impact.causes.explained import may_count
from suture.impact.ground.kinds import is_custom
from suture.journal.entry import Entry
from suture.journal.query import RECENT_LIMIT, Wanted
from suture.lab.scenarios.actors import Voice
from suture.lab.scenarios.report import GuardMode
from suture.lab.scenarios.written import Written
from suture.model.actor import CONSEQUENCE_CONTROLLERS, Profile, Stage
from suture.model.clock import Window
from suture.model.names import Resource
from suture.policy.compile import PolicySet
from suture.verdict import Answer


def is_enrolled(voice: Voice) -> bool:
    """Whether an actor of a scenario has a stage that the API server can be asked about.

    WHY not who carries out what others asked for: Suture never refuses them, whatever their
    profile says, and most of what they ask for is not even sent to it.
    """
    if voice.client is None or voice.actor.stage == "none":
        return False
    return voice.user not in CONSEQUENCE_CONTROLLERS


def profile_of(voice: Voice, mode: GuardMode) -> Profile:
    """Return the profile that enrols an actor in its stage; without enforcement all observe."""
    stage = Stage(voice.actor.stage) if mode == "enforce" else Stage.OBSERVE
    name = "".join(char if char.isalnum() else "-" for char in voice.name.lower()).strip("-")
    return Profile(name or "actor", users=(voice.user,), stage=stage)


async def refusals_since(
    journal: Journal, since_utc_s: float, identities: frozenset[str]
) -> list[Entry]:
    """Return what enforcement refused to these identities, or had refused, dry runs left out."""
    found: dict[str, Entry] = {}
    wanted = Wanted(would=Answer.DENY, since_utc_s=since_utc_s, limit=RECENT_LIMIT)
    while True:
        page = await journal.recent(wanted)
        known = len(found)
        found.update((entry.decision, entry) for entry in page)
        if len(page) < RECENT_LIMIT or len(found) == known:
            break
        wanted = msgspec.structs.replace(wanted, until_utc_s=page[-1].utc_s)
    return [
        entry
        for entry in found.values()
        if entry.identity in identities and not entry.asked.dry_run
    ]


def would_refuse(writes: Sequence[Written], refusals: Sequence[Entry]) -> int:
    """Return how many of the writes were refused, or had been."""
    return sum(
        one.outcome == "refused" or any(_about(entry, one) for entry in refusals) for one in writes
    )


def _about(entry: Entry, write: Written) -> bool:
    asked = entry.asked
    return (
        str(asked.key.resource) == write.resource.partition("/")[0]
        and asked.key.namespace == write.namespace
        and (write.verb == "deletecollection" or asked.key.name == write.name)
    )


def bound_of(policies: PolicySet, populations: Mapping[str, int], span_s: float) -> int | None:
    """Return how much of these populations the budgets in force let one actor remove."""
    budgets = policies.budgets
    if not budgets:
        return None
    return sum(
        min(population, *(allowed(one.ref(kind).windows, population, span_s) for one in budgets))
        for kind, population in populations.items()
        # WHY only these: of what no budget counts, the constraints in force allow nothing.
        if may_count(resource := Resource.parse(kind)) or is_custom(resource)
    )


def allowed(windows: Iterable[Window], population: int, span_s: float) -> int:
    """Return the most that all of `windows` let through within `span_s` seconds.

    A window lets its allowance through once in each of its lengths, the one begun included.
    """
    return min(
        window.allowance(population) * (int(span_s // window.seconds) + 1) for window in windows
    )
