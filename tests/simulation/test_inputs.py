"""Inputs of `simulate`: platforms and deployments, as objects and as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from naming import raises_naming

from simplugin.core.errors import DeploymentError, PlatformError, SimpluginError
from simplugin.platforms import DeployedActor, Deployment, Host, Link, Platform, Route, Zone
from simplugin.simulation import Placement, SimGridOptions, simulate


async def master(me: Any, size: str, *workers: str) -> None:
    for worker in workers:
        await me.mailbox(worker).put(float(size), 1e6)


async def worker(me: Any) -> float:
    flops = await me.mailbox(me.host.name).get()
    await me.execute(flops)
    return float(me.now)


FUNCTIONS = {"master": master, "worker": worker}
DEPLOYMENT = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <actor host="ada" function="master"><argument value="2e9"/><argument value="bob"/></actor>
  <actor host="bob" function="worker" start_time="5"/>
</platform>
"""


@pytest.fixture
def platform() -> Platform:
    """Return the platform of the file `two_hosts`."""
    elements = (Host("ada", 1e9), Host("bob", 2e9), Link("wire", 1e6, 0.0))
    return Platform((Zone("world", "Full", elements, (Route("ada", "bob", ("wire",)),)),))


def test_platform_object_is_the_same_as_its_file(platform: Platform, two_hosts: Path) -> None:
    actors = [("ada", master, "2e9", "bob"), ("bob", worker)]
    from_file, from_object = (simulate(where, actors) for where in (two_hosts, platform))
    assert from_object.clock == from_file.clock
    assert from_object.hosts.name == from_file.hosts.name
    assert simulate(platform, actors) == from_object


@pytest.mark.parametrize("given", [None, ["platform.xml"]])
def test_what_is_no_platform(given: Any) -> None:
    with raises_naming(PlatformError, repr(given)):
        simulate(given, [])


def test_platform_object_that_simgrid_refuses(platform: Platform) -> None:
    options = SimGridOptions(network_model="Constant")
    with raises_naming(PlatformError, "wire") as caught:
        simulate(platform, [("ada", worker)], options=options)
    # The file that was written for the occasion is gone.
    assert "simplugin-" not in str(caught.value)


def test_deployment_object_and_file(two_hosts: Path, tmp_path: Path) -> None:
    file = tmp_path / "deployment.xml"
    file.write_text(DEPLOYMENT)
    deployment = Deployment(
        (
            DeployedActor("ada", "master", ("2e9", "bob")),
            DeployedActor("bob", "worker", start_time=5.0),
        )
    )
    results = [simulate(two_hosts, each, functions=FUNCTIONS) for each in (file, deployment)]
    assert results[0] == results[1]
    # Starts at 5 s, 1 MB at 0.97 MB/s with 5 % of cross-traffic, 2 Gflop at 2 Gflop/s.
    assert results[0].value_of("worker") == pytest.approx(5 + 1.05 / 0.97 + 1, rel=1e-6)


def test_function_that_the_deployment_needs(two_hosts: Path, tmp_path: Path) -> None:
    file = tmp_path / "deployment.xml"
    file.write_text(DEPLOYMENT.replace('function="worker"', 'function="wroker"'))
    with raises_naming(DeploymentError, "'wroker'", "'worker'") as caught:
        simulate(two_hosts, file, functions=FUNCTIONS)
    assert caught.value.file == file


def test_functions_without_deployment(two_hosts: Path) -> None:
    with raises_naming(DeploymentError, "functions"):
        simulate(two_hosts, [("bob", worker)], functions=FUNCTIONS)


@pytest.mark.parametrize("actors", [5, [("ada",)], [("ada", 3)], [(3, worker)]])
def test_actors_that_are_none(two_hosts: Path, actors: Any) -> None:
    with pytest.raises(DeploymentError):
        simulate(two_hosts, actors)


@pytest.mark.parametrize(
    "choice",
    [
        {"start_time": -1.0},
        {"start_time": 5.0, "kill_time": 4.0},
        {"args": "text"},
    ],
)
def test_placement_out_of_range(choice: dict[str, Any]) -> None:
    with raises_naming(DeploymentError, "worker"):
        Placement("ada", worker, **choice)


@pytest.mark.parametrize(
    "choice",
    [
        {"until": -1.0},
        {"until": "later"},
        {"wall_limit": 0.0},
        {"options": {"network_model": "CM02"}},
        {"memory_limit": 1.5},
        {"trace_limit": 0},
        {"seed": -1},
        {"back_end": "fibres"},
    ],
)
def test_choice_out_of_range(two_hosts: Path, choice: dict[str, Any]) -> None:
    (name,) = choice
    with raises_naming(SimpluginError, name):
        simulate(two_hosts, [("ada", worker)], **choice)


def test_wall_limit_beyond_what_the_system_can_wait(two_hosts: Path) -> None:
    assert simulate(two_hosts, [], wall_limit=1e12).clock == 0.0


def test_no_actors(two_hosts: Path) -> None:
    result = simulate(two_hosts, [])
    assert result.clock == 0.0
    assert result.returned == ()
