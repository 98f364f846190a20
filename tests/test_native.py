"""What may be machine code: only what mypyc makes the same thing of."""

from __future__ import annotations

from pathlib import Path

import pytest

import native


def test_what_judging_spends_its_time_in_is_compiled() -> None:
    found = {path.relative_to(native.SRC / "suture").as_posix() for path in native.modules()}
    graph = {f"model/graph/{name}.py" for name in ("graph", "view", "rows", "links", "naming")}
    effects = ("project", "scene", "causes/causes", "traffic/serving", "losses/removal")
    impact = {f"impact/{name}.py" for name in effects}
    judging = {"judge.py", "policy/evaluate.py", "impact/estimate.py", "journal/writing.py"}
    assert graph | impact | judging <= found


def test_what_reading_lists_spends_its_time_in_is_compiled() -> None:
    found = {path.relative_to(native.SRC / "suture").as_posix() for path in native.modules()}
    assert {f"wire/{name}.py" for name in ("trim", "declared", "projections", "managedby")} <= found


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
def test_a_module_whose_class_would_be_made_wrongly_stays_python(tmp_path: Path, text: str) -> None:
    source = tmp_path / "pair.py"
    source.write_text(text)
    assert native.fit([source]) == []


def test_classes_of_compiled_modules_may_derive_from_each_other(tmp_path: Path) -> None:
    base, derived = tmp_path / "base.py", tmp_path / "derived.py"
    base.write_text("class Base:\n    pass\n")
    derived.write_text("class Derived(Base):\n    pass\n")
    assert native.fit([base, derived]) == [base, derived]
    assert native.fit([derived]) == []


def test_machine_code_of_other_sources_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "suture" / "impact" / "one.py"
    source.parent.mkdir(parents=True)
    source.write_text("def one() -> int:\n    return 1\n")
    plain = tmp_path / "suture" / "model" / "pair.py"
    plain.parent.mkdir()
    plain.write_text("@dataclass\nclass Pair:\n    left: int\n")
    for name in ("answers", "errors", "judge", "verdict", "world"):
        (tmp_path / "suture" / f"{name}.py").touch()
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
    native.STAMP.write_text(native.digest())
    plain.write_text("@dataclass\nclass Pair:\n    left: str\n")
    assert native.stale(), "compiled modules may read what a plain class holds"
    native.remove()
    assert not native.stale()
    assert native.built() == []
