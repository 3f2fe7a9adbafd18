"""Masters and workers over platforms, against SimGrid's own deployments and brute force."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import DeploymentError
from simplugin.formats.platform_xml import read_deployment, read_platform
from simplugin.platforms import Cabinet, Cluster, DeployedActor, Host, Link, Platform, Router, Zone
from simplugin.platforms.deployments import HOSTS, ActorLifetime, ActorProgram, master_workers
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
    ("chti-9", "all", "'chti-9'"),
    ("nancy", "all", "'nancy'"),
    ("pc", "13", "13 12"),
    ("pc", "grelon:6", "6 'grelon' 5"),
    ("pc", "grelon,nancy:1", "'nancy'"),
    ("pc", "chti-1,chti-1", "'chti-1'"),
    ("pc", "grellon:3", "'grellon' 'grelon'"),
    ("pc", "xyz*", "'xyz*'"),
    ("pc", "0", "0"),
    ("pc", "", "''"),
    ("pc", [], ""),
    ("pc", ["chti"], "'chti'"),
]


@pytest.mark.parametrize(("master", "workers", "named"), REFUSED_CHOICES)
def test_refused_choices(master, workers, named):
    with raises_naming(DeploymentError, *named.split()):
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
    with raises_naming(DeploymentError, "'box'"):
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
    deployment = master_workers(
        GRID,
        "pc",
        "chti:2",
        master_program=ActorProgram("serve", ("{host} {workers}", "{hosts}", "{{x}}")),
        worker_program=ActorProgram("work", ("{number:03}", "{index}", "{master}/{host}", HOSTS)),
        lifetime=ActorLifetime(5, 9, "RESTART"),
    )
    two, rest = ("chti-1", "chti-2"), (5, 9, "RESTART")
    assert deployment.actors == (
        DeployedActor("pc", "serve", ("pc 2", "chti-1", "chti-2", "{x}"), 5, 9),
        *(
            DeployedActor(f"chti-{n}", "work", (f"00{n}", f"{n - 1}", f"pc/chti-{n}", *two), *rest)
            for n in (1, 2)
        ),
    )


REFUSED_OPTIONS = [
    ({"worker_program": ActorProgram("w", ["{nmber}"])}, "'{nmber}' {index}"),
    *(({"master_program": ActorProgram("m", [t])}, repr(t)) for t in ("{number}", "a{hosts}", "}")),
    ({"per_host": 0}, "0"),
    ({"lifetime": ActorLifetime(2, 1)}, "'master' 'pc' 1 2"),
]


@pytest.mark.parametrize(("options", "named"), REFUSED_OPTIONS)
def test_refused_options(options, named):
    with raises_naming(DeploymentError, *named.split()):
        master_workers(GRID, "pc", **options)


def test_several_workers_a_host():
    deployment = master_workers(
        GRID,
        "pc",
        "chti:2",
        per_host=3,
        master_program=ActorProgram("master", ("{workers}",)),
        worker_program=ActorProgram("worker", ("{number}",)),
    )
    assert deployment.actors[0].arguments == ("6",)
    places = [(actor.host, *actor.arguments) for actor in deployment.actors[1:]]
    assert places == [(f"chti-{1 + n // 3}", str(n + 1)) for n in range(6)]


OWN_DEPLOYMENTS = [
    ("python/app-masterworkers/app-masterworkers_d.xml", "{hosts}", (), "DIE"),
    ("c/app-masterworker/app-masterworker_d.xml", "{workers}", ("{index}",), "RESTART"),
]


@pytest.mark.parametrize(("file", "last", "of_workers", "on_failure"), OWN_DEPLOYMENTS)
def test_simgrids_own_deployments_can_be_made(file, last, of_workers, on_failure, simgrid_prefix):
    examples = simgrid_prefix / "share/examples"
    theirs = read_deployment(examples / file)
    platform = read_platform(examples / "platforms/small_platform.xml")
    workers = ["Tremblay", "Jupiter", "Fafard", "Ginette", "Bourassa"]
    made = master_workers(
        platform,
        theirs.actors[0].host,
        workers,
        master_program=ActorProgram("master", ("20", "50000000", "1000000", last)),
        worker_program=ActorProgram("worker", of_workers),
        lifetime=ActorLifetime(on_failure=on_failure),
    )
    assert made == theirs
