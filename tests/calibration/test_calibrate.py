"""Calibrations of scenarios whose true parameters are known."""

import json
import re
import sys
import tomllib
from collections import Counter
from contextlib import closing

import numpy as np
import pytest
from calibration import CASES, TRUE, closed_form, duration, write_study
from scipy import optimize, stats

from simplugin.calibration.calibrating import calibrate, calibrate_predictions
from simplugin.calibration.evaluation import InterruptedStudyError
from simplugin.calibration.measurements import shipped_loss
from simplugin.calibration.search import search
from simplugin.calibration.study import load_study
from simplugin.campaigns.running.campaign_runs import LocalRunners
from simplugin.campaigns.store import StoreReader
from simplugin.core.errors import ScenarioError
from simplugin.scenarios import load_scenario, run_scenario

KEYS = [f"platform.parameters.{name}" for name in TRUE]


class _CountingRunners(LocalRunners):
    """Runners that count."""

    done = 0

    def finished(self, timeout):
        """Return records."""
        records = super().finished(timeout)
        self.done += len(records)
        return records


def test_killed_calibrations_go_on(tmp_path, simplugin):
    """Stopped again and again, a calibration ends as one that was never stopped."""
    options = 'held_out = ["r6"]\nevaluations = 20'
    true = {"speed": 2.3e9, "latency": 1e-4, "bandwidth": 1e8}
    file = write_study(tmp_path, options=options, true=true, step=3)
    lines = file.read_text().splitlines(keepends=True)
    fixed = re.compile(r"platform\.parameters\.[lb]")
    file.write_text("".join(each for each in lines if not fixed.match(each)))
    study, store = load_study(file), tmp_path / "stopped.sqlite"
    for _ in range(2):
        with closing(_CountingRunners(1)) as runners, pytest.raises(InterruptedStudyError):
            calibrate(study, runners, store=store, stop=lambda: runners.done >= 22)
    done = simplugin("calibrate", file, "--json", "-j", "1", "--store", store)
    with StoreReader(store) as reader:
        [campaign] = reader.campaigns()
        assert campaign.done >= 60
        assert (campaign.missing, campaign.total) == (0, campaign.done)
        keys = Counter(run.record.job.key for run in reader.runs())
        assert all(run.attempt == 1 for run in reader.runs())
    assert set(keys.values()) == {1}
    whole = json.loads(done.stdout)
    assert whole.pop("scenario") == str(tmp_path / "study.calibrated.toml")
    # Without a stop, and without anything that could run, it asks for the same runs.
    never_stopped = calibrate(study, None, store=store)
    assert json.loads(json.dumps(never_stopped.document())) == whole
    held_out = [each["row"] for each in whole["values"] if each["held_out"]]
    assert held_out == ["r6"]
    losses = whole["losses"]["held_out"]
    assert losses["calibrated"] < min(losses["constant_factor"], losses["uncalibrated"])
    scenario = load_scenario(tmp_path / "study.calibrated.toml")
    values = {each["key"].rpartition(".")[2]: each["value"] for each in whole["parameters"]}
    assert scenario.platform.parameters == {**true, **values}
    makespan = run_scenario(scenario).row["makespan"]
    assert makespan == pytest.approx(duration(1e9, 1e6, **true), rel=0.03)


def test_true_values_are_in_intervals(tmp_path):
    """Intervals of 95 % hold the true values in most of 40 problems, and are not too wide."""
    random = np.random.default_rng(1)
    inside, drawn = [], []
    for seed in range(40):
        true = {name: value * 10 ** random.uniform(-0.5, 0.5) for name, value in TRUE.items()}
        found = calibrate_predictions(*closed_form(write_study(tmp_path, seed, true=true)))
        assert not found.not_identified
        for each, value in zip(found.parameters, true.values(), strict=True):
            low, high = each.profile
            assert low <= each.value <= high < 2 * low
            inside.append(low <= value <= high)
            drawn.append(each.bootstrap[0] <= value <= each.bootstrap[1])
    # Of 120, at a probability of 0.95 each, fewer than 107 or more than 119 are improbable.
    assert 107 <= sum(inside) <= 119
    assert 104 <= sum(drawn) <= 119


