"""A running Suture's own numbers, read from its metrics: the other end of `adapters.metrics`."""

from __future__ import annotations

from collections.abc import Iterable

import httpx2
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from suture.app.modelstats import KindStats, ModelStats, in_order
from suture.errors import InputError, UnavailableError

TIMEOUT_S = 10.0
"""LIMIT: a scrape of a thousand kinds takes 20 ms; a server that takes longer is in trouble."""

MAX_BYTES = 32 * 1024 * 1024
"""LIMIT: 10,000 kinds, each of three series of 200 bytes, are 6 MB."""

OBJECTS = "suture_model_objects"
KIND_OBJECTS = "suture_model_kind_objects"
STALENESS = "suture_model_staleness_seconds"
RESIDENT = "suture_resident_bytes"


class NoSutureError(InputError):
    """What answers at an address is not a Suture that serves metrics."""

    code = "server_foreign"


def server_stats(url: str) -> ModelStats:
    """Ask the health port of a running Suture. Errors: UnavailableError, NoSutureError."""
    base = url.rstrip("/")
    address = base if base.endswith("/metrics") else f"{base}/metrics"
    text = _read(address)
    try:
        families = {one.name: one for one in text_string_to_metric_families(text)}
    except ValueError as error:
        raise NoSutureError(f"`{address}` answers with no metrics: {error}") from None
    if OBJECTS not in families:
        raise NoSutureError(
            f"`{address}` has no `{OBJECTS}`: give the health port of `suture serve`"
        )
    return ModelStats(
        source=base,
        objects=int(_value(families[OBJECTS])),
        memory={"whole process": int(_value(families[RESIDENT]))} if RESIDENT in families else {},
        kinds=in_order(_kinds(families.get(KIND_OBJECTS), families.get(STALENESS))),
    )


def _read(address: str) -> str:
    try:
        with httpx2.stream("GET", address, timeout=TIMEOUT_S) as answer:
            if answer.status_code != httpx2.codes.OK:
                raise NoSutureError(f"`{address}` answers {answer.status_code}, not metrics")
            body = bytearray()
            for block in answer.iter_bytes():
                body += block
                if len(body) > MAX_BYTES:
                    raise NoSutureError(f"`{address}` answers with more than {MAX_BYTES:,} bytes")
    except httpx2.InvalidURL as error:
        raise InputError(f"`{address}` is no address: {error}") from None
    except httpx2.UnsupportedProtocol:
        raise InputError(f"`{address}` must begin with http:// or https://") from None
    except httpx2.HTTPError as error:
        raise UnavailableError(f"`{address}` does not answer: {error}") from error
    return body.decode(errors="replace")


def _value(family: Metric) -> float:
    return next((sample.value for sample in family.samples), 0.0)


def _by_kind(family: Metric | None) -> dict[str, float]:
    samples: Iterable[tuple[str, float]] = (
        ()
        if family is None
        else ((one.labels.get("kind", ""), one.value) for one in family.samples)
    )
    return {kind: value for kind, value in samples if kind}


def _kinds(objects: Metric | None, staleness: Metric | None) -> list[KindStats]:
    counts, ages = _by_kind(objects), _by_kind(staleness)
    # WHY not infinite: of what was never heard of there is no age.
    return [
        KindStats(
            kind=kind,
            objects=int(counts[kind]) if kind in counts else None,
            listed=ages.get(kind, 0.0) != float("inf"),
            age_s=ages[kind] if ages.get(kind, float("inf")) != float("inf") else None,
        )
        for kind in sorted(counts.keys() | ages.keys())
    ]
