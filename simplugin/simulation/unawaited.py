"""Operations and coroutines that are never awaited, reported as errors that name the line.

What is created and not awaited is noticed when it goes away. This is no mistake where an exception
or a kill keeps an actor from awaiting it: hence what goes away with the frames of an exception, or
after an exception in the same actor, is not reported, unless a statement consists of the call.
"""

from __future__ import annotations

import dis
import gc
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from simplugin.errors import NeverAwaitedError
from simplugin.simulation import _driver

_HERE = str(Path(__file__).parent)


class Watch:
    """Reports what is never awaited in a simulation: operations, and coroutines of the user's.

    Parameters
    ----------
    stop : callable
        Ends the simulation with an error.
    clock : callable
        Returns the simulated date [s].
    running : callable
        Returns name and host of the running actor; None if it is being killed.
    locates : bool
        True if the driver notes where each operation is created.
    """

    def __init__(
        self,
        stop: Callable[[NeverAwaitedError], object],
        clock: Callable[[], float],
        running: Callable[[], tuple[str, str] | None],
        *,
        locates: bool,
    ) -> None:
        self._stop = stop
        self._clock = clock
        self._running = running
        _driver.watch_awaits(self.report, locates)
        # Python calls this function of `warnings` when a coroutine that never ran goes away.
        self._warn = warnings._warn_unawaited_coroutine  # type: ignore[attr-defined]
        warnings._warn_unawaited_coroutine = self._report_coroutine  # type: ignore[attr-defined]

    def report(self, what: str, actor: str, host: str, place: str) -> None:
        """Stop the simulation because of something that goes away, unless it is excused.

        Parameters
        ----------
        what : str
            Its description, for the message.
        actor, host : str
            The actor that created it, and its host.
        place : str
            ``file:line`` where it was created; empty if it is unknown.
        """
        frame = user_frame()
        if frame is not None and _ends_statement(frame):
            place = place_of(frame)
        elif sys.exc_info()[0] is not None or _is_unwound(frame):
            return
        self._stop(NeverAwaitedError(actor, host, self._clock(), what, place))

    def _report_coroutine(self, coroutine: Any) -> None:
        """Stop the simulation because of a coroutine of a function of the user's."""
        actor = self._running()
        if actor is None:
            return
        frame = user_frame()
        if _driver.exceptions() and not (frame is not None and _ends_statement(frame)):
            # When it was created is unknown: it may or may not be because of an exception.
            self._warn(coroutine)
            return
        origin = coroutine.cr_origin
        place = f"{origin[0][0]}:{origin[0][1]}" if origin else ""
        self.report(f"{coroutine.__qualname__}()", *actor, place)


def user_frame() -> FrameType | None:
    """Return the innermost frame that is not of this package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return frame


def place_of(frame: FrameType | None) -> str:
    """Return ``file:line`` of a frame; empty if there is none."""
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _ends_statement(frame: FrameType) -> bool:
    """Return True if a frame is dropping the value of a call that nothing uses."""
    before = ""
    for instruction in dis.get_instructions(frame.f_code):
        if instruction.offset == frame.f_lasti:
            return instruction.opname == "POP_TOP" and before.startswith("CALL")
        before = instruction.opname
    return False


def _is_unwound(frame: FrameType | None) -> bool:
    """Return True if an exception that still exists has passed a frame, or one above it."""
    stack = set()
    while frame is not None:
        stack.add(frame)
        frame = frame.f_back
    return any(
        isinstance(each, TracebackType) and each.tb_frame in stack for each in gc.get_objects()
    )
