"""SimGrid's own files through us as through SimGrid; its vocabulary, its order of elements."""

import itertools
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from lxml import etree
from mutants import simgrid_verdicts

from simplugin.core.errors import CrashError, DeploymentError, FileError, PlatformError
from simplugin.formats import platform_reading
from simplugin.formats.check import check, read_checked
from simplugin.formats.platform_reading import DOCTYPE, PlatformReader
from simplugin.formats.platform_xml import (
    read_deployment,
    read_platform,
    write_deployment,
    write_platform,
)
from simplugin.inputs import xml_tree
from simplugin.simulation.resolve import ResolvedPlatform, resolve

ROUTES = 60
# SimGrid loads them, though not what their authors meant; each is right to be warned of.
# Hosts of Wi-Fi zones whose programs set their rates.
WITHOUT_RATES = {"wifi.xml", "wifi_energy.xml", "wifi_large_cell.xml"}
# The cloud is a Vivaldi zone of zones, which have no coordinates; SimGrid 4.1 finds no way through
# the sites of clusters of g5k.
UNREACHABLE = """cloud dogbone faulty_host g5k host_attributes model_checker_platform prop
ptask_L07 small_platform_fatpipe small_platform_routing_none test_of_is_router testing_platform"""
LOST = {f"{name}.xml" for name in UNREACHABLE.split()}


def files(root: Path, *tags: str) -> dict[Path, str]:
    """Return the XML files, by their paths, in which one of some elements occurs."""
    paths = sorted(root.rglob("*.xml"))
    texts = {path: path.read_text("utf-8", errors="replace") for path in paths}
    return {path: text for path, text in texts.items() if any(tag in text for tag in tags)}


def platform_files(root: Path) -> list[Path]:
    """List the platforms of hosts."""
    found = files(root, "<zone", "<AS", "<cluster")
    return [path for path, text in found.items() if "<platform" in text]


def deployment_files(root: Path) -> list[Path]:
    """List the files that hold actors and no zones."""
    found = files(root, "<actor", "<process")
    return [path for path, text in found.items() if "<zone" not in text]


@pytest.fixture(scope="module")
def distribution(simgrid_prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of SimGrid's example files, with the profiles that some of them lack here."""
    share = simgrid_prefix / "share"
    if not (share / "examples/platforms").is_dir():
        pytest.skip(f"no example platforms in {share}; tools/build_simgrid.py puts them there")
    copy = tmp_path_factory.mktemp("distribution")
    for name in ("examples", "teshsuite"):
        shutil.copytree(share / name, copy / name)
    # Of the 65,536 hosts of this cluster a few are enough.
    crossbar = copy / "examples/platforms/cluster_crossbar.xml"
    crossbar.write_text(crossbar.read_text().replace("0-65535", "0-255"))
    for profile in ("bob.trace", "carol.fail", "erin.avail", "link.bw", "link.lat", "link.fail"):
        path = copy / "teshsuite/platforms" / profile
        if path.parent.is_dir() and not path.exists():
            path.write_text("0.0 1.0\n5.0 0.5\nPERIODICITY 12\n")
    return copy


Verdicts = dict[Path, ResolvedPlatform | None]


def through_simgrid(path: Path) -> ResolvedPlatform | None:
    """Ask SimGrid what it makes of a file; None where it refuses it."""
    try:
        return resolve(path, ROUTES)
    except (PlatformError, CrashError):
        return None


def through_us(path: Path, copy: Path) -> ResolvedPlatform | None:
    """Ask SimGrid what it makes of what we read of a file and write again."""
    try:
        write_platform(read_platform(path), copy)
    except PlatformError:
        return None
    return through_simgrid(copy)


def differing(verdicts: Verdicts, directory: Path) -> list[Path]:
    """List the files that SimGrid sees otherwise through us."""
    copies = [directory / f"{index}.xml" for index in range(len(verdicts))]
    with ThreadPoolExecutor(2) as pool:
        ours = dict(zip(verdicts, pool.map(through_us, verdicts, copies), strict=True))
    return [path for path, result in ours.items() if result != verdicts[path]]


@pytest.fixture(scope="module")
def verdicts(distribution: Path) -> Verdicts:
    """SimGrid's reading of each platform file of its distribution."""
    files = platform_files(distribution)
    assert len(files) > 70
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(files, pool.map(through_simgrid, files), strict=True))


def test_distribution_resolves_alike(verdicts, tmp_path):
    refused = {path.name for path, verdict in verdicts.items() if verdict is None}
    assert refused >= {"bogus_missing_src_gateway.xml", "bogus_two_hosts_asymetric.xml"}
    assert len(refused) < 10
    assert differing(verdicts, tmp_path) == []


def test_shared_platforms_resolve_alike(shared_data, tmp_path):
    files = platform_files(shared_data / "platforms")
    verdicts = {path: through_simgrid(path) for path in files}
    assert len(verdicts) >= 5
    assert None not in verdicts.values()
    assert differing(verdicts, tmp_path) == []
    assert [str(finding) for finding in check(files)] == []


