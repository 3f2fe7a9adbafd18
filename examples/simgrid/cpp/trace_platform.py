"""A trace of the platform alone, for Paje: SimGrid's ``trace-platform``."""

import tempfile
from pathlib import Path

from simplugin import SimGridOptions, simulate


def main(examples: Path, platform: str, *, settings: dict[str, str]):
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, settings["tracing/filename"])
        simulate(
            platform, [], options=SimGridOptions(extra=settings | {"tracing/filename": str(file)})
        )
        _version, _date, *lines = file.read_text(encoding="utf-8").splitlines()
    print(*lines, sep="\n")
