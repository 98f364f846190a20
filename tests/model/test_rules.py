"""ReferenceRules: paths, files with their lines, and what the reader of each kind is told."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.errors import DocumentError
from suture.model.documents import Document
from suture.model.fieldpath import FieldPath, FieldPathError
from suture.model.names import CLAIMS, NODES, PODS, SECRETS, SERVICES, STATEFUL_SETS, Resource
from suture.model.rulebook import (
    KindCalled,
    KindRules,
    OpenSpec,
    Rulebook,
    Waiting,
    name_pattern,
    rules_by_kind,
)
from suture.model.ruleformat import read_rule, read_rules, rule_document
from suture.model.rules import (
    By,
    Called,
    Child,
    Family,
    Form,
    Open,
    Place,
    Reference,
    ReferenceRule,
    Says,
    Selects,
    TypeName,
)
from suture.wire.yaml import read_documents

DATABASES = Resource("db.example.com", "databases")
DATABASE = TypeName("db.example.com", "Database")
SECRET = TypeName("", "Secret")
KINDS = {
    ("db.example.com", "Database"): DATABASES,
    ("", "Secret"): SECRETS,
    ("", "Service"): SERVICES,
    ("apps", "StatefulSet"): STATEFUL_SETS,
}

FILE = """\
apiVersion: policies.suture.dev/v1alpha1
kind: ReferenceRule
metadata:
  name: database-credentials
spec:
  from: {group: db.example.com, kind: Database}
  field: spec.users[*].secret.name
  to:
    kind: Secret
    namespace: spec.users[*].secret.namespace
    key: spec.users[*].secret.key
