"""Every exception that simplugin raises on purpose."""

from __future__ import annotations

import re
from dataclasses import dataclass
from os import PathLike
from typing import Any

# A value without spaces, and a line with others.
_LONG_WORD, _LONG_LINE = re.compile(r"\S{200,}"), re.compile(r"[^\n]{2000,}")


def shortened(text: str) -> str:
    """Return a message with long values shortened."""

    def cut(found: re.Match[str]) -> str:
        return f"{found[0][:150]}... ({len(found[0]):,} characters)"

    return _LONG_LINE.sub(cut, _LONG_WORD.sub(cut, text))


def _rebuilt(kind: type[BaseException], args: tuple[Any, ...], attributes: Any) -> BaseException:
    """Unpickle an error, whatever its constructor takes."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


# Characters similar to a minus before a digit.
_DASH = re.compile(r"""(?:^|['"=\[,:\s])[+\d.eE]*([\u2010-\u2015\u2212\ufe58\ufe63\uff0d])\.?\d""")


def minus_remedy(text: str) -> str | None:
    """Return a remedy for a number with a character like a minus, None without one."""
    if (found := _DASH.search(text)) is None:
        return None
    return f"write an ASCII minus, '-', for {found[1]!r} (U+{ord(found[1]):04X})"


class SimpluginError(Exception):
    """Base of every error that simplugin raises; the cause does not travel with a pickled one."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from the message and the attributes."""
        return _rebuilt, (type(self), self.args, self.__dict__)


class UnitError(SimpluginError):
    """A quantity that is not a number followed by a unit of its dimension.

    Parameters
    ----------
    message : str
        The fault, quoting the text.
    remedy : str
        How to write it.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        remedy = minus_remedy(message) or remedy
        super().__init__(f"{message}; {remedy}" if remedy else message)
        self.message = message
        self.remedy = remedy


class SetupError(SimpluginError):
    """SimGrid or a compiled module is missing; the message names the command that makes it."""


class WorkloadError(SimpluginError):
    """An invalid workload, or platform for it.

    Attributes
    ----------
    application : str or None
        Name of the application concerned, if it is one.
    argument : str
        Name of the argument at fault, where callers need to know; empty otherwise.
    """

    def __init__(self, message: str, application: str | None = None, argument: str = "") -> None:
        super().__init__(message)
        self.application = application
        self.argument = argument


class InfeasibleError(SimpluginError):
    """An optimisation problem has no solution, or no finite one."""


class UncertifiedError(InfeasibleError):
    """An optimum that could not be proven to the accuracy that is promised."""


class FileError(SimpluginError):
    """A file with an error.

    Parameters
    ----------
    message : str
        The problem, naming the culprit.
    file : path, optional
        The file.
    line : int, optional
        Line in `file`, counted from 1.
    remedy : str, optional
        How to correct it.

    Attributes
    ----------
    path : tuple of str or int
        The keys, from the outside in, that lead to the value concerned.
    all_errors : tuple of FileError
        All problems of a file in the order of their lines, if there are several.
    """

    path: tuple[str | int, ...] = ()
    all_errors: tuple[FileError, ...] = ()

    def __init__(
        self,
        message: str,
        *,
        file: str | PathLike[str] | None = None,
        line: int | None = None,
        remedy: str | None = None,
    ) -> None:
        remedy = minus_remedy(message) or remedy
        message = shortened(message)
        remedy = None if remedy is None else shortened(remedy)
        place = "" if file is None else f"{file}:" if line is None else f"{file}:{line}:"
        super().__init__(
            f"{place} {message}".strip() + ("" if remedy is None else f"; {remedy}"),
        )
        self.message = message
        self.file = file
        self.line = line
        self.remedy = remedy


class PlatformError(FileError):
    """A platform, or a platform file, that SimGrid could not simulate."""


class DeploymentError(FileError):
    """A deployment, or a deployment file, that does not fit its platform."""


class ScenarioError(FileError):
    """A scenario file with an unknown key or a value out of range.

    Attributes
    ----------
    key : str or None
        The `path` with dots.
    """

    all_errors: tuple[ScenarioError, ...] = ()

    @property
    def key(self) -> str | None:
        """The dotted key concerned."""
        return ".".join(map(str, self.path)) or None


class StoreError(FileError):
    """A store of results that cannot be read or written, or that another program writes to."""


class WorkloadFileError(FileError):
    """A file of a workload, such as a task graph, that says something wrong."""


class SimulationError(SimpluginError):
    """A simulation that gave no result.

    Attributes
    ----------
    clock : float or None
        Simulated date at which it ended [s], where known.
    stderr : str
        End of the standard error of the simulation's process.
    """

    clock: float | None = None
    stderr: str = ""


@dataclass(frozen=True)
class BlockedActor:
    """An actor that can never continue.

    Attributes
    ----------
    name, host : str
        The actor and where it runs.
    where : str
        ``file:line`` of the `await` that it is stuck in.
    waits_for : str
        The operation, for instance ``get from mailbox 'answers'``.
    since : float
        Simulated date at which it started to wait [s].
    """

    name: str
    host: str
    where: str
    waits_for: str
    since: float

    def __str__(self) -> str:
        """One line for an error message."""
        return f"{self.name}@{self.host} since {self.since:g} s at {self.where}: {self.waits_for}"


class DeadlockError(SimulationError):
    """Nothing can happen any more, but actors still wait.

    Attributes
    ----------
    blocked : tuple of BlockedActor
        Each actor that waits, in order of creation.
    culprit : str
        The cause and its remedy, where they are known.
    """

    def __init__(self, clock: float, blocked: tuple[BlockedActor, ...], culprit: str = "") -> None:
        shown = [f"  {actor}" for actor in blocked[:20]]
        if len(blocked) > len(shown):
            shown.append(f"  ... and {len(blocked) - len(shown)} more")
        count = "1 actor waits" if len(blocked) == 1 else f"{len(blocked)} actors wait"
        super().__init__(
            f"deadlock at {clock:g} s: {count} for what can never happen"
            + (f"; {culprit}" if culprit else "")
            + "\n"
            + "\n".join(shown)
        )
        self.clock = clock
        self.blocked = blocked
        self.culprit = culprit


class ActorError(SimulationError):
    """An exception left an actor; the original is the `__cause__`.

    Attributes
    ----------
    actor, host : str
        The actor and where it ran.
    actor_traceback : str
        Traceback inside the simulation.
    """

    def __init__(
        self, actor: str, host: str, clock: float, summary: str, actor_traceback: str
    ) -> None:
        super().__init__(
            f"actor {actor}@{host} failed at {clock:g} s: {summary}\n\n{actor_traceback}".rstrip()
        )
        self.actor = actor
        self.host = host
        self.clock = clock
        self.summary = summary
        self.actor_traceback = actor_traceback


class CallbackError(SimulationError):
    """A callback raised or returned an invalid value; its exception is the `__cause__`.

    Attributes
    ----------
    callback : str
        Name of the argument of `Callbacks`.
    callback_traceback : str
        Traceback inside the simulation.
    """

    def __init__(self, callback: str, clock: float, summary: str, callback_traceback: str) -> None:
        super().__init__(
            f"callback {callback} failed at {clock:g} s: {summary}\n\n{callback_traceback}".rstrip()
        )
        self.callback = callback
        self.clock = clock
        self.summary = summary
        self.callback_traceback = callback_traceback


class ChoiceError(SimulationError):
    """A chooser raised or returned no index of an option; its exception is the `__cause__`.

    Attributes
    ----------
    actor : str
        The actor that offered the choice.
    label : str or None
        What the choice was about.
    chooser_traceback : str
        Traceback inside the simulation.
    """

    def __init__(
        self, actor: str, clock: float, label: str | None, summary: str, chooser_traceback: str
    ) -> None:
        about = "" if label is None else f" about {label!r}"
        super().__init__(
            f"the choice{about} of actor {actor!r} at {clock:g} s failed: {summary}"
            f"\n\n{chooser_traceback}".rstrip()
        )
        self.actor = actor
        self.clock = clock
        self.label = label
        self.summary = summary
        self.chooser_traceback = chooser_traceback


class NeverAwaitedError(ActorError):
    """An operation or a coroutine function was called in an actor, and never awaited.

    Attributes
    ----------
    place : str
        ``file:line`` of the call; empty if it is unknown.
    """

    def __init__(self, actor: str, host: str, clock: float, what: str, place: str) -> None:
        where = f"{place}: " if place else ""
        summary = f"{where}{what} was never awaited; write 'await' before the call"
        super().__init__(actor, host, clock, summary, "")
        self.what = what
        self.place = place


class CrashError(SimulationError):
    """The simulation's process died.

    Attributes
    ----------
    signal : int or None
        The signal that killed it.
    exit_code : int or None
        Its exit status if no signal did.
    """

    signal: int | None = None
    exit_code: int | None = None


class WallClockLimitError(SimulationError):
    """The simulation took longer than the caller allowed.

    Attributes
    ----------
    limit : float
        The limit [s of real time].
    """

    limit: float = 0.0


class SimulatedTimeLimitError(SimulationError):
    """The simulated clock reached the limit while actors were still running.

    Attributes
    ----------
    limit : float
        The limit [s of simulated time].
    """

    limit: float = 0.0


class ActivityError(SimpluginError):
    """An activity of an actor failed; raised by the `await` that waits for it.

    Attributes
    ----------
    activity : Activity or None
        The activity concerned.
    """

    activity: Any = None


class NetworkFailureException(ActivityError):
    """A link of the route, or the host of the partner, failed."""


class HostFailureException(ActivityError):
    """The host that executes failed."""


class StorageFailureException(ActivityError):
    """The disk that is read or written failed."""


class TimeoutException(ActivityError):
    """The time limit of a wait was reached."""


class CancelException(ActivityError):
    """Someone cancelled the activity."""


class NoRouteError(SimpluginError):
    """The platform has no route between two hosts, which the message names."""


class ForcefulKillException(BaseException):
    """Thrown into an actor that is killed.

    Not an `Exception`, so that ``except Exception`` does not keep a dead actor alive, while
    ``finally`` blocks still run.
    """
