"""SimGrid's version, and values of its options, as it writes them."""

from simgrid_release import pinned

_NUMBERS = pinned().version.split(".")
SIMGRID_VERSION = ".".join([*_NUMBERS, "0"][:3])
"""Of the release that the checkout builds, or that SIMGRID_SOURCE names."""


def meaning(text: str) -> bool | float | str:
    """Return the truth value or number of a text, or the text."""
    truths = {"yes": True, "no": False, "True": True, "False": False}
    try:
        return truths[text] if text in truths else float(text)
    except ValueError:
        return text
