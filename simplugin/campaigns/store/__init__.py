"""The store of a campaign: one SQLite file, a row a run."""
