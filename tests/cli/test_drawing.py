"""Drawings are readable: nothing on top of anything, edges between the right boxes, same bytes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.shop import SERVICE, SETTINGS, SPACE, WEB, shop
from suture.cli.drawing import lettering
from suture.cli.drawing.colours import DARK, LIGHT, Family, family, style
from suture.cli.drawing.layers import layered, placed
from suture.cli.drawing.page import page
from suture.cli.drawing.placing import Drawing, Rect, draw
from suture.cli.drawing.svg import Titles, svg
from suture.model.boxes import Box, Line, Neighbourhood
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import NAMESPACES, PODS, ObjectKey, Resource
from suture.model.neighbourhood import neighbourhood
from suture.model.neighbours import Side

TITLES = Titles("Service shop/web", ("lab, 20 November 2026, 17:06 UTC", "33 objects"))
NAMESPACE = ObjectKey(NAMESPACES, "", SPACE)


def found(key: ObjectKey) -> Neighbourhood:
    graph = shop()
    view = GraphView(graph)
    row = view.find(key)
    assert row is not None
    return neighbourhood(view, row, graph.kinds)


@st.composite
def neighbourhoods(draw_: st.DrawFn) -> Neighbourhood:
    """Draw boxes on both sides with any edges between them, cycles and long ways included."""
    names = st.text("abc-дé<&\x00\x1b\n", min_size=1, max_size=60)
    boxes = [Box(0, None, 0, PODS, "Pod", "p", (draw_(names),), 1)]
    lines = []
    for side in Side:
        first = len(boxes)
        for _ in range(draw_(st.integers(0, 12))):
            number = len(boxes)
            count = draw_(st.integers(1, 9))
            name = draw_(names)
            boxes.append(Box(number, side, 1, PODS, "Pod", "p", (name,) * min(count, 12), count))
            nearer = draw_(st.sampled_from([0, *range(first, number)]))
            lines.append(line(side, nearer, number, draw_(st.sampled_from(list(Edge)))))
        numbers = [0, *range(first, len(boxes))]
        pairs = st.tuples(st.sampled_from(numbers), st.sampled_from(numbers))
        for near, far in draw_(st.lists(pairs, max_size=8)):
            if near != far:
                lines.append(line(side, near, far, draw_(st.sampled_from(list(Edge)))))
    return Neighbourhood(tuple(boxes), tuple(lines), 4)


def line(side: Side, near: int, far: int, edge: Edge) -> Line:
    return Line(near, far, edge, 1) if side is Side.NEEDS else Line(far, near, edge, 1)


# ---- nothing on top of anything


def overlap(one: Rect, other: Rect) -> bool:
    return (
        one.x < other.right
        and other.x < one.right
        and one.y < other.bottom
        and other.y < one.bottom
    )


def label_rects(drawing: Drawing) -> list[Rect]:
    return [Rect(one.left, one.y - 15, one.width, 14) for one in drawing.labels]


def assert_readable(drawing: Drawing) -> None:
    boxes = [one.rect for one in drawing.boxes]
    labels = label_rects(drawing)
    for one, other in combinations([*boxes, *labels], 2):
        assert not overlap(one, other), (one, other)
    for placed_box in drawing.boxes:
        face, room = placed_box.face, placed_box.rect.width
        assert lettering.width(face.name, 13, bold=True) <= room
        assert lettering.width(face.state, 11) <= room


@given(neighbourhoods())
def test_no_box_and_no_label_lies_on_another(made: Neighbourhood) -> None:
    """Whatever is drawn; and what is written in a box is no wider than the box."""
    drawing = draw(made)

    assert_readable(drawing)
    assert len(drawing.boxes) == len(made.boxes)


@pytest.mark.parametrize("key", [WEB, SERVICE, SETTINGS, NAMESPACE])
def test_a_real_neighbourhood_is_readable(key: ObjectKey) -> None:
    """The shop's, from several of its objects."""
    assert_readable(draw(found(key)))


