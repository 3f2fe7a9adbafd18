import numpy as np
import pytest

from simplugin.errors import SimpluginError
from simplugin.reports.gantt import RECEIVED, SENT, SLEEP, WORK, by_actor, by_host


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
    dates = [(start, end) for start, end, *_ in sent]
    assert dates == [pytest.approx((0.0, 2.0))] * 2
    assert [(start, end) for start, end, *_ in received] == dates
    work = bars(layout, result, "node-10", WORK)
    assert [(start, end) for start, end, *_ in work] == [pytest.approx((2.0, 3.0))]
    # Each activity once, transfers twice, sleeps not at all.
    kinds = result.trace.kind
    expected = np.sum(kinds == "exec") + 2 * np.sum(kinds == "comm")
    assert len(layout.activity) == expected


def test_bars_never_overlap(result):
    for layout in (by_host(result), by_actor(result)):
        for row in layout.rows:
            for band in (SENT, WORK, RECEIVED, SLEEP):
                found = bars(layout, result, row, band)
                for position, (start, end, bottom, top) in enumerate(found):
                    assert bottom < top
                    for other in found[position + 1 :]:
                        apart_in_time = other[0] >= end - 1e-6 or other[1] <= start + 1e-6
                        apart_in_place = other[2] >= top - 1e-9 or other[3] <= bottom + 1e-9
                        assert apart_in_time or apart_in_place


def test_bars_stay_in_their_row(result):
    layout = by_host(result)
    first = layout.centre[layout.row] - layout.height[layout.row] / 2
    last = layout.centre[layout.row] + layout.height[layout.row] / 2
    assert np.all(layout.bottom >= first - 1e-9)
    assert np.all(layout.top <= last + 1e-9)
    assert np.all(np.diff(layout.centre) > 0)
    assert layout.extent >= last.max()


def test_actors_of_the_same_name_have_rows_of_their_own(result):
    layout = by_actor(result)
    assert layout.rows == ("sender@node-10 1", "receiver@node-2 2", "receiver@node-2 3")
    assert len(layout.activity) == len(result.trace)
    assert by_actor(result, ["sender"]).rows == ("sender@node-10 1",)


def test_unknown_names(result):
    with pytest.raises(SimpluginError, match="no host 'nope'"):
        by_host(result, ["nope"])
    with pytest.raises(SimpluginError, match="no actor 'nope'"):
        by_actor(result, ["nope"])


def test_nothing_to_lay_out(nothing):
    assert by_host(nothing).rows == ()
    assert len(by_actor(nothing).activity) == 0
