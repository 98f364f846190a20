"""How wide a text is, without a font at hand: so that boxes are as wide as what they say.

Measured in DejaVu Sans, the widest of the usual sans-serif fonts: what fits in it fits in the
others. SOURCE: the advance widths of DejaVu Sans 2.37, in thousandths of the font's size.
"""

from __future__ import annotations

FIRST = 32
REGULAR = (
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,
    636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,
    1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
    603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,
    500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
    635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
)  # fmt: skip
BOLD = (
    348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365,
    696, 696, 696, 696, 696, 696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 580,
    1000, 774, 762, 734, 830, 683, 683, 821, 837, 372, 372, 775, 637, 995, 837, 850,
    733, 850, 770, 720, 682, 812, 774, 1103, 771, 724, 725, 457, 365, 457, 838, 500,
    500, 675, 716, 593, 716, 678, 435, 716, 712, 343, 343, 665, 343, 1042, 712, 687,
    716, 716, 493, 595, 478, 712, 652, 924, 645, 652, 582, 712, 365, 712, 838,
)  # fmt: skip
WIDEST = 1000
"""Of a character that is not in the table: a full em, as of most scripts' widest."""

FAMILY = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Return how wide a text is at most, in the unit of `size`."""
    table = BOLD if bold else REGULAR
    last = FIRST + len(table)
    thousandths = sum(
        table[ord(one) - FIRST] if FIRST <= ord(one) < last else WIDEST for one in text
    )
    return thousandths * size / 1000


def shorten(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """Return a text that is no wider than `room`, its middle left out where it must be.

    WHY the middle: names of one workload begin alike and end in what tells them apart.
    """
    if width(text, size, bold=bold) <= room:
        return text
    for kept in range(len(text) - 1, 0, -1):
        tail = kept * 2 // 5
        short = f"{text[: kept - tail]}…{text[len(text) - tail :]}"
        if width(short, size, bold=bold) <= room:
            return short
    return "…"
