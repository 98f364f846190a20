"""Where made clusters are kept as pages, so that each is made once: a folder in the cache.

Apart from `pages`, which writes into any folder; here is which one, and that two who want the
same cluster at a time make it once.
"""

from __future__ import annotations

import fcntl
from pathlib import Path

from suture.errors import InputError
from suture.lab.clusters.cluster import GENERATOR, Cluster
from suture.lab.clusters.pages import INDEX, Told, write_pages
from suture.lab.clusters.size import SCALES, Size
from suture.lab.folder import cache_folder


class ScaleError(InputError):
    """No size has that name."""

    code = "scale_unknown"


def size_of(scale: str) -> Size:
    """Return the size of a name. Errors: ScaleError."""
    found = SCALES.get(scale)
    if found is None:
        raise ScaleError(f"scale `{scale}` is unknown; take one of {', '.join(SCALES)}")
    return found


def cluster_folder(scale: str, seed: int) -> Path:
    """Return where the pages of a cluster are kept."""
    return cache_folder() / "clusters" / f"{scale}-{seed}-{GENERATOR}"


def cluster_pages(
    scale: str, seed: int, *, told: Told = lambda _resource, _count, _size: None
) -> Path:
    """Return the folder with a cluster's pages, made if they are not there yet.

    Errors: ScaleError, and those of `write_pages`.
    """
    size, folder = size_of(scale), cluster_folder(scale, seed)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / INDEX).exists():
            write_pages(Cluster(size, seed=seed), folder, told=told)
    return folder
