"""SimGrid's version, and its options as it lists and writes them."""

import subprocess
import sys

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


def told_by_simgrid(argument: str) -> subprocess.CompletedProcess[str]:
    """Return what SimGrid writes when it starts with an argument."""
    program = f"from simplugin.simulation import _driver; _driver.setup([{argument!r}], 0, 0, 0)"
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=False)
