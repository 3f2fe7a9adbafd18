"""The pytest plug-in: fixtures `simulation`, `platform` and `snapshot`.

It is loaded by every pytest session of an environment that has this package: what the fixtures
need is imported when one of them is used.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from simplugin.regression.ledger import Ledger, file_of
from simplugin.regression.recorded_results import (
    UPDATE,
    RecordedResult,
    RecordedTest,
    directory_of,
)

if TYPE_CHECKING:
    from simplugin.regression.fixtures import Platforms, Simulations

_LEDGER = pytest.StashKey[Ledger]()
_TEST = pytest.StashKey[RecordedTest]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.getgroup("simplugin").addoption(
        UPDATE,
        action="store_true",
        help="record what the fixture `snapshot` is compared with, and delete what no test uses",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begin a ledger."""
    config.stash[_LEDGER] = Ledger()


@pytest.fixture
def simulation(request: pytest.FixtureRequest) -> Simulations:
    """Run a scenario, simulation("x.toml"), or actors, simulation(platform, actors)."""
    from simplugin.regression.fixtures import Simulations, places_of

    return Simulations(places_of(request.path, request.config.rootpath))


@pytest.fixture
def platform(request: pytest.FixtureRequest) -> Platforms:
    """Find a platform file, platform("x.xml"), or make a platform, platform("star", hosts=10)."""
    from simplugin.regression.fixtures import Platforms, places_of

    return Platforms(places_of(request.path, request.config.rootpath))


@pytest.fixture
def snapshot(request: pytest.FixtureRequest) -> Iterator[RecordedResult]:
    """Equal to the recorded result: assert result == snapshot, or == snapshot(rel=1e-6)."""
    item = request.node
    test = RecordedTest(
        _name(item), directory_of(file_of(item.path)), bool(request.config.getoption(UPDATE))
    )
    item.stash[_TEST] = test
    yield RecordedResult(test)
    request.config.stash[_LEDGER].close(test)


def pytest_assertrepr_compare(
    config: pytest.Config,  # noqa: ARG001
    op: str,
    left: object,
    right: object,
) -> list[str] | None:
    """Tell what moved, and where it began."""
    for side, other in ((left, right), (right, left)):
        if op == "==" and isinstance(side, RecordedResult) and side.refusal is not None:
            what = type(other).__name__
            return [f"the {what} is not what is recorded", *side.refusal.brief]
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the whole explanation to the report of a test that failed."""
    report = yield
    ledger = item.config.stash[_LEDGER]
    ledger.begin(item.path, _name(item))
    if call.when != "call":
        return report
    if report.passed:
        ledger.succeed(item.path, _name(item))
    elif report.failed and _TEST in item.stash:
        text = "\n".join("\n".join(each.full) for each in item.stash[_TEST].refusals)
        if text:
            report.sections.append(("simplugin", text))
    return report


def pytest_itemcollected(item: pytest.Item) -> None:
    """Take note of a test, before anything leaves it out."""
    item.config.stash[_LEDGER].collect(item.path, _name(item))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Take note of files whose tests are not all found."""
    report = yield
    config = collector.config
    # --last-failed drops tests before they are collected, and does not tell which.
    if not report.passed or config.getoption("lf", False):
        config.stash[_LEDGER].doubt(collector.path)
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:  # noqa: ARG001
    """Take over what a worker of pytest-xdist gathered."""
    gathered = getattr(node, "workeroutput", {}).get("simplugin")
    if gathered is not None:
        node.config.stash[_LEDGER].add(gathered)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand over what was gathered, or find what no test uses."""
    ledger = session.config.stash[_LEDGER]
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["simplugin"] = ledger.document()
    elif not session.config.getoption("collectonly", False):
        remove = bool(session.config.getoption(UPDATE))
        ledger.settle(_given_as_a_whole(session.config), remove=remove)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Tell what was recorded and what is unused."""
    lines = config.stash[_LEDGER].summary()
    if lines:
        terminalreporter.section("simplugin")
        for line in lines:
            terminalreporter.write_line(line)


def _given_as_a_whole(config: pytest.Config) -> list[Path]:
    """Return the files and directories that the command line names without choosing from them."""
    # A single test has "::"; a module's name is no path.
    paths = [config.invocation_params.dir / argument for argument in config.args]
    return [path for path in paths if path.exists()]


def _name(item: pytest.Item) -> str:
    """Return the name of a test in its file."""
    return item.nodeid.partition("::")[2] or item.name
