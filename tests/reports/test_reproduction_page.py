"""The page about a paper, in Markdown."""

from naming import raises_naming

from simplugin.core.errors import SimpluginError
from simplugin.reports.image_files import image_file
from simplugin.reports.reproduction_page import ChosenFigure, Paper, draw_figure, reproduction_page
from simplugin.results.claims import Claim
from simplugin.results.curves import CurvePlot

PAPER = Paper(
    "On x", "A. Author (2001).", "About x.", "x.md", 2.0, (ChosenFigure("f", "Shares.", "a"),)
)
DOCUMENT = {"quick": False, "dates": ["2026-01-01", "2026-01-02"], "versions": {"numpy": "2"}}
DOCUMENT |= {"seconds": 240.0, "figures": [{"name": "f", "title": "Shares [%]"}]}
KEPT = {"interval": (1.1, 1.4), "samples": 9}
VERDICTS = {"B": True, "as measured": False}


def claim(number, agrees, kind="paper", **more):
    words = f"A|B shares {number}"
    return Claim(words, 1.0, 1.25, agrees, "why", "Figure 2", kind=kind, id=number, **more)


def page(*claims, document=DOCUMENT):
    return reproduction_page("x", PAPER, claims, document)


def row(text, number):
    [line] = [line for line in text.splitlines() if line.startswith(f"| {number} |")]
    return [cell.strip() for cell in line.replace("\\|", "!").strip("|").split("|")][1:]


def test_each_claim_is_a_line_under_its_verdict():
    about = {"criterion": "below 1.2", "quantity": KEPT, "reason": "the *tie* rule"}
    more = {"provenance": {"seeds": [1, 2]}, "definition": "means of runs"}
    text = page(
        claim("b", True, "ours"),
        claim("a", False, **about, **more),
        claim("c", False),
        claim("d", None, readings=VERDICTS, reason="about 12 seeds would decide"),
    )
    wrong, undecided, ours = text.split("\n## ")[1:4]
    assert wrong.startswith("What does not hold, and why")
    words = ["*Fig. 2*: A!B shares a", "1", "below 1.2", "1.25 (1.1 to 1.4)", r"the \*tie\* rule"]
    assert row(wrong, 1) == words
    # The place is that of the line above.
    assert row(wrong, 2)[0] == "A!B shares c"
    assert undecided.startswith("What cannot be told, and what would decide")
    assert row(undecided, 3)[-1] == "about 12 seeds would decide"
    assert ours.startswith("Beyond the paper: what holds")
    assert row(ours, 4) == ["A!B shares b", "", "1.25"]
    assert "Of 3 statements of the paper 0 hold, 2 do not, and 1 cannot be told." in text
    assert "| B | 1 of 1 | 3 |" in text
    assert "| as measured | 0 of 1 |  |" in text
    assert "## What holds" not in text
    assert text.endswith("- 1, `a`: means of runs\n")


def test_a_figure_has_caption_command_data_and_seeds():
    text = page(claim("a", True, provenance={"seeds": [1, 2]}))
    assert r"![Shares \[%\]](x-f.png)" in text
    command = "*By `simplugin reproduce x -o DIR`; data: `f` in [x.json](x.json); seeds 1, 2.*"
    assert f"**1.** Shares. {command}" in text
    assert "Measured 2026-01-01 to 2026-01-02 with numpy 2, in 4 minutes of computing" in text
    assert "## Figures" not in page(claim("a", True), document=DOCUMENT | {"figures": []})


def test_drawn_figures_are_small(tmp_path):
    curves = {f"s{number}": (range(50), range(number, number + 50)) for number in range(8)}
    draw_figure(CurvePlot("f", "Shares", "x", "y", curves), tmp_path / "f.png")
    assert 1_000 < image_file(tmp_path / "f.png").stat().st_size < 40_000


def test_an_invalid_file_is_named(tmp_path, monkeypatch):
    package = tmp_path / "paper_without_title"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "page.toml").write_text('citation = "A"\nfigure = []\n')
    monkeypatch.syspath_prepend(tmp_path)
    with raises_naming(SimpluginError, package / "page.toml", "'title'"):
        Paper.of(package.name)
