"""Options and fixtures that several directories of tests share."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest
from typer.testing import CliRunner

from simplugin.cli.app import app

CHECKOUT = Path(__file__).resolve().parent.parent

# No test depends on the speed of the machine.
hypothesis.settings.register_profile("simplugin", deadline=None)
hypothesis.settings.load_profile("simplugin")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shared-data",
        type=Path,
        default=CHECKOUT / "../shared/data",
        help="directory of platform and reference files that are not part of the project",
    )
    parser.addoption(
        "--wheel", type=Path, default=None, help="wheel to test (make test builds one and names it)"
    )
    parser.addoption(
        "--random-programs",
        type=int,
        default=3,
        help="random programs of each kind that both back ends run (250 for a long run)",
    )


@pytest.fixture(scope="session")
def shared_data(request: pytest.FixtureRequest) -> Path:
    """Directory of outside data; the test is skipped where it is absent."""
    directory: Path = request.config.getoption("--shared-data").resolve()
    if not directory.is_dir():
        pytest.skip(
            f"no outside data in {directory}; name its directory with --shared-data=DIRECTORY"
        )
    return directory


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """Directory of a copy of the laboratory, with scenarios, campaigns and schedulers."""
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(CHECKOUT / "tests/lab", tmp_path / "lab", ignore=ignored))


@pytest.fixture(scope="session")
def simplugin() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return the command, run in this process: Python's start is most of what a new one takes."""

    def call(
        *arguments: object, cwd: Path | None = None, merge: bool = False, status: int | None = None
    ) -> subprocess.CompletedProcess[str]:
        words = [str(argument) for argument in arguments]
        with pytest.MonkeyPatch.context() as patch:
            if cwd is not None:
                patch.chdir(cwd)
            patch.setenv("COLUMNS", "120")
            # It writes its own words into platforms.
            patch.setattr("sys.argv", ["simplugin", *words])
            result = CliRunner().invoke(app, words, catch_exceptions=False)
        # Merged as a terminal has them: in the order in which they were told.
        told = (result.output, "") if merge else (result.stdout, result.stderr)
        assert status in (None, result.exit_code), result.output
        return subprocess.CompletedProcess(words, result.exit_code, *told)

    return call


@pytest.fixture(scope="session")
def simgrid_prefix() -> Path:
    """Directory of the SimGrid in use: lib/, include/, share/ with its example platforms."""
    tool = CHECKOUT / "tools/build_simgrid.py"
    answer = subprocess.run(
        [sys.executable, tool, "--print-prefix"], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    return Path(answer.stdout.strip())


@pytest.fixture(scope="session")
def wheel(request: pytest.FixtureRequest) -> Path:
    """The wheel to test; the test is skipped where none is named."""
    path: Path | None = request.config.getoption("--wheel")
    if path is None:
        pytest.skip("no wheel named with --wheel=FILE; `make test` does")
    return path.resolve(strict=True)
