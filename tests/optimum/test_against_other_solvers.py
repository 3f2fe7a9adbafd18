"""Fair sharing against other solvers, on a dense program with a variable per way."""

import numpy as np
import pytest

from simplugin.optimum.entropic import entropic
from simplugin.optimum.fair_sharing import fair_sharing, weighted_max_min
from simplugin.platforms.graphs import Graph
from simplugin.pricing.deployment import deploy
from simplugin.workloads import Application, SharedDeployment

SEEDS = range(3)


def instance(seed: int) -> SharedDeployment:
    """Return a tree of ten hosts and four applications over two orders of magnitude."""
    rng = np.random.default_rng(seed)
    n = 10
    ends = np.array([(int(rng.integers(i)), i) for i in range(1, n)])
    graph = Graph.duplex(
        [f"h{i}" for i in range(n)],
        10 ** rng.uniform(9, 10, n),
        ends,
        10 ** rng.uniform(7, 8, (n - 1, 2)),
    )
    flop = 10 ** rng.uniform(6, 8, 4)
    return deploy(
        graph,
        [
            Application(f"a{k}", f"h{rng.integers(n)}", w, w / 100, float(rng.uniform(0.5, 2)))
            for k, w in enumerate(flop)
        ],
    )


def dense(sharing: SharedDeployment) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what each agent's rate takes of each capacity, its application, and units of rates.

    Walked from each agent to its master: nothing in common with sums over flows.
    """
    capacity = np.concatenate([sharing.speed, sharing.bandwidth])
    takes = np.zeros((len(capacity), sharing.n_agents))
    owner = np.zeros((sharing.n_applications, sharing.n_agents))
    for agent, number in enumerate(sharing.application):
        owner[number, agent] = 1
        takes[sharing.host[agent], agent] += sharing.flop[number]
        above = agent
        while sharing.parent[above] >= 0:
            takes[sharing.n_hosts + sharing.link[above], agent] += sharing.byte[number]
            above = int(sharing.parent[above])
    unit = sharing.speed.sum() / sharing.flop / sharing.n_applications
    return takes * unit[sharing.application] / capacity[:, None], owner, unit


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_utilities_are_those_of_clarabel(seed, alpha):
    import cvxpy

    sharing = instance(seed)
    takes, owner, unit = dense(sharing)
    rate = cvxpy.Variable(sharing.n_agents, nonneg=True)
    reached = owner @ rate
    utility = cvxpy.log(reached) if alpha == 1 else cvxpy.power(reached, 1 - alpha) / (1 - alpha)
    factor = sharing.weight * unit ** (1 - alpha)
    fits = takes @ rate <= 1
    problem = cvxpy.Problem(cvxpy.Maximize((factor / factor.max()) @ utility), [fits])
    problem.solve(solver=cvxpy.CLARABEL)
    share = fair_sharing(sharing, alpha)
    assert share.throughput == pytest.approx(unit * reached.value, rel=1e-4)
    capacity = np.concatenate([sharing.speed, sharing.bandwidth])
    income = np.concatenate([share.host_price, share.link_price]) * capacity
    assert income == pytest.approx(factor.max() * fits.dual_value, abs=1e-4 * income.sum())


@pytest.mark.parametrize("seed", SEEDS)
def test_the_largest_throughput_is_that_of_a_linear_program_and_the_most_even(seed):
    import cvxpy

    sharing = instance(seed)
    takes, owner, unit = dense(sharing)
    rate = cvxpy.Variable(sharing.n_agents, nonneg=True)
    worth = sharing.weight * unit
    fits = takes @ rate <= 1
    total = (worth / worth.max()) @ owner @ rate
    linear = cvxpy.Problem(cvxpy.Maximize(total), [fits])
    linear.solve(solver=cvxpy.HIGHS)
    share = fair_sharing(sharing, 0.0)
    assert share.objective == pytest.approx(linear.value * worth.max(), rel=1e-7)
    # w rho (ln(unit z)) with rho = unit z: the unit's logarithm is linear.
    evenness = (worth / worth.max()) @ (
        cvxpy.entr(owner @ rate) - cvxpy.multiply(np.log(unit), owner @ rate)
    )
    even = cvxpy.Problem(cvxpy.Maximize(evenness), [fits, total >= linear.value * (1 - 1e-9)])
    even.solve(solver=cvxpy.CLARABEL)
    expected = owner @ rate.value
    assert share.throughput / unit == pytest.approx(expected, abs=1e-3 * expected.max())


@pytest.mark.parametrize("seed", SEEDS)
def test_max_min_is_that_of_one_linear_program_after_the_other(seed):
    from scipy.optimize import linprog

    sharing = instance(seed)
    takes, owner, unit = dense(sharing)
    n, n_applications = sharing.n_agents, sharing.n_applications
    # Per level: the largest that all free ones reach; then who can do no better stops there.
    level = np.full(n_applications, np.nan)
    size = unit / sharing.weight
    size = size / size.min()

    def best(cost: np.ndarray, floor: np.ndarray, grows: np.ndarray) -> float:
        rows = np.vstack([np.hstack([takes, np.zeros((len(takes), 1))]), np.zeros((0, n + 1))])
        at_least = np.hstack([-owner * size[:, None], grows[:, None]])
        answer = linprog(
            cost,
            A_ub=np.vstack([rows, at_least]),
            b_ub=np.concatenate([np.ones(len(takes)), -floor]),
        )
        assert answer.status == 0
        return float(-answer.fun)

    while np.any(np.isnan(level)):
        free = np.isnan(level)
        floor = np.where(free, 0.0, level * (1 - 1e-9))
        top = best(np.append(np.zeros(n), -1.0), floor, free.astype(float))
        for number in np.flatnonzero(free):
            others = np.where(free, top, level) * (1 - 1e-9)
            cost = np.append(-owner[number] * size[number], 0.0)
            if best(cost, others, np.zeros(n_applications)) < top * (1 + 1e-6):
                level[number] = top
    share = weighted_max_min(sharing)
    scale = (unit / sharing.weight).min()
    assert share.throughput / sharing.weight == pytest.approx(level * scale, rel=1e-5)


# Two equations and the bounds of a drawn platform: the fifth bound nearly follows from the others.
BOUND = np.array(
    [
        [1.607199164931365e-08, 1.1499913735763915e-06, 6.849456287857964e-10, 1.30785508298e-05],
        [1.5064466356025398e-05, 0.0, 0.0, 0.0],
        [0.0, 3.3002100171935180e-05, 1.9656359841395287e-08, 0.0],
        [5.1497067858321188e-06, 2.2396873151728993e-05, 1.3339787337741883e-08, 0.0],
        [2.5316657406292918e-11, 1.1010606780099797e-10, 4.2185982370705219e-08, 0.0],
    ]
)
EQUAL = np.array(
    [
        [8.384862880402372e-08, 4.192431440201186e-08, 4.192431440201186e-08, 0.0],
        [0.0, 0.0, 0.0, 4.028145062823968e-02],
    ]
)
WEIGHT = np.array([2.0, 1.0, 1.0, 0.10651608528489095])


def test_bounds_that_follow_from_others_are_no_failure():
    throughput = entropic(BOUND, EQUAL, WEIGHT)
    assert EQUAL @ throughput == pytest.approx([1.0, 1.0], rel=1e-10)
    assert (BOUND @ throughput).max() <= 1 + 1e-9
    # Three tight rows tell the first three; they are those of alpha 0.1 as well.
    tight = np.vstack([EQUAL[0, :3], BOUND[1, :3], BOUND[4, :3]])
    assert throughput[:3] == pytest.approx(np.linalg.solve(tight, np.ones(3)), rel=1e-7)
    assert throughput[3] == pytest.approx(1 / EQUAL[1, 3])