"""


def path(text: str) -> FieldPath:
    return FieldPath.parse(text)


def read(text: str) -> ReferenceRule:
    (rule,) = read_rules(read_documents(text, "rules.yaml"))
    return rule


def spec(text: str) -> str:
    """Return a file whose spec is `text`, from line 5 on, which says what it is from."""
    lines = "".join(f"  {line}\n" for line in text.splitlines())
    return f"{FILE.partition('spec:')[0]}spec:\n  from: {{group: db.example.com, kind: Database}}\n{lines}"


# ---------------------------------------------------------------- paths


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("spec.template.secretRef.name", ("spec", "template", "secretRef", "name")),
        ("spec.backends[*].service.name", ("spec", "backends", "", "service", "name")),
        ("spec.rules[*][*]", ("spec", "rules", "", "")),
        ("metadata.annotations['x.example.com/y']", ("metadata", "annotations", "x.example.com/y")),
        ('spec["a.b"].c', ("spec", "a.b", "c")),
    ],
)
def test_a_path_is_read_into_its_steps(text: str, steps: tuple[str, ...]) -> None:
    """Fields by name, every item as `[*]`, odd keys in quotes."""
    assert path(text).steps == steps


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is no path"),
        ("[*].name", "is no path"),
        ("spec..name", "character 6"),
        (".spec", "character 1"),
        ("spec.a[0].name", r"every item is `\[\*\]`"),
        ("spec.a[b]", "bracket"),
        ("spec[*]name", "character 8"),
        ("spec.", "character 6"),
        ("spec" + ".a" * 40, "41 steps"),
        ("a" * 2000, "longer than"),
    ],
)
def test_what_is_no_path_is_refused_with_advice(text: str, problem: str) -> None:
    """Each mistake is told apart."""
    with pytest.raises(FieldPathError, match=problem):
        path(text)


STEP = st.text(
    st.characters(codec="ascii", exclude_characters="]'\"", min_codepoint=33), min_size=1
)


@given(st.lists(STEP | st.just(""), min_size=1, max_size=8).filter(lambda steps: bool(steps[0])))
def test_paths_are_written_as_they_are_read(steps: list[str]) -> None:
    """What is written is read back as the same steps."""
    found = FieldPath(tuple(steps))
    assert path(str(found)) == found


# ---------------------------------------------------------------- files


def test_a_reference_is_read() -> None:
    """Field, target, and where namespace and key stand."""
    assert read(FILE) == ReferenceRule(
        "database-credentials",
        DATABASE,
        Reference(
            path("spec.users[*].secret.name"),
            SECRET,
            path("spec.users[*].secret.namespace"),
            path("spec.users[*].secret.key"),
        ),
    )


def test_children_are_read() -> None:
    """Children are known by owner, label or name; the wanted count is a field."""
    rule = read(
        spec(
            "wanted: spec.replicas\n"
            "children:\n"
            "  - {kind: Pod, by: label, label: db.example.com/database}\n"
            "  - {group: apps, kind: StatefulSet, by: owner}\n"
            "  - {resource: services, by: name, name: '{name}-*', parent: cluster}\n"
        )
    )
    assert rule.says == Family(
        (
            Child(TypeName("", "Pod"), By.LABEL, label="db.example.com/database"),
            Child(TypeName("apps", "StatefulSet"), By.OWNER),
            Child(TypeName("", plural="services"), By.NAME, name="{name}-*", place=Place.CLUSTER),
        ),
        path("spec.replicas"),
    )


def test_selectors_are_read() -> None:
    """Pods and nodes have short names; other kinds are written out."""
    rule = read(spec("selector: {field: spec.nodeSelector, of: nodes, form: matchLabels}"))
    assert rule.says == Selects(
        path("spec.nodeSelector"), TypeName.of(NODES), Form.MATCH_LABELS, Place.CLUSTER
    )
    rule = read(
        spec("selector: {field: spec.of, of: {kind: Service}, namespaces: spec.namespaceSelector}")
    )
    assert rule.says == Selects(
        path("spec.of"),
        TypeName("", "Service"),
        namespaces=path("spec.namespaceSelector"),
    )


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 5, "must say one thing.*given: none"),
        ("field: spec.a", 5, "lacks the field `to`"),
        ("to: {kind: Secret}", 5, "lacks the field `field`"),
        ("field: spec.a\nto: {}", 8, "one of `kind` and `resource`"),
        ("field: spec.a\nto: {kind: Secret, resource: secrets}", 8, "one of"),
        ("field: spec.a\nto: {kind: Secret, namespace: spec.}", 8, "is no path"),
        ("field: spec.a[0]\nto: {kind: Secret}", 7, "every item"),
        ("field: kind\nto: {kind: Secret}", 7, "what the object is"),
        ("field: metadata.uid\nto: {kind: Secret}", 7, "`labels`"),
        ("field: spec.a\nto: {kind: Secret, nmespace: same}", 8, "did you mean `namespace`"),
        (
            "field: spec.a\nto: {kind: Secret}\nselector: {field: spec.b}",
            5,
            "`field` and `selector`",
        ),
        ("wanted: spec.n\noptional: true", 8, "leave it out"),
        ("children: [{kind: Pod, by: label}]", 7, "lacks the field `label`"),
        ("children: [{kind: Pod, by: owner, label: x}]", 7, "is not read where `by` is `owner`"),
        ("children: [{kind: Pod, by: lable, label: x}]", 7, "did you mean `label`"),
        ("children: [{kind: Pod, by: name, name: x}]", 7, "must have `{name}`"),
        ("children: [{kind: Pod, by: name, name: '{name}*'}]", 7, "apart"),
        ("children: [{kind: Pod, by: name, name: '{name}-A'}]", 7, "letters"),
        ("selector: {field: spec.a, of: pod}", 7, "did you mean `pods`"),
        ("selector: {field: spec.a, form: set}", 7, "cannot be `set`"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, line: int, problem: str) -> None:
    """Whoever wrote the file finds the place, and what to write instead."""
    with pytest.raises(DocumentError, match=problem) as found:
        read(spec(text))
    assert found.value.line == line


def test_of_secrets_nothing_but_metadata_can_be_read() -> None:
    """No rule looks into the data of a Secret."""
    text = FILE.replace("{group: db.example.com, kind: Database}", "{kind: Secret}")
    with pytest.raises(DocumentError, match="nothing but metadata"):
        read(text)
    fine = re.sub(r"spec\.users\[\*\]\.secret\.\w+", "metadata.annotations['a/b']", text)
    assert read(fine).of == SECRET


def test_a_name_given_twice_is_an_error() -> None:
    """Two rules of one name would stand in each other's place on a cluster."""
    with pytest.raises(DocumentError, match="given twice"):
        read_rules(read_documents(f"{FILE}---\n{FILE}", "rules.yaml"))


RULES = [
    read(FILE),
    read(spec("field: spec.claim\nto: {resource: persistentvolumeclaims}\noptional: true")),
    read(
        spec(
            "field: spec.class\nto: {group: storage.k8s.io, kind: StorageClass, namespace: cluster}"
        )
    ),
    read(spec("wanted: spec.n")),
    read(spec("children: [{kind: Pod, by: name, name: 'x-{name}-*', parent: cluster}]")),
    read(spec("selector: {field: spec.s, of: {kind: Service, group: ''}, namespace: cluster}")),
    read(spec("selector: {field: spec.s, of: pods, form: string, namespaces: spec.n}")),
]


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_written_as_it_is_read(rule: ReferenceRule) -> None:
    """What is mined can be applied."""
    document = rule_document(rule, {"a": "b"})
    assert read_rule(Document("written", document)) == rule


# ---------------------------------------------------------------- by kind


def reference(
    name: str, field: str, to: TypeName = SECRET, *, discovered: bool = False
) -> ReferenceRule:
    return ReferenceRule(name, DATABASE, Reference(path(field), to), discovered=discovered)


