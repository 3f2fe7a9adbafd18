"""Hostile scenarios: what they would do to the file system does not happen."""

import sys

import pytest
from changed_scenarios import change, refused, run

from simplugin.campaigns import load_campaign, run_campaign
from simplugin.core.errors import PlatformError, ScenarioError
from simplugin.inputs import references
from simplugin.scenarios import load_scenario
from simplugin.scenarios.scenario_runs import run as run_job

PLATFORM = 'file = "platform.xml"'
WORK = '"my_actors:work"'
TOUCH = "import pathlib\npathlib.Path({!r}).touch()\n"
MAKES = """
from simplugin import Host, Platform, Zone

def lab(path=None):
    return Platform(Zone("z", "Full", [Host("alice", 1e9), Host("bob", 1e9)]))
"""


@pytest.fixture
def evil(tmp_path):
    """The file that hostile code makes, outside the laboratory."""
    return tmp_path / "evil.txt"


@pytest.fixture
def file(lab):
    return lab / "scenario.toml"


@pytest.fixture
def generated(file, evil):
    """Have the scenario name a generator, called with a command and with a path."""

    def write(reference, parameters=None):
        given = f"path = {str(evil)!r}" if parameters is None else parameters
        return change(file, PLATFORM, f"generator = '{reference}'\nparameters = {{ {given} }}")

    return write


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Return a directory of packages on the search path, which alone does not make them count."""
    directory = tmp_path / "site"
    directory.mkdir()
    monkeypatch.syspath_prepend(directory)
    references._declared.cache_clear()
    yield directory
    references._declared.cache_clear()
    for name in [each for each in sys.modules if each.partition(".")[0] in ("stray", "declared")]:
        del sys.modules[name]


def declare(site, module):
    about = site / "declared-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: declared\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[simplugin.functions]\nours = {module}\n")


OTHERS = [
    ("os:system", "command = 'touch {}'"),
    ("subprocess:call", "args = ['touch', '{}']"),
    ("pathlib:Path.touch", "self = '{}'"),
    # Of this package, only policies and generators count; nobody lends what is imported.
    ("simplugin.regression.snapshots:delete_snapshot", "path = '{}'"),
    ("simplugin.inputs.references:importlib.import_module", "name = 'stray'"),
    ("simplugin.bags.policies.shipped:importlib.import_module", "name = 'stray'"),
    ("mine:os.system", "command = 'touch {}'"),
    ("mine:system", "command = 'touch {}'"),
    ("platform:system", ""),
    ("stray:lab", "path = '{}'"),
]


@pytest.mark.parametrize(("reference", "parameters"), OTHERS)
def test_code_from_elsewhere_is_refused(reference, parameters, generated, site, lab, evil):
    (site / "stray.py").write_text(TOUCH.format(str(evil)) + MAKES)
    (lab / "mine.py").write_text("import os\nfrom os import system\n")
    # Python's own module of this name would be imported.
    (lab / "platform.py").write_text(MAKES)
    path = generated(reference, parameters.format(evil))
    error = refused(path, reference.partition(":")[0], "platform.generator")
    assert error.line == 4
    assert error.remedy
    assert not evil.exists()
    # Processes of campaigns are handed documents, and refuse them too.
    document = load_scenario(path).document
    with pytest.raises(ScenarioError):
        run_job({"document": document, "directory": str(lab), "name": path.name})
    assert not evil.exists()


@pytest.mark.parametrize("where", ["workload.functions.work", "scheduler.name"])
def test_actors_and_schedulers_too(where, file, site, evil):
    (site / "stray.py").write_text(TOUCH.format(str(evil)))
    if where == "scheduler.name":
        bags = '[workload]\nkind = "bags"\n[scheduler]\nname = "stray:policy"\n'
        bags += '[[workload.applications]]\nname = "a"\nmaster = "alice"\nflop = 1\ncount = 1\n'
        file.write_text(f'[platform]\nfile = "platform.xml"\n{bags}')
    else:
        change(file, WORK, '"stray:work"')
    refused(file, "stray", where)
    assert not evil.exists()


def test_what_is_declared_or_asked_for_counts(generated, site, evil):
    package = site / "declared"
    package.mkdir()
    (package / "__init__.py").write_text("from declared.inner import lab\nimport os\n")
    (package / "inner.py").write_text(MAKES)
    declare(site, "declared")
    (site / "stray.py").write_text(MAKES + "from os import system\n")
    path = generated("declared:lab")
    platform = load_scenario(path).make_platform()
    assert platform.host_count == 2
    refused(change(path, "declared:lab", "declared:os.system"), "declared:os.system")
    change(path, "declared:os.system", "stray:lab")
    assert load_scenario(path, trust=["stray"]).make_platform() == platform
    # Trusted modules lend what they import.
    change(path, "stray:lab", "stray:system", f"path = {str(evil)!r}", f"command = 'touch {evil}'")
    with pytest.raises(ScenarioError):
        load_scenario(path, trust=["stray"]).make_platform()
    assert evil.exists()


def test_asking_reaches_the_processes_of_a_campaign(file, site, lab, simplugin):
    (site / "stray.py").write_text((lab / "my_actors.py").read_text())
    change(file, WORK, '"stray:work"')
    told = simplugin("campaign", "run", file, status=1).stderr
    assert f"{file}:9: " in told
    assert "--trust stray" in told
    assert not file.with_suffix(".sqlite").exists()
    for words in (["run"], ["campaign", "run", "-j", "1"], ["regress", "--update"]):
        simplugin(*words, file, "--trust", "stray", status=0)
    # A store does not say whom to trust.
    assert run_campaign(load_campaign(file, trust=["stray"]), jobs=1).before == 1


SHADOW = "networkx.py"


def test_checks_and_reports_import_nothing(file, lab, evil, simplugin):
    simplugin("campaign", "run", file, "-j", "1", status=0)
    working = (lab / "my_actors.py").read_text()
    for name in ("my_actors.py", SHADOW):
        (lab / name).write_text(TOUCH.format(str(evil)) + working)
    simplugin("check", file, status=0)
    simplugin("campaign", "run", file, "--dry-run", status=0)
    simplugin("campaign", "status", file, status=0)
    simplugin("report", file, "-o", lab / "page", "--figures", "none", "--campaign", "1", status=0)
    assert not evil.exists()
    change(file, WORK, '"my_actors:wrok"')
    simplugin("check", file, status=0)
    assert "no 'wrok'" in simplugin("check", file, "--import", status=1).stdout
    assert evil.exists()
    evil.unlink()
    dry = simplugin("campaign", "run", file, "--dry-run", "--import", status=1)
    assert "no 'wrok'" in dry.stderr
    change(file, '"my_actors:wrok"', '"my_actor:work"')
    assert f"{file}:9: error: " in simplugin("check", file, status=1).stdout


STRAY_OUTPUTS = [
    ("directory", 'directory = "{outside}"\nresult = "x.json"'),
    ("directory", 'directory = "../elsewhere"\nresult = "x.json"'),
    ("directory", 'directory = "link"\nresult = "x.json"'),
    ("result", 'result = "../x.json"'),
    ("result", 'directory = "out"\nresult = "../x.json"'),
    ("trace", 'trace = "{outside}/x.csv"'),
    ("gantt", 'gantt = "../../x.png"'),
]


@pytest.mark.parametrize(("key", "output"), STRAY_OUTPUTS)
def test_outputs_stay_below(key, output, file, lab, tmp_path, simplugin):
    outside = tmp_path / "outside"
    outside.mkdir()
    (lab / "link").symlink_to(outside)
    output = output.format(outside=outside)
    change(file, "[simulation.options]", f"[output]\n{output}\n[simulation.options]")
    before = {*tmp_path.rglob("*")}
    told = [simplugin("run", file, status=1).stderr, simplugin("check", file, status=1).stdout]
    assert all(f"output.{key} leads to " in each and "-o DIR" in each for each in told)
    assert {*tmp_path.rglob("*")} == before
    asked = simplugin("run", file, "-o", tmp_path / "asked", status=int(key != "directory"))
    assert (tmp_path / "asked" / "x.json").exists() == (key == "directory"), asked.stderr
    assert not list(outside.iterdir())


def test_stores_stay_below(file, tmp_path, simplugin):
    store = tmp_path / "stray.sqlite"
    change(file, "[simulation.options]", '[campaign]\nstore = "../stray.sqlite"\n[sweep]\n')
    file.write_text(file.read_text().partition("[sweep]")[0])
    told = simplugin("campaign", "run", file, status=1).stderr
    assert f"{file}:12: campaign.store leads to " in told
    with pytest.raises(ScenarioError) as caught:
        run_campaign(file)
    assert caught.value.key == "campaign.store"
    assert not store.exists()
    simplugin("campaign", "run", file, "--store", store, "-j", "1", status=0)
    assert store.exists()


def test_simgrid_writes_its_trace_below(file, lab, evil, monkeypatch):
    monkeypatch.chdir(lab)
    options = f'extra = {{ tracing = "yes", "tracing/filename" = "{evil}" }}'
    change(file, "crosstraffic", f"{options}\ncrosstraffic")
    assert refused(file, "tracing/filename").line == 13
    change(file, options, "")
    prop = f'<prop id="&#116;racing" value="yes"/><prop id="tracing/filename" value="{evil}"/>'
    change(lab / "platform.xml", "  <zone", f"<config>{prop}</config>\n  <zone")
    refused(file, "tracing/filename", "platform.file")
    assert not evil.exists()
    # SimGrid does not look at the encoding; whoever does must not be fooled.
    change(lab / "platform.xml", '"1.0"', '"1.0" encoding="nonsense"')
    with pytest.raises(PlatformError) as caught:
        run(file)
    assert caught.value.file == lab / "platform.xml"
    assert not evil.exists()
    change(lab / "platform.xml", ' encoding="nonsense"', "", str(evil), "fine.trace")
    run(file)
    assert (lab / "fine.trace").exists()
