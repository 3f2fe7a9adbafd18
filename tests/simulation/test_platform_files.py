"""A platform file is judged alike by whoever reads it, and simulated as SimGrid reads it."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from naming import raises_naming
from simgrid_texts import told_by_simgrid

from simplugin.core.errors import FileError, PlatformError
from simplugin.formats.check import check
from simplugin.formats.config_options import ALIASES, OPTIONS, option_problems
from simplugin.formats.dax import read_dax
from simplugin.formats.platform_xml import read_deployment, read_platform
from simplugin.inputs import xml_tree
from simplugin.platforms import Config, Host, Link, Platform, Route, Zone
from simplugin.platforms.validation import PlatformProblem
from simplugin.simulation import SimGridOptions, resolve, simulate

DECLARATION = "<?xml version='1.0' encoding='iso-8859-1'?>"
DOCTYPE = '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
ZONE = """<zone id="z" routing="Full">
  <host id="a" speed="1Gf"/><host id="s" speed="0f"/><link id="l" bandwidth="1MBps" latency="0s"/>
  <route src="a" dst="s"><link_ctn id="l"/></route>
</zone>"""
BEFORE = {
    "blank line": "\n",
    "tab": "\t",
    "comment": "<!-- <?xml version='1.0'?> by hand -->\n",
    "instruction": "<?editor tabs?>",
    "byte order mark": "\ufeff",
    "much": "\ufeff \n<!-- -->\n\t",
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return the path of a platform file to write."""
    return tmp_path / "file.xml"


def document(before: str = "", config: str = "", content: str = ZONE) -> str:
    """Return a platform file with something before its declaration, and options."""
    return (
        f'{before}{DECLARATION}\n{DOCTYPE}<platform version="4.1">\n{config}{content}</platform>\n'
    )


def option(name: str, value: str) -> str:
    return f'<config>\n<prop id="{name}" value="{value}"/></config>\n'


def assert_raised(finding: PlatformProblem, line: int | None, load: Callable[[], object]) -> None:
    """Expect an error with the message and remedy of a finding."""
    with pytest.raises(PlatformError) as caught:
        load()
    raised = caught.value
    assert (raised.message, raised.remedy, raised.line) == (finding.message, finding.remedy, line)


async def work(me: Any) -> float:
    await me.sendto("a", "s", 1e6)
    await me.execute(1e9)
    return me.now


@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE)
def test_what_precedes_the_declaration_is_a_warning_everywhere(before: str, tmp_path: Path) -> None:
    plain, file = tmp_path / "plain.xml", tmp_path / "file.xml"
    plain.write_text(document(), encoding="utf-8")
    file.write_text(document(before), encoding="utf-8")
    said = "byte order mark" if before.startswith("\ufeff") else "precedes the XML declaration"
    (finding,) = check([file])
    assert (finding.line, finding.severity) == (1, "warning")
    assert said in finding.message
    with pytest.warns(UserWarning, match=r"file\.xml:1: "):
        assert read_platform(file) == read_platform(plain)
    with pytest.warns(UserWarning, match=r"file\.xml:1: "):
        assert resolve(file).hosts == resolve(plain).hosts
    with pytest.warns(UserWarning, match=r"file\.xml:1: "):
        result = simulate(str(file), [("a", work)])
    assert result.clock == simulate(str(plain), [("a", work)]).clock
    # A line is that of the file all the same.
    file.write_text(document(before).replace("1Gf", "1GHz"), encoding="utf-8")
    with pytest.warns(UserWarning, match=r"file\.xml:1: "), pytest.raises(PlatformError) as caught:
        read_platform(file)
    assert "1GHz" in file.read_text(encoding="utf-8").split("\n")[caught.value.line - 1]


def test_deployments_and_workflows_too(file: Path) -> None:
    file.write_text("\n" + document(content='<actor host="a" function="f"/>'))
    with pytest.warns(UserWarning, match=r"file\.xml:1: "):
        assert [actor.host for actor in read_deployment(file).actors] == ["a"]
    file.write_text('<!-- by hand -->\n<?xml version="1.0"?><adag><job id="a" runtime="3"/></adag>')
    with pytest.warns(UserWarning, match=r"file\.xml:1: "):
        assert read_dax(file, speed=1.0).flop.tolist() == [3.0]


