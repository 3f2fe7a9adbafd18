"""What a role has heard lately, where nobody waits for anybody."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simplugin.pricing.agents.delivery import Message

# A message of this length has no numbers: its sender takes its leave.
FAREWELL = 2


@dataclass(slots=True)
class News:
    """The last message of each sender, forgotten when the sender has been silent for long.

    Attributes
    ----------
    patience : int
        How many periods a sender may be silent.
    period : int
        How many have passed.
    last : dict of int to message
        By the sender's number.
    arrived : dict of int to int
        When it was heard, in periods.
    """

    patience: int = 5
    period: int = 0
    last: dict[int, Message] = field(default_factory=dict)
    arrived: dict[int, int] = field(default_factory=dict)

    def take(self, messages: Sequence[Message]) -> dict[int, Message]:
        """Note the messages of one more period, in the order of their arrival.

        Returns
        -------
        dict of int to message
            The last of each sender who has not been silent for too long.
        """
        self.period += 1
        for message in messages:
            if len(message) > FAREWELL:
                self.last[message[0]] = message
                self.arrived[message[0]] = self.period
            else:
                self.last.pop(message[0], None)
                self.arrived.pop(message[0], None)
        too_old = self.period - self.patience
        for sender in [each for each, period in self.arrived.items() if period < too_old]:
            del self.last[sender], self.arrived[sender]
        return self.last
