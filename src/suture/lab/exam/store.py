"""Results on disk, by scenario and column: what has not changed need not run again.

Lives apart from everything that computes. One file per place, beside the scenarios, committed:
what a lab found by hand is what the offline run of every day is compared with.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from suture.errors import InputError
from suture.lab.exam.result import Column, Result
from suture.lab.scenarios.report import PlaceName

FOLDER = "verdicts"


class Results:
    """The results of one place."""

    def __init__(self, folder: Path, place: PlaceName) -> None:
        """Read what is kept beside the scenarios of `folder`; nothing there is no error."""
        self.place: PlaceName = place
        self._path = folder / FOLDER / f"{place}.json"
        self._found: dict[str, Result] = {}
        if self._path.is_file():
            try:
                self._found = msgspec.json.decode(self._path.read_bytes(), type=dict[str, Result])
            except msgspec.MsgspecError as error:
                raise InputError(f"`{self._path}` is not a file of results: {error}") from error

    def get(self, scenario: str, column: Column) -> Result | None:
        """Return what is known of a scenario in a column, however old."""
        return self._found.get(f"{scenario} {column}")

    def put(self, result: Result) -> None:
        """Keep a result, on disk at once: a run of hours may be stopped."""
        self._found[f"{result.scenario} {result.column}"] = result
        self.save()

    def keep(self, scenarios: frozenset[str]) -> None:
        """Forget what is no scenario any more."""
        self._found = {k: one for k, one in self._found.items() if one.scenario in scenarios}
        self.save()

    def save(self) -> None:
        """Write all, one line each, in order: a change of one result is a change of one line."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        lines = [
            f"{msgspec.json.encode(name).decode()}:{msgspec.json.encode(one).decode()}"
            for name, one in sorted(self._found.items())
        ]
        whole = "{\n" + ",\n".join(lines) + "\n}\n"
        beside = self._path.with_suffix(".tmp")
        beside.write_text(whole)
        beside.replace(self._path)
