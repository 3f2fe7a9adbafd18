"""Compared results as JUnit XML, which systems of continuous integration show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from simplugin.campaigns.regression.checking import Checked
from simplugin.errors import SimpluginError

SUITE = "simplugin regress"
# XML has no way to write these.
_FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(checked: Sequence[Checked], path: Path) -> None:
    """Write one test case a scenario; what moved is a failure, what did not run an error.

    Raises
    ------
    SimpluginError
        The file cannot be written.
    """
    wrong = [each for each in checked if not each.agrees]
    errors = sum(each.state == "failed" for each in wrong)
    counts = {
        "tests": str(len(checked)),
        "failures": str(len(wrong) - errors),
        "errors": str(errors),
        "skipped": "0",
        "time": _seconds(sum(each.duration for each in checked)),
    }
    suites = ElementTree.Element("testsuites", {"name": SUITE, **counts})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": SUITE, **counts})
    for each in checked:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            {
                "classname": SUITE,
                "name": _clean(each.name),
                "time": _seconds(each.duration),
            },
        )
        if not each.agrees:
            what = "error" if each.state == "failed" else "failure"
            message = each.explanation[0] if each.explanation else each.state
            inner = ElementTree.SubElement(
                case, what, {"type": each.state, "message": _clean(message)}
            )
            inner.text = _clean("\n".join(each.explanation))
    tree = ElementTree.ElementTree(suites)
    ElementTree.indent(tree)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        tree.write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise SimpluginError(f"{path}: cannot be written: {error.strerror or error}") from error


def _seconds(duration: float) -> str:
    """Write a duration."""
    return f"{duration:.3f}"


def _clean(text: str) -> str:
    """Leave out what XML cannot hold."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
