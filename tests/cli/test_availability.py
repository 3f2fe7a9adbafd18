"""``simplugin platform availability`` as users call it."""

import math
import re
from functools import partial

import pytest

from simplugin import Cluster, Link, Platform, Zone
from simplugin.formats.check import check
from simplugin.formats.platform_xml import read_platform, write_platform
from simplugin.platforms import Host, Profile, ProfileUse, Route
from simplugin.platforms.availability import processes
from simplugin.platforms.availability.followers import Availability, with_availability
from simplugin.platforms.availability.processes import Churn, Levels, Outages
from simplugin.platforms.laws import Law

DAY = 86400.0
ROOM = (Host("ada", 1e9), Host("bob", 1e9), Link("cable", 1e6, 1e-3))
PLATFORM = Platform(
    Zone("lab", "Full", (Zone("room", "Full", ROOM, (Route("ada", "bob", ["cable"]),)),))
)


@pytest.fixture
def call(simplugin):
    return partial(simplugin, "platform", "availability", merge=True)


@pytest.fixture
def file(tmp_path):
    write_platform(PLATFORM, tmp_path / "lab.xml")
    return tmp_path / "lab.xml"


@pytest.fixture
def made(file, call):
    """Return what the command writes; checked."""

    def make(*words):
        output = file.parent / "out.xml"
        call(file, *words, "-o", output, status=0)
        assert check([output]) == []
        return read_platform(output)

    return make


HOUR, TEN_MINUTES, MINUTE = (Law("constant", (each,)) for each in (3600.0, 600.0, 60.0))
WEIBULL, FAULTS = processes.model_named("g5k06-weibull"), Outages(HOUR, MINUTE)
LOAD = Levels(Law("uniform", (0.2, 1.0)), Law("exponential", (600.0,)))
STATES = Outages(Law("weibull", (0.5, 7200.0)), TEN_MINUTES, start="up")
OF_BOTH = {"states": STATES, "hosts": ["ada", "bob"]}
CHURN = Churn(Law("exponential", (2 * DAY,)), Law("uniform", (3600.0, DAY)), HOUR)
LATE = Levels(Law("lognormal", (3.0, 1.0)), TEN_MINUTES, math.inf)


PROCESSES = [
    ("hosts.model=g5k06-weibull spared=ada", {"states": WEIBULL, "spared": ["ada"]}),
    ("hosts.up=weibull(0.5,2h) hosts.down=10m hosts.start=up hosts.choice=ada,bob", OF_BOTH),
    ("links.choice=room links.up=1h links.down=1m", {"link_states": FAULTS, "links": "room"}),
    ("hosts.arrival=uniform(1h,1d) hosts.stay=exponential(2d) hosts.away=1h", {"states": CHURN}),
    ("hosts.speed=uniform(0.2,1) hosts.speed_for=exponential(10m)", {"speeds": LOAD}),
    ("links.bandwidth=uniform(0.2,1) links.bandwidth_for=exponential(10m)", {"bandwidths": LOAD}),
    ("links.latency=lognormal(3,1) links.latency_for=10m", {"latencies": LATE}),
]


@pytest.mark.parametrize(("words", "given"), PROCESSES)
def test_options_stand_for_processes(made, words, given):
    written = made(*words.split(), "until=7d", "seed=3")
    assert written == with_availability(PLATFORM, 7 * DAY, 3, Availability(**given))
    assert any(isinstance(part, ProfileUse) for part, _ in written.walk())


def test_same_command_same_bytes(file, call):
    words = ["hosts.model=nd07cpu-weibull", "until=7d"]
    printed = [call(file, *words, f"seed={seed}").stdout for seed in (1, 1, 2)]
    assert printed[0] == printed[1]
    # All but the comment, which has the command.
    assert printed[0].partition("<platform")[2] != printed[2].partition("<platform")[2]


def test_profiles_in_files(file, made):
    words = ["hosts.model=g5k06-weibull", "until=30d", "seed=3"]
    within = made(*words)
    outside = made(*words, "--files", file.parent / "profiles")
    names = [part.file for part, _ in outside.walk() if isinstance(part, Profile)]
    assert names == ["profiles/ada.state.profile", "profiles/bob.state.profile"]
    texts = [part.text.strip() for part, _ in within.walk() if isinstance(part, Profile)]
    assert [(file.parent / name).read_text().strip() for name in names] == texts


