"""Gantt charts: layout of the bars and drawings."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from naming import raises_naming

from simplugin import Cluster, Host, Placement, Platform, Zone, simulate
from simplugin.core.errors import SimpluginError
from simplugin.reports import gantt
from simplugin.reports.colours import PALETTE, colouring, group_colour
from simplugin.reports.gantt import RECEIVED, SENT, SLEEP, WORK, by_actor, by_host
from simplugin.reports.tables import activities_table
from simplugin.results.row import Row
from simplugin.simulation.metrics import metrics
from simplugin.simulation.trace import Trace


def collections(figure):
    return [each for each in figure.axes[0].collections if isinstance(each, PolyCollection)]


def key_of(figure):
    return [text.get_text() for each in figure.legends for text in each.get_texts()]


def facts_of(figure):
    return figure.axes[0].texts[0].get_text()


def test_bars_are_where_the_trace_says(result):
    transfers, work, failed = collections(gantt(result).figure)
    dates = [path.vertices[:, 0] for path in work.get_paths()]
    ran = result.trace.kind == "exec"
    expected = zip(result.trace.start[ran], result.trace.end[ran], strict=True)
    assert sorted((each.min(), each.max()) for each in dates) == sorted(expected)
    assert len(transfers.get_paths()) == 4
    # Two transfers share 100 MB/s: both are at half of it.
    np.testing.assert_allclose(transfers.get_array(), 50.0)
    assert len(failed.get_paths()) == 2
    assert failed.get_hatch()


def test_colours_stand_for_labels(result):
    colours = colouring(result, "auto")
    names = {"crunch one", "crunch two", "report"}
    assert set(colours.legend) == names | {"(none)"}
    for name in names:
        assert set(colours.of_activity[result.trace.label == name]) == {colours.legend[name]}
    assert len(set(colours.legend.values())) == 4
    assert set(colouring(result, "actor").legend) == {"sender", "receiver"}
    hosts = colouring(result, "host").legend
    assert hosts == {"node-2": group_colour(1), "node-10": group_colour(2)}


def test_legend_has_what_is_drawn(result):
    def names(**options):
        return set(key_of(gantt(result, **options).figure))

    assert names(only=["node-10"]) == {"report"}
    assert "report" not in names(only=["node-2"])
    # Transfers take until 2 s.
    assert names(window=(0.0, 1.5)) == set()


def test_more_names_than_colours_have_no_legend():
    async def busy(me):
        for number in range(len(PALETTE) + 1):
            await me.execute(1e9, label=f"task {number}")

    result = simulate(Platform(Cluster("c", "0-0", 1e9, 1e8, 1e-4)), [("0", busy)])
    colours = colouring(result, "label")
    assert colours.legend == {}
    assert colours.of_activity.tolist() == [group_colour(n) for n in range(len(PALETTE) + 1)]


def test_window_and_title(result):
    figure = gantt(result, window=(1.0, 2.5), title="A title", by="actor").figure
    assert figure.axes[0].get_xlim() == (1.0, 2.5)
    assert figure.get_suptitle() == "A title"


def test_the_line_below_the_title_counts_what_the_window_shows():
    """Tasks take 1 s, on the daemon's host 0.8 s; its last one is cut when the others are done."""

    async def busy(me, number):
        for _ in range(number):
            await me.execute(1e9)

    zone = Zone("z", "Full", [Host("0", 1e9), Host("1", 1.25e9)])
    actors = [("0", busy, 10), Placement("1", busy, (20,), daemon=True)]
    result = simulate(Platform(zone), actors)
    whole = gantt(result).figure
    assert facts_of(whole) == "ends at 10 s · 23 activities, 1 cancelled"
    assert key_of(whole)[-1] == "cancelled"
    assert activities_table(result).columns[3].name == "cancelled"
    inner = gantt(result, window=(2.5, 4.5)).figure
    assert facts_of(inner) == "ends at 10 s · 6 activities from 2.5 s to 4.5 s"
    assert "cancelled" not in key_of(inner)
    row = Row(metrics(result))
    assert (row["activities_failed"], row["activities_cancelled"]) == (0, 1)
    assert facts_of(gantt(result, only=["0"]).figure) == "ends at 10 s · 10 activities"


def bars(layout, result, row, band):
    """Return (start, end, bottom, top) of the bars in a band, by start and place."""
    chosen = (layout.row == layout.rows.index(row)) & (layout.band == band)
    trace, activity = result.trace, layout.activity[chosen]
    columns = trace.start[activity], trace.end[activity], layout.bottom[chosen], layout.top[chosen]
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def test_hosts_in_natural_order_without_idle_ones(result):
    assert by_host(result).rows == ("node-2", "node-10")
    assert by_host(result, ["idle", "node-10"]).rows == ("idle", "node-10")


