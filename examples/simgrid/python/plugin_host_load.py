"""The flops of a host, and its average load: SimGrid's ``plugin-host-load``."""

from pathlib import Path

from simplugin import SimGridOptions, simulate


async def load_test(me, precise, seconds, load, unit, end):
    def flops(form=".0E"):
        return f"number of flops computed so far: {host.figures['flops']:{form}}"

    def average_load():
        return format(host.figures["average_load"], load)

    def duration():
        return format(me.now - start, seconds)

    host = me.host
    speed = host.speed
    me.log(
        f"Initial peak speed: {speed:.0E} flop/s; {flops()} (should be 0) and current average"
        f" load: {average_load()} (should be 0)"
    )
    start = me.now
    me.log("Sleep for 10 seconds")
    await me.sleep_for(10)
    me.log(
        f"Done sleeping {duration()}s; peak speed: {speed:.0E} flop/s; {flops()} (nothing"
        " should have changed)"
    )

    start = me.now
    me.log(f"Run an activity of {2e8:.0E} flops at current speed of {speed:.0E} flop/s")
    await me.execute(2e8)
    took = me.now - start
    expected = 2e8 / host.cores / (10.5 * speed + (took - 0.5) * host.speed)
    me.log(
        f"Done working on my activity; this took {duration()}s; current peak speed:"
        f" {host.speed:.0E} flop/s (when I started the computation, the speed was set to"
        f" {speed:.0E} flop/s); {flops(precise)}, average load as reported by the HostLoad plugin:"
        f" {host.figures['average_load']:.5f} (should be {expected:.5f})"
    )

    host.pstate = 1
    me.log(
        f"========= Requesting pstate 1 (speed should be of {host.pstate_speed(1):.0E} flop/s and"
        f" is of {host.speed:.0E} flop/s, average load is {host.figures['average_load']:.5f})"
    )
    start = me.now
    me.log(f"Run an activity of {1e8:.0E} flops")
    await me.execute(1e8)
    me.log(
        f"Done working on my activity; this took {duration()}s; current peak speed:"
        f" {host.speed:.0E} flop/s; {flops(precise)}"
    )

    start = me.now
    me.log("========= Requesting a reset of the computation and load counters")
    host.reset_figures()
    me.log(f"After reset: {host.figures['flops']:.0E} flops computed; load is {average_load()}")
    me.log("Sleep for 4 seconds")
    await me.sleep_for(4)
    me.log(f"Done sleeping {duration()}{unit}; peak speed: {host.speed:.0E} flop/s; {flops()}")

    other = me.host_by_name("MyHost2")
    me.log(
        f"Turning MyHost2 off, and sleeping another 10 seconds. MyHost2 computed"
        f" {end.format(**other.figures)}"
    )
    other.turn_off()
    start = me.now
    await me.sleep_for(10)
    me.log(f"Done sleeping {duration()}{unit}; peak speed: {host.speed:.0E} flop/s; {flops()}")


async def change_speed(me, host):
    await me.sleep_for(10.5)
    me.log(
        "I slept until now, but now I'll change the speed of this host while the other actor is"
        " still computing! This should slow the computation down."
    )
    me.host_by_name(host).pstate = 2


# Formats, and where the second actor is.
LANGUAGES = {
    "python": (
        (".0E", "", "", "s", "{flops:.0E} flops so far and has an average load of {average_load}"),
        "MyHost1",
    ),
    "cpp": (
        (
            *(".2E", ".2f", ".5f", " s"),
            "{flops:.0f} flops so far and has an average load of {average_load:.5f}.",
        ),
        "MyHost2",
    ),
}


def main(examples: Path, platform: str, *, language: str):
    forms, other = LANGUAGES[language]
    clock = simulate(
        platform,
        [("MyHost1", load_test, *forms), (other, change_speed, "MyHost1")],
        options=SimGridOptions(extra={"plugin": "host_load"}),
    ).clock
    print(f"[{clock:.6f}] Total simulation time: {clock:{forms[1]}}")
