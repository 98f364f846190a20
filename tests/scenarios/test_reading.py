"""A file is read as it is meant, or refused with its file, line, field and advice."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from suture.errors import DocumentError, InputError
from suture.lab.scenarios.format import Scenario
from suture.lab.scenarios.reading import BUNDLED, Loaded, find, load, parse
from suture.lab.scenarios.schema import schema
from suture.lab.scenarios.shapes import SHAPES
from suture.wire.yaml import read_documents

GOOD = """\
kind: incident
title: services go
cluster:
  shapes:
    - shape: services-with-deployments
      count: 3
      namespaces: 2
    - idle-services: {count: 4}
    - cluster-dns
  files:
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: here, namespace: a}}
actors:
  operator: {serviceAccount: ops/operator}
  person: {user: maria, groups: [platform]}
steps:
  - {by: operator, verb: delete, resource: services, namespaces: all, select: all, over: 10s}
  - {verb: wait, over: 2s}
  - by: person
    verb: create
    resource: pods
    namespaces: [a, b]
    names: ["pod-{i}"]
    n: 4
    body: {spec: {containers: []}}
harm:
  kinds: [services]
  meant: [{resource: services, names: "idle-*"}]
  probes: {pod_creation_blocked: 0}
expect: {verdict: stopped, stopped_by: share-budget}
"""


def scenario(text: str) -> Scenario:
    """Parse a scenario."""
    return parse(read_documents(text, "s.yaml")[0])


def loaded(text: str, folder: Path) -> Loaded:
    """Read a scenario from a file."""
    path = folder / "s.yaml"
    path.write_text(text)
    return load(path)


def test_a_whole_file(tmp_path: Path) -> None:
    """Every part is there, in one form whatever the file's form was."""
    found = loaded(GOOD, tmp_path)

    assert found.name == "s"
    assert found.scenario.guilty_steps == [0, 2], "in an incident that marks none, all that write"
    assert found.scenario.steps[0].everywhere
    assert found.scenario.steps[0].selection is not None
    assert found.scenario.steps[0].over_s == 10
    kinds = [one["kind"] for one in found.objects]
    assert kinds.count("Deployment") == 4
    assert kinds.count("Service") == 3 + 4 + 1
    assert kinds.count("ConfigMap") == 1


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "words"),
    [
        ("kind: incident", "kind: incedent", 1, "kind", "did you mean `incident`"),
        ("kind: incident", "knd: incident", None, "", "lacks the field `kind`|did you mean"),
        ("count: 3", "coun: 3", 6, "cluster.shapes[0].coun", "did you mean `count`"),
        ("count: 3", "count: three", 6, "cluster.shapes[0].count", "expected `int`"),
        ("count: 3", "count: -1", 6, "cluster.shapes[0].count", ">= 0"),
        ("count: 4", "cnt: 4", 8, "cluster.shapes[1].idle-services.cnt", "did you mean `count`"),
        (
            "shape: services-with-deployments",
            "shape: services-with-deploymnts",
            5,
            "cluster.shapes[0]",
            "did you mean `services-with-deployments`.*suture scenario shapes",
        ),
        ("kind: ConfigMap, ", "", 11, "cluster.files[0]", "lacks `kind`"),
        (
            "serviceAccount: ops/operator",
            "serviceAccount: operator",
            13,
            "actors.operator",
            "NAMESPACE/NAME",
        ),
        ("user: maria, ", "", None, None, None),
        ("user: maria, groups: [platform]", "stage: warn", 14, "actors.person", "needs one of"),
        (
            "user: maria,",
            "user: maria, controller: x,",
            14,
            "actors.person.controller",
            "beside `user`",
        ),
        (
            "user: maria",
            "user: maria, stage: enforced",
            14,
            "actors.person.stage",
            "did you mean `enforce`",
        ),
        ("by: operator", "by: oprator", 16, "steps[0].by", "did you mean `operator`"),
        ("namespaces: [a, b]", 'namespaces: "t-{i}"', 21, "steps[2].namespaces", "cannot count"),
        ("by: operator, ", "", 16, "steps[0]", "lacks the field `by`"),
        ("verb: delete", "verb: destroy", 16, "steps[0].verb", "known: create"),
        ("verb: delete, ", "", 16, "steps[0]", "lacks the field `verb`"),
        ("resource: services, ", "", 16, "steps[0]", "lacks the field `resource`"),
        ("select: all, ", "", 16, "steps[0]", "`names` or `select`"),
        ("select: all", "slect: all", 16, "steps[0].slect", "did you mean `select`"),
        (
            "select: all",
            "select: {label: {}}",
            16,
            "steps[0].select.label",
            "did you mean `labels`",
        ),
        ("over: 10s", "over: minutes", 16, "steps[0].over", "`90s`, `5m`"),
        ("over: 2s", "until: gone", 17, "steps[1]", "what is to be waited for"),
        ("{verb: wait, over: 2s}", "{verb: wait}", 17, "steps[1]", "needs `over`"),
        ("n: 4", "n: 0", 23, "steps[2].n", ">= 1"),
        ('names: ["pod-{i}"]', 'names: ["pod-{a..9}"]', 22, "steps[2].names", "mixes"),
        ("    body: {spec: {containers: []}}\n", "", 18, "steps[2]", "lacks the field `body`"),
        (
            'names: ["pod-{i}"]\n    n: 4\n    body: {spec: {containers: []}}',
            'names: ["pod-{0..3}"]\n    body: {spec: {nodeName: "node-{i}"}}',
            23,
            "steps[2].body",
            "it is 0 in each",
        ),
        (
            "body: {spec: {containers: []}}",
            "body: {metadata: {labels: app=web}}",
            24,
            "steps[2].body.metadata.labels",
            "expected `object",
        ),
        (
            "{verb: wait, over: 2s}",
            "{by: person, verb: patch, resource: pods, names: a, patch: {value: {metadata: 3}}}",
            17,
            "steps[1].patch.value.metadata",
            "expected `object`",
        ),
        (
            '[{resource: services, names: "idle-*"}]',
            "services/app=idle",
            27,
            "harm.meant",
            "labels are written as",
        ),
        ("pod_creation_blocked: 0", "pod_creation_block: 0", 28, "harm.probes", "did you mean"),
        ("pod_creation_blocked: 0", "pod_creation_blocked: -1", 28, "harm.probes", ">= 0"),
        ("verdict: stopped", "verdict: stoped", 29, "expect.verdict", "stopped"),
        ("expect:", "expects:", 29, "expects", "did you mean `expect`"),
    ],
)
def test_mistakes_have_a_line_and_a_field(
    old: str, new: str, line: int | None, field: str | None, words: str | None, tmp_path: Path
) -> None:
    """And, where a word is nearly one that is known, that word."""
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    if words is None:
        loaded(text, tmp_path)
        return
    with pytest.raises(DocumentError, match=words) as error:
        loaded(text, tmp_path)

    assert error.value.source.endswith("s.yaml")
    if line is not None:
        assert error.value.line == line
        assert field is not None
        assert error.value.field.startswith(field)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("- a\n- b\n", "must be a map"),
        ("kind: benign\nsteps: []\n", "at least one step"),
        ("kind: benign\nsteps:\n - {verb: wait, over: 1s, guilty: true}\n", "benign"),
        ("kind: incident\nsteps:\n - {verb: wait, over: 1s}\n", "no guilty step"),
        ("kind: benign\nsteps: [{verb: wait, over: 1s}]\n---\nkind: x\nsteps: []\n", "second"),
        ("kind: [\n", "is not YAML"),
        ("kind: benign\nkind: benign\n", "twice|given"),
    ],
)
def test_files_that_make_no_sense(text: str, words: str, tmp_path: Path) -> None:
    """Are refused as a whole."""
    with pytest.raises(DocumentError, match=words):
        loaded(text, tmp_path)


