"""Results of small simulations; drawing does not change them."""

from io import StringIO

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from rich.console import Console

from simplugin import Host, Link, Platform, Route, SimGridOptions, Zone, simulate
from simplugin.reports.page.contents import CampaignReport

PLATFORM = Platform(
    Zone(
        "lab",
        "Full",
        [Host("node-10", 1e9), Host("node-2", 2e9), Host("idle", 1e9), Link("wire", 1e8)],
        [Route("node-10", "node-2", ["wire"])],
    )
)


async def sender(me):
    both = [me.mailbox(name).put_async(None, 1e8, label="data") for name in ("one", "two")]
    await me.wait_all(both)
    await me.execute(1e9, label="report")


async def receiver(me, name, flops):
    await me.mailbox(name).get()
    await me.execute(flops, label=f"crunch {name}")
    late = me.exec_async(1e12)
    await me.sleep_for(1.0)
    late.cancel()


@pytest.fixture(scope="session")
def result():
    """Two transfers share a wire until 2 s, then two executions share a core."""
    actors = [
        ("node-10", sender),
        ("node-2", receiver, "one", 2e9),
        ("node-2", receiver, "two", 2e9),
    ]
    return simulate(PLATFORM, actors, options=SimGridOptions.linear())


@pytest.fixture(scope="session")
def nothing():
    """A simulation in which nothing happens."""

    async def idle(me):
        pass

    return simulate(PLATFORM, [("idle", idle)])


def texts_in(figure):
    # A canvas that keeps what measures texts; limits of the axes are given, so that all places are
    # known without drawing.
    FigureCanvasAgg(figure)
    return [text for text in figure.axes[0].texts if text.get_text()]


def overlaps(texts):
    boxes = []
    for text in texts:
        # What is around letters does not count.
        text.set_bbox(None)
        boxes.append(text.get_window_extent().extents)
    left, low, right, high = np.array(boxes).T
    one, other = np.triu_indices(len(boxes), 1)
    across = np.minimum(right[one], right[other]) - np.maximum(left[one], left[other])
    down = np.minimum(high[one], high[other]) - np.maximum(low[one], low[other])
    # Less than the space that a line leaves below its letters, at 100 dots per inch.
    [found] = np.nonzero((across > 1.0) & (down > 2.5))
    return [(texts[one[i]].get_text(), texts[other[i]].get_text()) for i in found]


def cut_off(texts):
    sheet = texts[0].figure.bbox
    found = []
    for text in texts:
        box = text.get_window_extent()
        if box.x0 < -1 or box.y0 < -1 or box.x1 > sheet.x1 + 1 or box.y1 > sheet.y1 + 1:
            found.append(text.get_text())
    return found


def all_texts_in(figure):
    """Return every text that a figure shows, after everything has its place."""
    FigureCanvasAgg(figure).draw()
    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = (*axis.get_major_ticks(), *axis.get_minor_ticks())
            # Labels beyond the frame are not drawn.
            hidden |= {
                label
                for tick in ticks
                for label in (tick.label1, tick.label2)
                if not low <= tick.get_loc() <= high or not label.get_visible()
            }
    texts = [
        text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()
    ]
    return [text for text in dict.fromkeys(texts) if text not in hidden]


@pytest.fixture(scope="session")
def every_text():
    """A function from a figure to all texts that it shows."""
    return all_texts_in


@pytest.fixture(scope="session")
def texts_of():
    """A function from a figure to its texts."""
    return texts_in


@pytest.fixture(scope="session")
def covered():
    """A function from a figure to the pairs of texts that cover each other."""
    return lambda figure: overlaps(texts_in(figure))


@pytest.fixture(scope="session")
def illegible():
    """A function from texts to those that cover each other or are cut off."""
    return lambda texts: overlaps(texts) + cut_off(texts)


def report_in(*columns, **more):
    runs = len(columns[0].values)
    texts = [""] * runs
    given = {"position": range(runs), "status": ["done"] * runs, "failure": texts, "error": texts}
    return CampaignReport("A title", columns, total=runs, **(given | more))


@pytest.fixture(scope="session")
def report_of():
    """A function from columns to a report in which all runs are done."""
    return report_in


@pytest.fixture(scope="session")
def printed():
    """A function from a printing function to the lines that it prints, without double spaces."""

    def lines(write, width=110):
        out = StringIO()
        write(Console(file=out, width=width))
        return [" ".join(line.split()) for line in out.getvalue().splitlines() if line.strip()]

    return lines
