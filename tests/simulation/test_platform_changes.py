"""Changes that a platform's own profiles make, read as SimGrid follows them."""

from __future__ import annotations

import numpy as np
import pytest
from naming import raises_naming
from xml_zones import zone_xml

from simplugin import simulate
from simplugin.core.errors import PlatformError, WorkloadError
from simplugin.formats.platform_xml import read_platform
from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.platforms import Cluster, Host, Link, Platform, Profile, ProfileUse, Route, Zone
from simplugin.platforms.graphs import Graph
from simplugin.platforms.links import FATPIPE
from simplugin.pricing.changes import CapacityChange, changing, intervals
from simplugin.pricing.deployment import deploy, sharing_of
from simplugin.pricing.execution import PeriodicSettings, simulate_periodic
from simplugin.pricing.methods import Market
from simplugin.simulation.platform_changes import profile_changes
from simplugin.workloads import AlphaFair, Application

LOG = AlphaFair(1.0)
XML = zone_xml("""
    <host id="m" speed="25Mf"/>
    <host id="a" speed="25Mf,10Mf" core="2" pstate="1" speed_file="speed.profile"/>
    <host id="b" speed="25Mf" core="3" state_file="state.profile"/>
    <link id="wide" bandwidth="10MBps" latency="0" sharing_policy="SPLITDUPLEX"
          bandwidth_file="bandwidth.profile"/>
    <link id="narrow" bandwidth="5MBps" latency="1us"/>
    <route src="m" dst="a"><link_ctn id="wide" direction="UP"/></route>
    <route src="m" dst="b"><link_ctn id="narrow"/></route>
    <route src="a" dst="b"><link_ctn id="narrow"/></route>
    <trace id="cut" periodicity="3">1 0
2 1</trace>
    <trace_connect trace="cut" element="wide_UP" kind="LINK_AVAIL"/>
    <trace_connect trace="cut" element="narrow" kind="BANDWIDTH"/>
    <trace_connect trace="cut" element="m" kind="SPEED"/>
    <trace_connect trace="cut" element="a" kind="SPEED"/>
""")
FILES = {
    "speed.profile": "0 0.5\n2 1.0\n4 0.7\n8 4\nLOOPAFTER 10\n",
    "state.profile": "0 0\n1 1\n2.5 0\nLOOPAFTER 2\n",
    "bandwidth.profile": "2 2000000\n4 3000000\nLOOPAFTER 6\n",
}
APPLICATION = Application("x", "m", 1e6, 1e5)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A platform that changes in every way."""
    directory = tmp_path_factory.mktemp("changing")
    for name, text in FILES.items():
        (directory / name).write_text(text)
    (directory / "platform.xml").write_text(XML)
    return directory / "platform.xml"


async def watch(me, hosts, links, dates):
    """Return what each resource can do at some dates."""
    seen = []
    for date in dates:
        await me.sleep_until(date)
        for name in hosts:
            host = me.host_by_name(name)
            seen.append(host.is_on * host.speed * host.available_speed * host.cores)
        for name in links:
            link = me.link_by_name(name)
            seen.append(link.is_on * link.bandwidth)
    return seen


def capacity_at(date, name, nominal, changes):
    """Return what a resource can do at a date according to the changes."""
    its = [change for change in changes if change.resource == name and change.date <= date]
    return max(its, key=lambda change: change.date).capacity if its else nominal


def test_simgrid_sees_the_same_capacities(file):
    platform = read_platform(file)
    sharing = sharing_of(file, [APPLICATION])
    changes = profile_changes(platform, sharing, 40.0)
    dates = np.arange(0.25, 40.0, 0.5).tolist()
    hosts, links = ("m", "a", "b"), ("wide_UP", "narrow")
    result = simulate(file, [("m", watch, hosts, links, dates)], trace=False)
    seen = np.reshape(result.value_of("watch"), (len(dates), -1))
    nominal = dict(zip(sharing.hosts, sharing.speed, strict=True))
    nominal |= dict(zip(sharing.links, sharing.bandwidth, strict=True))
    told = [
        [capacity_at(date, name, nominal[name], changes) for name in (*hosts, *links)]
        for date in dates
    ]
    np.testing.assert_allclose(seen, told)
    # All of them change.
    assert np.all(np.ptp(seen, axis=0) > 0)
    [(host, spans)] = result.off_times.items()
    off = [any(start <= date < end for start, end in spans) for date in dates]
    # The simulation ends at the last date.
    assert (host, off[:-1]) == ("b", (seen[:-1, 2] == 0).tolist())


def test_each_change_changes_something(file):
    sharing = sharing_of(file, [APPLICATION])
    changes = profile_changes(file, sharing, 12.0)
    of_b = [(each.date, each.capacity) for each in changes if each.resource == "b"]
    ons, offs = (1.0, 5.5, 10.0), (0.0, 2.5, 7.0, 11.5)
    assert of_b == sorted([(date, 75e6) for date in ons] + [(date, 0.0) for date in offs])
    assert profile_changes(Graph.duplex("AB", [1.0, 1.0], [(0, 1)], [1.0]), sharing, 12.0) == []
    # A host of no speed for a while is not off.
    still = [each for each in changes if each.resource == "m" and each.capacity == 0]
    assert still
    assert not any(each.fails for each in still)


def deployed(platform, applications):
    """Return the deployment on a platform or graph."""
    return (deploy if isinstance(platform, Graph) else sharing_of)(platform, applications)


def flat(*extra, policy="SHARED", **link):
    """Two hosts behind a common backbone, and another way to the second."""
    hosts = [Host(name, 1e6) for name in "mab"]
    links = [Link("backbone", 8e5, 1e-4), Link("a_link", 1e6), Link("b_link", 1e6, 0.0, **link)]
    links += [Link("pipe", 1e6, 1e-5, sharing_policy=policy)]
    routes = (
        Route("m", "a", ["backbone", "a_link"]),
        Route("m", "b", ["backbone", "b_link", "pipe"]),
        Route("a", "b", ["a_link", "b_link"]),
    )
    return Platform((Zone("all", "Full", (*hosts, *links), routes), *extra))


def followed(platform, applications, sharing, until, changes=()):
    """Return a run, and the parts between changes, in each of which it finds the optimum."""
    kept = simulate_periodic(
        platform,
        applications,
        sharing,
        Market(relaxation=0.5),
        LOG,
        PeriodicSettings(until=until, period=0.02),
        changes=changes,
    )
    parts = intervals(sharing, applications, changes, until, platform)
    for part in parts:
        assert kept.return_time(part, fair_sharing(part.sharing).throughput) is not None
    return kept, parts


def best_of(parts):
    """Return the optimal throughput of the first application in each part [task/s]."""
    return [fair_sharing(part.sharing).throughput[0] for part in parts]


def follows(name, kind, points, **profile):
    """Return a profile that one resource follows."""
    return Profile.of_points(name, points, **profile), ProfileUse(name, name.split()[0], kind)


@pytest.mark.parametrize(("name", "kind"), [("a", "HOST_AVAIL"), ("a_link", "LINK_AVAIL")])
def test_a_backbone_keeps_its_price_when_its_first_user_is_cut_off(name, kind):
    # The backbone is short: y alone could use 1e6 byte/s of it, and the other hosts.
    state = follows(f"{name} state", kind, [(3.0, 0.0), (6.0, 1.0)])
    platform = flat(*state)
    applications = [Application("x", "m", 1e3, 2e3), Application("y", "m", 2e3, 1e3)]
    sharing = sharing_of(platform, applications)
    kept, parts = followed(platform, applications, sharing, 9.0)
    assert [(part.start, part.end) for part in parts] == [(0.0, 3.0), (3.0, 6.0), (6.0, 9.0)]
    best = fair_sharing(parts[-1].sharing)
    assert best.link_price[sharing.links.index("backbone")] > 0
    assert kept.link_price == pytest.approx(best.link_price, rel=1e-2, abs=1e-9)
    assert kept.host_price == pytest.approx(best.host_price, rel=1e-2, abs=1e-9)


PIPE_FAILS = follows("pipe state", "LINK_AVAIL", [(2.0, 0.0), (4.0, 1.0)])
CLUSTER = Platform(Cluster("c", "0-2", 1e6, 1e6, 1e-4, prefix="h"))
TWO = Graph.duplex("AB", [1e6, 1e6], [(0, 1)], [1e6])
CUT_OFF = [
    (flat(*PIPE_FAILS), "m", (), ["abm", "am", "abm"], [3e3, 2e3, 3e3]),
    (flat(*PIPE_FAILS, policy=FATPIPE), "m", (), ["abm", "am", "abm"], [3e3, 2e3, 3e3]),
    # The way back fails.
    (TWO, "A", [(2.0, "B->A", 0.0), (4.0, "B->A", 1e6)], ["AB", "A", "AB"], [2e3, 1e3, 2e3]),
    (CLUSTER, "h0", [(2.0, "h1", 0.0), (4.0, "h2", 5e5)], ["012", "02", "02"], [3e3, 2e3, 1.5e3]),
]


@pytest.mark.parametrize(("platform", "master", "changes", "there", "best"), CUT_OFF)
def test_what_fails_cuts_off_whom_it_leads_to(platform, master, changes, there, best):
    applications = [Application("x", master, 1e3, 1.0)]
    sharing = deployed(platform, applications)
    changes = [CapacityChange(*change) for change in changes]
    _, parts = followed(platform, applications, sharing, 6.0, changes)
    names = [sorted({sharing.hosts[host][-1] for host in part.sharing.host}) for part in parts]
    assert ["".join(each) for each in names] == there
    assert best_of(parts) == pytest.approx(best)


PROFILED = flat(*follows("a speed", "SPEED", [(2.0, 0.5)], period=4.0))


def test_changes_beside_profiles():
    platform = PROFILED
    applications = [Application("x", "m", 1e3, 1.0)]
    sharing = sharing_of(platform, applications)
    changes = [CapacityChange(3.0, "b", 3e5)]
    # A fraction once taken lasts.
    parts = intervals(sharing, applications, changes, 6.0, platform)
    assert best_of(parts) == pytest.approx([3e3, 2.5e3, 1.8e3])
    made = changing(platform, changes, sharing)
    assert made.elements[: len(platform.elements)] == platform.elements
    assert len(made.elements) == len(platform.elements) + 2


FORWARDING = Graph.duplex("AB", [1e6, 0.0], [(0, 1)], [1e6])


@pytest.mark.parametrize(
    ("platform", "master", "change"),
    [
        (PROFILED, "m", (1.0, "a", 1.0)),
        (PROFILED, "m", (1.0, "c", 1.0)),
        (CLUSTER, "h0", (1.0, "c_link_1_UP", 0.0)),
        (FORWARDING, "A", (1.0, "B", 1e6)),
    ],
)
def test_what_cannot_change(platform, master, change):
    sharing = deployed(platform, [Application("x", master, 1e3, 1.0)])
    with raises_naming(WorkloadError, repr(change[1])):
        changing(platform, [CapacityChange(*change)], sharing)


def test_hosts_that_only_forward_can_fail():
    sharing = deployed(FORWARDING, [Application("x", "A", 1e3, 1.0)])
    assert changing(FORWARDING, [CapacityChange(1.0, "B", 0.0)], sharing).elements


@pytest.mark.parametrize(
    ("platform", "named"),
    [
        (flat(Profile("r", "STOCHASTIC\nEXP 1 DET 1\n"), ProfileUse("r", "a")), "'a'"),
        (flat(*follows("a state", "HOST_AVAIL", [(0.0, 1.0)], period=1e-5)), "'a'"),
        (flat(state_profile="nowhere.profile"), "'nowhere.profile'"),
    ],
)
def test_profiles_that_cannot_be_followed(platform, named):
    sharing = sharing_of(flat(), [APPLICATION])
    with raises_naming(PlatformError, named):
        profile_changes(platform, sharing, 10.0)


# What the profiles of small_platform_failures.xml say.
FAILURES = {
    "Jupiter": [(1, 0), (2, 25e6)],
    "Fafard": [(0, 0), (1, 25e6), (2, 0)],
    "Ginette": [(41, 0), (50, 25e6)],
    "3": [(13, 0), (14, 1e6), (15, 0), (16, 1e6), (20, 0), (25, 1e6)],
    "4": [(25, 0), (30, 1e6)],
}


def test_simgrids_example_of_failures(shared_data):
    file = shared_data / "platforms/small_platform_failures.xml"
    if not file.is_file():
        pytest.skip(f"{file} is not there")
    applications = [
        Application("x", "Tremblay", 25e6, 1e5),
        Application("y", "Bourassa", 50e6, 6e5, weight=2.0),
    ]
    sharing = sharing_of(file, applications)
    found: dict[str, list[tuple[float, float]]] = {}
    for change in profile_changes(file, sharing, 60.0):
        found.setdefault(change.resource, []).append((change.date, change.capacity))
    assert found == FAILURES
    assert len(intervals(sharing, applications, [], 60.0, file)) == 12
