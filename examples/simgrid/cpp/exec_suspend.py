"""An execution that is suspended twice: SimGrid's ``exec-suspend``."""

from pathlib import Path

from simplugin import simulate


async def suspend_for(me, execution, seconds):
    execution.suspend()
    before = execution.remaining
    me.log(f"Task is suspended (remaining: {before:f})")
    await me.sleep_for(seconds)
    execution.resume()
    after = execution.remaining
    me.log(f"Task is resumed (remaining: {after:f})")
    me.log(
        f"Activity hasn't advanced: {'yes' if before == after else 'no'}. (remaining before sleep:"
        f" {before:f}, remaining after sleep: {after:f})"
    )


async def executor(me):
    execution = me.exec_async(3 * me.host.speed)
    for _ in range(2):
        await me.sleep_for(1)
        await suspend_for(me, execution, 10)
    await execution
    me.log("Finished")


def main(examples: Path, platform: str):
    simulate(platform, [("Tremblay", executor)])
