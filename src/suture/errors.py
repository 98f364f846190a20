"""The one error tree, sorted by whose fault it is, then by what the caller can do.

    SutureError
    ├── InputError          you gave us something we cannot read: fix it and come again
    │   ├── DocumentError   … in a document: file, line and field are named
    │   └── ReviewError     … in a webhook's body: the field is named
    ├── UnavailableError    something we need is away: wait, then come again
    ├── ConflictError       the world moved meanwhile: look again, then decide
    ├── DefectError         we are wrong: a bug, reported with what is needed to find it
    └── ApiError            the API server answered, and the answer is no; its own words are kept
        ├── NotFoundError           404: no such object, or no such kind
        ├── ForbiddenError          403: by authorization or by an admission plugin
        ├── GoneError               410: that resourceVersion or page is compacted: list anew
        ├── ApiConflictError        409, a ConflictError too: read again, then write
        │   └── AlreadyExistsError  409: a create found the name taken
        └── ApiUnavailableError     5xx, an UnavailableError too: wait, then come again
            └── TooManyRequestsError 429: overload, or an eviction that a disruption budget holds

A refusal of a write is none of these: it is a `Verdict`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar


class SutureError(Exception):
    """Base of the tree; never raised itself."""

    code = "error"


class InputError(SutureError):
    """What was given cannot be read or makes no sense; exit status 2, HTTP 400."""

    code = "input_invalid"


class DocumentError(InputError):
    """A document is wrong at a place that can be named."""

    code = "document_invalid"

    def __init__(self, source: str, line: int | None, field: str, problem: str) -> None:
        place = source if line is None else f"{source}:{line}"
        at = f" field `{field}`" if field else ""
        super().__init__(f"{place}:{at} {problem}")
        self.source = source
        self.line = line
        self.place = place
        self.field = field
        self.problem = problem


class ReviewError(InputError):
    """The body is not a review that can be judged; HTTP 400, never journaled."""

    code = "review_malformed"

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"review field `{field}` {problem}" if field else f"review {problem}")
        self.field = field
        self.problem = problem


class UnavailableError(SutureError):
    """Something needed is away or too slow; the same call may succeed later."""

    code = "unavailable"


class ConflictError(SutureError):
    """The world changed between looking and acting."""

    code = "conflict"


class DefectError(SutureError):
    """An invariant of ours does not hold: a bug."""

    code = "defect"


class ApiError(SutureError):
    """The API server refused a call: HTTP `status`, its `reason`, and its own `message`."""

    code = "api_refused"

    def __init__(
        self,
        status: int,
        reason: str,
        message: str,
        *,
        call: str = "",
        retry_after_s: float | None = None,
        details: Mapping[str, object] | None = None,
    ) -> None:
        at = f" to `{call}`" if call else ""
        super().__init__(f"the API server answered {status} {reason}{at}: {message}")
        self.status = status
        self.reason = reason
        self.message = message
        self.call = call
        self.retry_after_s = retry_after_s
        self.details: Mapping[str, object] = details or {}


class NotFoundError(ApiError):
    """404: the object, its namespace or its kind does not exist."""

    code = "api_not_found"


class ForbiddenError(ApiError):
    """403: authorization or admission said no; Suture's own refusals arrive as this too."""

    code = "api_forbidden"


class GoneError(ApiError):
    """410: the resourceVersion or continue token is compacted; only a new list helps."""

    code = "api_gone"


class ApiConflictError(ApiError, ConflictError):
    """409: the object changed since it was read, or a precondition does not hold."""

    code = "api_conflict"


class AlreadyExistsError(ApiConflictError):
    """409: the name that was to be created is taken."""

    code = "api_already_exists"


class ApiUnavailableError(ApiError, UnavailableError):
    """5xx: the API server, or something it asked, failed; the call may or may not have acted."""

    code = "api_unavailable"


class TooManyRequestsError(ApiUnavailableError):
    """429: shed by priority and fairness, or an eviction that must wait; see `retry_after_s`."""

    code = "api_too_many_requests"


E = TypeVar("E", bound=SutureError)


def first_of(failures: ExceptionGroup[Exception], kind: type[E]) -> E | None:
    """Return the first error of tasks side by side, where all that failed did so with a `kind`.

    None where another failed otherwise. WHY not `except*`: what is raised in it comes out wrapped
    in another group before Python 3.11.4, which distributions still have.
    """
    found, others = failures.split(kind)
    one: BaseException | None = found if others is None else None
    while isinstance(one, BaseExceptionGroup):
        one = one.exceptions[0]
    return one if isinstance(one, kind) else None
