"""Ports that no other lab takes: a block of loopback ports per lab, claimed by a file lock.

Lives in the lab because a control plane needs its ports before it starts, and one of them stays
unbound until Suture comes; binding port 0 and letting go would lend it to the next who asks.
"""

from __future__ import annotations

import fcntl
import os
import random
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from suture.errors import UnavailableError

# LIMIT: below Linux's default range of ports for outgoing connections (32768 and up), above the
# ports of common services: 20000 to 31999 in blocks of 16, so 750 labs side by side.
FIRST_PORT = 20_000
BLOCK = 16
BLOCKS = 750

NAMES = (
    "etcd",
    "etcd-peer",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "authorizer",
    "static",
)


@dataclass
class PortBlock:
    """A claimed block; the claim ends with `release` or with the process."""

    first: int
    lock: IO[bytes]

    def by_name(self) -> dict[str, int]:
        """Return the port of each name, and what is left over as `spare-N`."""
        spare = [f"spare-{number}" for number in range(BLOCK - len(NAMES))]
        return {name: self.first + at for at, name in enumerate((*NAMES, *spare))}

    def release(self) -> None:
        """Give the block back."""
        self.lock.close()


def claim() -> PortBlock:
    """Claim a block whose ports are all free now, starting at a random one."""
    folder = Path(tempfile.gettempdir()) / f"suture-ports-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    for number in _from_a_random_one():
        lock = (folder / f"{number}.lock").open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            continue
        first = FIRST_PORT + number * BLOCK
        if all(is_free(first + offset) for offset in range(BLOCK)):
            return PortBlock(first, lock)
        lock.close()
    last = FIRST_PORT + BLOCKS * BLOCK - 1
    raise UnavailableError(
        f"no {BLOCK} neighbouring ports are free on 127.0.0.1 between {FIRST_PORT} and {last}; "
        "stop other labs with `suture lab down`"
    )


def is_free(port: int) -> bool:
    """Whether a server could bind the port on loopback now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _from_a_random_one() -> Iterator[int]:
    # WHY: labs of different users and containers that share a network do not see each other's
    # locks; a random start makes their paths cross seldom.
    start = random.randrange(BLOCKS)  # noqa: S311 - not a secret
    return ((start + step) % BLOCKS for step in range(BLOCKS))
