"""``simplugin new``: what it writes works as written."""

import subprocess
import sys

import pytest

from simplugin.cli.new import KINDS


def test_the_examples_work_as_written(simplugin, tmp_path):
    for number, kind in enumerate(KINDS):
        told = simplugin("new", kind, f"mine_{number}.py", cwd=tmp_path, status=0).stdout
        assert f"next: pytest mine_{number}.py; simplugin run mine_{number}.toml" in told
        assert 20 <= len((tmp_path / f"mine_{number}.py").read_text().splitlines()) <= 40
        assert '"mine' in (tmp_path / f"mine_{number}.toml").read_text()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    files = sorted(path.name for path in tmp_path.glob("*.py"))
    done = subprocess.run([*command, *files], cwd=tmp_path, capture_output=True, text=True)
    assert f"{len(KINDS)} passed" in done.stdout, done.stdout


REFUSED = [
    ("bag-policy", "mine.py", "did you mean 'bags-policy'"),
    ("mapper", "mine.txt", "name of a Python module"),
    ("mapper", "my-mapper.py", "name of a Python module"),
    ("mapper", "random.py", "name of a Python module"),
    ("mapper", "nowhere/mine.py", "No such file or directory"),
    ("mapper", "taken.py", "taken.toml: exists already"),
]


@pytest.mark.parametrize(("kind", "file", "words"), REFUSED)
def test_what_cannot_be_written_is_refused(kind, file, words, simplugin, tmp_path):
    (tmp_path / "taken.toml").write_text("mine")
    assert words in simplugin("new", kind, file, cwd=tmp_path, status=1).stderr
    assert [path.name for path in tmp_path.iterdir()] == ["taken.toml"]
    assert (tmp_path / "taken.toml").read_text() == "mine"
