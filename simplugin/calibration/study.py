"""Studies: a campaign file with a table ``[calibrate]``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError, field_validator

from simplugin.calibration.measurements import (
    Loss,
    MeasuredRow,
    read_measurements,
    shipped_loss,
)
from simplugin.campaigns.campaign import Campaign
from simplugin.core.errors import ScenarioError
from simplugin.inputs.messages import (
    InputProblem,
    InvalidValueError,
    dotted,
    problems_of,
    suggestion,
)
from simplugin.inputs.messages import Path as Keys
from simplugin.inputs.quantities import POSITIVE, Time
from simplugin.inputs.sections import ExistingFile, Reference, Section
from simplugin.scenarios.importing import importable
from simplugin.scenarios.loading import read_toml, scenario_from
from simplugin.scenarios.ranges import ParameterTable
from simplugin.scenarios.scenario import scenario_error
from simplugin.scenarios.substitutions import path_of
from simplugin.scenarios.sweeps import KeyAssignment, flatten

StudySection = TypeVar("StudySection", bound=Section)
Range = TypeVar("Range", bound="ParameterTable")

TABLE = "calibrate"
# Packages of methods that an extra installs.
_PACKAGES = {"cma-es": "cmaes", "tpe": "optuna"}


class HeldOutColumn(Section):
    """Rows that are held out because of a column.

    Attributes
    ----------
    column : str
        The column.
    values : list
        Its values in these rows.
    """

    column: str
    values: Annotated[list[Any], Field(min_length=1)]


class HeldOutFolds(Section):
    """Cross-validation: each fold of rows is held out once.

    Attributes
    ----------
    folds : int
        The number of folds, 2 or more; row ``i`` is in fold ``i % folds``.
    """

    folds: int


class CalibrateSection(Section):
    """``[calibrate]`` of a study.

    Attributes
    ----------
    parameters : dict
        Dotted keys of the scenario, each with a `ParameterTable`.
    table : path
        The measured values, CSV or JSON.
    name : str, optional
        Column with the names of rows.
    inputs : dict of str to str
        Dotted keys of the scenario that are set in the run of each row, and their columns.
    metrics : dict of str to str
        Metrics of the scenario, and the columns of their measured values.
    weights : dict of str to float
        Weights of metrics; 1 by default.
    held_out : list of str, HeldOutColumn or HeldOutFolds
        Rows that are predicted, not fitted: by name, by a column, or each once.
    loss : str
        Statistic of relative errors: ``rms``, ``mean``, ``median`` or ``largest``; or
        ``module:function`` of predicted and measured values, arrays of shape (n_rows, n_metrics).
    method : str
        The search after its initial Sobol points: ``nelder-mead``, ``powell``,
        ``differential-evolution``, and ``cma-es`` and ``tpe`` of the extra ``calibrate``;
        ``sobol`` or ``latin-hypercube`` for such points only.
    starts : int
        Number of local searches, which run side by side, or of points of ``tpe`` at a time.
    evaluations : int
        Number of points of the parameters at which all fitted rows are run; a linear model of the
        result can need a few more.
    seconds : float, optional
        Maximum sum of the real time of all runs [s].
    repeat : dict
        At most one dotted key and its values, such as seeds; metrics are means over them.
    seed : int
        Seed of the search and of the bootstrap.
    """

    parameters: Annotated[dict[str, Any], Field(min_length=1)]
    table: ExistingFile
    name: str | None = None
    inputs: dict[str, Any] = Field(default_factory=dict)
    metrics: Annotated[dict[str, str], Field(min_length=1)]
    weights: dict[str, Annotated[float, POSITIVE]] = Field(default_factory=dict)
    held_out: list[str] | HeldOutColumn | HeldOutFolds = Field(default_factory=list)
    loss: Literal["rms", "mean", "median", "largest"] | Reference = "rms"
    method: Literal[
        "nelder-mead",
        "powell",
        "differential-evolution",
        "cma-es",
        "tpe",
        "sobol",
        "latin-hypercube",
    ] = "nelder-mead"
    starts: Annotated[int, Field(ge=1)] = 3
    evaluations: Annotated[int, Field(ge=4)] = 200
    seconds: Annotated[Time, POSITIVE] | None = None
    repeat: dict[str, Any] = Field(default_factory=dict)
    seed: Annotated[int, Field(ge=0)] = 0

    @field_validator("method")
    @classmethod
    def _installed(cls, value: str) -> str:
        """Raise unless the package of a method is installed."""
        package = _PACKAGES.get(value)
        if package is not None and find_spec(package) is None:
            message = f"{{key}} is {value!r}, which needs {package}"
            raise InvalidValueError(message, "pip install 'simplugin[calibrate]'")
        return value

    @property
    def weight_list(self) -> list[float]:
        """The weight of each metric."""
        return [self.weights.get(each, 1.0) for each in self.metrics]

    @property
    def repeats(self) -> dict[str, Any]:
        """The dotted key of `repeat` with its values."""
        return flatten("", self.repeat)


@dataclass(frozen=True)
class Study:
    """A scenario with parameters, and measured values of its metrics.

    Attributes
    ----------
    section : CalibrateSection
        Its table.
    campaign : Campaign
        The scenario, with the store and the limits of runs.
    parameters : dict of str to ParameterTable
        The parameters by their dotted keys.
    rows : tuple of MeasuredRow
        The measured rows.
    held_out : tuple of tuple of int
        Positions of rows that are held out: one tuple, or one for each fold.
    loss : callable
        Of predicted and measured values.
    """

    section: CalibrateSection
    campaign: Campaign
    parameters: Mapping[str, ParameterTable]
    rows: tuple[MeasuredRow, ...]
    held_out: tuple[tuple[int, ...], ...]
    loss: Loss

    @property
    def measured(self) -> NDArray[np.float64]:
        """Measured values, shape (n_rows, n_metrics)."""
        return np.array([row.metrics for row in self.rows])

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics."""
        return tuple(self.section.metrics)

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weights of the metrics."""
        return np.array(self.section.weight_list)

    @property
    def has_folds(self) -> bool:
        """True if each row is held out once."""
        return isinstance(self.section.held_out, HeldOutFolds)

    def values(self, point: Iterable[float]) -> dict[str, Any]:
        """Return the values of the parameters at a point of the unit cube."""
        pairs = zip(self.parameters.items(), point, strict=True)
        return {key: table.value(share) for (key, table), share in pairs}

    @property
    def own_point(self) -> tuple[float, ...] | None:
        """The point with the values of the scenario; None if one is missing or outside."""
        found = []
        try:
            for key, table in self.parameters.items():
                value: Any = self.campaign.variations.document
                for step in path_of(value, [key]):
                    value = value[step]
                found.append(table.share_of(value))
        except (KeyError, IndexError, TypeError, ValueError):
            return None
        return tuple(found)

    def assignment(
        self, kind: Literal["parameters", "inputs", "repeat"], key: str, value: Any
    ) -> KeyAssignment:
        """Return the assignment of a value to a key of a table of ``[calibrate]``."""
        document = self.campaign.variations.document
        source = (TABLE, kind, *written(getattr(self.section, kind), key))
        return KeyAssignment(path_of(document, [key]), value, source)


def load_study(file: str | os.PathLike[str], *, trust: Iterable[str] = ()) -> Study:
    """Read a study.

    Parameters
    ----------
    file : path
        A campaign file with ``[calibrate]``, without sweeps and variations.
    trust : iterable of str
        Further modules whose functions it may name.

    Raises
    ------
    ScenarioError
        The file, the table of measured values or a key is invalid.
    """
    place, trust = Path(file), tuple(trust)
    section, campaign = read_study(place, TABLE, CalibrateSection, trust)
    text, scenario = campaign.text, campaign.variations.document
    tables = parameter_tables(section.parameters, ParameterTable, TABLE, place, text)
    inputs = flatten("", section.inputs)
    _refuse_unknown(section, scenario, place, text)
    columns = [str(each) for each in inputs.values()]
    rows = read_measurements(section.table, section.name, columns, list(section.metrics.values()))
    loss: Loss
    if ":" in section.loss:
        with importable(campaign.directory, [section.loss.partition(":")[0]]):
            loss = scenario_from(scenario, place, text, trust).function(section.loss, TABLE, "loss")
    else:
        loss = shipped_loss(section.loss, section.weight_list)
    try:
        held_out = _held_out(section, rows)
    except InvalidValueError as error:
        problem = InputProblem((TABLE, "held_out"), error.message, error.remedy)
        raise scenario_error([problem], place, text) from None
    return Study(section, campaign, tables, rows, held_out, loss)


def read_study(
    file: Path, table: str, model: type[StudySection], trust: tuple[str, ...]
) -> tuple[StudySection, Campaign]:
    """Read a campaign file with the table of a study; return the table, and the scenario.

    Raises
    ------
    ScenarioError
        The file is invalid, lacks the table, or has sweeps or variations.
    """
    document, text = read_toml(file)
    if table not in document:
        names = ", ".join(name for name, each in model.model_fields.items() if each.is_required())
        message = f"there is no table [{table}]"
        raise ScenarioError(message, file=file, remedy=f"add it, with {names}")
    for name in ("sweep", "variations"):
        if name in document:
            problem = InputProblem((name,), "{key} is in a study", "remove it")
            raise scenario_error([problem], file, text)
    given = document[table]
    try:
        section = model.model_validate(given, context={"directory": file.parent})
    except ValidationError as error:
        raise scenario_error(problems_of(error, model, given, (table,)), file, text) from None
    rest = {key: each for key, each in document.items() if key != table}
    rest["campaign"] = {**rest.get("campaign", {}), "keep": 0}
    return section, Campaign.from_document(rest, file, trust)


def leaves(tables: Mapping[str, Any], above: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """Yield the tables of parameters with their keys, nested or dotted."""
    for key, each in tables.items():
        inner = each.values() if isinstance(each, Mapping) else ()
        if inner and all(isinstance(value, Mapping) for value in inner):
            yield from leaves(each, (*above, key))
        else:
            yield (*above, key), each


def parameter_tables(
    tables: Mapping[str, Any], model: type[Range], table: str, file: Path, text: str
) -> dict[str, Range]:
    """Return the parameters by dotted keys; raise ScenarioError for an invalid range."""
    found: dict[str, Range] = {}
    for words, each in leaves(tables):
        try:
            found[dotted(words)] = model.model_validate(each)
        except ValidationError as error:
            place = (table, "parameters", *words)
            raise scenario_error(problems_of(error, model, each, place), file, text) from None
    return found


def written(table: Mapping[str, Any], key: str) -> Keys:
    """Return the place of a dotted key in nested tables."""
    for name, each in table.items():
        if name == key:
            return (name,)
        if key.startswith(f"{name}.") and isinstance(each, Mapping):
            return (name, *written(each, key.removeprefix(f"{name}.")))
    return ()


def misplaced(
    section: Section, table: str, keys: Mapping[str, Iterable[str]], document: Mapping[str, Any]
) -> list[InputProblem]:
    """Return the problems of dotted keys, by the keys of a study's table that have them."""
    problems, seen = [], list[Keys]()
    for kind, key in ((kind, key) for kind, each in keys.items() for key in each):
        place = (table, kind, *written(getattr(section, kind), key))
        try:
            path = path_of(document, [key])
        except InvalidValueError as error:
            problems.append(InputProblem(place, f"{{key}}: {error.message}", error.remedy))
            continue
        if any(path[: len(each)] == each or each[: len(path)] == path for each in seen):
            message = "{key} is set twice, or is part of a key that is set"
            problems.append(InputProblem(place, message, "remove one"))
        seen.append(path)
    return problems


