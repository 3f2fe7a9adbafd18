"""What a store says of a campaign as a whole."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CampaignEntry:
    """A campaign in a store.

    Attributes
    ----------
    number : int
        Its number in the store, from 1 on.
    title, identity, file, text : str
        As `simplugin.campaigns.jobs.JobSource` has them.
    total : int
        How many jobs it has.
    begun : str
        When it was first started, as ISO 8601 in UTC.
    done, failed, missing : int
        How many of its jobs have an outcome, have only failed, were not tried or noted yet.
    """

    number: int
    title: str
    identity: str
    file: str
    text: str
    total: int
    begun: str
    done: int
    failed: int
    missing: int
