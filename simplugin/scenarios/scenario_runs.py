"""One run of a campaign: a scenario document becomes a row and what reports need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from simplugin.results.row import RunResult
from simplugin.scenarios.loading import run_scenario, scenario_from
from simplugin.scenarios.outputs import contents_of
from simplugin.scenarios.scenario import Scenario, ScenarioResult
from simplugin.scenarios.sections import DEFAULT_FILES


def run(arguments: Mapping[str, Any]) -> RunResult:
    """Run a scenario.

    Parameters
    ----------
    arguments : mapping
        ``document``, a scenario as `tomllib` reads it; ``directory``, to which its paths are
        relative; ``name``, of its file, for messages; ``keep``, True to return curves, tables, and
        the schedule or activities too; ``trust``, as in `load_campaign`. `[output]` has no effect:
        no file is written.

    Returns
    -------
    RunResult
        The row, the digest of the simulation's result, and what reports show.

    Raises
    ------
    SimpluginError
        As `simplugin.scenarios.loading.scenario_from` and `run_scenario`.
    """
    file = Path(arguments["directory"]) / arguments["name"]
    scenario = scenario_from(arguments["document"], file, trust=arguments.get("trust", ()))
    outcome = run_scenario(scenario)
    contents = _report_contents(scenario, outcome) if arguments.get("keep") else None
    return RunResult(outcome.row, outcome.result.digest(), contents)


def _report_contents(scenario: Scenario, outcome: ScenarioResult) -> dict[str, Any]:
    """Return what reports show of a run; simulate again if there is no activity to draw."""
    drawn = outcome
    if outcome.schedule is None and not len(outcome.result.trace) and scenario.simulation.trace:
        # Most kinds trace only for a chart, and a trace is part of the digest, which must not
        # depend on `keep`.
        output = scenario.output.model_copy(update={"gantt": DEFAULT_FILES["gantt"]})
        drawn = run_scenario(replace(scenario, output=output))
    return contents_of(replace(outcome, result=drawn.result), scenario.title or scenario.file.stem)
