"""Scenario files that are changed in one place, run, or refused."""

import pytest

from simplugin.errors import ScenarioError
from simplugin.scenarios import load_scenario, run_scenario


def change(path, old, new):
    """Put other text where there is one text, and only once."""
    text = path.read_text()
    assert text.count(old) == 1, old
    path.write_text(text.replace(old, new))
    return path


def run(path):
    """Return what comes out of a scenario."""
    return run_scenario(load_scenario(path))


def refused(path):
    """Return the error of a scenario that cannot be run."""
    with pytest.raises(ScenarioError) as caught:
        run(path)
    return caught.value