def test_rules_are_sorted_by_the_kind_that_is_read() -> None:
    """A reference is the parent's to read, a child's parent the child's."""
    family = ReferenceRule(
        "family",
        DATABASE,
        Family((Child(TypeName("apps", "StatefulSet"), By.OWNER),), path("spec.replicas")),
    )
    book = rules_by_kind([reference("a", "spec.a"), family], KINDS)
    assert set(book.kinds) == {DATABASES, STATEFUL_SETS}
    assert [one.to for one in book.kinds[DATABASES].named] == [SECRETS]
    assert book.kinds[DATABASES].wanted == path("spec.replicas")
    (parent,) = book.kinds[STATEFUL_SETS].parents
    assert (parent.parent, parent.kind) == (DATABASES, ("db.example.com", "Database"))
    assert book.kinds[STATEFUL_SETS].metadata_only
    assert not book.kinds[DATABASES].metadata_only


def test_a_rule_about_a_type_that_is_not_served_waits() -> None:
    """A declared one is named, a discovered one is nobody's concern."""
    gone = TypeName("gone.example.com", "Gone")
    book = rules_by_kind(
        [reference("told", "spec.a", gone), reference("found", "spec.b", gone, discovered=True)],
        KINDS,
    )
    assert book.waiting == (Waiting("told", gone),)
    assert not book.kinds


def test_what_is_declared_stands_against_what_is_discovered() -> None:
    """A person who says what a field names has corrected the guess."""
    guess = reference("a-guess", "spec.ref", discovered=True)
    told = reference("told", "spec.ref", TypeName.of(CLAIMS))
    for rules in ([guess, told], [told, guess]):
        book = rules_by_kind(rules, KINDS)
        assert [one.to for one in book.kinds[DATABASES].named] == [CLAIMS]


@given(st.permutations(RULES))
def test_the_order_of_rules_does_not_matter(rules: list[ReferenceRule]) -> None:
    """The same rules give equal readers, so that nothing is listed anew for their order."""
    renamed = [ReferenceRule(f"rule-{RULES.index(rule)}", rule.of, rule.says) for rule in rules]
    first = [ReferenceRule(f"rule-{at}", rule.of, rule.says) for at, rule in enumerate(RULES)]
    assert rules_by_kind(renamed, KINDS) == rules_by_kind(first, KINDS)


@pytest.mark.parametrize(
    ("template", "child", "parent"),
    [
        ("{name}", "db", "db"),
        ("{name}-config", "my-db-config", "my-db"),
        ("{name}-config", "config", None),
        ("{name}-*", "my-db-0", "my-db"),
        ("{name}-*-*", "my-db-7d9f-x2", "my-db"),
        ("data-{name}-*", "data-db-0", "db"),
        ("*-{name}", "blue-my-db", "my-db"),
        ("{name}.*", "db.example", "db"),
        ("{name}-*", "db", None),
    ],
)
def test_a_childs_name_tells_its_parents(template: str, child: str, parent: str | None) -> None:
    """There is one way to read a name, however many dashes it has."""
    found = re.fullmatch(name_pattern(template), child)
    assert (found and found[1]) == parent


def test_pods_are_what_a_selector_means_without_a_word() -> None:
    """`of` left out is pods."""
    says = read(spec("selector: {field: spec.selector}")).says
    assert isinstance(says, Selects)
    assert says.of == TypeName.of(PODS)


def test_fields_are_called_after_kinds_of_their_own_group_that_are_served() -> None:
    """Not after their own kind, nor after one of another group or that nobody serves."""
    pools = Resource(DATABASES.group, "addresspools")
    kinds = {**KINDS, (DATABASES.group, "AddressPool"): pools}
    fields = tuple(map(path, ("spec.pool", "spec.database", "spec.secretName", "spec.classRef")))

    def book(*says: Says) -> Mapping[Resource, KindRules]:
        rules = [ReferenceRule("r", TypeName.of(DATABASES), one, discovered=True) for one in says]
        return rules_by_kind(rules, kinds).kinds

    meant = KindCalled(path("spec.pool"), (pools,))
    assert book(Called(fields))[DATABASES].called == (meant,)
    assert book(Called(fields[1:])) == {}
    assert book(Open())[DATABASES].open == OpenSpec(DATABASES, (("AddressPool", pools),))


def test_a_selector_is_called_after_the_last_words_of_what_it_selects() -> None:
    """`ruleSelector` is of PrometheusRules; what a person declares is taken at its word."""
    pools = Resource(DATABASES.group, "addresspools")
    kinds = {**KINDS, (DATABASES.group, "AddressPool"): pools}
    of = TypeName(DATABASES.group, "Pool")
    says = Selects(path("spec.poolSelector"), of, Form.LABEL_SELECTOR)

    def book(*, discovered: bool) -> Rulebook:
        rule = ReferenceRule("r", TypeName.of(DATABASES), says, discovered=discovered)
        return rules_by_kind([rule], kinds)

    (selected,) = book(discovered=True).kinds[DATABASES].selected
    assert selected.resource == pools
    assert book(discovered=False).waiting == (Waiting("r", of),)
