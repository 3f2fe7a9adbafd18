"""Masters and workers over platforms, against SimGrid's own deployments and brute force."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.core.errors import DeploymentError
from simplugin.formats.platform_xml import read_deployment, read_platform
from simplugin.platforms import Cabinet, Cluster, DeployedActor, Host, Link, Platform, Router, Zone
from simplugin.platforms.deployments import master_workers
from simplugin.platforms.host_choices import HostChoice


def site(name: str, *clusters: tuple[str, int]) -> Zone:
    """Return a zone of clusters, whose hosts are called ``<cluster>-<number>``."""
    parts = [Cluster(c, f"1-{count}", 1e9, 1e8, 1e-4, prefix=f"{c}-") for c, count in clusters]
    return Zone(name, "Full", tuple(parts))


DESK = Zone("desk", "Full", (Host("pc", 1e9), Router("switch"), Link("wire", 1e8, 0.0)))
LILLE, NANCY = site("lille", ("chti", 4), ("chuque", 3)), site("nancy", ("grelon", 5))
GRID = Platform(Zone("grid", "Full", (LILLE, DESK, NANCY)))
CHTI = [f"chti-{number}" for number in range(1, 5)]
CHUQUE = [f"chuque-{number}" for number in range(1, 4)]
GRELON = [f"grelon-{number}" for number in range(1, 6)]
ALL = [*CHTI, *CHUQUE, "pc", *GRELON]


CHOICES = [
    ("all", [host for host in ALL if host != "chti-2"]),
    ("5", ["chti-1", "chti-3", "chti-4", "chuque-1", "chuque-2"]),
    (5, ["chti-1", "chti-3", "chti-4", "chuque-1", "chuque-2"]),
    ("all:2", ["chti-1", "chti-3"]),
    ("lille:4", ["chti-1", "chti-3", "chti-4", "chuque-1"]),
    ("chti-2", ["chti-2"]),
    (["pc", "chti-2"], ["pc", "chti-2"]),
    ("pc,all", ["pc", *(host for host in ALL if host not in ("chti-2", "pc"))]),
    ("ch*-2", ["chuque-2"]),
    ("grelon-[24],?c", ["grelon-2", "grelon-4", "pc"]),
    ("*-1:2", ["chti-1", "chuque-1"]),
    # What is chosen already is not chosen again.
    ("chti:2,chti:1", ["chti-1", "chti-3", "chti-4"]),
    ("pc, 2", ["pc", "chti-1", "chti-3"]),
]


@pytest.mark.parametrize(("choice", "hosts"), CHOICES)
def test_choices(choice, hosts):
    deployment = master_workers(GRID, "chti-2", choice)
    assert [actor.host for actor in deployment.actors] == ["chti-2", *hosts]
    assert [actor.function for actor in deployment.actors] == ["master"] + ["worker"] * len(hosts)


REFUSED_CHOICES = [
    ("chti-9", "all", r"the master 'chti-9' is no host .*did you mean 'chti-"),
    ("nancy", "all", r"the master 'nancy' is no host of the platform, but a zone"),
    ("pc", "13", r"13 hosts of the platform are asked for, which has 12 hosts"),
    ("pc", "grelon:6", r"6 hosts of cluster 'grelon' are asked for, which has 5 hosts"),
    ("pc", "grelon,nancy:1", r"zone 'nancy' has no host that could be chosen"),
    ("pc", "chti-1,chti-1", r"host 'chti-1' has no host that could be chosen"),
    ("pc", "grellon:3", r"'grellon' is no host, zone, cluster .*did you mean 'grelon'"),
    ("pc", "xyz*", r"'xyz\*' is no host, zone, cluster or cabinet"),
    ("pc", "0", r"0 hosts of the platform are asked for"),
    ("pc", "", r"'' is no host"),
    ("pc", [], r"no host is chosen"),
    ("pc", ["chti"], r"the host 'chti' is no host of the platform, but a cluster"),
]


@pytest.mark.parametrize(("master", "workers", "message"), REFUSED_CHOICES)
def test_refused_choices(master, workers, message):
    with pytest.raises(DeploymentError, match=message):
        master_workers(GRID, master, workers)


@given(st.integers(1, 60), st.data())
def test_spread_hosts_are_as_far_apart_as_they_can_be(total, data):
    count = data.draw(st.integers(1, total))
    platform = Platform(Cluster("c", f"0-{total - 1}", 1e9, 1e8, 0.0))
    chosen = HostChoice(platform).chosen(count, spread=True)
    numbers = [int(host) for host in chosen]
    assert numbers[0] == 0
    assert len(numbers) == count
    gaps = {after - before for before, after in pairwise([*numbers, total])}
    assert gaps <= {total // count, -(-total // count)}


def test_cabinets_are_chosen_like_clusters():
    cabinet = Cabinet("box", "0-2", 1e9, 1e8, 0.0, prefix="b")
    choice = HostChoice(Platform(Zone("z", "Cluster", (cabinet,))))
    assert choice.chosen("box") == ("b0", "b1", "b2")
    assert choice.chosen("box:2") == ("b0", "b1")
    with pytest.raises(DeploymentError, match="'box' is no host of the platform, but a cabinet"):
        choice.require("the master", "box")


def test_a_name_without_its_site_is_known_again():
    grid = read_platform(Path(__file__).parents[2] / "platforms_xml/grid5000.xml")
    for name in ("gros-1", "dahu-32"):
        with pytest.raises(DeploymentError) as caught:
            master_workers(grid, name)
        [full] = [host for host in grid.host_names() if host.split(".")[0] == name]
        assert caught.value.remedy == f"did you mean {full!r}?"


def test_hosts_that_are_called_like_a_count_or_a_zone_and_a_count():
    hosts = tuple(Host(name, 1e9) for name in ("a", "a:1", "2", "3"))
    choice = HostChoice(Platform(Zone("z", "None", hosts)))
    assert choice.chosen("a:1") == ("a:1",)
    assert choice.chosen("2") == ("a", "a:1")
    assert choice.chosen("[2]") == ("2",)
    assert choice.chosen(["3"]) == ("3",)


def test_arguments_are_filled_in():
    options: dict[str, Any] = {"start_time": 5, "kill_time": 9, "on_failure": "RESTART"}
    options |= {"function": "serve", "arguments": ("{host} {workers}", "{hosts}", "{{x}}")}
    told = ("{number:03}", "{index}", "{master}/{host}", "{hosts}")
    options |= {"worker_function": "work", "worker_arguments": told}
    deployment = master_workers(GRID, "pc", "chti:2", **options)
    two, rest = ("chti-1", "chti-2"), (5, 9, "RESTART")
    assert deployment.actors == (
        DeployedActor("pc", "serve", ("pc 2", "chti-1", "chti-2", "{x}"), 5, 9),
        *(
            DeployedActor(f"chti-{n}", "work", (f"00{n}", f"{n - 1}", f"pc/chti-{n}", *two), *rest)
            for n in (1, 2)
        ),
    )


REFUSED_OPTIONS = [
    ({"worker_arguments": ["{nmber}"]}, r"placeholder \{nmber\}; here are \{host\}, .*index"),
    ({"arguments": ["{number}"]}, r"unknown placeholder \{number\}"),
    ({"arguments": ["a{hosts}"]}, r"within other text"),
    ({"arguments": ["}"]}, r"cannot be filled in"),
    ({"per_host": 0}, "0 workers a host"),
    ({"start_time": 2, "kill_time": 1}, r"is killed at 1 s and starts at 2 s"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED_OPTIONS)
def test_refused_options(options, message):
    with pytest.raises(DeploymentError, match=message):
        master_workers(GRID, "pc", **options)


def test_several_workers_a_host():
    deployment = master_workers(
        GRID, "pc", "chti:2", per_host=3, arguments=("{workers}",), worker_arguments=("{number}",)
    )
    assert deployment.actors[0].arguments == ("6",)
    places = [(actor.host, *actor.arguments) for actor in deployment.actors[1:]]
    assert places == [(f"chti-{1 + n // 3}", str(n + 1)) for n in range(6)]


RESTARTED = {"worker_arguments": ("{index}",), "on_failure": "RESTART"}


OWN_DEPLOYMENTS = [
    ("python/app-masterworkers/app-masterworkers_d.xml", "{hosts}", {}),
    ("c/app-masterworker/app-masterworker_d.xml", "{workers}", RESTARTED),
]


@pytest.mark.parametrize(("file", "last", "options"), OWN_DEPLOYMENTS)
def test_simgrids_own_deployments_can_be_made(file, last, options, simgrid_prefix):
    examples = simgrid_prefix / "share/examples"
    theirs = read_deployment(examples / file)
    platform = read_platform(examples / "platforms/small_platform.xml")
    workers = ["Tremblay", "Jupiter", "Fafard", "Ginette", "Bourassa"]
    options = options | {"arguments": ("20", "50000000", "1000000", last)}
    assert master_workers(platform, theirs.actors[0].host, workers, **options) == theirs
