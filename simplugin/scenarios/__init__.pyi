from .loading import load_scenario as load_scenario
from .loading import run_scenario as run_scenario
from .scenario import Scenario as Scenario
from .scenario import ScenarioResult as ScenarioResult
