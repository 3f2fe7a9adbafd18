"""Running bags of tasks on a simulated tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.bags.agents.actors import host
from simplugin.bags.agents.node import Deeds, Station
from simplugin.bags.nodes import Place
from simplugin.bags.parcels import Supply
from simplugin.errors import WorkloadError
from simplugin.simulation import SimGridOptions, simulate
from simplugin.simulation.placement import Placement

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simplugin.bags.nodes import Policy
    from simplugin.platforms import Platform
    from simplugin.platforms.trees import Tree
    from simplugin.simulation import Result
    from simplugin.workloads.bags import Bags

# Tasks that a node's buffer holds, section 6.2.1.
BUFFER = 10


@dataclass(frozen=True, eq=False)
class Execution:
    """What became of all tasks.

    Attributes
    ----------
    tree : Tree
        Where.
    bags : Bags
        What.
    policy : str
        By which policy.
    completion : tuple of float64, each of shape (n_done,)
        Of each application, when its tasks ended, in order [s].
    computed : int64, shape (n_hosts, n_applications)
        Tasks of each application that each host computed.
    port_busy : float64, shape (n_hosts,)
        How long each host's port was sending [s].
    first : float
        When the first task was handed out [s].
    most : int64, shape (n_hosts,)
        Most tasks, or macro-tasks, that the buffer of each host held.
    result : Result
        The simulation's.
    """

    tree: Tree
    bags: Bags
    policy: str
    completion: tuple[NDArray[np.float64], ...]
    computed: NDArray[np.int64]
    port_busy: NDArray[np.float64]
    first: float
    most: NDArray[np.int64]
    result: Result


def execute(
    tree: Tree,
    bags: Bags,
    policy: Policy,
    *,
    platform: Platform | str | os.PathLike[str] | None = None,
    known: Tree | None = None,
    bias: NDArray[np.float64] | None = None,
    buffer: int = BUFFER,
    delays: NDArray[np.float64] | None = None,
    options: SimGridOptions | None = None,
    trace: bool = False,
    **simulation: Any,
) -> Execution:
    """Execute all tasks of some bags on a simulated tree.

    Parameters
    ----------
    tree : Tree
        Who is whose parent.
    bags : Bags
        The tasks; all start at the root.
    policy : Policy
        How the nodes decide.
    platform : Platform or path, optional
        What to simulate, where that is not ``tree.platform()``: its hosts have the tree's names,
        and there are routes between hosts and their parents.
    known : Tree, optional
        The same tree with the speeds and bandwidths that the nodes have measured before; their
        true values without. What they measure later takes their place.
    bias : float64, shape (n_hosts, 2), optional
        What each host's measurements of its speed, and its parent's of the bandwidth to it, are
        multiplied by later on; 1 without.
    buffer : int
        Tasks that the buffer of a node holds. Where tasks are bundled, or each application has
        schedulers of its own, each type has its part of it, and one task at least.
    delays : float64, shape (n_hosts,), optional
        When each node first asks for tasks [s]; 0 without.
    options : SimGridOptions, optional
        ``SimGridOptions.linear()`` without.
    trace : bool
        Whether to record activities.
    **simulation
        Further arguments of `simulate`.

    Raises
    ------
    WorkloadError
        The buffer holds nothing.
    """
    if buffer < 1:
        raise WorkloadError(f"buffer is {buffer!r}; give a number of tasks from 1 on")
    supplies = Supply.lines(bags, bundled=policy.bundled, parallel=policy.parallel)
    capacity = buffer
    if policy.bundled or policy.parallel:
        capacity = max(buffer // bags.n_applications, 1)
    placements = []
    for number, name in enumerate(tree.hosts):
        stations = tuple(
            _station(number, line, supply, policy, tree, known or tree, bias, delays, capacity)
            for line, supply in enumerate(supplies)
        )
        placements.append(Placement(name, host, (stations, policy), name=f"node {name}"))
    result = simulate(
        tree.platform() if platform is None else platform,
        placements,
        options=SimGridOptions.linear() if options is None else options,
        trace=trace,
        **simulation,
    )
    deeds = [each.value for each in result.returned[: tree.n_hosts]]
    return _execution(tree, bags, policy.name, deeds, result)


def _station(
    number: int,
    line: int,
    supply: Supply,
    policy: Policy,
    tree: Tree,
    known: Tree,
    bias: NDArray[np.float64] | None,
    delays: NDArray[np.float64] | None,
    capacity: int,
) -> Station:
    """Return what a node starts with."""
    children = list(tree.children[number])
    parent = int(tree.parent[number])
    place = Place(
        tree.hosts[number],
        None if parent < 0 else tree.hosts[parent],
        tuple(tree.hosts[child] for child in children),
    )
    factors = np.ones(1 + len(children))
    if bias is not None:
        factors = np.concatenate([bias[[number], 0], bias[children, 1]])
    return Station(
        place,
        line,
        supply.known(float(known.speed[number]), known.bandwidth[children].tolist()),
        capacity,
        supply if parent < 0 else None,
        tuple(factors.tolist()),
        0.0 if delays is None else float(delays[number]),
        policy.plans[number] if policy.plans else None,
    )


def _execution(
    tree: Tree, bags: Bags, policy: str, deeds: Sequence[list[Deeds]], result: Result
) -> Execution:
    """Put together what the nodes did."""
    done = [
        (application, date, number)
        for number, lines in enumerate(deeds)
        for each in lines
        for application, date in each.done
    ]
    which = np.array([each[0] for each in done], dtype=np.int64)
    date = np.array([each[1] for each in done], dtype=np.float64)
    where = np.array([each[2] for each in done], dtype=np.int64)
    computed = np.zeros((tree.n_hosts, bags.n_applications), dtype=np.int64)
    np.add.at(computed, (where, which), 1)
    return Execution(
        tree,
        bags,
        policy,
        tuple(np.sort(date[which == each]) for each in range(bags.n_applications)),
        computed,
        np.array([sum(each.port_busy for each in lines) for lines in deeds]),
        min(each.first for lines in deeds for each in lines),
        np.array([max(each.most for each in lines) for lines in deeds], dtype=np.int64),
        result,
    )
