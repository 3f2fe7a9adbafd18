"""Checking files: each finding has its line, and errors are what SimGrid refuses."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import mutants
import pytest
from marked import assert_refused, unmarked

from simplugin.core.errors import PlatformError
from simplugin.formats.check import check, exit_status
from simplugin.formats.platform_xml import read_deployment, read_platform

HEADER = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
"""
UNSPLIT = """<host id="a" speed="1Gf"/>
<host id="b" speed="1Gf"/>
<link id="l" bandwidth="1MBps" latency="1us"/>
"""
SPLIT = '<link id="s" bandwidth="1MBps" latency="1us" sharing_policy="SPLITDUPLEX"/>\n'
HOSTS = UNSPLIT + SPLIT
FOLLOWING = HOSTS.replace('"1Gf"', '"1Gf" speed_file="p"', 1)
JOINED = '<route src="a" dst="b"><link_ctn id="l"/></route>\n'
BACK = '<route src="b" dst="a"><link_ctn id="l"/></route>\n'
ONE_WAY = JOINED.replace("><", ' symmetrical="NO"><', 1)
PROFILE = '<trace id="t" periodicity="9">1 0</trace>\n'
USE = '<trace_connect trace="t" element="a" kind="SPEED"/>\n'
LINK_USE = '<trace_connect trace="t" element="l" kind="LINK_AVAIL"/>'
CLUSTER = '<cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1MBps" lat="1us"/>\n'
TORUS = ' topology="TORUS" topo_parameters="3,3"/>'
DRAGONFLY = ' topology="DRAGONFLY" topo_parameters="2,1;1,1;1,1;2"/>'
OTHER = CLUSTER.replace('"c"', '"d"')
SITES = """<zone id="x" routing="Full"><host id="a" speed="1Gf"/></zone>
<zone id="y" routing="Full"><host id="b" speed="1Gf"/></zone>
<link id="l" bandwidth="1MBps" latency="1us"/>
"""
ENDS = 'src="x" dst="y" gw_src="a" gw_dst="b"'
ZONE_ROUTE = f'<zoneRoute {ENDS}><link_ctn id="l"/></zoneRoute>\n'
WITHIN = f'<zone id="z" routing="Full">\n<host id="c" speed="1f"/>\n¶{JOINED}</zone>\n'

Verdict = Callable[[Path], tuple[str, str]]


def platform(content: str, routing: str = "Full") -> str:
    """Return a platform file; the mark is at the zone if there is none in its content."""
    mark = "" if "¶" in content else "¶"
    zone = f'{mark}<zone id="w" routing="{routing}">\n{content}</zone>\n'
    return f'{HEADER}<platform version="4.1">\n{zone}</platform>\n'


def deployment(content: str) -> str:
    return f'{HEADER}<platform version="4.1">\n{content}</platform>\n'


def found(tmp_path: Path, text: str) -> list[tuple[int, str, str]]:
    """Check a file; return line, severity and message of each finding."""
    path = tmp_path / "file.xml"
    path.write_text(unmarked(text)[0], encoding="utf-8")
    findings = check([path])
    assert all(finding.file == str(path) and finding.remedy for finding in findings)
    return [(finding.line, finding.severity, finding.message) for finding in findings]


def assert_finding(tmp_path: Path, marked: str, severity: str, message: str) -> None:
    """Assert that a file has one finding, at its mark."""
    text, line = unmarked(marked)
    (finding,) = found(tmp_path, text)
    assert finding[:2] == (line, severity)
    assert message in finding[2]


@pytest.fixture(scope="module")
def verdict_on() -> Iterator[Verdict]:
    """Return SimGrid's verdict on a file."""
    with mutants.simgrid_verdicts() as verdict:
        yield verdict


def test_a_good_file_is_clean(tmp_path):
    assert found(tmp_path, platform(HOSTS + JOINED)) == []
    commented = JOINED.replace("/><", "> <!-- in an empty element --> </link_ctn><")
    assert found(tmp_path, platform(HOSTS + commented)) == []


