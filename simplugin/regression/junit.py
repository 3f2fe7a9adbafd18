"""Compared results as JUnit XML, which systems of continuous integration show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from simplugin.campaigns.running.reporting import printable
from simplugin.errors import SimpluginError
from simplugin.regression.checking import Checked

SUITE = "simplugin regress"


def write_junit(checked: Sequence[Checked], path: Path) -> None:
    """Write one test case a scenario; what moved is a failure, what did not run an error.

    Raises
    ------
    SimpluginError
        The file cannot be written.
    """
    counts = _counts(checked)
    suites = ElementTree.Element("testsuites", {"name": SUITE, **counts})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": SUITE, **counts})
    for each in checked:
        _add_case(suite, each)
    tree = ElementTree.ElementTree(suites)
    ElementTree.indent(tree)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        tree.write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise _not_writable(path, error) from error


def check_writable(path: Path) -> None:
    """Make the directory of a file, and see that the file can be opened.

    Raises
    ------
    SimpluginError
        It cannot be written.
    """
    is_new = not path.exists()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab"):
            pass
        if is_new:
            path.unlink()
    except OSError as error:
        raise _not_writable(path, error) from error


def _counts(checked: Sequence[Checked]) -> dict[str, str]:
    """Count what is wrong in which way, and the time."""
    wrong = [each for each in checked if not each.agrees]
    errors = sum(each.state == "failed" for each in wrong)
    return {
        "tests": str(len(checked)),
        "failures": str(len(wrong) - errors),
        "errors": str(errors),
        "skipped": "0",
        "time": _seconds(sum(each.duration for each in checked)),
    }


def _add_case(suite: ElementTree.Element, checked: Checked) -> None:
    """Add a scenario to the suite."""
    about = {
        "classname": SUITE,
        "name": printable(checked.name),
        "time": _seconds(checked.duration),
    }
    case = ElementTree.SubElement(suite, "testcase", about)
    if checked.agrees:
        return
    what = "error" if checked.state == "failed" else "failure"
    message = checked.explanation[0] if checked.explanation else checked.state
    about = {"type": checked.state, "message": printable(message)}
    inner = ElementTree.SubElement(case, what, about)
    inner.text = printable("\n".join(checked.explanation))


def _not_writable(path: Path, error: OSError) -> SimpluginError:
    """Say that the file cannot be written."""
    reason = error.strerror or str(error)
    return SimpluginError(f"{path}: cannot be written: {reason}; name another file with --junit")


def _seconds(duration: float) -> str:
    """Write a duration."""
    return f"{duration:.3f}"
