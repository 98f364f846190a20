"""The world of one run: what was made for it, and the labels by which it is found again.

Apart from who makes it and who takes it away: both know it by these.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from suture.lab.scenarios.cluster import Object
from suture.wire.discovery import ApiResource

MARK = "lab.suture.dev/scenario"
"""Label of what a scenario made: its value is the scenario's name, as far as a label may go."""

LABEL = 63
"""LIMIT: characters of a label's value. SOURCE: apimachinery, `LabelValueMaxLength`."""

WORLD = "lab.suture.dev/world"
"""Label of a scenario's namespaces: a mark of the manifests that they were made of."""


@dataclass
class World:
    """What was made for a scenario, to be found again and taken away."""

    name: str
    run: str
    digest: str = ""
    """Set where the world may be used again."""
    spaces: list[str] = field(default_factory=list)
    made: list[Object] = field(default_factory=list)
    """Live objects as they were created."""
    left: list[tuple[ApiResource, str, str]] = field(default_factory=list)
    """What steps created where no namespace of the scenario holds it."""

    @property
    def mark(self) -> dict[str, str]:
        """The label of all that is made."""
        return {MARK: self.name[:LABEL].rstrip("-")}
