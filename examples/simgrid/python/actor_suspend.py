"""An actor that another one suspends while it sleeps and works: SimGrid's ``actor-suspend``."""

from pathlib import Path

from simplugin import simulate


async def lazy_guy(me):
    me.log("Nobody's watching me ? Let's go to sleep.")
    await me.suspend()
    me.log("Uuuh ? Did somebody call me ?")

    me.log("Going to sleep...")
    await me.sleep_for(10)
    me.log("Mmm... waking up.")

    me.log("Going to sleep one more time (for 10 sec)...")
    await me.sleep_for(10)
    me.log("Waking up once for all!")

    me.log("Ok, let's do some work, then (for 10 sec on Boivin).")
    await me.execute(980.95e6)
    me.log("Mmmh, I'm done now. Goodbye.")


async def dream_master(me):
    me.log("Let's create a lazy guy.")
    lazy = me.spawn(lazy_guy, name="Lazy")
    me.log("Let's wait a little bit...")
    await me.sleep_for(10)
    me.log("Let's wake the lazy guy up! >:) BOOOOOUUUHHH!!!!")
    if lazy.is_suspended:
        lazy.resume()
    else:
        me.log("I was thinking that the lazy guy would be suspended now", "error")

    await me.sleep_for(5)
    me.log("Suspend the lazy guy while he's sleeping...")
    await lazy.suspend()
    me.log("Let him finish his siesta.")
    await me.sleep_for(10)
    me.log("Wake up, lazy guy!")
    lazy.resume()

    await me.sleep_for(5)
    me.log("Suspend again the lazy guy while he's sleeping...")
    await lazy.suspend()
    me.log("This time, don't let him finish his siesta.")
    await me.sleep_for(2)
    me.log("Wake up, lazy guy!")
    lazy.resume()

    await me.sleep_for(5)
    me.log("Give a 2 seconds break to the lazy guy while he's working...")
    await lazy.suspend()
    await me.sleep_for(2)
    me.log("Back to work, lazy guy!")
    lazy.resume()
    me.log("OK, I'm done here.")


def main(examples: Path, platform: str):
    simulate(platform, [("Boivin", dream_master)])
