"""``simplugin platform generate`` as users call it."""

import subprocess
import sys
from functools import partial

import pytest

from simplugin.formats.check import check
from simplugin.formats.platform_xml import platform_text, read_platform
from simplugin.scenarios.generators import GENERATORS
from simplugin.simulation.resolve import resolve

COMMAND = [sys.executable, "-m", "simplugin.cli", "platform", "generate"]


@pytest.fixture
def call(simplugin):
    return partial(simplugin, "platform", "generate")


@pytest.fixture
def refused(call):
    def told(*arguments, cwd=None):
        done = call(*arguments, cwd=cwd)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("simplugin: ")
        return done.stderr

    return told


def test_a_platform_is_written_with_its_command(tmp_path, call):
    file = tmp_path / "torus.xml"
    done = call("torus", "sizes=[3,4]", "speed=2Gf", "latency=1us", "-o", file)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert f"simplugin platform generate torus 'sizes=[3,4]' speed=2Gf latency=1us -o {file}" in (
        file.read_text()
    )
    assert not check([file])
    resolved = resolve(file, 1000)
    assert len(resolved.routes) == 12 * 11
    assert {host.speed for host in resolved.hosts} == {2e9}


def test_without_a_file_it_is_printed(tmp_path, call):
    done = call("two_topologies")
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "printed.xml").write_text(done.stdout)
    assert read_platform(tmp_path / "printed.xml").host_count == 128


@pytest.mark.parametrize("as_option", [True, False])
def test_the_seed_decides(tmp_path, as_option, call):
    texts = []
    for number, seed in enumerate((3, 3, 4)):
        law = 'bandwidth={law="log-uniform",low="1MBps",high="1GBps"}'
        chosen = ["--seed", seed] if as_option else [f"seed={seed}"]
        file = tmp_path / f"{number}.xml"
        assert call("random_geometric", "n_hosts=12", law, *chosen, "-o", file).returncode == 0
        texts.append(platform_text(read_platform(file)))
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]


def test_same_command_same_bytes(tmp_path):
    found = set()
    for place in ("one", "other"):
        (tmp_path / place).mkdir()
        # Processes of their own, whose sets have other orders.
        words = ["star", "workers=6", "seed=9", "-o", "star.xml"]
        done = subprocess.run([*COMMAND, *words], cwd=tmp_path / place, check=False)
        assert done.returncode == 0
        found.add((tmp_path / place / "star.xml").read_bytes())
    assert len(found) == 1


def test_modules_are_found_in_the_current_directory(tmp_path, call, refused):
    (tmp_path / "mine.py").write_text(
        "from simplugin.platforms import Cluster, Platform, Zone\n"
        "def lab(hosts: int, name='lab', wide=False, rates=(1,)):\n"
        "    assert isinstance(wide, bool) and isinstance(name, str)\n"
        "    cluster = Cluster(name, f'1-{hosts}', 1e9, float(rates[-1]), 0.0, prefix='h')\n"
        "    return Platform((Zone('all', 'Full', (cluster,)),))\n"
    )
    done = call("mine:lab", "hosts=4", "name=here", "wide=true", "rates=[1e6, 2e6]", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert 'bw="2MBps"' in done.stdout
    assert '<cluster id="here"' in done.stdout
    assert "has no parameter 'host'; did you mean 'hosts'? It takes hosts name=lab" in refused(
        "mine:lab", "host=4", cwd=tmp_path
    )


def test_the_list_has_every_generator(call):
    done = call("--list")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    heads = [line for line in lines if not line.startswith(" ")]
    assert [line.partition(":")[0] for line in heads] == list(GENERATORS)
    assert all(line.partition(": ")[2].endswith(".") for line in heads)
    assert (
        "    n_hosts speed=1Gf bandwidth=125MBps latency=0.05ms routing=DijkstraCache seed=0"
        in lines
    )


def test_the_list_tells_all_about_one(call):
    done = call("random_tree", "--list")
    assert done.stdout.startswith("random_tree: n_hosts max_degree speeds=")
    assert "seed : int" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "no generator is named; give one that --list shows"),
        (["rign"], "there is no generator 'rign'; did you mean 'ring'?"),
        (["ring", "n_host=3"], "did you mean 'n_hosts'? It takes n_hosts speed=1Gf"),
        (["ring"], "generator 'ring' lacks its parameter 'n_hosts'; it takes n_hosts"),
        (["ring", "n_hosts=many"], "the number of hosts of a ring is 'many'"),
        (["ring", "n_hosts"], "'n_hosts' sets no parameter; write KEY=VALUE"),
        (["ring", "n hosts=3"], "'n hosts=3' sets no parameter"),
        (["ring", "n_hosts=3", "n_hosts=4"], "parameter 'n_hosts' is given twice"),
        (["ring", "n_hosts=3", "speed=3GBps"], "unknown unit 'GBps'"),
        (["ring", "n_hosts=3", 'speed={law="uniform"'], "is not a TOML value"),
        (["torus", "sizes=[3,"], "sizes=[3, is not a TOML value"),
        (["torus", "sizes=[3]", "--seed", "3"], "generator 'torus' draws nothing"),
        (["ring", "n_hosts=3", "seed=1", "--seed", "3"], "the seed is given twice"),
        (["ring", "n_hosts=3\nspeed=1"], "the number of hosts of a ring is '3\\nspeed=1'"),
        (["nothing:here"], "there is no module 'nothing', neither in the current directory"),
    ],
)
def test_what_is_wrong_is_told(arguments, told, tmp_path, refused):
    assert told in refused(*arguments, "-o", tmp_path / "none.xml")
    assert not (tmp_path / "none.xml").exists()
