"""Claims of a paper beside the measured values, in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table
from rich.text import Text

from simplugin.claims import Claim, headline
from simplugin.formatting import readable
from simplugin.reports.tables import house_table

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
        if ends := written_interval(claim):
            measured += Text(f"\n{ends}", style="dim")
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


def _shown(value: float | str | None) -> Text:
    """Return a value of a claim for a cell of a table."""
    return Text(written_value(value))


def written_value(value: float | str | None) -> str:
    """Write a value of a claim; whole numbers as such."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return readable(value)


def written_interval(claim: Claim) -> str:
    """Write the interval of a measured number; nothing if there is none, or it has no width."""
    ends = claim.quantity.get("interval")
    if ends is None or isinstance(claim.measured, str):
        return ""
    # Infinite ends are texts.
    low, high = (None if isinstance(each, str) else each for each in ends)
    if low == high:
        return ""
    if low is None or high is None:
        return f"{written_value(low)} or more" if high is None else f"{written_value(high)} or less"
    return f"{written_value(low)} to {written_value(high)}"
