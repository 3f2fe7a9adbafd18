"""The wheel stands alone, and the package's face is complete and light."""

import importlib
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from email import message_from_string
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from xml_zones import zone_xml

import simplugin
from simgrid_release import pinned

CHECKOUT = Path(__file__).parents[2]
EXTENSION = sysconfig.get_config_var("EXT_SUFFIX")
RUNTIME = {"libc.so.6", "libgcc_s.so.1", "libm.so.6", "libstdc++.so.6", "ld-linux-x86-64.so.2"}
RUNTIME |= {"libdl.so.2", "libpthread.so.0"}  # of older systems
LIBRARY = pinned().library
OFFICIAL = f"libsimgrid.so.{pinned().version}"
# Where those that are linked with SimGrid's library look for it.
RPATHS = {
    f"simplugin/simulation/_driver{EXTENSION}": "$ORIGIN/../../simplugin.libs",
    f"simplugin/simulation/threads/simgrid{EXTENSION}": "$ORIGIN/../../../simplugin.libs",
    f"simplugin/core/elementary/_elementary{EXTENSION}": "",
    f"simplugin/pricing/_kernels{EXTENSION}": "",
    f"simplugin/taskgraphs/_kernels{EXTENSION}": "",
    f"simplugin.libs/{LIBRARY}": "",
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


def test_its_tag_is_this_python(wheel):
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert re.fullmatch(rf"simplugin-[\d.rc]+-{version}-{version}-linux_\w+\.whl", wheel.name)


def test_licenses_are_inside(content):
    (information,) = content.glob("simplugin-*.dist-info")
    licenses = names_below(information / "licenses")
    patches = {f"simgrid/{path.name}" for path in CHECKOUT.glob("tools/simgrid_patches/*.patch")}
    assert {"LICENSE", "simgrid/LICENSE-LGPL-2.1", "simgrid/NOTICE", *patches} <= licenses
    assert len(patches) == 6


def test_an_index_can_show_its_description(content):
    (file,) = content.glob("simplugin-*.dist-info/METADATA")
    metadata = message_from_string(file.read_text())
    description = metadata.get_payload()
    targets = re.findall(r"\]\(([^)]*)\)", description)
    assert targets
    assert all(each.startswith("https://") for each in targets)
    names = re.findall(r"`(?:docs|benchmarks)/[a-z/]+\.md`", description, re.IGNORECASE)
    assert {"`docs/tutorial.md`", "`benchmarks/README.md`"} <= set(names)
    assert all((CHECKOUT / name.strip("`")).is_file() for name in names)
    (oldest,) = re.findall(r">=(3\.\d+)", metadata["Requires-Python"])
    assert f"Programming Language :: Python :: {oldest}" in metadata.get_all("Classifier")


def test_every_module_of_the_checkout_is_inside(content):
    sources = CHECKOUT / "simplugin"
    expected = {name for name in names_below(sources) if name.endswith((".py", ".pyi", "typed"))}
    assert expected <= names_below(content / "simplugin")


def test_every_library_is_there_once(content):
    assert {name for name in names_below(content) if ".so" in name} == set(RPATHS)


def test_it_adds_one_name_to_those_that_python_imports(content):
    tops = {path.name for path in content.iterdir() if not path.name.endswith(".dist-info")}
    assert tops == {"simplugin", "simplugin.libs"}


@pytest.mark.parametrize(("name", "rpath"), RPATHS.items())
def test_what_it_is_linked_with(content, name, rpath):
    dynamic = subprocess.check_output(["readelf", "--dynamic", content / name], text=True)
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
    assert needed - RUNTIME == ({LIBRARY} if rpath else set())
    paths = re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", dynamic)
    entries = [entry for path in paths for entry in path.split(":")]
    assert all(entry.startswith("$ORIGIN") for entry in entries)
    assert not rpath or rpath in entries


@pytest.mark.parametrize(
    "name", [name for name, rpath in RPATHS.items() if rpath or LIBRARY in name]
)
def test_nothing_of_simgrid_is_shared_in_a_process(content, name):
    symbols = subprocess.check_output(["readelf", "--dyn-syms", content / name], text=True)
    assert " UNIQUE " not in symbols
    if LIBRARY in name:
        dynamic = subprocess.check_output(["readelf", "--dynamic", content / name], text=True)
        assert f"soname: [{LIBRARY}]" in dynamic


SMOKE = """
import importlib.util, pathlib, sys
import simplugin
from simplugin.simulation.threads import simgrid as own

assert importlib.util.find_spec("simgrid") is None
mapped = pathlib.Path("/proc/self/maps").read_text().split()
(library,) = {path for path in mapped if "libsimgrid" in path}
for path in (library, own.__file__, simplugin.__file__):
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


def required(todo: list[str]) -> set[str]:
    """Return the distributions that requirements name, and those that they require."""
    found = set[str]()
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


# With the package simgrid in the same environment, and both in the same process.
BESIDE = """
import pathlib, sys
if sys.argv[1] == "first":
    import simgrid
import actors
from simplugin import simulate

for back_end in ("coroutines", "threads"):
    result = simulate("two_hosts.xml", [("ada", actors.work)], back_end=back_end)
    assert result.clock == 2.0, result.clock
    assert result.values("work") == ["simgrid"], result.values("work")

import simgrid
from simplugin.simulation.threads import simgrid as own

mapped = pathlib.Path("/proc/self/maps").read_text().split()
libraries = {pathlib.Path(path).name for path in mapped if "libsimgrid" in path}
assert libraries == set(sys.argv[2:]), libraries
assert own.Engine is not simgrid.Engine

dates = []


def sleep():
    simgrid.this_actor.sleep_for(3)
    dates.append(simgrid.Engine.clock)


engine = simgrid.Engine(["beside", "--log=root.thresh:critical"])
engine.load_platform("two_hosts.xml")
simgrid.Host.by_name("ada").add_actor("sleeper", sleep)
engine.run()
assert dates == [3.0], dates
assert own.Engine.clock == 0, own.Engine.clock
"""

ACTORS = """
import simgrid


async def work(me):
    assert simgrid.Engine is not None
    await me.execute(2e9)
    return simgrid.__name__
"""


def pretend(content: Path, packages: Path) -> None:
    """Install our SimGrid under the names that the package simgrid gives to its files.

    Library and registry of types have the official names, which are shorter than ours.
    """

    def renamed(file: Path) -> bytes:
        found = file.read_bytes()
        old, new = LIBRARY.encode(), OFFICIAL.encode()
        found = found.replace(old, new.ljust(len(old), b"\0"))
        ours = rb"_simplugin(_libstdcpp\w*)"
        return re.sub(ours, rb"_gcc\1" + bytes(len("_simplugin") - len("_gcc")), found)

    place = packages.parent / "lib"  # where its bindings look, too
    place.mkdir()
    (place / OFFICIAL).write_bytes(renamed(content / "simplugin.libs" / LIBRARY))
    bindings = f"simgrid{EXTENSION}"
    official = renamed(content / "simplugin/simulation/threads" / bindings)
    assert b"_simplugin" not in official
    assert b"_gcc_libstdcpp" in official
    (packages / bindings).write_bytes(official)


PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
QUIET = {**os.environ, "PYTHONWARNINGS": ""}


def environment_with(wheels: list[Path], others: list[str], home: Path) -> Path:
    """Return the site-packages of an empty environment with wheels and what they require."""
    venv.create(home, with_pip=False)
    (packages,) = home.glob("lib/python*/site-packages")
    pip = [*PIP, "--python", str(home / "bin/python")]
    install = [*pip, "install", "-q", "--no-compile", "--no-deps", "--no-index", *wheels]
    subprocess.run(install, check=True, env=QUIET)
    requirements = [
        line
        for each in importlib.metadata.distributions(path=[str(packages)])
        for line in each.requires or []
    ]
    ours = {each.name for each in importlib.metadata.distributions(path=[str(packages)])}
    for distribution in required([*requirements, *others]) - ours:
        give(distribution, packages)
    subprocess.run([*pip, "check"], check=True)
    return packages


def test_smoke(wheel, content, tmp_path):
    home = tmp_path / "empty"
    packages = environment_with([wheel], [], home)
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
    assert pinned().version in told
    pretend(content, packages)
    (work / "beside.py").write_text(BESIDE)
    (work / "actors.py").write_text(ACTORS)
    for order in ("first", "last"):
        words = [home / "bin/python", "-W", "error", "beside.py", order, LIBRARY, OFFICIAL]
        subprocess.run(words, cwd=work, env=environment, check=True)


def test_a_project_that_depends_on_it(wheel, tmp_path):
    ignored = shutil.ignore_patterns(".venv", "out", "__pycache__")
    lab = shutil.copytree(CHECKOUT / "examples/my_lab", tmp_path / "my lab", ignore=ignored)
    build = [*PIP, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", tmp_path, lab]
    subprocess.run(build, check=True, env=QUIET)
    (project,) = tmp_path.glob("my_lab-*.whl")
    home = tmp_path / "environment"
    environment_with([wheel, project], ["pytest"], home)
    shutil.rmtree(lab / "my_lab")  # it is installed
    workflow = yaml.safe_load((lab / ".github/workflows/results.yml").read_text())
    guards = [step["run"] for step in workflow["jobs"]["results"]["steps"] if "run" in step][1:]
    assert len(guards) == 2
    campaign = [f"simplugin {word} campaign.toml" for word in ("check", "campaign run")]
    for command in guards + campaign:
        words = f"{home}/bin/{command}".split()
        environment = {"PATH": str(home / "bin"), "HOME": str(tmp_path)}
        subprocess.run(words, cwd=lab, env=environment, check=True)


OF_DOCUMENTS = {"lxml", "matplotlib", "networkx", "pydantic", "rich", "typer"}
HEAVY = {"cloudpickle", "cvxpy", "numpy", "pandas", "scipy"} | OF_DOCUMENTS
HEAVY |= {"simgrid", "simplugin.simulation.threads.simgrid"}


def modules_after(code: str) -> set[str]:
    """Return the modules that are loaded when a new Python has run some code."""
    code += "; import json, sys; print(json.dumps(sorted(sys.modules)))"
    return set(json.loads(subprocess.check_output([sys.executable, "-c", code], cwd=CHECKOUT)))


def test_importing_the_package_imports_nothing_heavy():
    modules = modules_after("import simplugin")
    assert "simplugin" in modules
    assert not modules & HEAVY
    assert not {name for name in modules if name.startswith("simplugin.")}


def test_importing_simulate_imports_numpy_only():
    modules = modules_after(
        "from simplugin.simulation import simulate, Placement, SimGridOptions; "
        "import simplugin.simulation.simulate; assert callable(simplugin.simulation.simulate)"
    )
    assert not modules & (HEAVY - {"numpy"})


def test_checking_files_imports_no_numbers_and_no_network():
    check = "from simplugin.campaigns.campaign import check_file; from pathlib import Path; "
    modules = modules_after(
        "from simplugin.formats.check import check; assert not check(['platforms_xml/lille.xml']); "
        + "import sys; assert 'pydantic' not in sys.modules; "
        + check
        + "assert not check_file(Path('scenarios/demo.toml'), imports=False, trust=())"
    )
    assert not modules & (HEAVY - {"cloudpickle", "pydantic"} | {"asyncio"})


STUBS = sorted((CHECKOUT / "simplugin").rglob("__init__.pyi"))


@pytest.mark.parametrize("package", [".".join(s.parent.relative_to(CHECKOUT).parts) for s in STUBS])
def test_every_public_name_is_there(package):
    module = importlib.import_module(package)
    assert module.__all__
    for name in module.__all__:
        assert getattr(module, name) is not None
        assert name in dir(module)


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        simplugin.no_such_name  # noqa: B018 - the access is what is tested


def test_the_version_is_the_installed_one():
    assert simplugin.__version__ == importlib.metadata.version("simplugin")


def test_the_citation_is_of_this_package():
    citation = yaml.safe_load((CHECKOUT / "CITATION.cff").read_text())
    metadata = importlib.metadata.metadata("simplugin")
    assert citation["title"] == f"simplugin: {lower_first(metadata['Summary'])}"
    assert citation["license"] == metadata["License-Expression"]
    assert [each["name"] for each in citation["authors"]] == [metadata["Author"]]
    assert "version" not in citation  # it is written once, in pyproject.toml


def test_the_workflow_of_a_release_runs_what_there_is():
    jobs = yaml.safe_load((CHECKOUT / ".github/workflows/release.yml").read_text())["jobs"]
    makefile = (CHECKOUT / "Makefile").read_text()
    metadata = importlib.metadata.metadata("simplugin")
    pythons = jobs["files"]["strategy"]["matrix"]["python"]
    known = "Programming Language :: Python :: "
    assert [known + each for each in pythons] == [
        each for each in metadata.get_all("Classifier") if each.startswith(f"{known}3.")
    ]
    runs = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    targets = [re.fullmatch(r"make (\S+).*", run)[1] for run in runs if run.startswith("make ")]
    assert targets == ["test", "release"]
    assert all(f"\n{target}: " in makefile for target in targets)


def lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
