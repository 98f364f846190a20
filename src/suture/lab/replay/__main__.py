"""The replay server's own process: `python -m suture.lab.replay`, told what to do on its input.

It ends when its input does, so that it never outlives whoever started it, and when nobody has
been connected for long.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from pathlib import Path

import msgspec

from suture.lab.replay.server import Server
from suture.lab.replay.state import Spec, Started
from suture.lab.replay.store import Store

WATCHDOG_S = 0.5


def main() -> None:
    """Serve until the owner goes, or for as long as somebody is there."""
    spec = msgspec.json.decode(sys.stdin.buffer.readline(), type=Spec)
    server = Server(Store(Path(spec.folder)), spec.token, Path(spec.certificate), Path(spec.key))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.buffer.write(msgspec.json.encode(Started(server.server_address[1])) + b"\n")
    sys.stdout.buffer.flush()
    threading.Thread(target=_end_with_owner, daemon=True).start()
    while spec.idle_s is None or server.idle_s < spec.idle_s:
        time.sleep(WATCHDOG_S)


def _end_with_owner() -> None:
    with contextlib.suppress(OSError):
        sys.stdin.buffer.read()
    # WHY at once: open streams are in the middle of a wait, and nothing is to be saved.
    os._exit(0)


if __name__ == "__main__":
    main()
