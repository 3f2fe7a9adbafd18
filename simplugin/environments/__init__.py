"""Scenarios with choices as Gymnasium environments; the import registers them."""

from simplugin.core.errors import SetupError

try:
    import gymnasium
except ImportError as error:
    raise SetupError("environments need Gymnasium; pip install 'simplugin[rl]'") from error

from simplugin.environments.environment import ScenarioEnvironment
from simplugin.environments.kinds import (
    BAG_FEATURES,
    GRAPH_FEATURES,
    ActorsEnvironment,
    BagsEnvironment,
    TaskGraphsEnvironment,
)

__all__ = [
    "BAG_FEATURES",
    "GRAPH_FEATURES",
    "ActorsEnvironment",
    "BagsEnvironment",
    "ScenarioEnvironment",
    "TaskGraphsEnvironment",
]

for _name in ("TaskGraphs", "Bags", "Actors"):
    gymnasium.register(f"simplugin/{_name}-v0", f"simplugin.environments.kinds:{_name}Environment")
