"""Recovery of known parameters: coverage of intervals, and evaluations of each search.

The scenario is of two hosts, of which one computes and sends; SimGrid's makespan has a closed form,
which the benchmark uses in place of runs. A test compares the two.

    python benchmarks/calibration.py

Of 100 problems, profiles of 95 % held the true speed, latency and bandwidth in 93, 93 and 96, and
bootstraps in 94, 92 and 96; percentiles without a factor for few rows in 87, 89 and 89. In 3 a
dependence of errors on a column was wrongly seen. The evaluations of searches are in
``docs/decisions/calibration-searches.md``.
"""

import csv
import tempfile
from pathlib import Path

import numpy as np

from simplugin.calibration.calibrating import calibrate_predictions
from simplugin.calibration.search import search
from simplugin.calibration.study import load_study

MODULE = """
from simplugin.platforms import Host, Link, LinkUse, Platform, Route, Zone

def platform(speed, latency, bandwidth):
    elements = (Host("a", speed), Host("b", speed), Link("l", bandwidth, latency))
    return Platform((Zone("site", "Full", elements, (Route("a", "b", (LinkUse("l"),)),)),))

async def send(me, flops, size, factor=1.0):
    await me.execute(flops * factor)
    await me.mailbox("b").put(None, size)

async def receive(me):
    await me.mailbox("b").get()
"""
STUDY = """title = "Two hosts"
[platform]
generator = "mine:platform"
parameters = {{ speed = 1e9, latency = 1e-4, bandwidth = 1e8 }}
[workload]
kind = "actors"
actors = [
  {{ function = "mine:send", host = "a", args = {{ flops = 1e9, size = 1e6 }}, name = "send" }},
  {{ function = "mine:receive", host = "b" }},
]
[calibrate]
table = "measured.csv"
name = "run"
inputs = {{ "workload.actors.send.args.flops" = "work", workload.actors.send.args.size = "bytes" }}
metrics = {{ makespan = "seconds" }}
{options}
[calibrate.parameters]
platform.parameters.speed = {{ low = 1e8, high = 1e10, scale = "log" }}
platform.parameters.latency = {{ low = 1e-5, high = 1e-2, scale = "log" }}
platform.parameters.bandwidth = {{ low = 1e7, high = 1e9, scale = "log" }}
{parameters}
"""
METHODS = ("nelder-mead", "powell", "differential-evolution", "cma-es", "tpe")
METHODS += ("sobol", "latin-hypercube")
TRUE = {"speed": 2.3e9, "latency": 4e-4, "bandwidth": 7e7}
CASES = [(flops, size) for flops in (1e6, 1e8, 1e9) for size in (1e2, 1e5, 1e7, 1e8)]


def duration(flops, size, speed, latency, bandwidth, factor=1.0):
    """Return the makespan by SimGrid's LV08 model: 13.01 latencies, 0.97 of the bandwidth."""
    return flops * factor / speed + 13.01 * latency + size / (0.97 * bandwidth)


def write_study(directory, seed=0, noise=0.03, options="", parameters="", true=TRUE, step=1):
    """Write the files of a study; return that of the study."""
    random = np.random.default_rng(seed)
    with Path(directory, "measured.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["run", "work", "bytes", "seconds"])
        for at, (flops, size) in list(enumerate(CASES))[::step]:
            seconds = duration(flops, size, **true) * (1 + noise * random.standard_normal())
            table.writerow([f"r{at}", flops, size, seconds])
    Path(directory, "mine.py").write_text(MODULE)
    file = Path(directory, "study.toml")
    file.write_text(STUDY.format(options=options, parameters=parameters))
    return file


class ClosedForm:
    """Predictions by the closed form."""

    def __init__(self, study):
        self.study = study
        self.runs = self.failed = 0
        self.seconds = 0.0
        self.failure = ""

    def predict(self, points, rows):
        """Return makespans, shape (n_points, n_rows, 1)."""
        return np.array([[[self.makespan(point, row)] for row in rows] for point in points])

    def makespan(self, point, row):
        """Return the makespan of a row."""
        self.runs += 1
        values = {"speed": 1e9, "latency": 1e-4, "bandwidth": 1e8}
        if point is not None:
            found = self.study.values(point)
            values = {key.rpartition(".")[2]: value for key, value in found.items()}
        return duration(*CASES[row], **values)


def closed_form(file):
    """Return a study and its predictions by the closed form."""
    study = load_study(file)
    return study, ClosedForm(study)


def drawn(seed):
    """Return true parameters, each within a decade."""
    random = np.random.default_rng(1000 + seed)
    return {name: value * 10 ** random.uniform(-0.5, 0.5) for name, value in TRUE.items()}


def coverage(directory, problems=100):
    """Print in how many problems the interval of each parameter holds its true value.

    And in how many errors are said to depend on a column, although the model is right.
    """
    wrong = 0
    inside = {kind: dict.fromkeys(TRUE, 0) for kind in ("profile", "bootstrap")}
    for seed in range(problems):
        true = drawn(seed)
        found = calibrate_predictions(*closed_form(write_study(directory, seed, true=true)))
        wrong += any(each.is_significant for each in found.patterns)
        for each, (name, value) in zip(found.parameters, true.items(), strict=True):
            for kind, counts in inside.items():
                low, high = getattr(each, kind)
                counts[name] += low <= value <= high
    print(f"| interval of 95 %, {problems} problems |", " | ".join(TRUE), "|")
    for kind, counts in inside.items():
        print(f"| {kind} |", " | ".join(map(str, counts.values())), "|")
    print(f"A dependence of errors on a column was wrongly seen in {wrong}")


def history(method, study, predictions, seed, evaluations):
    """Return the loss of each evaluation of a search; infinite after its end."""
    found = np.full(evaluations, np.inf)
    done = []

    def losses(points):
        """Return losses, and keep them."""
        predicted = predictions.predict(points, range(len(study.rows)))
        new = [study.loss(each, study.measured) for each in predicted]
        done.extend(new)
        return new

    options = {"starts": 3, "seed": seed, "evaluations": evaluations}
    search(method, len(TRUE), losses, spent=lambda: False, **options)
    found[: len(done)] = done
    return found


def searches(directory, problems=20, evaluations=400):
    """Print quantiles of the evaluations until the loss is near the best that any search found.

    Each method has the same number of evaluations; no steps of Gauss and Newton follow.
    """
    histories = {method: [] for method in METHODS}
    for seed in range(problems):
        problem = closed_form(write_study(directory, seed, true=drawn(seed)))
        for method, found in histories.items():
            found.append(history(method, *problem, seed, evaluations))
    best = np.min([np.min(each, axis=1) for each in histories.values()], axis=0)
    for factor in (5.0, 2.0, 1.1):
        print(f"| evaluations to {factor} times the best loss | 25 % | 50 % | 75 % | not reached |")
        for method, each in histories.items():
            reached = np.array(each) <= factor * best[:, None]
            counts = np.where(reached.any(axis=1), reached.argmax(axis=1) + 1, np.inf)
            # An order statistic, since infinite ones cannot be interpolated.
            parts = np.percentile(counts, [25, 50, 75], method="higher")
            numbers = " | ".join(f"{part:.0f}" if part < np.inf else "-" for part in parts)
            print(f"| {method} | {numbers} | {np.isinf(counts).sum()} |")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        coverage(place)
        searches(place)
