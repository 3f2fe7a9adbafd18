"""``simplugin new``: an example of a user's own scheduler with its test and its scenario."""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path

from simplugin.core.errors import SimpluginError
from simplugin.inputs.messages import suggestion

KINDS = (
    *("bags-policy", "pricing-method", "shares", "schedule", "mapper", "market-policy"),
    *("negotiation", "jobs-policy", "actors", "environment", "generator", "lookahead"),
)


def write_example(kind: str, file: Path) -> list[Path]:
    """Write the files of an example, and return them: the module first, then its scenario.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    file : path
        The module; the scenario is written to the same directory.

    Raises
    ------
    SimpluginError
        There is no such kind, the file's name is none of a module, or a file exists already or
        cannot be written.
    """
    if kind not in KINDS:
        raise SimpluginError(f"kind is {kind!r}; {suggestion(kind, KINDS, 'there are')}")
    module, example = file.stem, kind.replace("-", "_")
    taken = module == "simplugin" or module in sys.stdlib_module_names
    if file.suffix != ".py" or not module.isidentifier() or taken:
        raise SimpluginError(f"{file}: give the name of a Python module, such as my_policy.py")
    examples = files("simplugin.examples")
    texts = {
        file.with_suffix(suffix): (examples / f"{example}{suffix}").read_text(encoding="utf-8")
        for suffix in (".py", ".toml")
    }
    for path in texts:
        if path.exists():
            raise SimpluginError(f"{path}: exists already; give another name, or move it away")
    try:
        for path, text in texts.items():
            with path.open("x", encoding="utf-8") as opened:
                opened.write(text.replace(f'"{example}:', f'"{module}:'))
    except OSError as error:
        raise SimpluginError(f"{path}: cannot be written: {error.strerror or error}") from error
    return list(texts)