@pytest.mark.parametrize(
    ("verb", "wanted"),
    [
        ("deleteCollection", "deletecollection"),
        ("delete-collection", "deletecollection"),
        ("Eviction", "evict"),
        ("DELETE", "delete"),
    ],
)
def test_verbs_in_other_spellings(verb: str, wanted: str) -> None:
    """Are the verbs that they are meant to be."""
    text = f"kind: benign\nactors: {{a: {{user: u}}}}\nsteps:\n - {{by: a, verb: {verb}, resource: pods, select: all}}\n"
    assert scenario(text).steps[0].verb == wanted


def test_apply_is_a_patch() -> None:
    """`apply` with a body is a server-side apply."""
    step = scenario(
        "kind: benign\nactors: {a: {user: u}}\nsteps:\n"
        " - {by: a, verb: apply, resource: pods, names: x, body: {spec: {}}}\n"
    ).steps[0]

    assert step.verb == "patch"
    assert step.patch is not None
    assert step.patch.kind == "apply"


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("all", None),
        ('"*"', None),
        ("{}", None),
        ("{all: true}", None),
        ("app=x", "app=x"),
        ("{labels: {app: x, tier: z}}", "app=x,tier=z"),
        ('{labels: "app in (a,b)"}', "app in (a,b)"),
        ("{labels: {}}", ""),
    ],
)
def test_selections_in_every_form(text: str, labels: str | None) -> None:
    """No labels at all send no selector; empty labels send an empty one."""
    step = scenario(
        "kind: benign\nactors: {a: {user: u}}\nsteps:\n"
        f" - {{by: a, verb: delete, resource: pods, select: {text}}}\n"
    ).steps[0]

    assert step.selection is not None
    assert step.selection.label_selector == labels


