"""Actors that are suspended, resumed and killed: SimGrid's ``actor-kill``."""

from pathlib import Path

from simplugin import simulate


def tell_end(actor):
    actor.on_exit(lambda killed: actor.log("I have been killed!" if killed else "I finish now."))


async def victim_a(me):
    me.log("Hello!")
    me.log("Suspending myself")
    await me.suspend()
    me.log("OK, OK. Let's work")
    await me.execute(1e9)
    me.log("Bye!")


async def victim_b(me):
    me.log("Terminate before being killed")


async def killer(me, other):
    me.log("Hello!")
    a = me.spawn(victim_a, host="Fafard", name="victim A")
    tell_end(a)
    b = me.spawn(victim_b, host="Jupiter", name="victim B")
    await me.sleep_for(10)

    me.log("Resume the victim A")
    a.resume()
    await me.sleep_for(2)

    me.log("Kill the victim A")
    a.kill()
    await me.sleep_for(1)

    me.log(f"Kill {other}, even if it's already dead")
    b.kill()
    await me.sleep_for(1)

    me.log("Start a new actor, and kill it right away")
    c = me.spawn(victim_a, host="Jupiter", name="victim C")
    tell_end(c)
    c.kill()
    await me.sleep_for(1)

    me.log("Killing everybody but myself")
    for actor in me.actors:
        if actor.pid != me.pid:
            actor.kill()

    me.log("OK, goodbye now. I commit a suicide.")
    me.exit()
    me.log("This line never gets displayed: I'm already dead since the previous line.")


def main(examples: Path, platform: str, *, language: str):
    other = {"python": "victim B", "cpp": "victimB"}[language]
    simulate(platform, [("Tremblay", killer, other)])
