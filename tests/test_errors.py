"""Errors of tasks that ran side by side come out as one error, where that is all there was."""

from __future__ import annotations

import asyncio

import pytest

from suture.errors import ApiError, InputError, SutureError, UnavailableError, first_of

AWAY, FORBIDDEN = UnavailableError("away"), ApiError(403, "Forbidden", "no")


@pytest.mark.parametrize(
    ("errors", "first"),
    [
        ([AWAY], AWAY),
        ([FORBIDDEN, AWAY], FORBIDDEN),
        ([ExceptionGroup("inner", [AWAY]), FORBIDDEN], AWAY),
        ([AWAY, ValueError("a defect")], None),
        ([ExceptionGroup("inner", [ValueError("a defect")])], None),
    ],
)
def test_the_first_is_told_where_all_are_of_a_kind(
    errors: list[Exception], first: SutureError | None
) -> None:
    assert first_of(ExceptionGroup("", errors), SutureError) is first


def test_it_can_be_raised_by_itself_on_every_python() -> None:
    async def fails() -> None:
        raise InputError("one of them")

    async def run() -> None:
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(fails())
        except ExceptionGroup as failures:
            error = first_of(failures, InputError)
            assert error is not None
            raise error from None

    with pytest.raises(InputError, match="one of them"):
        asyncio.run(run())
