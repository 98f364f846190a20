"""Options that several commands have, so that each takes the same of them."""

from __future__ import annotations

from typing import Annotated

import cyclopts

# WHY: `-` is standard input, and no option.
From = Annotated[str | None, cyclopts.Parameter(name="--from", allow_leading_hyphen=True)]
"""Where a model comes from; None: what the command does without, mostly the live cluster."""

CLUSTER = "cluster"
"""The source that is the live cluster."""
