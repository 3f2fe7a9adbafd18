"""Negotiations whose messages are written down."""

from itertools import count
from typing import Any

from simplugin.market.policies.negotiation import BundleNegotiation


def heard(negotiation: BundleNegotiation, log: list[tuple[int, Any, Any]]) -> BundleNegotiation:
    """Return the negotiation with peers that append (number, message, answer) to a log."""

    class Written:
        def __init__(self, number: int, peer: Any) -> None:
            self.number, self.peer = number, peer

        def reply(self, message: Any) -> Any:
            answer = self.peer.reply(message)
            log.append((self.number, message, answer))
            return answer

    made = count()

    def peer(*own: Any) -> Any:
        return Written(next(made), negotiation.peer(*own))

    return BundleNegotiation(negotiation.name, negotiation.scheduler, peer)
