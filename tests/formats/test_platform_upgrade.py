"""Files of older formats say in that of SimGrid 4.1 what they said."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from simplugin.cli import app
from simplugin.core.errors import FileError
from simplugin.core.units import parse_bandwidth, parse_speeds, parse_time
from simplugin.formats.check import check
from simplugin.formats.platform_reading import DOCTYPE
from simplugin.formats.platform_upgrade import upgraded
from simplugin.formats.platform_xml import platform_text, read_deployment, read_platform
from simplugin.platforms import Host, Link, Platform, Profile, ProfileUse, Route, Zone
from simplugin.simulation import simulate

SHIPPED = sorted((Path(__file__).parents[2] / "platforms_xml").glob("*.xml"))
OLD_DOCTYPE = '<!DOCTYPE platform SYSTEM "http://simgrid.gforge.inria.fr/simgrid/simgrid.dtd">'
OLD_NAMES = {
    "zone": "AS",
    "zoneRoute": "ASroute",
    "bypassZoneRoute": "bypassASroute",
    "actor": "process",
}
QUANTITIES = {
    "speed": lambda text: ",".join(map(repr, parse_speeds(text))),
    "bandwidth|bw|bb_bw|bw_in|bw_out|loopback_bw": lambda text: repr(parse_bandwidth(text)),
    "latency|lat|bb_lat|loopback_lat": lambda text: repr(parse_time(text)),
}


def aged(text: str, version: str) -> str:
    """Return a file of version 4.1 as one of version 3 or 4 would have been written."""
    text = text.replace(DOCTYPE, OLD_DOCTYPE).replace('version="4.1"', f'version="{version}"')
    for today, old in OLD_NAMES.items():
        text = re.sub(rf"(</?){today}\b", rf"\1{old}", text)
    for keys, plain in QUANTITIES.items():
        text = re.sub(
            rf'(\s)({keys})="([^"]+)"',
            lambda found, plain=plain: f'{found[1]}{found[2]}="{plain(found[3])}"',
            text,
        )
    text = text.replace("SPLITDUPLEX", "FULLDUPLEX").replace(" speed_file=", " availability_file=")
    if version == "3":
        text = re.sub(r"(<(?:host|peer|cluster|cabinet)\b[^>]*?\s)speed=", r"\1power=", text)
        text = text.replace('kind="SPEED"', 'kind="POWER"')
    return text


@pytest.mark.parametrize("version", ["3", "4"])
@pytest.mark.parametrize("path", SHIPPED, ids=[path.stem for path in SHIPPED])
def test_shipped_files_aged_and_upgraded_say_the_same(
    path: Path, version: str, tmp_path: Path
) -> None:
    # Profile files are looked for beside the file.
    text = path.read_text()
    for other in (*path.parent.glob("*.profile"), *path.parent.glob("profiles")):
        (tmp_path / other.name).symlink_to(other)
    old, new = tmp_path / "old.xml", tmp_path / "new.xml"
    old.write_text(aged(text, version))
    new.write_text(upgraded(old))
    assert read_platform(new) == read_platform(path)
    assert "availability_file" not in new.read_text()
    assert upgraded(new) == new.read_text()
    assert new.read_text().count("\n") == old.read_text().count("\n")


NUMBERS = st.floats(1e-3, 1e12)


@given(
    speeds=st.lists(NUMBERS, min_size=1, max_size=3),
    link=st.tuples(NUMBERS, st.floats(1e-9, 1.0) | st.just(0.0)),
    share=st.floats(0.1, 1.0),
    policy=st.sampled_from(["SHARED", "SPLITDUPLEX", "FATPIPE"]),
)
def test_what_simgrid_still_reads_takes_as_long_when_upgraded(
    tmp_path_factory: pytest.TempPathFactory,
    speeds: list[float],
    link: tuple[float, float],
    share: float,
    policy: Any,
) -> None:
    use = "l" if policy != "SPLITDUPLEX" else "l_UP"
    elements = (
        Host("a", speeds[0], further_speeds=tuple(speeds[1:])),
        Host("b", 1e9),
        Link("l", *link, policy),
        Profile("p", f"0 {share}\n5 1"),
        ProfileUse("p", "a", "SPEED"),
    )
    platform = Platform(Zone("z", "Full", elements, (Route("a", "b", [use]),)))

    async def work(me: Any) -> None:
        await me.execute(3 * speeds[0])
        await me.sendto("a", "b", link[0])

    directory = tmp_path_factory.mktemp("upgrade")
    old, new = directory / "old.xml", directory / "new.xml"
    old.write_text(aged(platform_text(platform), "4"))
    new.write_text(upgraded(old))
    clocks = [simulate(str(file), [("a", work)]).clock for file in (old, new)]
    assert clocks[0] == clocks[1]


def test_comments_layout_and_encoding_stay(tmp_path: Path) -> None:
    old = tmp_path / "old.xml"
    text = f"""