@given(neighbourhoods())
def test_no_edge_runs_through_a_box(made: Neighbourhood) -> None:
    """Between its ends an edge passes only where nothing stands; it runs from left to right."""
    drawing = draw(made)
    rects = {one.box.number: one.rect for one in drawing.boxes}
    for route in drawing.routes:
        others = [rect for number, rect in rects.items() if number not in (route.near, route.far)]
        for (x, y), (to_x, to_y) in pairwise(route.knots):
            assert x <= to_x
            swept = Rect(x, min(y, to_y), to_x - x, max(abs(to_y - y), 0.01))
            straight = abs(to_y - y) < 0.01
            assert not any(overlap(swept, other) for other in others if straight)


@given(neighbourhoods())
def test_every_edge_is_drawn_or_told(made: Neighbourhood) -> None:
    """What closes a cycle is told in the box where it begins; only membership may be left out."""
    drawing = draw(made)
    drawn = {(route.near, route.far) for route in drawing.routes}
    told = {one.box.number for one in drawing.boxes if one.loops}
    for one in made.lines:
        if one.edge not in (Edge.NAMESPACE, Edge.DEFINITION):
            pair = (one.needer, one.needed)
            assert pair in drawn or pair[::-1] in drawn or told & {one.needer, one.needed}


def test_sides() -> None:
    """What needs the object is left of it, what it needs is right."""
    drawing = draw(found(SERVICE))
    centre = drawing.boxes[0].rect
    for one in drawing.boxes[1:]:
        if one.box.side is Side.NEEDS:
            assert one.rect.x > centre.right
        else:
            assert one.rect.right < centre.x


# ---- layers


def test_layers_are_by_the_longest_way() -> None:
    """So that every edge runs one way; one that passes a layer has its own place there."""
    found_ = layered([(0, 1), (1, 2), (0, 2)])

    assert [len(layer) for layer in found_.layers] == [1, 2, 1]
    assert len(found_.paths[0, 2]) == 3
    assert found_.backward == ()


def test_cycles_are_cut() -> None:
    """At the edge that leads back."""
    assert layered([(0, 1), (1, 2), (2, 1), (2, 0)]).backward == ((2, 1), (2, 0))


def test_crossings_that_need_not_be_are_not() -> None:
    """Two chains that begin in the wrong order are untangled."""
    found_ = layered([(0, 1), (0, 2), (2, 3), (1, 4)])
    second, third = found_.layers[1], found_.layers[2]

    assert [4 if one == 1 else 3 for one in second] == list(third)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=14))
def test_places_keep_their_distance(edges: list[tuple[int, int]]) -> None:
    """In each layer, in its order."""
    layering = layered([(near, far) for near, far in [(0, 7), *edges] if near != far])
    nodes = [node for layer in layering.layers for node in layer]
    heights = {node: 10.0 + node for node in nodes}

    middles = placed(layering, heights, 5.0)

    for layer in layering.layers:
        for one, other in pairwise(layer):
            room = (heights[one] + heights[other]) / 2 + 5.0
            assert middles[other] - middles[one] >= room - 1e-6


# ---- letters and colours


@given(st.text(max_size=80), st.floats(12, 400))
def test_shortened_texts_fit(text: str, room: float) -> None:
    """And a text that fits is left as it is."""
    short = lettering.shorten(text, room, 12)

    assert lettering.width(short, 12) <= room
    assert short == text or lettering.width(text, 12) > room


