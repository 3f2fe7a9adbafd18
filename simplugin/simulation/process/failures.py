"""Errors for processes without an outcome, refused platforms, large traces, and users' errors."""

from __future__ import annotations

import os
import re
import signal
import traceback
from pathlib import Path
from types import TracebackType

from simplugin.core.errors import (
    CrashError,
    PlatformError,
    SimpluginError,
    SimulationError,
)
from simplugin.core.name_suggestions import did_you_mean

_TAIL = 8192
_PARSE_ERROR = re.compile(r"Parse error at (?P<file>.*?):(?P<line>\d+): (?P<message>.*)", re.DOTALL)
_CRITICAL = re.compile(r"\[\w+/CRITICAL\] (?P<message>.*?)(?=\nBacktrace|\Z)", re.DOTALL)
_PYTHON_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<name>.*)$', re.M)
_XML_STATE = re.compile(r" \(XML input line \d+, state \d+\)")
_FOREIGN = "not simplugin's"
_NO_ASYNCIO = (
    "actors cannot await what asyncio or another library makes; await me.sleep_for(seconds) for a"
    " pause, start activities with ..._async and await me.wait_all([...]), or me.spawn(...) actors"
)
_PACKAGE = str(Path(__file__).parents[2]) + os.sep


def tail(data: bytes) -> str:
    """Return the end of a standard error, from the start of a line."""
    if len(data) > _TAIL:
        data = data[-_TAIL:].partition(b"\n")[2] or data[-_TAIL:]
    return data.decode("utf-8", "replace").strip()


def place(stderr: str) -> str:
    """Return the place that `faulthandler` wrote into a standard error, or an empty text."""
    _, _, dump = stderr.rpartition("(most recent call first):")
    found = _PYTHON_FRAME.search(dump)
    return f"{found['file']}:{found['line']} in {found['name']}" if found else ""


def describe_status(status: int) -> str:
    """Return a text for a status of `os.waitpid`."""
    if not os.WIFSIGNALED(status):
        return f"ended with exit status {os.WEXITSTATUS(status)} and without a result"
    number = os.WTERMSIG(status)
    names = {each.value: each.name for each in signal.Signals}
    return f"was killed by signal {number} ({names.get(number, 'unknown')})"


def crash(
    status: int, stderr: str, where: str, who: str = "the simulation's process"
) -> CrashError:
    """Return the error for a process that ended without a result.

    Parameters
    ----------
    status : int
        As `os.waitpid` gives it.
    stderr : str
        The end of its standard error.
    where : str
        Its activity, for the message.
    who : str
        Its name, for the message.
    """
    message = f"{who} {describe_status(status)} while {where}"
    if place(stderr):
        message += f", at {place(stderr)}"
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        message += "; perhaps the system ran out of memory"
    if stderr:
        message += f"\nIts standard error ended with:\n{stderr}"
    error = CrashError(message)
    error.signal = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    error.exit_code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
    error.stderr = stderr
    return error


def platform_error(text: str, platform: str) -> PlatformError:
    """Turn SimGrid's message about a platform into an error with file and line."""
    found = _PARSE_ERROR.search(text)
    if found:
        message = _XML_STATE.sub("", found["message"]).strip()
        return PlatformError(message, file=found["file"], line=int(found["line"]))
    return PlatformError(text.strip(), file=platform)


def platform_error_of_abort(stderr: str, platform: str) -> PlatformError | None:
    """Return the error for a platform that SimGrid refused by aborting, or None."""
    if _PARSE_ERROR.search(stderr):
        return platform_error(stderr, platform)
    messages = list(_CRITICAL.finditer(stderr))
    return platform_error(messages[-1]["message"], platform) if messages else None


def full_trace_error(clock: float | None = None) -> SimulationError:
    """Return the error for a trace that has reached its limit at a simulated date [s]."""
    when = "it was handed over" if clock is None else f"the simulated date was {clock:g} s"
    error = SimulationError(
        f"the trace had taken all the memory that it may have when {when}; simulate with"
        " trace=False, or with a larger trace_limit or memory_limit"
    )
    error.clock = clock
    return error


def described(error: BaseException, inside: TracebackType | None) -> tuple[str, str]:
    """Return a line about an exception, and its traceback with the user's frames only.

    Parameters
    ----------
    error : BaseException
        The exception.
    inside : traceback or None
        The part of its traceback that is the actor's or callback's own.
    """
    whole = traceback.TracebackException(type(error), error, inside)
    text = "".join(whole.format())
    summary = traceback.format_exception_only(error)[-1].strip()
    if isinstance(error, AttributeError) and error.name and error.obj is not None:
        names = [name for name in dir(error.obj) if not name.startswith("_")]
        question = did_you_mean(error.name, names)
        summary += f"; {question}" if question else ""
    is_asyncio = any(Path(frame.filename).parent.name == "asyncio" for frame in whole.stack)
    each: traceback.TracebackException | None = whole
    while each is not None:
        own = [
            frame
            for frame in each.stack
            if not frame.filename.startswith(_PACKAGE)
            and Path(frame.filename).parent.name != "asyncio"
        ]
        each.stack = traceback.StackSummary.from_list(own)
        each = each.__cause__ or each.__context__
    if isinstance(error, SimpluginError):
        summary = str(error)
    if whole.stack or isinstance(error, SimpluginError):
        text = "".join(whole.format()) if whole.stack else ""
    if whole.stack and (is_asyncio or _FOREIGN in summary):
        last = whole.stack[-1]
        summary = f"{last.filename}:{last.lineno}: {_NO_ASYNCIO} ({summary})"
        text = ""
    return summary, text
