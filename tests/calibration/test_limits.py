"""Findings of calibrations with too few values, narrow ranges or a small budget."""

import numpy as np
import pytest

from simplugin.calibration.calibrating import calibrate_predictions
from simplugin.calibration.intervals import bootstrap, fitted
from simplugin.calibration.measurements import read_measurements
from simplugin.calibration.presentation import result_tables
from simplugin.calibration.search import search
from simplugin.calibration.study import load_study
from simplugin.core.errors import ScenarioError

STUDY = """[platform]
generator = "flat_cluster"
parameters = {{ n_hosts = 1 }}
[workload]
kind = "actors"
actors = [{{ name = "f", function = "mine:f", host = "cluster-0", args = {{ a = 0.3, n = 1 }} }}]
[calibrate]
table = "measured.csv"
inputs = {{ workload.actors.f.args.x = "x" }}
metrics = {{ makespan = "y" }}
{options}
[calibrate.parameters]
"""
A = {"a": "{ low = 0.1, high = 10 }"}
N = {"n": "{ low = 1, high = 4, whole = true }"}
# Errors of 3 % at most.
NOISE = 1 + np.array([0.03, -0.02, 0.01, 0.02, -0.03, -0.01])


class Formula:
    """Predictions by a function of x and the parameters."""

    runs = failed = 0
    seconds = 0.0
    failure = ""

    def __init__(self, study, function):
        self.study, self.function = study, function

    def predict(self, points, rows):
        """Return values, shape (n_points, n_rows, 1)."""
        found = []
        for point in points:
            given = self.study.values(point) if point is not None else {}
            values = {"a": 0.3, "n": 1} | {key[-1]: value for key, value in given.items()}
            found.append([[self.function(row + 1, **values)] for row in rows])
        return np.array(found)


def found_for(tmp_path, function, measured, parameters, options=""):
    """Return the calibration of a function of x = 1, 2, ... to measured values."""
    lines = [f"{at},{value!r}" for at, value in enumerate(map(float, measured), 1)]
    (tmp_path / "measured.csv").write_text("\n".join(["x,y", *lines]))
    (tmp_path / "mine.py").write_text(
        "import math\nasync def f(me, **given): pass\n"
        "def text(predicted, measured): return 'a'\n"
        "def nan(predicted, measured): return math.nan\n"
        "def boom(predicted, measured): raise KeyError('no')\n"
        "def unbounded(predicted, measured): return -float(predicted.sum())\n"
    )
    file = tmp_path / "study.toml"
    tables = [f"workload.actors.f.args.{key} = {each}" for key, each in parameters.items()]
    file.write_text(STUDY.format(options=options) + "\n".join(tables))
    study = load_study(file)
    return calibrate_predictions(study, Formula(study, function))


def line(x, a, n=1):
    """Return a straight line."""
    return a * n * x + 1


@pytest.mark.parametrize("evaluations", [60, 320])
@pytest.mark.parametrize("choices", [False, True])
def test_whole_numbers_that_act_alike(tmp_path, evaluations, choices):
    """Values of a factor fit equally well: all are listed, the interval holds all quotients."""
    table = {"n": "{ choices = [4, 1, 3, 2] }"} if choices else N
    measured = line(np.arange(1, 7), 2.554) * NOISE
    found = found_for(tmp_path, line, measured, A | table, f"evaluations = {evaluations}")
    slope, number = found.parameters
    assert sorted(number.plausible) == [1, 2, 3, 4]
    assert (slope.identified, number.identified) == (False, False)
    assert [set(each) for each in found.not_identified] == [{slope.key, number.key}]
    # Least squares of relative errors, by hand.
    x, one = np.arange(1, 7) / measured, 1 / measured
    best = x @ (1 - one) / (x @ x)
    low, high = slope.profile
    assert best / 4 * 0.9 < low < best / 4 < best < high < best * 1.1
    assert slope.bootstrap is None
    assert found.losses["fitted"]["calibrated"] == pytest.approx(
        np.sqrt(np.mean((best * x + one - 1) ** 2)), rel=1e-3
    )


def test_whole_numbers_that_do_not_act_alike(tmp_path):
    """A factor that measured values determine has one value, with others fitted again."""
    measured = 4 * np.arange(1, 7) ** 2 * NOISE
    found = found_for(tmp_path, lambda x, a, n: a * x**n, measured, A | N)
    assert found.parameters[1].plausible == (2,)
    assert found.parameters[0].profile[0] < 4 < found.parameters[0].profile[1]


def test_best_values_at_an_end_of_the_range(tmp_path):
    """A truth outside the range is told; no bootstrap has zero width, and intervals are marked."""
    found = found_for(tmp_path, line, line(np.arange(1, 7), 12.5) * NOISE, A)
    [slope] = found.parameters
    assert (slope.value, slope.profile[1], slope.bootstrap) == (10, 10, None)
    assert any("end of its range" in each for each in found.findings())
    assert "end of range" in result_tables(found)[0].lines[0][2]
    inside = found_for(tmp_path, line, line(np.arange(1, 7), 5) * NOISE, A)
    assert not any("end of its range" in each for each in inside.findings())


@pytest.mark.parametrize(
    ("n_rows", "evaluations", "reason"), [(3, 4, "converged"), (2, 200, "too few rows")]
)
def test_reasons_of_what_is_not_determined(tmp_path, n_rows, evaluations, reason):
    """The only parameter, which dominates, is not said to have little effect."""
    measured = (5.6 * np.arange(1, 7) + 1) * (1 + 3 * (NOISE - 1))
    options = f"evaluations = {evaluations}"
    found = found_for(tmp_path, line, measured[:n_rows], A, options)
    assert "little effect" not in " ".join(found.findings())
    assert any(reason in each for each in found.findings())


