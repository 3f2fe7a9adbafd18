"""Calibration of a study: search, intervals, held-out errors and baselines."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from simplugin.calibration.error_patterns import ErrorPattern, error_patterns, pattern_texts
from simplugin.calibration.evaluation import Evaluator, Point
from simplugin.calibration.intervals import (
    EFFECTS,
    LocalModel,
    Vector,
    bootstrap,
    fitted,
    profile_interval,
    unidentified,
)
from simplugin.calibration.measurements import relative_errors
from simplugin.calibration.scenario_text import scenario_text
from simplugin.calibration.search import DESIGNS, local_minimum, search
from simplugin.calibration.study import TABLE, Study
from simplugin.campaigns.jobs import Runners
from simplugin.core.errors import ScenarioError
from simplugin.inputs.messages import InputProblem
from simplugin.scenarios.scenario import scenario_error

# Share of the budget for the search; the rest is for intervals.
_SEARCH = 0.6
# Evaluations of a fit and a profile at most: of all parameters once, and of each parameter.
_FIT, _PROFILE = 21, 22
# Values of a parameter without derivative that are compared.
_MOST_VALUES = 10
# Relative error that is none.
_NO_ERROR = 1e-6


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
        numbers; the bootstrap also if the parameter is not identified.
    plausible : tuple, optional
        Of choices and whole numbers: the values that the measured ones do not exclude, all other
        parameters fitted again.
    ends : tuple of two values, optional
        The ends of its range; None for choices.
    identified : bool
        False if the measured values do not determine it.
    curve : tuple of (value, float)
        The profile: root of the mean squared relative error, whichever the loss is, at values of
        the parameter; all others are fitted again.
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
    ends: tuple[Any, Any] | None
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
    reasons : tuple of str
        The reason of each.
    stopped : tuple of str
        Of ``fitted`` and ``held_out``, those of which a search ended before it converged.
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
    failure : str
        The first failure.
    seconds : float
        Sum of their real time [s].
    within_budget : bool
        False if an interval is that of the linear model, for want of evaluations.
    """

    title: str
    loss: str
    parameters: tuple[CalibratedParameter, ...]
    not_identified: tuple[tuple[str, ...], ...]
    reasons: tuple[str, ...]
    stopped: tuple[str, ...]
    losses: Mapping[str, Mapping[str, float]]
    systematic: Mapping[str, float]
    values: tuple[PredictedValue, ...]
    patterns: tuple[ErrorPattern, ...]
    history: tuple[float, ...]
    tried: tuple[tuple[Any, ...], ...]
    runs: int
    failed: int
    failure: str
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
        groups = zip(self.not_identified, self.reasons, strict=True)
        found = [f"{' and '.join(names)}: {reason}" for names, reason in groups]
        found += [
            f"in {rows} rows the search stopped before it converged;"
            f" {len(self.history)} evaluations were not enough"
            for rows in self.stopped
        ]
        found += [
            f"the best value of {each.key} is at the end of its range:"
            " widen it, if values beyond are possible"
            for each in self.parameters
            if each.identified and each.value in (each.ends or ())
        ]
        number = sum(each.plausible is None for each in self.parameters)
        if number and not any(each.profile for each in self.parameters):
            found.append("no intervals: too few measured values, or a negative loss")
        if linear := ", ".join(each.key for each in self.parameters if each.is_linear):
            fits = 1 + sum(len(each.curve) for each in self.parameters if each.plausible)
            profiles = 1 + sum(len(each.plausible or "1") - 1 for each in self.parameters)
            enough = math.ceil((_FIT * fits + _PROFILE * number * profiles) / (1 - _SEARCH))
            found.append(
                f"the budget was spent before all intervals were profiled: that of {linear}"
                " supposes that errors are linear in the parameters;"
                f" a search with {enough} evaluations leaves enough for profiles"
            )
        if self.loss != "rms" and any(each.profile for each in self.parameters):
            found.append(f"profiles are of squared relative errors, although loss is {self.loss}")
        if self.failed:
            first = self.failure.partition("\n")[0]
            found.append(f"{self.failed} of {self.runs} runs failed; the first: {first}")
        rows, losses = [*self.losses.items()][-1]
        least = losses["calibrated"]
        if least >= losses["uncalibrated"] - _NO_ERROR * abs(least):
            found.append(f"in {rows} rows the uncalibrated scenario is as good")
        elif least >= losses["constant_factor"]:
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
        self.evaluated = set[str]()
        self.seconds_before = 0.0
        self.is_search_stopped = False
        self.free = [at for at, each in enumerate(study.parameters.values()) if each.is_continuous]
        self.history: list[float] = []
        self.points: list[Point] = []

    def losses(self, rows: Sequence[int], points: Sequence[Point]) -> list[float]:
        """Return the losses at points; infinite where a run failed."""
        found = [self.loss(each, rows) for each in self.predict(points, rows)]
        self.history += found
        self.points += points
        # An invalid scenario, not a run that fails.
        name = self.study.campaign.place.name
        if min(self.history) == math.inf and name in self.evaluator.failure:
            raise self.all_failed()
        least = min(self.history)
        self.tell(f"{len(self.history)} evaluations, least loss {least:.4g}")
        return found

    def loss(self, predicted: NDArray[np.float64], rows: Sequence[int]) -> float:
        """Return the loss of predicted values; infinite if one is missing."""
        if not np.all(np.isfinite(predicted)):
            return math.inf
        return self.statistic(predicted, self.measured[list(rows)])

    def statistic(self, predicted: NDArray[np.float64], measured: NDArray[np.float64]) -> float:
        """Return the loss of the study; raise ScenarioError if the user's returns no number."""
        try:
            found = float(self.study.loss(predicted, measured))
            reason = "returned NaN" if math.isnan(found) else ""
        except Exception as error:  # the user's function may raise any
            reason = f"raised {type(error).__name__}: {error}"
        if not reason:
            return found
        message = f"{{key}}: {self.study.section.loss} {reason}"
        remedy = "return one number for arrays of shape (n_rows, n_metrics)"
        campaign = self.study.campaign
        problem = InputProblem((TABLE, "loss"), message, remedy)
        raise scenario_error([problem], campaign.place, campaign.text)

    def predict(self, points: Sequence[Point], rows: Sequence[int]) -> NDArray[np.float64]:
        """Return predictions, and count the evaluations that are new."""
        self.evaluated |= {str(self.study.values(each)) for each in points}
        return self.evaluator.predict(points, rows)

    def spent(self, share: float = 1.0) -> bool:
        """Return True if a share of the budget is used."""
        section = self.study.section
        seconds = section.seconds or math.inf
        return (
            len(self.evaluated) >= share * section.evaluations
            or self.evaluator.seconds - self.seconds_before >= share * seconds
        )

    def all_failed(self) -> ScenarioError:
        """Return the error of a study without a successful evaluation."""
        message = f"all evaluations failed; the first: {self.evaluator.failure}"
        remedy = "run the scenario alone, or change the ranges"
        return ScenarioError(message, file=self.study.campaign.place, remedy=remedy)

    def best(self, rows: Sequence[int]) -> tuple[Point, LocalModel]:
        """Return the best point of a search that fits some rows, and the model near it.

        Raises
        ------
        ScenarioError
            All evaluations failed.
        """
        section = self.study.section
        self.history, self.points, self.evaluated = [], [], set()
        self.seconds_before, self.is_search_stopped = self.evaluator.seconds, False
        own = self.study.own_point
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
            first=[] if own is None else [own],
            stopped=partial(setattr, self, "is_search_stopped", section.method != "tpe"),
        )
        point = min(found, key=lambda each: found[each])
        if found[point] == math.inf:
            raise self.all_failed()
        model = fitted(partial(self.residuals, rows), point, self.free, self.spent)
        if self.study.section.loss == "rms":
            # The steps of Gauss and Newton end what the search began.
            self.is_search_stopped = model.is_stopped
        return self.better(rows, point, [model])[0], model

    def better(
        self, rows: Sequence[int], point: Point, models: Sequence[LocalModel]
    ) -> tuple[Point, LocalModel | None]:
        """Return the point with the least loss, and its model if it is that of one."""
        points = [point, *(tuple(map(float, each.point)) for each in models)]
        found = [self.loss(each, rows) for each in self.predict(points, rows)]
        at = int(np.argmin(found))
        return points[at], models[at - 1] if at else None

    def residuals(self, rows: Sequence[int], points: Sequence[Point]) -> NDArray[np.float64]:
        """Return the weighted relative errors at points, shape (n_points, n_values)."""
        predicted = self.predict(points, rows)
        errors = self.roots * relative_errors(predicted, self.measured[list(rows)])
        return errors.reshape(len(points), -1)

    def surrogate_loss(self, rows: Sequence[int]) -> Callable[[Vector, NDArray[np.intp]], float]:
        """Return the loss of residuals of drawn rows."""
        roots = self.roots
        measured = self.measured[list(rows)]

        def loss(residuals: Vector, drawn: NDArray[np.intp]) -> float:
            """Return the loss of the predictions with these residuals."""
            of = measured[drawn]
            with suppress(ScenarioError):
                return self.statistic(of * (1 + residuals.reshape(of.shape) / roots), of)
            return math.inf

        return loss

    def elsewhere(self, rows: Sequence[int], near: LocalModel) -> list[LocalModel]:
        """Return the fits of continuous parameters at other values of choices and whole numbers.

        Each starts at the best point that the search found with this value, or at the values of
        the model `near`. Where the budget has ended, they are those of linear models.
        """
        residuals = partial(self.residuals, rows)
        known = sorted(zip(self.history, self.points, strict=True))
        found = []
        for at, table in enumerate(self.study.parameters.values()):
            if table.is_continuous:
                continue
            parts = 4 * _MOST_VALUES
            shares = {table.number(each / parts): each / parts for each in range(parts + 1)}
            numbers = [*shares][:: max(1, math.ceil(len(shares) / _MOST_VALUES))]
            own = table.number(float(near.point[at]))
            for number in (each for each in numbers if each != own):
                moved = near.point.copy()
                moved[at] = shares[number]
                starts = [tuple(map(float, moved))]
                starts += [each for _, each in known if table.number(each[at]) == number][:1]
                sums = np.nan_to_num(np.sum(residuals(starts) ** 2, axis=1), nan=np.inf)
                if np.min(sums) < np.inf:
                    model = fitted(residuals, starts[int(np.argmin(sums))], self.free, self.spent)
                    found.append(model.extrapolated() if model.is_stopped else model)
        return found

    def parameters(
        self, rows: Sequence[int], best: Point, model: LocalModel, models: Sequence[LocalModel]
    ) -> tuple[list[CalibratedParameter], dict[tuple[str, ...], str]]:
        """Return the parameters with their intervals, and those that are not determined."""
        residuals, tables = partial(self.residuals, rows), self.study.parameters
        most = min(each.most for each in models if each is models[0] or not each.is_stopped)
        most = max(most, len(model.residuals) * _NO_ERROR**2)
        possible = [model, *(e for e in models if e is not model and e.sum <= most)]
        # Of choices and whole numbers they are points.
        intervals = {
            key: [profile_interval(residuals, each, at, self.spent, most) for each in possible]
            for at, (key, table) in enumerate(tables.items())
            if model.degrees > 0 or not table.is_continuous
        }
        groups = unidentified(model, tuple(tables))
        for other in possible[1:]:
            changed = []
            for at, (key, table) in enumerate(tables.items()):
                for own in intervals.get(key, [])[:1]:
                    low, number, high = map(table.number, (own.low, other.point[at], own.high))
                    changed += [] if low <= number <= high else [key]
            if len(changed) > 1:
                groups.setdefault(tuple(changed), EFFECTS[1])
        loss = None if self.study.section.loss == "rms" else self.surrogate_loss(rows)
        is_signed = min(self.history) < 0
        drawn = bootstrap(model, 0 if is_signed else len(rows), self.study.section.seed, loss)
        found = []
        for at, (key, table) in enumerate(tables.items()):
            profile = sample = plausible = None
            each = intervals.get(key, [])
            points = sorted(point for one in each for point in one.points)
            if not table.is_continuous:
                # Of equal values the least is the last.
                sums = sorted((table.number(e.point[at]), -e.sum, e.point[at]) for e in models)
                points = [(share, model.error(-negative)) for _, negative, share in sums]
            elif each and not is_signed:
                profile = (
                    table.value(min(one.low for one in each)),
                    table.value(max(one.high for one in each)),
                )
            curve = {table.value(share): error for share, error in points}
            if not table.is_continuous:
                plausible = tuple(v for v, error in curve.items() if error <= model.error(most))
            identified = key not in sum(groups, ()) and len(plausible or "1") == 1
            if profile is not None and drawn is not None and identified:
                low, high = map(table.value, drawn[:, at])
                # Beyond the range there is none.
                sample = (low, high) if low != high else None
            ends = None if table.choices is not None else (table.value(0.0), table.value(1.0))
            start = (key, table.value(best[at]), profile, sample, plausible, ends, identified)
            is_linear = profile is not None and any(one.is_linear for one in each)
            limit = model.error(most)
            found.append(CalibratedParameter(*start, tuple(curve.items()), limit, is_linear))
        return found, groups

    def factors(self, predicted: NDArray[np.float64], rows: Sequence[int]) -> NDArray[np.float64]:
        """Return the factor for each metric with the least loss."""
        start = np.median(np.log(self.measured[list(rows)] / predicted), axis=0)

        def factor(logs: Vector) -> Vector:
            """Return a factor; a loss of the user's may fall without end."""
            return np.exp(np.clip(logs, -50, 50))

        logs = local_minimum(lambda logs: self.loss(predicted * factor(logs), rows), start)
        return factor(logs)


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
    stopped: dict[str, int] = {}
    if study.has_folds:
        for fold in study.held_out:
            others = [row for row in every if row not in fold]
            point, _ = work.best(others)
            stopped |= {"held_out": 1} if work.is_search_stopped else {}
            calibrated[list(fold)] = evaluator.predict([point], fold)[0]
            scaled[list(fold)] *= work.factors(plain[others], others)
            held_out += fold
    else:
        held_out = list(study.held_out[0])
    rows = [row for row in every if study.has_folds or row not in held_out]
    best, model = work.best(rows)
    stopped |= {"fitted": 1} if work.is_search_stopped else {}
    fits = work.elsewhere(rows, model)
    best, nearer = work.better(rows, best, [each for each in fits if not each.is_stopped])
    parameters, groups = work.parameters(rows, best, nearer or model, [model, *fits])
    predicted = evaluator.predict([best], every)[0]
    factors = work.factors(plain[rows], rows)
    losses_of = {"fitted": (rows, predicted, plain * factors)}
    if held_out:
        outside = (calibrated, scaled) if study.has_folds else (predicted, plain * factors)
        losses_of["held_out"] = (held_out, *outside)
    losses = {
        name: {
            "calibrated": work.loss(found[which], which),
            "uncalibrated": work.loss(plain[which], which),
            "constant_factor": work.loss(factor[which], which),
        }
        for name, (which, found, factor) in losses_of.items()
    }
    shown = calibrated if study.has_folds else predicted
    measured_columns = [*study.section.metrics.values()]
    errors_shown = relative_errors(shown, work.measured)
    errors = relative_errors(predicted[rows], work.measured[rows])
    return Calibration(
        title=study.campaign.title,
        loss=study.section.loss,
        parameters=tuple(parameters),
        not_identified=tuple(groups),
        reasons=tuple(groups.values()),
        stopped=tuple(stopped),
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
        failure=evaluator.failure,
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
