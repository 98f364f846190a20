"""The JSON Schema of scenario files, made of the same structs that read them.

Lives apart from `format` because editors and other people's tools want it, and the reader does
not. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from suture.lab.scenarios.format import Scenario


def schema(shapes: Mapping[str, type[msgspec.Struct]]) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a scenario file, shapes included."""
    (top, *rest), defs = msgspec.json.schema_components(
        [Scenario, *shapes.values()], ref_template="#/$defs/{name}"
    )
    for name, reference in zip(shapes, rest, strict=True):
        made = defs.pop(reference["$ref"].rpartition("/")[2])
        defs[f"shape-{name}"] = {**made, "title": name}
    property_of_shapes = defs["Cluster"]["properties"]["shapes"]
    defs["Cluster"]["properties"]["shapes"] = {
        "description": property_of_shapes["description"],
        "anyOf": [{"type": "array", "items": _one_shape(list(shapes))}, _shape_map(list(shapes))],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://suture.dev/schemas/scenario.json",
        **top,
        "$defs": defs,
    }


def _one_shape(names: list[str]) -> dict[str, Any]:
    """Return the schema of an entry in a list of shapes."""
    named = [
        {
            "allOf": [{"$ref": f"#/$defs/shape-{name}"}],
            "properties": {"shape": {"const": name}},
            "required": ["shape"],
        }
        for name in names
    ]
    return {"anyOf": [*named, {"enum": names}, {**_shape_map(names), "maxProperties": 1}]}


def _shape_map(names: list[str]) -> dict[str, Any]:
    """Return the schema of a map from shapes to parameters, to a count, or to several uses."""

    def use(name: str) -> dict[str, Any]:
        one = [{"$ref": f"#/$defs/shape-{name}"}, {"type": ["integer", "null"]}]
        return {"anyOf": [*one, {"type": "array", "items": {"anyOf": one}}]}

    return {
        "type": "object",
        "properties": {name: use(name) for name in names},
        "additionalProperties": False,
    }
