"""A Gymnasium environment of own actors: an agent chooses the worker of each task."""

from pathlib import Path

import gymnasium
import numpy as np

import simplugin.environments  # noqa: F401 # registers Actors-v0
from simplugin.simulation import Actor


async def master(me: Actor, tasks: int, workers: list[str]) -> None:
    """Offer each task as a choice; the observation is its work and that of each worker [flop]."""
    sent = [0.0] * len(workers)
    for number in range(tasks):
        flop = (1 + number % 3) * 1e9
        index = await me.choose(workers, (flop, *sent), label="worker")
        sent[index] += flop
        await me.mailbox(workers[index]).put_async(flop, 1e6)
    for each in workers:
        await me.mailbox(each).put(0.0, 1e3)


async def worker(me: Actor) -> None:
    while flop := await me.mailbox(me.host.name).get():
        await me.execute(flop)


def test_balanced_work_ends_before_that_of_the_first_worker_alone():
    scenario, space = Path(__file__).with_suffix(".toml"), gymnasium.spaces.Box(0.0, 1e12, (3,))
    seen_by = {"observe": lambda choice: np.float32(choice.observation), "observation_space": space}
    env = gymnasium.make("simplugin/Actors-v0", scenario=scenario, max_options=2, **seen_by)
    ends = []
    for policy in (lambda seen: int(seen[1] > seen[2]), lambda seen: 0):
        (seen, _), is_over = env.reset(), False
        while not is_over:
            seen, _, is_over, _, info = env.step(policy(seen))
        ends.append(info["date"])
    env.close()
    assert ends[0] < 0.6 * ends[1]
