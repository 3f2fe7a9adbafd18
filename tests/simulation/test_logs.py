"""Lines of actors: their form, their levels, and where they appear."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from naming import raises_naming

from simplugin.core.errors import ActorError, SimpluginError
from simplugin.simulation import simulate

pytestmark = pytest.mark.usefixtures("nothing_left")


async def talker(me: Any) -> None:
    me.log("begins", "debug")
    await me.sleep_for(0.5)
    print("one", end=" ")
    print("line\nand another é")
    print("careful", file=sys.stderr)
    me.log(f"two\nlines {me.host.name}")
    me.log({"plain": 1}, level="warning")
    me.on_exit(lambda _: me.log("ends", "error"))


ALL = [
    "[ada:talker:(1) 0.000000] DEBUG: begins",
    "[ada:talker:(1) 0.500000] INFO: two",
    "[ada:talker:(1) 0.500000] INFO: lines ada",
    "[ada:talker:(1) 0.500000] WARNING: {'plain': 1}",
    "[ada:talker:(1) 0.500000] ERROR: ends",
]


@pytest.mark.parametrize("log", ["debug", "warning", None])
def test_levels_and_prefixes(back_end: Any, log: Any, two_hosts: Path, capfd: Any) -> None:
    chosen = {} if log is None else {"log": log}
    result = simulate(two_hosts, [("ada", talker)], back_end=back_end, **chosen)
    out, err = capfd.readouterr()
    order = ["DEBUG", "INFO", "WARNING", "ERROR"]
    shown = order[order.index((log or "info").upper()) :]
    found = [line for line in err.splitlines() if "talker" in line]
    assert found == [line for line in ALL if re.search(r"\] (\w+):", line)[1] in shown]
    assert out == "one line\nand another é\n"
    assert "careful" in err.splitlines()
    prefixed = simulate(two_hosts, [("ada", talker)], back_end=back_end, prefix_prints=True)
    start = "[ada:talker:(1) 0.500000]"
    assert capfd.readouterr().out == f"{start} one line\n{start} and another é\n"
    assert result == prefixed


def test_lines_are_in_order_with_prints(two_hosts: Path, capsys: Any, monkeypatch: Any) -> None:
    async def count(me: Any) -> None:
        for number in range(30_000):
            print(number)
            me.log(number)

    # To one stream, as on a terminal.
    monkeypatch.setattr("sys.stderr", sys.stdout)
    simulate(two_hosts, [("ada", count)])
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition(" ")[2] for line in lines] == [str(n // 2) for n in range(60_000)]


def test_unknown_levels_are_refused(back_end: Any, two_hosts: Path) -> None:
    async def wrong(me: Any) -> None:
        me.log("hello", "loud")

    with raises_naming(ActorError, "loud"):
        simulate(two_hosts, [("ada", wrong)], back_end=back_end)
    with raises_naming(SimpluginError, "log", "loud", "debug"):
        simulate(two_hosts, [("ada", talker)], back_end=back_end, log="loud")  # type: ignore[arg-type]


def test_what_is_logged_before_an_error_is_shown(
    back_end: Any, two_hosts: Path, capfd: Any
) -> None:
    async def failing(me: Any) -> None:
        me.log("about to fail")
        raise ValueError("no")

    with pytest.raises(ActorError) as caught:
        simulate(two_hosts, [("ada", failing)], back_end=back_end)
    assert "INFO: about to fail" in capfd.readouterr().err
    assert not any("about to fail" in note for note in getattr(caught.value, "__notes__", []))
