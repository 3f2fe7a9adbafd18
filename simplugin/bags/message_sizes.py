"""How long the messages between nodes are, tasks apart."""

from __future__ import annotations

# Headers as TCP and IP have them, and a number [byte].
HEADERS, NUMBER = 40.0, 8.0


def message_size(numbers: int) -> float:
    """Return the length of a message that says some numbers [byte]."""
    return HEADERS + NUMBER * numbers
