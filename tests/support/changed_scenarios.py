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


def cut(path, start, stop="", new=""):
    """Put other text from one text up to the next one; up to the end without."""
    before, found, rest = path.read_text().partition(start)
    assert found
    after = rest[rest.index(stop) :] if stop else ""
    path.write_text(f"{before}{new}\n{after}")
    return path


def run(path):
    """Return the outcome of a scenario."""
    return run_scenario(load_scenario(path))


def listing(outcome, title):
    """Return the one listing of this title."""
    [found] = [each for each in outcome.listings if each.title == title]
    return found


def refused(path):
    """Return the error of a scenario that cannot be run; it names the file and a line."""
    with pytest.raises(ScenarioError) as caught:
        run(path)
    assert f"{path}:{caught.value.line}: " in str(caught.value)
    return caught.value
