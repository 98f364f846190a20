"""ConfigMaps that say nothing: nothing is lost with them, unless something reads them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import delete, thing, view_of
from suture.impact.effects import ObjectsRemoved
from suture.model.names import CONFIG_MAPS, SECRETS, Resource


def explained(of: Resource = CONFIG_MAPS, **parts: Any) -> bool:
    """Return whether a cause accounts for a delete of what has such parts."""
    one = thing(of, "hosts", "prod")
    request = replace(delete(one), old_body=msgspec.json.encode({"kind": "ConfigMap", **parts}))
    (told,) = effects(impact_of(request, view_of(one)), ObjectsRemoved)
    return told.explained == 1


def test_what_nobody_filled() -> None:
    assert explained(data={"hosts": "", "rules": "  \n"})


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({"data": {"hosts": "", "rules": "deny"}}, id="one value"),
        pytest.param({"data": {f"user-{at}": "" for at in range(5)}}, id="a list of names"),
        pytest.param({"data": {}}, id="no key: it may be a lock"),
        pytest.param({}, id="nothing at all"),
        pytest.param({"data": {"a": ""}, "binaryData": {"b": "AA=="}}, id="bytes"),
        pytest.param({"data": {"a": 1}}, id="what is no text"),
        pytest.param({"data": {"a": ""}, "pad": "x" * 20_000}, id="too much to look into"),
    ],
)
def test_what_says_something(parts: dict[str, Any]) -> None:
    """The twins, and what the request does not show."""
    assert not explained(**parts)


def test_what_is_no_configmap() -> None:
    assert not explained(of=SECRETS, data={"hosts": ""})
