"""What may be machine code: only what mypyc makes the same thing of."""

from __future__ import annotations

from pathlib import Path

import pytest

import native


def test_every_class_that_is_compiled_is_made_right() -> None:
    assert native.unfit(native.modules()) == []


@pytest.mark.parametrize(
    "text",
    [
        "class Pair(msgspec.Struct):\n    left: int\n",
        "class Pair(Base, frozen=True):\n    left: int\n",
        "class Labels(Mapping[str, str]):\n    pass\n",
        "@dataclass\nclass Pair:\n    left: int\n",
    ],
    ids=["struct", "options", "abstract-base", "dataclass"],
)
def test_a_class_that_it_would_make_wrongly_is_told(tmp_path: Path, text: str) -> None:
    source = tmp_path / "pair.py"
    source.write_text(text)
    assert [line.split(":")[1] for line in native.unfit([source])] == [
        str(1 + text.startswith("@"))
    ]


def test_classes_of_compiled_modules_may_derive_from_each_other(tmp_path: Path) -> None:
    base, derived = tmp_path / "base.py", tmp_path / "derived.py"
    base.write_text("class Base:\n    pass\n")
    derived.write_text("class Derived(Base):\n    pass\n")
    assert native.unfit([base, derived]) == []
    assert len(native.unfit([derived])) == 1


def test_machine_code_of_other_sources_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "suture" / "impact" / "one.py"
    source.parent.mkdir(parents=True)
    source.write_text("def one() -> int:\n    return 1\n")
    monkeypatch.setattr(native, "SRC", tmp_path)
    monkeypatch.setattr(native, "STAMP", tmp_path / "native.sha256")
    monkeypatch.setattr(native, "modules", lambda: [source])
    assert not native.stale()
    source.with_name(f"one{native.SUFFIX}").touch()
    assert native.stale()
    native.STAMP.write_text(native.digest())
    assert not native.stale()
    source.write_text("def one() -> int:\n    return 2\n")
    assert native.stale()
    native.remove()
    assert not native.stale()
    assert native.built() == []
