"""Arguments of actors that are written once for many: texts with placeholders."""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING

from simplugin.errors import DeploymentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

HOSTS = "{hosts}"


def filled(
    arguments: Iterable[str], values: Mapping[str, str | int], hosts: Sequence[str]
) -> tuple[str, ...]:
    """Return arguments with values in the place of placeholders.

    Parameters
    ----------
    arguments : iterable of str
        Texts with placeholders as `str.format` has them, for instance ``{host}`` or
        ``{number:03}``; ``{{`` and ``}}`` for braces. An argument that is ``{hosts}`` and nothing
        else becomes as many as there are hosts.
    values : mapping of str to str or int
        What each placeholder stands for.
    hosts : sequence of str
        What ``{hosts}`` stands for.

    Returns
    -------
    tuple of str
        The arguments.

    Raises
    ------
    DeploymentError
        A placeholder is unknown or a brace stands alone; the message shows the argument.
    """
    result: list[str] = []
    for argument in arguments:
        if argument == HOSTS:
            result += hosts
        else:
            result.append(_filled(argument, values))
    return tuple(result)


def _filled(argument: str, values: Mapping[str, str | int]) -> str:
    """Return one argument with values in the place of placeholders."""
    if "{" not in argument and "}" not in argument:
        return argument
    parts = []
    try:
        for literal, name, form, conversion in Formatter().parse(argument):
            parts.append(literal)
            if name is None:
                continue
            if name not in values or conversion is not None:
                raise _unknown(argument, name, values)
            parts.append(format(values[name], form or ""))
    except ValueError as error:
        raise DeploymentError(
            f"argument {argument!r} cannot be filled in: {error}",
            remedy="write {{ and }} for braces that are no placeholders",
        ) from None
    return "".join(parts)


def _unknown(argument: str, name: str, values: Mapping[str, str | int]) -> DeploymentError:
    """Return the error for a placeholder that stands for nothing."""
    if "{" + name + "}" == HOSTS:
        return DeploymentError(
            f"argument {argument!r} has {HOSTS} within other text",
            remedy=f"give {HOSTS} as an argument of its own; it becomes one for each host",
        )
    known = ", ".join(f"{{{each}}}" for each in (*values, "hosts"))
    return DeploymentError(
        f"argument {argument!r} has an unknown placeholder {{{name}}}",
        remedy=f"here are {known}; write {{{{ and }}}} for braces",
    )
