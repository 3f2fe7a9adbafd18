"""The page as a self-contained file."""

import json
import math
import re
from dataclasses import replace
from decimal import Decimal
from itertools import combinations
from zipfile import ZipFile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import SimpluginError
from simplugin.reports.colours import GROUP_COLOURS, group_colour
from simplugin.reports.page import CampaignReport, Column, page_text, write_page
from simplugin.reports.page.assembly import (
    SCRIPTS,
    contrast,
    figure_document,
    report_document,
    schedule_document,
)
from simplugin.reports.schedules import activity_chart
from simplugin.results.charts import Bar, ScheduleChart
from simplugin.results.curves import CurvePlot
from simplugin.results.tables import ResultTable

VALUES = st.none() | st.floats() | st.integers(-(2**70), 2**70) | st.booleans() | st.text()
PLAIN = CampaignReport("t", (Column("makespan", [1.0]),), [0], ["done"], [""], [""], 1)


def data_of(page):
    return re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1]


def read_back(column):
    """Decode a column as data.js does."""
    if "texts" in column:
        return [None if code < 0 else column["texts"][code] for code in column["codes"]]
    values = list(column["values"])
    for at, name in column.get("special", ()):
        values[at] = float(name)
    for at, digits in column.get("long", ()):
        values[at] = int(digits)
    return values


@given(st.lists(VALUES, min_size=1, max_size=8))
def test_every_value_survives_the_page(report_of, values):
    column = Column("x", values)
    page = page_text(report_of(column))
    document = json.loads(data_of(page), parse_constant=pytest.fail)
    found = read_back(next(each for each in document["columns"] if each["name"] == "x"))
    if column.numeric:
        assert [repr(each) for each in found] == [repr(each) for each in values]
    else:
        for text, value in zip(found, values, strict=True):
            if isinstance(value, bool):
                assert text == str(value).lower()
            elif isinstance(value, float | int):
                # Of whole numbers all digits, unless a float is as large.
                same = value in (Decimal(text), float(text))
                assert same or (math.isnan(value) and math.isnan(float(text)))
            else:
                assert text in (value, f'"{value}"')


