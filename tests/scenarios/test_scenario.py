import json
import shutil
import sys
from pathlib import Path

import pytest
from changed_scenarios import change, refused, run

from simplugin.campaigns.campaign import check_file
from simplugin.core.errors import ActorError, DeploymentError, ScenarioError
from simplugin.scenarios import load_scenario, run_scenario
from simplugin.scenarios.loading import scenario_from
from simplugin.simulation import SimGridOptions, SimulationOptions

# 200 MB at 100 MB/s, then 6 Gflop at 2 Gflop/s.
END = 2.0 + 3.0


@pytest.fixture
def file(lab):
    return lab / "scenario.toml"


def test_runs_to_the_closed_form(file):
    scenario = load_scenario(file)
    assert scenario.title == "Send, then work"
    told = []
    outcome = run_scenario(scenario, lambda clock, actors: told.append((clock, actors)))
    assert all(0 <= clock <= END + 1e-6 and actors >= 0 for clock, actors in told)
    result, row = outcome.result, outcome.row
    assert (result.clock, result.value_of("work")) == pytest.approx((END, END), rel=1e-9)
    assert (row["makespan"], row["energy"]) == (result.clock, None)
    names = ("actors", "actors_killed", "activities", "hosts_used")
    assert [row[name] for name in names] == [2, 0, 2, 1]
    found = [row[name] for name in ("computed", "transferred", "utilisation")]
    assert found == pytest.approx([6e9, 200e6, 3.0 / END])
    assert row.provenance["options"]["network/model"] == "CM02"


def test_energy(lab, file):
    watts = '<prop id="wattage_per_state" value="95:100:150"/>'
    platform = lab / "platform.xml"
    platform.write_text(platform.read_text().replace('Gf"/>', f'Gf">{watts}</host>'))
    outcome = run(change(file, OPTIONS, f"[simulation]\nenergy = true\n{OPTIONS}"))
    # Bob idles for 2 s and computes for 3 s; the other two idle.
    assert outcome.row["energy"] == pytest.approx(2 * 95 + 3 * 150 + 2 * 5 * 95)
    assert outcome.row.metric("energy").unit == "J"


def test_every_simulation_key_reaches_the_simulation(file):
    given = {"back_end": "coroutines", "seed": 7, "until": 50.0, "wall_limit": 60.0}
    given |= {"memory_limit": 10**9, "trace_limit": 10**8, "trace": False, "energy": False}
    given |= {"log": "error", "prefix_prints": True}
    extra = "".join(f"{key} = {json.dumps(value)}\n" for key, value in given.items())
    scenario = load_scenario(change(file, OPTIONS, f"[simulation]\n{extra}{OPTIONS}"))
    options = SimGridOptions(network_model="CM02", crosstraffic=False, tcp_gamma=0.0)
    assert scenario.simulation == SimulationOptions(**given, options=options)
    outcome = run_scenario(scenario)
    assert outcome.result.provenance["seed"] == 7
    assert outcome.row["activities"] is outcome.row["transferred"] is None


OPTIONS = "[simulation.options]"


MISTAKES = [
    ("title =", "titel =", "titel", 1, "did you mean 'title'"),
    ('title = "Send, then work"', "title = 3", "title", 1, "give a text"),
    ("file =", "fil =", "platform.fil", 4, "did you mean 'file'"),
    ('"platform.xml"', '"gone.xml"', "platform.file", 4, "there is no file"),
    ('"platform.xml"', "3", "platform.file", 4, "give a path"),
    ('file = "platform.xml"', "", "platform", 3, "either a file or a generator"),
    ('"actors"', '"actor"', "workload.kind", 7, "did you mean 'actors'"),
    ('kind = "actors"', "", "workload.kind", 6, "is missing"),
    ("deployment =", "deploiment =", "workload.deploiment", 8, "did you mean 'deployment'"),
    ('"my_actors:work"', '"work"', "workload.functions.work", 9, "write 'module:function'"),
    ("CM02", "CM2", "simulation.options.network_model", 12, "did you mean 'CM02'"),
    ("network_model", "network", "simulation.options.network", 12, "network_model"),
    ("tcp_gamma = 0.0", "tcp_gamma = -1", "simulation.options.tcp_gamma", 14, "0 or more"),
    (OPTIONS, f"[simulation]\nseed = -1\n{OPTIONS}", "simulation.seed", 12, "or equal to 0"),
    (OPTIONS, f"[simulation]\nseed = {10**4000}\n{OPTIONS}", "simulation.seed", 12, "beyond all"),
    (OPTIONS, f"[output]\ngantt = 'x.gif'\n{OPTIONS}", "output.gantt", 12, ".png"),
    (OPTIONS, f"[scheduler]\nname = 'a'\n{OPTIONS}", "scheduler", 11, "takes no [scheduler]"),
]


@pytest.mark.parametrize(("old", "new", "key", "line", "told"), MISTAKES)
def test_mistakes_are_told_with_key_and_line(file, old, new, key, line, told):
    error = refused(change(file, old, new), told)
    assert error.key == key or f"'{key}'" in str(error)
    assert error.line == line
    assert [str(each) for each in check_file(file)] == [str(error)]


def test_charts_need_the_trace(file):
    untraced = "[output]\ngantt = 'x.png'\n[simulation]\ntrace = false\n"
    refused(change(file, OPTIONS, untraced + OPTIONS), "needs the trace", "output.gantt")


def test_a_table_that_is_missing_is_missing_from_the_first_line_on(file):
    assert refused(change(file, "[platform]", "[platfrom]"), key="platform").line == 1


