"""How well the model knows each kind, as series: asked for when a scrape comes.

Beside `metrics` because these come and go with the cluster's kinds, and are kept by the mirror.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from suture.app.mirror import Mirror


class ModelSeries(Collector):
    """One mirror's state, read at each scrape."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror

    def describe(self) -> Iterator[Metric]:
        """Return the names without asking the mirror, which may not have begun."""
        yield from self._families().values()

    def collect(self) -> Iterator[Metric]:
        """Return all series."""
        families = self._families()
        ages = [0.0]
        for one in self._mirror.kinds():
            kind = str(one.resource)
            families["objects"].add_metric((kind,), one.objects)
            families["staleness"].add_metric((kind,), one.age_s)
            if one.fresh and math.isfinite(one.age_s):
                ages.append(one.age_s)
            if one.lag_s is not None:
                families["lag"].add_metric((kind,), one.lag_s)
            for what, count in one.counts.items():
                families["watch"].add_metric((kind, what), count)
        families["stalest"].add_metric((), max(ages))
        for (resource, what), count in self._mirror.repairs().items():
            families["repairs"].add_metric((str(resource), what), count)
        yield from families.values()

    def _families(self) -> dict[str, GaugeMetricFamily | CounterMetricFamily]:
        return {
            "objects": GaugeMetricFamily(
                "suture_model_kind_objects", "Objects of a kind in the model.", labels=("kind",)
            ),
            "staleness": GaugeMetricFamily(
                "suture_model_staleness_seconds",
                "Age of what is known of a kind; infinite where nothing is.",
                labels=("kind",),
            ),
            "stalest": GaugeMetricFamily(
                "suture_model_staleness_max_seconds",
                "The greatest age of a kind that decisions rest on, of those that are known.",
                labels=(),
            ),
            "lag": GaugeMetricFamily(
                "suture_model_lag_seconds",
                "Time that a kind's watch took to reach what was read past it.",
                labels=("kind",),
            ),
            "watch": CounterMetricFamily(
                "suture_model_watch",
                "What became of a kind's watch: relists, duplicates, regressions, stalls, audits.",
                labels=("kind", "what"),
            ),
            "repairs": CounterMetricFamily(
                "suture_model_repairs",
                "What was found wrong in the model and put right: missing, stale, extra, relisted.",
                labels=("kind", "what"),
            ),
        }
