"""``simplugin platform multicluster``, and the generator of the same for scenarios."""

import itertools
import shlex
import tomllib
from functools import partial
from pathlib import Path

import pytest

from simplugin.errors import PlatformError
from simplugin.formats.federations import read_federation
from simplugin.formats.platform_xml import platform_text, read_platform
from simplugin.scenarios.generators.calls import generator_called
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


def test_the_example_connects_all_pairs():
    names = {"lille": ("old-1", "new-26"), "nancy": ("c1-1", "c1-2", "c3-1")}
    names["sophia"] = ("fast-1", "slow-48")
    hosts = [f"{host}.{site}" for site, some in names.items() for host in some]
    pairs = list(itertools.permutations(hosts, 2))
    found = resolve(read_federation(EXAMPLE).platform(), pairs)
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


def test_what_was_drawn_wrong_is_told_with_file_and_line(tmp_path, call):
    text = EXAMPLE.read_text()
    assert text.splitlines()[36] == 'hosts = { law = "uniform", low = 16, high = 64 }'
    (tmp_path / "many.toml").write_text(text.replace("high = 64", "high = 1e12"))
    answer = call(tmp_path / "many.toml", status=1)
    assert answer.stderr.startswith(f"simplugin: {tmp_path / 'many.toml'}:37: the clusters have ")
    assert "more than the 2,000,000 that are made; ask for fewer hosts, or a" in answer.stderr
    with pytest.raises(ValueError, match=r"many.toml:37: the clusters have .*; ask for fewer"):
        federation(description=str(tmp_path / "many.toml"))


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
    with pytest.raises(PlatformError, match=message):
        generator_called("federation").platform(arguments)
