"""Min-min on a workflow of a DAX file, task by task: SimGrid's ``dag-scheduling``."""

import math
import runpy
from contextlib import suppress
from pathlib import Path

from simplugin import simulate
from simplugin.core.errors import TimeoutException
from simplugin.formats import read_platform

read_graph = runpy.run_path(str(Path(__file__).with_name("dag_from_dax.py")))["read_graph"]
LATENCY_FACTOR = 13.01  # of SimGrid's default network model
PRECISION = 1e-9  # of its dates [s]


class Plan:
    """Executions and transfers of a graph, with the dates until which hosts are busy."""

    def __init__(self, me, jobs, files, dependencies):
        self.me = me
        self.busy_until = dict.fromkeys((host.name for host in me.hosts), 0.0)
        self.execs = {key: me.exec_init(flops, label=label) for key, (label, flops) in jobs.items()}
        self.comms = {}
        for name, size, source, destination in files:
            label = f"{source}_{name}_{destination}"
            comm = me.sendto_init(None, None, size, label=label)
            self.execs[source].add_successor(comm)
            comm.add_successor(self.execs[destination])
            self.comms[comm] = self.execs[source], self.execs[destination]
        for parent, child in dependencies:
            self.execs[parent].add_successor(self.execs[child])
        for execution in self.execs.values():
            execution.host = None
        for activity in (*self.execs.values(), *self.comms):
            activity.start()

    def ready(self):
        """Return the executions that have no host and whose data is there to be sent."""
        waiting = {
            comm: number
            for number, comm in enumerate(self.comms)
            if not (comm.dependencies or comm.destination)
        }
        found = [
            each
            for each in self.execs.values()
            if each.host is None and waiting.keys() >= set(each.dependencies)
        ]
        # In the order in which SimGrid's program finds them.
        last = {each: max(map(waiting.get, each.dependencies), default=-1) for each in found}
        return sorted(found, key=last.get)

    def best_host(self, execution):
        """Return the date of the earliest end, and the host."""
        best = math.inf, None
        for host in self.me.hosts:
            arrivals = [self.arrival(comm, host) for comm in execution.dependencies]
            start = max([self.busy_until[host.name], *arrivals])
            end = start + execution.remaining / host.speed
            if end < best[0]:
                best = end, host
        return best

    def arrival(self, comm, host):
        """Return the date at which the data of a transfer would be at a host."""
        source = self.comms[comm][0]
        if comm.remaining <= 1e-6:
            return source.finish_time
        route = self.me.route(source.host, host)
        bandwidth = min((link.bandwidth for link in route.links), default=math.inf)
        return source.finish_time + route.latency + comm.remaining / bandwidth

    def place(self, execution, host, end):
        """Give an execution a host, and its transfers their ends."""
        self.busy_until[host.name] = end
        execution.host = host
        for comm, (source, destination) in self.comms.items():
            if destination is execution:
                comm.destination = host
            if source is execution:
                comm.source = host

    async def next_event(self):
        """Wait until something ends, or the latency of a transfer."""
        activities = (*self.execs.values(), *self.comms)
        activities = [each for each in activities if each.state == "STARTED"]
        latencies = [
            each.start_time + LATENCY_FACTOR * self.me.route(each.source, each.destination).latency
            for each in activities
            if each in self.comms
        ]
        later = [date - self.me.now for date in latencies if date - self.me.now > PRECISION]
        with suppress(TimeoutException):
            await self.me.wait_any(activities, timeout=min(later, default=None))


async def scheduler(me, *graph):
    def tell(text):
        print(f"[{me.now:.6f}] {text}")

    for host in me.hosts:
        host.concurrency_limit = 1
    plan = Plan(me, *graph)
    root = plan.execs["root"]
    plan.place(root, plan.best_host(root)[1], 0.0)
    await root
    while any(each.host is None for each in plan.execs.values()):
        if ready := plan.ready():
            choices = [(*plan.best_host(each), each) for each in ready]
            end, host, chosen = min(choices, key=lambda choice: choice[0])
            tell(f"Schedule {chosen.label} on {host.name}")
            plan.place(chosen, host, end)
        await plan.next_event()
    await plan.execs["end"]
    tell(f"Simulation Time: {me.now:f}")


def main(examples: Path, platform: str, file: str):
    (zone,) = read_platform(platform).elements
    simulate(platform, [(zone.hosts[0].id, scheduler, *read_graph(file))])
