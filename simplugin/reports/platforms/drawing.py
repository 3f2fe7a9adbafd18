"""Drawings of platforms, from a few hosts to federations of a thousand clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from simplugin.core.errors import SimpluginError
from simplugin.core.formatting import counted
from simplugin.platforms.platform import Platform
from simplugin.reports.colours import mixed
from simplugin.reports.image_files import Chart, drawn
from simplugin.reports.paper_sheet import LINE, POINT, key_layout, write_key
from simplugin.reports.platforms.blocks import blocks
from simplugin.reports.platforms.contents import rate_words, speed_words
from simplugin.reports.platforms.items import Detail, DrawnItem, PlatformItems
from simplugin.reports.platforms.sheet import WIDTH, Block, Disc, DrawnBox, Stroke, Words, measured

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


DetailName = Literal["auto", "hosts", "clusters", "sites"]
# Maximum size of a sheet [inch].
_FITS = (WIDTH + 0.2, 12.0)
# Maximum numbers of hosts drawn one by one by default, as discs and as dots.
_MOST_HOSTS, _MOST_DOTS = 60, 200_000
_FOLD = 8
# Maximum number of sites shown with their clusters.
_MOST_LISTED = 40


def draw_platform(
    platform: Platform,
    path: str | PathLike[str] | None = None,
    *,
    title: str = "",
    detail: DetailName = "auto",
) -> Chart:
    """Draw a platform.

    Parameters
    ----------
    platform : Platform
        The platform to draw.
    path : path, optional
        A PNG, SVG or PDF file, by its suffix; an existing file is replaced. The same platform gives
        the same bytes.
    title : str
        Above it; the name of the outermost zone if empty.
    detail : {"auto", "hosts", "clusters", "sites"}
        ``hosts``: explicit hosts one by one, clusters as a box each.
        ``clusters``: hosts of a zone as a box. ``sites``: each part of the outermost zone as a box
        that names its largest clusters. ``auto``: as much of it as fits on a sheet.

    Returns
    -------
    Chart
        The drawing, which a notebook shows.

    Raises
    ------
    SimpluginError
        There is no host, the suffix is unknown, or the file cannot be written.
    """
    if detail not in get_args(DetailName):
        raise SimpluginError(
            f"detail is {detail!r}; choose {', '.join(map(repr, get_args(DetailName)))}"
        )
    survey = PlatformItems(platform)
    item, block = _drawn(survey, detail)
    held = item.contents
    if not held.host_count:
        raise SimpluginError("the platform has no host: there is nothing to draw")
    facts = f"{held.total_words()}, {held.power_words()}"
    if links := len(survey.links):
        facts += f", {counted(links, 'link')}"
    return drawn(figure_of(block, title or item.name, facts), path)


def _drawn(survey: PlatformItems, detail: DetailName) -> tuple[DrawnItem, Block]:
    """Return the drawing in the requested detail, or in the first that fits."""
    fixed = {
        "hosts": Detail(),
        "clusters": Detail(hosts=False, rows=24),
        "sites": Detail(hosts=False, sites=True, rows=8, boxes=100),
    }
    for each in _details(survey) if detail == "auto" else [fixed[detail]]:
        item = survey.item(each)
        block = blocks(survey, item)
        if block.width <= _FITS[0] and block.height <= _FITS[1]:
            break
    return item, block


def _details(survey: PlatformItems) -> list[Detail]:
    """List details to try, the finest first."""
    tried = []
    if survey.explicit_hosts <= _MOST_HOSTS:
        tried.append(Detail(boxes=60, frame=120))
    dots = survey.explicit_hosts <= _MOST_DOTS and not survey.top.zones
    if dots or survey.explicit_hosts <= 500:
        tried.append(Detail(fold=_FOLD, boxes=60, frame=120))
    tried.append(Detail(hosts=False, rows=16, boxes=60, frame=120))
    if len(survey.top.zones) + len(survey.top.clusters) <= _MOST_LISTED:
        tried += [Detail(hosts=False, sites=True, rows=rows) for rows in (10, 6, 3)]
    tried += [
        Detail(hosts=False, sites=True, rows=0, boxes=34, frame=120),
        Detail(hosts=False, sites=True, rows=0, boxes=120),
        Detail(hosts=False, sites=True, rows=3, boxes=20),
    ]
    return tried


_MARGIN, _KEY = 0.15, 6.8
_THIN, _THICK = 0.5, 3.6
_LINE, _NAMELESS = "#7d93a8", "#b5b5b5"
# Colours of slow and fast cores; black is legible on both.
_SLOW, _FAST = "#f1f6fb", "#7cbbe3"
_EDGES = {"zone": "#9aa5b1", "listing": "#7c8a99", "group": "#5b7fa3"}
_EDGES |= {"router": "#555555", "meeting": "#444444", "bar": "#5b7fa3"}
_EDGES |= {"bus": "#b57b0c", "host": "#33506b"}
_FACES = {"zone": "#fbfbf8", "listing": "#ffffff", "router": "#e6e6e6", "bus": "#fbe3b9"}
_FACES |= {"meeting": "#444444"}
# The marker of each kind of disc, and its side or diameter over the radius.
_MARKERS = {"host": ("o", 2.0), "router": ("s", 1.77), "bus": ("D", 1.84), "meeting": ("o", 2.0)}
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
            share = math.log(max(speed, self.slowest) / self.slowest)
            share /= math.log(self.fastest / self.slowest)
        return mixed(_SLOW, _FAST, min(max(share, 0.0), 1.0))

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
    legend = _legend(block, scale)
    head = max(measured(title, 11, bold=True)[0], measured(facts, 7.5)[0])
    width = max(block.width, head, 4.2) + 2 * _MARGIN
    top = 0.58
    left = (width - block.width) / 2
    sheet = Block()
    sheet.put(block, left, top)
    shown, names = sheet.place_labels((0.02, top - 0.02, width - 0.02, top + block.height + 0.02))
    y = top + block.height + 0.1
    if shown < names:
        note = f"{names - shown:,} of {names:,} names do not fit"
        sheet.words.append(Words(_MARGIN, y + 0.07, note, 6.5, colour="#777777"))
        y += 0.13
    sheet.words.append(Words(_MARGIN, 0.2, title, 11, bold=True))
    sheet.words.append(Words(_MARGIN, 0.4, facts, 7.5, colour="#555555"))
    # Large hosts are taller than text.
    tallest = max((disc.radius for disc in block.discs if disc.kind == "host"), default=0.0)
    apart = max(1.0, 144 * tallest / _KEY - LINE)
    rows, _, _ = key_layout(list(legend), width, _KEY)
    height = y + (sum(rows) * (LINE + apart) + 1.5) * _KEY * POINT
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.axis("off")
    many = len(sheet.discs) + len(sheet.strokes) > _RASTERISE_FROM
    zones = [box for box in sheet.boxes if box.kind == "zone"]
    for level, box in enumerate(zones):
        _box(axes, box, scale, 1 + level / (len(zones) + 1))
    _strokes(axes, sheet.strokes, scale, rasterized=many)
    _discs(axes, sheet.discs, scale, rasterized=many)
    for box in sheet.boxes:
        if box.kind != "zone":
            _box(axes, box, scale, 5.0 if box.kind == "bar" else 4.0)
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.85}
    for words in sheet.words:
        axes.text(
            words.x, words.y, words.text.replace("$", r"\$"), fontsize=words.size,
            fontweight="bold" if words.bold else "normal", color=words.colour, ha=words.align,
            va="center_baseline", zorder=7, bbox=paper if words.paper else None,
        )  # fmt: skip
    handles = list(legend.values())
    write_key(figure, list(legend), handles, width, size=_KEY, place="lower left", apart=apart)
    return figure


def _box(axes: Axes, box: DrawnBox, scale: _Scale, order: float) -> None:
    """Draw a rectangle, with round corners unless it is a bar."""
    from matplotlib.patches import FancyBboxPatch

    is_bar = box.kind == "bar"
    corner = 0.0 if is_bar else min(0.06, box.height / 3)
    face = scale.shade(box.speed) if box.speed > 0 else _FACES.get(box.kind, "#ffffff")
    axes.add_patch(
        FancyBboxPatch(
            (box.x + corner, box.y + corner), box.width - 2 * corner, box.height - 2 * corner,
            boxstyle="square,pad=0" if is_bar else f"round,pad={corner}", facecolor=face,
            edgecolor=_EDGES[box.kind], linewidth=0.3 if is_bar else 0.7, zorder=order,
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
    width = 0.1 if rasterized else 0.6 if len(discs) <= 500 else 0.2
    for kind, (marker, size) in _MARKERS.items():
        chosen = [disc for disc in discs if disc.kind == kind]
        shades = [scale.shade(disc.speed) for disc in chosen] if kind == "host" else _FACES[kind]
        axes.scatter(
            [disc.x for disc in chosen], [disc.y for disc in chosen],
            s=[(72 * size * disc.radius) ** 2 for disc in chosen], marker=marker, c=shades,
            edgecolors=_EDGES[kind], linewidths=width, zorder=4, rasterized=rasterized,
        )  # fmt: skip


def _legend(block: Block, scale: _Scale) -> dict[str, Any]:
    """Return the samples of the legend by their names."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    def mark(shape: str, radius: float, face: str, edge: str) -> Line2D:
        """Return a mark of a size [inch]."""
        return Line2D(
            [], [], linestyle="", marker=shape, markersize=144 * radius, markerfacecolor=face,
            markeredgecolor=edge, markeredgewidth=0.6,
        )  # fmt: skip

    found: dict[str, Any] = {}
    kinds = {box.kind for box in block.boxes} | {disc.kind for disc in block.discs}
    hosts = [disc for disc in block.discs if disc.kind == "host"]
    hosts.sort(key=lambda disc: (disc.power, -disc.radius))
    for disc in hosts[:1] + hosts[-1:]:
        shade, radius = scale.shade(disc.speed), max(disc.radius, 0.02)
        found[f"host of {speed_words(disc.power)}"] = mark("o", radius, shade, _EDGES["host"])
    if scale.fastest > 1.0001 * scale.slowest:
        for speed in (scale.slowest, math.sqrt(scale.slowest * scale.fastest), scale.fastest):
            patch = Patch(facecolor=scale.shade(speed), edgecolor=_EDGES["group"], linewidth=0.3)
            found[f"core of {speed_words(speed)}"] = patch
    if "bar" in kinds:
        found["bar: cores of a cluster"] = Line2D(
            [], [], color=scale.shade(scale.fastest), linewidth=0.08 * 72, solid_capstyle="butt"
        )
    rates = scale.rates
    if len(rates) > 5:
        rates = [rates[round(i * (len(rates) - 1) / 3)] for i in range(4)]
    for rate in rates:
        found[rate_words(rate)] = Line2D([], [], color=_LINE, linewidth=scale.width(rate))
    if any(stroke.dashed for stroke in block.strokes):
        name = "never congested (FATPIPE)"
        found[name] = Line2D([], [], color=_LINE, linewidth=1.2, linestyle="dashed")
    others = {"router": "router or switch", "meeting": "links meet"}
    others |= {"bus": "link shared by all that it joins"}
    for kind, name in others.items():
        if kind in kinds:
            found[name] = mark(_MARKERS[kind][0], 0.05, _FACES[kind], _EDGES[kind])
    return found
