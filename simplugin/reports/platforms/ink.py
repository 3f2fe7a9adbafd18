"""Matplotlib figures of the shapes of a platform, with a legend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simplugin.reports.platforms.blocks import BAR
from simplugin.reports.platforms.contents import rate_words, speed_words
from simplugin.reports.platforms.sheet import Block, Box, Disc, Stroke, Words, measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARGIN = 0.15
_THIN, _THICK = 0.5, 3.6
_LINE, _NAMELESS = "#7d93a8", "#b5b5b5"
# Colours of slow and fast cores; black is legible on both.
_SLOW, _FAST = (0xF1, 0xF6, 0xFB), (0x7C, 0xBB, 0xE3)
_EDGES = {"zone": "#9aa5b1", "listing": "#7c8a99", "group": "#5b7fa3"}
_EDGES |= {"router": "#555555", "meeting": "#444444"}
_FACES = {"zone": "#fbfbf8", "listing": "#ffffff", "router": "#e6e6e6", "bus": "#fbe3b9"}
_BUS_EDGE = "#b57b0c"
# Number of shapes from which they are rasterised in vector files.
_RASTERISE_FROM = 5_000


class _Scale:
    """Scales of sizes, shades and line widths."""

    def __init__(self, block: Block) -> None:
        speeds = [box.speed for box in block.boxes] + [disc.speed for disc in block.discs]
        speeds = [speed for speed in speeds if speed > 0]
        self.slowest, self.fastest = min(speeds, default=1.0), max(speeds, default=1.0)
        rates = {each.bandwidth for each in block.strokes if not each.dashed}
        self.rates = sorted(rates - {0.0})

    def shade(self, speed: float) -> str:
        """Return the colour of a speed of a core."""
        share = 0.5
        if self.fastest > 1.0001 * self.slowest:
            share = math.log(speed / self.slowest) / math.log(self.fastest / self.slowest)
        share = min(max(share, 0.0), 1.0)
        parts = [round(a + share * (b - a)) for a, b in zip(_SLOW, _FAST, strict=True)]
        return "#" + "".join(f"{part:02x}" for part in parts)

    def width(self, bandwidth: float) -> float:
        """Return the width of a line [point]; a step for each factor of ten at most."""
        if not bandwidth or not self.rates:
            return 0.8
        low, high = self.rates[0], self.rates[-1]
        if high <= 1.0001 * low:
            return 1.2
        decades = max(math.log10(high / low), 1.0)
        return _THIN + 0.3 + (_THICK - _THIN) * math.log10(bandwidth / low) / decades


def figure_of(block: Block, title: str, facts: str) -> Figure:
    """Return a figure of a block, on a sheet of its size.

    Parameters
    ----------
    block : Block
        Shapes to draw; its labels are placed where there is room.
    title, facts : str
        Above it, in two lines.
    """
    from matplotlib.figure import Figure

    scale = _Scale(block)
    entries = _entries(block, scale)
    head = max(measured(title, 11, bold=True)[0], measured(facts, 7.5)[0])
    longest = max((entry.width for entry in entries), default=0.0)
    width = max(block.width, head, longest, 4.2) + 2 * _MARGIN
    legend = _legend(entries, width - 2 * _MARGIN)
    top = 0.58
    left = (width - block.width) / 2
    sheet = Block()
    sheet.put(block, left, top)
    shown, names = sheet.place_labels((0.02, top - 0.02, width - 0.02, top + block.height + 0.02))
    y = top + block.height + 0.2
    sheet.put(legend, _MARGIN, y)
    y += legend.height
    if shown < names:
        note = f"{names - shown:,} of {names:,} names do not fit"
        sheet.words.append(Words(_MARGIN, y + 0.07, note, 6.5, colour="#777777"))
        y += 0.13
    sheet.words.append(Words(_MARGIN, 0.2, title, 11, bold=True))
    sheet.words.append(Words(_MARGIN, 0.4, facts, 7.5, colour="#555555"))
    height = y + 0.1
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.axis("off")
    _draw(axes, sheet, scale)
    return figure


def _draw(axes: Axes, sheet: Block, scale: _Scale) -> None:
    """Draw all shapes of a sheet."""
    many = len(sheet.discs) + len(sheet.strokes) > _RASTERISE_FROM
    zones = [box for box in sheet.boxes if box.kind == "zone"]
    for level, box in enumerate(zones):
        _box(axes, box, scale, 1 + level / (len(zones) + 1))
    _strokes(axes, sheet.strokes, scale, rasterized=many)
    _discs(axes, sheet.discs, scale, rasterized=many)
    for box in sheet.boxes:
        if box.kind != "zone":
            _box(axes, box, scale, 5.0 if box.kind == "bar" else 4.0)
    for words in sheet.words:
        _words(axes, words)


def _box(axes: Axes, box: Box, scale: _Scale, order: float) -> None:
    """Draw a rectangle with round corners."""
    from matplotlib.patches import FancyBboxPatch, Rectangle

    face = scale.shade(box.speed) if box.speed > 0 else _FACES.get(box.kind, "#ffffff")
    if box.kind == "bar":
        axes.add_patch(
            Rectangle(
                (box.x, box.y), box.width, box.height, facecolor=face, edgecolor="#5b7fa3",
                linewidth=0.3, zorder=order,
            )
        )  # fmt: skip
        return
    corner = min(0.06, box.height / 3)
    edge = _BUS_EDGE if box.kind == "bus" else _EDGES[box.kind]
    axes.add_patch(
        FancyBboxPatch(
            (box.x + corner, box.y + corner), box.width - 2 * corner, box.height - 2 * corner,
            boxstyle=f"round,pad={corner}", facecolor=face, edgecolor=edge, linewidth=0.7,
            zorder=order,
        )
    )  # fmt: skip


def _strokes(axes: Axes, strokes: Sequence[Stroke], scale: _Scale, *, rasterized: bool) -> None:
    """Draw lines."""
    from matplotlib.collections import LineCollection

    for dashed in (False, True):
        chosen = [stroke for stroke in strokes if stroke.dashed == dashed]
        if chosen:
            paths: Any = [stroke.points for stroke in chosen]
            # Many lines are thin.
            crowd = min(max((100 / len(chosen)) ** 0.5, 0.3), 1.0)
            widths = [crowd * scale.width(stroke.bandwidth) for stroke in chosen]
            axes.add_collection(
                LineCollection(
                    paths,
                    linewidths=1.2 * crowd if dashed else widths,
                    colors=[_LINE if stroke.bandwidth else _NAMELESS for stroke in chosen],
                    linestyles="dashed" if dashed else "solid",
                    capstyle="round", zorder=3, rasterized=rasterized,
                ),
                autolim=False,
            )  # fmt: skip


def _discs(axes: Axes, discs: Sequence[Disc], scale: _Scale, *, rasterized: bool) -> None:
    """Draw hosts, routers and points."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Circle, RegularPolygon

    if not discs:
        return
    if rasterized:
        _dots(axes, discs, scale)
        return
    shapes: list[Any] = []
    faces, edges = [], []
    for disc in discs:
        if disc.kind == "router":
            shape: Any = RegularPolygon(
                (disc.x, disc.y), 4, radius=1.25 * disc.radius, orientation=math.pi / 4
            )
        elif disc.kind == "bus":
            shape = RegularPolygon((disc.x, disc.y), 4, radius=1.3 * disc.radius)
        else:
            shape = Circle((disc.x, disc.y), disc.radius)
        shapes.append(shape)
        faces.append(_face(disc, scale))
        edges.append(
            _BUS_EDGE if disc.kind == "bus" else "#33506b" if disc.kind == "host" else "#444444"
        )
    collection = PatchCollection(
        shapes,
        facecolors=faces,
        edgecolors=edges,
        linewidths=0.6 if len(discs) <= 500 else 0.2,
        zorder=4,
    )
    axes.add_collection(collection, autolim=False)


