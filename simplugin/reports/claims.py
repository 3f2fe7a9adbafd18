"""Claims of a paper beside what was measured, and other listings, as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from simplugin.claims import Claim, headline
from simplugin.listings import Cell, Listing
from simplugin.reports.column_widths import column_widths
from simplugin.reports.name_endings import without_common_ending
from simplugin.reports.quantities import percent, readable
from simplugin.reports.tables import house_table, summary_table
from simplugin.rows import Row

if TYPE_CHECKING:
    from rich.console import JustifyMethod

_WIDEST_VALUE = 18
_VERDICTS = {
    True: Text("yes", style="green"),
    False: Text("no", style="bold red"),
    None: Text("?", style="yellow"),
}


def claims_table(claims: Sequence[Claim], title: str = "") -> Table:
    """Return claims one by one, those of the paper first, with the reason of each verdict."""
    table = house_table(title)
    table.leading = 1
    table.add_column("claim", ratio=1)
    for name in ("paper", "measured"):
        table.add_column(name, justify="right", max_width=_WIDEST_VALUE)
    table.add_column("agrees", justify="center", no_wrap=True)
    for claim in sorted(claims, key=lambda claim: claim.kind == "ours"):
        words = Text.assemble(claim.claim, "\n", (f"{claim.source}: {claim.why}", "dim"))
        measured = _shown(claim.measured)
        if claim.optimum is not None:
            measured += Text(f"\noptimum {readable(claim.optimum)}", style="dim")
        table.add_row(words, _shown(claim.paper), measured, _VERDICTS[claim.agrees])
    table.caption = headline(claims)
    return table


def claims_summary(claims: Mapping[str, Sequence[Claim]]) -> Table:
    """Return the number of verdicts of each kind for each capability."""
    table = house_table("Statements of the papers, and of our own")
    table.add_column("capability")
    table.add_column("of")
    for name in ("statements", "agree", "disagree", "cannot be told"):
        table.add_column(name, justify="right")
    for name, found in claims.items():
        for kind, words in (("paper", "the paper"), ("ours", "our own")):
            verdicts = [claim.agrees for claim in found if claim.kind == kind]
            if verdicts:
                counts = [len(verdicts), *(verdicts.count(each) for each in (True, False, None))]
                table.add_row(name, words, *map(str, counts))
    return table


def print_listings(
    row: Row, listings: Sequence[Listing], *, console: Console | None = None, title: str = ""
) -> None:
    """Print the metrics of a run, then its listings.

    Parameters
    ----------
    row : Row
        Metrics.
    listings : sequence of Listing
        In their order.
    console : Console, optional
        Where; standard output without.
    title : str
        Above everything.
    """
    console = console or Console(highlight=False)
    if title:
        console.print(Text(title, style="bold"))
    console.print(summary_table(row))
    for listing in listings:
        console.print()
        # Not the table's own title and caption, which are broken to its width.
        console.print(Text(listing.title, style="bold"))
        shown, ending = listing, ""
        if (listing_table(listing).width or 0) > console.width:
            shown, ending = without_common_ending(listing)
        # What cannot be made narrower is wider than the terminal rather than cut.
        console.print(listing_table(shown, console.width), crop=False)
        ended = f"names are shown without {ending!r}" if ending else ""
        for note in filter(None, (listing.note, ended)):
            console.print(Text(note, style="dim"))


def listing_table(listing: Listing, room: int | None = None) -> Table:
    """Return the lines of a listing: names to the left, numbers to the right.

    Parameters
    ----------
    listing : Listing
        What.
    room : int, optional
        How wide the table should be at most; nothing in it is cut, nor numbers broken.
    """
    names = [name for name, _ in listing.columns]
    values = [[line[place] for line in listing.lines] for place in range(len(names))]
    cells, texts = [], []
    for (_, unit), column in zip(listing.columns, values, strict=True):
        cells.append([_cell(value, unit) for value in column])
        texts.append(any(isinstance(value, str) for value in column) and not unit)
    widest = [max((cell.cell_len for cell in column), default=0) for column in cells]
    widths, gap = column_widths(names, widest, texts, room)
    table = house_table("")
    # Rich draws one more blank between columns.
    table.padding = (0, gap // 2, 0, (gap - 1) // 2)
    for name, width, text in zip(names, widths, texts, strict=True):
        justify: JustifyMethod = "left" if text else "right"
        table.add_column(Text(name), width=width, justify=justify, overflow="fold")
    for line in zip(*cells, strict=True):
        table.add_row(*line)
    table.width = sum(widths) + gap * (len(names) - 1)
    return table


def _cell(value: Cell, unit: str) -> Text:
    """Write a value of a listing; as it stands, brackets included."""
    if unit == "%" and isinstance(value, float):
        return Text(percent(value))
    return Text(readable(value, unit))


def _shown(value: float | str | None) -> Text:
    """Write a value of a claim; whole numbers as such."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return Text(readable(value))
