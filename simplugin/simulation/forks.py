"""What a process that was just forked does first, so that it ends with its parent."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1
# Loaded before anything forks.
_LIBC = ctypes.CDLL(None, use_errno=True)


def signal_at_parents_end(number: int) -> None:
    """Have the system send a signal when the parent's thread that forked ends; 0 for none."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)


def part_from(parent: int, *handled: int) -> None:
    """Lead an own process group, and take signals as a new program does.

    Parameters
    ----------
    parent : int
        The process that forked; if it has ended meanwhile, so does this one.
    *handled : int
        Signals that the parent handles.
    """
    # What is sent to the group of one child must not reach the parent or another child.
    os.setpgid(0, 0)
    signal_at_parents_end(signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    signal.set_wakeup_fd(-1)
    for number in handled:
        signal.signal(number, signal.SIG_DFL)
