"""Problems of an input: the key concerned, a message and a remedy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel, ValidationError

from simplugin.near_names import did_you_mean

MAX_SHOWN = 80  # characters of a value in a message
_REMEDIES = {
    "bool_type": "give true or false",
    "dict_type": "give a table",
    "float_type": "give a number",
    "int_type": "give a whole number",
    "list_type": "give a list",
    "missing": "add it",
    "model_type": "give a table",
    "string_type": "give a text",
    "string_pattern_mismatch": "write 'module:function'",
}

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    """A value that is invalid, unknown or missing.

    Attributes
    ----------
    path : tuple of str or int
        Keys and positions in arrays that lead to it, from the outside in.
    message, remedy : str
        The cause, and how to correct it.
    """

    path: Path
    message: str
    remedy: str | None = None

    @property
    def key(self) -> str:
        """The path with dots, as in TOML."""
        return dotted(self.path)


def dotted(path: Iterable[str | int]) -> str:
    """Return a path with dots between its steps."""
    return ".".join(map(str, path))


def unknown_key(path: Path, known: Iterable[str], otherwise: str = "the keys here are") -> Problem:
    """Return the problem of an unknown key, which suggests similar ones."""
    remedy = suggestion(str(path[-1]), known, otherwise)
    return Problem(path, f"unknown key {dotted(path)!r}", remedy)


def missing_key(path: Path) -> Problem:
    """Return the problem of a required key that is absent."""
    return Problem(path, f"key {dotted(path)!r} is missing", "add it")


def suggestion(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return a question with the names similar to `name`, or `otherwise` and all known names."""
    names = sorted(known)
    if question := did_you_mean(name, names, 2):
        return question
    return f"{otherwise} {', '.join(names)}" if names else "there is none"


def from_pydantic(error: ValidationError, model: type[BaseModel], section: Path) -> list[Problem]:
    """Translate the errors that pydantic found in a section."""
    problems = []
    for found in error.errors(include_url=False):
        path = (*section, *found["loc"])
        if found["type"] == "extra_forbidden":
            problems.append(unknown_key(path, _keys_at(model, found["loc"][:-1])))
        elif found["type"] == "missing":
            problems.append(missing_key(path))
        elif not found["loc"]:
            message = f"[{dotted(path)}] cannot be used"
            problems.append(Problem(path, message, remedy_of(found)))
        else:
            message = f"{dotted(path)} is {shown(found['input'])}"
            problems.append(Problem(path, message, remedy_of(found)))
    return problems


def remedy_of(found: Mapping[str, Any]) -> str:
    """Return how to correct a value, from an error of pydantic."""
    if found["type"] in _REMEDIES:
        return _REMEDIES[found["type"]]
    reason = str(found["msg"]).removeprefix("Value error, ").replace("Input should be ", "give ", 1)
    if reason.startswith(("give greater", "give less")):
        reason = reason.replace("give", "give a number", 1)
    return reason


def shown(value: Any) -> str:
    """Return a value for a message, shortened to `MAX_SHOWN` characters."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "..."


def _keys_at(model: type[BaseModel], path: Path) -> list[str]:
    """Return the known keys of a table inside a section."""
    for step in path:
        field = model.model_fields.get(str(step))
        if field is None and model.model_config.get("extra") == "allow":
            model = get_args(get_type_hints(model)["__pydantic_extra__"])[1]
            continue
        if field is None:  # a position in a list, or a name in a table of tables
            continue
        inner = [field.annotation, *get_args(field.annotation)]
        models = [each for each in inner if isinstance(each, type) and issubclass(each, BaseModel)]
        if not models:
            return []
        model = models[0]
    return [field.alias or name for name, field in model.model_fields.items()]
