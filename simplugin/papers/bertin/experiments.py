"""The report's experiments, and ours on its open questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.papers.bertin import five_hosts as five
from simplugin.papers.bertin import seeded_platforms
from simplugin.papers.bertin.five_hosts import PROPORTIONAL, ROUNDS, error, optimum, run, sharing
from simplugin.papers.bertin.seeded_platforms import chosen, examine
from simplugin.papers.statements import Quantity, resampled
from simplugin.platforms.topologies.shapes import FIVE_HOSTS, FIVE_HOSTS_SPEED, five_hosts
from simplugin.pricing.assessment import Recovery, Stretch
from simplugin.pricing.iteration import Trajectory, settled
from simplugin.pricing.method import Method
from simplugin.pricing.methods import POLICIES, Gradient, Market
from simplugin.pricing.policies.gradient import GradientAssumptions, StepSizes, task_price
from simplugin.pricing.task_dispatch import DispatchSettings, dispatch
from simplugin.results.curves import CurvePlot

Floats = NDArray[np.float64]
Quantities = Mapping[str, Quantity | float]


# Number of rounds in the figures of the unscaled version.
_SHOWN = 400
# Simulated tasks of each application in a second, and rounds of rates that are negotiated.
_TASKS_A_SECOND, _NEGOTIATED = 100, 80


def unscaled(quick: bool) -> Quantities:
    """Measure the unscaled version: Figures 3, 5, 6 and 7."""
    rounds = 4000 if quick else 20000
    trajectory = run(rounds, scaled=False)
    throughput = trajectory.throughput
    late = five.falls(throughput)
    shown = throughput[2 : _SHOWN + 1]
    idle = int(np.flatnonzero((shown == 0).any(axis=1)).max(initial=-2)) + 2
    after = throughput[_SHOWN:]
    of = _provenance(rounds=rounds)
    trees = five.throughputs_on(five.all_trees(), five.REPORTED, _SHOWN, scaled=False)[2:]
    return {
        "late_falls": Quantity(int(np.sum(late > rounds // 2)), provenance=of),
        "near": Quantity(float(np.mean(error(trajectory)[_SHOWN:] <= 0.01)), provenance=of),
        "lowest": Quantity(float(shown.min()), note=f"the last throughput of 0 is in round {idle}"),
        "highest": Quantity(
            float(shown.max()),
            note=f"from round {_SHOWN} on throughputs are {after.min():.2g} to {after.max():.3g}",
            readings=_ends("the 125 trees", trees.max(axis=(0, 2))),
            missing=_EDGES,
        ),
        "factor_five": _factor_five(shown),
        **_unscaled_prices(),
    }


# Information that the report lacks.
_EDGES = "the edges of Figure 2"


def _ends(name: str, values: Floats) -> dict[str, tuple[float, float]]:
    """Return the least and the largest of some platforms as readings."""
    ends = {"least": float(values.min()), "most": float(values.max())}
    return {f"{end} on {name}": (value, value) for end, value in ends.items()}


def _factor_five(throughput: Floats) -> int:
    """Return how often a throughput changes by a factor of at least five."""
    before, after = throughput[:-1], throughput[1:]
    low, high = np.minimum(before, after), np.maximum(before, after)
    return int(np.sum((high >= 5 * low) & (high > 0)))


def _unscaled_prices() -> Quantities:
    """Measure rates and prices of the unscaled version."""
    trajectory = run(_SHOWN, scaled=False, rates=True)
    first = np.asarray(trajectory.rates)[2:, sharing().application == 0]
    growth = np.diff(first, axis=0)
    alike = [row.max() / row.min() for row in growth if np.all(row > 0)]
    prices = np.concatenate([trajectory.host_price, trajectory.link_price], axis=1)[2:]
    return {
        "apart_growth": float(np.median(alike)) - 1,
        "price_zero": float(np.mean(prices == 0)),
        "price_peak": float(np.max(prices[:, : sharing().n_hosts])) / _best_price(),
    }


def _best_price() -> float:
    """Return the optimal price of all hosts, as only computation is scarce [utility/flop]."""
    return len(sharing().applications) / float(sharing().speed.sum())


def other_steps(quick: bool) -> Quantities:
    """Measure other step sizes, Figure 4 and section 5.2, and Eq. (12) as printed."""
    rounds = 4000 if quick else 20000
    trajectory = run(rounds, scaled=False, steps=five.SMALL)
    off = error(trajectory)
    tried = 1000 if quick else 4000
    varied = [
        StepSizes(memory=memory, rate=rate)
        for memory, rate in ((0.002, 0.02), (0.2, 0.02), (0.02, 0.002), (0.02, 0.2))
    ]
    near = [error(run(tried, scaled=False, steps=steps))[tried // 2 :] for steps in varied]
    plain = run(_SHOWN, scaled=False, reading=GradientAssumptions(late=True, normalised=False))
    small = _provenance(rounds) | {"steps": "gamma2 1, lambda 5e-4, mu 5e-5"}
    return {
        "last_fall": Quantity(
            int(five.falls(trajectory.throughput).max(initial=0)), provenance=small
        ),
        "error": Quantity(
            float(off[rounds]), note=f"{off[_SHOWN]:.1%} after {_SHOWN} rounds", provenance=small
        ),
        "near": Quantity(
            max(float(np.mean(part <= 0.01)) for part in near),
            note="each of the two steps ten times larger and ten times smaller, second half",
            provenance=_provenance(rounds=tried),
        ),
        "zero_throughputs": Quantity(
            int(np.sum(plain.throughput[1:].min(axis=1) == 0)),
            provenance=_provenance(rounds=_SHOWN),
        ),
    }


def scaled(quick: bool) -> Quantities:
    """Measure throughputs and prices of the scaled version: Figures 9 to 11."""
    rounds = 20000 if quick else 60000
    off = error(run(rounds))
    at = (498, ROUNDS, rounds)
    levels = [float(np.mean(off[max(end - 200, 0) : end + 1])) for end in at]
    trajectory = run(ROUNDS)
    last = trajectory.throughput[-1] / optimum()[1] - 1
    seidel = run(ROUNDS, reading=GradientAssumptions(seidel=True)).throughput
    shares = {
        name: float(np.mean(run(ROUNDS, reading=reading).host_price[100:] > 0))
        for name, reading in five.READINGS.items()
    }
    host = trajectory.host_price[ROUNDS // 2 :]
    of = _provenance(rounds=ROUNDS)
    more = Quantity(
        levels[-1],
        note="means over 200 rounds: "
        + ", ".join(f"{level:.2%} by {end}" for level, end in zip(levels, at, strict=True)),
        optimum=optimum()[0],
        provenance=_provenance(rounds=rounds),
    )
    return {
        "error": more,
        "error_ratio": max(levels[1] / levels[0], levels[2] / levels[1]),
        "throughput_error": Quantity(
            float(np.abs(last).max()),
            note=", ".join(f"{value:+.0%}" for value in last),
            provenance=of,
        ),
        "calm": Quantity(
            _count(five.changes(trajectory.throughput), 0.1),
            note=f"if managers see new rates, {_count(five.changes(seidel), 0.1):g}",
            provenance=of,
        ),
        "positive": Quantity(
            shares["throughput one round late"],
            note="by reading "
            + ", ".join(f"{name}: {share:.0%}" for name, share in shares.items()),
            provenance=of,
        ),
        "host_price": Quantity(
            float(host.mean()), None, f"between 0 and {host.max():.2g}", _best_price(), of
        ),
    }


def _count(off: Floats, level: float) -> float:
    """Return the round from which an error stays within a level, infinite if there is none."""
    found = settled(off, level)
    return np.inf if found is None else found


def rounds(quick: bool) -> Quantities:
    """Count rounds of the scaled version as actors, and compare actors with the equations."""
    length, short = (1000, 400) if quick else (ROUNDS, ROUNDS)
    done = five.negotiated(Gradient(reading=five.REPORTED), length)
    raw = five.negotiated(Gradient(scaled=False, reading=five.REPORTED), short)
    apart = max(_apart(done, run(length)), _apart(raw, run(short, scaled=False)))
    off, date = error(done), done.date
    of = {"platform": five.PLATFORM, "latency": five.LATENCY, "rounds": length}
    found = {
        "apart": Quantity(apart, provenance=of),
        "latencies": Quantity(float((date[-1] - date[0]) / length / five.LATENCY), provenance=of),
    }
    # Where managers see new rates is no reading: Algorithm 3 gives them the old ones.
    variants = {
        name: (
            error(run(ROUNDS, reading=reading)),
            five.counts(five.all_trees(), reading),
            five.counts([five.RING], reading)[0],
        )
        for name, reading in list(five.READINGS.items())[:3]
    }
    mean = 20 * _count(five.averaged(error(run(ROUNDS))), five.LEVELS[-1]) + 1
    for place, level in enumerate(five.LEVELS):
        count = _count(off, level)
        seconds = f"at {date[int(count)]:.3g} s, " if np.isfinite(count) else ""
        words = [f"{seconds}{done.bytes_sent / length:.0f} bytes a round; pure iterations by"]
        readings: dict[str, tuple[float, float]] = {}
        for name, (here, trees, ring) in variants.items():
            words.append(
                f"{name}: {_count(here, level):g} here, {five.spread(trees[:, place])} on the 125"
                f" trees, {ring[place]:g} on the graph {' '.join(five.RING)};"
            )
            if not five.READINGS[name].seidel:
                readings |= _ends(f"the 125 trees, {name}", trees[:, place])
        found[f"within_{level:g}"] = Quantity(
            count,
            note=" ".join([*words, f"averages of 20 rounds stay at 0.5 % from {mean:g} on"]),
            optimum=optimum()[0],
            provenance=of,
            readings=readings,
            missing=f"{_EDGES}, and whether agents use a round's own throughput or the last known",
        )
    return found


def _apart(one: Trajectory, other: Trajectory) -> float:
    """Return the largest difference of throughputs and prices, relative to the value."""
    # A link that no tree uses has no manager.
    links = np.unique(sharing().link[sharing().link >= 0])
    columns = (
        (one.throughput, other.throughput),
        (one.host_price, other.host_price),
        (one.link_price[:, links], other.link_price[:, links]),
    )
    return max(
        float(np.max(np.abs(a - b) / np.maximum(np.abs(b), np.finfo(float).tiny)))
        for a, b in columns
    )


def tasks(quick: bool) -> Quantities:
    """Measure the throughputs of tasks that are dispatched at the rates: the slides."""
    duration = 20.0 if quick else 200.0
    pace = duration / _NEGOTIATED
    found = {}
    for name, method in (("growing", Market()), ("scaled", Gradient(reading=five.REPORTED))):
        trajectory = five.negotiated(method, _NEGOTIATED)
        assert trajectory.rates is not None
        dated = zip(pace * np.arange(_NEGOTIATED + 1), trajectory.rates, strict=True)
        found[name] = _deviation(list(dated), duration, warm_up=0.0)
        if name == "growing":
            found["final"] = _deviation(trajectory.rate, duration, warm_up=duration / 4)
    note = f"{found['growing'].note}; with the scaled rule {found.pop('scaled').note}"
    return found | {"growing": replace(found["growing"], note=note)}


def _deviation(rates: Any, duration: float, warm_up: float) -> Quantity:
    """Return the largest part of an application's rates that its tasks on SimGrid miss."""
    grain = sharing().throughput(fair_sharing(sharing()).rate) / _TASKS_A_SECOND
    graph = five_hosts(latency=five.LATENCY)
    done = dispatch(graph, sharing(), rates, DispatchSettings(duration, warm_up, grain))
    return Quantity(
        float(np.abs(done.deviation).max()),
        note=", ".join(f"{100 * each:.2g} %" for each in done.deviation),
        provenance={"platform": five.PLATFORM, "duration": duration},
    )


