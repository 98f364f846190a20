"""The C library's allocator, told how a model grows: mapped columns, and nothing kept in vain.

glibc raises the size from which it does so, up to 32 MB, with each such block that is given back.
Columns that grow then leave holes behind them in the heap, a quarter of the model's own size, and
are copied as they grow; a mapped block grows in its place and leaves nothing.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from io import FileIO
from pathlib import Path

MMAP_THRESHOLD = -3
"""SOURCE: malloc.h of glibc, M_MMAP_THRESHOLD. Setting it switches off that it moves."""

MAPPED_BYTES = 288 << 10
"""LIMIT: larger blocks are mapped: columns and tables, some hundred of them; what one review needs
is smaller, and is not to cost a call of the kernel. TLS reads into 256 KiB at a time, whatever
comes: mapped, that alone was a quarter of what a review costs."""

MADV_COLLAPSE = 25
"""SOURCE: madvise(2), Linux 6.1: put what is in small pages into large ones, now."""

RESIDENT_SHARE = 0.9
"""LIMIT: of a large page that much is resident already, else it stays in small ones: what was given
back in it would be taken again. At S that was 40 MB of 184, at L 17 bytes an object of 293."""

_ENTRY_BYTES = 8
_TOP = _ENTRY_BYTES - 1 if sys.byteorder == "little" else 0
_ABSENT = bytes(range(128))
"""SOURCE: the kernel's pagemap: the highest bit of a page's entry tells that it is resident."""

MAPPINGS = Path("/proc/self/maps")
PAGEMAP = Path("/proc/self/pagemap")
LARGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")


def map_columns() -> bool:
    """Have large blocks mapped by themselves; tell whether this C library does."""
    mallopt = _function("mallopt")
    return mallopt is not None and bool(mallopt(MMAP_THRESHOLD, MAPPED_BYTES))


def give_back() -> bool:
    """Give back what is free in the heap; tell whether there was anything.

    Once, when the model is loaded: what loading took beside it, a tenth of it, is free by then, and
    the heap shrinks by itself only from its end. Takes some 10 ms.
    """
    trim = _function("malloc_trim")
    return trim is not None and bool(trim(0))


def in_large_pages() -> int:
    """Have this process's memory kept in large pages; return of how many bytes that can be said.

    WHY: a fork copies the tables of all pages; of 650 MB in pages of 4 KB that takes some 16 ms, in
    which no review is answered, of large ones 2 to 4 ms. Takes a second of a core the first time
    and a tenth later, for a thread of its own: it leaves the interpreter to others.
    Nothing where the kernel cannot (Linux before 6.1, or told never to).
    """
    advise = _function("madvise")
    size = _large_page_bytes()
    if advise is None or not size:
        return 0
    done = 0
    with ExitStack() as stack:
        try:
            pagemap = stack.enter_context(PAGEMAP.open("rb", buffering=0))
        except OSError:
            pagemap = None
        for first, last in _own_memory():
            begin, end = -(-first // size) * size, last // size * size
            # A mapping that went meanwhile is no harm: what is there now is put into large pages.
            for start, stop in _resident(pagemap, begin, end, size):
                if not advise(ctypes.c_void_p(start), ctypes.c_size_t(stop - start), MADV_COLLAPSE):
                    done += stop - start
    return done


def _resident(pagemap: FileIO | None, begin: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the runs of large pages, `size` each, from `begin` to `end` that are resident.

    All of it where the kernel does not tell.
    """
    if pagemap is None:
        if end > begin:
            yield begin, end
        return
    small = size // mmap.PAGESIZE
    run = begin
    for start in range(begin, end, size):
        pagemap.seek(start // mmap.PAGESIZE * _ENTRY_BYTES)
        entries = pagemap.read(small * _ENTRY_BYTES)
        # WHY so: a model has a hundred thousand small pages, and reviews wait for the interpreter.
        if len(entries[_TOP::_ENTRY_BYTES].translate(None, _ABSENT)) < RESIDENT_SHARE * small:
            if start > run:
                yield run, start
            run = start + size
    if end > run:
        yield run, end


def _own_memory() -> Iterator[tuple[int, int]]:
    """Yield begin and end of each mapping that is of no file, and can be written."""
    for line in MAPPINGS.read_text().splitlines():
        place, rights, _, _, inode, *name = line.split()
        if rights == "rw-p" and inode == "0" and name in ([], ["[heap]"]):
            first, _, last = place.partition("-")
            yield int(first, 16), int(last, 16)


def _large_page_bytes() -> int:
    """Return how large a large page is; 0 where the kernel knows none."""
    try:
        return int(LARGE_PAGES.read_text())
    except (OSError, ValueError):
        return 0


def _function(name: str) -> Callable[..., int] | None:
    """Return a function of the C library; None of another one, which has ways of its own."""
    try:
        found: Callable[..., int] = getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):
        return None
    return found
