"""Check that each public class name of the package is defined in one module only."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from pathlib import Path


def duplicates(package: Path) -> list[str]:
    """Return a message for each public class name that several modules define.

    Parameters
    ----------
    package : Path
        Directory of the package.
    """
    places = defaultdict(list)
    for file in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append((file, node.lineno))
    return [
        f"{second}:{line}: class {name} is also defined at {first}:{number}; rename one of them"
        for name, ((first, number), *others) in sorted(places.items())
        for second, line in others
        if second != first
    ]


def main() -> int:
    """Print the messages; return 1 if there are any."""
    found = duplicates(Path(__file__).parents[1] / "simplugin")
    for message in found:
        print(message, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
