"""A made cluster as lines: one file a kind, one object a line, as tools for streams take it.

Beside `pages`, for those who want objects and no lists.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec

from suture.errors import UnavailableError
from suture.lab.clusters.cluster import Cluster
from suture.lab.clusters.pages import Told, check_space, new_folder
from suture.model.names import Resource

POD_BYTES = 12_000
"""Disk for each pod of a cluster with all that comes with it: 7.4 GB for L."""

TELL_EVERY = 500


class File(msgspec.Struct, frozen=True):
    """What was written of one kind."""

    count: int
    size_bytes: int


def write_ndjson(
    cluster: Cluster, folder: Path, *, told: Told = lambda _resource, _count, _size: None
) -> dict[Resource, File]:
    """Write `pods.ndjson`, `deployments.apps.ndjson` and so on into a new folder, in one step.

    Errors: PagesError where there is something already or nothing can be written,
    UnavailableError where the disk is too small.
    """
    check_space(folder, cluster.size.pods * POD_BYTES)
    beside = new_folder(folder)
    try:
        found = {
            resource: _write(cluster, resource, beside / f"{resource}.ndjson", told)
            for resource in cluster.kinds
        }
        beside.rename(folder)
    except OSError as error:
        raise UnavailableError(
            f"writing into `{beside}` failed: {error}; free some disk"
        ) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return found


def _write(cluster: Cluster, resource: Resource, path: Path, told: Told) -> File:
    count = size = 0
    with path.open("wb") as file:
        for body in cluster.documents(resource):
            size += file.write(body) + file.write(b"\n")
            count += 1
            if count % TELL_EVERY == 0:
                told(resource, count, size)
    told(resource, count, size)
    return File(count, size)