<?xml version='1.0' encoding='iso-8859-1'?>
{OLD_DOCTYPE.replace(" SYSTEM", chr(10) + "  SYSTEM")}
<!-- power of the café -->
<platform version="3">
  <config id="General"><prop id="network/coordinates" value="yes"></prop>
    <prop id='surf/precision' value='1e-6'/><prop id="workstation/model" value="compound"/></config>
  <AS  id="café"  routing="Full">
    <host id='h&amp;1'  power='1e9,5E8'
          availability="1.0" state="ON"/> <!-- <AS> -->
    <link id="l" bandwidth=" 100 "/>
  </AS>
</platform>
"""
    old.write_bytes(text.encode("iso-8859-1"))
    with pytest.warns(UserWarning, match="precedes"):
        lines = upgraded(old).split("\n")
    assert lines[0].startswith("<?xml version='1.0'?>")
    assert "<!-- power of the café -->" in lines
    assert lines[8] == '  <zone  id="café"  routing="Full">'
    assert lines[9:12] == [
        "    <host id='h&amp;1'  speed='1e9f,5E8f'",
        "/> <!-- <AS> -->",
        '    <link id="l" bandwidth="100Bps" latency="0s"/>',
    ]
    new = tmp_path / "new.xml"
    new.write_text("\n".join(lines), encoding="utf-8")
    assert check([new]) == []
    (config,) = read_platform(new).config
    assert config.options == {"precision/timing": "1e-6", "host/model": "default"}


def test_deployments(tmp_path: Path) -> None:
    old, new = tmp_path / "old.xml", tmp_path / "new.xml"
    body = '<process host="a" function="f" start_time="3"/>'
    old.write_text(f'{OLD_DOCTYPE}\n<platform version="3">\n{body}\n</platform>')
    new.write_text(upgraded(old))
    assert "<actor " in new.read_text()
    assert [actor.start_time for actor in read_deployment(new).actors] == [3.0]


def test_a_zone_that_simgrid_takes_as_an_as_only_keeps_its_name(tmp_path: Path) -> None:
    old, new = tmp_path / "old.xml", tmp_path / "new.xml"
    cluster = '<cluster id="c" prefix="c" suffix="" radical="0-1" power="1e9" bw="1e8" lat="0"/>'
    link = '<link id="l" bandwidth="1e9" latency="1e-3"/>'
    zone = f'<AS id="z" routing="Full">\n{link}\n{cluster}\n</AS>'
    old.write_text(f'{OLD_DOCTYPE}\n<platform version="3">\n{zone}\n</platform>')
    new.write_text(upgraded(old))
    assert '<AS id="z"' in new.read_text()
    assert check([new]) == []


REFUSED = [
    '<host id="h" power="1e9" availability="0.5"/>',
    '<host id="h" power="1e9" state="OFF"/>',
    '<storage_type id="s" size="1GiB"/>',
    '<include file="other.xml"/>',
    '<host id="h" power="1e9"><mount storageId="s" name="/"/></host>',
    '<gpu name="g"/>',
    '<host id="h" power="1 e9"/>',
    '<route src="h" dst="i"><link_ctn id="l"/></route>',
    '<random id="r" min="0" max="1" mean="0.5" std_deviation="1"/>',
    '<peer id="p" power="1e9" bw_in="1e6" bw_out="1e6" lat="0.1"/>',
    '<cluster id="c" prefix="c" suffix="" radical="0-1" power="1" bw="1" lat="0" state_file="f"/>',
    '<AS id="y" routing="RuleBased"></AS>',
]


@pytest.mark.parametrize("element", REFUSED)
def test_what_has_no_equivalent_is_refused_with_its_line(element: str, tmp_path: Path) -> None:
    old = tmp_path / "old.xml"
    zone = f'<AS id="z" routing="Full">\n\n{element}\n</AS>'
    old.write_text(f'{OLD_DOCTYPE}\n<platform version="3">\n{zone}\n</platform>')
    with pytest.raises(FileError) as caught:
        upgraded(old)
    assert (caught.value.file, caught.value.line) == (old, 5)
    assert caught.value.remedy


def test_files_before_version_3_are_refused(tmp_path: Path) -> None:
    old = tmp_path / "old.xml"
    for root in ("<platform_description/>", '<platform version="2"/>'):
        old.write_text(f"<?xml version='1.0'?>\n{root}\n")
        with pytest.raises(FileError) as caught:
            upgraded(old)
        assert caught.value.line == 2


def test_command(tmp_path: Path) -> None:
    old, new = tmp_path / "old.xml", tmp_path / "new.xml"
    old.write_text(aged(SHIPPED[0].read_text(), "3"))
    (finding,) = check([old])
    assert f"simplugin platform upgrade {old} -o NEW.xml" in finding.remedy
    runner = CliRunner()
    done = runner.invoke(app, ["platform", "upgrade", str(old), "-o", str(new)])
    assert done.exit_code == 0, done.output
    again = runner.invoke(app, ["platform", "upgrade", str(new)])
    assert again.output == new.read_text()