def test_models_are_listed(call):
    result = call("--models", status=0)
    names = [line.split()[0].removesuffix("(T)") for line in result.stdout.splitlines()]
    assert tuple(names[1:]) == processes.model_names()
    (line,) = re.findall(r"g5k06-exponential +([\d.]+) h +([\d.]+) h +([\d.]+)%", result.stdout)
    assert line == ("32.4", "7.41", "81.4")


WRONG = [
    ("", "links.up"),
    ("hosts.up=1h", "hosts.down"),
    ("hosts.speed=0.5", "hosts.speed_for"),
    ("hosts.away=1h", "hosts.away"),
    ("hosts.model=pl05-gamma hosts.up=1h hosts.down=1h", "hosts.model"),
    ("hosts.model=pl05-gamma hosts.stay=1h", "hosts.stay"),
    ("hosts.model=g5k07-weibull", "hosts.model"),
    ("hosts.model=schroeder-gibson06(30)", "hosts.model"),
    ("hosts.stay=exp(2h)", "hosts.stay"),
    ('hosts.stay={law="exp",mean="2h"}', "hosts.stay"),
    ("hosts.stay=1h hosts.start=stationary", "hosts.start"),
    ("links.latency=2 links.latency_for=1h links.start=up", "links.start"),
    ("hosts.stay=1h hosts.hosts=ada", "hosts.hosts"),
    ("hosts.stay=1h hosts.choice=carl", "carl"),
    ("hosts.stay=1h hosts.choice=ada,", "''"),
    ("hosts.speed=uniform(0.5,2) hosts.speed_for=1h", "above 1"),
    ("hosts.speed=0.5 hosts.speed_for=1h links.choice=no", "no"),
    ("links.latency=2 links.latency_for=1h hosts.choice=ada", "hosts"),
    ("links.up=1h links.down=1h links.choice=,", "''"),
    ("hosts.stay=1h until=7.5", "until"),
    ("hosts.stay=1h until=fortnight", "until"),
]


@pytest.mark.parametrize(("words", "culprit"), WRONG)
def test_invalid_keys_are_refused(file, words, culprit, call):
    until = () if "until" in words else ("until=1d",)
    assert culprit in call(file, *until, *words.split(), status=1).stdout


def test_profiles_as_files_need_an_output(file, call):
    call(file, "until=1d", "hosts.stay=1h", "--files", "x", status=2)
    call(file, status=2)
    assert "'until' is missing" in call(file, "hosts.stay=1h", status=1).stdout


def test_a_table_is_read_from_a_file_and_its_keys_are_overridden(file, made, call):
    table = file.parent / "changes.toml"
    table.write_text(
        'until = "7d"\n[hosts]\nchoice = ["ada", "bob"]\n'
        'stay = { law = "exponential", mean = "2d" }\narrival = "uniform(1h, 1d)"\naway = 3600\n'
    )
    assert made(table, "seed=3") == with_availability(
        PLATFORM, 7 * DAY, 3, Availability(states=CHURN, hosts="ada,bob")
    )
    table.write_text(table.read_text() + "speed = 0.5\n")
    said = call(file, table, status=1).stdout
    assert said.startswith(f"simplugin: {table}:")
    assert "hosts.speed_for" in said


def test_links_of_clusters_need_these_written_out(tmp_path, call):
    cluster = Platform(Zone("z", "Full", (Cluster("c", "0-3", 1e9, 1e6, 0.0, prefix="c-"),)))
    write_platform(cluster, tmp_path / "c.xml")
    words = ["links.up=exponential(1h)", "links.down=1m", "until=1d"]
    assert "--expand" in " ".join(call(tmp_path / "c.xml", *words).stdout.split())
    call(tmp_path / "c.xml", *words, "--expand", "-o", tmp_path / "made.xml", status=0)
    parts = [part for part, _ in read_platform(tmp_path / "made.xml").walk()]
    uses = [part.element for part in parts if isinstance(part, ProfileUse)]
    assert uses == [f"c_link_{number}_{way}" for number in range(4) for way in ("UP", "DOWN")]


def test_clusters_that_cannot_be_written_out(tmp_path, call):
    torus = Cluster("t", "0-7", 1e9, 1e6, 0.0, topology="TORUS", topology_parameters="2,2,2")
    write_platform(Platform(Zone("z", "Full", (torus,))), tmp_path / "t.xml")
    result = call(tmp_path / "t.xml", "hosts.stay=1h", "until=1d", "--expand", status=1)
    assert "its topology is TORUS; leave the clusters as they are" in result.stdout
