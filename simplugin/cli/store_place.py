"""A warning about where a store is kept."""

from __future__ import annotations

import sys
from pathlib import Path

from simplugin.campaigns.store.lock import network_file_system
from simplugin.cli.paths import short


def warn_of_network(store: Path) -> None:
    """Say on standard error that a store is on a network file system, if it is."""
    kind = network_file_system(store)
    if kind is not None:
        sys.stderr.write(
            f"simplugin: {short(store)} is on a network file system ({kind}), on which SQLite may"
            f" lose or damage it; keep it on a disk of this host\n"
        )