FAULTS = [
    ('¶<host id="a" speed="1GHz"/>', "unknown unit 'GHz'"),
    ('¶<link id="l" bandwidth="1MBps"/>', "has no attribute 'latency'"),
    ('¶<host id="a" speed="1f" ram="1"/>', "unknown attribute 'ram'"),
    ('¶<computer id="a"/>', "no element <computer>"),
    ('¶<include file="other.xml"/>', "was removed"),
    ('¶<host id="a" speed="1f">fast</host>', "there is text"),
    ('¶<host id="a" speed="1f" core="0"/>', "cores of host 'a' cannot be 0"),
    ('¶<host id="a" speed="1f" pstate="1"/>', "power state 1"),
    ('¶<host id="a" speed="1f" speed_file="none.txt"/>', "is not found"),
    ('¶<host id="a" speed="1f"><prop id="remote_disk" value="/m:d:b"/></host>', "remote disk"),
    (f'{HOSTS}¶<host id="a" speed="1f"/>{JOINED}', "'a' has the name"),
    (f"¶{SPLIT.replace('SPLITDUPLEX', 'HALF')}", "'HALF'"),
    ("¶" + SPLIT.replace("/>", ' state_file="p"/>'), "has a state profile"),
    (f'{HOSTS}¶<link id="s_UP" bandwidth="1Bps" latency="0"/>', "'s_UP' is declared twice"),
    (HOSTS + "¶" + JOINED.replace('"l"', '"m"'), "unknown link 'm'"),
    (HOSTS + "¶" + JOINED.replace('"b"', '"z"'), "'z' is unknown"),
    (HOSTS + "¶" + JOINED.replace('"l"', '"s"'), "without a direction"),
    (HOSTS + "¶" + JOINED.replace('"l"', '"l" direction="UP"'), "not split-duplex"),
    (f"{HOSTS}{JOINED}¶{JOINED}", "two routes from 'a' to 'b'"),
    (f'{HOSTS}¶<route src="a" dst="b"/>', "the links of the route from 'a' to 'b' are"),
    (f'{JOINED}¶<host id="a" speed="1f"/>', "cannot follow routes or traces"),
    (f'{PROFILE}¶<host id="a" speed="1f"/>', "cannot follow routes or traces"),
    (f"{HOSTS}¶{CLUSTER}", "cannot follow hosts or links"),
    (f"{FOLLOWING}{PROFILE}¶{USE}{JOINED}", "host 'a' follows two profiles of kind SPEED"),
    (f"¶{USE}", "profile 't' is unknown"),
    ('¶<trace id="t" periodicity="9">\n2 1\n1 1\n</trace>', "comes before 2"),
    (SITES + "¶" + ZONE_ROUTE.replace('"a" gw_dst="b"', '"b" gw_dst="c"'), "'b' is in 'y'"),
    (SITES + "¶" + ZONE_ROUTE.replace('gw_dst="b"', ""), "has no attribute 'gw_dst'"),
    (f"{SITES}{WITHIN}", "'a' is in zone 'x', not directly in 'z'"),
    (f"¶{CLUSTER.replace('0-3', '0-3,x')}", "radical '0-3,x' is malformed"),
    (f"{CLUSTER}¶{OTHER}", "host 'n0' has the name"),
    (f"¶{CLUSTER.replace('/>', TORUS)}", "4 hosts, but its topology has 9 places"),
]


@pytest.mark.parametrize(("content", "message"), FAULTS)
def test_every_fault_is_told_with_its_line(content, message, tmp_path, verdict_on):
    assert_error(tmp_path, platform(content), message, verdict_on)


