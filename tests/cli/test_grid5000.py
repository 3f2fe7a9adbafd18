"""``simplugin platform grid5000`` and ``catalogue`` as users call them, and the generator."""

from functools import partial

import pytest

from simplugin.core.errors import PlatformError
from simplugin.formats.check import check
from simplugin.formats.grid5000.catalogue import shipped_catalogue, write_catalogue
from simplugin.formats.grid5000.latencies import latencies_text
from simplugin.formats.platform_xml import read_platform
from simplugin.platforms.grid5000 import facts as of
from simplugin.platforms.grid5000.facts import DataWarning, Grid5000, concerning, selected
from simplugin.platforms.grid5000.latencies import Latencies
from simplugin.platforms.grid5000.platform import grid5000_platform
from simplugin.scenarios.generators.registry import generator_called
from simplugin.scenarios.generators.sites import grid5000

REMARKS = (
    DataWarning("contradiction", "renater-lyon", "two rates", ("link", "renater-lyon", "lyon")),
    DataWarning("left-out", "atlantis", "it has no nodes", ("site", "atlantis")),
    DataWarning("left-out", "nova", "nova-9: no adapter", ("cluster", "lyon", "nova")),
    DataWarning("assumed", "orion", "no rate", ("cluster", "lyon", "orion")),
    DataWarning("assumed", "gw", "no rate", ("switch", "lyon", "gw")),
    DataWarning("assumed", "nancy", "no point of presence", ("link", "nancy", "renater-lyon")),
    DataWarning(
        "contradiction", "renater-brest", "nothing leads there", ("point", "renater-brest")
    ),
    DataWarning("contradiction", "sw", "two ends disagree", ("uplink", "lyon", "sw", "gw")),
    DataWarning("left-out", "sw", "a port is odd", ("switch", "lyon", "sw")),
    DataWarning("assumed", "nancy", "no router", ("site", "nancy")),
    DataWarning("left-out", "lyon", "a cluster has no name", ("cluster", "lyon", "")),
    DataWarning("left-out", "renater-lyon", "it leads somewhere", ("point", "renater-lyon")),
    DataWarning("left-out", "", "no object", ("grid",)),
    DataWarning("left-out", "", "no object", ("backbone",)),
    DataWarning("assumed", "old", "nobody knows of what"),
)


def cluster(uid, switch):
    adapter = of.Adapter("Ethernet", 1e10, switch)
    return of.ClusterFacts(uid, (of.NodeGroup("1-4", 8, 1e9, adapter),))


UPLINK = of.Uplink("sw", "gw", 1e10)
LYON = of.SiteFacts("lyon", "gw", (cluster("nova", "gw"), cluster("orion", "sw")), (UPLINK,))
NANCY = of.SiteFacts("nancy", "gw", (cluster("gros", ""),), ())
BACKBONE = tuple(of.BackboneLink((each, "renater-lyon"), 1e10) for each in ("lyon", "nancy"))
FACTS = Grid5000("2026-03", (LYON, NANCY), BACKBONE)


@pytest.fixture
def facts(tmp_path):
    path = tmp_path / "facts.json"
    write_catalogue(FACTS, REMARKS, path)
    return path


@pytest.fixture
def call(simplugin):
    return partial(simplugin, "platform")


