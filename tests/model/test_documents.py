"""Documents that know their lines, and their reading as Structs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

import msgspec
import pytest

from suture.errors import DocumentError
from suture.model.documents import Document, did_you_mean, field_text, read_as
from suture.wire.yaml import read_documents


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


class Step(msgspec.Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    by: str
    resource_name: str = ""
    count: Annotated[int, msgspec.Meta(ge=1)] = 1
    verb: Literal["create", "delete"] = "create"
    colour: Colour = Colour.RED


class File(msgspec.Struct, forbid_unknown_fields=True):
    steps: list[Step] = []
    actors: dict[str, Step] = {}
    maybe: Step | None = None


def read(text: str) -> File:
    [document] = read_documents(text, "file.yaml")
    return read_as(document, File)


def test_a_document_is_read_as_a_struct() -> None:
    assert read("steps:\n- {by: me, resourceName: x}\n").steps == [Step(by="me", resource_name="x")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            "steps:\n- by: me\n  resourcName: x\n",
            "file.yaml:3: field `steps[0].resourcName` is not a known field; did you mean `resourceName`",
            id="unknown-field",
        ),
        pytest.param(
            "steps:\n- verb: delete\n",
            "file.yaml:2: field `steps[0]` lacks the field `by`",
            id="missing-field",
        ),
        pytest.param(
            "steps:\n- by: me\n  count: many\n",
            "file.yaml:3: field `steps[0].count` expected `int`, got `str`",
            id="wrong-type",
        ),
        pytest.param(
            "steps:\n- by: me\n  count: 0\n",
            "file.yaml:3: field `steps[0].count` expected `int` >= 1",
            id="bound",
        ),
        pytest.param(
            "steps:\n- by: me\n  verb: remove\n",
            "file.yaml:3: field `steps[0].verb` cannot be `remove`; known: create, delete",
            id="literal",
        ),
        pytest.param(
            "steps:\n- by: me\n  colour: gren\n",
            "file.yaml:3: field `steps[0].colour` cannot be `gren`; did you mean `green`",
            id="enum",
        ),
        pytest.param(
            "actors:\n  good: {by: a}\n  bad.one:\n    by: b\n    cuont: 3\n",
            'file.yaml:5: field `actors["bad.one"].cuont` is not a known field; did you mean `count`',
            id="entry-of-a-map",
        ),
        pytest.param(
            "maybe:\n  buy: 3\n",
            "file.yaml:2: field `maybe.buy` is not a known field; did you mean `by`",
            id="optional",
        ),
        pytest.param(
            "stepz: []\n",
            "file.yaml:1: field `stepz` is not a known field; did you mean `steps`",
            id="top",
        ),
        pytest.param("[1]\n", "file.yaml:1: expected `object`, got `array`", id="not-a-map"),
    ],
)
def test_mistakes_are_placed(text: str, message: str) -> None:
    """A field that does not fit is told with file, line, field and the nearest right word."""
    with pytest.raises(DocumentError) as raised:
        read(text)
    assert str(raised.value) == message


def test_a_document_without_text_has_no_lines() -> None:
    """An object of the cluster is told of by its field alone."""
    document = Document("cluster", {"steps": [{"bi": "x"}]})
    with pytest.raises(DocumentError, match=r"^cluster: field `steps\[0\]\.bi`"):
        read_as(document, File)


def test_a_part_of_a_document_is_read_in_its_place() -> None:
    [document] = read_documents("kind: X\nspec:\n  by: 5\n", "file.yaml")
    with pytest.raises(DocumentError, match=r"^file\.yaml:3: field `spec\.by`"):
        read_as(document, Step, ("spec",))


def test_values_are_found_by_path() -> None:
    [document] = read_documents("a: [{b: 1}]\n", "file.yaml")
    assert document.at(("a", 0, "b")) == 1
    assert document.at(("a", 1, "b")) is None
    assert document.at(("a", "b")) is None


def test_field_text() -> None:
    assert field_text(("spec", "claims", 0, "a.b/c")) == 'spec.claims[0]["a.b/c"]'
    assert not field_text(())


def test_did_you_mean() -> None:
    """The nearest word; a short list where nothing is near; nothing where the list is long."""
    assert did_you_mean("serivces", ["services", "pods"]) == "; did you mean `services`"
    assert did_you_mean("x", ["services", "pods"]) == "; known: pods, services"
    assert not did_you_mean("x", [f"word{i}" for i in range(20)])