FAULTS_OF_ROUTINGS = [
    ("Fuzzy", HOSTS + JOINED, "the routing of zone 'w' is 'Fuzzy'"),
    ("Floyd", f"{HOSTS}{JOINED}¶{BACK}", "two routes from 'b' to 'a'"),
    ("Wifi", f"{UNSPLIT}{PROFILE}¶{LINK_USE}", "Wi-Fi link 'l' follows a profile"),
    ("None", f"{HOSTS}¶{JOINED}", "takes no <route>"),
    ("Cluster", f"{HOSTS}¶{JOINED}", "takes no <route> between two elements"),
    ("Cluster", f'{HOSTS}¶<host_link id="a" up="l" down="m"/>', "unknown link 'm'"),
    ("Cluster", f"{CLUSTER}¶{OTHER.replace('cluster', 'cabinet')}", "cannot follow zones"),
]


@pytest.mark.parametrize(("routing", "content", "message"), FAULTS_OF_ROUTINGS)
def test_faults_of_zones_of_other_routings(routing, content, message, tmp_path, verdict_on):
    assert_error(tmp_path, platform(content, routing), message, verdict_on)


def assert_error(tmp_path: Path, marked: str, message: str, verdict_on: Verdict) -> None:
    """Assert that an error is told at the mark of a file that SimGrid refuses."""
    text, line = unmarked(marked)
    findings = found(tmp_path, text)
    errors = [(at, said) for at, severity, said in findings if severity == "error"]
    assert [at for at, said in errors if message in said] == [line], errors
    assert verdict_on(tmp_path / "file.xml")[0] == "refused"


RATED = "".join(
    f'<host id="{name}" speed="1Gf"><prop id="wifi_rate" value="0"/></host>\n' for name in "ab"
)


WARNINGS = [
    ("Full", HOSTS, "'a' cannot reach 'b'"),
    ("Dijkstra", HOSTS + ONE_WAY, "'b' cannot reach 'a'"),
    ("Full", SITES, "zone 'x' cannot reach zone 'y'"),
    ("Full", "¶" + HOSTS.replace("1Gf", "1000", 1) + JOINED, "'1000', without a unit"),
    ("Full", "¶" + HOSTS.replace("1Gf", "2Ef", 1) + JOINED, "'2Ef', which no hardware has"),
    ("Cluster", "¶" + CLUSTER.replace("1us", "50s"), "'50s', which no hardware has"),
    ("Cluster", HOSTS, "'a' cannot reach 'b'"),
    ("Vivaldi", HOSTS, "'a' has no coordinates"),
    ("None", HOSTS, "'a' cannot reach 'b'"),
    ("Wifi", RATED, "'a' cannot reach 'b'"),
    ("Wifi", RATED.replace('<host id="b"', '¶<host id="w"'), "'w' has"),
    ("Full", "¶" + CLUSTER.replace("/>", DRAGONFLY), "2 groups and 1 routers a chassis"),
]


@pytest.mark.parametrize(("routing", "content", "message"), WARNINGS)
def test_what_goes_wrong_later_is_a_warning(routing, content, message, tmp_path):
    assert_finding(tmp_path, platform(content, routing), "warning", message)


def test_only_what_no_hardware_has_is_odd(tmp_path):
    text = platform(HOSTS.replace("1Gf", "1kf,1Ef").replace("1MBps", "1PBps") + JOINED)
    assert found(tmp_path, text) == []
    text = platform(HOSTS.replace("1Gf", "1Gf,999f").replace("1us", "0s") + JOINED)
    assert [line for line, _, _ in found(tmp_path, text)] == [5, 6]


def test_several_faults_are_told_at_once_and_in_order(tmp_path):
    text = platform(
        HOSTS.replace("1MBps", "1MBsp", 1)
        + '<host id="b" speed="2Gf"/>\n<host id="c" speed="fast"/>\n'
        + JOINED.replace('"l"', '"nowhere"')
        + '<route src="a" dst="c"><link_ctn id="l"/></route>\n'
    )
    assert [line for line, _, _ in found(tmp_path, text)] == [7, 9, 10, 11]


