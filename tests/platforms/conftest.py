"""Ways back over the links of a route."""

import pytest


@pytest.fixture(scope="session")
def turned():
    """Return what turns the links of a route into those of the way back."""
    return _turned


def _turned(links):
    other = {"UP": "DOWN", "DOWN": "UP"}
    parts = [link.rpartition("_") for link in reversed(links)]
    return tuple(f"{name}{bar}{other.get(end, end)}" for name, bar, end in parts)
