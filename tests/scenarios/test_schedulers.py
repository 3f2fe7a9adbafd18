"""The scheduler of a scenario: its policy by name, and parameters validated from its signature."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Literal

import pytest
from pydantic import Field

from simplugin.inputs.quantities import Time
from simplugin.inputs.sections import SchedulerSection, Section
from simplugin.scenarios.scenario import Schedulers
from simplugin.scenarios.schedulers import policy_of, read_scheduler

if TYPE_CHECKING:
    from simplugin.platforms import Elsewhere


class Settings(Section):
    buffer: Annotated[int, Field(ge=1)] = 2
    lambda_: Annotated[float, Field(alias="lambda")] = 1.0


class Problems(Exception):
    pass


def scenario(name="bags.own", **parameters):
    def errors(problems):
        return Problems({each.key: f"{each.text}; {each.remedy}" for each in problems})

    return SimpleNamespace(
        scheduler=SchedulerSection(name=name, parameters=parameters),
        directory=None,
        errors=errors,
        function=lambda reference, *key: (reference, key),
    )


def policy(_tree, _bags, *, order: Literal["fcfs", "sjf"] = "fcfs", period: Time = 1.0, buffer=3):
    return order, period, buffer


@dataclass(frozen=True)
class Frozen:
    sizes: tuple[int, ...]
    share: float = 0.5


def unknown_types(first, second: "Elsewhere" = 3, third: "Elsewhere" = None, **further): ...


def parameters_read(function, by_position=0, reserved=None, **parameters):
    schedulers = Schedulers("bags", {"own": function}, Settings, by_position)
    chosen = read_scheduler(scenario(**parameters), schedulers, reserved=reserved)
    assert chosen.policy is function
    return chosen.settings, chosen.parameters


def test_settings_and_policy_get_their_own_and_both_what_both_have():
    settings, own = parameters_read(policy, 2, order="sjf", period="10m", buffer=4)
    assert (settings.buffer, settings.lambda_) == (4, 1.0)
    assert own == {"order": "sjf", "period": 600.0, "buffer": 4}
    assert policy(None, None, **own) == ("sjf", 600.0, 4)
    assert parameters_read(policy, 2, **{"lambda": 2.5})[0].lambda_ == 2.5


def test_a_frozen_data_class_is_a_policy():
    _, own = parameters_read(Frozen, sizes=[1, 2], share=1)
    assert Frozen(**own) == Frozen((1, 2), 1.0)
    assert isinstance(own["share"], float)


def test_every_problem_is_reported_with_its_remedy():
    with pytest.raises(Problems) as caught:
        parameters_read(policy, 2, order="lifo", perod=1, buffer=0, period=True)
    assert caught.value.args[0] == {
        f"scheduler.parameters.{key}": problem.format(f"scheduler.parameters.{key}")
        for key, problem in {
            "order": "{} is 'lifo'; give 'fcfs' or 'sjf'",
            "perod": "unknown key '{}'; did you mean 'period'?",
            "period": "{} is True; give a number [s], or a text such as '50us'",
            "buffer": "{} is 0; give a number greater than or equal to 1",
        }.items()
    }


REFUSED = [
    (policy, {"_tree": 1}, "_tree", "takes"),
    (policy, {"buffer": "4"}, "buffer", "give a whole number"),
    (policy, {"period": "10 parsecs"}, "period", "parsecs"),
    (Frozen, {}, "sizes", "add it"),
    (Frozen, {"sizes": [1, "2"]}, "sizes.1", "give a whole number"),
    (unknown_types, {"first": 1, "second": "3"}, "second", "whole number or a number"),
]


@pytest.mark.parametrize(("function", "parameters", "key", "remedy"), REFUSED)
def test_a_parameter_is_refused(function, parameters, key, remedy):
    with pytest.raises(Problems) as caught:
        parameters_read(function, 2 if function is policy else 0, **parameters)
    assert remedy in caught.value.args[0][f"scheduler.parameters.{key}"]


def test_types_that_only_type_checkers_import_and_further_keywords_take_anything():
    _, own = parameters_read(unknown_types, first=1, second=4, third=[1], other={"a": 1})
    assert own == {"first": 1, "second": 4, "third": [1], "other": {"a": 1}}
    assert isinstance(own["second"], int)


def test_a_reserved_parameter_is_refused_with_its_own_remedy():
    with pytest.raises(Problems) as caught:
        parameters_read(policy, 2, reserved={"order": "give the seed elsewhere"}, order="sjf")
    assert "give the seed elsewhere" in str(caught.value)


def test_a_policy_is_shipped_or_a_reference():
    shipped = Schedulers("bags", {"own": policy}, Settings)
    assert policy_of(scenario(), shipped) is policy
    assert policy_of(scenario("my:own"), shipped) == ("my:own", ("scheduler", "name"))
