"""Boxes with words: clusters, and zones of which only the clusters are named."""

from __future__ import annotations

from simplugin.reports.platforms.contents import Group
from simplugin.reports.platforms.items import Item
from simplugin.reports.platforms.sheet import Block, Box, Words, cut, measured

_HEAD, _ROW = 7.5, 6.2
_GREY = "#4a4a4a"
_PAD = 0.06
# Names longer than that are cut.
_LONGEST = 1.7
_ROW_HEIGHT = 0.125
# How long the bar for the most cores is [inch].
BAR = 0.55


def one_box(item: Item, most_cores: int) -> Block:
    """Return the block of an item that is one box of words."""
    if item.kind == "listing":
        return _listing(item, most_cores)
    if item.kind == "group":
        return _group(item)
    return _pill(item)


def _group(item: Item) -> Block:
    """Return a box of one line, or of two if that would be long."""
    group = item.contents.groups[0]
    name = cut(item.name, _HEAD, 2.2, bold=True)
    facts = group.size_words()
    wide, _ = measured(name, _HEAD, bold=True)
    more, _ = measured(facts, _ROW)
    block = Block()
    if wide + more < 2.9:
        block.width, block.height = wide + more + 3 * _PAD, 0.2
        block.words = [
            Words(_PAD, 0.1, name, _HEAD, bold=True),
            Words(wide + 2 * _PAD, 0.1, facts, _ROW, colour=_GREY),
        ]
    else:
        block.width, block.height = max(wide, more) + 2 * _PAD, 0.32
        block.words = [
            Words(_PAD, 0.1, name, _HEAD, bold=True),
            Words(_PAD, 0.23, facts, _ROW, colour=_GREY),
        ]
    block.boxes = [Box(0, 0, block.width, block.height, "group", group.speed)]
    return block


def _pill(item: Item) -> Block:
    """Return a small box with a name: a router, a host, a link that is a point."""
    if item.kind == "meeting" and not item.name:
        return Block(0.08, 0.12)
    name = cut(item.name, 6.5, _LONGEST)
    speed = 0.0
    if item.kind == "host":
        group = item.contents.groups[0]
        speed = group.speed
        name = f"{name}  {group.host_words()}"
    width = measured(name, 6.5)[0] + 2 * _PAD
    kind = "group" if item.kind == "host" else item.kind
    block = Block(width, 0.19)
    block.words = [Words(width / 2, 0.095, name, 6.5, align="center")]
    block.boxes = [Box(0, 0, width, 0.19, kind, speed)]
    return block


def _listing(item: Item, most_cores: int) -> Block:
    """Return a box that names the clusters with the most cores."""
    held = item.contents
    block = Block()
    y = 0.12
    name = cut(item.name, 8.0, 2.4, bold=True)
    power = held.power_words() if item.rows else held.power_words().split(", ")[-1]
    facts = f"{held.total_words()}, {power}"
    wide = measured(name, 8.0, bold=True)[0]
    block.words.append(Words(_PAD, y, name, 8.0, bold=True))
    block.width = wide + 2 * _PAD
    inline = wide + measured(facts, _ROW)[0] + 3 * _PAD
    if inline <= 2.9:
        block.words.append(Words(wide + 2 * _PAD, y, facts, _ROW, colour=_GREY))
        block.width = inline
    else:
        y += 0.13
        block.words.append(Words(_PAD, y, facts, _ROW, colour=_GREY))
        block.width = max(block.width, measured(facts, _ROW)[0] + 2 * _PAD)
    shown = sorted(held.groups, key=lambda group: (-group.core_count, group.name))
    rest = shown[item.rows :]
    if len(rest) == 1:
        rest = []
    shown = shown[: len(shown) - len(rest)] if item.rows else []
    left = len(held.groups) - len(shown)
    names = [cut(group.name, _ROW, _LONGEST) for group in shown]
    column = max((measured(each, _ROW)[0] for each in names), default=0.0)
    for name, group in zip(names, shown, strict=True):
        y += _ROW_HEIGHT
        _row(block, y, name, group, column, most_cores)
    if shown and left:
        y += _ROW_HEIGHT
        hosts = sum(group.count for group in rest)
        block.words.append(
            Words(_PAD, y, f"and {left:,} more with {hosts:,} hosts", _ROW, colour=_GREY)
        )
        block.width = max(block.width, measured(block.words[-1].text, _ROW)[0] + 2 * _PAD)
    block.height = y + 0.1
    block.boxes.insert(0, Box(0, 0, block.width, block.height, "listing"))
    return block


def _row(block: Block, y: float, name: str, group: Group, column: float, most_cores: int) -> None:
    """Add the line of a cluster: its name, a bar for its cores, what it is."""
    length = max(BAR * group.core_count / max(most_cores, 1), 0.012)
    start = _PAD + column + 0.06
    block.words.append(Words(_PAD, y, name, _ROW))
    block.boxes.append(Box(start, y - 0.04, length, 0.08, "bar", group.speed))
    facts = group.size_words()
    block.words.append(Words(start + BAR + 0.06, y, facts, _ROW, colour=_GREY))
    block.width = max(block.width, start + BAR + 0.06 + measured(facts, _ROW)[0] + _PAD)
