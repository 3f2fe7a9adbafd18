"""``simplugin platform multicluster``, and the generator of the same for scenarios."""

import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from simplugin.cli.app import app
from simplugin.formats.federations import read_federation
from simplugin.formats.platform_xml import platform_text, read_platform
from simplugin.scenarios.generators import GENERATORS
from simplugin.scenarios.generators.sites import federation
from simplugin.scenarios.scenario import load_scenario
from simplugin.simulation.resolve import resolve

EXAMPLE = Path(__file__).parents[2] / "scenarios" / "federations" / "three_sites.toml"


def _run(*arguments):
    return CliRunner().invoke(app, ["platform", "multicluster", *map(str, arguments)])


def test_it_writes_what_the_description_says(tmp_path):
    output = tmp_path / "federation.xml"
    answer = _run(EXAMPLE, "-o", output)
    assert answer.exit_code == 0
    assert read_platform(output) == read_federation(EXAMPLE).platform()
    sites = [name.rpartition(".")[2] for name in read_platform(output).host_names()]
    assert sites.count("lille") == 46
    assert sites.count("sophia") == 60
    assert 3 * 16 <= sites.count("nancy") <= 3 * 64


def test_the_example_connects_all_pairs(tmp_path):
    _run(EXAMPLE, "-o", tmp_path / "federation.xml")
    hosts = ["old-1.lille", "new-26.lille", "c1-1.nancy", "c1-2.nancy", "c3-1.nancy",
             "fast-1.sophia", "slow-48.sophia"]  # fmt: skip
    pairs = [(one, other) for one in hosts for other in hosts if one != other]
    found = resolve(tmp_path / "federation.xml", pairs)
    assert not found.unreachable
    routes = {(route.source, route.destination): route for route in found.routes}
    there = routes["old-1.lille", "slow-48.sophia"]
    # lille: 100us and the switch's 100us; 2.5ms; 4ms; core 10us, 10us up, edge 50us, host 100us.
    assert there.latency == pytest.approx(100e-6 * 2 + 6.5e-3 + 10e-6 + 10e-6 + 50e-6 + 100e-6)
    assert [link for link in there.links if link != "cable"] == [
        "link_old-1.lille_UP", "switch.lille", "lille-uplink_UP", "sophia-uplink_DOWN",
        "fast.sophia_backbone", "edge.sophia-uplink_DOWN", "slow.sophia_backbone",
        "slow.sophia_link_48_DOWN",
    ]  # fmt: skip


def test_the_same_seed_gives_the_same_bytes_and_another_one_others():
    texts = [_run(EXAMPLE, "--seed", seed).output.partition("<platform")[2] for seed in (1, 1, 2)]
    assert texts[0] == texts[1] == _run(EXAMPLE).output.partition("<platform")[2]
    assert texts[0] != texts[2]
    assert texts[2].count("<cluster") == texts[0].count("<cluster") == 5


def test_the_command_stands_in_the_file(tmp_path):
    output = tmp_path / "federation.xml"
    command = ["platform", "multicluster", str(EXAMPLE), "-o", str(output)]
    subprocess.run([sys.executable, "-m", "simplugin.cli", *command], check=True)
    comment = output.read_text().splitlines()[2]
    assert comment == f"<!-- {shlex.join(['simplugin', *command])} -->"


def test_what_is_wrong_is_told_in_one_line(tmp_path):
    (tmp_path / "wrong.toml").write_text('[[sites]]\nname = "s"\ncluster = 1\n')
    answer = _run(tmp_path / "wrong.toml")
    assert answer.exit_code == 1
    assert answer.stderr == (
        f"simplugin: {tmp_path / 'wrong.toml'}:3: unknown key 'sites.0.cluster'; "
        "did you mean 'clusters'?\n"
    )
    assert _run(EXAMPLE, "--seed", "-1").exit_code == 2


def test_what_was_drawn_wrong_is_told_with_file_and_line(tmp_path):
    text = EXAMPLE.read_text()
    assert text.splitlines()[36] == 'hosts = { law = "uniform", low = 16, high = 64 }'
    (tmp_path / "many.toml").write_text(text.replace("high = 64", "high = 1e12"))
    answer = _run(tmp_path / "many.toml")
    assert answer.exit_code == 1
    assert answer.stderr.startswith(f"simplugin: {tmp_path / 'many.toml'}:37: the clusters have ")
    assert "more than the 2,000,000 that are made; ask for fewer hosts, or a" in answer.stderr
    with pytest.raises(ValueError, match=r"many.toml:37: the clusters have .*; ask for fewer"):
        federation(description=str(tmp_path / "many.toml"))


def test_a_scenario_takes_the_tables_of_a_description():
    tables = tomllib.loads(EXAMPLE.read_text())
    del tables["seed"]
    made = federation(seed=5, **tables)
    assert platform_text(made) == platform_text(read_federation(EXAMPLE, 5).platform())
    assert made == federation(description=str(EXAMPLE), seed=5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give either a description or its tables"),
        ({"description": "a.toml", "sites": []}, "give either a description or its tables"),
        ({"description": "none.toml"}, "none.toml: No such file"),
        ({"description": 3}, "description is 3; give a path"),
        ({"description": ""}, "description is ''; give a path"),
        ({"sites": [{"name": 3}]}, "sites.0.name is 3; give a text"),
    ],
)
def test_the_generator_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        federation(**arguments)


def test_the_description_of_a_scenario_is_relative_to_it(tmp_path, monkeypatch):
    (tmp_path / "three.toml").write_text(EXAMPLE.read_text())
    (tmp_path / "scenario.toml").write_text(
        '[platform]\ngenerator = "federation"\nparameters = { description = "three.toml" }\n'
        '[workload]\nkind = "actors"\ndeployment = "d.xml"\nfunctions = {}\n'
    )
    (tmp_path / "d.xml").write_text("<platform version='4.1'/>")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    made = load_scenario("../scenario.toml").make_platform()
    assert made == read_federation(EXAMPLE).platform()


def test_the_generator_has_a_name():
    assert GENERATORS["federation"] == "simplugin.scenarios.generators.sites:federation"
