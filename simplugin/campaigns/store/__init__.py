"""The store of campaigns: one SQLite file, a row for each run that was tried."""

from simplugin.campaigns.store.entries import CampaignEntry
from simplugin.campaigns.store.faults import UnwritableError
from simplugin.campaigns.store.reading import StoreReader
from simplugin.campaigns.store.writing import Store

__all__ = ["CampaignEntry", "Store", "StoreReader", "UnwritableError"]
