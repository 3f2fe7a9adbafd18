"""Applications' agents and price managers, as actors of a simulation."""

from __future__ import annotations

from simplugin.pricing.agents.changes import Change, Interval, changing, intervals
from simplugin.pricing.agents.churn import Comeback, churn
from simplugin.pricing.agents.delivery import Envelope
from simplugin.pricing.agents.negotiation import Negotiation, negotiate
from simplugin.pricing.agents.upkeep import Upkeep, keep_up

__all__ = [
    "Change",
    "Comeback",
    "Envelope",
    "Interval",
    "Negotiation",
    "Upkeep",
    "changing",
    "churn",
    "intervals",
    "keep_up",
    "negotiate",
]
