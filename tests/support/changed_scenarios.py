"""Scenario files that are changed in one place, run, or refused."""

import pytest

from simplugin.core.errors import ScenarioError
from simplugin.scenarios import load_scenario, run_scenario


def change(path, *texts):
    """Put other texts (old, new, old, new ...) where there is one text, and only once."""
    text = path.read_text()
    for old, new in zip(texts[::2], texts[1::2], strict=True):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path.write_text(text)
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


def refused(path, words="", key=None):
    """Return the error of a scenario that cannot be run; it names the file and a line."""
    with pytest.raises(ScenarioError) as caught:
        run(path)
    error = caught.value
    assert f"{path}:{error.line}: " in str(error)
    assert words in str(error)
    assert key in (None, error.key), error
    return error
