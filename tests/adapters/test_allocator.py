"""Columns that grow leave no holes behind, where the C library can be told so."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from suture.adapters.allocator import MAPPED_BYTES

GROW = """
import sys
from array import array
from pathlib import Path
from suture.adapters.allocator import map_columns

if sys.argv[1] == "mapped":
    assert map_columns()
page = 4096
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * page
del (page_of_a_list := bytearray(30 << 20))[:]
del page_of_a_list
before = resident()
columns = [array("q") for _ in range(16)]
for _ in range(400):
    for column in columns:
        column.frombytes(bytes(8192))
held = sum(len(column) * 8 for column in columns)
print((resident() - before) / held)
"""


def grown(how: str) -> float:
    """Return what sixteen columns take that grow in turn, in times of what they hold."""
    found = subprocess.run(
        [sys.executable, "-c", GROW, how], capture_output=True, text=True, check=True, timeout=60
    )
    return float(found.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is glibc that is told")
def test_mapped_columns_take_what_they_hold() -> None:
    """Little more than their content stays resident, whatever was moved on the way.

    Otherwise a large answer that comes and goes has them moved through the heap as they grow.
    """
    assert grown("mapped") < 1.25 < grown("as it comes")


HOLES = """
from pathlib import Path
from suture.adapters.allocator import give_back, map_columns

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
map_columns()
before = resident()
pages = [bytearray(b"x" * 100_000) for _ in range(400)]
kept = pages[-1]
del pages
held = resident()
assert give_back()
print((resident() - before) / (held - before))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is glibc that is told")
def test_what_is_free_is_given_back() -> None:
    """What loading took below something that stays leaves the process all the same."""
    found = subprocess.run(
        [sys.executable, "-c", HOLES], capture_output=True, text=True, check=True, timeout=60
    )
    assert float(found.stdout) < 0.2


LARGE = """
from array import array
from pathlib import Path
from suture.adapters.allocator import in_large_pages, map_columns

def large_bytes():
    rollup = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in rollup if line.startswith("AnonHugePages")) << 10
map_columns()
columns = [array("q", range(4 << 20)), bytearray(b"x") * (8 << 20)]
before = large_bytes()
done = in_large_pages()
assert not done or large_bytes() - before >= 36 << 20, (before, large_bytes(), done)
columns[1] += b"it can still grow"
assert columns[0] == array("q", range(4 << 20))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it is Linux that is asked")
def test_memory_is_put_into_large_pages() -> None:
    """All of a column but its odd ends is, where the kernel says that it did, and goes on."""
    subprocess.run([sys.executable, "-c", LARGE], check=True, timeout=60)


GIVEN_BACK = """
import mmap
from pathlib import Path
from suture.adapters.allocator import in_large_pages

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
whole, half = 32 << 20, 16 << 20
columns = mmap.mmap(-1, whole, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
columns[:] = b"x" * whole
# Every fourth page of the second half is given back, as holes in a heap are.
for start in range(half, whole, 4 * 4096):
    columns.madvise(mmap.MADV_DONTNEED, start, 4096)
before = resident()
in_large_pages()
print((resident() - before) / half)
assert columns[:half] == b"x" * half
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it is Linux that is asked")
def test_what_was_given_back_is_not_taken_again() -> None:
    """A large page takes all of its 2 MB: one with holes stays in small pages."""
    found = subprocess.run(
        [sys.executable, "-c", GIVEN_BACK], capture_output=True, text=True, check=True, timeout=60
    )
    assert float(found.stdout) < 0.1


def test_what_tls_reads_into_is_not_mapped() -> None:
    """A mapping for each read was a quarter of what a review costs.

    Source: uvloop's sslproto and asyncio's, which read up to 256 KiB at a time.
    """
    assert sys.getsizeof(bytes(256 << 10)) + 4096 < MAPPED_BYTES
