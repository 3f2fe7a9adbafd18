import sys

import pytest

from simplugin.errors import ActorError, DeploymentError, ScenarioError
from simplugin.scenarios import load_scenario, run_scenario
from simplugin.scenarios.importing import importable
from simplugin.scenarios.scenario import scenario_from
from simplugin.simulation import SimGridOptions

# 200 MB at 100 MB/s, then 6 Gflop at 2 Gflop/s.
END = 2.0 + 3.0


def change(lab, old, new, file="scenario.toml"):
    path = lab / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return path


def refused(path):
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    return caught.value


def test_runs_to_the_closed_form(lab):
    scenario = load_scenario(lab / "scenario.toml")
    assert scenario.title == "Send, then work"
    outcome = run_scenario(scenario)
    assert outcome.result.clock == pytest.approx(END, rel=1e-9)
    assert outcome.result.value_of("work") == pytest.approx(END, rel=1e-9)
    row = outcome.row
    assert row["makespan"] == outcome.result.clock
    assert (row["actors"], row["actors_killed"], row["activities"]) == (2, 0, 2)
    assert row["computed"] == pytest.approx(6e9)
    assert row["transferred"] == pytest.approx(200e6)
    assert row["hosts_used"] == 1
    assert row["utilisation"] == pytest.approx(3.0 / END)
    assert row["energy"] is None
    assert row.provenance["options"]["network/model"] == "CM02"


def test_energy(lab):
    watts = '<prop id="wattage_per_state" value="95:100:150"/>'
    change(lab, 'Gf"/>', f'Gf">{watts}</host>', "platform.xml")
    path = change(lab, "[simulation.options]", "[simulation]\nenergy = true\n[simulation.options]")
    outcome = run_scenario(load_scenario(path))
    # Bob idles for 2 s and computes for 3 s; the other two idle.
    assert outcome.row["energy"] == pytest.approx(2 * 95 + 3 * 150 + 2 * 5 * 95)
    assert outcome.row.metric("energy").unit == "J"


def test_progress_is_told(lab):
    told = []
    scenario = load_scenario(lab / "scenario.toml")
    run_scenario(scenario, lambda clock, actors: told.append((clock, actors)))
    assert all(0 <= clock <= END + 1e-6 and actors >= 0 for clock, actors in told)


def test_every_simulation_key_reaches_the_simulation(lab):
    extra = "[simulation]\nback_end = 'coroutines'\nseed = 7\nuntil = 50\nwall_limit = 60\n"
    extra += "memory_limit = 1000000000\ntrace = false\nenergy = false\n\n[simulation.options]"
    scenario = load_scenario(change(lab, "[simulation.options]", extra))
    assert scenario.simulation.arguments() == {
        "back_end": "coroutines",
        "seed": 7,
        "until": 50.0,
        "wall_limit": 60.0,
        "memory_limit": 10**9,
        "trace": False,
        "energy": False,
        "options": SimGridOptions(network_model="CM02", crosstraffic=False, tcp_gamma=0.0),
    }
    outcome = run_scenario(scenario)
    assert outcome.result.provenance["seed"] == 7
    assert outcome.row["activities"] is None
    assert outcome.row["transferred"] is None


def test_back_ends_agree(lab):
    dates = []
    for back_end in ("coroutines", "threads"):
        extra = f"[simulation]\nback_end = '{back_end}'\n\n[simulation.options]"
        text = (lab / "scenario.toml").read_text().replace("[simulation.options]", extra)
        (lab / f"{back_end}.toml").write_text(text)
        outcome = run_scenario(load_scenario(lab / f"{back_end}.toml"))
        assert outcome.result.provenance["back_end"] == back_end
        dates.append(outcome.result.clock)
    assert dates == pytest.approx([END, END], rel=1e-9)