@pytest.mark.parametrize("start", [0.05, 0.3, 0.9])
def test_bootstraps_do_not_depend_on_the_point(start):
    """With a linear model they are those around the least squares, wherever the search stopped."""
    slopes = np.array([1.0, 2.0, 0.5, 1.5, 3.0, 1.0])

    def residuals(points):
        """Return those of a line; the least squares are near 0.5."""
        return np.array([slopes * (x - 0.5) + NOISE - 1 for (x,) in points])

    [low], [high] = bootstrap(fitted(residuals, (start,), [0], lambda: True), 6, 1, None)
    converged = fitted(residuals, (start,), [0], lambda: False)
    [[below], [above]] = bootstrap(converged, 6, 1, None)
    assert (low, high) == pytest.approx((below, above), rel=1e-6)
    best = 0.5 - slopes @ (NOISE - 1) / (slopes @ slopes)
    assert converged.point[0] == pytest.approx(best, rel=1e-6)
    assert low < best < high


def test_parameters_without_effect_have_no_bootstrap(tmp_path):
    """Their interval is the whole range; that of the others is unchanged."""
    found = found_for(
        tmp_path,
        lambda x, a, **_: line(x, a),
        line(np.arange(1, 7), 2.5) * NOISE,
        A | {"b": "{ low = 1, high = 2 }"},
    )
    slope, other = found.parameters
    assert (other.identified, other.profile, other.bootstrap) == (False, (1, 2), None)
    assert slope.bootstrap[0] < 2.5 < slope.bootstrap[1]
    assert [*found.not_identified] == [(other.key,)]


def test_the_scenario_is_the_first_candidate(tmp_path):
    """The result is never worse than the scenario as it is, and a search that stops says so."""
    measured = line(np.arange(1, 7), 0.3) * NOISE
    options = 'loss = "largest"\nevaluations = 4'
    found = found_for(tmp_path, line, measured, A, options)
    losses = found.losses["fitted"]
    assert losses["calibrated"] <= losses["uncalibrated"] * (1 + 1e-6)
    assert found.stopped == ("fitted",)
    folds = found_for(tmp_path, line, measured * 5, A, options + "\nheld_out = { folds = 2 }")
    assert folds.stopped == ("held_out", "fitted")


@pytest.mark.parametrize("loss", ["text", "nan", "boom"])
def test_errors_of_own_losses(tmp_path, loss):
    """The function is named, with the file and line of the study."""
    with pytest.raises(ScenarioError, match=f"mine:{loss}") as caught:
        found_for(tmp_path, line, NOISE * 5, A, f'loss = "mine:{loss}"')
    assert (caught.value.file.name, caught.value.line) == ("study.toml", 11)


def test_unbounded_losses_end(tmp_path):
    """A loss that falls without end has a result, without overflow."""
    with np.errstate(all="raise"):
        found = found_for(tmp_path, line, NOISE * 5, A, 'loss = "mine:unbounded"')
    assert found.parameters[0].value == 10
    assert found.parameters[0].bootstrap is None


@pytest.mark.parametrize("evaluations", [4, 18])
def test_small_populations(evaluations):
    """Differential evolution starts with few points of one parameter."""
    found = search(
        "differential-evolution",
        1,
        lambda points: [(x - 0.3) ** 2 for (x,) in points],
        starts=1,
        seed=0,
        evaluations=evaluations,
        spent=lambda: False,
    )
    assert len(found) == evaluations


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ("held_out = { folds = 1 }", "held_out"),
        ('repeat = { "simulation.seed" = [] }', "repeat"),
    ],
)
def test_odd_options(tmp_path, options, key):
    """They are refused with their key and line."""
    with pytest.raises(ScenarioError, match=key) as caught:
        found_for(tmp_path, line, NOISE, A, options)
    assert caught.value.line == 11


def test_repeated_keys_may_be_dotted(tmp_path):
    """As in a sweep."""
    options = "repeat = { simulation.seed = [1, 2, 3] }\nevaluations = 4"
    found_for(tmp_path, line, NOISE * 5, A, options)
    study = load_study(tmp_path / "study.toml")
    assert study.section.repeats == {"simulation.seed": [1, 2, 3]}
    assert study.assignment("repeat", "simulation.seed", 2).path == ("simulation", "seed")


def test_invalid_scenarios_end_at_once(tmp_path):
    """No evaluation follows if the first ones fail with an error of the study's file."""
    found_for(tmp_path, line, NOISE * 5, A)
    study, asked = load_study(tmp_path / "study.toml"), []
    predictions = Formula(study, line)
    predictions.failure = "study.toml:13: a is '5s'"
    usual = predictions.predict

    def predict(points, rows):
        """Fail, except for the scenario as it is."""
        asked.extend(points)
        return usual(points, rows) * (1 if points == [None] else np.nan)

    predictions.predict = predict
    with pytest.raises(ScenarioError, match=r"study\.toml:13"):
        calibrate_predictions(study, predictions)
    assert len(asked) < 10


def test_truths_are_no_measured_values(tmp_path):
    """JSON's true is not 1."""
    file = tmp_path / "measured.json"
    file.write_text('[{"x": 1, "y": true}]')
    with pytest.raises(ScenarioError) as caught:
        read_measurements(file, None, ["x"], ["y"])
    assert caught.value.file == file
