"""The objects that the fixtures of the pytest plug-in return."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

from simplugin.core.errors import ScenarioError, SimpluginError

if TYPE_CHECKING:
    from simplugin.platforms import Platform
    from simplugin.regression.comparison import RunComparison
    from simplugin.regression.snapshots import Snapshot
    from simplugin.regression.tolerances import Tolerances
    from simplugin.scenarios.scenario import ScenarioResult
    from simplugin.simulation import Result
    from simplugin.simulation.options import SimulationKeywords
    from simplugin.simulation.placement import Actors

DIRECTORY = "__simplugin__"
UPDATE = "--simplugin-update"
TRUST = "simplugin_trust"
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST = 80
_VALUE = "value"


def file_in(directories: Sequence[Path], name: str | os.PathLike[str]) -> Path:
    """Return a file that a test names.

    Raises
    ------
    SimpluginError
        No directory has the file.
    """
    for directory in directories:
        path = directory / name
        if path.is_file():
            return path
    looked = " and ".join(str(directory) for directory in directories)
    raise SimpluginError(f"there is no file {os.fspath(name)!r}; looked in {looked}")


@dataclass(frozen=True)
class Simulations:
    """Runs scenarios, or actors on a platform.

    Attributes
    ----------
    directories : tuple of Path
        Directories of files: that of the test, then the session's root.
    trust : tuple of str
        Modules that scenarios may name although they are outside their directories.
    """

    directories: tuple[Path, ...]
    trust: tuple[str, ...] = ()

    @overload
    def __call__(
        self, what: str | os.PathLike[str], changes: Mapping[str, object] | None = None, /
    ) -> ScenarioResult: ...

    @overload
    def __call__(
        self,
        what: Platform | str | os.PathLike[str],
        actors: Actors,
        /,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        **options: Unpack[SimulationKeywords],
    ) -> Result: ...

    def __call__(
        self,
        what: Any,
        actors: Any = None,
        /,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        **options: Unpack[SimulationKeywords],
    ) -> ScenarioResult | Result:
        """Run a scenario with changes at dotted keys, or actors on a platform.

        Parameters
        ----------
        what : path or Platform
            A scenario file, relative to the test's directory or the root; with actors, a
            platform or its file.
        actors : mapping or actors, optional
            For a scenario: values of its keys, such as ``{"scheduler.name": "bags.fcfs"}``. For a
            platform: actors, or their file, as of `simplugin.simulate`.
        functions, **options
            Further arguments of `simplugin.simulate`, for a platform.

        Raises
        ------
        SimpluginError
            A file or a key does not exist, or the simulation raises it.
        """
        if actors is None or isinstance(actors, Mapping):
            return self._scenario(what, actors or {})
        from simplugin.simulation import simulate

        if isinstance(what, str | os.PathLike):
            what = file_in(self.directories, what)
        if isinstance(actors, str | os.PathLike):
            actors = file_in(self.directories, actors)
        return simulate(what, actors, functions=functions, **options)

    def _scenario(
        self, name: str | os.PathLike[str], changes: Mapping[str, object]
    ) -> ScenarioResult:
        """Run a scenario file with other values at some keys."""
        from simplugin.inputs.messages import InvalidValueError
        from simplugin.scenarios.loading import load_scenario, run_scenario, scenario_from
        from simplugin.scenarios.substitutions import file_value, path_of, substituted

        if not isinstance(name, str | os.PathLike):
            raise SimpluginError(
                f"simulation({name!r}): give a scenario file, or a platform and its actors"
            )
        scenario = load_scenario(file_in(self.directories, name), trust=self.trust)
        if not changes:
            return run_scenario(scenario)
        document: Any = scenario.document
        for key, value in changes.items():
            try:
                document = substituted(document, path_of(document, [key]), file_value(value))
            except InvalidValueError as error:
                raise ScenarioError(error.message, file=name, remedy=error.remedy) from None
        # Lines of the file do not apply to the changed document.
        return run_scenario(scenario_from(document, scenario.file, trust=self.trust))


@dataclass(frozen=True)
class Platforms:
    """Finds platform files, and makes platforms."""

    directories: tuple[Path, ...]

    def __call__(self, name: str | os.PathLike[str], /, **parameters: object) -> Path | Platform:
        """Return the path of a platform file, or a generated platform.

        Parameters
        ----------
        name : path or str
            An XML file, relative to the test's directory or the root; a shipped generator; or
            ``module:function`` of a module in the test's directory.
        **parameters
            Parameters of the generator.

        Raises
        ------
        SimpluginError
            There is no such file or generator, or a parameter is invalid.
        """
        from simplugin.inputs.named_files import named_modules
        from simplugin.scenarios.generators.registry import generator_called
        from simplugin.scenarios.importing import importable

        if Path(name).suffix.lower() == ".xml":
            if parameters:
                raise SimpluginError(f"{os.fspath(name)}: a platform file has no parameters")
            return file_in(self.directories, name)
        directory = self.directories[0]
        with importable(directory, named_modules(name)):
            return generator_called(os.fspath(name)).platform(parameters, directory)


def safe_name(name: str) -> str:
    """Return a name that is valid in any file system, unique for each name."""
    safe = _UNSAFE.sub("_", name)
    if safe == name and len(name) <= _LONGEST:
        return name
    return f"{safe[:_LONGEST]}-{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def directory_of(test_file: Path) -> Path:
    """Return the directory of the recorded results of a file of tests."""
    return test_file.parent / DIRECTORY / test_file.stem


@dataclass(frozen=True)
class Mismatch:
    """The reason why a result does not agree with the recorded one.

    Attributes
    ----------
    brief : list of str
        The few lines that pytest shows at the assertion.
    full : list of str
        The complete explanation.
    """

    brief: list[str]
    full: list[str]


@dataclass
class RecordedTest:
    """The recorded results of one test, and the outcomes of its comparisons.

    Attributes
    ----------
    name : str
        Name of the test in its file.
    directory : Path
        Directory of the recorded results.
    update : bool
        True to record results that are new or moved.
    used : set of Path
        Results that were compared.
    updated : list of (str, list of str)
        Names of recorded results that were written, with the lines that explain the change.
    mismatches : list of Mismatch
        The failed comparisons.
    """

    name: str
    directory: Path
    update: bool
    used: set[Path] = field(default_factory=set)
    updated: list[tuple[str, list[str]]] = field(default_factory=list)
    mismatches: list[Mismatch] = field(default_factory=list)
    _count: int = 0

    def file(self, name: str | None) -> Path:
        """Return the file of the next result, or of the one with a name."""
        if name is None:
            self._count += 1
            part = f".{self._count}" if self._count > 1 else ""
        else:
            part = f".{safe_name(name)}" + ("-named" if name.isdigit() else "")
        return self.directory / f"{safe_name(self.name)}{part}.json"

    def compare(self, now: Snapshot, file: Path, tolerances: Tolerances) -> Mismatch | None:
        """Compare with a record, or update that; return the mismatch, None if both agree."""
        from simplugin.regression.comparison import compare, explain
        from simplugin.regression.snapshots import read_snapshot, write_snapshot

        # A record that this run wrote under a name is not written again.
        update = self.update and file not in self.used
        self.used.add(file)
        try:
            recorded = read_snapshot(file)
        except SimpluginError as error:
            if not update:
                return self._refuse([str(error).replace("--update", UPDATE)])
            recorded = None
        if recorded is None and not update:
            return self._refuse([f"nothing is recorded in {file.name}; record it with {UPDATE}"])
        comparison = None if recorded is None else compare(recorded, now, tolerances)
        lines = ["recorded"] if comparison is None else explain(comparison, UPDATE)
        if update and lines:
            write_snapshot(now, file)
            self.updated.append((f"{self.directory.name}/{file.name}", lines))
        if update or comparison is None or comparison.agrees:
            return None
        return self._refuse(_brief(comparison), [f"{file.name}:", *lines])

    def _refuse(self, brief: list[str], full: list[str] | None = None) -> Mismatch:
        """Keep an explanation for the report of the test."""
        self.mismatches.append(Mismatch(brief, full or brief))
        return self.mismatches[-1]


class RecordedResult:
    """A value that equals the recorded result of a test, within tolerances.

    It can be compared with a `Result`, a `ScenarioResult` or a `Row`, a mapping of names to
    numbers and texts, or a number. The first result of a test is recorded in ``TEST.json``,
    further ones in ``TEST.2.json`` and so on; those with a name in ``TEST.NAME.json``.

    Parameters
    ----------
    test : RecordedTest
        The test.
    tolerances : mapping, optional
        A document of `ToleranceFile`.
    name : str, optional
        Name of the record, instead of a number.
    """

    # NumPy's numbers leave the comparison to this class.
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        test: RecordedTest,
        tolerances: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> None:
        self._test, self._tolerances, self._name = test, dict(tolerances or {}), name
        self.mismatch: Mismatch | None = None

    def __call__(
        self,
        *,
        rel: float | None = None,
        abs: float | None = None,  # noqa: A002
        metrics: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> RecordedResult:
        """Return the recorded result with tolerances, or the one of a name.

        Parameters
        ----------
        rel, abs : float, optional
            Relative and absolute tolerance of all metrics; default 1e-9 and 0. Counts and texts
            are exact.
        metrics : mapping, optional
            For single metrics: the relative tolerance, or a mapping with ``relative`` and
            ``absolute``; they apply to counts too.
        name : str, optional
            Name of the record, instead of a number.
        """
        limits = {"relative": rel, "absolute": abs, "metrics": metrics}
        given = {key: value for key, value in limits.items() if value is not None}
        return RecordedResult(self._test, given, name)

    def __repr__(self) -> str:
        """Name it in messages."""
        return f"snapshot(name={self._name!r})" if self._name else "snapshot"

    def __eq__(self, other: object) -> bool:
        """Compare a result with the recorded one, or record it."""
        from simplugin.inputs.messages import suggestion
        from simplugin.regression.tolerances import ToleranceFile

        now = _snapshot_of(self._test.name, other)
        metrics = {metric.name for metric in now.metrics}
        if unknown := [name for name in self._tolerances.get("metrics", ()) if name not in metrics]:
            hint = suggestion(unknown[0], metrics, "there are")
            raise SimpluginError(f"snapshot: there is no metric {unknown[0]!r}; {hint}")
        tolerances = ToleranceFile(self._tolerances, Path("snapshot")).of("")
        self.mismatch = self._test.compare(now, self._test.file(self._name), tolerances)
        return self.mismatch is None


def _snapshot_of(subject: str, value: object) -> Snapshot:
    """Return the snapshot of a result, row, mapping or number; raise if it has no metrics."""
    from simplugin.regression import snapshots
    from simplugin.results.row import Metric, Row
    from simplugin.scenarios.scenario import ScenarioResult
    from simplugin.simulation import Result

    if isinstance(value, ScenarioResult | Result | Row):
        return snapshots.snapshot_of(subject, value)
    numbers = value if isinstance(value, Mapping) else {_VALUE: value}
    metrics = {str(name): snapshots.plain_number(each) for name, each in numbers.items()}
    for name, each in metrics.items():
        if not isinstance(each, float | int | str | None):
            where = f" for {name!r}" if isinstance(value, Mapping) else ""
            raise SimpluginError(
                f"an object of type {type(each).__name__}{where} cannot be compared with a"
                " snapshot; give a Result, a ScenarioResult, a Row, a number, or a mapping of names"
                " to numbers and texts"
            )
    return snapshots.snapshot_of(subject, Row(tuple(Metric(*each) for each in metrics.items())))


def _brief(comparison: RunComparison) -> list[str]:
    """Return the metrics that moved and the first different activity, in six lines."""
    from simplugin.regression.comparison import change_text, first_difference

    divergence, moved = comparison.divergence, comparison.moved
    where = [] if divergence is None else first_difference(divergence)
    shown = [change_text(each) for each in moved[: 2 if where else 4]]
    if len(moved) > len(shown):
        shown[-1] += f", and {len(moved) - len(shown)} more"
    return [*shown, *(line.strip() for line in where)]
