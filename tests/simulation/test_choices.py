"""Decisions that actors leave to a chooser, or to whoever goes step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from naming import raises_naming

from simplugin.core.errors import ActorError, ChoiceError, NeverAwaitedError, SimpluginError
from simplugin.simulation import Choice, TakenChoice, simulate, simulation

pytestmark = pytest.mark.usefixtures("nothing_left")


async def chooses(me: Any, rounds: int = 3) -> list[int]:
    taken = []
    for number in range(rounds):
        index = await me.choose(["slow", "fast", "none"], {"round": number}, label="speed")
        taken.append(index)
        await me.execute([2e9, 1e9, 0.0][index])
    return taken


def by_round(choice: Choice) -> int:
    return int(choice.observation["round"])


@pytest.mark.parametrize("back_end", ["coroutines", "threads"])
def test_a_chooser_decides(back_end: Any, two_hosts: Path) -> None:
    actors = [("ada", chooses)]
    result = simulate(two_hosts, actors, back_end=back_end)
    assert (result.value_of("chooses"), result.clock) == ([0, 0, 0], 6.0)
    result = simulate(two_hosts, actors, back_end=back_end, chooser=by_round)
    assert (result.value_of("chooses"), result.clock) == ([0, 1, 2], 3.0)
    dates = [(0.0, 0), (2.0, 1), (3.0, 2)]
    expected = [TakenChoice(date, "chooses", "speed", 3, index) for date, index in dates]
    assert list(result.choices) == expected
    assert simulate(two_hosts, actors, back_end=back_end, chooser=by_round) == result


@pytest.mark.parametrize("back_end", ["coroutines", "threads"])
@pytest.mark.parametrize("answer", [3, -1, True, "1", LookupError])
def test_a_wrong_answer_ends_the_simulation(back_end: Any, answer: Any, two_hosts: Path) -> None:
    def wrong(choice: Choice) -> Any:
        if answer is LookupError:
            raise LookupError(choice.label)
        return answer

    with pytest.raises(ChoiceError) as failed:
        simulate(two_hosts, [("ada", chooses)], back_end=back_end, chooser=wrong)
    error = failed.value
    assert (error.actor, error.clock, error.label) == ("chooses", 0.0, "speed")
    assert isinstance(error.__cause__, LookupError) == (answer is LookupError)


@pytest.mark.parametrize("back_end", ["coroutines", "threads"])
@pytest.mark.parametrize("options", [[], None])
def test_what_is_no_choice(back_end: Any, options: Any, two_hosts: Path) -> None:
    async def wrong(me: Any) -> None:
        await me.choose(options)

    async def forgets(me: Any) -> None:
        me.choose([1])
        await me.sleep_for(1)

    with pytest.raises(ActorError):
        simulate(two_hosts, [("ada", wrong)], back_end=back_end)
    with raises_naming(NeverAwaitedError, "choice"):
        simulate(two_hosts, [("ada", forgets)], back_end=back_end)
    with raises_naming(SimpluginError, "chooser"):
        simulate(two_hosts, [], chooser=3)  # type: ignore[arg-type]


def test_from_choice_to_choice(two_hosts: Path) -> None:
    actors = [("ada", chooses), ("bob", chooses, 1)]
    with simulation(two_hosts, actors) as sim:
        with raises_naming(SimpluginError, "run_to_choice"):
            sim.choose(0)
        asked = []
        while (choice := sim.run_to_choice()) is not None:
            asked.append((choice.date, choice.host, choice.observation["round"]))
            assert list(choice.options) == ["slow", "fast", "none"]
            assert sim.clock == choice.date
            with raises_naming(SimpluginError, "choose"):
                sim.step()
            for index in (3, -1, "1", True):
                with raises_naming(ChoiceError, repr(index)):
                    sim.choose(index)  # type: ignore[arg-type]
            sim.choose(by_round(choice))
        recipe = sim.recipe()
        assert sim.run_to_choice() is None
        assert asked == [(0.0, "ada", 0), (0.0, "bob", 0), (2.0, "ada", 1), (3.0, "ada", 2)]
        assert sim.run().choices == simulate(two_hosts, actors, chooser=by_round).choices
    with recipe.replayed() as again:
        assert again.clock == 3.0
        assert len(again.run().choices) == len(asked)


def test_each_option_in_a_branch(two_hosts: Path) -> None:
    with simulation(two_hosts, [("ada", chooses)], chooser=by_round) as sim:
        sim.run_to_choice()
        ends = []
        for index in range(3):
            with sim.branch() as other:
                other.choose(index)
                ends.append(other.run().clock)
        assert ends == [3.0, 2.0, 1.0]
        with raises_naming(SimpluginError, "choose"):
            sim.turn_off("bob")
        sim.choose(1)
        assert (sim.step(), sim.clock) == (True, 0.0)
        sim.step()
        assert sim.clock == 1.0
        assert sim.run().value_of("chooses") == [1, 1, 2]


def test_a_choice_that_falls_due_during_an_intervention(two_hosts: Path) -> None:
    async def nothing(me: Any) -> None:
        await me.choose("ab", label="mine")

    with simulation(two_hosts, [("ada", chooses, 1), ("bob", chooses, 1)]) as sim:
        sim.run_to_choice()
        sim.choose(2)
        sim.intervene(nothing)
        asked = []
        while (choice := sim.run_to_choice()) is not None:
            assert sim.run_to_choice() is choice
            asked.append((choice.host, choice.label))
            sim.choose(1)
            assert len(sim.actors) > 0
        assert sorted(asked) == [("ada", "mine"), ("bob", "speed")]


def test_a_choice_that_cannot_leave_the_process(two_hosts: Path) -> None:
    async def shows(me: Any) -> None:
        await me.choose([0, 1], (each for each in "ab"))

    with (
        simulation(two_hosts, [("ada", shows)]) as sim,
        raises_naming(ChoiceError, "generator"),
    ):
        sim.run_to_choice()