def test_check_refuses_what_simgrid_refuses(verdicts):
    wrong, warned = [], set()
    for path, verdict in verdicts.items():
        findings, platform = read_checked(path)
        errors = [str(finding) for finding in findings if finding.severity != "warning"]
        if not errors:
            assert platform == read_platform(path)
            assert platform.directory == path.parent
        # SimGrid's tests have hosts of 1 flop/s and links of 1 byte/s.
        if not errors and any("no hardware has" not in each.message for each in findings):
            warned.add(path.name)
        if verdict is None and not errors:
            wrong.append(f"{path} is clean, but SimGrid refuses it")
        elif verdict is not None:
            wrong += errors
    assert wrong == []
    assert warned == LOST | WITHOUT_RATES
    # The other warnings are about hosts that SimGrid finds no way between: all such are warned of.
    lost = {path.name for path, verdict in verdicts.items() if verdict and verdict.unreachable}
    assert lost == LOST


def test_deployments_read_and_write(distribution, tmp_path):
    files = deployment_files(distribution)
    clean, refused = [], []
    for path in files:
        try:
            deployment = read_deployment(path)
        except DeploymentError:
            refused.append(path)
            continue
        clean.append(path)
        write_deployment(deployment, tmp_path / "deployment.xml")
        assert read_deployment(tmp_path / "deployment.xml") == deployment
    assert len(clean) > 30
    assert check(clean) == []
    assert {finding.file for finding in check(refused)} == set(map(str, refused))


# Elements that SimGrid refuses although its DTD has them, and old names.
ELSEWHERE = {"include", "storage", "storage_type", "mount", "model_prop"}
ELSEWHERE |= {"AS", "ASroute", "bypassASroute", "process"}
# The DTD has a default that SimGrid's parser loses.
REQUIRED_ALL_THE_SAME = {("link", "latency")}


def test_the_vocabulary_is_that_of_simgrid(simgrid_prefix):
    with (simgrid_prefix / "share/simgrid.dtd").open("rb") as stream:
        elements = {element.name: element for element in etree.DTD(stream).iterelements()}
    assert set(platform_reading.ALLOWED) | ELSEWHERE == set(elements)
    for tag in platform_reading.ALLOWED:
        attributes = list(elements[tag].iterattributes())
        assert platform_reading.ALLOWED[tag] == {attribute.name for attribute in attributes}
        required = {item.name for item in attributes if item.default == "required"}
        required |= {name for at, name in REQUIRED_ALL_THE_SAME if at == tag}
        assert platform_reading.REQUIRED[tag] == required


# Each may come anywhere with whatever before it, as far as SimGrid's parser lets it.
PIECES = {
    "prop": '<prop id="p{1}" value="1"/>',
    "zone": '<zone id="z{1}" routing="Full"/>',
    "cluster": '<cluster id="c{1}" prefix="c{1}-" suffix="" radical="0" speed="1f" bw="1Bps" '
    'lat="0"/>',
    "link": '<link id="l{1}" bandwidth="1Bps" latency="0"/>',
    "backbone": '<backbone id="b{1}" bandwidth="1Bps" latency="0"/>',
    "host": '<host id="h{1}" speed="1f"/>',
    "router": '<router id="r{1}"/>',
    "host_link": '<host_link id="h" up="l" down="l"/>',
    "cabinet": '<cabinet id="k" prefix="" suffix="" radical="0" speed="1f" bw="1Bps" lat="0"/>',
    "trace": '<trace id="t{1}" periodicity="1">0 1</trace>',
    "trace_connect": '<trace_connect trace="t" element="h" kind="SPEED"/>',
    "bypassRoute": '<bypassRoute src="h" dst="g{0}"><link_ctn id="l"/></bypassRoute>',
    "bypassZoneRoute": '<bypassZoneRoute src="z" dst="g{0}" gw_src="h" gw_dst="g{0}">'
    '<link_ctn id="l"/></bypassZoneRoute>',
}
AROUND = (
    '<platform version="4.1"><trace id="t" periodicity="1">0 1</trace><zone id="w" routing="Full">'
    '<zone id="z" routing="Full"><link id="l" bandwidth="1Bps" latency="0"/>'
    '<host id="h" speed="1f"/><router id="g0"/><router id="g1"/><router id="g2"/></zone>{}</zone>'
    "</platform>"
)


def test_the_order_of_elements_is_that_of_simgrid(tmp_path):
    """Of all pairs of elements in <zone> and <AS>, and of those after a property and a trace."""
    path = tmp_path / "file.xml"
    pairs = [*itertools.product(PIECES, repeat=2), *(("prop", "trace", tag) for tag in PIECES)]
    taken, wrong = [], []
    numbers = itertools.count()
    with simgrid_verdicts() as verdict_on:

        def refused(content: str) -> bool:
            path.write_text(f"{DOCTYPE}{AROUND.format(content)}")
            return bool(verdict_on(path)[0] == "refused")

        for outer, tags in itertools.product(("zone", "AS"), pairs):
            inner = "".join(
                PIECES[tag].format(place, next(numbers)) for place, tag in enumerate(tags)
            )
            content = f'<{outer} id="x{next(numbers)}" routing="Full">{inner}</{outer}>'
            errors: list[FileError] = []
            root = xml_tree.parse(f"<platform>{content}</platform>".encode(), path, FileError, "")
            PlatformReader(path, errors.append).platform(root)
            if not any(" follow " in each.message or "allowed in" in str(each) for each in errors):
                taken.append(content)
            elif not refused(content):
                wrong.append((outer, *tags))
        assert not refused("".join(taken))
    assert wrong == []
