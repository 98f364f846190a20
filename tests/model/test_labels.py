"""Labels are bytes that read like the mapping that they stand for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.model.labels import Labels
from suture.model.names import CONFIG_MAPS, Gvk
from suture.model.objects import NO_LABELS
from suture.wire.trim import Trimmer

PAIRS = st.dictionaries(st.text(max_size=6), st.text(max_size=6), max_size=6)


@given(pairs=PAIRS)
def test_labels_read_like_a_dict(pairs: dict[str, str]) -> None:
    """Whatever is asked of labels, they answer as a dict of the same pairs would."""
    labels = Labels(Labels.of(pairs).raw)
    assert labels == pairs
    assert pairs == labels
    assert dict(labels) == pairs
    assert len(labels) == len(pairs)
    assert sorted(labels.items()) == sorted(pairs.items())
    assert set(labels.keys()) == set(pairs)
    assert sorted(labels.values()) == sorted(pairs.values())
    for key in [*pairs, "no such key"]:
        assert (key in labels) is (key in pairs)
        assert labels.get(key) == pairs.get(key)
        assert labels.get(key, "none") == pairs.get(key, "none")


@given(pairs=PAIRS, others=PAIRS)
def test_equal_labels_have_equal_bytes(pairs: dict[str, str], others: dict[str, str]) -> None:
    """Bytes tell labels apart: the order in which the pairs came is forgotten."""
    turned = dict(reversed(pairs.items()))
    assert Labels.of(turned).raw == Labels.of(pairs).raw
    assert (Labels.of(pairs).raw == Labels.of(others).raw) is (pairs == others)
    assert (Labels.of(pairs) == Labels.of(others)) is (pairs == others)


@pytest.mark.parametrize(
    "style", [{"separators": (",", ":")}, {"indent": 2}, {"separators": (" , ", " : ")}]
)
@pytest.mark.parametrize("turned", [False, True])
def test_every_spelling_is_read_into_the_same_bytes(style: dict[str, Any], *, turned: bool) -> None:
    """Labels of a file, in any order and with any spaces, are those that the API server writes."""
    pairs = {"app": "web", "tier": "größe", "a/b": ""}
    written = dict(sorted(pairs.items(), reverse=turned))
    body = json.dumps({"metadata": {"name": "x", "labels": written}}, **style).encode()
    labels = Trimmer().trim(body, CONFIG_MAPS, Gvk("", "v1", "ConfigMap")).labels
    assert isinstance(labels, Labels)
    assert labels.raw == '{"a/b":"","app":"web","tier":"größe"}'.encode()
    assert labels == pairs


def test_no_labels_are_shared() -> None:
    """Null, an empty map and no field at all are the same labels: none."""
    gvk = Gvk("", "v1", "ConfigMap")
    for metadata in ("{}", '{"labels": null}', '{"labels": {}}'):
        body = f'{{"metadata": {metadata}}}'.encode()
        assert Trimmer().trim(body, CONFIG_MAPS, gvk).labels is NO_LABELS
    assert NO_LABELS == {}
