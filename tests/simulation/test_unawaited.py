"""Calls without `await`: errors that name the line, unless an exception or a kill is the reason."""

from __future__ import annotations

import contextlib
import inspect
from pathlib import Path
from typing import Any

import pytest

from simplugin import Placement, simulate
from simplugin.core.errors import NeverAwaitedError, TimeoutException


async def helper(me: Any) -> None:
    await me.sleep_for(1)


# In each, the line that ends with a comment is at fault.
async def statement(me: Any) -> None:
    me.sleep_for(1)  # here


async def nothing_to_sleep(me: Any) -> None:
    me.sleep_for(0)  # here


async def own_function(me: Any) -> None:
    helper(me)  # here


async def in_a_handler(me: Any) -> None:
    try:
        await me.mailbox("m").get(timeout=1)
    except TimeoutException:
        helper(me)  # here


async def wait_of_an_activity(me: Any) -> None:
    me.exec_async(1e9).wait()  # here


async def variable(me: Any) -> None:
    work = me.execute(1e9)  # here
    await me.sleep_for(2)
    del work


async def variable_of_own_function(me: Any) -> None:
    later = helper(me)  # here
    await me.sleep_for(2)
    del later


async def end_of_the_actor(me: Any) -> None:
    work = [me.execute(1e9) for _ in range(2)]  # here
    await me.sleep_for(len(work))


async def cycle(me: Any) -> None:
    work: list[Any] = [me.execute(1e9)]  # here
    work.append(work)


async def after_an_exception(me: Any) -> None:
    try:
        raise ValueError
    except ValueError:
        await me.sleep_for(1)
    work = me.execute(1e9)  # here
    del work


async def callback(me: Any) -> None:
    me.on_exit(lambda _: me.execute(1e9) and None)  # here
    await me.sleep_for(1)


FORGOTTEN = [
    statement, nothing_to_sleep, own_function, in_a_handler, wait_of_an_activity, variable,
    variable_of_own_function, end_of_the_actor, cycle, after_an_exception, callback,
]  # fmt: skip


@pytest.mark.parametrize("actor", FORGOTTEN)
def test_a_call_without_await_is_an_error_that_names_its_line(
    two_hosts: Path, actor: Any, back_end: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    async def noisy(me: Any) -> None:
        print("once")
        await actor(me)

    with pytest.raises(NeverAwaitedError) as caught:
        simulate(two_hosts, [("ada", noisy)], back_end=back_end)
    lines, first = inspect.getsourcelines(actor)
    [offset] = [number for number, line in enumerate(lines) if line.endswith("# here\n")]
    assert caught.value.place == f"{__file__}:{first + offset}"
    assert (caught.value.actor, caught.value.host) == ("noisy", "ada")
    assert f"{caught.value.place}: " in str(caught.value)
    # It runs again to find the line, but nobody sees that.
    assert capfd.readouterr().out == "once\n"


async def kept(me: Any) -> None:
    """Be killed while some operations are not awaited yet."""
    work, later = me.execute(1e9), helper(me)
    await me.sleep_for(10)
    await work
    await later


async def fails(me: Any) -> None:
    work, later = me.execute(1e9), helper(me)
    raise ValueError([work, later])


async def handled(me: Any) -> None:
    """Let exceptions take operations with them, at all places where they may be held."""
    kept_errors = []
    work, later = me.execute(1e9), helper(me)
    try:
        await me.mailbox("nobody").get(timeout=1)
        await work
        await later
    except TimeoutException:
        work = later = None
    try:
        await fails(me)
    except ValueError as error:
        kept_errors.append(error)
    with contextlib.suppress(ValueError):
        print([me.execute(1e9), helper(me), await fails(me)])
    try:
        work = me.execute(1e9)
        await fails(me)
    except ValueError:
        del work
    kept_errors.clear()
    await me.sleep_for(1)


async def leaves(me: Any) -> None:
    work, later = me.execute(1e9), helper(me)
    me.exit()
    await work
    await later


async def kills(me: Any) -> None:
    children = [me.spawn(kept), me.spawn(leaves)]
    await me.sleep_for(2)
    children[0].kill()


def test_what_exceptions_and_kills_take_along_is_no_error(two_hosts: Path, back_end: Any) -> None:
    daemon = Placement("bob", kept, daemon=True)
    result = simulate(two_hosts, [("ada", handled), ("bob", kills), daemon], back_end=back_end)
    assert result.clock == 2
