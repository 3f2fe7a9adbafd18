"""How errors get from a simulation's process to its caller."""

from __future__ import annotations

import os
import pickle
import re
import signal as signals
import traceback
from typing import Any

from simplugin.errors import (
    CrashError,
    PlatformError,
    SimpluginError,
    SimulationError,
)
from simplugin.simulation.travel import pack

_TAIL = 8192
_PARSE_ERROR = re.compile(r"Parse error at (?P<file>.*?):(?P<line>\d+): (?P<message>.*)", re.DOTALL)
_CRITICAL = re.compile(r"\[\w+/CRITICAL\] (?P<message>.*?)(?=\nBacktrace|\Z)", re.DOTALL)
_PYTHON_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<name>.*)$', re.M)
_XML_STATE = re.compile(r" \(XML input line \d+, state \d+\)")


class OriginalError(Exception):
    """Stands for an exception of an actor that could not leave the simulation's process.

    Attributes
    ----------
    type_name : str
        Its type, with module.
    text : str
        Its ``repr``.
    """

    def __init__(self, type_name: str, text: str) -> None:
        super().__init__(f"{type_name}: {text}")
        self.type_name = type_name
        self.text = text

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from the parts."""
        return OriginalError, (self.type_name, self.text)


def packed_error(error: BaseException) -> bytes:
    """Write an exception and its cause so that at least their texts arrive."""
    if not isinstance(error, SimpluginError):
        error = _unexpected(error)
    try:
        body = pack(error)
    except Exception:  # an attribute that does not pickle
        error = SimulationError(str(error))
        body = pack(error)
    cause = error.__cause__
    parts: dict[str, Any] = {"error": body, "cause": None}
    if cause is not None:
        kind = type(cause)
        parts["cause_type"] = f"{kind.__module__}.{kind.__qualname__}"
        parts["cause_text"] = _repr(cause)
        parts["cause"] = _packed_or_empty(cause)
        parts["cause_parts"] = _packed_or_empty((kind, cause.args, cause.__dict__))
    return pickle.dumps(parts)


def unpacked_error(data: bytes) -> SimpluginError:
    """Undo `packed_error`; the exception has its `__cause__` again, or a stand-in."""
    parts = pickle.loads(data)
    error: SimpluginError = pickle.loads(parts["error"])
    if parts["cause"] is not None:
        error.__cause__ = _unpacked_cause(parts)
    return error


def _packed_or_empty(value: object) -> bytes:
    """Pickle a value; nothing if it cannot be."""
    try:
        return pack(value)
    except Exception:
        return b""


def _unpacked_cause(parts: dict[str, Any]) -> BaseException:
    """Rebuild an exception as pickle does, else without its `__init__`, else as a stand-in."""
    for key, rebuild in (("cause", _as_pickled), ("cause_parts", _without_init)):
        try:
            return rebuild(pickle.loads(parts[key]), parts)
        except Exception:  # exceptions often cannot be made from their arguments alone
            continue
    return OriginalError(parts["cause_type"], parts["cause_text"])


def _as_pickled(error: BaseException, parts: dict[str, Any]) -> BaseException:
    """Return what pickle made, with the arguments that it had: `__init__` may change them."""
    if type(error).__reduce__ is BaseException.__reduce__:
        error.args = pickle.loads(parts["cause_parts"])[1]
    return error


def _without_init(
    state: tuple[type[BaseException], tuple[Any, ...], dict[str, Any]], _parts: dict[str, Any]
) -> BaseException:
    """Make an exception whose `__init__` takes other arguments than it hands on."""
    kind, arguments, attributes = state
    error: BaseException = kind.__new__(kind, *arguments)
    error.args = arguments
    error.__dict__.update(attributes)
    return error


def _unexpected(error: BaseException) -> SimulationError:
    """Wrap an exception that no actor raised."""
    text = "".join(traceback.format_exception(error)).rstrip()
    wrapped = SimulationError(f"the simulation failed: {_repr(error)}\n\n{text}")
    wrapped.__cause__ = error
    return wrapped


def _repr(error: BaseException) -> str:
    """Return the repr of an exception, even of one that has none."""
    try:
        return repr(error)
    except Exception:
        return f"<{type(error).__qualname__} without repr>"


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


def crash(status: int, stderr: str, where: str) -> CrashError:
    """Return the error for a process that ended without a result.

    Parameters
    ----------
    status : int
        As `os.waitpid` gives it.
    stderr : str
        The end of its standard error.
    where : str
        What it was doing.
    """
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
    if number is None:
        how = f"ended with exit status {code}, without a result,"
    else:
        try:
            name = signals.Signals(number).name
        except ValueError:
            name = "unknown"
        how = f"was killed by signal {number} ({name})"
    message = f"the simulation's process {how} while {where}"
    if place(stderr):
        message += f", at {place(stderr)}"
    if number == signals.SIGKILL:
        message += "; perhaps the system ran out of memory"
    if stderr:
        message += f"\nIts standard error ended with:\n{stderr}"
    error = CrashError(message)
    error.signal = number
    error.exit_code = code
    error.stderr = stderr
    return error


def platform_error(text: str, platform: str) -> PlatformError:
    """Turn SimGrid's complaint about a platform into an error with file and line."""
    found = _PARSE_ERROR.search(text)
    if found:
        message = _XML_STATE.sub("", found["message"]).strip()
        return PlatformError(message, file=found["file"], line=int(found["line"]))
    return PlatformError(text.strip(), file=platform)


def platform_error_of_abort(stderr: str, platform: str) -> PlatformError | None:
    """Find in the last words of a process that aborted why it refused the platform."""
    if _PARSE_ERROR.search(stderr):
        return platform_error(stderr, platform)
    complaints = list(_CRITICAL.finditer(stderr))
    return platform_error(complaints[-1]["message"], platform) if complaints else None
