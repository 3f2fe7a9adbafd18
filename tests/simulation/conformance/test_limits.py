"""Energy is measured up to the end, whatever the limit of simulated time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conformance import work
from xml_zones import zone_xml

from simplugin.simulation import simulate

WATTS = 20.0
HOST = f"""<host id="ada" speed="1Gf">
    <prop id="wattage_per_state" value="10:{WATTS}:{WATTS}"/></host>"""


@pytest.mark.parametrize("back_end", ["threads", "coroutines"])
@pytest.mark.parametrize("until", [None, 20.0, 5000.0])
def test_energy_up_to_the_end(back_end: Any, until: Any, tmp_path: Path) -> None:
    (tmp_path / "platform.xml").write_text(zone_xml(HOST))
    result = simulate(
        tmp_path / "platform.xml",
        [("ada", work, 20e9)],
        back_end=back_end,
        until=until,
        energy=True,
    )
    assert result.clock == 20.0
    assert result.hosts.energy[0] == pytest.approx(20.0 * WATTS, rel=1e-9)
