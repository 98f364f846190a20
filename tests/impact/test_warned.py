"""What a dry run hears of an impact: worst first, bounded, and the rest counted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from suture.impact.effects import Effect, ForeignWrite, ObjectsRemoved, Victim
from suture.impact.effects.severity import Severity
from suture.impact.words.graded import severity
from suture.impact.words.telling import told
from suture.impact.words.warned import LINES, warnings_of

TARGET = Victim("", "services", "shop", "checkout")

EFFECTS = st.one_of(
    st.builds(
        lambda name, count, counted, wanted: ObjectsRemoved(
            resource=name, count=count, counted=counted, wanted=wanted
        ),
        st.sampled_from(["services", "pods", "secrets"]),
        st.integers(1, 9),
        st.integers(0, 3),
        st.integers(0, 1),
    ),
    st.builds(
        lambda lives: ForeignWrite(
            target=TARGET, manager="web", by="helm", what="delete", manager_lives=lives, in_use=True
        ),
        st.booleans(),
    ),
)


@given(st.lists(EFFECTS, max_size=3 * LINES))
def test_the_worst_come_first_and_the_rest_is_counted(effects: list[Effect]) -> None:
    """Effects stand by how grave they are, those that are as grave in their own order."""
    ranked = sorted(effects, key=severity, reverse=True)
    lines = warnings_of(effects)
    for line, effect in zip(lines, ranked[:LINES], strict=False):
        assert line.startswith(f"impact, {severity(effect).word}: {told(effect).subject}: ")
    if len(effects) <= LINES:
        assert len(lines) == len(effects)
        return
    notable = sum(severity(effect) >= Severity.NOTABLE for effect in ranked[LINES:])
    assert lines[LINES:] == [
        f"impact: {len(effects) - LINES} more effects, {notable} of them notable or severe"
    ]


def test_no_effects_are_no_warnings() -> None:
    """Who changes nothing of consequence hears nothing."""
    assert warnings_of(()) == []
