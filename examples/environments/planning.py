"""Plan by branches, without training: try min-min and each cluster for all tasks that follow."""

from pathlib import Path

from simplugin.environments import GRAPH_FEATURES, TaskGraphsEnvironment

CLUSTER = GRAPH_FEATURES.index("cluster")


def action(seen, cluster):
    return 0 if cluster is None else int((seen[:4, CLUSTER] == cluster).argmax())


def end_of(env, seen, cluster):
    with env.branch() as other:
        while other.choice is not None:
            seen, *_, info = other.step(action(seen, cluster))
    return info["date"]


env = TaskGraphsEnvironment(Path(__file__).with_name("fork_join.toml"))
(seen, info), is_over = env.reset(seed=1), False
print("min-min", end_of(env, seen, None))
while not is_over:
    best = min((None, 0, 1, 2, 3), key=lambda cluster: end_of(env, seen, cluster))
    seen, _, is_over, _, info = env.step(action(seen, best))
print("planned", info["date"], "bound", info["bound"])
env.close()
