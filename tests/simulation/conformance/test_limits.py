"""A limit of simulated time changes nothing where all is over before; arguments are checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from worlds import PLAIN, platform

from simplugin.simulation import Placement, simulate

BACK_ENDS = ("threads", "coroutines")
WATTS = 20.0
FAILING = platform(f"""
    <host id="ada" speed="1Gf"><prop id="wattage_per_state" value="10:{WATTS}:{WATTS}"/></host>
    <host id="bob" speed="1Gf" state_file="bob.txt">
      <prop id="wattage_per_state" value="0:0:0"/>
    </host>
""")


async def compute(me: Any, flops: float) -> float:
    await me.execute(flops)
    return me.now


def run(directory: Path, placement: Placement, back_end: Any, until: Any, energy: bool) -> Any:
    (directory / "bob.txt").write_text("20 0\n25 1\n")
    (directory / "failing.xml").write_text(FAILING)
    where = directory / "failing.xml"
    return simulate(where, [placement], back_end=back_end, until=until, energy=energy)


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize("until", [None, 22.0, 500.0])
def test_profiles_after_the_end_do_not_count(back_end: str, until: Any, tmp_path: Path) -> None:
    placement = Placement("bob", compute, (1e11,), restart=True)
    result = run(tmp_path, placement, back_end, until, False)
    assert result.clock == 20.0
    assert [(each.value, each.state) for each in result.returned] == [(None, "killed")]


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize("until", [None, 20.0, 5000.0])
def test_energy_up_to_the_end(back_end: str, until: Any, tmp_path: Path) -> None:
    result = run(tmp_path, Placement("ada", compute, (20e9,)), back_end, until, True)
    assert result.clock == 20.0
    assert result.hosts.energy[0] == pytest.approx(20.0 * WATTS, rel=1e-9)


def kind_of_error(function: Any) -> str:
    try:
        function()
    except (TypeError, ValueError) as error:
        return type(error).__name__
    return "accepted"


async def give_nonsense(me: Any) -> list[str]:
    link = me.link_by_name("ab")
    return [
        kind_of_error(lambda: setattr(link, "bandwidth", -1)),
        kind_of_error(lambda: setattr(link, "bandwidth", 0)),
        kind_of_error(lambda: setattr(link, "bandwidth", None)),
        kind_of_error(lambda: setattr(link, "latency", -1)),
        kind_of_error(lambda: setattr(link, "latency", None)),
        kind_of_error(lambda: me.execute("x")),
        kind_of_error(lambda: me.execute("1")),
        kind_of_error(lambda: me.sleep_for(-1)),
        kind_of_error(lambda: me.barrier(1.5)),
    ]


@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_nonsense_is_refused(back_end: Any, tmp_path: Path) -> None:
    (tmp_path / "plain.xml").write_text(PLAIN)
    result = simulate(tmp_path / "plain.xml", [("ada", give_nonsense)], back_end=back_end)
    value, kind = "ValueError", "TypeError"
    expected = [value, value, kind, value, kind, kind, kind, value, kind]
    assert result.returned[0].value == expected
