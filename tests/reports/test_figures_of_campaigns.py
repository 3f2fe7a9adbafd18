"""Figures for papers: contents of the drawings, and their files."""

import math
import re
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from naming import raises_naming
from scipy import stats

from simplugin.core.errors import SimpluginError
from simplugin.reports import campaign_figures
from simplugin.reports.campaign_figures import write_figures
from simplugin.reports.comparisons import (
    compared,
    labels_of_groups,
    paired,
    pairing_columns,
    values_by_group,
)
from simplugin.reports.distributions import (
    box_plot,
    draw_ecdfs,
    draw_parameter,
    draw_profiles,
    over_parameter,
    profiles,
)
from simplugin.reports.page.contents import Column, KeptRun
from simplugin.reports.paper_sheet import ink, text_width, wrapped
from simplugin.results.curves import CurvePlot
from simplugin.results.tables import ResultTable

RNG = np.random.default_rng(12)
GROUPS = {
    "wps_width": RNG.lognormal(4.0, 0.3, 40).tolist(),
    "a name that is much too long for the column of a paper, whatever one does": [80.0, None, 95.0],
    "_hidden $x$": [math.inf, 70.0],
    "nothing": [None],
}
MANY = {f"policy-{k}": RNG.normal(1e9 * (1 + k / 5), 1e8, 12).tolist() for k in range(20)}


def by_gid(figure, gid):
    [axes] = figure.axes
    return [line for line in axes.lines if line.get_gid() == gid]


def scale_of(figure):
    return figure.axes[0].get_xscale()


def words(texts):
    return [text.get_text().replace("\n", " ") for text in texts]