def _dots(axes: Axes, discs: Sequence[Disc], scale: _Scale) -> None:
    """Draw very many discs, fast."""
    from matplotlib.collections import EllipseCollection

    sizes = [2 * disc.radius for disc in discs]
    axes.add_collection(
        EllipseCollection(
            sizes, sizes, [0.0] * len(discs), units="xy",
            offsets=[(disc.x, disc.y) for disc in discs], offset_transform=axes.transData,
            facecolors=[_face(disc, scale) for disc in discs], edgecolors="#33506b",
            linewidths=0.1, zorder=4, rasterized=True,
        ),
        autolim=False,
    )  # fmt: skip


def _face(disc: Disc, scale: _Scale) -> str:
    """Return the colour inside a disc."""
    if disc.kind == "host":
        return scale.shade(disc.speed)
    return {"router": _FACES["router"], "bus": _FACES["bus"]}.get(disc.kind, "#444444")


def _words(axes: Axes, words: Words) -> None:
    """Write a line of text."""
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.85}
    axes.text(
        words.x, words.y, words.text.replace("$", r"\$"), fontsize=words.size,
        fontweight="bold" if words.bold else "normal", color=words.colour, ha=words.align,
        va="center_baseline", zorder=7, bbox=paper if words.paper else None,
    )  # fmt: skip


