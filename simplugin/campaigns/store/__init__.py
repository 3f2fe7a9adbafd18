"""The store of campaigns: one SQLite file, a row for each attempt to run a job."""

from simplugin.campaigns.store.reading import CampaignEntry, StoreReader
from simplugin.campaigns.store.schema import UnwritableError
from simplugin.campaigns.store.writing import Store

__all__ = ["CampaignEntry", "Store", "StoreReader", "UnwritableError"]