def test_lines_are_counted_as_windows_counts_them_too(file):
    change(file, 'file = "', "file = ")
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert refused(file, "not TOML").line == 4


def test_files_that_cannot_be_read(tmp_path):
    path = tmp_path / "x.toml"
    for line in (None, 1):
        with pytest.raises(ScenarioError) as caught:
            load_scenario(path)
        assert (caught.value.file, caught.value.line) == (path, line)
        path.write_bytes(b"\xff\xfe")


def test_all_mistakes_are_told_at_once(file):
    error = refused(change(file, "file =", "fil =", "kind", "sort", "CM02", "CM2"))
    places = [line.partition(": ")[0] for line in str(error).splitlines()]
    assert [place.rpartition(":")[2] for place in places] == ["4", "6", "12"]
    assert error.line == 4


NO_FUNCTIONS = [
    ("my_actors:wrok", "module 'my_actors' has no 'wrok'"),
    ("my_actor:work", "there is no module 'my_actor'"),
    ("my_actors:__name__", "is no function"),
    ("broken:work", "cannot be imported: NameError"),
    ("needs:work", "cannot be imported: No module named 'nowhere'"),
]


@pytest.mark.parametrize(("reference", "told"), NO_FUNCTIONS)
def test_functions_that_cannot_be_had(lab, file, reference, told):
    (lab / "broken.py").write_text("undefined\n")
    (lab / "needs.py").write_text("import nowhere\n")
    refused(change(file, "my_actors:work", reference), told, "workload.functions.work")


def test_function_missing_for_the_deployment(file):
    with pytest.raises(DeploymentError) as caught:
        run(change(file, ', work = "my_actors:work"', ""))
    assert "'work'" in str(caught.value)


def test_actor_errors_come_through(lab, file):
    change(lab / "my_actors.py", "return me.now", "raise ValueError('no')")
    with pytest.raises(ActorError) as caught:
        run(file)
    assert caught.value.clock == pytest.approx(END)


def test_modules_beside_the_scenario_stay_there(file):
    path = list(sys.path)
    run(file)
    assert (sys.path, "my_actors" in sys.modules) == (path, False)


def test_two_scenarios_with_modules_of_the_same_name(lab, file, tmp_path):
    other = Path(shutil.copytree(lab, tmp_path / "other"))
    change(other / "my_actors.py", "float(flops)", "2 * float(flops)")
    dates = [run(each).result.clock for each in (file, other / "scenario.toml", file)]
    assert dates == pytest.approx([END, END + 3.0, END])


def test_modules_import_each_other_and_lazily(lab, file):
    (lab / "factor.py").write_text("FACTOR = 3\n")
    change(lab / "my_actors.py", "return me.now", "import factor\n    return factor.FACTOR")
    assert run(file).result.value_of("work") == 3


GENERATOR = """
from simplugin import Host, Link, Platform, Route, Zone

def lab(speed, seed=0):
    hosts = [Host("alice", 1e9), Host("bob", speed + seed)]
    return Platform(Zone("z", "Full", [*hosts, Link("l", 1e8)], [Route("alice", "bob", ["l"])]))

def nothing():
    return None
"""


OWN = 'generator = "my_platforms:lab"\n'


def test_generated_platform(lab, file):
    (lab / "my_platforms.py").write_text(GENERATOR)
    keys = f"{OWN}seed = 1000000000\nparameters = {{ speed = 5e9 }}"
    outcome = run(change(file, 'file = "platform.xml"', keys))
    assert outcome.result.clock == pytest.approx(2.0 + 1.0)


NO_GENERATORS = [
    (OWN, "key 'platform.parameters.speed' is missing; add it"),
    (f'{OWN}parameters = {{ speed = "x" }}', "refuses its parameters: "),
    ('generator = "my_platforms:nothing"', "returned NoneType, not a Platform"),
]


@pytest.mark.parametrize(("keys", "told"), NO_GENERATORS)
def test_generators_that_do_not_work(lab, file, keys, told):
    (lab / "my_platforms.py").write_text(GENERATOR)
    error = refused(change(file, 'file = "platform.xml"', keys), told)
    assert error.key in ("platform.generator", "platform.parameters", "platform.parameters.speed")


def test_scenarios_made_by_a_program(lab):
    functions = {"send": "my_actors:send", "work": "my_actors:work"}
    workload = {"kind": "actors", "deployment": "deployment.xml", "functions": functions}
    document = {"platform": {"file": "platform.xml"}, "workload": workload}
    outcome = run_scenario(scenario_from(document, lab / "made.toml"))
    assert outcome.result.clock > END  # the default model is slower
    with pytest.raises(ScenarioError) as caught:
        scenario_from(document | {"extra": 1}, lab / "made.toml")
    assert caught.value.key == "extra"


ASKING = """
from simplugin.platforms import Platform, Zone

def lab({}):
    told = locals().get("directory", "none")
    return Platform((Zone(str(told), "Full", ()),))
"""


@pytest.mark.parametrize(
    ("signature", "expected"),
    [("*, directory", "the scenario's"), ("directory='own'", "own"), ("**further", "none")],
)
def test_generators_that_ask_for_it_are_told_where_paths_start(lab, file, signature, expected):
    module = f"asking_{len(signature)}"
    (lab / f"{module}.py").write_text(ASKING.format(signature))
    keys = f'generator = "{module}:lab"'
    scenario = load_scenario(change(file, 'file = "platform.xml"', keys))
    with scenario.importable():
        (zone,) = scenario.make_platform().elements
    assert zone.id == (str(lab) if expected == "the scenario's" else expected)
