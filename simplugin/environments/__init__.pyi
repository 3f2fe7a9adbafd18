from .environment import ScenarioEnvironment as ScenarioEnvironment
from .kinds import BAG_FEATURES as BAG_FEATURES
from .kinds import GRAPH_FEATURES as GRAPH_FEATURES
from .kinds import ActorsEnvironment as ActorsEnvironment
from .kinds import BagsEnvironment as BagsEnvironment
from .kinds import TaskGraphsEnvironment as TaskGraphsEnvironment
