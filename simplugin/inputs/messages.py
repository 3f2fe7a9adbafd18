"""Problems of an input: the key concerned, a message and a remedy."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from simplugin.core.name_suggestions import did_you_mean
from simplugin.inputs.locations import shown

_REMEDIES = {
    "bool_type": "give true or false",
    "float_type": "give a number",
    "int_type": "give a whole number",
    **dict.fromkeys(("array_type", "list_type", "tuple_type"), "give a list"),
    **dict.fromkeys(("dict_type", "model_type"), "give a table"),
    **dict.fromkeys(("string_type", "string_too_short"), "give a text"),
    "string_pattern_mismatch": "write it as {pattern}",
    "too_short": "give at least {min_length}",
    "too_long": "give at most {max_length}",
    "union_tag_invalid": "give one of {expected_tags}",
}

# Findings of one kind, and in all, that are shown; and that are looked for in a table.
_MOST_ALIKE, _MOST_SHOWN, _MOST_FOUND = 10, 50, 1000
# The parts in which findings of one kind differ.
_VARIES = re.compile(r"'[^']*'|\"[^\"]*\"|[\d.]+")

Path = tuple[str | int, ...]


def folded(findings: Iterable[str]) -> Iterator[str]:
    """Yield the findings to show: a few of each kind, and the number of the others.

    Two are of one kind if they differ in quoted texts and numbers only.
    """
    every = list(findings)
    kinds = [_VARIES.sub("", each) for each in every]
    total, seen, shown_so_far = Counter(kinds), Counter[str](), 0
    for each, kind in zip(every, kinds, strict=True):
        seen[kind] += 1
        if seen[kind] > _MOST_ALIKE:
            continue
        if shown_so_far == _MOST_SHOWN:
            hidden = sum(min(number, _MOST_ALIKE) for number in total.values()) - shown_so_far
            yield f"... and {hidden:,} more findings"
            return
        shown_so_far += 1
        yield each
        if seen[kind] == _MOST_ALIKE < total[kind]:
            yield f"... and {total[kind] - _MOST_ALIKE:,} more of this kind"


class InvalidValueError(ValueError):
    """An error of a validator that has a message of its own.

    Parameters
    ----------
    message : str
        A sentence in which ``{key}`` stands for the path of the culprit.
    remedy : str, optional
        How to correct it.
    path : sequence of str or int
        From the value that was validated to the culprit in it.
    """

    def __init__(self, message: str, remedy: str | None = None, path: Iterable[Any] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.path = tuple(path)


@dataclass(frozen=True)
class InputProblem:
    """A value that is invalid, unknown or missing.

    Attributes
    ----------
    path : tuple of str or int
        Keys and positions in arrays that lead to it, from the outside in.
    message, remedy : str
        The cause, in which ``{key}`` stands for the path, and how to correct it.
    """

    path: Path
    message: str
    remedy: str | None = None

    @property
    def key(self) -> str:
        """The path with dots, as in TOML."""
        return dotted(self.path)

    @property
    def text(self) -> str:
        """The message with the path in it, on one line whatever the keys are."""
        key = self.key if self.key.isprintable() else repr(self.key)[1:-1]
        return self.message.replace("{key}", key or "the document")

    def moved(self, path: Path) -> InputProblem:
        """Return the same problem of a value that another document has at another path."""
        message = self.message if "{key}" in self.message else f"{{key}}: {self.message}"
        return InputProblem(path, message, self.remedy)


def dotted(path: Iterable[str | int]) -> str:
    """Return a path with dots between its steps."""
    return ".".join(map(str, path))


def unknown_key(
    path: Path, known: Iterable[str], otherwise: str = "the keys here are"
) -> InputProblem:
    """Return the problem of an unknown key, which suggests similar ones."""
    return InputProblem(path, "unknown key '{key}'", suggestion(str(path[-1]), known, otherwise))


def missing_key(path: Path, example: str = "") -> InputProblem:
    """Return the problem of a required key that is absent."""
    return InputProblem(
        path, "key '{key}' is missing", f"add it: {example}" if example else "add it"
    )


def suggestion(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return a question with the names similar to `name`, or `otherwise` and all known names."""
    names = sorted(known)
    if question := did_you_mean(name, names, 2):
        return question
    return f"{otherwise} {', '.join(names)}" if names else "there is none"


