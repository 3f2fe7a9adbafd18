"""Every plug-in and option of SimGrid does the same on both back ends, or is refused by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from differences import differences
from naming import raises_naming
from simgrid_texts import meaning, told_by_simgrid
from xml_zones import zone_xml

from simgrid_release import pinned
from simplugin.core.errors import PlatformError, SimpluginError, SimulationError
from simplugin.formats.config_options import (
    OPTIONS,
    PLUGINS,
    option_refusal,
    refused_options,
)
from simplugin.simulation import Result, SimGridOptions, simulate

PAGE = Path(__file__).parents[2] / "docs" / "simgrid-options.md"
BACK_ENDS = ("coroutines", "threads")
BODY = """
    <host id="ada" speed="1Gf,500Mf">{ada}</host>
    <host id="bob" speed="2Gf,1Gf"/>
    <link id="ab" bandwidth="1MBps" latency="100ms"/>
    <route src="ada" dst="bob"><link_ctn id="ab"/></route>
"""
WIRELESS = """
    <prop id="access_point" value="router"/>
    <host id="ada" speed="1Gf"><prop id="wifi_rate" value="0"/></host>
    <host id="bob" speed="1Gf"><prop id="wifi_rate" value="0"/></host>
    <router id="router"/>
    <link id="air" bandwidth="1MBps" latency="0" sharing_policy="WIFI">{}</link>
