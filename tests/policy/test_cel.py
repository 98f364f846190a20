"""The CEL engine: what expressions mean, what is refused, what is bounded."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from suture.model.documents import read_as
from suture.policy.case import EFFECT_TYPES
from suture.policy.engines import (
    EvaluationError,
    ExpressionError,
    ListOf,
    MapOf,
    Record,
    Scalar,
    Scope,
)
from suture.policy.engines.cel import MAX_CHARS, CelEngine
from suture.wire.yaml import read_documents

GOLDEN = Path(__file__).parent.parent / "golden" / "cel.yaml"


class Golden(msgspec.Struct, forbid_unknown_fields=True):
    """One expression and what must come of it."""

    expression: str
    type: Scalar = Scalar.BOOL
    gives: object = msgspec.UNSET
    fails: str = ""
    refused: str = ""


class File(msgspec.Struct, forbid_unknown_fields=True):
    cases: list[Golden]


def goldens() -> list[Golden]:
    [document] = read_documents(GOLDEN.read_bytes(), GOLDEN.name)
    return read_as(document, File).cases


SCOPE = Scope(
    {
        "request.operation": Scalar.STRING,
        "request.labels": MapOf(Scalar.STRING),
        "effects.objects_removed": ListOf(EFFECT_TYPES["objects_removed"]),
        "effects.endpoints_lost": ListOf(EFFECT_TYPES["endpoints_lost"]),
        "c7.parameters.maxObjects": Scalar.INT,
        "c7.parameters.ratio": Scalar.DOUBLE,
        "c7.parameters.anything": Scalar.ANY,
    },
    container="c7",
)
VALUES: dict[str, object] = {
    "request.operation": "DELETE",
    "request.labels": {"app": "web"},
    "effects.objects_removed": [
        {"resource": "services", "counted": 5, "victims": [{"name": "web"}, {"name": "api"}]},
        {"resource": "pods", "counted": 2, "victims": []},
    ],
    "effects.endpoints_lost": [],
    "c7.parameters.maxObjects": 5,
    "c7.parameters.ratio": 0.5,
}


@pytest.fixture(scope="module")
def engine() -> CelEngine:
    return CelEngine()


@pytest.mark.parametrize("golden", goldens(), ids=lambda golden: golden.expression[:60])
def test_expressions_mean_what_the_golden_file_says(engine: CelEngine, golden: Golden) -> None:
    """Each expression gives its value, fails as told when run, or is refused when loaded."""
    if golden.refused:
        with pytest.raises(ExpressionError) as refusal:
            engine.compile(golden.expression, SCOPE, golden.type)
        assert golden.refused in refusal.value.problem
        return
    program = engine.compile(golden.expression, SCOPE, golden.type)
    if golden.fails:
        with pytest.raises(EvaluationError, match=golden.fails):
            program.evaluate(engine.bind(VALUES))
        return
    value = program.evaluate(engine.bind(VALUES))
    assert value == golden.gives
    assert type(value) is type(golden.gives)


def test_a_program_says_what_it_reads(engine: CelEngine) -> None:
    """Only names of the scope, in full; loop variables and functions are not among them."""
    program = engine.compile(
        "effects.objects_removed.exists(o, o.counted > parameters.maxObjects)", SCOPE, Scalar.BOOL
    )
    assert program.reads == {"effects.objects_removed", "c7.parameters.maxObjects"}


def test_bindings_are_shared_between_programs_of_several_scopes(engine: CelEngine) -> None:
    """One binding serves expressions that were compiled with different variables."""
    first = engine.compile("a + 1", Scope({"a": Scalar.INT}), Scalar.INT)
    second = engine.compile("b == 'x'", Scope({"b": Scalar.STRING}), Scalar.BOOL)
    bindings = engine.bind({"a": 1, "b": "x"})
    assert first.evaluate(bindings) == 2
    assert second.evaluate(bindings) is True


def test_a_value_that_was_not_bound_is_an_error_and_no_guess(engine: CelEngine) -> None:
    program = engine.compile("parameters.maxObjects > 1", SCOPE, Scalar.BOOL)
    with pytest.raises(EvaluationError, match=r"c7\.parameters\.maxObjects"):
        program.evaluate(engine.bind({}))


def test_text_that_looks_like_an_error_is_text(engine: CelEngine) -> None:
    """An error comes out of the library as text; a value that reads like one is still a value."""
    program = engine.compile("'INTERNAL: all is lost'", SCOPE, Scalar.STRING)
    assert program.evaluate(engine.bind({})) == "INTERNAL: all is lost"


def test_errors_are_placed_within_the_text(engine: CelEngine) -> None:
    with pytest.raises(ExpressionError) as refusal:
        engine.compile("true &&\n  request.opration == ''", SCOPE, Scalar.BOOL)
    assert (refusal.value.line, refusal.value.column) == (2, 10)


def test_a_number_beyond_64_bits_is_an_error(engine: CelEngine) -> None:
    program = engine.compile("parameters.maxObjects > 1", SCOPE, Scalar.BOOL)
    with pytest.raises(EvaluationError, match="out of range"):
        program.evaluate(engine.bind({"c7.parameters.maxObjects": 2**70}))


def test_a_long_expression_is_refused(engine: CelEngine) -> None:
    with pytest.raises(ExpressionError, match="characters long"):
        engine.compile("true" + " " * MAX_CHARS, SCOPE, Scalar.BOOL)


def test_two_records_of_one_name_are_a_defect(engine: CelEngine) -> None:
    engine.compile("r.a > 1", Scope({"r": Record("R", (("a", Scalar.INT),))}), Scalar.BOOL)
    with pytest.raises(TypeError, match="two records"):
        engine.compile("r.b", Scope({"r": Record("R", (("b", Scalar.BOOL),))}), Scalar.BOOL)