def test_a_broken_element_still_bears_its_name(tmp_path):
    text = platform(HOSTS.replace("1Gf", "1GHz").replace("1MBps", "fast") + JOINED)
    assert [line for line, _, _ in found(tmp_path, text)] == [5, 6, 7, 8]
    gateways = 'gw_src="nc_router" gw_dst="md_router"'
    route = f'<zoneRoute src="c" dst="d" {gateways}><link_ctn id="c_link_0_UP"/></zoneRoute>\n'
    text = platform(CLUSTER.replace("1Gf", "1GHz") + OTHER.replace('"n"', '"m"') + route)
    assert [line for line, _, _ in found(tmp_path, text)] == [5]

    # A start tag over several lines is found at its beginning.
    text = platform('<host\n  id="a"\n  speed="1GHz"\n/>\n')
    assert [line for line, _, _ in found(tmp_path, text)] == [5]


@pytest.mark.parametrize("fault", ["", 'start_time="5" kill_time="3"', 'colour="red"'])
def test_actors_must_be_on_hosts_of_the_platform(fault, tmp_path):
    """The finding is the same with and without another fault."""
    hardware, actors = tmp_path / "platform.xml", tmp_path / "deployment.xml"
    hardware.write_text(unmarked(platform(CLUSTER))[0])
    actors.write_text(
        deployment(f'<actor host="n3" function="f"/>\n<actor host="n4" function="f" {fault}/>\n')
    )
    alone = check([actors])
    assert len(alone) == bool(fault)
    together = sorted(check([hardware, actors]), key=lambda finding: "lacks" in finding.message)
    assert together[:-1] == alone
    assert (together[-1].file, together[-1].line) == (str(actors), 5)
    assert "'n4'" in together[-1].message


WRONG_ACTORS = [
    ('host="a" function=""', "function"),
    ('host="" function="f"', "host"),
    ('host="a" function="f" start_time="5" kill_time="3"', "killed at 3.0 s"),
    ('host="a" function="f" start_time="soon"', "'soon'"),
    ('host="a" function="f" on_failure="CRY"', "'CRY'"),
    ('function="f"', "has no attribute 'host'"),
]


@pytest.mark.parametrize(("actor", "message"), WRONG_ACTORS)
def test_faults_of_deployments(actor, message, tmp_path):
    assert_finding(tmp_path, deployment(f"\n¶<actor {actor}/>\n"), "error", message)
    assert_refused(read_deployment, tmp_path / "f.xml", deployment(f"\n¶<actor {actor}/>\n"))


OLD_FILES = [
    ("http://simgrid.gforge.inria.fr/simgrid.dtd", '<platform version="3">'),
    ("surfxml.dtd", "<platform>"),
]


@pytest.mark.parametrize(("doctype", "root"), OLD_FILES)
def test_old_files_are_told_how_to_be_upgraded(doctype, root, tmp_path):
    path = tmp_path / "old.xml"
    path.write_text(
        f"<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"{doctype}\">\n{root}\n"
        '<AS id="a" routing="Full"><host id="h" power="1"/></AS></platform>\n'
    )
    (finding,) = check([path])
    assert (finding.line, finding.severity) == (3, "error")
    assert f"simplugin platform upgrade {path}" in finding.remedy
    with pytest.raises(PlatformError):
        read_platform(path)


def configured(option: str, value: str) -> str:
    """Return a good platform with an option of SimGrid; its line is marked."""
    config = f'¶<config><prop id="{option}" value="{value}"/></config>\n'
    return platform(HOSTS + JOINED).replace("¶", config)


OPTIONS = [
    ("network/modle", "CM02", None),
    ("network/model", "ns-3", "CM02"),
    ("network/optim", "TI", "Full"),
    ("host/solver", "simplex", "bmf"),
    ("network/crosstraffic", "maybe", "OFF"),
    ("contexts/stack-size", "2.5", "2"),
    ("network/weight-S", "20537B", "20537.0"),
]


