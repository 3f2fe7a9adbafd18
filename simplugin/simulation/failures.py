"""Errors for processes without an outcome, refused platforms, and traces that are too large."""

from __future__ import annotations

import os
import re
import signal

from simplugin.core.errors import CrashError, PlatformError, SimulationError

_TAIL = 8192
_PARSE_ERROR = re.compile(r"Parse error at (?P<file>.*?):(?P<line>\d+): (?P<message>.*)", re.DOTALL)
_CRITICAL = re.compile(r"\[\w+/CRITICAL\] (?P<message>.*?)(?=\nBacktrace|\Z)", re.DOTALL)
_PYTHON_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<name>.*)$', re.M)
_XML_STATE = re.compile(r" \(XML input line \d+, state \d+\)")


def tail(data: bytes) -> str:
    """Return the end of what was written to standard error, from the start of a line."""
    if len(data) > _TAIL:
        data = data[-_TAIL:].partition(b"\n")[2] or data[-_TAIL:]
    return data.decode("utf-8", "replace").strip()


def place(stderr: str) -> str:
    """Return where Python was, as `faulthandler` wrote it; empty if it did not."""
    _, _, dump = stderr.rpartition("(most recent call first):")
    found = _PYTHON_FRAME.search(dump)
    return f"{found['file']}:{found['line']} in {found['name']}" if found else ""


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
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
    if number is None:
        how = f"ended with exit status {code}, without a result,"
    else:
        known = {each.value: each.name for each in signal.Signals}
        how = f"was killed by signal {number} ({known.get(number, 'unknown')})"
    message = f"{who} {how} while {where}"
    if place(stderr):
        message += f", at {place(stderr)}"
    if number == signal.SIGKILL:
        message += "; perhaps the system ran out of memory"
    if stderr:
        message += f"\nIts standard error ended with:\n{stderr}"
    error = CrashError(message)
    error.signal = number
    error.exit_code = code
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
    """Find in the last words of a process that aborted why it refused the platform."""
    if _PARSE_ERROR.search(stderr):
        return platform_error(stderr, platform)
    messages = list(_CRITICAL.finditer(stderr))
    return platform_error(messages[-1]["message"], platform) if messages else None


def full_trace_error(clock: float | None = None) -> SimulationError:
    """Return the error for a trace that has outgrown its limit at a simulated date [s]."""
    when = "it was handed over" if clock is None else f"the simulated date was {clock:g} s"
    error = SimulationError(
        f"the trace had taken all the memory that it may have when {when}; simulate with"
        " trace=False, or with a larger trace_limit or memory_limit"
    )
    error.clock = clock
    return error