def scaled_changes(quick: bool) -> Quantities:
    """Measure how the scaled rule comes back after changes, by the report's measure."""
    levels = (0.05, 0.01)
    runs, last = [], 0.0
    for seed in five.QUICK_SEEDS if quick else five.SEEDS:
        kept, parts = five.live_through(Gradient(), seed)
        times = []
        for part in parts:
            best = fair_sharing(part.sharing)
            throughput, _ = kept.during(part)
            value = PROPORTIONAL.objective(throughput, part.sharing.weight)
            off = np.abs(value - best.objective) / abs(best.objective)
            times.append([five.PERIOD * _count(off, level) for level in levels])
            last = max(last, float(kept.errors(part, best.throughput)[-1]))
        runs.append(times)
    table = np.array(runs)
    shown = "; ".join(
        f"within {level:.0%} after {_listed(table[..., place])}"
        for place, level in enumerate(levels)
    )
    note = f"{shown}; throughputs are up to {last:.0%} off at the next change"
    never = np.isinf(table[..., 1]).sum(axis=1)
    return {"never": _over_seeds(never, note)}


def market_changes(quick: bool) -> Quantities:
    """Measure how markets come back after changes, by every throughput."""
    runs = []
    for seed in five.QUICK_SEEDS if quick else five.SEEDS:
        kept, parts = five.live_through(Market(relaxation=five.RELAXATION), seed)
        found = [kept.return_time(part, fair_sharing(part.sharing).throughput) for part in parts]
        runs.append([np.inf if time is None else time for time in found])
    times = np.array(runs)
    return {"time": _over_seeds(times.max(axis=1), _listed(times))}


