"""How a figure grows with the cluster: what one scale costs, in times of what a smaller one did.

Apart from the benchmarks, each of which knows one scale.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from suture.bench.measure import Figure, Report
from suture.bench.model import GROWING


def grown(earlier: Sequence[Report], report: Report) -> Report:
    """Return a report that also tells how its small questions grew since the first scale of a run.

    Of other benchmarks, and where there is no smaller scale, the report as it is.
    """
    if not earlier:
        return report
    first = {figure.name: figure for figure in earlier[0].figures}
    more = []
    for figure in report.figures:
        name, _, part = figure.name.partition(".")
        before = first.get(figure.name)
        if name in GROWING and part == "median" and before is not None:
            more.append(
                Figure(
                    f"growth.{name.removesuffix('_us')}",
                    f"times {earlier[0].scale}",
                    figure.median / before.median,
                    figure.low / before.high,
                    figure.high / before.low,
                )
            )
    return msgspec.structs.replace(report, figures=(*report.figures, *more))