"""
# Idle, sending, receiving and asleep [W], without beacons: as in SimGrid's example energy-wifi.
WIFI_WATTS = '<prop id="wifi_watt_values" value="0:1:1:0"/><prop id="control_duration" value="0"/>'
# A value other than the default of each option that is honoured.
EXAMPLES = """
cmonkey/host=1 cmonkey/link=0 cmonkey/time=3.5
contexts/guard-size=2 contexts/stack-size=512
cpu/maxmin-selective-update=yes cpu/model=Cas01 cpu/optim=Full cpu/solver=fairbottleneck
debug/clean-atexit=no debug/fullstack=no debug/lmm-leaks=yes debug/verbose-exit=no
disk/model=S19 disk/solver=fairbottleneck
exception/cutpath=yes help-nostop=yes maxmin/concurrency-limit=2 path=.
host/model=ptask_L07 host/solver=fairbottleneck
network/TCP-gamma=1000 network/crosstraffic=no network/incremental=no
network/model=CM02 network/weight-S=1000
network/bandwidth-factor=0.5 network/latency-factor=3
network/loopback-bw=1e5 network/loopback-lat=0.25
network/maxmin-selective-update=yes network/optim=Full network/solver=fairbottleneck
plugin=host_load,link_load,link_energy_wifi
plugin/dvfs/governor=powersave plugin/dvfs/sampling-rate=0.7
plugin/dvfs/min-pstate=1 plugin/dvfs/max-pstate=0
precision/timing=1e-6 precision/work-amount=1e-4
tracing=yes tracing/filename=other.trace tracing/precision=3
tracing/basic=yes tracing/categorized=yes tracing/uncategorized=yes
tracing/comment=warning tracing/comment-file=warning.txt
tracing/disable-destroy=yes tracing/disable_link=yes tracing/disable_power=yes
tracing/platform=yes tracing/platform/topology=no
"""
VALUES = dict(word.split("=") for word in EXAMPLES.split())
# What options do something with; the longest part of a name counts.
WITH = {
    "cmonkey/": {"plugin": "cmonkey", "cmonkey/time": "100"},
    "cmonkey/time": {"plugin": "cmonkey", "cmonkey/host": "1"},
    "host/solver": {"host/model": "ptask_L07"},
    "plugin/dvfs/": {"plugin/dvfs/governor": "powersave"},
    "plugin/dvfs/min-pstate": {"plugin": "host_dvfs"},
    "tracing/": {"tracing": "yes"},
    "tracing/uncategorized": {"tracing": "yes", "tracing/platform": "yes"},
}


async def give(me: Any) -> float:
    await me.execute(1e9)
    await me.mailbox("box").put(None, 1e6)
    await me.mailbox("at home").put(None, 1e6)
    return me.now


async def take(me: Any) -> list[float]:
    seen = []
    for _ in range(3):
        execution = me.exec_async(5e8)
        await me.sleep_for(0.35)
        await execution
        seen.append(me.now)
    await me.mailbox("box").get()
    return [*seen, me.now]


async def take_at_home(me: Any) -> float:
    await me.mailbox("at home").get()
    return me.now


ACTORS = [("ada", give), ("bob", take), ("ada", take_at_home)]


def write(directory: Path, config: str = "", ada: str = "") -> Path:
    platform = directory / "platform.xml"
    platform.write_text(zone_xml(BODY.format(ada=ada), before=config))
    return platform


def options_of(extra: Mapping[str, str]) -> SimGridOptions:
    """Return options of which some have fields of their own."""
    from simplugin.simulation.options import _FIELD_OF_ITEM

    texts = {_FIELD_OF_ITEM[name]: value for name, value in extra.items() if name in _FIELD_OF_ITEM}
    fields: dict[str, Any] = {name: meaning(value) for name, value in texts.items()}
    return SimGridOptions(
        **fields, extra={name: extra[name] for name in extra if name not in _FIELD_OF_ITEM}
    )


def figures(result: Result) -> list[Any]:
    """Return all numbers that must agree."""
    hosts, links = result.hosts, result.links
    columns = [hosts.busy, hosts.flops, hosts.energy, links.bytes, links.energy]
    columns += [column for each in result.plugins.values() for column in each.values()]
    returned = [[each.value, each.state] for each in result.returned]
    return [result.clock, returned, *(np.nan_to_num(each, nan=-1.0).tolist() for each in columns)]


# ---- the table ----------------------------------------------------------------------------------


def table(heading: str) -> dict[str, str]:
    """Return the first cell of each row below a heading of the page, with the second one."""
    _, _, section = PAGE.read_text(encoding="utf-8").partition(f"## {heading}\n")
    return dict(re.findall(r"^\| ([^|]+) \| (.*) \|$", section.partition("\n## ")[0], re.MULTILINE))


def judged(rows: dict[str, str]) -> dict[str, str]:
    """Return the verdict on each name of the first cells; a name may end in ``*``."""
    return {name: cell for names, cell in rows.items() for name in re.findall(r"`(.+?)`", names)}


def test_the_page_judges_what_simgrid_lists() -> None:
    listed = dict(re.findall(r"^ {3}(\S+): (.*)$", told_by_simgrid("--help").stdout, re.MULTILINE))
    # A later release may list more.
    assert listed.keys() == OPTIONS or (pinned().source and listed.keys() > OPTIONS)
    named = re.split(r", |\.", listed["plugin"].partition("more plugins): ")[2])[:-1]
    assert sorted(named) == sorted(PLUGINS)
    assert set(VALUES) == OPTIONS - {*refused_options()}
    plugins = judged(table("Plug-ins"))
    assert plugins.keys() == PLUGINS.keys()
    for name, why in PLUGINS.items():
        assert plugins[name].startswith("refused: ") == bool(why)
        assert why in plugins[name]
    honoured = {
        section.strip("`").replace("no section", "") + name
        for section, names in table("Honoured options").items()
        for name in re.findall(r"`(.+?)`", names)
    }
    assert honoured == set(VALUES)
    refused = judged(table("Refused options"))
    for name in OPTIONS - honoured:
        assert {why for each, why in refused.items() if fnmatch(name, each)} == {
            option_refusal(name)
        }


@pytest.mark.parametrize("option", VALUES)
def test_honoured_on_both(option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("warning.txt").write_text("a warning\n")
    needed = [WITH[part] for part in sorted(WITH) if option.startswith(part)]
    extra = {**(needed[-1] if needed else {}), option: VALUES[option]}
    outcomes, traces = [], []
    for back_end in BACK_ENDS:
        choices: dict[str, Any] = {"back_end": back_end, "wall_limit": 60}
        is_refused = any(name.startswith(("plugin", "tracing/categorized")) for name in extra)
        if back_end == "threads" and is_refused:
            with raises_naming(SimpluginError, "back_end='threads'"):
                simulate(write(tmp_path), ACTORS, options=options_of(extra), **choices)
            return
        result = simulate(write(tmp_path), ACTORS, options=options_of(extra), **choices)
        outcomes.append(figures(result))
        traces.append([path.read_bytes() for path in sorted(tmp_path.glob("*.trace"))])
    assert list(differences(*outcomes)) == []
    assert traces[0] == traces[1]
    assert bool(traces[0]) == ("tracing" in extra)


def test_refused_by_name() -> None:
    for option in refused_options():
        with raises_naming(SimpluginError, option, option_refusal(option)):
            SimGridOptions(extra={option: "1"})
    for plugin in [*(name for name, why in PLUGINS.items() if why), "wifi_energy"]:
        with raises_naming(SimpluginError, plugin, option_refusal("plugin", plugin)):
            SimGridOptions(extra={"plugin": f"host_load,{plugin}"})


@pytest.mark.parametrize(
    ("option", "value", "governor", "line", "named"),
    [
        ("tracing/vm", "yes", "", 4, "'tracing/vm'"),
        ("plugin", "vm_load", "", 4, "'vm_load'"),
        ("plugin/dvfs/governor", "powersave", "adagio", 7, "'adagio'"),
    ],
)
def test_refused_in_a_file(
    option: str, value: str, governor: str, line: int, named: str, back_end: Any, tmp_path: Path
) -> None:
    ada = f'<prop id="plugin/dvfs/governor" value="{governor}"/>' if governor else ""
    config = f'<config><prop id="{option}" value="{value}"/></config>'
    with raises_naming(PlatformError, named) as caught:
        simulate(write(tmp_path, config, ada), ACTORS, back_end=back_end)
    assert caught.value.line == line


@pytest.mark.parametrize("plugin", ["host_load", "host_dvfs", "link_load"])
def test_plugins_that_do_not_understand_parallel_tasks(
    plugin: str, back_end: Any, tmp_path: Path
) -> None:
    options = SimGridOptions(host_model="ptask_L07", extra={"plugin": plugin})
    with raises_naming(SimulationError, plugin, "ptask_L07"):
        simulate(write(tmp_path), ACTORS, back_end=back_end, options=options)


# ---- figures ------------------------------------------------------------------------------------


def test_loads(tmp_path: Path) -> None:
    async def load(me: Any) -> None:
        await me.execute(1e9)
        await me.sleep_for(1.0)
        await me.sendto(me.host, me.host_by_name("bob"), 2e6)

    options = replace(SimGridOptions.linear(), extra={"plugin": "host_load,link_load"})
    result = simulate(write(tmp_path), [("ada", load)], options=options)
    end, busy = 4.1, 2.1  # s; SimGrid's plug-in counts the latency as busy
    assert result.clock == pytest.approx(end, rel=1e-9)
    hosts, links = result.plugins["host_load"], result.plugins["link_load"]
    assert hosts["flops"] == pytest.approx([1e9, 0.0], rel=1e-9)
    assert hosts["average_load"] == pytest.approx([1.0 / end, 0.0], rel=1e-9)
    at = result.links.name.index("ab")
    assert links["bytes"][at] == pytest.approx(busy * 1e6, rel=1e-9)
    assert links["average_load"][at] == pytest.approx(busy * 1e6 / end, rel=1e-9)
    assert (links["least_load"][at], links["most_load"][at]) == (0.0, 1e6)


def wireless(directory: Path, actors: Any, watts: str = "") -> Result:
    (directory / "wireless.xml").write_text(zone_xml(WIRELESS.format(watts), routing="Wifi"))
    options = replace(SimGridOptions.linear(), extra={"plugin": "link_energy_wifi"})
    return simulate(directory / "wireless.xml", actors, options=options)


def test_wifi_energy_of_transfers(tmp_path: Path) -> None:
    async def send(me: Any) -> None:
        await me.mailbox("box").put(None, 3e6)
        await me.sleep_for(1.0)

    async def receive(me: Any) -> None:
        await me.mailbox("box").get()

    actors = [("ada", send), ("bob", receive)]
    result = wireless(tmp_path, actors, WIFI_WATTS)
    # Each byte takes the air twice; one host sends, and both listen.
    energy = result.plugins["link_energy_wifi"]["energy"]
    assert energy[result.links.name.index("air")] == pytest.approx(2 * 3.0 * (1 + 2), abs=1e-6)


def test_wifi_energy_at_rest(tmp_path: Path) -> None:
    async def rest(me: Any) -> None:
        await me.sleep_for(10.0)

    result = wireless(tmp_path, [("ada", rest)])
    energy = dict(zip(result.links.name, result.plugins["link_energy_wifi"]["energy"], strict=True))
    hosts, beacons, idle, receiving = 2, 0.0036, 0.82, 0.94  # -, part of the time, W, W
    expected = 10.0 * (beacons * hosts * receiving + (1 - beacons) * idle * (hosts + 1))
    # SimGrid gives it with six digits after the point.
    assert energy["air"] == pytest.approx(expected, abs=1e-6)