def test_the_catalogue_that_comes_with_it(tmp_path, call):
    done = call("grid5000", "--site", "nancy", "-o", "nancy.xml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    everything, _ = shipped_catalogue()
    (nancy,) = (each for each in everything.sites if each.uid == "nancy")
    counts = f"1 site, {nancy.node_count} hosts, {nancy.core_count:,} cores"
    rest = f"{nancy.speed / 1e12:,.1f} Tflop/s, facts of {everything.date}\n"
    assert done.stderr.endswith(f"nancy.xml: {counts}, {rest}")
    path = tmp_path / "nancy.xml"
    assert check([path]) == []
    assert "<!-- simplugin platform grid5000 " in path.read_text()
    assert read_platform(path) == grid5000_platform(Grid5000("", (nancy,)))


def test_without_a_file_it_is_printed(tmp_path, facts, call):
    done = call("grid5000", "--reference", facts, "--site", "lyon,nancy", cwd=tmp_path, status=0)
    (tmp_path / "printed.xml").write_text(done.stdout)
    assert read_platform(tmp_path / "printed.xml") == grid5000_platform(FACTS)
    counts = "12 warnings about the reference (5 left out, 2 contradictory, 5 assumed)"
    assert done.stderr == f"simplugin: {counts}; --warnings lists them\n"


def test_warnings_are_told_by_kind(tmp_path, facts, call):
    options = ["--reference", facts, "--warnings", "--cluster", "nova", "-o", "nova.xml"]
    done = call("grid5000", *options, cwd=tmp_path, status=0)
    left = ["Left out (1):", "  nova: nova-9: no adapter"]
    assumed = ["Missing; assumed (2):", "  gw: no rate", "  old: nobody knows of what"]
    made = "nova.xml: 1 site, 4 hosts, 32 cores, 0.0 Tflop/s, facts of 2026-03"
    assert done.stderr.splitlines() == [*left, *assumed, made]


def test_strict_writes_nothing(tmp_path, facts, call):
    options = ["--reference", facts, "--strict", "--site", "nancy", "-o", "nancy.xml"]
    done = call("grid5000", *options, cwd=tmp_path, status=1)
    assert done.stderr.splitlines() == [
        "simplugin: error: nancy: assumed: no router",
        "simplugin: error: old: assumed: nobody knows of what",
        "simplugin: nothing is written: 2 warnings about the reference (2 assumed)",
    ]
    assert not (tmp_path / "nancy.xml").exists()
    write_catalogue(FACTS, (), facts)
    call("grid5000", *options, cwd=tmp_path, status=0)
    assert (tmp_path / "nancy.xml").exists()


def test_latencies_are_printed_and_given_back(tmp_path, call):
    printed = call("grid5000", "--print-latencies", cwd=tmp_path).stdout
    assert printed == latencies_text(Latencies())
    table = tmp_path / "table.toml"
    table.write_text(printed.replace('switch = "2us"', 'switch = "7us"'))
    again = call("grid5000", "--print-latencies", "--latencies", table, cwd=tmp_path)
    assert again.stdout == table.read_text()
    call("grid5000", "--print-latencies", "-o", "copy.toml", cwd=tmp_path)
    assert (tmp_path / "copy.toml").read_text() == printed
    options = ["--site", "nancy", "--latencies", table, "--interconnect", "fast", "-o", "n.xml"]
    call("grid5000", *options, cwd=tmp_path, status=0)
    nancy = selected(shipped_catalogue()[0], sites=["nancy"])
    expected = grid5000_platform(nancy, Latencies(switch=7e-6), "fast")
    assert read_platform(tmp_path / "n.xml") == expected
    assert expected != grid5000_platform(nancy)


WRONG = [
    (["--site", "bordeaux"], "there is no site 'bordeaux': bordeaux has no nodes; choose"),
    (["--latencies", "missing.toml"], "file or directory; give the path of a file"),
    (["--print-latencies", "--latencies", "odd.toml"], "odd.toml:2: there is no site"),
    (["--site", "nancy", "-o", "no/such/place.xml"], "no/such/place.xml"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_errors_are_one_line(tmp_path, options, message, call):
    (tmp_path / "odd.toml").write_text("[cities]\nnance = [0, 0]\n")
    done = call("grid5000", *options, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith("simplugin: ")
    assert message in done.stderr


def test_a_catalogue_is_made_from_the_reference(tmp_path, shared_data, call):
    reference = shared_data / "grid5000/reference-2026-03.tar.xz"
    done = call("catalogue", reference, "-o", "catalogue.json", cwd=tmp_path, status=0)
    assert "11 sites, 939 hosts" in done.stderr
    direct = call("grid5000", "--reference", reference, "--site", "rennes", cwd=tmp_path)
    short = call("grid5000", "--reference", "catalogue.json", "--site", "rennes", cwd=tmp_path)
    assert direct.returncode == short.returncode == 0
    # All but the first comment, which has the command.
    assert direct.stdout.splitlines()[3:] == short.stdout.splitlines()[3:]
    done = call("catalogue", reference, "--date", "2020-01", "-o", "old.json", cwd=tmp_path)
    assert done.stderr.endswith(", facts of 2020-01\n")


SELECTIONS = [
    ((), (), tuple(range(15))),
    (("lyon", "nancy"), (), (0, 2, 3, 4, 5, 7, 8, 9, 10, 11, 13, 14)),
    (("lyon",), (), (2, 3, 4, 7, 8, 10, 14)),
    (("nancy",), (), (9, 14)),
    ((), ("orion",), (3, 4, 7, 8, 14)),
    ((), ("nova",), (2, 4, 14)),
]


@pytest.mark.parametrize(("sites", "clusters", "expected"), SELECTIONS)
def test_warnings_of_the_selection(sites, clusters, expected):
    left = selected(FACTS, sites=sites, clusters=clusters)
    found = concerning(REMARKS, left, sites, clusters)
    assert found == tuple(REMARKS[at] for at in expected)


def test_fast_tells_which_clusters_stay_on_ethernet(tmp_path, call):
    options = ["--site", "grenoble", "--interconnect", "fast", "-o", "fast.xml"]
    done = call("grid5000", *options, cwd=tmp_path, status=0)
    told = [line for line in done.stderr.splitlines() if "Ethernet" in line]
    assert "simplugin: dahu stays on Ethernet: of 32 nodes 29 have Omni-Path" in told
    assert not any("troll" in line for line in told)  # all four have it
    done = call("grid5000", "--site", "grenoble", "-o", "slow.xml", cwd=tmp_path)
    assert "Ethernet" not in done.stderr


@pytest.mark.parametrize(("option", "value"), [("--site", "nancy,"), ("--cluster", " ")])
def test_empty_names_are_refused(option, value, tmp_path, call):
    output = tmp_path / "all.xml"
    done = call("grid5000", option, value, "-o", output, status=2)
    assert f"{option} has an empty name" in done.stderr
    assert not output.exists()


def test_catalogues_of_catalogues_and_odd_dates_are_refused(tmp_path, facts, call):
    (tmp_path / "reference.json").write_text("{}")
    for words, message in (
        ((facts,), "use it directly: simplugin platform grid5000"),
        (("reference.json", "--date", "bla"), "'bla' is no date of a reference; give a year and"),
    ):
        done = call("catalogue", *words, "-o", "again.json", cwd=tmp_path, status=1)
        assert message in done.stderr
    assert not (tmp_path / "again.json").exists()


def test_scenarios_can_ask_for_it(tmp_path, facts):
    assert grid5000(reference=str(facts)) == grid5000_platform(FACTS)
    assert grid5000("nancy", reference=str(facts)).host_count == 4
    assert grid5000(["lyon", "nancy"], ["nova", "gros"], reference=str(facts)).host_count == 8
    nancy = selected(shipped_catalogue()[0], sites=["nancy"])
    assert grid5000(site="nancy", interconnect="fast") == grid5000_platform(nancy, None, "fast")
    table = tmp_path / "table.toml"
    table.write_text("switch = 1\n")
    assert grid5000("nancy", latencies=str(table)) == grid5000_platform(nancy, Latencies(switch=1))
    for given, message in (
        ({"site": 3}, "site is 3"),
        ({"latencies": []}, "latencies is []"),
        ({"reference": ""}, "reference is ''"),
        ({"site": "bordeaux"}, "bordeaux"),
        ({"site": "nancy", "interconnect": "x"}, "interconnect is 'x'"),
    ):
        with pytest.raises(PlatformError) as caught:
            generator_called("grid5000").platform(given)
        assert message in str(caught.value)


@pytest.mark.usefixtures("facts")
def test_paths_of_scenarios_are_relative_to_them(tmp_path):
    (tmp_path / "table.toml").write_text("switch = 1\n")
    made = grid5000(reference="facts.json", latencies="table.toml", directory=tmp_path)
    assert made == grid5000_platform(FACTS, Latencies(switch=1))
    with pytest.raises(ValueError, match=r"facts\.json"):
        grid5000(reference="facts.json")