def _over_seeds(values: Floats, note: str) -> Quantity:
    """Return the mean of runs of several seeds."""
    return resampled(
        lambda few: float(np.mean(values[few])), len(values), note, provenance=five.CHANGED
    )


def _listed(times: Floats) -> str:
    """Write times after each change in seconds, least and most of the runs."""
    ends = zip(times.min(axis=0), times.max(axis=0), strict=True)
    return ", ".join(
        " to ".join(dict.fromkeys(f"{end:.2g} s" if np.isfinite(end) else "never" for end in each))
        for each in ends
    )


def _provenance(rounds: int) -> dict[str, Any]:
    """Return the facts that determine a pure iteration."""
    reading = next(iter(five.READINGS))
    given = {"platform": five.PLATFORM, "by": "pure iteration", "reading": reading}
    return {**given, "rounds": rounds}


_OBJECTIVE = "sum of log throughput"
# Of the unscaled version nothing is shown before round 2: it starts five times above the rest.
_FROM = 2


def _objective(trajectory: Trajectory) -> Floats:
    """Return the objective of each round; NaN where a throughput is 0."""
    value = PROPORTIONAL.objective(trajectory.throughput, np.ones(trajectory.throughput.shape[1]))
    return np.where(np.isfinite(value), value, np.nan)


