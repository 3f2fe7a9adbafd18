from .scenario import Scenario as Scenario
from .scenario import ScenarioResult as ScenarioResult
from .scenario import load_scenario as load_scenario
from .scenario import run_scenario as run_scenario
