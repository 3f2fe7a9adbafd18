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
    ("--model g5k06-weibull --spared ada", {"states": WEIBULL, "spared": ["ada"]}),
    ("--up weibull(0.5,2h) --down 10m --start up --hosts ada,bob", OF_BOTH),
    ("--links room --link-up 1h --link-down 1m", {"link_states": FAULTS, "links": "room"}),
    ("--arrival uniform(1h,1d) --stay exponential(2d) --away 1h", {"states": CHURN}),
    ("--speed uniform(0.2,1) --speed-for exponential(10m)", {"speeds": LOAD}),
    ("--bandwidth uniform(0.2,1) --bandwidth-for exponential(10m)", {"bandwidths": LOAD}),
    ("--latency lognormal(3,1) --latency-for 10m", {"latencies": LATE}),
]


@pytest.mark.parametrize(("words", "given"), PROCESSES)
def test_options_stand_for_processes(made, words, given):
    written = made(*words.split(), "--until", "7d", "--seed", "3")
    assert written == with_availability(PLATFORM, 7 * DAY, 3, Availability(**given))
    assert any(isinstance(part, ProfileUse) for part, _ in written.walk())


def test_same_command_same_bytes(file, call):
    words = ["--model", "nd07cpu-weibull", "--until", "7d", "--seed"]
    printed = [call(file, *words, seed).stdout for seed in (1, 1, 2)]
    assert printed[0] == printed[1]
    # All but the comment, which has the command.
    assert printed[0].partition("<platform")[2] != printed[2].partition("<platform")[2]


def test_profiles_in_files(file, made):
    words = ["--model", "g5k06-weibull", "--until", "30d", "--seed", "3"]
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
    ("", 2, "say what changes"),
    ("--up 1h", 2, "--up and --down go together"),
    ("--speed 0.5", 2, "--speed and --speed-for go together"),
    ("--away 1h", 2, "--arrival and --away need --stay"),
    ("--model pl05-gamma --up 1h --down 1h", 2, "--model, or --up"),
    ("--model pl05-gamma --stay 1h", 2, "outages or churn, not both"),
    ("--stay 1h --files x", 2, "--files needs --output"),
    ("--model g5k07-weibull", 1, "no model 'g5k07-weibull'"),
    ("--stay exp(2h)", 1, "there is no law 'exp'"),
    ("--stay 1h --hosts carl", 1, "'carl' is no host, zone, cluster"),
    ("--speed uniform(0.5,2) --speed-for 1h", 1, "above 1"),
    ("--speed 0.5 --speed-for 1h --links no", 2, "--links means nothing"),
    ("--latency 2 --latency-for 1h --hosts all", 2, "--hosts means nothing"),
    ("--speed 0.5 --speed-for 1h --start up", 2, "--start means nothing"),
    ("--stay 1h --start stationary", 2, "--start means nothing without --model"),
    ("--stay 1h --hosts ada,", 1, "'' is no host"),
    ("--link-up 1h --link-down 1h --links ,", 1, "no link or zone ''"),
    ("--model schroeder-gibson06(30)", 1, "time '30' has no unit"),
]


@pytest.mark.parametrize(("words", "status", "said"), WRONG)
def test_what_makes_no_sense_is_told(file, words, status, said, call):
    result = call(file, "--until", "1d", *words.split(), status=status)
    assert said in " ".join(re.sub("[│╭╮╰╯─]", " ", result.stdout).split())


def test_a_date_to_end_at_is_needed(file, call):
    call(file, "--stay", "1h", status=2)
    call("--until", "1d", "--stay", "1h", status=2)
    for until in ("1 fortnight", "7.5"):
        assert until in call(file, "--until", until, "--stay", "1h", status=2).stdout


def test_links_of_clusters_need_these_written_out(tmp_path, call):
    cluster = Platform(Zone("z", "Full", (Cluster("c", "0-3", 1e9, 1e6, 0.0, prefix="c-"),)))
    write_platform(cluster, tmp_path / "c.xml")
    words = ["--link-up", "exponential(1h)", "--link-down", "1m", "--until", "1d"]
    assert "--expand" in " ".join(call(tmp_path / "c.xml", *words).stdout.split())
    call(tmp_path / "c.xml", *words, "--expand", "-o", tmp_path / "made.xml", status=0)
    parts = [part for part, _ in read_platform(tmp_path / "made.xml").walk()]
    uses = [part.element for part in parts if isinstance(part, ProfileUse)]
    assert uses == [f"c_link_{number}_{way}" for number in range(4) for way in ("UP", "DOWN")]


def test_clusters_that_cannot_be_written_out(tmp_path, call):
    torus = Cluster("t", "0-7", 1e9, 1e6, 0.0, topology="TORUS", topology_parameters="2,2,2")
    write_platform(Platform(Zone("z", "Full", (torus,))), tmp_path / "t.xml")
    result = call(tmp_path / "t.xml", "--stay", "1h", "--until", "1d", "--expand", status=1)
    assert "its topology is TORUS; leave the clusters as they are" in result.stdout