def _levels() -> dict[str, float]:
    """Return the horizontal lines of the report's objectives."""
    best = optimum()[0]
    return {"optimum": best, "99.5 %": 0.995 * best, "99 %": 0.99 * best, "95 %": 0.95 * best}


def _over_rounds(
    name: str,
    title: str,
    label: str,
    columns: Mapping[str, Floats],
    *,
    lines: Mapping[str, float] | None = None,
    log_y: bool = False,
) -> CurvePlot:
    """Return columns over rounds."""
    series = {key: (np.arange(_FROM, len(each)), each[_FROM:]) for key, each in columns.items()}
    return CurvePlot(name, title, "round", label, series, lines or {}, log_y=log_y)


def _objectives(name: str, title: str, trajectory: Trajectory, shown: int = _SHOWN) -> CurvePlot:
    """Return an objective over rounds."""
    columns = {"objective": _objective(trajectory)[: shown + 1]}
    return _over_rounds(name, title, _OBJECTIVE, columns, lines=_levels())


def _throughputs(
    name: str, title: str, trajectory: Trajectory, *, optimal: bool = False
) -> CurvePlot:
    """Return throughputs over rounds, and the optimal ones on demand."""
    names = sharing().applications
    columns = dict(
        zip([f"application {each}" for each in names], trajectory.throughput.T, strict=True)
    )
    best = dict(zip([f"optimum of {each}" for each in names], optimum()[1].tolist(), strict=True))
    lines = best if optimal else None
    return _over_rounds(name, title, "throughput [tasks/s]", columns, lines=lines)