def test_profiles_are_those_of_a_second_solver(tmp_path):
    """At each value of a profile the others are fitted; at the ends of intervals t is Student's."""
    study, predictions = closed_form(write_study(tmp_path))
    found = calibrate_predictions(study, predictions)
    best = np.log([each.value for each in found.parameters])
    flops, sizes = np.array(CASES).T

    def least(at, value):
        """Return the least error with a parameter at a value."""

        def errors(others):
            """Return relative errors of the closed form."""
            speed, latency, bandwidth = np.exp(np.insert(others, at, np.log(value)))
            return duration(flops, sizes, speed, latency, bandwidth) / study.measured[:, 0] - 1

        return np.sqrt(np.mean(optimize.least_squares(errors, np.delete(best, at)).fun ** 2))

    limit = least(0, np.exp(best[0])) * np.sqrt(1 + stats.t.ppf(0.975, 9) ** 2 / 9)
    for at, each in enumerate(found.parameters):
        assert len(each.curve) >= 3
        for value, error in each.curve:
            assert error == pytest.approx(least(at, value), rel=5e-3)
        assert each.limit == pytest.approx(limit, rel=1e-3)
        for value in each.profile:
            assert least(at, value) == pytest.approx(limit, rel=0.02)


@pytest.mark.parametrize("loss", ["mean", "median", "largest"])
def test_losses_fit(tmp_path, loss):
    """With each loss the parameters of measurements without noise come back."""
    options = f'loss = "{loss}"\nevaluations = 700'
    found = calibrate_predictions(*closed_form(write_study(tmp_path, noise=0.0, options=options)))
    for each, value in zip(found.parameters, TRUE.values(), strict=True):
        assert each.value == pytest.approx(value, rel=1e-2)


def test_equal_effects_are_reported(tmp_path):
    """Two parameters of which only the ratio matters are named, the others are identified."""
    factor = "workload.actors.send.args.factor"
    text = f"{factor} = {{ low = 0.1, high = 10, scale = 'log' }}"
    found = calibrate_predictions(*closed_form(write_study(tmp_path, parameters=text)))
    assert [set(each) for each in found.not_identified] == [{KEYS[0], factor}]
    assert [each.identified for each in found.parameters] == [False, True, True, False]
    assert found.parameters[1].profile[0] <= TRUE["latency"] <= found.parameters[1].profile[1]


def test_folds(tmp_path):
    """Each row is predicted by a fit without it."""
    options = "held_out = { folds = 4 }"
    found = calibrate_predictions(*closed_form(write_study(tmp_path, options=options)))
    assert all(each.held_out for each in found.values)
    losses = found.losses
    assert losses["fitted"]["calibrated"] < losses["held_out"]["calibrated"] < 0.08
    assert losses["held_out"]["uncalibrated"] > 0.5


@pytest.mark.parametrize(
    "method", ["nelder-mead", "powell", "differential-evolution", "cma-es", "tpe"]
)
def test_searches_find_a_known_minimum(method):
    """Each search beats a sample of the same size, asks nothing twice and is repeatable."""
    require(method)
    asked = []

    def losses(points):
        """Return a curved valley with its minimum at (0.3, 0.7)."""
        asked.extend(points)
        return [(x - 0.3) ** 2 + 20 * (y - 0.7 - (x - 0.3) ** 2) ** 2 for x, y in points]

    def least(which):
        """Return the least loss of a search."""
        asked.clear()
        found = search(which, 2, losses, starts=2, seed=1, evaluations=300, spent=lambda: False)
        assert len(asked) == len(set(asked)) == len(found) <= 300
        return min(found.values())

    reached = least(method)
    assert reached < 1e-3 * least("sobol")
    assert reached == least(method)


def require(method):
    """Skip a test of a method that an extra installs, where it is missing."""
    if method in ("cma-es", "tpe"):
        pytest.importorskip("cmaes")
        pytest.importorskip("optuna")