def test_a_shortened_name_keeps_both_ends() -> None:
    """What tells siblings apart is at the end."""
    short = lettering.shorten("payments-gateway-5c996bcc7c-x2x9k", 150, 13, bold=True)

    assert short.startswith("payments")
    assert short.endswith("x2x9k"[-4:])
    assert "…" in short


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", [*Family, "ink", "quiet", "alarm", "doubt"])
def test_letters_can_be_read(palette: dict[str, str], name: str) -> None:
    """On their ground, with the contrast that WCAG asks of text: 4.5 to 1."""
    for ground in ("card", "paper"):
        light, dark = sorted((luminance(palette[name]), luminance(palette[ground])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


@pytest.mark.parametrize("theme", ["", "data-theme"])
def test_dark_rules_reach_what_light_ones_do(theme: str) -> None:
    """The same selectors below their scope, so that nothing stays light in the dark."""
    light, dark = style(theme=theme).split("@media (prefers-color-scheme: dark) {")
    scope = ":root:not([data-theme=light]) " if theme else "svg "
    coloured = light[light.index(".paper") :]
    wanted = {part for rule in re.findall(r"^([^{]+) \{", coloured, re.MULTILINE)
              for part in rule.split(", ")}  # fmt: skip
    said = {
        part
        for rule in re.findall(r"^([^{}]+) \{", dark.split("\n}\n")[0], re.MULTILINE)
        for part in rule.strip().split(", ")
    }

    assert {scope + part for part in wanted} == said


def test_families() -> None:
    """Built-in kinds by their group, everything else is custom."""
    assert family(PODS) is Family.WORKLOAD
    assert family(Resource("networking.k8s.io", "ingresses")) is Family.NETWORK
    assert family(Resource("topics.example.com", "topics")) is Family.CUSTOM
    assert family(Resource("", "nodes")) is Family.CLUSTER


# ---- files


def texts(document: str) -> list[str]:
    root = ET.fromstring(document)  # noqa: S314 our own
    return [one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}text")]


@settings(max_examples=25)
@given(neighbourhoods())
def test_svg_is_xml_whatever_the_names(made: Neighbourhood) -> None:
    """Names are text, never markup."""
    assert texts(svg(draw(made), TITLES))[0] == TITLES.title


def test_svg_says_what_is_there() -> None:
    """Title, kinds, names, counts, states, the words of the edges and the legend."""
    said = texts(svg(draw(found(SERVICE)), TITLES))

    for words in ("Service shop/web", "12 Pods of ReplicaSet", "web-5d9", "11 of 12 ready",
                  "selects", "web-payments", "missing", "workload", "share that is ready"):  # fmt: skip
        assert words in said


def test_nothing_comes_from_elsewhere() -> None:
    """Neither picture nor page names an address, but for SVG's own name."""
    drawing = draw(found(SERVICE))
    for text in (svg(drawing, TITLES), page(drawing, TITLES)):
        assert set(re.findall(r"\w+://[^\s\"'<]+", text)) == {"http://www.w3.org/2000/svg"}
        assert "@import" not in text
        assert "url(" not in text


def test_the_same_bytes() -> None:
    """Equal graphs give equal files."""
    assert svg(draw(found(WEB)), TITLES) == svg(draw(found(WEB)), TITLES)
    assert page(draw(found(WEB)), TITLES) == page(draw(found(WEB)), TITLES)


def test_a_name_cannot_leave_the_page_s_data() -> None:
    """Nor become markup or script."""
    made = found(WEB)
    evil = "</script><script>alert(1)</script>"
    boxes = (msgspec.structs.replace(made.boxes[0], names=(evil,)), *made.boxes[1:])

    text = page(draw(msgspec.structs.replace(made, boxes=boxes)), TITLES)

    assert evil not in text
    (data,) = re.findall(r'<script type="application/json" id="told">(.*?)</script>', text)
    assert evil in json.loads(data)[0][0]


@pytest.mark.skipif(shutil.which("node") is None, reason="no JavaScript engine on this machine")
def test_the_page_s_script_is_javascript(tmp_path: Path) -> None:
    """As far as a parser can tell."""
    script = Path(__file__).parents[2] / "src/suture/cli/drawing/page.js"
    subprocess.run(["node", "--check", str(script)], check=True, timeout=60)
