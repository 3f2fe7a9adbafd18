"""``simplugin platform multicluster`` and ``generate`` as users call them."""

import shlex
import tomllib
from functools import partial
from pathlib import Path

import pytest

from simplugin.core.errors import PlatformError
from simplugin.formats.check import check
from simplugin.formats.federations import read_federation
from simplugin.formats.platform_xml import platform_text, read_platform
from simplugin.scenarios.generators import GENERATORS
from simplugin.scenarios.generators.registry import generator_called
from simplugin.scenarios.generators.sites import federation
from simplugin.simulation.resolve import resolve

EXAMPLE = Path(__file__).parents[2] / "scenarios" / "federations" / "three_sites.toml"


@pytest.fixture
def call(simplugin):
    return partial(simplugin, "platform", "multicluster")


def test_it_writes_what_the_description_says(tmp_path, call):
    output = tmp_path / "federation.xml"
    call(EXAMPLE, "-o", output, status=0)
    assert read_platform(output) == read_federation(EXAMPLE).platform()
    command = ["simplugin", "platform", "multicluster", str(EXAMPLE), "-o", str(output)]
    assert output.read_text().splitlines()[2] == f"<!-- {shlex.join(command)} -->"
    sites = [name.rpartition(".")[2] for name in read_platform(output).host_names()]
    assert sites.count("lille") == 46
    assert sites.count("sophia") == 60
    assert 3 * 16 <= sites.count("nancy") <= 3 * 64


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(call):
    chosen = ((), ("--seed", 1), ("--seed", 2))
    texts = [call(EXAMPLE, *words).stdout.partition("<platform")[2] for words in chosen]
    assert texts[0] == texts[1] != texts[2]
    assert texts[2].count("<cluster") == texts[0].count("<cluster") == 5


def test_what_is_wrong_is_told_in_one_line(tmp_path, call):
    (tmp_path / "wrong.toml").write_text('[[sites]]\nname = "s"\ncluster = 1\n')
    answer = call("wrong.toml", cwd=tmp_path)
    message = "wrong.toml:3: unknown key 'sites.0.cluster'; did you mean 'clusters'?"
    assert (answer.returncode, answer.stderr) == (1, f"simplugin: {message}\n")
    call(EXAMPLE, "--seed", "-1", status=2)


def test_a_scenario_takes_a_description_beside_it_or_its_tables():
    tables = tomllib.loads(EXAMPLE.read_text())
    del tables["seed"]
    made = federation(seed=5, **tables)
    assert platform_text(made) == platform_text(read_federation(EXAMPLE, 5).platform())
    assert made == federation(description=EXAMPLE.name, seed=5, directory=EXAMPLE.parent)


WRONG = [
    ({}, "give either a description or its tables"),
    ({"description": "a.toml", "sites": []}, "give either a description or its tables"),
    ({"description": ""}, "description is ''; give a text"),
    ({"sites": [{"name": 3}]}, "sites.0.name is 3; give a text"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_the_generator_refuses(arguments, message):
    with pytest.raises(PlatformError) as caught:
        generator_called("federation").platform(arguments)
    assert message in str(caught.value)


@pytest.fixture
def generate(simplugin):
    return partial(simplugin, "platform", "generate")


def test_a_platform_is_written_with_its_command(tmp_path, generate):
    file = tmp_path / "torus.xml"
    done = generate("torus", "sizes=[3,4]", "speed=2Gf", "latency=1us", "-o", file)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert f"simplugin platform generate torus 'sizes=[3,4]' speed=2Gf latency=1us -o {file}" in (
        file.read_text()
    )
    assert not check([file])
    resolved = resolve(file, 1000)
    assert len(resolved.routes) == 12 * 11
    assert {host.speed for host in resolved.hosts} == {2e9}


def test_the_seed_decides(generate):
    law = 'bandwidth={law="log-uniform",low="1MBps",high="1GBps"}'
    texts = []
    for seed in (("--seed", 3), ("seed=3",), ("--seed", 4)):
        done = generate("random_geometric", "n_hosts=12", law, *seed)
        assert (done.returncode, done.stderr) == (0, "")
        # All but the comment, which has the command.
        texts.append(done.stdout.partition("<platform")[2])
    assert texts[0] == texts[1] != texts[2]


def test_modules_are_found_in_the_current_directory(tmp_path, generate):
    (tmp_path / "mine.py").write_text(
        "from simplugin.platforms import Cluster, Platform, Zone\n"
        "def lab(hosts: int, name='lab', wide=False, rates=(1,)):\n"
        "    assert isinstance(wide, bool) and isinstance(name, str)\n"
        "    cluster = Cluster(name, f'1-{hosts}', 1e9, float(rates[-1]), 0.0, prefix='h')\n"
        "    return Platform((Zone('all', 'Full', (cluster,)),))\n"
    )
    done = generate(
        "mine:lab", "hosts=4", "name=here", "wide=true", "rates=[1e6, 2e6]", cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert 'bw="2MBps"' in done.stdout
    assert '<cluster id="here"' in done.stdout


def test_the_list_has_every_generator(generate):
    done = generate("--list")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    heads = [line for line in lines if not line.startswith(" ")]
    assert [line.partition(":")[0] for line in heads] == list(GENERATORS)
    assert all(line.partition(": ")[2].endswith(".") for line in heads)
    assert (
        "    n_hosts speed=1Gf bandwidth=125MBps latency=0.05ms routing=DijkstraCache seed=0"
        in lines
    )
    assert "bandwidth_law" in generate("random_tree", "--list").stdout


WRONG_CALLS = [
    ([], "no generator is named"),
    (["ring", "n_host=3"], "did you mean 'n_hosts'? It takes n_hosts speed=1Gf"),
    (["ring", "n_hosts"], "'n_hosts' sets no parameter; write KEY=VALUE"),
    (["ring", "n hosts=3"], "'n hosts=3' sets no parameter"),
    (["ring", "n_hosts=3", "n_hosts=4"], "parameter 'n_hosts' is given twice"),
    (["ring", "n_hosts=3", 'speed={law="uniform"'], "is not a TOML value"),
    (["torus", "sizes=[3]", "--seed", "3"], "generator 'torus' has no seed"),
    (["ring", "n_hosts=3", "seed=1", "--seed", "3"], "the seed is given twice"),
    (["ring", "n_hosts=3\nspeed=1"], "n_hosts is '3\\nspeed=1'"),
]


@pytest.mark.parametrize(("arguments", "told"), WRONG_CALLS)
def test_what_is_wrong_is_told(arguments, told, tmp_path, generate):
    done = generate(*arguments, "-o", tmp_path / "none.xml")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("simplugin: ")
    assert told in done.stderr
    assert not (tmp_path / "none.xml").exists()