@pytest.mark.parametrize("method", ["cma-es", "tpe"])
def test_samplers_go_on(method):
    """Killed ten times, a search asks for the points of one that was not, each once."""
    require(method)
    options = {"starts": 3, "seed": 2, "evaluations": 80}
    store, done = {}, []

    def losses(points):
        """Return losses, those that are known from the store; die after seven others."""
        for point in points:
            if point not in store:
                if len(done) == 7:
                    raise KeyboardInterrupt
                done.append(point)
                store[point] = (point[0] - 0.3) ** 2 + (point[1] - 0.6) ** 4
        return [store[each] for each in points]

    found, kills = None, 0
    while found is None:
        done.clear()
        try:
            found = search(method, 2, losses, spent=lambda: False, **options)
        except KeyboardInterrupt:
            kills += 1
    assert kills >= 10
    assert list(store) == list(found)
    options["spent"] = lambda: False
    whole = search(method, 2, lambda points: [store[each] for each in points], **options)
    assert list(whole.items()) == list(found.items())


@pytest.mark.parametrize("method", ["cma-es", "tpe"])
def test_samplers_pass_failed_runs(method):
    """Failures in half of the range end no search."""
    require(method)

    def losses(points):
        """Return a bowl with its minimum beside the failures."""
        return [(x - 0.6) ** 2 + y**2 if x > 0.5 else np.inf for x, y in points]

    options = {"starts": 4, "seed": 3, "evaluations": 200, "spent": lambda: False}
    found = search(method, 2, losses, **options)
    assert len(found) == 200
    assert min(found.values()) < 1e-3


def test_without_the_extra_it_is_named(tmp_path, monkeypatch):
    """A method whose package is missing is refused with its line and the extra."""
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ScenarioError, match=r"simplugin\[calibrate\]") as caught:
        load_study(write_study(tmp_path, options='method = "tpe"'))
    assert caught.value.line is not None


def test_losses_of_weighted_metrics():
    """The statistics are those of weighted relative errors."""
    measured = np.array([[10.0, 1.0], [20.0, 2.0]])
    predicted = np.array([[11.0, 1.2], [18.0, 2.0]])
    expected = {"mean": 0.0875, "largest": 0.15, "median": 0.1, "rms": np.sqrt(0.01)}
    expected["mean"] = np.mean([1.5 * 0.1, 0.5 * 0.2, 1.5 * 0.1, 0])
    expected["rms"] = np.sqrt(np.mean([1.5 * 0.01, 0.5 * 0.04, 1.5 * 0.01, 0]))
    for name, value in expected.items():
        assert shipped_loss(name, [3.0, 1.0])(predicted, measured) == pytest.approx(value)


@pytest.mark.parametrize(
    ("options", "parameters", "key"),
    [
        ('held_out = ["r99"]', "", "calibrate.held_out"),
        ('loss = "cubes"', "", "calibrate.loss"),
        ("weights = { duration = 2.0 }", "", "calibrate.weights.duration"),
        ("", "platform.parameters.x = { low = 2.0, high = 1.0 }", "parameters.x"),
        ("", "workload.actors.nobody.args.x = { low = 0.0, high = 1.0 }", "nobody"),
    ],
)
def test_errors_have_their_lines(tmp_path, options, parameters, key):
    """A mistake in a study has a key and a line."""
    file = write_study(tmp_path, options=options, parameters=parameters)
    with pytest.raises(ScenarioError) as caught:
        load_study(file)
    assert caught.value.file == file
    assert caught.value.line is not None
    assert key in str(caught.value)


def test_errors_of_the_table(tmp_path):
    """A value that is not positive has its line in the table."""
    file = write_study(tmp_path)
    table = tmp_path / "measured.csv"
    lines = table.read_text().splitlines()
    lines[4] = f"r3,{CASES[3][0]},{CASES[3][1]},0"
    table.write_text("\n".join(lines))
    with pytest.raises(ScenarioError) as caught:
        load_study(file)
    assert (caught.value.file, caught.value.line) == (table, 5)
    assert tomllib.loads(file.read_text())["calibrate"]["table"] == table.name
