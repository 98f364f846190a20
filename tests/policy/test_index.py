"""The index leaves out nothing that matches, and looks at little that does not."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from support.cases import actor, case, request
from suture.model.documents import Document
from suture.model.names import Gvk, Gvr, ObjectKey, Operation, Resource
from suture.model.objects import ClusterObject
from suture.model.request import Collection, CollectionItem, Extent, One
from suture.policy.format import KindsFormat, MatchFormat, SelectorFormat
from suture.policy.index import Index
from suture.policy.matching import Match, read_match
from suture.policy.rules import Case

_DOCUMENT = Document("t.yaml", {})
_globs = st.lists(st.sampled_from(["a", "b", "ab", "a*", "*b", "*", "ab*", ""]), max_size=3)
_formats = st.builds(
    MatchFormat,
    operators=st.none() | _globs,
    excluded_operators=_globs,
    operations=st.none() | st.lists(st.sampled_from(["CREATE", "DELETE", "*"]), max_size=2),
    kinds=st.none()
    | st.lists(
        st.builds(
            KindsFormat,
            groups=st.sampled_from([[""], ["apps"], ["*"]]),
            resources=st.sampled_from([["services"], ["*"], ["services/scale", "namespaces"]]),
        ),
        max_size=2,
    ),
    namespaces=st.none() | _globs,
    excluded_namespaces=_globs,
    names=st.none() | _globs,
    label_selector=st.none()
    | st.builds(
        SelectorFormat,
        match_labels=st.dictionaries(st.sampled_from("xy"), st.sampled_from("12"), max_size=2),
    ),
)
_names = st.sampled_from(["a", "b", "ab", "abc", "c", ""])
_EXTENTS: tuple[Extent, ...] = (One(), CollectionItem(), Collection())


def labelled(labels: dict[str, str]) -> ClusterObject:
    return ClusterObject(
        ObjectKey(Resource("", "services"), "a", "a"),
        "uid",
        Gvk("", "v1", "Service"),
        labels=labels,
    )


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    things = st.none() | st.dictionaries(
        st.sampled_from("xy"), st.sampled_from("123"), max_size=2
    ).map(labelled)
    plural, group = draw(st.sampled_from([("services", ""), ("namespaces", ""), ("pods", "apps")]))
    asked = msgspec.structs.replace(
        request(
            name=draw(_names),
            namespace=draw(_names),
            operation=draw(st.sampled_from(Operation)),
            subresource=draw(st.sampled_from(["", "scale"])),
            extent=draw(st.sampled_from(_EXTENTS)),
        ),
        gvr=Gvr(group, "v1", plural),
        old=draw(things),
        new=draw(things),
    )
    parent = st.none() | st.dictionaries(st.sampled_from("xy"), st.sampled_from("123"), max_size=2)
    return msgspec.structs.replace(
        case(asked=asked, by=msgspec.structs.replace(actor(draw(_names)), operator=draw(_names))),
        parent_labels=draw(parent) if asked.subresource else None,
    )


def matches(formats: list[MatchFormat]) -> list[Match]:
    """Compile matches, those with mistakes included: they are as good as others here."""
    return [read_match(one, _DOCUMENT, ("match",), lambda _: None) for one in formats]


@settings(max_examples=400)
@given(st.lists(_formats, max_size=8), st.lists(_cases(), min_size=1, max_size=3))
def test_nothing_that_matches_is_left_out(formats: list[MatchFormat], weighed: list[Case]) -> None:
    """Asked for each candidate, the same constraints apply as when all are asked, in order."""
    compiled = matches(formats)
    index = Index(compiled)
    for one in weighed:
        candidates = list(index.candidates(one))
        assert candidates == sorted(set(candidates))
        found = [number for number in candidates if compiled[number].matches(one)]
        assert found == [number for number, match in enumerate(compiled) if match.matches(one)]


def test_a_thousand_constraints_of_others_are_not_looked_at() -> None:
    """Filed by namespace, operator, name, label or kind, only what may match comes back."""
    formats = [
        *(MatchFormat(namespaces=[f"team-{i}", f"team-{i}-*"]) for i in range(300)),
        *(MatchFormat(operators=[f"system:serviceaccount:team-{i}:*"]) for i in range(300)),
        *(MatchFormat(names=[f"thing-{i}"]) for i in range(200)),
        *(
            MatchFormat(label_selector=SelectorFormat(match_labels={"team": f"{i}"}))
            for i in range(100)
        ),
        *(
            MatchFormat(kinds=[KindsFormat(groups=["apps"], resources=[f"kind{i}s"])])
            for i in range(100)
        ),
        MatchFormat(),
    ]
    index = Index(matches(formats))
    assert list(index.candidates(case())) == [1000]
    assert list(index.candidates(case(asked=request(namespace="team-7-x")))) == [7, 1000]
