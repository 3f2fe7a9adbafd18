"""A generator of platforms: a master and workers, each behind a link of its own."""

import math
from pathlib import Path

from simplugin.platforms import Host, Link, Platform, Route, Zone
from simplugin.scenarios import load_scenario, run_scenario


def star(*, workers: int = 4, speed: float = 1e9, bandwidth: float = 125e6) -> Platform:
    """Return the platform; a scenario gives the parameters by their names."""
    names = [f"worker-{number}" for number in range(1, workers + 1)]
    hosts = [Host(name, speed) for name in ("master", *names)]
    links = [Link(f"link-{name}", bandwidth, 50e-6) for name in names]
    routes = [Route("master", name, (f"link-{name}",)) for name in names]
    return Platform((Zone("star", "Full", (*hosts, *links), tuple(routes)),))


def test_the_optimum_is_the_power_of_all_hosts_over_the_work_of_a_task():
    row = run_scenario(load_scenario(Path(__file__).with_suffix(".toml"))).row
    assert math.isclose(row.best.value, 5 * 1e9 / 10e9)
    assert 0 <= row.gap < 0.1