@pytest.mark.parametrize(
    ("old", "new", "key", "line", "told"),
    [
        ("title =", "titel =", "titel", 1, "did you mean 'title'"),
        ('title = "Send, then work"', "title = 3", "title", 1, "give a text"),
        ("[platform]", "[platfrom]", "platform", None, "table [platform] is missing"),
        ("file =", "fil =", "platform.fil", 4, "did you mean 'file'"),
        ('"platform.xml"', '"gone.xml"', "platform.file", 4, "there is no file"),
        ('"platform.xml"', "3", "platform.file", 4, "give a path"),
        ('file = "platform.xml"', "", "platform", 3, "either a file or a generator"),
        ('"actors"', '"actor"', "workload.kind", 7, "did you mean 'actors'"),
        ('kind = "actors"', "", "workload.kind", 6, "is missing"),
        ("deployment =", "deploiment =", "workload.deployment", 6, "is missing"),
        (
            '"my_actors:work"',
            '"my_actors"',
            "workload.functions.work",
            9,
            "write 'module:function'",
        ),
        ("CM02", "CM2", "simulation.options.network_model", 12, "did you mean 'CM02'"),
        ("network_model", "network", "simulation.options.network", 12, "network_model"),
        ("tcp_gamma = 0.0", "tcp_gamma = -1", "simulation.options.tcp_gamma", 14, "0 or more"),
        ("[simulation.options]", "[simulation]\nsed = 1\n[simulation.options]", "simulation.sed",
         12, "did you mean 'seed'"),
        ("[simulation.options]", "[simulation]\nseed = -1\n[simulation.options]",
         "simulation.seed", 12, "greater than or equal to 0"),
        ("[simulation.options]", "[simulation]\nseed = '1'\n[simulation.options]",
         "simulation.seed", 12, "give a whole number"),
        ("[simulation.options]", "[simulation]\nback_end = 'thread'\n[simulation.options]",
         "simulation.back_end", 12, "'coroutines' or 'threads'"),
        ("[simulation.options]", "[output]\ngantt = 'x.gif'\n[simulation.options]",
         "output.gantt", 12, ".png"),
        ("[simulation.options]", "[scheduler]\nname = 'fcfs'\n[simulation.options]",
         "scheduler", 11, "takes no [scheduler]"),
        ("[simulation.options]",
         "[output]\ngantt = 'x.png'\n[simulation]\ntrace = false\n[simulation.options]",
         "output.gantt", 12, "needs the trace"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_key_and_line(lab, old, new, key, line, told):
    error = refused(change(lab, old, new))
    everything = str(error)
    assert told in everything
    assert error.key == key or f"'{key}'" in everything
    if line is not None:
        assert f"scenario.toml:{line}:" in everything


def test_all_mistakes_are_told_at_once(lab):
    change(lab, "file =", "fil =")
    change(lab, "kind", "sort")
    error = refused(change(lab, "CM02", "CM2"))
    places = [line.partition(": ")[0] for line in str(error).splitlines()]
    assert [place.rpartition(":")[2] for place in places] == ["4", "6", "12"]
    assert error.line == 4


def test_not_toml(lab):
    error = refused(change(lab, '[platform]\nfile = "', "[platform]\nfile = "))
    assert error.line == 4
    assert "not TOML" in str(error)


def test_lines_of_windows_files(lab):
    path = change(lab, "file =", "fil =")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert "scenario.toml:4:" in str(refused(path))


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_unreadable(tmp_path, content):
    if content is not None:
        (tmp_path / "x.toml").write_bytes(content)
    assert "cannot be read" in str(refused(tmp_path / "x.toml"))


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("my_actors:wrok", "module 'my_actors' has no 'wrok'"),
        ("my_actor:work", "there is no module 'my_actor'"),
        ("my_actors:__name__", "is no function"),
        ("broken:work", "cannot be imported: NameError"),
        ("needs:work", "cannot be imported: No module named 'nowhere'"),
    ],
)
def test_functions_that_cannot_be_had(lab, reference, told):
    (lab / "broken.py").write_text("undefined\n")
    (lab / "needs.py").write_text("import nowhere\n")
    scenario = load_scenario(change(lab, "my_actors:work", reference))
    with pytest.raises(
        ScenarioError, match=r"scenario\.toml:9: workload\.functions\.work"
    ) as caught:
        run_scenario(scenario)
    assert told in str(caught.value)


def test_function_missing_for_the_deployment(lab):
    scenario = load_scenario(change(lab, ', work = "my_actors:work"', ""))
    with pytest.raises(DeploymentError, match="'work'"):
        run_scenario(scenario)


def test_actor_errors_come_through(lab):
    change(lab, "return me.now", "raise ValueError('no')", "my_actors.py")
    with pytest.raises(ActorError, match="ValueError: no") as caught:
        run_scenario(load_scenario(lab / "scenario.toml"))
    assert caught.value.clock == pytest.approx(END)


def test_modules_beside_the_scenario_stay_there(lab):
    path, before = list(sys.path), set(sys.modules)
    run_scenario(load_scenario(lab / "scenario.toml"))
    assert sys.path == path
    assert "my_actors" not in set(sys.modules) - before


def test_two_scenarios_with_modules_of_the_same_name(lab, tmp_path):
    other = tmp_path / "other"
    lab_copy = {path.name: path.read_text() for path in lab.iterdir() if path.is_file()}
    other.mkdir()
    for name, text in lab_copy.items():
        (other / name).write_text(text)
    change(other, "float(flops)", "2 * float(flops)", "my_actors.py")
    dates = [
        run_scenario(load_scenario(directory / "scenario.toml")).result.clock
        for directory in (lab, other, lab)
    ]
    assert dates == pytest.approx([END, END + 3.0, END])


def test_modules_import_each_other_and_lazily(lab):
    (lab / "factor.py").write_text("FACTOR = 3\n")
    change(lab, "return me.now", "import factor\n    return factor.FACTOR", "my_actors.py")
    outcome = run_scenario(load_scenario(lab / "scenario.toml"))
    assert outcome.result.value_of("work") == 3


GENERATOR = """
from simplugin import Host, Link, Platform, Route, Zone


def lab(speed, seed=0):
    hosts = [Host("alice", 1e9), Host("bob", speed + seed)]
    return Platform(Zone("z", "Full", [*hosts, Link("l", 1e8)], [Route("alice", "bob", ["l"])]))


def nothing():
    return None
"""


def test_generated_platform(lab):
    (lab / "my_platforms.py").write_text(GENERATOR)
    keys = 'generator = "my_platforms:lab"\nseed = 1000000000\nparameters = { speed = 5e9 }'
    outcome = run_scenario(load_scenario(change(lab, 'file = "platform.xml"', keys)))
    assert outcome.result.clock == pytest.approx(2.0 + 1.0)


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ('generator = "my_platforms:lab"', "lacks its parameter 'speed'; it takes speed seed=0"),
        (
            'generator = "my_platforms:lab"\nparameters = { speed = "x" }',
            "refuses its parameters: ",
        ),
        (
            'generator = "my_platforms:lab"\nparameters = { sped = 1e9 }',
            "has no parameter 'sped'; did you mean 'speed'",
        ),
        ('generator = "my_platforms:nothing"', "returned NoneType, not a Platform"),
        ('generator = "unknown"', "there is no generator 'unknown'"),
    ],
)
def test_generators_that_do_not_work(lab, keys, told):
    (lab / "my_platforms.py").write_text(GENERATOR)
    scenario = load_scenario(change(lab, 'file = "platform.xml"', keys))
    with pytest.raises(ScenarioError, match=r"scenario\.toml:[45]:") as caught:
        run_scenario(scenario)
    assert told in str(caught.value)


