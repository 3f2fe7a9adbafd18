"""What was started and takes simulated time."""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from typing import Any, Protocol


class Activity(Protocol):
    """Something that was started and takes simulated time; ``await`` gives its result.

    It belongs to the actor that started it and is cancelled when that actor ends (direct
    transfers excepted).
    """

    @property
    def state(self) -> str:
        """INITED, STARTED, FINISHED, FAILED or CANCELED."""

    @property
    def result(self) -> Any:
        """Once finished: the payload of a get, None otherwise."""

    @property
    def remaining(self) -> float:
        """Work left [flop or byte]; of a parallel task, the fraction left."""

    @property
    def start_time(self) -> float | None:
        """Date of its start [s]; a put or get starts when its partner is there too."""

    @property
    def finish_time(self) -> float | None:
        """Date of its end [s]."""

    @property
    def label(self) -> str | None:
        """Its label in the trace."""

    def __await__(self) -> Generator[Any, Any, Any]: ...

    def wait(self, timeout: float | None = None) -> Awaitable[Any]:
        """Wait for its end, or up to a time limit, which leaves it running.

        Parameters
        ----------
        timeout : float, optional
            Time limit [s].

        Returns
        -------
        awaitable of object
            Its result.

        Raises
        ------
        TimeoutException
            The limit was reached first.
        NetworkFailureException, HostFailureException, CancelException
            It failed or was cancelled.
        """

    def test(self) -> bool:
        """Say whether it is over, successfully or not, without waiting."""

    def cancel(self) -> None:
        """End it now.

        Who waits for it gets a `CancelException`; the partner of a running transfer gets a
        `NetworkFailureException`.
        """

    def suspend(self) -> None:
        """Stop its progress until `resume`."""

    def resume(self) -> None:
        """Let it progress again."""
