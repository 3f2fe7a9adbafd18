"""DATA-CENTRIC: rates by trading applications between neighbours, section 5.5 of the paper."""

from __future__ import annotations

from simplugin.bags.data_centric.trading import Traded, data_centric, trade

__all__ = ["Traded", "data_centric", "trade"]