def test_the_page_loads_nothing_and_texts_cannot_become_html(report_of):
    evil = "</script><script>alert(1)</script><!-- & \u2028 {{data}}"
    report = report_of(Column("x", [evil, evil]), Column("y", [1.0, 2.0]))
    report = replace(report, title=evil, facts={evil: evil})
    page = page_text(report)
    # Three elements: style aside, the data and the program.
    assert page.count("</script>") == 2
    assert "alert(1)</script>" not in page
    assert json.loads(data_of(page))["facts"] == [[evil, evil]]
    # Names of namespaces are the only addresses; nothing is fetched.
    addresses = set(re.findall(r"https?://[^\s\"'`)]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(link|script|img|iframe)[^>]*(src|href)=\"(?!data:)", page)
    assert not re.search(r"@import|url\((?!#)", page)
    assert "default-src 'none'" in page


def test_all_parts_of_the_page_are_on_it():
    page = page_text(PLAIN)
    assert not re.search(r"\{\{\w+\}\}", page)
    ids = set(re.findall(r'id="([\w-]+)"', page))
    assert set(re.findall(r'place\("([\w-]+)"\)', page)) <= ids
    assert set(re.findall(r'href="#([\w-]+)"', page)) <= ids


def test_the_group_is_the_scheduler_or_what_has_fewest_values(report_of):
    scheduler = Column("scheduler.name", ["a", "b"] * 3, role="varied")
    size = Column("platform.hosts", [1, 1, 2, 2, 3, 3], role="varied")
    seed = Column("platform.seed", list(range(6)), role="varied")
    same = Column("platform.speed", [1.0] * 6, role="varied")
    assert report_of(size, scheduler, seed).group == "scheduler.name"
    assert report_of(seed, size, same).group == "platform.hosts"
    # Seeds are draws, and a value of each run compares nothing.
    assert report_of(seed, Column("id", list(range(6)), role="varied")).group is None
    few = Column("platform.seed", [1, 2] * 3, role="varied")
    assert report_of(few).group is None
    assert report_of(few, size).group == "platform.hosts"
    assert report_of(few).groupings() == ["platform.seed"]
    assert report_of(same, Column("makespan", [1.0, 2.0] * 3)).group is None
    assert report_of(seed, size, group="platform.seed").group == "platform.seed"


def test_what_does_not_fit_is_refused(report_of):
    column = Column("makespan", [1.0, 2.0])
    varied = Column("scheduler.name", ["bags.fcfs", "bags.lag"], role="varied")
    for columns, more, named in (
        ([column], {"status": ["done"]}, "'status' 1 2"),
        ([column, column], {}, "'makespan'"),
        ([column], {"group": "makespam"}, "'makespam' 'makespan'"),
        ([varied], {"baseline": "bags.fcsf"}, "scheduler.name 'bags.fcsf'"),
        ([column, varied], {"group": "makespan"}, "'makespan' scheduler.name"),
        ([column], {"baseline": "x"}, "'x'"),
    ):
        with raises_naming(SimpluginError, *named.split()):
            report_of(*columns, **more)


def test_the_metric_shown_first_is_the_one_with_a_best(report_of):
    columns = Column("tasks", [3, 4]), Column("makespan", [1.0, 2.0], sense="min")
    assert report_document(report_of(*columns))["metric"] == "makespan"
    assert report_document(report_of(columns[0]))["metric"] == "tasks"


def thinned(x, y):
    [series] = figure_document(CurvePlot("f", "t", "x", "y", {"s": (x, y)}))["panels"][0]["series"]
    return list(zip(series["x"], series["y"], strict=True))


def test_long_curves_are_thinned_but_their_swings_stay():
    x = np.arange(100_000.0)
    y = np.sin(x / 500)
    y[77_777], y[5], y[40_000] = 9.0, -7.0, math.nan
    shown = thinned(x, y)
    assert len(shown) <= 1002
    known = {value: place for place, value in shown if value is not None}
    assert (max(known), min(known), known[9.0]) == (9.0, -7.0, 77_777.0)
    assert None in [value for _, value in shown]
    # What is missing is neither the least nor the largest.
    y = np.full(100_000, 5.0)
    y[::3], y[50_001] = math.nan, 4.0
    shown = thinned(x, y)
    assert min(value for _, value in shown if value is not None) == 4.0
    assert len(shown) <= 1502


def test_blocks_of_a_bar_cover_its_processors():
    rng = np.random.default_rng(3)
    clusters = (("a", 7), ("b", 5), ("c", 12))
    for _ in range(50):
        chosen = rng.choice(24, size=rng.integers(1, 20), replace=False).tolist()
        bar = Bar(0, tuple(chosen), 0.0, 1.0)
        document = schedule_document(ScheduleChart("s", "t", clusters, ("g",), (bar,)))
        covered = []
        for first, count in zip(document["first"], document["count"], strict=True):
            covered += range(first, first + count)
            assert not any(first < end < first + count for end in (7, 12))
        assert sorted(covered) == sorted(chosen)


PLACES = st.sampled_from(["h1", "h2", "h1->h2"])


@given(st.lists(st.tuples(PLACES, st.integers(0, 20), st.integers(1, 6)), max_size=25))
def test_activities_that_overlap_have_lanes_of_their_own(activities):
    lines = tuple(
        ("w", place, "comm" if "->" in place else "exec", "", start, start + length, "done")
        for place, start, length in activities
    )
    names = ("actor", "resource", "kind", "label", "start", "end", "state")
    chart = activity_chart(ResultTable("a", tuple((name, "") for name in names), lines))
    assert len(chart.bars) == len(lines)
    most = {}
    for _, place, kind, _, start, _, _ in lines:
        at_a_time = sum(p == place and s <= start < e for _, p, _, _, s, e, _ in lines)
        host = place.rpartition("->")[2]
        most[host, kind] = max(most.get((host, kind), 0), at_a_time)
    sizes = {host: sum(most.get((host, kind), 0) for kind in ("exec", "comm")) for host, _ in most}
    assert dict(chart.clusters) == sizes
    assert [name for name, _ in chart.clusters] == sorted(sizes)
    for one, other in combinations(chart.bars, 2):
        if one.processors == other.processors:
            assert one.finish <= other.start or other.finish <= one.start


def test_colours_can_be_seen_on_either_paper():
    page = page_text(PLAIN)
    light, dark, again = re.findall(r"--c0:.*?(?=\})", page, re.S)
    assert dark == again
    assert len(GROUP_COLOURS) == 16
    for paper, rules, least in (("#ffffff", light, 2.0), ("#15181b", dark, 3.2)):
        for number in range(16):
            colour = re.search(rf"--c{number}: (#\w+)", rules)[1]
            assert contrast(colour, paper) >= least
            if contrast(group_colour(number), paper) >= least:
                assert colour == group_colour(number)
    assert contrast("#ffffff", "#000000") == pytest.approx(21)


def test_a_page_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with raises_naming(SimpluginError, tmp_path / "file" / "index.html"):
        write_page(PLAIN, tmp_path / "file")


def test_the_wheel_has_all_parts_of_the_page(wheel):
    names = {name.rpartition("/reports/page/")[2] for name in ZipFile(wheel).namelist()}
    assert names >= {"page.html", "page.css", *SCRIPTS}


def test_baselines_are_found_among_values_that_look_alike(report_of):
    for values, baselines in (
        (["1", 1, 1.0, True, "true", None, "(none)"], (("1", 0), (1, 1), (True, 2), ("(none)", 4))),
        ([5.0, 0.5, None], ((5, 1), (0.5, 0), ("(none)", 2))),
    ):
        for value, place in baselines:
            report = report_of(Column("k", values, role="varied"), group="k", baseline=value)
            assert report_document(report)["baseline"] == place
