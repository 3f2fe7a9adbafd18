"""``simplugin platform grid5000`` and ``catalogue`` as users call them, and the generator."""

import subprocess
import sys

import pytest

from simplugin.campaigns.generators import GENERATORS
from simplugin.campaigns.generators.grid5000 import grid5000
from simplugin.formats.check import check
from simplugin.formats.grid5000_catalogue import shipped_catalogue, write_catalogue
from simplugin.formats.grid5000_latencies import latencies_text
from simplugin.formats.platform_xml import read_platform
from simplugin.platforms.grid5000 import (
    Adapter,
    BackboneLink,
    ClusterFacts,
    Grid5000,
    NodeGroup,
    Remark,
    SiteFacts,
)
from simplugin.platforms.grid5000_concerns import concerning
from simplugin.platforms.grid5000_latencies import Latencies
from simplugin.platforms.grid5000_platform import grid5000_platform
from simplugin.platforms.grid5000_selection import selected

REMARKS = (
    Remark("contradiction", "network_equipments/renater-lyon.json", "two rates"),
    Remark("left-out", "sites/atlantis", "it has no nodes"),
    Remark("left-out", "sites/lyon/clusters/nova", "nova-9: no adapter"),
    Remark("assumed", "sites/lyon/clusters/orion/nodes/orion-1.json", "no rate"),
    Remark("assumed", "sites/lyon/network_equipments/gw.json", "no rate"),
    Remark("assumed", "sites/nancy/nancy.json", "no point of presence"),
    Remark("contradiction", "network_equipments/renater-brest.json", "nothing leads there"),
)


def site(uid, *clusters):
    group = NodeGroup("1-4", 8, 1e9, Adapter("Ethernet", 1e10))
    return SiteFacts(uid, "gw", tuple(ClusterFacts(cluster, (group,)) for cluster in clusters))


FACTS = Grid5000(
    "2026-03",
    (site("lyon", "nova", "orion"), site("nancy", "gros")),
    (
        BackboneLink(("lyon", "renater-lyon"), 1e10),
        BackboneLink(("renater-lyon", "nancy"), 1e10),
    ),
)


@pytest.fixture
def facts(tmp_path):
    path = tmp_path / "facts.json"
    write_catalogue(FACTS, REMARKS, path)
    return path


