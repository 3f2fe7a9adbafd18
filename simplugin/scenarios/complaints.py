"""What is wrong with a scenario, told by key and line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from simplugin.errors import ScenarioError
from simplugin.inputs.positions import toml_line

_ANYTHING = 80


@dataclass(frozen=True)
class Complaint:
    """One thing that is wrong.

    Attributes
    ----------
    path : tuple of str or int
        The key, from the outside in.
    message, remedy : str
        What is wrong with it, and the way out.
    """

    path: tuple[str | int, ...]
    message: str
    remedy: str | None = None

    @property
    def key(self) -> str:
        """The key as one writes it in TOML."""
        return ".".join(str(step) for step in self.path)

    def error(self, file: Path, text: str) -> ScenarioError:
        """Return it as an exception."""
        line = toml_line(text, self.path) if text else None
        error = ScenarioError(self.message, file=file, line=line, remedy=self.remedy)
        error.key = self.key
        return error


def scenario_error(complaints: Iterable[Complaint], file: Path, text: str) -> ScenarioError:
    """Join complaints to one exception, which has the place and the key of the first."""
    errors = [complaint.error(file, text) for complaint in complaints]
    errors.sort(key=lambda error: error.line or 0)
    first, *others = errors
    if not others:
        return first
    listed = "\n".join(str(error) for error in others)
    joined = ScenarioError(
        first.message,
        file=first.file,
        line=first.line,
        remedy=f"{first.remedy or 'and'}\n{listed}",
    )
    joined.__dict__["key"] = first.__dict__["key"]
    return joined


def unknown_key(path: tuple[str | int, ...], known: Iterable[str]) -> Complaint:
    """Say that a key is unknown, and which one was perhaps meant."""
    complaint = Complaint(path, "")
    return Complaint(
        path,
        f"unknown key {complaint.key!r}",
        suggestion(str(path[-1]), known, "the keys here are"),
    )


def suggestion(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return close matches of a name, or all that is known."""
    names = sorted(known)
    close = get_close_matches(name, names, 2, 0.6)
    if close:
        return "did you mean " + " or ".join(repr(each) for each in close) + "?"
    return f"{otherwise} {', '.join(names)}" if names else "there is none"


def from_pydantic(
    error: ValidationError, model: type[BaseModel], section: tuple[str, ...]
) -> list[Complaint]:
    """Translate what pydantic found in a section."""
    return [_translated(dict(each), model, section) for each in error.errors(include_url=False)]


def _translated(
    found: Mapping[str, Any], model: type[BaseModel], section: tuple[str, ...]
) -> Complaint:
    """Translate one finding of pydantic's."""
    path = (*section, *found["loc"])
    key = Complaint(path, "").key
    if found["type"] == "extra_forbidden":
        return unknown_key(path, _keys_at(model, found["loc"][:-1]))
    if found["type"] == "missing":
        return Complaint(path, f"key {key!r} is missing", "add it")
    reason = str(found["msg"]).removeprefix("Value error, ").replace("Input should be ", "give ", 1)
    if reason.startswith(("give greater", "give less")):
        reason = reason.replace("give", "give a number", 1)
    if found["type"] == "string_pattern_mismatch":
        reason = "write 'module:function'"
    if not found["loc"]:
        return Complaint(path, f"[{key}] cannot be used", reason)
    shown = repr(found["input"])
    if len(shown) > _ANYTHING:
        shown = shown[:_ANYTHING] + "..."
    return Complaint(path, f"{key} is {shown}", reason)


def _keys_at(model: type[BaseModel], path: tuple[str | int, ...]) -> list[str]:
    """Return the known keys of a table inside a section."""
    for step in path:
        if isinstance(step, int):
            continue
        field = model.model_fields.get(step)
        inner = [] if field is None else [field.annotation, *get_args(field.annotation)]
        models = [each for each in inner if isinstance(each, type) and issubclass(each, BaseModel)]
        if not models:
            return []
        model = models[0]
    return [field.alias or name for name, field in model.model_fields.items()]
