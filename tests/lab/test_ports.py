"""No two labs share a port, and each knows its ports by name."""

from __future__ import annotations

import socket

from suture.lab import ports


def test_blocks_do_not_overlap_until_they_are_released() -> None:
    """A claim holds as long as its owner lives, whether or not a port is bound."""
    first, second = ports.claim(), ports.claim()
    try:
        taken = set(first.by_name().values())
        assert not taken & set(second.by_name().values())
        assert len(taken) == ports.BLOCK
        assert set(ports.NAMES) < set(first.by_name())
    finally:
        first.release()
        second.release()


def test_a_port_in_use_is_not_free() -> None:
    """By anybody, lab or not."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert not ports.is_free(listener.getsockname()[1])
