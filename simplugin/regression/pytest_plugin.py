"""The pytest plug-in: fixtures `simulation`, `platform` and `snapshot`.

Every pytest session of an environment with this package loads it, so that the modules of the
fixtures are imported on first use only.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from simplugin.regression.fixtures import (
    DIRECTORY,
    TRUST,
    UPDATE,
    RecordedResult,
    RecordedTest,
    directory_of,
    safe_name,
)

if TYPE_CHECKING:
    from simplugin.regression.fixtures import Platforms, Simulations

_MOST_UNUSED = 20
_OF_FILES = ("collected", "begun", "passed")


@dataclass
class ReportCollector:
    """Gathers the reports of tests, of this process and of others.

    Attributes
    ----------
    collected : dict of str to set of str
        Names of the collected tests by file, in the form of recorded results; deselected ones
        included.
    begun, passed : dict of str to set of str
        Names of the tests that ran or were skipped, and of those that passed, by file.
    partial : set of str
        Files whose tests may not all be collected.
    used : set of str
        Recorded results that were compared.
    updated : list of (str, list of str)
        Recorded results that were written, with the lines that explain the change.
    removed, unused : list of str
        Recorded results that no test uses: deleted ones, and others.
    """

    collected: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    begun: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    passed: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    partial: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    updated: list[tuple[str, list[str]]] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """Return the reports as plain containers, for another process."""
        return vars(self) | {name: dict(getattr(self, name)) for name in _OF_FILES}

    def add(self, document: Mapping[str, Any]) -> None:
        """Add the reports of another process."""
        for name in _OF_FILES:
            for file, tests in document[name].items():
                getattr(self, name)[file].update(tests)
        self.partial |= document["partial"]
        self.used |= document["used"]
        self.updated += document["updated"]

    def find_unused(self, given: Iterable[Path], *, remove: bool) -> None:
        """Find the recorded results that no test uses, and delete them on request.

        Parameters
        ----------
        given : iterable of Path
            Files and directories that pytest was called with; only these are searched.
        remove : bool
            True to delete the results.
        """
        for path in self._orphans({file_of(each) for each in given}):
            (self.removed if remove else self.unused).append(str(path))
            if remove and path.is_dir():
                shutil.rmtree(path)
            elif remove:
                from simplugin.regression.snapshots import delete_snapshot

                delete_snapshot(path)

    def summary(self) -> list[str]:
        """Return lines for the end of the session; none if there is nothing to report."""
        lines = []
        for name, lines_of in sorted(self.updated):
            lines += [f"{name}: {lines_of[0]}", *(f"  {line}" for line in lines_of[1:])]
        lines += [f"{path}: deleted, as no test uses it" for path in sorted(self.removed)]
        unused = sorted(self.unused)
        lines += [f"{path}: no test uses it" for path in unused[:_MOST_UNUSED]]
        if len(unused) > _MOST_UNUSED:
            lines.append(f"... and {len(unused) - _MOST_UNUSED} more")
        return lines + ([f"{len(unused)} unused; {UPDATE} deletes them"] if unused else [])

    def _orphans(self, given: set[Path]) -> list[Path]:
        """Return the results of tests that ran without comparing them, or no longer exist."""
        found: list[Path] = []
        places = set()
        for name, tests in self.collected.items():
            file = Path(name)
            inside = not given.isdisjoint(file.parents)
            if inside:
                places.add(file.parent / DIRECTORY)
            whole = name not in self.partial and tests == self.begun.get(name)
            if whole and (inside or file in given):
                for path in sorted(directory_of(file).glob("*.json")):
                    test = path.name.partition(".")[0]
                    idle = test in self.passed.get(name, ()) and str(path) not in self.used
                    if test not in tests or idle:
                        found.append(path)
        # Test files need not be Python files: doctests, for instance.
        found += [
            directory
            for place in sorted(places)
            for directory in sorted(place.glob("*/"))
            if not any(place.parent.glob(f"{escape(directory.name)}.*"))
        ]
        return found


def file_of(path: Path) -> Path:
    """Return the path of a file or directory with symbolic links in its directory resolved.

    A file that is a link itself keeps its name: its results are recorded under that.
    """
    return path.resolve() if path.is_dir() else path.parent.resolve() / path.name


_LEDGER = pytest.StashKey[ReportCollector]()
_TEST = pytest.StashKey[RecordedTest]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option and the setting."""
    parser.getgroup("simplugin").addoption(
        UPDATE,
        action="store_true",
        help="record what the fixture `snapshot` is compared with, and delete what no test uses",
    )
    help_text = "modules that scenarios may name wherever they are, as --trust of `simplugin run`"
    parser.addini(TRUST, type="linelist", help=help_text)


