"""Calibration of a study: search, intervals, held-out errors and baselines."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from simplugin.calibration.error_patterns import ErrorPattern, error_patterns, pattern_texts
from simplugin.calibration.evaluation import Evaluator, Point
from simplugin.calibration.intervals import (
    LocalModel,
    ProfileInterval,
    Vector,
    bootstrap,
    fitted,
    profile_interval,
    unidentified,
)
from simplugin.calibration.measurements import relative_errors
from simplugin.calibration.scenario_text import scenario_text
from simplugin.calibration.search import DESIGNS, local_minimum, search
from simplugin.calibration.study import Study
from simplugin.campaigns.jobs import Runners
from simplugin.core.errors import ScenarioError
from simplugin.scenarios.ranges import ParameterTable

# Share of the budget for the search; the rest is for intervals.
_SEARCH = 0.6
# Evaluations of a fit and a profile at most: of all parameters once, and of each parameter.
_FIT, _PROFILE = 21, 22
# Values of a parameter without derivative that are compared.
_MOST_VALUES = 10


@dataclass(frozen=True)
class CalibratedParameter:
    """The value of a parameter.

    Attributes
    ----------
    key : str
        Its dotted key.
    value : object
        The best value.
    profile, bootstrap : tuple of two values, optional
        Intervals of 95 %. None if the measured values are too few, and for choices and whole
        numbers.
    plausible : tuple, optional
        Of choices and whole numbers: the values that the measured ones do not exclude, all other
        parameters unchanged.
    identified : bool
        False if the measured values do not determine it.
    curve : tuple of (value, float)
        The profile: root of the mean squared relative error, whichever the loss is, at values of
        the parameter; all others are fitted again, except for choices and whole numbers.
    limit : float
        Value of the curve up to which values of the parameter are not excluded.
    is_linear : bool
        True if `profile` is that of the linear model around the best values, for want of
        evaluations.
    """

    key: str
    value: Any
    profile: tuple[Any, Any] | None
    bootstrap: tuple[Any, Any] | None
    plausible: tuple[Any, ...] | None
    identified: bool
    curve: tuple[tuple[Any, float], ...]
    limit: float
    is_linear: bool


@dataclass(frozen=True)
class PredictedValue:
    """A measured value, and what the scenario predicts.

    Attributes
    ----------
    row, metric : str
        Names.
    held_out : bool
        True if it was not fitted; with folds it never was.
    measured, calibrated, uncalibrated : float
        The values.
    """

    row: str
    metric: str
    held_out: bool
    measured: float
    calibrated: float
    uncalibrated: float

    @property
    def error(self) -> float:
        """Relative error of the calibrated scenario."""
        return self.calibrated / self.measured - 1


@dataclass(frozen=True)
class Calibration:
    """The result of a study.

    Attributes
    ----------
    title, loss : str
        Title of the study, and name of its loss.
    parameters : tuple of CalibratedParameter
        The parameters.
    not_identified : tuple of tuple of str
        Parameters, or combinations that act alike, which the measured values do not determine.
    losses : dict of str to dict
        For ``fitted`` and ``held_out`` rows: the losses ``calibrated``, ``uncalibrated`` and with
        the best ``constant_factor`` for each metric of the uncalibrated scenario.
    systematic : dict of str to float
        Mean signed relative error of each metric in the fitted rows.
    values : tuple of PredictedValue
        Measured and predicted values.
    patterns : tuple of ErrorPattern
        Tests whether errors depend on columns of the table, by p value.
    history : tuple of float
        Loss of each evaluation of the search, in order; infinite where a run failed.
    tried : tuple of tuple
        Values of the parameters at each of these evaluations.
    runs, failed : int
        Numbers of runs.
    seconds : float
        Sum of their real time [s].
    within_budget : bool
        False if an interval is that of the linear model, for want of evaluations.
    """

    title: str
    loss: str
    parameters: tuple[CalibratedParameter, ...]
    not_identified: tuple[tuple[str, ...], ...]
    losses: Mapping[str, Mapping[str, float]]
    systematic: Mapping[str, float]
    values: tuple[PredictedValue, ...]
    patterns: tuple[ErrorPattern, ...]
    history: tuple[float, ...]
    tried: tuple[tuple[Any, ...], ...]
    runs: int
    failed: int
    seconds: float
    within_budget: bool

    def document(self) -> dict[str, Any]:
        """Return the result as plain data for JSON."""
        found = asdict(self)
        found["history"] = [each if math.isfinite(each) else None for each in self.history]
        found["findings"] = self.findings()
        return found

    def findings(self) -> list[str]:
        """Return in sentences what limits the result."""
        found = []
        for names in self.not_identified:
            act = "act alike" if len(names) > 1 else "has little effect"
            found.append(f"{' and '.join(names)}: {act} in these measured values")
        if linear := ", ".join(each.key for each in self.parameters if each.is_linear):
            number = sum(each.profile is not None for each in self.parameters)
            enough = math.ceil((_FIT + _PROFILE * number) / (1 - _SEARCH))
            found.append(
                f"the budget was spent before all intervals were profiled: that of {linear}"
                " supposes that errors are linear in the parameters;"
                f" a search with {enough} evaluations leaves enough for profiles"
            )
        if self.loss != "rms" and any(each.profile for each in self.parameters):
            found.append(f"profiles are of squared relative errors, although loss is {self.loss}")
        rows, losses = [*self.losses.items()][-1]
        if losses["calibrated"] >= losses["constant_factor"]:
            found.append(
                f"in {rows} rows a constant factor on the uncalibrated scenario is as good"
            )
        return [*found, *pattern_texts(self.patterns)]


class Predictions(Protocol):
    """Predictions of the measured values of a study; see `Evaluator`."""

    runs: int
    failed: int
    seconds: float
    failure: str

    def predict(self, points: Sequence[Point | None], rows: Sequence[int]) -> NDArray[np.float64]:
        """Return predicted values, shape (n_points, n_rows, n_metrics); NaN for failed runs."""


class _Calibrator:
    """Calibrates one study."""

    def __init__(self, study: Study, evaluator: Predictions, tell: Callable[[str], None]) -> None:
        self.study, self.evaluator, self.tell = study, evaluator, tell
        self.measured = study.measured
        self.roots = np.sqrt(study.weights / np.mean(study.weights))
        self.evaluations = 0
        self.seconds_before = 0.0
        self.history: list[float] = []
        self.points: list[Point] = []

    def losses(self, rows: Sequence[int], points: Sequence[Point]) -> list[float]:
        """Return the losses at points; infinite where a run failed."""
        found = [self.loss(each, rows) for each in self.evaluator.predict(points, rows)]
        self.evaluations += len(points)
        self.history += found
        self.points += points
        least = min(self.history)
        self.tell(f"{len(self.history)} evaluations, least loss {least:.4g}")
        return found

    def loss(self, predicted: NDArray[np.float64], rows: Sequence[int]) -> float:
        """Return the loss of predicted values; infinite if one is missing."""
        found = self.study.loss(predicted, self.measured[list(rows)])
        return float(found) if np.all(np.isfinite(predicted)) and np.isfinite(found) else math.inf

    def spent(self, share: float = 1.0) -> bool:
        """Return True if a share of the budget is used."""
        section = self.study.section
        seconds = section.seconds or math.inf
        return (
            self.evaluations >= share * section.evaluations
            or self.evaluator.seconds - self.seconds_before >= share * seconds
        )

    def best(self, rows: Sequence[int]) -> Point:
        """Return the best point of a search that fits some rows.

        Raises
        ------
        ScenarioError
            All evaluations failed.
        """
        section = self.study.section
        self.evaluations, self.seconds_before = 0, self.evaluator.seconds
        # A plain sample is the baseline of searches: it has the whole budget.
        share = 1.0 if section.method in DESIGNS else _SEARCH
        found = search(
            section.method,
            len(self.study.parameters),
            partial(self.losses, rows),
            starts=section.starts,
            seed=section.seed,
            evaluations=max(4, int(share * section.evaluations)),
            spent=lambda: self.spent(share),
        )
        point = min(found, key=lambda each: found[each])
        if not math.isfinite(found[point]):
            message = f"all evaluations failed; the first: {self.evaluator.failure}"
            remedy = "run the scenario alone, or change the ranges"
            raise ScenarioError(message, file=self.study.campaign.place, remedy=remedy)
        return point

    def residuals(self, rows: Sequence[int], points: Sequence[Point]) -> NDArray[np.float64]:
        """Return the weighted relative errors at points, shape (n_points, n_values)."""
        predicted = self.evaluator.predict(points, rows)
        self.evaluations += len(points)
        errors = self.roots * relative_errors(predicted, self.measured[list(rows)])
        return errors.reshape(len(points), -1)

    def surrogate_loss(self, rows: Sequence[int]) -> Callable[[Vector, NDArray[np.intp]], float]:
        """Return the loss of residuals of drawn rows."""
        roots = self.roots
        measured = self.measured[list(rows)]

        def loss(residuals: Vector, drawn: NDArray[np.intp]) -> float:
            """Return the loss of the predictions with these residuals."""
            of = measured[drawn]
            return float(self.study.loss(of * (1 + residuals.reshape(of.shape) / roots), of))

        return loss

    def parameters(
        self, rows: Sequence[int], best: Point, model: LocalModel | None
    ) -> list[CalibratedParameter]:
        """Return the parameters with their intervals."""
        residuals = partial(self.residuals, rows)
        tables = self.study.parameters
        drawn = None
        if model is not None:
            plain = self.study.section.loss == "rms"
            loss = None if plain else self.surrogate_loss(rows)
            drawn = bootstrap(model, len(rows), self.study.section.seed, loss)
        names = tuple(tables)
        unknown = {} if model is None else dict.fromkeys(sum(unidentified(model, names), ()))
        found = []
        for at, (key, table) in enumerate(tables.items()):
            profile = sample = plausible = None
            interval = ProfileInterval((), 0.0)
            if not table.is_continuous:
                interval = self.compared(rows, best, at, table)
                kept = (share for share, each in interval.points if each <= interval.limit)
                plausible = tuple(dict.fromkeys(map(table.value, kept)))
            elif model is not None and model.degrees > 0:
                interval = profile_interval(residuals, model, at, self.spent)
                profile = (table.value(interval.low), table.value(interval.high))
                if drawn is not None:
                    sample = (table.value(drawn[0][at]), table.value(drawn[1][at]))
            is_open = plausible is not None and len(plausible) > 1
            identified = not is_open and key not in unknown
            start = (key, table.value(best[at]), profile, sample, plausible, identified)
            curve = tuple({table.value(share): each for share, each in interval.points}.items())
            found.append(CalibratedParameter(*start, curve, interval.limit, interval.is_linear))
        return found

    def compared(
        self, rows: Sequence[int], best: Point, at: int, table: ParameterTable
    ) -> ProfileInterval:
        """Return the errors at values of a parameter without derivative."""
        parts = 4 * _MOST_VALUES
        shares = {table.number(each / parts): each / parts for each in range(parts + 1)}
        kept = list(shares.values())[:: max(1, math.ceil(len(shares) / _MOST_VALUES))]
        points = [(*best[:at], share, *best[at + 1 :]) for share in [best[at], *kept]]
        errors = np.sqrt(np.mean(self.residuals(rows, points) ** 2, axis=1))
        n_values = len(rows) * len(self.study.metrics)
        degrees = max(1, n_values - len(self.study.parameters))
        most = float(max(errors[0], 1e-9) * math.sqrt(1 + 4 / degrees))
        tried = zip([each[at] for each in points], map(float, errors), strict=True)
        return ProfileInterval(sorted(each for each in tried if math.isfinite(each[1])), most)

    def factors(self, predicted: NDArray[np.float64], rows: Sequence[int]) -> NDArray[np.float64]:
        """Return the factor for each metric with the least loss."""
        start = np.median(np.log(self.measured[list(rows)] / predicted), axis=0)
        logs = local_minimum(
            lambda logs: self.loss(predicted * np.exp(logs), rows), np.asarray(start)
        )
        return np.asarray(np.exp(logs))


def calibrate(
    study: Study,
    runners: Runners,
    *,
    store: Path | None = None,
    stop: Callable[[], bool] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Calibration:
    """Calibrate a study; the same call continues a calibration that was killed.

    Parameters
    ----------
    study : Study
        The study.
    runners : Runners
        Runners of its runs, local or of a cluster.
    store : Path, optional
        The store, if it is not that of the study.
    stop : callable, optional
        True to stop.
    tell : callable
        Called with a line on the progress.

    Raises
    ------
    InterruptedStudyError
        `stop` returned True.
    ScenarioError
        All evaluations failed, the scenario as it is fails, or a metric does not exist.
    """
    evaluator = Evaluator(study, study.campaign.results(store), runners, stop)
    found = calibrate_predictions(study, evaluator, tell)
    evaluator.conclude()
    return found


def calibrate_predictions(
    study: Study, evaluator: Predictions, tell: Callable[[str], None] = lambda _: None
) -> Calibration:
    """Calibrate a study with predictions from anywhere, such as a closed form."""
    work = _Calibrator(study, evaluator, tell)
    every = range(len(study.rows))
    plain = evaluator.predict([None], every)[0]
    if not np.all(np.isfinite(plain)):
        message = f"the uncalibrated scenario fails: {evaluator.failure}"
        raise ScenarioError(message, file=study.campaign.place, remedy="correct it first")
    calibrated, scaled = plain.copy(), plain.copy()
    held_out: list[int] = []
    if study.has_folds:
        for fold in study.held_out:
            others = [row for row in every if row not in fold]
            point = work.best(others)
            calibrated[list(fold)] = evaluator.predict([point], fold)[0]
            scaled[list(fold)] *= work.factors(plain[others], others)
            held_out += fold
    else:
        held_out = list(study.held_out[0])
    rows = [row for row in every if study.has_folds or row not in held_out]
    work.history, work.points = [], []
    best = work.best(rows)
    free = [at for at, each in enumerate(study.parameters.values()) if each.is_continuous]
    model = None
    if free:
        model = fitted(partial(work.residuals, rows), best, free, work.spent)
        refined: Point = tuple(map(float, model.point))
        both = [work.loss(each, rows) for each in evaluator.predict([best, refined], rows)]
        best = refined if both[1] < both[0] else best
    parameters = work.parameters(rows, best, model)
    predicted = evaluator.predict([best], every)[0]
    factors = work.factors(plain[rows], rows)
    groups = {"fitted": (rows, predicted, plain * factors)}
    if held_out:
        outside = (calibrated, scaled) if study.has_folds else (predicted, plain * factors)
        groups["held_out"] = (held_out, *outside)
    losses = {
        name: {
            "calibrated": work.loss(found[which], which),
            "uncalibrated": work.loss(plain[which], which),
            "constant_factor": work.loss(factor[which], which),
        }
        for name, (which, found, factor) in groups.items()
    }
    shown = calibrated if study.has_folds else predicted
    measured_columns = [*study.section.metrics.values()]
    errors_shown = relative_errors(shown, work.measured)
    errors = relative_errors(predicted[rows], work.measured[rows])
    names = tuple(study.parameters)
    return Calibration(
        title=study.campaign.title,
        loss=study.section.loss,
        parameters=tuple(parameters),
        not_identified=tuple(unidentified(model, names) if model is not None else ()),
        losses=losses,
        systematic=dict(zip(study.metrics, map(float, np.mean(errors, axis=0)), strict=True)),
        values=tuple(
            PredictedValue(
                row.name,
                metric,
                at in held_out,
                row.metrics[number],
                float(shown[at, number]),
                float(plain[at, number]),
            )
            for at, row in enumerate(study.rows)
            for number, metric in enumerate(study.metrics)
        ),
        patterns=error_patterns(
            [row.cells for row in study.rows], study.metrics, errors_shown, measured_columns
        ),
        history=tuple(work.history),
        tried=tuple(tuple(study.values(each).values()) for each in work.points),
        runs=evaluator.runs,
        failed=evaluator.failed,
        seconds=evaluator.seconds,
        within_budget=not any(each.is_linear for each in parameters),
    )


def calibrated_scenario(study: Study, found: Calibration) -> str:
    """Return the scenario file of a study with the best values, as TOML."""
    settings = [study.assignment("parameters", each.key, each.value) for each in found.parameters]
    document = study.campaign.variations.scenario(settings)
    comment = f"Calibrated by {study.campaign.place.name}; loss {found.loss}: {loss_text(found)}"
    return scenario_text(document, comment)


def loss_text(found: Calibration) -> str:
    """Return the losses of the calibrated scenario in words."""
    each = {name: losses["calibrated"] for name, losses in found.losses.items()}
    return ", ".join(
        f"{value:.4g} in {name.replace('_', '-')} rows" for name, value in each.items()
    )