@given(
    st.lists(st.sampled_from(["\n", " ", "<!-- c\n-->", "<?p i?>", "<!-- <?xml ?> -->"])),
    st.sampled_from(["", "\ufeff"]),
    st.sampled_from([DECLARATION, DECLARATION.replace(" ", "\n"), ""]),
)
def test_lines_and_encoding_survive_whatever_precedes(
    before: list[str], mark: str, declaration: str
) -> None:
    text = mark + "".join(before) + declaration + '\n<!-- -->\n<r><e n="é"/></r>'
    encoding = "iso-8859-1" if declaration and not mark else "utf-8"
    data = text.replace("iso-8859-1", encoding).encode(encoding)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        root = xml_tree.parse(data, "f", FileError, "r", simgrid=True)
    assert root.children[0].attributes == {"n": "é"}
    assert root.line == text[: text.index("<r>")].count("\n") + 1


def test_a_scenario_reads_such_a_file(tmp_path: Path) -> None:
    (tmp_path / "p.xml").write_text("\n" + document())
    scenario = tmp_path / "s.toml"
    scenario.write_text(
        '[platform]\nfile = "p.xml"\n[workload]\nkind = "taskgraphs"\n[[workload.graphs]]\n'
        'generator = "chain"\nparameters = { n_tasks = 2 }\n[scheduler]\nname = "taskgraphs.heft"\n'
    )
    command = [sys.executable, "-m", "simplugin", "run", str(scenario)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    # The host of speed 0 computes nothing, and the warning is one line.
    assert re.search(r"^simplugin: \S*p\.xml:1: .*precedes", done.stderr, re.MULTILINE)
    assert "UserWarning" not in done.stderr


# ---- options ------------------------------------------------------------------------------------


def test_options_of_smpi_are_ignored_with_a_warning(file: Path) -> None:
    for name in ("smpi/host-speed", "smpi/IB-penalty-factors", "smpi/no-such"):
        file.write_text(document(config=option(name, "1f")))
        (finding,) = check([file])
        assert (finding.line, finding.severity, finding.remedy) == (5, "warning", "remove it")
        with pytest.warns(UserWarning, match=rf"file\.xml:5: .*{name}"):
            result = simulate(str(file), [("a", work)], options=SimGridOptions.linear())
        assert result.clock == 2.0
        with pytest.warns(UserWarning, match=name):
            simulate(read_platform(file), [("a", work)])


@pytest.mark.parametrize(("old", "today"), ALIASES.items())
def test_old_names_that_simgrid_takes_mean_the_same(old: str, today: str, file: Path) -> None:
    value = "0.5" if "factor" in old else "1e-3"
    clocks = []
    for name in (old, today):
        file.write_text(document(config=option(name, value)))
        findings = check([file])
        renamed = [found for found in findings if found.severity == "warning"]
        assert [found.line for found in renamed] == ([5] if name == old else [])
        assert all(repr(today) in found.message for found in renamed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if today.startswith("model-check"):
                with pytest.raises(PlatformError):
                    simulate(str(file), [("a", work)])
                continue
            clocks.append(simulate(str(file), [("a", work)]).clock)
        assert len(findings) == len(renamed)
    assert len(set(clocks)) <= 1


def test_the_old_names_are_those_that_simgrid_lists() -> None:
    listed = told_by_simgrid("--help-aliases").stdout
    assert dict(re.findall(r"^ {3}(\S+) +(\S+)$", listed, re.MULTILINE)) == ALIASES


VALUES = {"boolean": ("maybe", "no"), "int": ("2.5", "1"), "double": ("abc", "0.5")}


def test_every_option_has_the_type_that_simgrid_gives_it() -> None:
    """A value of another type is an error, one of the type is none."""
    listed = told_by_simgrid("--cfg=x:1").stderr
    types = dict(re.findall(r"^ {2}(\S+): \((\w+)\)", listed, re.MULTILINE))
    assert types.keys() >= OPTIONS
    for name in OPTIONS:
        wrong, right = VALUES.get(types[name], ("", ""))
        if wrong and not name.startswith(("model-check/", "smpi/")):
            found = [problem.message for _, problem in option_problems([(1, name, wrong)])]
            assert any("refused" in each or repr(wrong) in each for each in found), name
            found = [problem.message for _, problem in option_problems([(1, name, right)])]
            assert all("refused" in each for each in found), name


REFUSED = [
    ("network/coordinates", "yes", "remove it"),
    ("host/model", "compound", "default"),
    ("network/model", "IB", "LV08"),
    ("cpu/model", "Cas02", "Cas01"),
    ("precision/timing", "abc", "above 0"),
    ("precision/timing", "-1", "above 0"),  # SimGrid takes it and never ends
    ("network/bandwidth-factor", "fast", "by size"),
    ("network/latency-factor", "0:1;x:2", "by size"),
    ("network/TCP_gamma", "0", "'network/TCP-gamma'"),
    ("network/weight-S", "1e-320", "0 or more"),
    ("tracing/comment", "two words", "blanks"),
    ("network/model", "CM02,cpu/optim:TI", "blanks"),
]


@pytest.mark.parametrize(("name", "value", "remedy"), REFUSED)
def test_check_and_simulate_refuse_the_same_options(
    name: str, value: str, remedy: str, file: Path
) -> None:
    file.write_text(document(config=option(name, value)))
    (finding,) = check([file])
    assert (finding.line, finding.severity) == (5, "error")
    assert remedy in finding.remedy
    assert_raised(finding, 5, lambda: resolve(str(file)))
    assert_raised(finding, 5, lambda: simulate(str(file), [("a", work)]))
    made = Platform(Zone("z", "Full", [Host("a", 1e9)]), [Config({name: value})])
    assert_raised(finding, None, lambda: simulate(made, [("a", work)]))


# ---- hosts of speed 0 ---------------------------------------------------------------------------


def test_a_host_of_speed_0_stores_what_others_send(tmp_path: Path, file: Path) -> None:
    """As Batsim has it: a clean file, read, drawn and simulated by every command."""
    file.write_text(document())
    assert check([file]) == []
    assert [host.speed for host in read_platform(file).elements[0].hosts] == [1e9, 0.0]
    result = simulate(str(file), [("a", work)], options=SimGridOptions.linear())
    assert result.clock == 2.0
    for command in (["show", file], ["draw", file, "-o", tmp_path / "image.svg"]):
        subprocess.run(
            [sys.executable, "-m", "simplugin", "platform", *map(str, command)],
            check=True,
            capture_output=True,
        )


SLEEPING = [
    '<host id="b" speed="1Gf,0f"/>',
    '<host id="b" speed="0f,1Gf" pstate="1"/>',
    '<host id="b" speed="0"/>',
]


@pytest.mark.parametrize("host", SLEEPING)
def test_speeds_of_0_in_lists(host: str, file: Path) -> None:
    zone = document(content=f'<zone id="z" routing="None">\n{host}</zone>')
    file.write_text(zone)
    assert check([file]) == []
    file.write_text(zone.replace("0", "-1"))
    (finding,) = [found for found in check([file]) if "speed" in found.message]
    assert (finding.line, finding.severity) == (5, "error")
    with raises_naming(PlatformError, "file.xml:5: "):
        read_platform(file)


MANY = 'prefix="c" suffix="" radical="0-1" bw="1MBps" lat="0s"'
CLUSTERS = [
    f'<cluster id="c" speed="0f" {MANY}/>',
    f'<zone id="z" routing="Cluster"><cabinet id="d" speed="0f" {MANY}/></zone>',
    '<zone id="v" routing="Vivaldi">'
    '<peer id="p" speed="0f" bw_in="1Bps" bw_out="1Bps" coordinates="1 2 3"/></zone>',
]


@pytest.mark.parametrize("content", CLUSTERS)
def test_hosts_of_speed_0_in_clusters(content: str, file: Path) -> None:
    file.write_text(document(content=content))
    assert not [found for found in check([file]) if found.severity == "error"]
    assert sum(host.speed for host in resolve(file).hosts) == 0.0


def test_an_error_within_an_element_has_its_own_line(file: Path) -> None:
    inner = '<zone id="y" routing="Full">\n\n<host id="b" speed="1Gf" core="0"/></zone>'
    file.write_text(document(content=f'<zone id="x" routing="Full">\n{inner}</zone>'))
    with raises_naming(PlatformError, "file.xml:7: ", "'b'"):
        read_platform(file)


def test_zero_speed_does_not_hide_a_route() -> None:
    """A link between two hosts of speed 0 carries what it would between others."""
    hosts = [Host("a", "0f"), Host("s", "0f"), Link("l", 1e6, 0.0)]
    zone = Zone("z", "Full", hosts, [Route("a", "s", ["l"])])

    async def send(me: Any) -> float:
        await me.sendto("a", "s", 3e6)
        return me.now

    assert simulate(Platform(zone), [("a", send)], options=SimGridOptions.linear()).clock == 3.0


# ---- what options and energy ask of a platform --------------------------------------------------

PROFILE = '<trace id="t" periodicity="{}">0 0.5\n6 {}</trace>'
USE = '<trace_connect trace="t" element="a" kind="SPEED"/>'
WATTS = '<prop id="{}" value="{}"/>'
TRACED = {"tracing": "yes", "tracing/platform": "yes"}
HOST_A = '<host id="a" speed="1Gf"/>\n'
# The content of a zone, the line of what is at fault, counted from the zone's, and the options.
UNFIT = [
    ('<host id="a" speed="1Gf" core="2"/>', 1, {"cpu/optim": "TI"}),
    ('<host id="a" speed="0f"/>', 1, {"cpu/optim": "TI"}),
    (f"{HOST_A}{PROFILE.format(-1, 1)}\n{USE}", 4, {"cpu/optim": "TI"}),
    (f"{HOST_A}{PROFILE.format(9, 0)}\n{USE}", 4, {"cpu/optim": "TI"}),
    (f'{HOST_A}<link id="z" bandwidth="1Bps" latency="0s"/>', 0, TRACED),
    (f'{HOST_A}<router id="r"/>', 2, {"tracing": "on", "tracing/uncategorized": "1"}),
]


@pytest.mark.parametrize(("content", "line", "options"), UNFIT)
def test_what_options_ask_is_checked_and_required(
    content: str, line: int, options: dict[str, str], tmp_path: Path
) -> None:
    zone = f'<zone id="z" routing="None">\n{content}</zone>'
    plain, set_in_file = tmp_path / "plain.xml", tmp_path / "file.xml"
    props = "".join(WATTS.format(*each) for each in options.items())
    plain.write_text(document(content=zone))
    set_in_file.write_text(document(config=f"<config>{props}</config>", content=zone))
    line += 4
    (error,) = [found for found in check([set_in_file]) if found.severity == "error"]
    assert error.line == line
    assert not [found for found in check([plain]) if found.severity == "error"]
    assert_raised(error, line, lambda: simulate(str(set_in_file), []))
    extra = {key: each for key, each in options.items() if key != "cpu/optim"}
    chosen = SimGridOptions(cpu_optim="TI" if "cpu/optim" in options else None, extra=extra)
    assert_raised(error, line, lambda: simulate(str(plain), [], options=chosen))
    assert_raised(error, None, lambda: simulate(read_platform(plain), [], options=chosen))


ENERGY = [
    ("host", "wattage_per_state", "95:120:200", "2Gf,1Gf"),
    ("host", "wattage_per_state", "95:120:200,1:2:3", "2Gf"),
    ("host", "wattage_per_state", "95", "2Gf"),
    ("host", "wattage_per_state", "95:x:200", "2Gf"),
    ("host", "wattage_per_state", "95 :120", "2Gf"),
    ("host", "watt_per_state", "95:120:200", "2Gf"),
    ("host", "watt_off", "5", "2Gf"),
    ("host", "wattage_off", "none", "2Gf"),
    ("host", "wattage_off", "-1", "2Gf"),
    ("cluster", "wattage_per_state", "95:120:200", "2Gf,1Gf"),
    ("link", "wattage_range", "1", ""),
    ("link", "wattage_range", "1:2,3:4", ""),
    ("link", "watt_off", "1", ""),
]


@pytest.mark.parametrize(("tag", "key", "value", "speed"), ENERGY)
def test_wattages_are_checked_and_required(
    tag: str, key: str, value: str, speed: str, file: Path
) -> None:
    props = WATTS.format(key, value)
    if tag == "host" and "off" in key:
        props += WATTS.format("wattage_per_state", "1:2:3")
    elements = {
        "host": f'<host id="a" speed="{speed}">{props}</host>',
        "cluster": '<cluster id="a" prefix="a" suffix="" radical="0-1" bw="1Bps" lat="0s" '
        f'speed="{speed}">{props}</cluster>',
        "link": f'<link id="a" bandwidth="1Bps" latency="0s">{props}</link>',
    }
    host = '<host id="x" speed="1f"/>' if tag != "cluster" else ""
    zone = f'<zone id="z" routing="None">\n{elements[tag]}\n{host}</zone>'
    file.write_text(document(content=zone))
    (finding,) = [found for found in check([file]) if "watt" in found.message]
    assert (finding.line, finding.severity) == (5, "warning")
    assert "'a'" in finding.message
    plugin = SimGridOptions(extra={"plugin": "host_energy"})
    assert_raised(finding, 5, lambda: simulate(str(file), [], energy=True))
    assert_raised(finding, 5, lambda: simulate(str(file), [], options=plugin))
    assert_raised(finding, None, lambda: simulate(read_platform(file), [], energy=True))
    simulate(str(file), [])
