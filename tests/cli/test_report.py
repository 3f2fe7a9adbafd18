"""``simplugin report`` and ``reproduce``: from a store to a page, and from a paper to claims."""

import json
import re
import shlex

import pytest
from stored_runs import Source

from simplugin.campaigns import load_campaign
from simplugin.campaigns.jobs import Failure, RunJob, RunRecord
from simplugin.campaigns.store import Store, StoreReader
from simplugin.papers import reproduction_runs
from simplugin.papers.bertin import experiments
from simplugin.results.claims import Claim
from simplugin.results.curves import CurvePlot
from simplugin.results.row import Best, Metric, Row, RunResult
from simplugin.scenarios.outputs import plain


def record(position, varied, metrics=None, contents=None, error=None, **arguments):
    target = reproduction_runs.TARGET if arguments else "module:function"
    job = RunJob(f"{position:064x}", position, target, arguments, varied)
    measured, failure = None, Failure("error", error)
    if error is None:
        values = tuple(Metric(name, value, unit) for name, (value, unit) in metrics.items())
        best = Best("makespan", 10.0, "bound") if "makespan" in metrics else None
        row = Row(values, {"seed": 7, "platform": "abc"}, best)
        measured, failure = RunResult(row, "d" * 64, contents), None
    started = f"2026-11-22T04:00:{position:02d}.5+00:00"
    return RunRecord(job, measured, failure, started, 60.0, "host-a:17", {"simplugin": "0.1.0"})


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("a store") / "store.sqlite"
    columns = {"actor": ["w"], "resource": ["h1"], "kind": ["exec"], "label": [""]}
    columns |= {"start": [0.0], "end": [2.0], "state": ["done"]}
    activities = {"columns": columns, "total": 5}
    kept = {"figures": [], "listings": [], "activities": activities}
    with Store.open(path) as writer:
        number = writer.begin(Source(8, "1" * 64, "A grid"))
        for at in range(6):
            varied = {"scheduler.name": "ab"[at % 2], "platform.seed": at // 2}
            if at == 5:
                writer.append(number, record(at, varied, error="no host\nTraceback"))
                continue
            metrics = {"makespan": (20.0 + at, "s"), "tasks": (4, "")}
            writer.append(number, record(at, varied, metrics, kept if at == 2 else None))
        claims = Source(2, "2" * 64, "reproduction of bags, quick", target=reproduction_runs.TARGET)
        number = writer.begin(claims)
        claim = plain(Claim("c", 1.0, 2.0, False, "why", "Table 1").document())
        figure = plain(CurvePlot("f", "t", "x", "y", {"s": ([0, 1], [1, 2])}))
        for at, contents in ((20, {"claims": [claim]}), (21, {"figures": [figure]})):
            about = {"capability": "bags"}, {"claims": (1, "")}, contents
            writer.append(number, record(at, *about, module="simplugin.papers.beaumont"))
        writer.begin(Source(5, "3" * 64, "Nothing"))
        writer.commit()
    return path


def data_of(path):
    page = path.read_text(encoding="utf-8")
    text = re.search(r'id="data">(.*?)</script>', page, re.S)[1]
    return page, json.loads(text)


def column(document, name):
    return next(each for each in document["columns"] if each["name"] == name)


def test_the_page_has_what_the_store_has(simplugin, store, tmp_path):
    words = ("--campaign", 1, "--baseline", "b", "--figures", "none")
    done = simplugin("report", store, "-o", tmp_path, *words, status=0)
    assert done.stdout.strip().endswith("index.html")
    page, document = data_of(tmp_path / "index.html")
    assert "5 of 8 runs done · 1 failed · 2 not done yet" in page
    # The second of its groups.
    assert (document["group"], document["baseline"]) == ("scheduler.name", 1)
    assert document["runs"] == list(range(6))
    makespan = column(document, "makespan")
    assert makespan["values"] == [20.0, 21.0, 22.0, 23.0, 24.0, None]
    assert (makespan["unit"], makespan["sense"], makespan["role"]) == ("s", "min", "metric")
    # The gap is (makespan - bound) / bound, the bound 10 s.
    assert column(document, "gap")["values"] == pytest.approx([1.0, 1.1, 1.2, 1.3, 1.4, None])
    assert column(document, "bound")["role"] == "other"
    assert column(document, "platform.seed")["values"] == [0, 0, 1, 1, 2, 2]
    assert column(document, "error")["texts"] == ["no host\nTraceback"]
    facts = {"runs started": "2026-11-22 04:00:00 to 04:00:05 UTC", "time of all runs": "6.0 min"}
    assert dict(document["facts"]).items() >= (facts | {"versions": "simplugin 0.1.0"}).items()
    [kept] = document["kept"]
    assert kept["title"] == "Run 2: scheduler.name = a, platform.seed = 1"
    schedule = kept["schedule"]
    assert (schedule["clusters"], schedule["facts"]) == ([["h1", 1]], "the first 1 of 5 activities")


def test_runs_are_grouped_as_asked_for(simplugin, store, tmp_path):
    words = ("report", store, "-o", tmp_path, "--campaign", 1, "--figures", "none")
    simplugin(*words, "--group", "platform.seed", "--baseline", 1, status=0)
    _, document = data_of(tmp_path / "index.html")
    assert (document["group"], document["baseline"]) == ("platform.seed", 1)
    # The same number, written otherwise.
    simplugin(*words, "--group", "platform.seed", "--baseline", "2.0", status=0)
    assert data_of(tmp_path / "index.html")[1]["baseline"] == 2
    for option, value, told in (
        ("--group", "makespan", "'makespan', which is not varied; varied are scheduler.name"),
        ("--group", "platform.sed", "no column 'platform.sed'; did you mean 'platform.seed'?"),
        ("--baseline", "c", "scheduler.name is never 'c'; it is a, b"),
    ):
        assert told in simplugin(*words, option, value, status=1).stderr


def test_claims_and_figures_of_a_reproduction(simplugin, store, tmp_path):
    simplugin("report", store, "-o", tmp_path, "--campaign", 2, status=0)
    _, document = data_of(tmp_path / "index.html")
    [claim] = document["claims"]
    assert (claim["capability"], claim["agrees"]) == ("bags", False)
    assert [each["capability"] for each in document["figures"]] == ["bags"]
    facts = dict(document["facts"])
    words = ["simplugin", "reproduce", "bags", "--quick", "-o", str(store.parent)]
    assert shlex.split(facts["resumed or measured again by"]) == words
    assert facts["runs started"] == "2026-11-22 04:00:20 to 04:00:21 UTC"
    # Files that the page links to are there.
    files = (tmp_path / "figures").glob("*.p[dn][fg]")
    assert sorted(document["files"]) == sorted(f"figures/{each.name}" for each in files) != []


def test_what_cannot_be_reported(simplugin, store, tmp_path):
    for words, told in (
        # The latest campaign, of which nothing is recorded.
        ((store,), "nothing of campaign 3 is recorded yet"),
        ((store, "--campaign", 9), "there is no campaign 9"),
        ((tmp_path / "no.sqlite",), "no.sqlite"),
    ):
        assert told in simplugin("report", *words, "-o", tmp_path / "out", status=1).stderr
    assert not (tmp_path / "out").exists()


CAMPAIGN = """
title = "Trees"
campaign.store = "store.sqlite"
platform = {{ generator = "random_tree", parameters = {{ n_hosts = 5, max_degree = 2 }} }}
scheduler.name = "bags.fcfs"
sweep.platform.seed = [1, 2]
[workload]
kind = "bags"
applications = [{{ name = "x", master = "n0", flop = "60Gf", byte = "20MB", count = {} }}]
"""


def test_a_campaign_file_is_never_reported_as_another(simplugin, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "trees.toml"
    file.write_text(CAMPAIGN.format(4))
    mine = load_campaign(file)
    with Store.open(tmp_path / "store.sqlite") as writer:
        for title, identity, name in (
            ("Trees", mine.identity, str(file)), ("Others", "4" * 64, "others.toml"),
        ):  # fmt: skip
            number = writer.begin(Source(2, identity, title, name))
            writer.append(number, record(number, {"platform.seed": 1}, {"makespan": (2.0, "s")}))
        writer.commit()
    words = ("report", file, "-o", tmp_path / "page", "--figures", "none")
    simplugin(*words, status=0)
    page, document = data_of(tmp_path / "page" / "index.html")
    assert "<title>Trees</title>" in page
    assert document["files"] == []
    facts = dict(document["facts"])
    assert facts["resumed or run again by"] == "simplugin campaign run trees.toml"
    # The file has changed: neither the latest campaign nor the one that it was.
    file.write_text(CAMPAIGN.format(5))
    changed = simplugin(*words, status=1)
    assert f"the store has no runs of the present version of {file}" in changed.stderr
    assert "--campaign 1 takes that one" in changed.stderr
    assert "Others" not in changed.stderr
    simplugin(*words, "--campaign", 1, status=0)
    # A store alone is its latest campaign.
    simplugin("report", tmp_path / "store.sqlite", *words[2:], status=0)
    assert "<title>Others</title>" in (tmp_path / "page" / "index.html").read_text()


PARTS = ("unscaled", "tasks")
FIGURES = ("figure 5",)


@pytest.fixture(scope="module")
def reproduction(tmp_path_factory, simplugin):
    """The quick run with figures, and where they are."""
    place = tmp_path_factory.mktemp("reproduction")
    with pytest.MonkeyPatch.context() as patch:
        for table, names in (("EXPERIMENTS", PARTS), ("FIGURES", FIGURES)):
            known = getattr(experiments, table)
            patch.setattr(experiments, table, {name: known[name] for name in names})
        yield simplugin("reproduce", "pricing", "--quick", "--json", "-o", "made", cwd=place), place


def claims_of(done):
    return json.loads(done.stdout)["claims"]


def test_json_and_nothing_else(reproduction):
    done, _ = reproduction
    assert (done.returncode, "\n3 of 3 done" in f"\n{done.stderr}") == (0, True)
    [line] = done.stdout.splitlines()
    assert list(json.loads(line)) == ["claims"]


def test_claims_are_measured(reproduction):
    claims = {each["id"]: each for each in claims_of(reproduction[0])}
    # The axis of Figure 5 ends at 6e5.
    assert 5e5 < claims["unscaled-highest"]["measured"] <= 6e5
    assert claims["unscaled-zero"]["measured"] == claims["unscaled-zero"]["paper"] == 0
    assert 0 < claims["dispatch"]["measured"] < 0.01
    # Figure 2's edges decide, which the report only draws.
    assert [name for name, each in claims.items() if each["agrees"] is None] == ["unscaled-highest"]
    assert all(each["why"] for each in claims.values())


def test_files(reproduction):
    done, place = reproduction
    assert json.loads((place / "made/claims.json").read_text()) == json.loads(done.stdout)
    page = (place / "made/pricing.md").read_text()
    assert "    simplugin reproduce pricing --quick -o DIR\n" in page
    assert all(claim["claim"] in page for claim in claims_of(done))
    kept = json.loads((place / "made/pricing.json").read_text())
    assert {each["id"] for each in kept["claims"]} == {each["id"] for each in claims_of(done)}
    drawn = sorted((place / "made").glob("*.png"))
    assert len(drawn) >= len(FIGURES)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)


def test_what_was_measured_is_not_measured_again(reproduction, simplugin):
    done, place = reproduction
    again = simplugin("reproduce", "pricing", "--quick", "-o", "made", cwd=place, status=0)
    *_, kept, more, hours = again.stdout.splitlines()
    assert kept == "3 parts measured, 3 of them before; kept in made/store.sqlite"
    assert re.fullmatch(r"the full run measures \d+ statements more and .* 0 of the 1 .*;", more)
    assert re.fullmatch(r"it takes about \S+ h on one core: simplugin reproduce pricing", hours)
    with StoreReader(place / "made/store.sqlite") as reader:
        assert len(list(reader.runs())) == len(PARTS) + len(FIGURES)
    assert json.loads((place / "made/claims.json").read_text()) == json.loads(done.stdout)


def test_what_cannot_be_reproduced_is_told_before_the_work(tmp_path, simplugin):
    (tmp_path / "taken").write_text("")
    for words, told in (
        (("prices",), "simplugin: there is nothing called 'prices'"),
        (("pricing", "--quick", "-o", "taken"), "taken"),
    ):
        done = simplugin("reproduce", *words, cwd=tmp_path, status=1)
        assert (done.stdout, told in done.stderr) == ("", True)
