"""One run of a campaign: a scenario document becomes what is recorded of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from simplugin.campaigns.jobs import RunResult
from simplugin.core.errors import ScenarioError
from simplugin.scenarios.loading import run_scenario, scenario_from
from simplugin.scenarios.outputs import contents_of
from simplugin.scenarios.scenario import Scenario, ScenarioResult
from simplugin.scenarios.sections import DEFAULT_FILES


def run(arguments: Mapping[str, Any]) -> RunResult:
    """Run a scenario.

    Parameters
    ----------
    arguments : mapping
        ``document``, as `tomllib` reads a scenario; ``directory``, where its paths start;
        ``name``, of its file, for messages; ``source``, that file's `text_digest`, and
        ``settings``, the places of what is set for this run in the scenario and in the file, by
        which the lines of errors are found; ``keep``, whether curves, tables, the schedule or
        activities are returned too; ``trust``, as `load_campaign` takes it. `[output]` is of no
        use: nothing is written.

    Returns
    -------
    Measured
        The row, the digest of the simulation's result, and what is kept.

    Raises
    ------
    SimpluginError
        As `simplugin.scenarios.loading.scenario_from` and `run_scenario`.
    """
    file = Path(arguments["directory"]) / arguments["name"]
    try:
        scenario = scenario_from(arguments["document"], file, trust=arguments.get("trust", ()))
        outcome = run_scenario(scenario)
        contents = _kept(scenario, outcome) if arguments.get("keep") else None
        return RunResult(outcome.row, outcome.result.digest(), contents)
    except ScenarioError as error:
        # Only here, so that lines have no part in what a run computes.
        from simplugin.campaigns.campaign_checks import with_line

        located = with_line(error, arguments)
        if located is error:
            raise
        raise located from error.__cause__


def _kept(scenario: Scenario, outcome: ScenarioResult) -> dict[str, Any]:
    """Return what is kept of a run; simulate it again if it has left nothing to draw."""
    drawn = outcome
    if outcome.schedule is None and not len(outcome.result.trace) and scenario.simulation.trace:
        # Most kinds trace only for a chart, and a trace is part of the digest, which must not
        # depend on what is kept.
        output = scenario.output.model_copy(update={"gantt": DEFAULT_FILES["gantt"]})
        drawn = run_scenario(replace(scenario, output=output))
    return contents_of(replace(outcome, result=drawn.result), scenario.title or scenario.file.stem)