def _refuse_unknown(
    section: CalibrateSection, document: Mapping[str, Any], file: Path, text: str
) -> None:
    """Raise ScenarioError for a key that leads nowhere or occurs twice, and for odd tables."""
    keys = {
        "parameters": [dotted(words) for words, _ in leaves(section.parameters)],
        "inputs": list(flatten("", section.inputs)),
        "repeat": list(section.repeats),
    }
    problems = misplaced(section, TABLE, keys, document)
    for name in section.weights.keys() - section.metrics.keys():
        remedy = suggestion(name, section.metrics, "there are")
        problems.append(InputProblem((TABLE, "weights", name), "{key} is no metric", remedy))
    if section.method == "cma-es" and len(keys["parameters"]) < 2:
        remedy = "add one, or choose another method"
        problems.append(InputProblem((TABLE, "method"), "{key} needs two parameters", remedy))
    repeats = section.repeats
    if len(repeats) > 1 or not all(isinstance(each, list) and each for each in repeats.values()):
        remedy = "give one key with a list of values"
        problems.append(InputProblem((TABLE, "repeat"), "{key} is not one list", remedy))
    if problems:
        raise scenario_error(problems, file, text)


def _held_out(
    section: CalibrateSection, rows: tuple[MeasuredRow, ...]
) -> tuple[tuple[int, ...], ...]:
    """Return the positions of the rows that are held out, one tuple for each fold."""
    wanted, every = section.held_out, range(len(rows))
    if isinstance(wanted, HeldOutFolds):
        if not 2 <= wanted.folds <= len(rows):
            message = f"{{key}}: {wanted.folds} folds of {len(rows)} rows"
            raise InvalidValueError(message, "give 2 to the number of rows")
        return tuple(tuple(every[fold :: wanted.folds]) for fold in range(wanted.folds))
    if isinstance(wanted, HeldOutColumn):
        found = tuple(at for at in every if rows[at].cells.get(wanted.column) in wanted.values)
        if not found:
            message = f"{{key}}: no row has such a value in column {wanted.column!r}"
            raise InvalidValueError(message, "name a column and values that it has")
    else:
        names = [row.name for row in rows]
        for name in wanted:
            if name not in names:
                message = f"{{key}} names {name!r}, which is no row"
                raise InvalidValueError(message, suggestion(name, names, "there are"))
        found = tuple(names.index(name) for name in wanted)
    if len(found) == len(rows):
        raise InvalidValueError("{key} leaves no row to fit", "hold out fewer rows")
    return (found,)
