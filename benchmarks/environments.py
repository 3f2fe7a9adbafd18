"""Steps of environments a second of processor time, beside an event loop of the same model.

Cases, all without arguments::

    python benchmarks/environments.py [--quick] [--json] [CASE ...]

``queues``: an agent places tasks that arrive at four hosts with queues, by actors in an environment
and by an event loop of a few lines, in turns; both end at the same dates. ``shipped``: reset and
steps of the environments with their own scenarios, by the scheduler's decisions.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import sys
import time
from collections import deque
from pathlib import Path
from statistics import median
from typing import Any

import gymnasium
import numpy as np

import simplugin.environments  # noqa: F401 # registers them
from simplugin.scenarios.loading import scenario_from
from simplugin.simulation.process import server_client
from simplugin.simulation.process.operating_system import descendants

HOSTS, INTERVAL = 4, 0.4
SPACE = gymnasium.spaces.Box(0.0, 1e9, (HOSTS + 1,), np.float64)


def size(number: int) -> float:
    """Return the time that a task takes [s]."""
    return 0.5 + number * 7919 % 13 / 5


async def place(me: Any, tasks: int) -> None:
    """Put each task that arrives into the queue that is chosen."""
    hosts = [f"cluster-{number}" for number in range(HOSTS)]
    sent = [0.0] * HOSTS
    for number in range(tasks):
        index = await me.choose(hosts, (size(number), *sent))
        sent[index] += size(number)
        me.message_queue(hosts[index]).put_detached(size(number))
        await me.sleep_for(INTERVAL)
    for each in hosts:
        me.message_queue(each).put_detached(0.0)


async def compute(me: Any) -> None:
    """Compute the tasks of a queue."""
    while seconds := await me.message_queue(me.host.name).get():
        await me.execute(1e9 * seconds)


class EventLoop(gymnasium.Env[np.ndarray, int]):
    """The same model without a simulator."""

    observation_space, action_space = SPACE, gymnasium.spaces.Discrete(HOSTS)

    def __init__(self, tasks: int) -> None:
        self.tasks = tasks

    def reset(
        self,
        *,
        seed: int | None = None,
        options: Any = None,  # noqa: ARG002
    ) -> tuple[np.ndarray, dict]:
        """Begin with the first task."""
        super().reset(seed=seed)
        self.sent, self.now, self.number = [0.0] * HOSTS, 0.0, 0
        self.queues: list[deque[float]] = [deque() for _ in range(HOSTS)]
        self.events: list[tuple[float, int]] = []
        return np.array((size(0), *self.sent)), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        """Queue the task; go on to the arrival of the next one, or to the end."""
        before, queue = self.now, self.queues[action]
        queue.append(size(self.number))
        self.sent[action] += queue[-1]
        if len(queue) == 1:
            heapq.heappush(self.events, (self.now + queue[0], action))
        self.number += 1
        is_over = self.number == self.tasks
        until = float("inf") if is_over else INTERVAL * self.number
        while self.events and self.events[0][0] <= until:
            self.now, host = heapq.heappop(self.events)
            self.queues[host].popleft()
            if self.queues[host]:
                heapq.heappush(self.events, (self.now + self.queues[host][0], host))
        self.now = self.now if is_over else until
        seen = np.array((size(self.number), *self.sent))
        return seen, before - self.now, is_over, False, {}


def scenario(tasks: int) -> Any:
    """Return the scenario of the actors."""
    here = Path(__file__)
    document = {
        "platform": {
            "generator": "flat_cluster",
            "parameters": {"n_hosts": HOSTS + 1, "speed": "1Gf"},
        },
        "workload": {
            "kind": "actors",
            "actors": [
                {"function": f"{here.stem}:place", "host": f"cluster-{HOSTS}", "args": [tasks]},
                {"function": f"{here.stem}:compute", "hosts": f"cluster-[0-{HOSTS - 1}]"},
            ],
        },
    }
    return scenario_from(document, here)


def processor_time() -> float:
    """Return the processor time of this process, its servers and their simulations [s]."""
    servers = server_client.server_processes()
    found = [*servers, *(each for server in servers for each in descendants(server))]
    used = (Path(f"/proc/{each}/schedstat").read_text().split()[0] for each in found)
    return time.process_time() + 1e-9 * sum(map(int, used))


def episode(env: Any, actions: list[int]) -> tuple[float, float]:
    """Take actions up to the end.

    Returns
    -------
    (float, float)
        Processor time of a step, without the last one [s], and the return.
    """
    env.reset()
    total, count, is_over, begin = 0.0, 0, False, processor_time()
    while not is_over:
        if count == len(actions) - 1:
            used = processor_time() - begin
        # The simulation's process ends with the last step.
        _, reward, is_over, _, _ = env.step(actions[count])
        total, count = total + reward, count + 1
    return used / (len(actions) - 1), total


def resets(env: Any, times: int) -> dict[str, float]:
    """Return the least and the median time of a reset [ms]."""
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        env.reset()
        taken.append(1e3 * (time.perf_counter() - begin))
    return {"least": round(min(taken), 2), "median": round(median(taken), 2)}


def queues(*, quick: bool) -> dict[str, Any]:
    """Compare the model by actors with the event loop, in turns."""
    tasks, turns = (200, 3) if quick else (1000, 11)
    actions = np.random.default_rng(0).integers(HOSTS, size=tasks).tolist()
    by_actors = gymnasium.make(
        "simplugin/Actors-v0",
        scenario=scenario(tasks),
        observe=lambda choice: np.array(choice.observation),
        observation_space=SPACE,
        max_options=HOSTS,
        disable_env_checker=True,
    ).unwrapped
    systems = {"actors": by_actors, "event loop": EventLoop(tasks)}
    rates: dict[str, list[float]] = {name: [] for name in systems}
    for _ in range(turns):
        ends = []
        for name, env in systems.items():
            used, total = episode(env, actions)
            rates[name].append(1 / used)
            ends.append(total)
        assert np.allclose(ends, ends[0], rtol=1e-9), ends
    found: dict[str, Any] = {
        f"{name} [step/s]": round(median(each)) for name, each in rates.items()
    }
    found["reset of actors [ms]"] = resets(by_actors, 5 * turns)
    by_actors.close()
    return found


def shipped(*, quick: bool) -> dict[str, Any]:
    """Measure the environments with their own scenarios."""
    found = {}
    for kind in ("TaskGraphs", "Bags"):
        env: Any = gymnasium.make(f"simplugin/{kind}-v0", disable_env_checker=True).unwrapped
        begin = time.perf_counter()
        env.reset(seed=1)
        first = time.perf_counter() - begin
        steps = 0
        while env.choice is not None:
            env.step(0)
            steps += 1
        rates = [1 / episode(env, [0] * steps)[0] for _ in range(3 if quick else 15)]
        found[kind] = {
            "reset to another seed [ms]": round(1e3 * first),
            "reset [ms]": resets(env, 20 if quick else 100),
            "steps [step/s]": round(median(rates)),
        }
        env.close()
    return found


CASES = {"queues": queues, "shipped": shipped}


def main() -> None:
    """Run the cases that the command line names, or all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if unknown := set(arguments.cases) - set(CASES):
        parser.error(f"no case {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    # Simulations inherit it.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    found = {}
    for name in arguments.cases or CASES:
        found[name] = CASES[name](quick=arguments.quick)
        print(f"{name}: {json.dumps(found[name])}", file=sys.stderr)
    if arguments.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
