"""Other processes: their state, and waiting for them."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def wait_until(condition: Callable[[], Any], what: str = "what is waited for") -> Any:
    """Wait for something that another process does, and return it."""
    deadline = time.monotonic() + 600
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not within 600 s: {what}"
        time.sleep(0.01)
    return found


def is_alive(pid: int) -> bool:
    """Return True if a process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def children(pid: int) -> list[int]:
    """Return the children of a process."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
