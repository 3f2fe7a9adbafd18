"""User-defined actors: a master sends equal tasks, workers compute them."""

from pathlib import Path

from simplugin.inputs.quantities import Work
from simplugin.scenarios import load_scenario, run_scenario
from simplugin.simulation import Actor


async def master(me: Actor, tasks: int, flop: Work, workers: list[str]) -> None:
    """Send each worker the tasks in turn, then a number of 0 flop as the end."""
    for number in range(tasks):
        mailbox = me.mailbox(workers[number % len(workers)])
        await mailbox.put(flop, 1e6, label="task")
    for each in workers:
        await me.mailbox(each).put(0.0, 1e3, label="end")


async def worker(me: Actor) -> int:
    """Compute all tasks of the mailbox; return their number."""
    done = 0
    while flop := await me.mailbox(me.host.name).get():
        await me.execute(flop, label="task")
        done += 1
    return done


def test_all_tasks_are_computed_in_the_time_of_the_slowest_worker():
    outcome = run_scenario(load_scenario(Path(__file__).with_suffix(".toml")))
    assert outcome.row["tasks"] == 20
    # 10 tasks of 1 Gflop at 1 Gflop/s; a transfer takes 8 ms and the links' latency.
    assert 10 < outcome.result.clock < 10.5