def figure6(_quick: bool) -> list[CurvePlot]:
    """Return the rates of application 1 in the unscaled version, host by host."""
    problem = sharing()
    trajectory = run(_SHOWN, scaled=False, rates=True)
    columns = {
        problem.hosts[problem.host[agent]]: np.asarray(trajectory.rates)[:, agent]
        for agent in np.flatnonzero(problem.application == 0)
    }
    columns["all hosts"] = trajectory.throughput[:, 0]
    title = "Unscaled version: rates of application 1"
    return [_over_rounds("figure6", title, "rate [tasks/s]", columns)]


def figure7(_quick: bool) -> list[CurvePlot]:
    """Return a rate of application 1 in the unscaled version, and the price that it meets."""
    problem = sharing()
    trajectory = run(_SHOWN, scaled=False, rates=True)
    agent = int(np.flatnonzero((problem.application == 0) & (problem.depth == 2))[0])
    host = problem.hosts[problem.host[agent]]
    both = zip(trajectory.host_price, trajectory.link_price, strict=True)
    price = np.array([task_price(problem, at_host, on_link)[agent] for at_host, on_link in both])
    rate = {f"rate on {host}": np.asarray(trajectory.rates)[:, agent]}
    cost = {f"price of a task on {host}": price}
    title = f"Unscaled version: application 1 on host {host}"
    return [
        _over_rounds("figure7-rate", title, "rate [tasks/s]", rate),
        _over_rounds("figure7-price", title, "price [utility/task]", cost),
    ]


def figure9(_quick: bool) -> list[CurvePlot]:
    """Return the objective of the scaled version, averaged over 20 rounds each."""
    mean = five.averaged(_objective(run(ROUNDS)))
    rounds = 20.0 * np.arange(1, len(mean) + 1)
    title = "Scaled version: objective, averages of 20 rounds"
    # The first average has rounds without throughput in it.
    curve = {"objective": (rounds[1:], mean[1:])}
    lines = {name: _levels()[name] for name in ("optimum", "99.5 %")}
    return [CurvePlot("figure9", title, "round", _OBJECTIVE, curve, lines)]


def figure11(_quick: bool) -> list[CurvePlot]:
    """Return the prices of the scaled version: all hosts, and the links that are used."""
    problem = sharing()
    trajectory = run(ROUNDS)
    hosts = dict(zip(problem.hosts, trajectory.host_price.T, strict=True))
    used = np.unique(problem.link[problem.link >= 0])
    links = {problem.links[link]: trajectory.link_price[:, link] for link in used}
    title, units = "Scaled version: prices", ("price [utility/flop]", "price [utility/byte]")
    best = {"optimum": _best_price()}
    return [
        _over_rounds("figure11-hosts", title, units[0], hosts, lines=best, log_y=True),
        _over_rounds("figure11-links", title, units[1], links, log_y=True),
    ]


_ROUNDS = 200
_SLOWEST = 500
_CURVES = {"market": "markets", "market_accelerated": "markets, accelerated"}


def side_by_side(_quick: bool) -> list[CurvePlot]:
    """Return throughputs and host prices of markets and of the scaled rule, both as actors."""
    best = fair_sharing(sharing())
    rounds = np.arange(_ROUNDS + 1)
    throughputs, prices = {}, {}
    for what, method in (("markets", Market()), ("scaled rule", Gradient(reading=five.REPORTED))):
        done = five.negotiated(method, _ROUNDS)
        for name, ratio in zip(
            sharing().applications, (done.throughput / best.throughput).T, strict=True
        ):
            throughputs[f"{name}, {what}"] = (rounds, ratio)
        for name, price in zip(FIVE_HOSTS, done.host_price.T, strict=True):
            prices[f"{name}, {what}"] = (rounds, price * FIVE_HOSTS_SPEED)
    level = {"optimum": float(best.host_price[0] * FIVE_HOSTS_SPEED)}
    return [
        CurvePlot(
            "markets-throughputs",
            "Throughputs of markets and of the scaled rule",
            "round",
            "throughput / optimum",
            throughputs,
            {"optimum": 1.0},
            cycle=sharing().n_applications,
        ),
        CurvePlot(
            "markets-prices",
            "Prices of hosts under markets and under the scaled rule",
            "round",
            "price times capacity",
            prices,
            level,
            log_y=True,
            cycle=len(FIVE_HOSTS),
        ),
    ]


