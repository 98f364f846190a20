"""What the command line writes to: standard output for answers, standard error for all else.

Names come from clusters and from files, and may be anything. None of them gives orders to a
terminal, none is taken for markup or an emoji, and none ends a command because an encoding lacks
its characters.
"""

from __future__ import annotations

import codecs
import json
import os
import sys
from collections.abc import Iterable
from io import TextIOWrapper
from typing import NoReturn

from rich import console as rich
from rich.segment import Segment

EXIT_PIPE = 141
"""SOURCE: 128 and SIGPIPE's number, what a shell says of any program that wrote to nobody."""

_OBEYED = (
    # WHY: control characters move the cursor and colour what follows; marks of direction reorder
    # it. SOURCE: Unicode, C0, DEL, C1, and the explicit directional formatting characters.
    *(code for code in range(0x20) if chr(code) not in "\n\t"),
    *range(0x7F, 0xA0),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
)
_SHOWN = {code: f"\\u{code:04x}" for code in _OBEYED}


def plain(text: str) -> str:
    """Return a text in which every character that a terminal would obey is seen as its number."""
    return text.translate(_SHOWN)


class Console(rich.Console):
    """A console for people. Whoever prints markup still escapes the names in it."""

    def __init__(
        self, *, stderr: bool = False, soft_wrap: bool = False, highlight: bool = True
    ) -> None:
        # WHY no emoji: `system:key:reader` is the name of a role.
        super().__init__(stderr=stderr, soft_wrap=soft_wrap, highlight=highlight, emoji=False)

    def render(
        self, renderable: rich.RenderableType, options: rich.ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render text without orders to the terminal; those of rich itself are no text."""
        for part in super().render(renderable, options):
            yield part if part.control else part._replace(text=plain(part.text))

    def on_broken_pipe(self) -> NoReturn:
        """Leave it to `main`, as of any other write."""
        raise BrokenPipeError


def prepare_output() -> None:
    """Write as JSON has it what the encoding of standard output lacks, so that JSON stays JSON."""
    codecs.register_error("suture-escape", _escaped)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="suture-escape")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def log_to_stderr() -> None:
    """Write log lines to standard error: what is on standard output is an answer, often JSON."""
    import structlog

    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.dev.set_exc_info,
            # WHY plain: the richer one shows all local values, whole models and secrets among them.
            structlog.dev.ConsoleRenderer(
                colors=False,
                repr_native_str=True,
                exception_formatter=structlog.dev.plain_traceback,
            ),
        ],
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
    )


def leave_pipe() -> NoReturn:
    """End without a word: whoever read the output has seen enough, as `head` has."""
    # WHY: what was not written would be tried again at the end. SOURCE: Python, "Note on SIGPIPE".
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(EXIT_PIPE)