def call(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "simplugin.cli", "platform", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_catalogue_that_comes_with_it(tmp_path):
    done = call("grid5000", "--site", "nancy", "-o", "nancy.xml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    everything, _ = shipped_catalogue()
    (nancy,) = (each for each in everything.sites if each.uid == "nancy")
    expected = (
        f"nancy.xml: 1 site, {nancy.node_count} hosts, {nancy.core_count:,} cores, "
        f"{nancy.speed / 1e12:,.1f} Tflop/s, facts of {everything.date}\n"
    )
    assert done.stderr.endswith(expected)
    path = tmp_path / "nancy.xml"
    assert check([path]) == []
    assert "<!-- simplugin platform grid5000 " in path.read_text()
    assert read_platform(path) == grid5000_platform(Grid5000("", (nancy,)))


def test_without_a_file_it_is_printed(tmp_path, facts):
    done = call("grid5000", "--reference", facts, "--site", "lyon,nancy", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "printed.xml").write_text(done.stdout)
    assert read_platform(tmp_path / "printed.xml") == grid5000_platform(FACTS)
    assert done.stderr == (
        "simplugin: 5 remarks on the reference (1 left out, 1 contradictory, 3 assumed); "
        "--remarks tells them\n"
    )


def test_remarks_are_told_by_kind(tmp_path, facts):
    options = ["--reference", facts, "--remarks", "--cluster", "nova", "-o", "nova.xml"]
    done = call("grid5000", *options, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "Left out (1):",
        "  sites/lyon/clusters/nova: nova-9: no adapter",
        "Missing; assumed instead (1):",
        "  sites/lyon/network_equipments/gw.json: no rate",
        "nova.xml: 1 site, 4 hosts, 32 cores, 0.0 Tflop/s, facts of 2026-03",
    ]


def test_strict_writes_nothing(tmp_path, facts):
    options = ["--reference", facts, "--strict", "--site", "nancy", "-o", "nancy.xml"]
    done = call("grid5000", *options, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "simplugin: error: sites/nancy/nancy.json: assumed: no point of presence",
        "simplugin: nothing is written: 1 remark on the reference (1 assumed)",
    ]
    assert not (tmp_path / "nancy.xml").exists()
    write_catalogue(FACTS, (), facts)
    assert call("grid5000", *options, cwd=tmp_path).returncode == 0
    assert (tmp_path / "nancy.xml").exists()


def test_latencies_are_printed_and_given_back(tmp_path):
    printed = call("grid5000", "--print-latencies", cwd=tmp_path).stdout
    assert printed == latencies_text(Latencies())
    table = tmp_path / "table.toml"
    table.write_text(printed.replace('switch = "2us"', 'switch = "7us"'))
    again = call("grid5000", "--print-latencies", "--latencies", table, cwd=tmp_path)
    assert again.stdout == table.read_text()
    call("grid5000", "--print-latencies", "-o", "copy.toml", cwd=tmp_path)
    assert (tmp_path / "copy.toml").read_text() == printed
    options = ["--site", "nancy", "--latencies", table, "--interconnect", "fast", "-o", "n.xml"]
    done = call("grid5000", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    nancy = selected(shipped_catalogue()[0], sites=["nancy"])
    expected = grid5000_platform(nancy, Latencies(switch=7e-6), "fast")
    assert read_platform(tmp_path / "n.xml") == expected
    assert expected != grid5000_platform(nancy)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--site", "nanci"], "there is no site 'nanci'; choose among nancy"),
        (["--reference", "missing"], "missing"),
        (["--latencies", "missing.toml"], "missing.toml"),
        (["--site", "nancy", "-o", "no/such/place.xml"], "no/such/place.xml"),
    ],
)
def test_errors_are_one_line(tmp_path, options, message):
    done = call("grid5000", *options, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("simplugin: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_catalogue_is_made_from_the_reference(tmp_path, shared_data):
    reference = shared_data / "grid5000/reference-2026-03.tar.xz"
    done = call("catalogue", reference, "-o", "catalogue.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "11 sites, 939 hosts" in done.stderr
    direct = call("grid5000", "--reference", reference, "--site", "rennes", cwd=tmp_path)
    short = call("grid5000", "--reference", "catalogue.json", "--site", "rennes", cwd=tmp_path)
    assert direct.returncode == short.returncode == 0
    # All but the first comment, which has the command.
    assert direct.stdout.splitlines()[3:] == short.stdout.splitlines()[3:]
    done = call("catalogue", reference, "--date", "2020-01", "-o", "old.json", cwd=tmp_path)
    assert done.stderr.endswith(", facts of 2020-01\n")


@pytest.mark.parametrize(
    ("sites", "clusters", "expected"),
    [
        ((), (), (0, 1, 2, 3, 4, 5, 6)),
        (("lyon", "nancy"), (), (0, 2, 3, 4, 5)),
        (("lyon",), (), (2, 3, 4)),
        (("nancy",), (), (5,)),
        ((), ("orion",), (3, 4)),
        ((), ("orion", "gros"), (0, 3, 4, 5)),
    ],
)
def test_remarks_of_the_selection(sites, clusters, expected):
    left = selected(FACTS, sites=sites, clusters=clusters)
    found = concerning(REMARKS, left, sites, clusters)
    assert found == tuple(REMARKS[at] for at in expected)


def test_scenarios_can_ask_for_it(tmp_path, facts):
    assert grid5000(reference=str(facts)) == grid5000_platform(FACTS)
    assert grid5000("nancy", reference=str(facts)).host_count == 4
    assert grid5000(["lyon", "nancy"], ["nova", "gros"], reference=str(facts)).host_count == 8
    nancy = selected(shipped_catalogue()[0], sites=["nancy"])
    assert grid5000(site="nancy", interconnect="fast") == grid5000_platform(nancy, None, "fast")
    table = tmp_path / "table.toml"
    table.write_text("switch = 1\n")
    assert grid5000("nancy", latencies=str(table)) == grid5000_platform(nancy, Latencies(switch=1))
    with pytest.raises(ValueError, match="there is no site 'x'"):
        grid5000("x")
    with pytest.raises(ValueError, match="site is 3; give a name"):
        grid5000(3)
    with pytest.raises(ValueError, match="the interconnect is 'x'"):
        grid5000("nancy", interconnect="x")


def test_it_has_a_name_for_scenarios():
    assert GENERATORS["grid5000"] == f"{grid5000.__module__}:{grid5000.__name__}"