def test_words_for_people_have_other_names() -> None:
    """`description` is the story, `name` the title."""
    found = scenario("kind: benign\nname: a\ndescription: b\nsteps: [{verb: wait, over: 1s}]\n")

    assert (found.title, found.story) == ("a", "b")


def test_manifests_in_files_and_folders(tmp_path: Path) -> None:
    """Beside the scenario: one file, a folder, a pattern, a List, and what follows in the file."""
    (tmp_path / "one.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n"
        "apiVersion: v1\nkind: List\nitems:\n"
        "- {apiVersion: v1, kind: Secret, metadata: {name: b}}\n"
    )
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "two.json").write_text(
        '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "c"}}'
    )
    text = (
        "kind: benign\ncluster: {files: [one.yaml, more, 'o*.yaml']}\n"
        "steps: [{verb: wait, over: 1s}]\n---\n"
        "apiVersion: v1\nkind: Service\nmetadata: {name: d}\n"
    )
    found = loaded(text, tmp_path)

    assert [one["metadata"]["name"] for one in found.objects] == ["a", "b", "c", "a", "b", "d"]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ("[nowhere.yaml]", "names no file"),
        ("[{kind: Pod}]", "lacks `apiVersion`"),
        ("[{apiVersion: v1, kind: Pod}]", "lacks `metadata.name`"),
    ],
)
def test_manifests_that_are_none(files: str, words: str, tmp_path: Path) -> None:
    """Are refused at the place that names them."""
    text = f"kind: benign\ncluster:\n  files: {files}\nsteps: [{{verb: wait, over: 1s}}]\n"
    with pytest.raises(DocumentError, match=words) as error:
        loaded(text, tmp_path)
    assert error.value.line == 3


def test_a_file_is_found_by_path_and_by_name(tmp_path: Path) -> None:
    """Bundled scenarios have names; a name that is nearly one is told."""
    assert find("rollout-500") == BUNDLED / "rollout-500.yaml"
    assert find("rollout-500.yaml") == BUNDLED / "rollout-500.yaml"
    with pytest.raises(InputError, match="did you mean `rollout-500`"):
        find("rollout-50")
    with pytest.raises(InputError, match="folder"):
        find(str(tmp_path))


@pytest.mark.parametrize("path", sorted(BUNDLED.glob("*.yaml")), ids=lambda path: path.stem)
def test_bundled_files(path: Path) -> None:
    """Each can be read, says what it is about, and fits the published schema."""
    found = load(path)

    assert found.scenario.title
    assert found.scenario.story
    assert found.scenario.expect.verdict is not None
    document = read_documents(path.read_bytes(), path.name)[0].value
    jsonschema.validate(document, schema(SHAPES), jsonschema.Draft202012Validator)


def test_the_schema_is_one() -> None:
    """Draft 2020-12, and it refuses what the reader refuses."""
    made = schema(SHAPES)
    jsonschema.Draft202012Validator.check_schema(made)
    good = read_documents(GOOD, "s.yaml")[0].value
    jsonschema.validate(good, made, jsonschema.Draft202012Validator)
    assert isinstance(good, dict)
    for wrong in ({"kind": "x"}, {"steps": [{"verb": "destroy"}]}, {"cluster": {"shapes": ["x"]}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**good, **wrong}, made, jsonschema.Draft202012Validator)
