"""Executions on hosts that an actor or a profile turns off: SimGrid's ``exec-failure``."""

from pathlib import Path

from simplugin import Host, Placement, Platform, Zone, simulate
from simplugin.core.errors import HostFailureException
from simplugin.platforms import Profile, ProfileUse


async def dispatcher(me):
    pending = []
    for host in me.hosts:
        me.log(f"Initiating asynchronous exec on {host.name}")
        pending.append(me.exec_async(20, host=host))

    for execution, expectation in zip(
        pending,
        (
            "first exec, which host is turned off at t=10 by the another actor.",
            "second exec, which host is turned off at t=12 by the state profile.",
            "third exec, which should succeed.",
        ),
        strict=True,
    ):
        me.log("---------------------------------")
        me.log(f"Wait on the {expectation}")
        try:
            await execution
        except HostFailureException:
            me.log(
                "Dispatcher has experienced a host failure exception, so it knows that something"
                " went wrong."
            )
        else:
            me.log("No exception occured.")
        me.log("State of each exec:")
        for each in pending:
            me.log(f"  Exec on {each.host.name} has state: {each.state}")


async def host_killer(me, name):
    await me.sleep_for(10)
    me.log(f"HostKiller turns off the host '{name}'.")
    me.host_by_name(name).turn_off()


def main(examples: Path):
    hosts = [Host(f"Host{number}", 1) for number in (1, 2, 3)]
    profile = Profile.of_points("profile name", [(12, 0), (20, 1)], period=30)
    elements = [*hosts, profile, ProfileUse(profile.id, "Host2")]
    actors = [
        Placement("Host3", dispatcher, name="Dispatcher"),
        Placement("Host3", host_killer, ("Host1",), name="HostKiller"),
    ]
    simulate(Platform(Zone("world", "Full", elements)), actors)