def pytest_configure(config: pytest.Config) -> None:
    """Create the collector of reports."""
    config.stash[_LEDGER] = ReportCollector()


@pytest.fixture
def simulation(request: pytest.FixtureRequest) -> Simulations:
    """Run a scenario, simulation("x.toml"), or actors, simulation(platform, actors)."""
    from simplugin.regression.fixtures import Simulations

    return Simulations(_places(request), tuple(request.config.getini(TRUST)))


@pytest.fixture
def platform(request: pytest.FixtureRequest) -> Platforms:
    """Find a platform file, platform("x.xml"), or make a platform, platform("star", hosts=10)."""
    from simplugin.regression.fixtures import Platforms

    return Platforms(_places(request))


def _places(request: pytest.FixtureRequest) -> tuple[Path, ...]:
    """Return the directories of a test's files."""
    return tuple(dict.fromkeys((request.path.parent, request.config.rootpath)))


@pytest.fixture
def snapshot(request: pytest.FixtureRequest) -> Iterator[RecordedResult]:
    """Equal to the recorded result: assert result == snapshot, or == snapshot(rel=1e-6)."""
    item = request.node
    test = RecordedTest(
        _name(item), directory_of(file_of(item.path)), bool(request.config.getoption(UPDATE))
    )
    item.stash[_TEST] = test
    yield RecordedResult(test)
    ledger = request.config.stash[_LEDGER]
    ledger.used |= {str(path) for path in test.used}
    ledger.updated += test.updated


def pytest_assertrepr_compare(
    config: pytest.Config,  # noqa: ARG001
    op: str,
    left: object,
    right: object,
) -> list[str] | None:
    """Explain the differences at a failed assertion."""
    for side, other in ((left, right), (right, left)):
        if op == "==" and isinstance(side, RecordedResult) and side.mismatch is not None:
            return [f"the {type(other).__name__} is not what is recorded", *side.mismatch.brief]
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the whole explanation to the report of a test that failed."""
    report = yield
    ledger, file = item.config.stash[_LEDGER], str(file_of(item.path))
    ledger.begun[file].add(safe_name(_name(item)))
    if call.when != "call":
        return report
    if report.passed:
        ledger.passed[file].add(safe_name(_name(item)))
    elif report.failed and _TEST in item.stash:
        text = "\n".join("\n".join(each.full) for each in item.stash[_TEST].mismatches)
        if text:
            report.sections.append(("simplugin", text))
    return report


def pytest_itemcollected(item: pytest.Item) -> None:
    """Record a test before it can be deselected."""
    item.config.stash[_LEDGER].collected[str(file_of(item.path))].add(safe_name(_name(item)))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Record files whose tests may not all be collected."""
    report = yield
    config = collector.config
    # --last-failed drops tests before they are collected.
    if not report.passed or config.getoption("lf", False):
        config.stash[_LEDGER].partial.add(str(file_of(collector.path)))
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:  # noqa: ARG001
    """Add the reports of a worker of pytest-xdist."""
    if (gathered := getattr(node, "workeroutput", {}).get("simplugin")) is not None:
        node.config.stash[_LEDGER].add(gathered)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the reports to the main process, or find unused results there."""
    ledger = session.config.stash[_LEDGER]
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output["simplugin"] = ledger.document()
    elif not session.config.getoption("collectonly", False):
        # Complete files only: single tests have "::", and names of modules are no paths.
        given = [session.config.invocation_params.dir / each for each in session.config.args]
        remove = bool(session.config.getoption(UPDATE))
        ledger.find_unused(filter(Path.exists, given), remove=remove)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the recorded and the unused results."""
    if lines := config.stash[_LEDGER].summary():
        terminalreporter.section("simplugin")
        for line in lines:
            terminalreporter.write_line(line)


def _name(item: pytest.Item) -> str:
    """Return the name of a test in its file."""
    return item.nodeid.partition("::")[2] or item.name
