"""What the predicted API server says no with: the errors of `adapters.kube`, in its words.

Lives apart because server, admission and controllers all refuse. Pure.
"""

from __future__ import annotations

from suture.errors import (
    AlreadyExistsError,
    ApiConflictError,
    ApiError,
    ApiUnavailableError,
    ForbiddenError,
    NotFoundError,
    TooManyRequestsError,
)
from suture.model.names import Resource


def not_found(resource: Resource, name: str) -> NotFoundError:
    """Return that there is no such object."""
    return NotFoundError(404, "NotFound", f'{resource} "{name}" not found')


def no_such_kind(path: str) -> NotFoundError:
    """Return that nothing is served there."""
    return NotFoundError(
        404, "NotFound", "the server could not find the requested resource", call=path
    )


def already_exists(resource: Resource, name: str) -> AlreadyExistsError:
    """Return that the name is taken."""
    return AlreadyExistsError(409, "AlreadyExists", f'{resource} "{name}" already exists')


def conflict(resource: Resource, name: str, why: str) -> ApiConflictError:
    """Return that the object is another than the request names."""
    message = f'Operation cannot be fulfilled on {resource} "{name}": {why}'
    return ApiConflictError(409, "Conflict", message)


def forbidden(resource: Resource, name: str, why: str) -> ForbiddenError:
    """Return that something before the store said no."""
    return ForbiddenError(403, "Forbidden", f'{resource} "{name}" is forbidden: {why}')


def invalid(resource: Resource, why: str) -> ApiError:
    """Return that the object cannot be so."""
    return ApiError(422, "Invalid", f"{resource}: {why}")


def malformed(why: str) -> ApiError:
    """Return that the request makes no sense."""
    return ApiError(400, "BadRequest", why)


def unauthorized() -> ApiError:
    """Return that a token names nobody any more."""
    return ApiError(401, "Unauthorized", "Unauthorized")


def must_wait(why: str) -> TooManyRequestsError:
    """Return that an eviction has to be asked again later."""
    return TooManyRequestsError(429, "TooManyRequests", why)


def webhook_failed(name: str, why: str) -> ApiUnavailableError:
    """Return that a fail-closed webhook could not be asked."""
    message = f'Internal error occurred: failed calling webhook "{name}": {why}'
    return ApiUnavailableError(500, "InternalError", message)


def refused(status: int, message: str) -> ApiError:
    """Return a webhook's own refusal."""
    if status == 429:
        return TooManyRequestsError(429, "TooManyRequests", message)
    return ForbiddenError(status, "Forbidden", message)
