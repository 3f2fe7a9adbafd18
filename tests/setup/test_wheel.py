"""The wheel stands alone: nothing but the C and C++ runtime is needed, libsimgrid is in it once."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from email import message_from_string
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from xml_zones import zone_xml

CHECKOUT = Path(__file__).parents[2]
EXTENSION = sysconfig.get_config_var("EXT_SUFFIX")
RUNTIME = {"libc.so.6", "libgcc_s.so.1", "libm.so.6", "libstdc++.so.6", "ld-linux-x86-64.so.2"}
# Where those that are linked with SimGrid's library look for it.
RPATHS = {
    f"simplugin/simulation/_driver{EXTENSION}": "$ORIGIN/../../simplugin.libs",
    f"simgrid{EXTENSION}": "$ORIGIN/simplugin.libs",
    f"simplugin/elementary/_elementary{EXTENSION}": "",
    f"simplugin/taskgraphs/_kernels{EXTENSION}": "",
    "simplugin.libs/libsimgrid.so.4.1": "",
}


@pytest.fixture(scope="module")
def content(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked."""
    directory = tmp_path_factory.mktemp("content")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(directory)
    return directory


def names_below(directory: Path) -> set[str]:
    files = (path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix() for path in files}


def test_its_tag_is_this_python(wheel: Path) -> None:
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert re.fullmatch(rf"simplugin-[\d.]+-{version}-{version}-linux_\w+\.whl", wheel.name)


def test_licenses_are_inside(content: Path) -> None:
    (information,) = content.glob("simplugin-*.dist-info")
    licenses = names_below(information / "licenses")
    patches = {f"simgrid/{path.name}" for path in CHECKOUT.glob("tools/simgrid_patches/*.patch")}
    assert {"LICENSE", "simgrid/LICENSE-LGPL-2.1", "simgrid/NOTICE", *patches} <= licenses
    assert len(patches) == 3


def test_an_index_can_show_its_description(content: Path) -> None:
    (file,) = content.glob("simplugin-*.dist-info/METADATA")
    metadata = message_from_string(file.read_text())
    description = metadata.get_payload()
    targets = re.findall(r"\]\(([^)]*)\)", description)
    assert targets
    assert all(each.startswith("https://") for each in targets)
    names = re.findall(r"`(?:docs|benchmarks)/[a-z/]+\.md`", description, re.IGNORECASE)
    assert {"`docs/tutorial.md`", "`benchmarks/README.md`"} <= set(names)
    assert all((CHECKOUT / name.strip("`")).is_file() for name in names)
    oldest = metadata["Requires-Python"].removeprefix(">=")
    assert f"Programming Language :: Python :: {oldest}" in metadata.get_all("Classifier")


def test_every_module_of_the_checkout_is_inside(content: Path) -> None:
    sources = CHECKOUT / "simplugin"
    expected = {name for name in names_below(sources) if name.endswith((".py", ".pyi", "typed"))}
    assert expected <= names_below(content / "simplugin")


def test_every_library_is_there_once(content: Path) -> None:
    assert {name for name in names_below(content) if ".so" in name} == set(RPATHS)


@pytest.mark.parametrize(("name", "rpath"), RPATHS.items())
def test_what_it_is_linked_with(content: Path, name: str, rpath: str) -> None:
    dynamic = subprocess.check_output(["readelf", "--dynamic", content / name], text=True)
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
    assert needed - RUNTIME == ({"libsimgrid.so.4.1"} if rpath else set())
    paths = re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", dynamic)
    entries = [entry for path in paths for entry in path.split(":")]
    assert all(entry.startswith("$ORIGIN") for entry in entries)
    assert not rpath or rpath in entries


SMOKE = """
import pathlib, sys
import simplugin, simgrid

mapped = pathlib.Path("/proc/self/maps").read_text().split()
(library,) = {path for path in mapped if "libsimgrid" in path}
for path in (library, simgrid.__file__, simplugin.__file__):
    assert pathlib.Path(path).is_relative_to(sys.prefix), path


async def work(me):
    await me.execute(2e9)
    await me.sendto("ada", "bob", 3e6)


options = simplugin.SimGridOptions(network_model="CM02", crosstraffic=False)
for back_end in ("coroutines", "threads"):
    result = simplugin.simulate(
        "two_hosts.xml", [("ada", work)], options=options, back_end=back_end
    )
    # 2 Gflop at 1 Gflop/s, then 3 MB at 1 MB/s.
    assert abs(result.clock - 5.0) < 1e-9, result.clock
"""

PLATFORM = zone_xml("""
    <host id="ada" speed="1Gf"/>
    <host id="bob" speed="1Gf"/>
    <link id="wire" bandwidth="1MBps" latency="0s"/>
    <route src="ada" dst="bob"><link_ctn id="wire"/></route>
""")


def required(content: Path) -> set[str]:
    """Return the distributions that the wheel asks for, and those that they ask for."""
    (wheel,) = importlib.metadata.distributions(path=[str(content)])
    todo, found = wheel.requires or [], set[str]()
    while todo:
        requirement = Requirement(todo.pop())
        is_needed = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if is_needed and requirement.name not in found:
            found.add(requirement.name)
            todo += importlib.metadata.requires(requirement.name) or []
    return found


def give(distribution: str, place: Path) -> None:
    """Link the files of a distribution that is installed here to another place."""
    for file in importlib.metadata.files(distribution) or []:
        top = file.parts[0]
        if top not in ("..", "__pycache__") and not (place / top).exists():
            (place / top).symlink_to(Path(file.locate()).parents[len(file.parts) - 1] / top)


def test_smoke(wheel: Path, content: Path, tmp_path: Path) -> None:
    home = tmp_path / "empty"
    venv.create(home, with_pip=False)
    (packages,) = home.glob("lib/python*/site-packages")
    for distribution in required(content):
        give(distribution, packages)
    pip = [sys.executable, "-m", "pip", "--python", str(home / "bin/python")]
    install = [*pip, "install", "-q", "--no-compile", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True, env={**os.environ, "PYTHONWARNINGS": ""})
    subprocess.run([*pip, "check"], check=True)
    work = tmp_path / "work"
    work.mkdir()
    (work / "smoke.py").write_text(SMOKE)
    (work / "two_hosts.xml").write_text(PLATFORM)
    # No compiler, no settings of this shell: only what the wheel brought.
    environment = {"PATH": str(home / "bin"), "HOME": str(work)}
    commands = "python -W error smoke.py", "simplugin check two_hosts.xml", "simplugin --version"
    for command in commands:
        words = f"{home}/bin/{command}".split()
        told = subprocess.check_output(words, cwd=work, env=environment, text=True)
    assert "4.1" in told