def test_scenarios_made_by_a_program(lab):
    document = {
        "platform": {"file": "platform.xml"},
        "workload": {
            "kind": "actors",
            "deployment": "deployment.xml",
            "functions": {"send": "my_actors:send", "work": "my_actors:work"},
        },
    }
    scenario = scenario_from(document, lab / "made.toml")
    assert run_scenario(scenario).result.clock > END  # the default model is slower
    with pytest.raises(ScenarioError, match="unknown key 'extra'"):
        scenario_from(document | {"extra": 1}, lab / "made.toml")


@pytest.mark.parametrize(
    ("signature", "expected"),
    [("*, directory", "the scenario's"), ("directory='own'", "own"), ("**further", "none")],
)
def test_generators_that_ask_for_it_are_told_where_paths_start(lab, signature, expected):
    (lab / f"asking_{len(signature)}.py").write_text(
        "from simplugin.platforms import Platform, Zone\n"
        f"def lab({signature}):\n"
        "    told = locals().get('directory', 'none')\n"
        "    return Platform((Zone(str(told), 'Full', ()),))\n"
    )
    keys = f'generator = "asking_{len(signature)}:lab"'
    scenario = load_scenario(change(lab, 'file = "platform.xml"', keys))
    with importable(lab):
        (zone,) = scenario.make_platform().elements
    assert zone.id == (str(lab) if expected == "the scenario's" else expected)
