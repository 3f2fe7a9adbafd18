"""Simulations are the same under the rules of any language."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from xml_zones import zone_xml

SOURCES = Path("/usr/share/i18n/locales/tr_TR")
# Imported in the simulation's process as well, by the name that it is pickled under.
ACTORS = """\
import locale

locale.setlocale(locale.LC_ALL, "")


async def work(me):
    await me.execute(2.5e9)
    await me.sendto("h0", "h1", 1.5e6)
    return me.now, me.host_by_name("h0").speed, locale.getencoding()
"""
PROGRAM = """\
import json
import turkish
from simplugin import SimGridOptions, simulate
from simplugin.simulation.resolve import resolve

assert [link.bandwidth for link in resolve("platform.xml").links] == [1.5e6]
for back_end, extra in (("coroutines", {"plugin": "host_load"}), ("threads", {})):
    result = simulate(
        "platform.xml",
        [("h0", turkish.work)],
        back_end=back_end,
        energy=True,
        options=SimGridOptions(network_model="CM02", extra=extra),
    )
    print(json.dumps([result.clock, result.value_of("work"), result.hosts.energy.tolist()]))
"""
PLATFORM = zone_xml("""
    <host id="h0" speed="1.25Gf"><prop id="wattage_per_state" value="95.5:100.25:200.75"/></host>
    <host id="h1" speed="1.25Gf"><prop id="wattage_per_state" value="95.5:100.25:200.75"/></host>
    <link id="l" bandwidth="1.5MBps" latency="2.5ms"/>
    <route src="h0" dst="h1"><link_ctn id="l"/></route>
""")


@pytest.mark.skipif(not SOURCES.exists(), reason="needs Debian's package locales")
def test_numbers_and_names_are_read_under_turkish_rules_as_everywhere(tmp_path: Path) -> None:
    # There a comma is the decimal point, and the capital of i is another letter than I.
    words = ["localedef", "-i", SOURCES.name, "-f", "UTF-8", str(tmp_path / "tr_TR.UTF-8")]
    subprocess.run(words, check=True)
    files = {"turkish.py": ACTORS, "program.py": PROGRAM, "platform.xml": PLATFORM}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    answer = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env={**os.environ, "LOCPATH": str(tmp_path), "LC_ALL": "tr_TR.UTF-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    for line in answer.stdout.splitlines():
        clock, (now, speed, encoding), energy = json.loads(line)
        # By hand: 2 s of computation, 2.5 ms of latency, and 1 s at 1.5 MB/s and 5 % less.
        assert clock == now == pytest.approx(2 + 2.5e-3 + 1.05, rel=1e-9)
        assert speed == 1.25e9
        assert encoding == "UTF-8"
        assert energy == pytest.approx([200.75 * 2 + 95.5 * 1.0525, 95.5 * 3.0525], rel=1e-9)
    assert len(answer.stdout.splitlines()) == 2
