"""Drawings of platforms, from a few hosts to federations of a thousand clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from simplugin.errors import SimpluginError
from simplugin.reports.image_files import Chart, drawn
from simplugin.reports.platforms.blocks import WIDTH, blocks
from simplugin.reports.platforms.ink import figure_of
from simplugin.reports.platforms.items import Detail, Item, Survey

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.figure import Figure

    from simplugin.platforms.platform import Platform
    from simplugin.reports.platforms.sheet import Block

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
        Charts to draw.
    path : path, optional
        A PNG, SVG or PDF file, by its suffix; an existing file is replaced. The same platform gives
        the same bytes.
    title : str
        Above it; the name of the outermost zone if empty.
    detail : {"auto", "hosts", "clusters", "sites"}
        ``hosts``: hosts that have an element of their own one by one, clusters as a box each.
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
    survey = Survey(platform)
    item, block = _drawn(survey, detail)
    held = item.contents
    if not held.host_count:
        raise SimpluginError("the platform has no host: there is nothing to draw")
    links = len(survey.links)
    facts = f"{held.total_words()}, {held.power_words()}"
    if links:
        facts += f", {links:,} links" if links > 1 else ", 1 link"
    return drawn(figure_of(block, title or item.name, facts), path)


def platform_figure(platform: Platform, *, title: str = "", detail: DetailName = "auto") -> Figure:
    """Return the drawing that `draw_platform` writes, as a matplotlib figure."""
    return draw_platform(platform, title=title, detail=detail).figure


def _drawn(survey: Survey, detail: DetailName) -> tuple[Item, Block]:
    """Return the drawing in the requested detail, or in the first that fits."""
    fixed = {
        "hosts": Detail(),
        "clusters": Detail(hosts=False, rows=24),
        "sites": Detail(hosts=False, sites=True, rows=8, boxes=100),
    }
    if detail != "auto":
        item = survey.item(fixed[detail])
        return item, blocks(survey, item)
    chosen = _details(survey)
    for each in chosen:
        item = survey.item(each)
        block = blocks(survey, item)
        if block.width <= _FITS[0] and block.height <= _FITS[1]:
            break
    return item, block


def _details(survey: Survey) -> list[Detail]:
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