def live_changes(_quick: bool) -> list[CurvePlot]:
    """Return throughputs of agents without rounds while hosts, links and applications change."""
    figures = []
    for name, title, method in (
        ("changes-markets", "Markets, without rounds", Market(relaxation=five.RELAXATION)),
        ("changes-scaled", "Scaled rule, without rounds", Gradient()),
    ):
        kept, parts = five.live_through(method)
        stretches = [Stretch(kept, each, fair_sharing(each.sharing)) for each in parts]
        drawn, _ = Recovery(sharing(), PROPORTIONAL, kept, stretches, {}).figures()
        title += f", a decision every {1e3 * five.PERIOD:g} ms"
        figures.append(replace(drawn, name=name, title=title))
    return figures


def platforms(quick: bool) -> list[CurvePlot]:
    """Return on how many platforms every throughput is within 1 %, by round."""
    series = {name: _share(POLICIES[method](), quick) for method, name in _CURVES.items()}
    series["scaled rule, Table 1"] = _share(Gradient(), quick)
    title = "Every throughput within 1 %, for good"
    return [CurvePlot("platforms", title, "round", "part of the platforms", series, {"all": 1.0})]


def _share(method: Method[Any], quick: bool) -> tuple[NDArray[np.int64], Floats]:
    """Return rounds, and the part of the platforms that has settled by then."""
    near = [examine(each, method, _SLOWEST, simulated=False).near for each in chosen(quick)]
    first = np.array([np.inf if each is None else each for each in near])
    rounds = np.arange(_SLOWEST + 1)
    return rounds, np.mean(first[:, None] <= rounds, axis=0)


FIGURES: dict[str, Callable[[bool], list[CurvePlot]]] = {
    "figure 3": lambda _: [
        _objectives("figure3", "Unscaled version: objective", run(_SHOWN, scaled=False))
    ],
    "figure 4": lambda _: [
        _objectives(
            "figure4",
            "Unscaled version with small steps: objective",
            run(_SHOWN, scaled=False, steps=five.SMALL),
        )
    ],
    "figure 5": lambda _: [
        _throughputs("figure5", "Unscaled version: throughputs", run(_SHOWN, scaled=False))
    ],
    "figure 6": figure6,
    "figure 7": figure7,
    # The first rounds, and more of them.
    "figure 8": lambda _: [
        _objectives(f"figure8-{side}", "Scaled version: objective", run(ROUNDS), shown)
        for side, shown in (("left", 50), ("right", 200))
    ],
    "figure 9": figure9,
    "figure 10": lambda _: [
        _throughputs("figure10", "Scaled version: throughputs", run(ROUNDS), optimal=True)
    ],
    "figure 11": figure11,
    "markets": side_by_side,
    "changes": live_changes,
    "platforms": platforms,
}


_MARKETS = {"accelerated markets": "market_accelerated", "markets": "market"}
EXPERIMENTS: dict[str, Callable[[bool], Quantities]] = {
    "unscaled": unscaled,
    "other steps": other_steps,
    "scaled": scaled,
    "rounds": rounds,
    "tasks": tasks,
    "changes, scaled": scaled_changes,
    "changes, markets": market_changes,
    "platforms, scaled": seeded_platforms.scaled_rule,
    "late news": seeded_platforms.late_news,
    **{
        f"{name}, {what}": partial(measure, policy)
        for name, measure in (
            ("cold start", seeded_platforms.cold_start),
            ("churn", seeded_platforms.churn),
            ("bad start", seeded_platforms.bad_start),
        )
        for what, policy in _MARKETS.items()
    },
}
