"""Actors as lines of SimGrid 4.1 XML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.formats import xml_text
from simplugin.formats.quantities import number_text

if TYPE_CHECKING:
    from simplugin.platforms.deployment import DeployedActor


def actor_lines(actor: DeployedActor, indent: str) -> list[str]:
    """Return the lines of an actor.

    Parameters
    ----------
    actor : DeployedActor
        The actor.
    indent : str
        What each line begins with.

    Returns
    -------
    list of str
        One line, or one for each argument and property besides.
    """
    attributes = [("host", actor.host), ("function", actor.function)]
    if actor.start_time:
        attributes.append(("start_time", number_text(actor.start_time)))
    if actor.kill_time is not None:
        attributes.append(("kill_time", number_text(actor.kill_time)))
    if actor.on_failure != "DIE":
        attributes.append(("on_failure", actor.on_failure))
    inner = indent + "  "
    content = [inner + xml_text.empty("argument", [("value", text)]) for text in actor.arguments]
    content += xml_text.properties(inner, actor.properties)
    return xml_text.block(indent, "actor", attributes, content)
