"""Numbers, paths and texts of scenarios that no machine can hold: refused, not tried."""

import resource

import pytest

from simplugin.campaigns.campaign import check_file
from simplugin.core.errors import ScenarioError
from simplugin.scenarios import load_scenario, run_scenario

HUGE = 1_000_000_000
GENERATORS = {
    "chain": f"n_hosts = {HUGE}",
    "complete_tree": "arity = 1000, depth = 1000",
    "dragonfly": "groups = 1000, routers = 1000, hosts_per_router = 1000",
    "fat_tree": "children = [1000, 1000, 1000]",
    "flat_cluster": f"n_hosts = {HUGE}",
    "grid": "rows = 100000, columns = 100000",
    "multi_cluster": f'clusters = [{{ name = "a", processors = {HUGE}, speed = 1e9 }}]',
    "federation": f'sites = [{{ clusters = [{{ hosts = {HUGE}, speed = "1Gf" }}] }}]',
    "preferential_attachment": "n_hosts = 1000000, links = 900000",
    "random_geometric": "n_hosts = 1000000, radius = 1.4",
    "random_graph": f'shape = "clusters", n_hosts = {HUGE}',
    "random_tree": f"n_hosts = {HUGE}, max_degree = 2",
    "ring": f"n_hosts = {10 * HUGE}",
    "small_world": "n_hosts = 1000000, neighbours = 900000",
    "star": f"workers = {HUGE}",
    "torus": "sizes = [100000, 100000]",
}
ACTORS = '[workload]\nkind = "actors"\nactors = [{ function = "mine:work", host = "h0" }]\n'
MINE = 'async def work(me):\n    await me.execute(1, label="\\ud800")\n'


@pytest.fixture(autouse=True)
def little_memory():
    """Do not let a fault take the machine's memory."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, limits)


def refused(tmp_path, text):
    """Return the errors of a scenario: that of its check, and that of its run."""
    (tmp_path / "mine.py").write_text(MINE)
    file = tmp_path / "s.toml"
    file.write_text(text)
    with pytest.raises(ScenarioError) as caught:
        run_scenario(load_scenario(file))
    found = check_file(file)
    assert found, "check finds nothing"
    return [*found, caught.value]


@pytest.mark.parametrize("name", GENERATORS)
def test_sizes_of_platforms(tmp_path, name):
    platform = f'[platform]\ngenerator = "{name}"\nparameters = {{ {GENERATORS[name]} }}\n'
    for error in refused(tmp_path, platform + ACTORS):
        assert error.path[:1] == ("platform",)
        assert error.line is not None


GRAPHS = {
    "chain": f"n_tasks = {HUGE}",
    "fork_join": "width = 100000, stages = 100000",
    "fft": f"points = {2**40}",
    "daggen": f"n_tasks = {HUGE}",
}


@pytest.mark.parametrize("name", GRAPHS)
def test_sizes_of_task_graphs(tmp_path, name):
    text = f"""
[platform]
generator = "flat_cluster"
parameters = {{ n_hosts = 2 }}
[workload]
kind = "taskgraphs"
graphs = [{{ generator = "{name}", parameters = {{ {GRAPHS[name]} }} }}]
[scheduler]
name = "taskgraphs.heft"
"""
    for error in refused(tmp_path, text):
        assert error.path[:1] == ("workload",)


STAR = '[platform]\ngenerator = "star"\nparameters = { workers = 2 }\n' + ACTORS.replace(
    "h0", "master"
)
PATHS = {"null": r"a\u0000", "deep": "a/" * 2000 + "r", "long": "a" * 100_000}


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize(
    "where", ["output.result", "output.directory", "output.trace", "campaign.store"]
)
def test_paths(tmp_path, name, where, simplugin):
    (tmp_path / "mine.py").write_text(MINE)
    table, key = where.split(".")
    more = 'result = "r.json"\n' if key == "directory" else ""
    file = tmp_path / "s.toml"
    file.write_text(f'{STAR}[{table}]\n{key} = "{PATHS[name]}"\n{more}')
    words = ("campaign", "run", "-j", "1") if table == "campaign" else ("run",)
    told = simplugin(*words, file, status=1).stderr
    assert f"{where}" in told
    assert len(told) < 2000
    simplugin("check", file, status=1)


def test_paths_of_the_command(tmp_path, simplugin):
    (tmp_path / "mine.py").write_text(MINE)
    file = tmp_path / "s.toml"
    file.write_text(STAR)
    deep = tmp_path / ("a/" * 1500)
    assert "simplugin: " in simplugin("run", file, "-o", deep, status=1).stderr
    # A label that no file can hold is shown escaped.
    simplugin("run", file, "-o", tmp_path / "out", status=0)
