"""``simplugin platform generate`` as users call it."""

from functools import partial

import pytest

from simplugin.formats.check import check
from simplugin.scenarios.generators import GENERATORS
from simplugin.simulation.resolve import resolve


@pytest.fixture
def call(simplugin):
    return partial(simplugin, "platform", "generate")


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


def test_the_seed_decides(call):
    law = 'bandwidth={law="log-uniform",low="1MBps",high="1GBps"}'
    texts = []
    for seed in (("--seed", 3), ("seed=3",), ("--seed", 4)):
        done = call("random_geometric", "n_hosts=12", law, *seed)
        assert (done.returncode, done.stderr) == (0, "")
        # All but the comment, which has the command.
        texts.append(done.stdout.partition("<platform")[2])
    assert texts[0] == texts[1] != texts[2]


def test_modules_are_found_in_the_current_directory(tmp_path, call):
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
    assert "seed : int" in call("random_tree", "--list").stdout


WRONG = [
    ([], "no generator is named; give one that --list shows"),
    (["ring", "n_host=3"], "did you mean 'n_hosts'? It takes n_hosts speed=1Gf"),
    (["ring", "n_hosts"], "'n_hosts' sets no parameter; write KEY=VALUE"),
    (["ring", "n hosts=3"], "'n hosts=3' sets no parameter"),
    (["ring", "n_hosts=3", "n_hosts=4"], "parameter 'n_hosts' is given twice"),
    (["ring", "n_hosts=3", 'speed={law="uniform"'], "is not a TOML value"),
    (["torus", "sizes=[3]", "--seed", "3"], "generator 'torus' draws nothing"),
    (["ring", "n_hosts=3", "seed=1", "--seed", "3"], "the seed is given twice"),
    (["ring", "n_hosts=3\nspeed=1"], "n_hosts is '3\\nspeed=1'"),
]


@pytest.mark.parametrize(("arguments", "told"), WRONG)
def test_what_is_wrong_is_told(arguments, told, tmp_path, call):
    done = call(*arguments, "-o", tmp_path / "none.xml")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("simplugin: ")
    assert told in done.stderr
    assert not (tmp_path / "none.xml").exists()
