"""``simplugin run``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from contextlib import nullcontext, redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from simplugin.cli.displays import SimulationDisplay, spinner, standard_output
from simplugin.cli.terminal import relative_path
from simplugin.core.console import EscapingConsole
from simplugin.core.errors import SimpluginError
from simplugin.inputs.files import uncollected
from simplugin.results.curves import groups_of
from simplugin.scenarios.loading import load_scenario, run_scenario
from simplugin.scenarios.outputs import outcome_document, output_path, write_outputs
from simplugin.scenarios.scenario import Scenario, ScenarioResult

if TYPE_CHECKING:
    from simplugin.simulation.options import SimulationKeywords

# Asking SimGrid for the links of larger platforms takes longer than anyone waits for a table.
_MOST_LINKS = 20000


def run_command(
    file: Path,
    changes: SimulationKeywords,
    directory: Path | None,
    *,
    verify: bool = False,
    trust: Iterable[str] = (),
    as_json: bool,
) -> None:
    """Run a scenario with changes of ``[simulation]``, print its results, write its files."""
    scenario = load_scenario(file, trust=trust)
    scenario = replace(scenario, simulation=replace(scenario.simulation, **changes))
    if verify:
        if scenario.kind.schedulers is None:
            message = "--verify is given, but this kind of workload has no optimum"
            raise scenario.error(message, "workload", "kind", remedy="leave it out")
        section = scenario.scheduler.model_copy(update={"verify": True})
        scenario = replace(scenario, scheduler=section)
    if directory is not None:
        scenario = scenario.relocated(directory)
    scenario.refuse_stray_outputs()
    console = EscapingConsole(stderr=True)
    # What actors print must not get into the JSON.
    elsewhere = redirect_stdout(sys.stderr) if as_json else nullcontext()
    with elsewhere, SimulationDisplay(console, scenario.simulation.until) as progress:
        outcome = run_scenario(scenario, progress.report)
        progress.report(outcome.result.clock, 0)
    if as_json:
        written = _written(scenario, outcome, console)
        document = outcome_document(outcome) | {"files": [str(path) for path in written]}
        sys.stdout.write(json.dumps(document, allow_nan=False) + "\n")
        return
    try:
        written = _written(scenario, outcome, console)
    finally:
        _print_tables(scenario, outcome)
    for path in written:
        sys.stdout.write(f"wrote {relative_path(path)}\n")


def _print_tables(scenario: Scenario, outcome: ScenarioResult) -> None:
    """Print the results as tables."""
    from simplugin.reports.tables import print_listings, print_result
    from simplugin.simulation.resolve import resolve

    console = standard_output()
    title = scenario.title or scenario.file.stem
    if outcome.listings:
        print_listings(outcome.row, outcome.listings, console=console, title=title)
        return
    bandwidths = None  # the table does without if SimGrid refuses
    if 0 < len(outcome.result.links) <= _MOST_LINKS:
        with suppress(SimpluginError), scenario.importable():
            links = resolve(scenario.make_platform()).links
            shared = (each for each in links if each.sharing_policy == "SHARED")
            bandwidths = {link.name: link.bandwidth for link in shared}
    print_result(outcome.result, outcome.row, console=console, title=title, bandwidths=bandwidths)


@uncollected()  # drawing loads many modules
def _written(scenario: Scenario, outcome: ScenarioResult, console: Console) -> list[Path]:
    """Write the outputs of the scenario."""
    written = write_outputs(scenario, outcome)
    for name in ("gantt", "curves", "graphs"):
        if (path := output_path(scenario, name)) is not None:
            from simplugin.reports.image_files import quick_import

            with spinner(console, "drawing"), quick_import():
                _draw(name, scenario, outcome, path)
            written.append(path)
    return written


def _draw(name: str, scenario: Scenario, outcome: ScenarioResult, path: Path) -> None:
    """Draw an output; as the Gantt chart the schedule if the kind has one, else the trace."""
    if name == "curves":
        from simplugin.reports.curves import curves

        curves(outcome.figures, path, title=scenario.title)
    elif name == "graphs":
        from simplugin.reports.graphs import draw_graphs

        draw_graphs(outcome.graphs, path, title=scenario.title)
    elif outcome.schedule is not None:
        from simplugin.reports.schedules import draw_schedule

        draw_schedule(outcome.schedule, path)
    else:
        from simplugin.reports.gantt import gantt

        gantt(outcome.result, path, title=scenario.title, groups=groups_of(outcome.figures))