def _entries(block: Block, scale: _Scale) -> list[Block]:
    """Return the parts of the legend."""
    entries = []
    hosts = [disc for disc in block.discs if disc.kind == "host"]
    kinds = {box.kind for box in block.boxes} | {disc.kind for disc in block.discs}
    if hosts:
        by_size = sorted(hosts, key=lambda disc: (disc.power, -disc.radius))
        ends = (
            [by_size[0]]
            if by_size[-1].power <= 1.0001 * by_size[0].power
            else [by_size[0], by_size[-1]]
        )
        shown = [
            (Disc(0, 0, max(d.radius, 0.02), "host", d.power, d.speed), speed_words(d.power))
            for d in ends
        ]
        entries.append(_samples("host, area: its speed", shown))
    if scale.fastest > 1.0001 * scale.slowest:
        shades = [scale.slowest, math.sqrt(scale.slowest * scale.fastest), scale.fastest]
        boxes = [(Box(0, -0.05, 0.16, 0.1, "bar", speed), speed_words(speed)) for speed in shades]
        entries.append(_samples("shade: speed of a core", boxes))
    if "bar" in kinds:
        entries.append(
            _samples(
                "bar: cores of a cluster",
                [(Box(0, -0.04, BAR, 0.08, "bar", scale.fastest), "most")],
            )
        )
    if scale.rates:
        rates = scale.rates
        if len(rates) > 5:
            rates = [rates[round(i * (len(rates) - 1) / 3)] for i in range(4)]
        lines = [(Stroke(((0, 0), (0.3, 0)), rate), rate_words(rate)) for rate in rates]
        entries.append(_samples("line: bandwidth", lines))
    if any(stroke.dashed for stroke in block.strokes):
        most = max(stroke.bandwidth for stroke in block.strokes if stroke.dashed)
        entries.append(
            _samples(
                "", [(Stroke(((0, 0), (0.3, 0)), most, dashed=True), "never congested (FATPIPE)")]
            )
        )
    others = (
        ("router", "router or switch"),
        ("meeting", "links meet"),
        ("bus", "link shared by all that it joins"),
    )
    boxed = {box.kind for box in block.boxes}
    samples: list[tuple[Any, str]] = [
        (Box(0, -0.05, 0.16, 0.1, kind) if kind in boxed else Disc(0, 0, 0.05, kind), words)
        for kind, words in others
        if kind in kinds
    ]
    if samples:
        entries.append(_samples("", samples))
    return entries


def _samples(heading: str, samples: Sequence[tuple[Any, str]]) -> Block:
    """Return an entry of the legend: a heading, then shapes with words."""
    from dataclasses import replace

    block = Block(0.0, 0.3)
    x, y = 0.0, 0.15
    if heading:
        words = Words(x, y, f"{heading}:", 6.8, colour="#555555")
        block.words.append(words)
        x = words.area[2] + 0.06
    for shape, text in samples:
        width = shape.area[2] - shape.area[0] if not isinstance(shape, Stroke) else 0.3
        if isinstance(shape, Disc):
            block.discs.append(replace(shape, x=x + width / 2, y=y))
        elif isinstance(shape, Box):
            block.boxes.append(replace(shape, x=x, y=y + shape.y))
        else:
            block.strokes.append(replace(shape, points=((x, y), (x + 0.3, y))))
        words = Words(x + width + 0.05, y, text, 6.8)
        block.words.append(words)
        x = words.area[2] + 0.12
    block.width = x
    return block


def _legend(entries: Sequence[Block], width: float) -> Block:
    """Return the entries in lines."""
    legend = Block()
    x = y = tall = 0.0
    for entry in entries:
        if x and x + entry.width > width:
            x, y, tall = 0.0, y + tall, 0.0
        # Entries are centred on 0.15.
        need = max([0.22, *(2 * disc.radius + 0.06 for disc in entry.discs)])
        tall = max(tall, need)
        legend.put(entry, x, y + (need - 0.3) / 2)
        x += entry.width + 0.15
    legend.height = y + tall + 0.08 if entries else 0.0
    return legend
