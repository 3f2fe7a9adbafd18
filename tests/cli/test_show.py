"""``simplugin platform show`` and ``simplugin platform draw`` as users call them."""

import json
from functools import partial
from pathlib import Path

import pytest

from simplugin.formats.platform_xml import write_platform
from simplugin.platforms import Cluster, Platform, Zone

ROOT = Path(__file__).parents[2]
FILES = ROOT / "platforms_xml"


@pytest.fixture
def show(simplugin):
    return partial(simplugin, "platform", "show")


def test_tables(show):
    done = show(FILES / "lille_nancy.xml")
    assert (done.returncode, done.stderr) == (0, "")
    # 53 + 20 + 26 + 47 + 120 hosts of Table 1. Of five clusters 5 x 4 ordered pairs, and two
    # within each; five backbones.
    assert {" ".join(line.split()) for line in done.stdout.splitlines()} >= {
        "lille_nancy.xml", "hosts 266", "simgrid hosts 266", "FATPIPE - 5", "zoneRoute 10",
        "all hosts reach each other yes, by 30 pairs",
        "grelon cluster FLAT 1 120 120 382.2 Gflop/s",
    }  # fmt: skip


def test_json(show):
    done = show(FILES / "two_topologies.xml", "--json")
    document = json.loads(done.stdout)
    assert document["hosts"] == document["simgrid_hosts"] == 128
    assert document["cores"] == document["simgrid_cores"] == 64 * 16 + 64 * 32
    assert document["speed"] == document["simgrid_speed"] == 64 * 16 * 4e9 + 64 * 32 * 3e9
    assert document["file_size"] == (FILES / "two_topologies.xml").stat().st_size
    assert document["findings"] == []
    # 64 x 63 ordered pairs in each of two, and two between them.
    assert (document["pairs"], document["pairs_are_all"]) == (2 * 64 * 63 + 2, True)
    parts = document["listings"][0]
    assert [line[2] for line in parts["lines"]] == ["FAT_TREE", "TORUS"]


def test_route_of_a_pair(show):
    done = show(FILES / "lille_nancy.xml", "--pair", "chti-1", "grelon-3", "--json")
    route = json.loads(done.stdout)["listings"][-1]
    up = ["chti_link_1_UP", "chti_backbone", "lille-uplink_UP"]
    down = ["grelon-uplink_DOWN", "grelon_backbone", "grelon_link_3_DOWN"]
    assert [line[0] for line in route["lines"]] == [*up, "renater", *down]
    # 50 + 20 + 20 us at either end, 5 ms between.
    assert sum(line[3] for line in route["lines"]) == pytest.approx(5e-3 + 2 * 90e-6)
    assert route["note"] == "latency 0.00518 s, narrowest 125 MB/s"


def test_hosts_that_do_not_reach_each_other(show):
    done = show(FILES / "tree.xml", status=0)
    # A tree of 12 hosts has 11 edges: 22 of 132 ordered pairs are neighbours.
    assert "no: 110 of 132 pairs lack a route" in done.stdout
    assert "platforms_xml/tree.xml:5: warning: 'n0' cannot reach 'n4'" in done.stderr


TWO = "platforms_xml/lille_nancy.xml"
WRONG = [
    ("platforms_xml/tree.xml --pair n0 n4", 1, "there is no route from 'n0' to 'n4'"),
    (f"{TWO} --pair chti-1 grelon-300", 1, "no host 'grelon-300'; did you mean 'grelon-30' or "),
    (f"{TWO} --pair x grelon-1", 1, "the hosts are 'chuque-1', 'chuque-2', 'chuque-3' ... 'grelon"),
    (f"{TWO} --pair chti-1 chti-1", 1, "'chti-1' is both ends of the pair; name two hosts"),
    ("deployments/master_worker.xml", 1, "the file has no hosts; name a platform"),
    ("platforms_xml/nothing.xml", 2, "nothing.xml"),
]


@pytest.mark.parametrize(("words", "status", "message"), WRONG)
def test_what_cannot_be_shown_is_told(words, status, message, show):
    assert message in show(*words.split(), cwd=ROOT, status=status).stderr


def test_errors_are_those_of_check(tmp_path, show):
    file = tmp_path / "wrong.xml"
    broken = (FILES / "star.xml").read_text().replace('bandwidth="', 'bandwidth="-', 1)
    file.write_text(broken)
    done = show(file)
    line = 1 + broken[: broken.index('bandwidth="-')].count("\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{file}:{line}: error:" in done.stderr


def test_a_sample_is_said_to_be_one(tmp_path, show):
    file = tmp_path / "torus.xml"
    shape = {"topology": "TORUS", "topology_parameters": "20,20"}
    torus = Cluster("torus", "0-399", 1e9, 1e8, 1e-4, "h", **shape)
    write_platform(Platform(Zone("all", "Full", (torus,))), file)
    document = json.loads(show(file, "--json").stdout)
    assert document["pairs_are_all"] is False
    assert 1000 <= document["pairs"] < 400 * 399
    assert document["all_hosts_reach_each_other"].endswith("pairs, a sample")


@pytest.fixture
def call(simplugin):
    return partial(simplugin, "platform", "draw")


def test_draws_a_file(tmp_path, call):
    done = call(FILES / "tree.xml", "-o", tmp_path / "a.svg", "--title", "A tree")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    text = (tmp_path / "a.svg").read_text()
    assert ">A tree<" in text
    assert ">n11<" in text


def test_detail_is_that_asked_for(tmp_path, call):
    for detail in ("hosts", "clusters"):
        call(FILES / "lille.xml", "-o", f"{detail}.svg", "--detail", detail, cwd=tmp_path, status=0)
    # Hosts one by one have no count.
    assert "53 hosts" not in (tmp_path / "hosts.svg").read_text()
    assert "53 hosts" in (tmp_path / "clusters.svg").read_text()


def test_what_is_wrong_is_told_in_one_line(call):
    for file, picture, message in (
        ("tree.xml", "x.gif", "x.gif: cannot draw that; end the name with .png"),
        ("none.xml", "x.png", "none.xml"),
    ):
        done = call(FILES / file, "-o", picture)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert message in done.stderr