KINDS = {
    "box": lambda groups, width: box_plot(groups, label="makespan", unit="s", width=width).figure,
    "ecdf": lambda groups, width: draw_ecdfs(groups, label="makespan", unit="s", width=width),
    "profile": lambda groups, width: draw_profiles(
        profiles({name: dict(enumerate(each[:2] * 2)) for name, each in groups.items()}),
        label="makespan", width=width,
    ),
    "parameter": lambda groups, width: draw_parameter(
        {name: ([1 + k % 4 for k in range(len(each))], each) for name, each in groups.items()},
        parameter="workload.count", label="makespan", unit="s", width=width
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_covers_or_is_cut(kind, every_text, illegible):
    for groups, width in ((GROUPS, "column"), (GROUPS, "page"), (MANY, "column")):
        figure = KINDS[kind](groups, width)
        assert figure.get_figwidth() == {"column": 3.4, "page": 7.0}[width]
        assert illegible(every_text(figure)) == []


def test_dots_of_boxes_are_the_values():
    figure, values = box_plot(GROUPS, label="makespan", unit="s").figure, GROUPS["wps_width"]
    [dots], [few], [mean] = (by_gid(figure, name) for name in ("dots-0", "dots-1", "mean-0"))
    assert dots.get_xdata().tolist() == sorted(values)
    assert len(np.unique(dots.get_ydata())) == 40
    assert np.ptp(dots.get_ydata()) < 0.24
    assert few.get_xdata().tolist() == [80.0, 95.0]
    assert by_gid(figure, "mean-1") == []
    assert mean.get_xdata() == [pytest.approx(np.mean(values))]
    [axes] = figure.axes
    [box] = [each for each in axes.collections if each.get_gid() == "box-0"]
    ends = box.get_paths()[0].get_extents()
    quartiles = stats.mstats.mquantiles(values, [0.25, 0.75], alphap=1, betap=1)
    assert (ends.x0, ends.x1) == pytest.approx(tuple(quartiles))
    assert words(axes.texts) == ["40", "2 of 3", "1 of 2", "0 of 1", "n"]


def test_of_many_values_only_those_beyond_whiskers_are_dots():
    values = np.r_[np.linspace(1.0, 2.0, 500), 9.0, -7.0]
    [dots] = by_gid(box_plot({"a": values.tolist()}, label="x").figure, "dots-0")
    assert sorted(dots.get_xdata()) == [-7.0, 9.0]


def test_axes_are_logarithmic_where_values_span_two_decades():
    wide, narrow = {"a": [1.0, 101.0, 7, 8, 9]}, {"a": [1.0, 99.0]}
    assert scale_of(box_plot(wide, label="x").figure) == "log"
    assert scale_of(box_plot(narrow, label="x").figure) == "linear"
    assert scale_of(draw_ecdfs({"a": [0.0, 1000.0]}, label="x")) == "linear"
    [mean] = by_gid(box_plot(wide, label="x").figure, "mean-0")
    assert mean.get_xdata() == [pytest.approx(stats.gmean([1.0, 101.0, 7, 8, 9]))]
    with raises_naming(SimpluginError, -1, "log"):
        box_plot({"a": [-1.0, 2.0]}, label="x", log=True)
    with pytest.raises(SimpluginError):
        box_plot({}, label="x")


def test_ecdfs_are_the_distribution_functions():
    figure = draw_ecdfs(GROUPS, label="makespan", unit="s")
    [axes] = figure.axes
    reference = stats.ecdf(GROUPS["wps_width"]).cdf
    line = axes.lines[0]
    assert line.get_drawstyle() == "steps-post"
    assert line.get_xdata()[1:].tolist() == reference.quantiles.tolist()
    assert line.get_ydata().tolist() == pytest.approx([0.0, *reference.probabilities])
    # What is infinite is never reached.
    assert axes.lines[2].get_ydata().tolist() == [0.0, 0.5]
    # Nor is what failed: one of three runs.
    assert axes.lines[1].get_ydata().tolist() == pytest.approx([0.0, 1 / 3, 2 / 3])
    first, _, *others = words(figure.legends[0].get_texts())
    assert [first, *others] == ["wps_width (40)", "_hidden $x$ (1 of 2)", "nothing (0 of 1)"]


def test_profiles_end_at_the_part_that_was_solved():
    found = profiles({"a": {1: 1.0, 2: 4.0, 3: None}, "b": {1: 2.0, 2: 2.0, 3: 5.0, 4: 1.0}})
    figure = draw_profiles(found, label="makespan")
    [axes] = figure.axes
    one, other = axes.lines
    assert one.get_xdata()[:-1].tolist() == [1.0, 1.0, 2.0]
    assert one.get_ydata().tolist() == pytest.approx([0.0, 1 / 3, 2 / 3, 2 / 3])
    assert other.get_ydata().tolist() == pytest.approx([0.0, 2 / 3, 1.0, 1.0])
    assert axes.get_ylabel() == "part of 3 of 4 instances"
    assert axes.get_xlim()[0] == 1.0


def test_means_over_a_parameter_have_their_intervals():
    parameter, values = [1, 2, 2, 2, 4, 8, None], [5.0, 1.0, 2.0, 6.0, 3.0, None, 7.0]
    figure = draw_parameter({"a": (parameter, values)}, parameter="hosts", label="makespan")
    [axes] = figure.axes
    [means] = by_gid(figure, "means-0")
    assert list(zip(*means.get_data(), strict=True)) == [(1.0, 5.0), (2.0, 3.0), (4.0, 3.0)]
    expected = stats.t.interval(0.95, 2, loc=3.0, scale=stats.sem([1.0, 2.0, 6.0]))
    ends = [s for s in axes.collections[0].get_segments() if len(s) == 2]
    assert [s[:, 1].tolist() for s in ends] == [pytest.approx(list(expected))]
    with raises_naming(SimpluginError, "hosts", "makespan"):
        draw_parameter({"a": ([None], [1.0])}, parameter="hosts", label="makespan")


def test_two_means_are_no_trend_and_capacities_are_an_axis(report_of, tmp_path):
    for places, style in (([1, 2], "None"), ([1, 2, 3], "-")):
        figure = draw_parameter({"a": (places, places)}, parameter="n", label="x")
        assert by_gid(figure, "means-0")[0].get_linestyle() == style
    report = report_of(
        Column("scheduler.name", ["a", "b"] * 2, role="varied"),
        Column("link", ["100MBps", "100MBps", "1GBps", None], role="varied"),
        Column("makespan", [1.0, 2.0, 3.0, 4.0], "s", sense="min"),
    )
    assert report.column("link").amounts() == ([1e8, 1e8, 1e9, None], "byte/s")
    assert report.column("scheduler.name").amounts() is None
    names = {path.name for path in write_figures(report, tmp_path)}
    assert "makespan-over-link.pdf" in names


def test_key_of_boxes_names_what_is_drawn():
    assert box_plot({"a": [1.0, 2.0, 3.0, 4.0]}, label="x").figure.legends == []
    [key] = box_plot({"a": [1.0, 2.0, 3.0, 4.0, 5.0], "b": [1.0]}, label="x").figure.legends
    assert words(key.get_texts()) == ["median", "mean"]


def test_means_stand_at_their_values_and_values_that_double_on_a_logarithmic_axis():
    hosts = [1, 2, 4, 8, 16]
    series = {name: (hosts, [k + 5.0 for k in range(5)]) for name in "abc"}
    figure = draw_parameter(series, parameter="hosts", label="x")
    [axes] = figure.axes
    assert scale_of(figure) == "log"
    assert words(axes.get_xticklabels()) == [str(each) for each in hosts]
    for k in range(3):
        assert by_gid(figure, f"means-{k}")[0].get_xdata().tolist() == hosts
    for places, scale in (([1, 10, 100], "log"), ([1, 9, 81], "linear"), ([1, 10, 90], "linear")):
        series = {"a": (places, [1.0, 2.0, 3.0])}
        assert scale_of(draw_parameter(series, parameter="n", label="x")) == scale
    wide = draw_parameter({"a": (hosts, [1.0, 10.0, 100.0, 1e3, 1e4])}, parameter="n", label="x")
    assert wide.axes[0].get_ylabel() == "geometric mean of x"


def test_units_have_prefixes_and_ticks_tell_values_apart():
    figure = box_plot(MANY, label="sent", unit="byte").figure
    figure.draw_without_rendering()
    [axes] = figure.axes
    assert axes.get_xlabel() == "sent [GB]"
    for place, text in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True):
        assert float(text.get_text()) == pytest.approx(place / 1e9)
    close = box_plot({"a": [1000.0012, 1000.0019]}, label="x", unit="s").figure.axes[0]
    labels = [close.xaxis.get_major_formatter()(place) for place in close.get_xticks()]
    assert len(set(labels)) == len(labels)
    large = draw_ecdfs({"a": [1e6, 3e6]}, label="x", unit="s").axes[0]
    assert large.get_xlabel() == "x [10⁶ s]"
    over = draw_parameter({"a": ([2e6, 9.5e6, 2e7], [1.0, 2.0, 3.0])}, parameter="n", label="x")
    assert over.axes[0].get_xlabel() == "n [10⁶]"
    assert words(over.axes[0].get_xticklabels()) == ["2", "9.5", "20"]


def test_groups_differ_without_colour():
    without = {(str(ink(k).dash), ink(k).marker) for k in range(35)}
    assert len(without) == 35
    assert len({ink(k).colour for k in range(16)}) == 16


def test_long_names_are_broken_and_whole():
    name = "taskgraphs.wps_width-and_more " + "x" * 60
    lines = wrapped(name, 1.0, 7.0).split("\n")
    assert "".join(lines).replace(" ", "") == name.replace(" ", "")
    assert all(text_width(line, 7.0) <= 1.0 for line in lines)


@pytest.fixture
def campaign(report_of):
    """Two schedulers on two sizes and three seeds; one run failed, one was kept."""
    runs = [(s, hosts, seed) for seed in range(3) for hosts in (4, 8) for s in ("fcfs", "wps")]
    spans = [100.0 / hosts * (1.0 if s == "wps" else 1.5) + seed for s, hosts, seed in runs]
    names = ("actor", "resource", "kind", "label", "start", "end", "state")
    ran = ("w", "h", "exec", "t", 0.0, 2.0, "done"), ("w", "h", "exec", "u", 1.0, 2.0, "done")
    rounds = CurvePlot("Rounds / s", "", "round", "error", {"a": ([1, 2], [2, 1])})
    kept = KeptRun(
        "x", 7, (rounds,), activities=ResultTable("a", tuple((n, "") for n in names), ran)
    )
    # The label goes with the scheduler, so that it does not distinguish pairs.
    values = zip(*((*run, {"wps": "a", "fcfs": "b"}[run[0]]) for run in runs), strict=True)
    columns = ("scheduler.name", "hosts", "workload.seed", "scheduler.label")
    return report_of(
        *(Column(name, v, role="varied") for name, v in zip(columns, values, strict=True)),
        Column("makespan", [*spans[:-1], None], "s", sense="min"),
        Column("tasks", [50] * 12),
        kept=(kept,),
    )


def test_runs_of_a_campaign_are_paired_by_what_else_was_varied(campaign):
    assert [column.name for column in pairing_columns(campaign)] == ["hosts", "workload.seed"]
    makespan = campaign.column("makespan")
    values = values_by_group(campaign, makespan)
    found = paired(values["wps"], values["fcfs"])
    assert compared(campaign, makespan, "fcfs") == {"wps": found}
    assert (found.n, found.missing, found.wins) == (5, 1, 5)
    ratios = [(100 / h + s) / (150 / h + s) for s in range(3) for h in (4, 8)][:5]
    assert found.ratio == pytest.approx(stats.gmean(ratios))


def test_keys_of_figures_say_what_numbers_mean_and_have_the_names_of_the_user(report_of):
    easy = [False, True] * 4
    columns = (
        Column("args.easy", easy, role="varied"),
        Column("args.load", [1.0, 1.0, 2.0, 2.0] * 2, role="varied"),
        Column("wait", [4.0, 3.0, 6.0, 4.0, 5.0, 2.0, 7.0, 3.0], "s", sense="min"),
    )
    report = report_of(*columns, group="args.easy")
    assert [*labels_of_groups(report).values()] == ["args.easy = false", "args.easy = true"]
    given = {"args.easy": "EASY", "args.load": "load", "wait": "delay"}
    named = (replace(each, label=given[each.name]) for each in columns)
    report = replace(report, columns=tuple(named))
    drawn = {name: draw() for name, draw in campaign_figures._figures(report, "main")}
    [over] = [figure for name, figure in drawn.items() if name == "wait-over-args-load"]
    assert words(over.legends[0].get_texts()) == ["EASY = false", "EASY = true"]
    assert over.axes[0].get_xlabel() == "load"
    assert over.axes[0].get_ylabel() == "mean delay [s]"


def test_files_of_a_campaign(campaign, tmp_path):
    directory = tmp_path / "figures"
    written = write_figures(campaign, directory)
    makespans = {f"makespan-{kind}" for kind in ("box", "ecdf", "profile", "over-hosts")}
    stems = makespans | {"run-7-rounds-s", "run-7-gantt"}
    assert written.warnings == []
    names = {f"{stem}.{suffix}" for stem in stems for suffix in ("png", "pdf")}
    assert {path.name for path in written} == names
    assert {*written, directory / "figures.sha256"} == set(directory.iterdir())
    box = (directory / "makespan-box.pdf").read_bytes()
    # Letters as TrueType outlines, not as pictures of them; and no date.
    assert b"/FontFile2" in box
    assert not any(each in box for each in (b"/Type3", b"CreationDate", b"/Subtype /Image"))
    [wide] = re.findall(rb"/MediaBox \[ *0 0 ([\d.]+)", box)
    assert float(wide) == pytest.approx(3.4 * 72, abs=0.01)
    (tmp_path / "file").write_text("")
    with raises_naming(SimpluginError, tmp_path / "file"):
        write_figures(campaign, tmp_path / "file")


def test_main_figures_and_what_a_former_report_left(tmp_path, report_of):
    def rounds(name):
        return CurvePlot(name, "", "round", "error", {"a": ([1, 2], [2, 1])})

    kept = tuple(KeptRun("x", position, (rounds("error"),)) for position in range(3))
    # The makespan is always the same, so that it has no figures.
    makespan = Column("makespan", [2.0, 2.0], "s", sense="min")
    report = report_of(makespan, Column("tasks", [3, 4]), Column("gap", [None] * 2), kept=kept)

    def stems():
        return {path.stem for path in tmp_path.iterdir() if path.suffix in (".png", ".pdf")}

    main = {"run-0-error", "run-1-error"}
    every = main | {"tasks-box", "tasks-ecdf", "run-2-error"}
    assert len(write_figures(report, tmp_path, "all")) == 2 * len(every)
    assert stems() == every
    # Files of others stay, also under a former or listed name of a figure.
    (tmp_path / "tasks-box.png").write_bytes(b"mine")
    (tmp_path / "photo.png").write_bytes(b"mine")
    outside = tmp_path.parent / f"{tmp_path.name}.png"
    outside.write_bytes(b"")
    listed = tmp_path / "figures.sha256"
    listed.write_text(f"{listed.read_text()}{sha256(b'').hexdigest()}  ../{outside.name}\n")
    write_figures(report, tmp_path)
    assert stems() == {*main, "tasks-box", "photo"}
    assert not (tmp_path / "tasks-box.pdf").exists()
    assert outside.exists()
    with raises_naming(SimpluginError, "'some'", "'main'"):
        write_figures(report, tmp_path, "some")


def test_what_no_axis_shows_is_left_out_and_told(tmp_path, report_of):
    report = report_of(
        Column("scheduler.name", ["a", "a", "b", "b"], role="varied"),
        Column("hosts", [1, 2, 1, 2], role="varied"),
        Column("huge", [1e-200, 1e200, 2e200, 1e290], "s", sense="min"),
        Column("tiny", [1e-300, 2e-300, 3e-300, 4e-300], sense="min"),
        Column("near", [4.0, 5.0, 4.0, 6.0], "s"),
    )
    written = write_figures(report, tmp_path, "all")
    # Of tiny values the ratios are of a usual size.
    near = {"near-box", "near-ecdf", "near-over-hosts"}
    assert {path.stem for path in written} == near | {"tiny-profile"}
    warnings = dict(each.removeprefix("no figure ").split(": ", 1) for each in written.warnings)
    assert warnings["huge-box"].startswith("values of size 1e-200 to 1e+290 have no axis")
    both = {f"{name}-{kind.removeprefix('near-')}" for name in ("huge", "tiny") for kind in near}
    assert set(warnings) == both | {"huge-profile"}


def test_intervals_without_ends_run_out_of_the_frame(every_text, illegible):
    places, values = [1, 1, 2, 2], [1e-60, 1e60, 1.0, 2.0]
    figure = draw_parameter({"a": (places, values)}, parameter="hosts", label="x")
    [axes] = figure.axes
    assert over_parameter(places, values)[1.0].geometric_interval.high == math.inf
    low, high = axes.get_ylim()
    [first, _] = axes.collections[0].get_segments()
    assert first[0, 1] < low < 1.0 < high < first[1, 1]
    assert illegible(every_text(figure)) == []
