"""Executions on other hosts: one moves, one fails: SimGrid's ``exec-remote``."""

from pathlib import Path

from simplugin import simulate
from simplugin.core.errors import HostFailureException

WATCHED = ("Boivin", "Fafard", "Ginette")


async def test(me, thing):
    def tell_loads(what):
        loads = (f"{name}={me.host_by_name(name).load:.0f}" for name in WATCHED)
        me.log(f"{what}: {'; '.join(loads)}")

    me.log(f"I'm a wizard! I can run {thing} on the Ginette host from the Fafard one! Look!")
    execution = me.exec_async(48.492e6, host="Ginette")
    me.log("It started. Running 48.492Mf takes exactly one second on Ginette (but not on Fafard).")
    await me.sleep_for(0.1)
    tell_loads("Loads in flops/s")
    await execution
    me.log("Done!")

    me.log(
        f"And now, harder. Start a remote {thing.split()[1]} on Ginette and move it to Boivin after"
        " 0.5 sec"
    )
    execution = me.exec_async(73293500, host="Ginette")
    await me.sleep_for(0.5)
    tell_loads("Loads before the move")
    execution.host = "Boivin"
    await me.sleep_for(0.1)
    tell_loads("Loads after the move")
    await execution
    me.log("Done!")
    if thing == "a task":
        return

    me.log(
        "And now, even harder. Start a remote activity on Ginette and turn off the host after"
        " 0.5 sec"
    )
    execution = me.exec_async(48.492e6, host="Ginette")
    await me.sleep_for(0.5)
    me.host_by_name("Ginette").turn_off()
    try:
        await execution
    except HostFailureException:
        me.log("Execution failed on Ginette")
    me.log("Done!")


def main(examples: Path, platform: str, *, language: str):
    thing = {"python": "a task", "cpp": "an activity"}[language]
    simulate(platform, [("Fafard", test, thing)])
