"""Negotiations between a local scheduler and peers, as the messages that they exchange."""

from simplugin.market.negotiations.posted import posted
from simplugin.market.negotiations.protocol import (
    Agreement,
    Call,
    Negotiated,
    Negotiation,
    message_size,
    negotiate,
    own_generator,
)
from simplugin.market.negotiations.shipped import NEGOTIATIONS

__all__ = [
    "NEGOTIATIONS",
    "Agreement",
    "Call",
    "Negotiated",
    "Negotiation",
    "message_size",
    "negotiate",
    "own_generator",
    "posted",
]
