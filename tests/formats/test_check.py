from __future__ import annotations

from pathlib import Path

import pytest
from mutants import simgrid_verdicts

from simplugin.errors import DeploymentError, PlatformError
from simplugin.formats.check import check, exit_status
from simplugin.formats.deployment_xml import read_deployment
from simplugin.formats.platform_xml import read_platform

HEADER = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
"""
HOSTS = """<host id="a" speed="1Gf"/>
<host id="b" speed="1Gf"/>
<link id="l" bandwidth="1MBps" latency="1us"/>
<link id="s" bandwidth="1MBps" latency="1us" sharing_policy="SPLITDUPLEX"/>
"""
JOINED = '<route src="a" dst="b"><link_ctn id="l"/></route>\n'
PROFILE = '<trace id="t" periodicity="9">1 0</trace>\n'
CLUSTER = '<cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1MBps" lat="1us"/>\n'
SITES = """<zone id="x" routing="Full"><host id="a" speed="1Gf"/></zone>
<zone id="y" routing="Full"><host id="b" speed="1Gf"/></zone>
<link id="l" bandwidth="1MBps" latency="1us"/>
"""


def platform(content: str, routing: str = "Full") -> str:
    """Return a platform file; its content begins on line 5."""
    zone = f'<zone id="w" routing="{routing}">\n{content}</zone>\n'
    return f'{HEADER}<platform version="4.1">\n{zone}</platform>\n'


def deployment(content: str) -> str:
    """Return a deployment file; its content begins on line 4."""
    return f'{HEADER}<platform version="4.1">\n{content}</platform>\n'


def found(tmp_path: Path, text: str) -> list[tuple[int, str, str]]:
    """Check a file; return line, severity and message of each finding."""
    path = tmp_path / "file.xml"
    path.write_text(text, encoding="utf-8")
    findings = check([path])
    assert all(finding.file == str(path) and finding.remedy for finding in findings)
    return [(finding.line, finding.severity, finding.message) for finding in findings]


def test_a_good_file_is_clean(tmp_path: Path) -> None:
    assert found(tmp_path, platform(HOSTS + JOINED)) == []
    commented = JOINED.replace("/><", "> <!-- in an empty element --> </link_ctn><")
    assert found(tmp_path, platform(HOSTS + commented)) == []


# Content of a zone, routing, line and message of the one finding. SimGrid refuses them all.
REFUSED = {
    "unit": ('<host id="a" speed="1GHz"/>\n', "Full", 5, "unknown unit 'GHz'"),
    "no latency": ('<link id="l" bandwidth="1MBps"/>\n', "Full", 5, "has no attribute 'latency'"),
    "attribute": ('<host id="a" speed="1f" ram="1"/>\n', "Full", 5, "unknown attribute 'ram'"),
    "element": ('<computer id="a"/>\n', "Full", 5, "no element <computer>"),
    "removed": ('<include file="other.xml"/>\n', "Full", 5, "was removed"),
    "text": ('<host id="a" speed="1f">fast</host>\n', "Full", 5, "there is text"),
    "cores": ('<host id="a" speed="1f" core="0"/>\n', "Full", 5, "cores of host 'a' cannot be 0"),
    "pstate": ('<host id="a" speed="1f" pstate="1"/>\n', "Full", 5, "power state 1"),
    "policy": (HOSTS.replace("SPLITDUPLEX", "HALF"), "Full", 8, "'HALF'"),
    "host twice": (HOSTS + '<host id="a" speed="1f"/>\n' + JOINED, "Full", 9, "'a' has the name"),
    "link twice": (
        HOSTS + '<link id="s_UP" bandwidth="1Bps" latency="0"/>\n' + JOINED,
        "Full",
        9,
        "link 's_UP' is declared twice",
    ),
    "routing": (HOSTS + JOINED, "Fuzzy", 4, "the routing of zone 'w' is 'Fuzzy'"),
    "unknown link": (HOSTS + JOINED.replace('"l"', '"m"'), "Full", 9, "unknown link 'm'"),
    "unknown end": (HOSTS + JOINED.replace('"b"', '"z"'), "Full", 9, "'z' is unknown"),
    "no direction": (HOSTS + JOINED.replace('"l"', '"s"'), "Full", 9, "without a direction"),
    "direction": (
        HOSTS + JOINED.replace('"l"', '"l" direction="UP"'),
        "Full",
        9,
        "not split-duplex",
    ),
    "route twice": (HOSTS + JOINED * 2, "Full", 10, "two routes from 'a' to 'b'"),
    "way back": (
        HOSTS + JOINED + JOINED.replace('src="a" dst="b"', 'src="b" dst="a"'),
        "Floyd",
        10,
        "two routes from 'b' to 'a'",
    ),
    "empty route": (HOSTS + '<route src="a" dst="b"/>\n', "Full", 9, "has no link"),
    "order": (JOINED + HOSTS, "Full", 6, "cannot follow routes or traces"),
    "link first": (HOSTS.splitlines(keepends=True)[2] + CLUSTER, "Full", 6, "cannot follow hosts"),
    "trace first": (PROFILE + HOSTS, "Full", 6, "cannot follow routes or traces"),
    "split state": (
        HOSTS.replace('"SPLITDUPLEX"', '"SPLITDUPLEX" state_file="p"') + JOINED,
        "Full",
        8,
        "link 's' is SPLITDUPLEX and has a state profile",
    ),
    "two profiles": (
        HOSTS.replace("1Gf", '1Gf" speed_file="p', 1)
        + PROFILE
        + '<trace_connect trace="t" element="a" kind="SPEED"/>\n'
        + JOINED,
        "Full",
        10,
        "host 'a' follows two profiles of kind SPEED",
    ),
    "Wi-Fi profile": (
        HOSTS.rpartition("<link")[0]
        + PROFILE
        + '<trace_connect trace="t" element="l" kind="LINK_AVAIL"/>\n',
        "Wifi",
        9,
        "Wi-Fi link 'l' follows a profile",
    ),
    "mixture": (HOSTS + CLUSTER, "Full", 9, "cannot follow hosts or links"),
    "star": (HOSTS + JOINED, "Cluster", 9, "takes no <route> between two elements"),
    "no routing": (HOSTS + JOINED, "None", 9, "takes no <route>"),
    "gateway": (
        SITES + '<zoneRoute src="x" dst="y" gw_src="b" gw_dst="b2">'
        '<link_ctn id="l"/></zoneRoute>\n',
        "Full",
        8,
        "gw_src 'b' is in 'y', not in 'x'",
    ),
    "no gateway": (
        SITES + '<zoneRoute src="x" dst="y" gw_src="a"><link_ctn id="l"/></zoneRoute>\n',
        "Full",
        8,
        "has no attribute 'gw_dst'",
    ),
    "outside": (
        SITES
        + '<zone id="z" routing="Full">\n'
        + HOSTS.replace('"a"', '"c"').replace('"b"', '"d"').replace('"l"', '"k"')
        + JOINED.replace('"b"', '"c"').replace('"l"', '"k"')
        + "</zone>\n",
        "Full",
        13,
        "'a' is in zone 'x', not directly in 'z'",
    ),
    "radical": (CLUSTER.replace("0-3", "0-3,x"), "Full", 5, "radical '0-3,x' is malformed"),
    "host of cluster": (
        CLUSTER + CLUSTER.replace('"c"', '"d"'),
        "Full",
        6,
        "host 'n0' has the name",
    ),
    "topology": (
        CLUSTER.replace("/>", ' topology="TORUS" topo_parameters="3,3"/>'),
        "Full",
        5,
        "4 hosts, but its topology has 9 places",
    ),
    "profile": ('<host id="a" speed="1f" speed_file="none.txt"/>\n', "Full", 5, "is not found"),
    "trace": ('<trace id="t" periodicity="9">\n2 1\n1 1\n</trace>\n', "Full", 5, "comes before 2"),
    "use": ('<trace_connect trace="t" element="a"/>\n', "Full", 5, "profile 't' is unknown"),
    "host link": (
        HOSTS + '<host_link id="a" up="l" down="m"/>\n',
        "Cluster",
        9,
        "unknown link 'm'",
    ),
    "cabinet": (
        CLUSTER + CLUSTER.replace("cluster", "cabinet").replace('"c"', '"d"'),
        "Cluster",
        6,
        "cannot follow zones",
    ),
    "disk": (
        '<host id="a" speed="1f"><prop id="remote_disk" value="/m:d:b"/></host>\n',
        "Full",
        5,
        "remote disk",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_every_fault_is_told_with_its_line(case: str, tmp_path: Path) -> None:
    content, routing, line, message = REFUSED[case]
    errors = [item for item in found(tmp_path, platform(content, routing)) if item[1] == "error"]
    assert (line, message) in [(at, message if message in text else text) for at, _, text in errors]


@pytest.mark.parametrize("case", REFUSED)
def test_simgrid_refuses_it_too(case: str, tmp_path: Path) -> None:
    from simplugin.errors import CrashError
    from simplugin.simulation.resolve import resolve

    path = tmp_path / "file.xml"
    path.write_text(platform(*REFUSED[case][:2]))
    with pytest.raises((PlatformError, CrashError)):
        resolve(path)


RATED = "".join(
    f'<host id="{name}" speed="1Gf"><prop id="wifi_rate" value="0"/></host>\n' for name in "ab"
)

# Loaded by SimGrid, but worth a word: content of the zone, routing, line and message.
WARNED = {
    "no route": (HOSTS, "Full", 4, "'a' cannot reach 'b'"),
    "one way": (
        HOSTS + JOINED.replace('dst="b"', 'dst="b" symmetrical="NO"'),
        "Dijkstra",
        4,
        "'b' cannot reach 'a'",
    ),
    "no zone route": (SITES, "Full", 4, "zone 'x' cannot reach zone 'y'"),
    "no unit": (HOSTS.replace("1Gf", "1000", 1) + JOINED, "Full", 5, "'1000', without a unit"),
    "loose host": (HOSTS, "Cluster", 4, "'a' cannot reach 'b'"),
    "nowhere": (HOSTS, "Vivaldi", 4, "'a' has no coordinates"),
    "none": (HOSTS, "None", 4, "'a' cannot reach 'b'"),
    "no access point": (RATED, "Wifi", 4, "'a' cannot reach 'b'"),
    "name of a zone": (RATED.replace('"b"', '"w"'), "Wifi", 6, "'w' has"),
    "dragonfly": (
        CLUSTER.replace("/>", ' topology="DRAGONFLY" topo_parameters="2,1;1,1;1,1;2"/>'),
        "Full",
        5,
        "2 groups and 1 routers a chassis",
    ),
}


@pytest.mark.parametrize("case", WARNED)
def test_what_goes_wrong_later_is_a_warning(case: str, tmp_path: Path) -> None:
    content, routing, line, message = WARNED[case]
    (finding,) = found(tmp_path, platform(content, routing))
    assert finding[:2] == (line, "warning")
    assert message in finding[2]


def test_several_faults_are_told_at_once_and_in_order(tmp_path: Path) -> None:
    text = platform(
        HOSTS.replace("1MBps", "1MBsp", 1)
        + '<host id="b" speed="2Gf"/>\n<host id="c" speed="fast"/>\n'
        + JOINED.replace('"l"', '"nowhere"')
        + '<route src="a" dst="c"><link_ctn id="l"/></route>\n'
    )
    assert [line for line, _, _ in found(tmp_path, text)] == [7, 9, 10, 11]


def test_a_broken_element_still_bears_its_name(tmp_path: Path) -> None:
    text = platform(HOSTS.replace("1Gf", "1GHz").replace("1MBps", "fast") + JOINED)
    assert [line for line, _, _ in found(tmp_path, text)] == [5, 6, 7, 8]
    text = platform(CLUSTER.replace("1Gf", "1GHz") + CLUSTER.replace('"c"', '"d"').replace(
        '"n"', '"m"') + '<zoneRoute src="c" dst="d" gw_src="nc_router" gw_dst="md_router">'
        '<link_ctn id="c_link_0_UP"/></zoneRoute>\n')  # fmt: skip
    assert [line for line, _, _ in found(tmp_path, text)] == [5]


def test_a_start_tag_over_several_lines_is_found_at_its_beginning(tmp_path: Path) -> None:
    text = platform('<host\n  id="a"\n  speed="1GHz"\n/>\n')
    assert [line for line, _, _ in found(tmp_path, text)] == [5]


def test_actors_must_be_on_hosts_of_the_platform(tmp_path: Path) -> None:
    hardware, actors = tmp_path / "platform.xml", tmp_path / "deployment.xml"
    hardware.write_text(platform(CLUSTER))
    actors.write_text(
        deployment('<actor host="n3" function="f"/>\n<actor host="n4" function="f"/>\n')
    )
    assert check([actors]) == []
    (finding,) = check([actors, hardware])
    assert (finding.file, finding.line) == (str(actors), 5)
    assert "'n4'" in finding.message


@pytest.mark.parametrize(
    "fault",
    [
        'start_time="5" kill_time="3"',
        'on_failure="CRY"',
        'colour="red"',
    ],
)
def test_another_fault_does_not_hide_a_missing_host(fault: str, tmp_path: Path) -> None:
    hardware, actors = tmp_path / "platform.xml", tmp_path / "deployment.xml"
    hardware.write_text(platform(CLUSTER))
    actors.write_text(deployment(f'<actor host="n4" function="f" {fault}/>\n'))
    (alone,) = check([actors])
    about_fault, about_host = sorted(
        check([hardware, actors]), key=lambda finding: "lacks" in finding.message
    )
    assert about_fault == alone
    assert (about_host.file, about_host.line) == (str(actors), 4)
    assert "'n4'" in about_host.message


@pytest.mark.parametrize(
    ("actor", "message"),
    [
        ('<actor host="a" function=""/>', "function"),
        ('<actor host="" function="f"/>', "host"),
        ('<actor host="a" function="f" start_time="5" kill_time="3"/>', "killed at 3.0 s"),
        ('<actor host="a" function="f" start_time="soon"/>', "'soon'"),
        ('<actor host="a" function="f" on_failure="CRY"/>', "'CRY'"),
        ('<actor function="f"/>', "has no attribute 'host'"),
        ('<actor host="a" function="f"><argument/></actor>', "has no attribute 'value'"),
    ],
)
def test_faults_of_deployments(actor: str, message: str, tmp_path: Path) -> None:
    (finding,) = found(tmp_path, deployment(f"\n{actor}\n"))
    assert finding[:2] == (5, "error")
    assert message in finding[2]
    with pytest.raises(DeploymentError, match=":5: "):
        read_deployment(tmp_path / "file.xml")


@pytest.mark.parametrize(
    ("doctype", "root"),
    [
        ('"http://simgrid.gforge.inria.fr/simgrid.dtd"', '<platform version="3">'),
        ('"surfxml.dtd"', '<platform version="2">'),
        ('"surfxml.dtd"', "<platform>"),
    ],
)
def test_old_files_are_told_how_to_be_upgraded(doctype: str, root: str, tmp_path: Path) -> None:
    path = tmp_path / "old.xml"
    path.write_text(
        f"<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM {doctype}>\n{root}\n"
        '<AS id="a" routing="Full"><host id="h" power="1"/></AS></platform>\n'
    )
    (finding,) = check([path])
    assert (finding.line, finding.severity) == (3, "error")
    # What to change by hand, and where the script that changes it is: it is not installed.
    for word in ('version="4.1"', "power to speed", "units", "source distribution"):
        assert word in finding.remedy
    with pytest.raises(PlatformError, match=r"tools/simgrid_update_xml\.pl"):
        read_platform(path)


def test_options_are_those_of_simgrid(tmp_path: Path) -> None:
    options = {"network/model": "ns-3", "network/modle": "CM02", "precision/timing": "fine"}
    props = "".join(f'<prop id="{key}" value="{value}"/>' for key, value in options.items())
    text = platform(HOSTS + JOINED).replace("<zone", f"<config>{props}</config>\n<zone")
    assert [item[:2] for item in found(tmp_path, text)] == [(4, "error")] * 3


@pytest.mark.parametrize(
    ("option", "wrong", "right"),
    [
        ("cpu/optim", "lazy", "TI"),
        ("network/optim", "TI", "Full"),
        ("host/solver", "simplex", "bmf"),
        ("cpu/model", "Cas02", "Cas01"),
        ("network/crosstraffic", "maybe", "OFF"),
        ("contexts/stack-size", "2.5", "2"),
        ("network/weight-S", "20537B", "20537.0"),
    ],
)
def test_values_of_options_are_of_the_right_kind(
    option: str, wrong: str, right: str, tmp_path: Path
) -> None:
    for value, count in ((wrong, 1), (right, 0)):
        prop = f'<config><prop id="{option}" value="{value}"/></config>'
        text = platform(HOSTS + JOINED).replace("<zone", f"{prop}\n<zone")
        findings = found(tmp_path, text)
        assert len(findings) == count
        assert all(repr(option) in message and repr(value) in message for *_, message in findings)


def test_status(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.xml", tmp_path / "bad.xml"
    good.write_text(platform(HOSTS + JOINED))
    bad.write_text(platform(HOSTS))
    assert exit_status(check([good])) == 0
    assert exit_status(check([good, bad])) == 1
    assert exit_status(check([good, bad, tmp_path / "absent.xml"])) == 2


BESIDE = """\
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="w" routing="Full">
    <host id="h" speed="1Gf" {}/>
    <host id="g" speed="1Gf" {}/>
    <link id="l" bandwidth="1MBps" latency="1us"/>
    <route src="h" dst="g"><link_ctn id="l"/></route>
  </zone>
</platform>
"""
OLD, NEW = 'availability_file="a.profile"', 'speed_file="a.profile"'


@pytest.mark.parametrize(
    ("first", "second", "line"),
    [
        (f"{OLD} {NEW}", "", 5),
        (f'{OLD} speed_file="b.profile"', NEW, 5),
        (f'{OLD} speed_file="b.profile"', f'{OLD} speed_file="c.profile"', 6),
        (f'availability_file="none" {NEW}', "", 5),
        (OLD, NEW, 6),
        (f'{OLD} speed_file="b.profile"', "", None),
        (OLD, "", None),
    ],
)
def test_a_profile_file_that_another_replaces_is_loaded_all_the_same(
    first: str, second: str, line: int | None, tmp_path: Path
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.profile").write_text("0 1\n1 0.5\n")
    path = tmp_path / "platform.xml"
    path.write_text(BESIDE.format(first, second))
    with simgrid_verdicts() as verdict_on:
        assert verdict_on(path)[0] == ("loads" if line is None else "refused")
    assert [finding.line for finding in check([path])] == ([] if line is None else [line])
