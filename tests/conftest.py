"""Options and fixtures that several directories of tests share."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent


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


@pytest.fixture(scope="session")
def shared_data(request: pytest.FixtureRequest) -> Path:
    """Directory of outside data; the test is skipped where it is absent."""
    directory: Path = request.config.getoption("--shared-data").resolve()
    if not directory.is_dir():
        pytest.skip(
            f"no outside data in {directory}; name its directory with --shared-data=DIRECTORY"
        )
    return directory


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
