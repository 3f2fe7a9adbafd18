"""Environments: Gymnasium's own checks, and episodes that are runs of scenarios."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from naming import raises_naming
from processes import children

import simplugin.environments
from simplugin.core.errors import ActorError, CrashError, ScenarioError, SimpluginError
from simplugin.environments import ScenarioEnvironment, TaskGraphsEnvironment
from simplugin.scenarios import Scenario, load_scenario, run_scenario
from simplugin.simulation.process import server_client

DIRECTORY = Path(simplugin.environments.__file__).parent
KINDS = ("TaskGraphs", "Bags")
ACTORS = """
class Task:
    def __init__(self, number):
        self.number = number

async def server(me, tasks):
    for number in range(tasks):
        index = await me.choose(["fast", "slow", "broken"], Task(number), label="speed")
        if index == 2:
            raise ValueError("the third way is closed")
        await me.execute([1e9, 3e9][index])
"""
SCENARIO = """
platform = { generator = "flat_cluster", parameters = { n_hosts = 1, speed = "1Gf" } }
[workload]
kind = "actors"
actors = [{ function = "own:server", host = "cluster-0", args = [3] }]
"""


@pytest.fixture(autouse=True)
def no_process_left() -> Iterator[None]:
    yield
    assert not any(map(children, server_client.server_processes()))


def made(kind: str, **keywords: object) -> ScenarioEnvironment[np.ndarray]:
    found = gymnasium.make(f"simplugin/{kind}-v0", **keywords).unwrapped
    assert isinstance(found, ScenarioEnvironment)
    return found


def scenario_of(kind: str, seed: int = 0) -> Scenario:
    found = load_scenario(DIRECTORY / f"{kind.lower()}.toml")
    return replace(found, simulation=replace(found.simulation, seed=seed))


def episode(env: gymnasium.Env, actions: list[int]) -> tuple[float, dict]:
    """Take actions, then 0, up to the end; return minus the sum of rewards, and the last info."""
    total, is_over, count = 0.0, False, 0
    while not is_over:
        action = actions[count] if count < len(actions) else 0
        _, reward, is_over, _, info = env.step(action)
        total, count = total - reward, count + 1
    return total, info


@pytest.fixture
def own(tmp_path: Path) -> Iterator[ScenarioEnvironment[np.ndarray]]:
    (tmp_path / "own.py").write_text(ACTORS)
    (tmp_path / "own.toml").write_text(SCENARIO)
    env = made(
        "Actors",
        scenario=tmp_path / "own.toml",
        observe=lambda choice: np.array([choice.observation.number], dtype=np.float32),
        observation_space=gymnasium.spaces.Box(0.0, 3.0, (1,)),
        max_options=4,
    )
    yield env
    env.close()


@pytest.mark.parametrize("kind", KINDS)
def test_gymnasium_finds_nothing_wrong(kind: str) -> None:
    # Warnings are errors.
    env = made(kind)
    check_env(env)
    env.close()


@pytest.mark.parametrize("kind", KINDS)
def test_the_schedulers_own_decisions_are_the_run_of_the_scenario(kind: str) -> None:
    expected = run_scenario(scenario_of(kind, 3)).row
    env = made(kind)
    env.reset(seed=3)
    total, info = episode(env, [])
    env.close()
    assert total == pytest.approx(expected["makespan"], rel=1e-12)
    assert info["metrics"] == expected.flat() | {"branches": 0}
    assert expected.best is not None
    assert (info["bound"], info["gap"]) == (expected.best.value, expected.gap)
    assert info["metric"] == expected[expected.best.metric]


@pytest.mark.parametrize("kind", KINDS)
def test_branches_end_as_the_episode_that_they_come_from(kind: str) -> None:
    env, draws = made(kind), np.random.default_rng(0)
    env.reset()
    actions = draws.integers(4, size=1000).tolist()
    ends = []
    for count in range(5):
        with env.branch() as other:
            ends.append(episode(other, actions[count:])[1]["date"])
            with raises_naming(SimpluginError, "reset"):
                other.reset()
        env.step(actions[count])
    rest = episode(env, actions[5:])[1]["date"]
    env.close()
    assert ends == [rest] * 5


def test_a_seed_draws_what_the_scenario_draws() -> None:
    env = made("TaskGraphs", redraw=True)
    first, info = env.reset(seed=5)
    again, _ = env.reset(seed=5)
    work = run_scenario(scenario_of("TaskGraphs", 5)).row["work"]
    assert episode(env, [])[1]["metrics"]["work"] == work
    drawn = [env.reset()[0] for _ in range(2)]
    env.reset(seed=5)
    repeated = [env.reset()[0] for _ in range(2)]
    env.close()
    assert np.array_equal(first, again)
    assert np.array_equal(drawn, repeated)
    assert not np.array_equal(drawn[0], drawn[1])
    assert info["date"] == 0


def test_actions_beyond_the_options_mean_the_first(own: ScenarioEnvironment[np.ndarray]) -> None:
    seen, info = own.reset()
    assert info["action_mask"].tolist() == [1, 1, 1, 0] == own.action_masks().tolist()
    assert (seen.tolist(), info["label"]) == ([0.0], "speed")
    _, reward, _, _, info = own.step(3)
    assert (reward, info["taken"]) == (-1.0, 0)
    with raises_naming(SimpluginError, 4, 3):
        own.step(4)
    _, reward, _, _, info = own.step(1)
    assert (reward, info["date"]) == (-3.0, 4.0)
    _, _, is_over, _, info = own.step(0)
    assert is_over
    assert (info["date"], info["action_mask"].sum()) == (5.0, 0)
    assert np.isnan(info["bound"])
    with raises_naming(SimpluginError, "reset"):
        own.step(0)


def test_errors_of_actors_arrive_and_end_the_episode(own: ScenarioEnvironment[np.ndarray]) -> None:
    own.reset()
    with raises_naming(ActorError, "server", "the third way is closed"):
        own.step(2)
    with raises_naming(SimpluginError, "reset"):
        own.step(0)
    own.reset()
    assert episode(own, [0, 1])[0] == 5.0


def test_too_many_options_and_other_kinds_are_refused() -> None:
    env = TaskGraphsEnvironment(max_options=3)
    with raises_naming(SimpluginError, "max_options=4"):
        env.reset()
    env.close()
    market = DIRECTORY.parents[1] / "scenarios/market.toml"
    with raises_naming(SimpluginError, "market.toml"):
        TaskGraphsEnvironment(market)
    with raises_naming(SimpluginError, "bags.toml", "taskgraphs"):
        TaskGraphsEnvironment(DIRECTORY / "bags.toml")


def test_processes_side_by_side_have_the_same_episodes() -> None:
    seen = {}
    for mode in ("sync", "async"):
        env = gymnasium.make_vec("simplugin/TaskGraphs-v0", num_envs=2, vectorization_mode=mode)
        first, _ = env.reset(seed=[1, 2])
        steps = [env.step(np.array([1, 0]))[:2] for _ in range(40)]
        env.close()
        seen[mode] = [first, *(each for step in steps for each in step)]
    assert all(map(np.array_equal, seen["sync"], seen["async"]))


@pytest.mark.parametrize("kind", KINDS)
def test_an_image_shows_only_what_has_happened(kind: str) -> None:
    env = made(kind, render_mode="rgb_array")
    env.reset()
    images = [env.render()]
    for _ in range(20):
        env.step(0)
    images.append(env.render())
    date = episode(env, [])[1]["date"]
    assert date == pytest.approx(run_scenario(scenario_of(kind)).row["makespan"], rel=1e-12)
    images.append(env.render())
    env.close()
    # Bars have colours; axes and texts are grey.
    coloured = [int((np.ptp(each.astype(int), axis=2) > 60).sum()) for each in images]
    assert 2 * coloured[0] < min(coloured[1:])


def test_without_gymnasium_the_extra_is_named() -> None:
    program = "import sys; sys.modules['gymnasium'] = None; import simplugin.environments"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode
    assert "SetupError" in done.stderr.splitlines()[-1]
    assert "simplugin[rl]" in done.stderr.splitlines()[-1]


def example(name: str) -> ModuleType:
    """Execute a program of the examples as a module."""
    file = DIRECTORY.parents[1] / f"examples/environments/{name}.py"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_plan_by_branches_ends_before_min_min(capsys: pytest.CaptureFixture[str]) -> None:
    example("planning")
    first, planned = (float(line.split()[1]) for line in capsys.readouterr().out.splitlines())
    found = load_scenario(DIRECTORY.parents[1] / "examples/environments/fork_join.toml")
    expected = run_scenario(replace(found, simulation=replace(found.simulation, seed=1))).row
    assert planned < first == expected["makespan"]


def test_an_iteration_of_training_prefers_what_ended_early() -> None:
    module = example("policy_gradient")
    module.TRAINED, module.GRAPHS, module.EPISODES = range(1), 1, 4
    weights = module.train(1, np.random.default_rng(0))
    assert np.isfinite(weights).all()
    assert weights.any()


def test_a_killed_simulation_is_started_anew(own: ScenarioEnvironment[np.ndarray]) -> None:
    first, _ = own.reset()
    for pid in [each for server in server_client.server_processes() for each in children(server)]:
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(CrashError):
        own.reset()
    assert own.reset()[0] == first


def test_a_scenario_that_looks_ahead_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "ahead.toml"
    text = (DIRECTORY / "taskgraphs.toml").read_text()
    file.write_text(f"{text}\n[scheduler.lookahead]\nmost = 2\n")
    with raises_naming(ScenarioError, f"{file}:", "scheduler.lookahead"):
        TaskGraphsEnvironment(file)
