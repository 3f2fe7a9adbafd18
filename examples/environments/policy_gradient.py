"""Train a policy that places tasks, by REINFORCE in numpy, and compare it with min-min.

    python policy_gradient.py [--iterations N]

The policy is a softmax of linear scores of the options. Episodes of one graph are compared with
each other, so that easy and hard graphs weigh the same. The graphs of the test are never trained
on; intervals are normal ones over graphs, at 95 %.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from simplugin.environments import GRAPH_FEATURES, TaskGraphsEnvironment

FILE = Path(__file__).with_name("fork_join.toml")
CLUSTERS, TRAINED, TESTED = 4, range(1000, 1012), range(40)
# Graphs of an iteration, and episodes of each.
GRAPHS, EPISODES, RATE = 6, 6, 0.15
START, FINISH, CLUSTER, FLOP, BYTE = map(
    GRAPH_FEATURES.index, ("start", "finish", "cluster", "flop", "byte")
)
WEIGHTS = 5 + 2 * CLUSTERS


def features(seen: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Return numbers of each option, relative to min-min's own, shape (n_options, WEIGHTS)."""
    options = seen[: mask.sum()]
    start, finish = options[:, START], options[:, FINISH]
    own = np.arange(len(options)) == 0
    cluster = np.eye(CLUSTERS)[options[:, CLUSTER].astype(int)]
    # Work for each byte of data: the more, the less it costs to send the task elsewhere.
    intensity = np.log((1 + options[0, FLOP]) / (1 + options[0, BYTE])) - 3
    return np.column_stack(
        [
            own,
            np.log(finish / finish[0]),
            np.log((finish - start) / (finish[0] - start[0])),
            (start - start[0]) / finish[0],
            finish == finish.min(),
            cluster,
            cluster * np.clip(intensity, -2, 2),
        ]
    ).astype(float)


def episode(env, weights=None, draws=None) -> tuple[float, np.ndarray]:
    """Return the makespan and the gradient of the log-probability of all decisions.

    Without weights, min-min decides; without draws, the best option is taken.
    """
    (seen, info), is_over = env.reset(), False
    gradient = np.zeros(WEIGHTS)
    while not is_over:
        action = 0
        if weights is not None:
            each = features(seen, info["action_mask"])
            chances = np.exp(each @ weights - (each @ weights).max())
            chances /= chances.sum()
            action = int(chances.argmax() if draws is None else draws.choice(len(each), p=chances))
            gradient += each[action] - chances @ each
        seen, _, is_over, _, info = env.step(action)
    return info["date"], gradient


def train(iterations: int, draws: np.random.Generator) -> np.ndarray:
    """Return trained weights; the simulation of each graph stays warm."""
    envs = [TaskGraphsEnvironment(FILE) for _ in TRAINED]
    for env, seed in zip(envs, TRAINED, strict=True):
        env.reset(seed=seed)
    weights, mean, square = np.zeros(WEIGHTS), np.zeros(WEIGHTS), np.zeros(WEIGHTS)
    for step in range(1, iterations + 1):
        gradient = np.zeros(WEIGHTS)
        for number in draws.choice(len(envs), GRAPHS, replace=False):
            done = [episode(envs[number], weights, draws) for _ in range(EPISODES)]
            makespans = np.array([makespan for makespan, _ in done])
            better = (makespans.mean() - makespans) / (makespans.std() + 1e-9)
            gradient += better @ np.array([each for _, each in done]) / (GRAPHS * EPISODES)
        # Adam.
        mean, square = 0.9 * mean + 0.1 * gradient, 0.99 * square + 0.01 * gradient**2
        scale = np.sqrt(square / (1 - 0.99**step)) + 1e-8
        weights += RATE * mean / (1 - 0.9**step) / scale
    for env in envs:
        env.close()
    return weights


def interval(values: list[float]) -> str:
    """Return the mean and the half width of its interval."""
    return f"{np.mean(values):.3f} ± {1.96 * np.std(values, ddof=1) / len(values) ** 0.5:.3f}"


def main() -> None:
    """Train, and compare on other graphs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--iterations", type=int, default=40)
    begin, iterations = time.perf_counter(), parser.parse_args().iterations
    weights = train(iterations, np.random.default_rng(0))
    print(f"{iterations} iterations in {time.perf_counter() - begin:.0f} s: {weights.round(2)}")
    # The rule that is closest to what is learned: the cluster of the largest weight.
    fixed = np.zeros(WEIGHTS)
    fixed[5 + int(weights[5 : 5 + CLUSTERS].argmax())] = 100.0
    policies = {"min-min": None, "trained": weights, "one cluster": fixed}
    ratios, gaps = ({name: [] for name in policies} for _ in range(2))
    env = TaskGraphsEnvironment(FILE)
    for seed in TESTED:
        env.reset(seed=seed)
        ends = {name: episode(env, each)[0] for name, each in policies.items()}
        bound = env.outcome.row.best.value
        for name, end in ends.items():
            ratios[name].append(end / ends["min-min"])
            gaps[name].append(end / bound - 1)
    env.close()
    for name in policies:
        print(f"{name}: makespan over min-min's {interval(ratios[name])}", end="; ")
        print(f"gap to the bound {interval(gaps[name])}")


if __name__ == "__main__":
    main()