@pytest.mark.parametrize(("option", "wrong", "right"), OPTIONS)
def test_options_are_those_of_simgrid(option, wrong, right, tmp_path):
    assert_finding(tmp_path, configured(option, wrong), "error", repr(option))
    if right is not None:
        assert_finding(tmp_path, configured(option, wrong), "error", repr(wrong))
        assert found(tmp_path, configured(option, right)) == []


def test_of_an_option_that_is_set_twice_the_first_counts(tmp_path, verdict_on):
    twice = (
        '<prop id="network/weight-S" value="1"/><prop id="network/weight-S" value="x"/></config>'
    )
    text = configured("network/crosstraffic", "no").replace("</config>", twice, 1)
    assert found(tmp_path, text) == []
    assert verdict_on(tmp_path / "file.xml")[0] == "loads"


def test_status(tmp_path):
    good, bad = tmp_path / "good.xml", tmp_path / "bad.xml"
    good.write_text(unmarked(platform(HOSTS + JOINED))[0])
    bad.write_text(unmarked(platform(HOSTS))[0])
    assert exit_status(check([good])) == 0
    assert exit_status(check([good, bad])) == 1
    assert exit_status(check([good, bad, tmp_path / "absent.xml"])) == 2


OLD, NEW = 'availability_file="a.profile"', 'speed_file="a.profile"'
OLD_B, B, C = (f'{OLD} speed_file="{name}.profile"' for name in "bbc")


PROFILES = [(f"¶{OLD} {NEW}", ""), (f"¶{OLD_B}", NEW), (OLD_B, f"¶{C}"), (OLD, f"¶{NEW}")]
PROFILES += [(f'¶availability_file="none" {NEW}', ""), (OLD_B, ""), (OLD, "")]


@pytest.mark.parametrize(("first", "second"), PROFILES)
def test_a_profile_file_that_another_replaces_is_loaded_all_the_same(
    first, second, tmp_path, verdict_on
):
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.profile").write_text("0 1\n1 0.5\n")
    hosts = HOSTS.replace('"1Gf"', f'"1Gf" {first}', 1).replace('b" speed', f'b" {second} speed')
    text, line = unmarked(platform(hosts + JOINED).lstrip("¶"))
    wrong = "¶" in first + second
    findings = found(tmp_path, text)
    assert verdict_on(tmp_path / "file.xml")[0] == ("refused" if wrong else "loads")
    assert [at for at, _, _ in findings] == ([line] if wrong else [])


# SimGrid loads values that cannot mean what they say.
DELIBERATE = re.compile(r"the (speed|bandwidth|latency|backbone \w+|loopback \w+) of ")


def test_it_agrees_with_simgrid_on_mutants():
    """A small sample of mutants; the benchmark compares thousands."""
    command = [sys.executable, mutants.__file__, "--count", "50", "--json"]
    answer = json.loads(subprocess.check_output(command))
    assert set(answer["verdicts"]) == {"loads", "lost", "refused"}
    wrong = [row for row in answer["classes"] if row["kind"] != "false warning"]
    assert [row for row in wrong if not DELIBERATE.match(row["said"])] == []


def test_every_finding_has_a_place_and_a_remedy(tmp_path):
    """Whatever is changed in a file, a finding names a line of it and what to do."""
    share = mutants._prefix() / "share"
    mutator = mutants.Mutator(share / "simgrid.dtd", 11)
    files = mutants.sources([share / "examples/platforms", mutants.CHECKOUT / "platforms_xml"])
    found = []
    for number in range(200):
        path = tmp_path / f"{number}.xml"
        path.write_bytes(mutator.mutate(mutator.pick(files))[1])
        last = path.read_bytes().count(b"\n") + 1
        found += [(each, str(path), last) for each in check([path])]
    assert len(found) > 50
    for each, path, last in found:
        assert each.file == path
        assert 1 <= each.line <= last, each
        assert each.message.strip()
        assert each.remedy.strip(), each