def problems_of(
    error: ValidationError, kind: Any, content: Any, section: Path = ()
) -> list[InputProblem]:
    """Translate the errors that pydantic found in a value.

    Parameters
    ----------
    error : ValidationError
        The errors.
    kind : type
        The type that the value was to have.
    content : object
        The value.
    section : tuple of str or int
        Its path.
    """
    found: dict[Path, list[Mapping[str, Any]]] = {}
    for each in error.errors(include_url=False):
        found.setdefault(_path(each, content), []).append(each)
    # Of the members of a union, those count that come nearest.
    outer = {path[:length] for path in found for length in range(len(path))}
    inner = {path: several for path, several in found.items() if path not in outer}
    problems = [
        _problem(several, kind, content, section, path)
        for path, several in islice(inner.items(), _MOST_FOUND)
    ]
    if (left := len(inner) - len(problems)) > 0:
        message = f"there are {left:,} more errors"
        problems.append(InputProblem(section, message, "correct the others first"))
    return problems


def _path(found: Mapping[str, Any], content: Any) -> Path:
    """Return the path of an error, without what pydantic calls the members of a union."""
    path: list[str | int] = []
    context = found.get("ctx", {})
    for step in found["loc"]:
        inside = isinstance(content, Mapping) and step in content
        listed = isinstance(content, list | tuple) and isinstance(step, int)
        if inside or (listed and step < len(content)):
            path.append(step)
            content = content[step]
    if found["type"] == "missing":
        path.append(found["loc"][-1])
    if "discriminator" in context:
        path.append(context["discriminator"].strip("'"))
    return (*path, *getattr(context.get("error"), "path", ()))


def _problem(
    found: list[Mapping[str, Any]], kind: Any, content: Any, section: Path, path: Path
) -> InputProblem:
    """Return the problem at a path, with one remedy for all types that its value can have."""
    where, first = (*section, *path), found[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, InvalidValueError) and (len(found) == 1 or cause.path):
        return InputProblem(where, cause.message, cause.remedy)
    if first["type"] == "extra_forbidden":
        tables = _tables(kind, path[:-1], content)
        return unknown_key(where, {name for table in tables for name, _ in _fields(table)})
    if first["type"] in ("missing", "union_tag_not_found"):
        tables = _tables(kind, path[:-1], content)
        fields = [dict(_fields(table)).get(str(path[-1])) for table in tables]
        return missing_key(where, _example([each for each in fields if each is not None]))
    for step in path:
        content = content[step]
    if isinstance(content, Mapping) and first["type"] == "value_error":
        return InputProblem(where, "[{key}] cannot be used", remedy_of(first))
    remedy = " or ".join(dict.fromkeys(map(remedy_of, found))).replace(" or give ", " or ")
    return InputProblem(where, f"{{key}} is {shown(content)}", remedy)


def _example(fields: list[FieldInfo]) -> str:
    """Return the examples of a key, or the texts that are its values."""
    examples = [str(text) for each in fields for text in each.examples or ()]
    choices = [repr(value) for each in fields for value in get_args(each.annotation)]
    return ", ".join(examples) or (f"one of {', '.join(choices)}" if len(fields) > 1 else "")


def remedy_of(found: Mapping[str, Any]) -> str:
    """Return how to correct a value, from an error of pydantic."""
    context = found.get("ctx", {})
    if isinstance(cause := context.get("error"), InvalidValueError):
        return cause.remedy or ""
    if found["type"] in _REMEDIES:
        return _REMEDIES[found["type"]].format_map(context)
    reason = str(found["msg"]).removeprefix("Value error, ").replace("Input should be ", "give ", 1)
    if reason.startswith(("give greater", "give less")):
        reason = reason.replace("give", "give a number", 1)
    return reason


def _fields(table: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    """Yield the keys of a table."""
    for name, each in table.model_fields.items():
        yield each.alias or name, each


def _tables(kind: Any, path: Path, content: Any) -> list[type[BaseModel]]:
    """Return the models that the table at a path may have."""
    tables = models_in(kind)
    for step in path:
        inner = [kind for table in tables for kind in _kinds(table, str(step))]
        # A position in a list, or a name in a table of tables, is no field.
        tables = [model for each in inner for model in models_in(each)] if inner else tables
        content = content[step]
    # Members of a union with the right tag.
    tagged = [
        table
        for table in tables
        for name, each in _fields(table)
        if name in content and content[name] in get_args(each.annotation)
    ]
    return list(dict.fromkeys(tagged)) or tables


def _kinds(table: type[BaseModel], key: str) -> list[Any]:
    """Return the type of a key of a table, if it has one."""
    field = dict(_fields(table)).get(key)
    if field is None and table.model_config.get("extra") == "allow":
        return [get_type_hints(table).get("__pydantic_extra__")]
    return [] if field is None else [field.annotation]


def models_in(kind: Any) -> list[type[BaseModel]]:
    """Return the models in a type."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return [kind]
    return [model for each in get_args(kind) for model in models_in(each)]