def test_bars_are_the_activities(result):
    layout = by_host(result)
    sent = bars(layout, result, "node-10", SENT)
    received = bars(layout, result, "node-2", RECEIVED)
    work = bars(layout, result, "node-10", WORK)
    for found in (sent, received):
        assert [bar[:2] for bar in found] == [pytest.approx((0.0, 2.0))] * 2
    assert [bar[:2] for bar in work] == [pytest.approx((2.0, 3.0))]
    # Each activity once, transfers twice, sleeps not at all.
    kinds = result.trace.kind.tolist()
    assert len(layout.activity) == kinds.count("exec") + 2 * kinds.count("comm")


def test_bars_never_overlap(result):
    for layout in (by_host(result), by_actor(result)):
        for row, band in product(layout.rows, (SENT, WORK, RECEIVED, SLEEP)):
            found = bars(layout, result, row, band)
            assert all(bottom < top for _, _, bottom, top in found)
            for one, other in combinations(found, 2):
                apart_in_time = other[0] >= one[1] - 1e-6 or other[1] <= one[0] + 1e-6
                apart_in_place = other[2] >= one[3] - 1e-9 or other[3] <= one[2] + 1e-9
                assert apart_in_time or apart_in_place


def test_bars_stay_in_their_row(result):
    layout = by_host(result)
    centre, half = layout.centre[layout.row], layout.height[layout.row] / 2
    assert np.all(layout.bottom >= centre - half - 1e-9)
    assert np.all(layout.top <= centre + half + 1e-9)
    assert np.all(np.diff(layout.centre) > 0)
    assert layout.extent >= (centre + half).max()


def test_actors_of_the_same_name_have_rows_of_their_own(result):
    layout = by_actor(result)
    assert layout.rows == ("sender@node-10 1", "receiver@node-2 2", "receiver@node-2 3")
    assert len(layout.activity) == len(result.trace)
    assert by_actor(result, ["sender"]).rows == ("sender@node-10 1",)


def test_hundreds_of_hosts():
    cluster = Cluster("c", "0-299", 1e9, 1e8, 1e-4, prefix="h-")

    async def busy(me):
        await me.execute(1e9 * (1 + me.pid / 300), label="task")

    result = simulate(Platform(cluster), [(host, busy) for host in cluster.host_names()])
    figure = gantt(result).figure
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert 20 <= len(labels) <= 60
    assert labels[0] == "h-0"
    assert max(figure.get_size_inches()) <= 16
    assert len(collections(figure)[0].get_paths()) == 300


def test_times_off_are_hatched_behind_their_row(result):
    off = {"node-2": ((0.5, 1.0), (4.0, 5.0)), "idle": ((0.0, 9.0),)}
    result = replace(result, off_times=off)
    figure = gantt(result).figure
    outages = [each for each in collections(figure) if each.get_zorder() == 1]
    # Also of a host that did nothing.
    off, _ = sorted(outages, key=lambda each: -len(each.get_paths()))
    assert off.get_hatch()
    spans = [path.vertices[:, 0] for path in off.get_paths()]
    assert [(each.min(), each.max()) for each in spans] == [(0.5, 1.0), (4.0, 5.0)]
    layout = by_host(result)
    row, heights = layout.rows.index("node-2"), off.get_paths()[0].vertices[:, 1]
    assert (heights.min() + heights.max()) / 2 == pytest.approx(layout.centre[row])
    assert key_of(figure)[-2:] == ["off", "cancelled"]
    assert len(collections(gantt(result, by="actor").figure)) == 4


UNTRACED = {"trace": Trace.from_columns({}), "provenance": {"trace": False}}


NOT_DRAWN = [
    (lambda result: gantt(result, window=(2.0, 1.0)).figure, "window (2.0, 1.0)"),
    (lambda result: gantt(result, by="link").figure, "by 'link' 'actor'"),
    (lambda result: gantt(result, colour="red").figure, "colour 'red'"),
    (lambda result: gantt(replace(result, **UNTRACED)).figure, "trace=True"),
    (lambda result: replace(result, **UNTRACED).trace.to_chrome("x.json"), "trace=True"),
    (lambda result: by_host(result, ["nope"]), "host 'nope'"),
    (lambda result: by_actor(result, ["nope"]), "actor 'nope'"),
]


@pytest.mark.parametrize(("draw", "named"), NOT_DRAWN)
def test_what_cannot_be_drawn(result, draw, named):
    with raises_naming(SimpluginError, *named.split()):
        draw(result)


def test_nothing_to_lay_out(nothing):
    assert by_host(nothing).rows == ()
    assert len(by_actor(nothing).activity) == 0
