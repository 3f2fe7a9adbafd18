"""The pages of docs/reproductions, and what they are made from."""

import json

import pytest

import reproduction_pages as tool
from simplugin.cli.reproduce import page_texts
from simplugin.papers.reproduction_runs import chosen_statements, table
from simplugin.papers.reproductions import CAPABILITIES
from simplugin.papers.statements import statements
from simplugin.reports.reproduction_page import Paper

MOST_FIGURES, LARGEST_FIGURE = 5, 80_000


def test_shipped_pages_follow_from_their_data():
    for name, found in tool.shipped().items():
        for file, text in page_texts(name, found).items():
            assert (tool.DIRECTORY / file).read_text(encoding="utf-8") == text, file
        paper, ids = Paper.of(CAPABILITIES[name]), {each["id"] for each in found["claims"]}
        assert ids == {each.id for each in chosen_statements(CAPABILITIES[name], quick=False)}
        assert not found["quick"]
        assert paper.hours == pytest.approx(found["seconds"] / 3600, rel=0.5), name
        for figure in paper.figures:
            drawn = tool.DIRECTORY / f"{name}-{figure.name}.png"
            assert 1_000 < drawn.stat().st_size < LARGEST_FIGURE, drawn
    linked = (tool.DIRECTORY / "README.md").read_text(encoding="utf-8")
    assert all(f"({name}.md)" in linked for name in CAPABILITIES)


@pytest.mark.parametrize("package", CAPABILITIES.values())
def test_each_paper_has_a_page(package):
    paper = Paper.of(package)
    assert (tool.DIRECTORY.parent / paper.guide).exists()
    assert 0 < len(paper.figures) <= MOST_FIGURES
    assert {each.statement for each in paper.figures} <= {each.id for each in statements(package)}


def test_figures_of_pages_are_drawn():
    chosen = {"simplugin.papers.beaumont": "figure 6", "simplugin.papers.bertin": "figure 3"}
    for package, part in chosen.items():
        drawn = {each.name for each in table(package, "FIGURES")[part](True)}
        assert drawn & {each.name for each in Paper.of(package).figures}


def test_a_page_is_written_from_a_store_and_again_from_its_data(tmp_path, monkeypatch, capsys):
    made = {"measured": 2.5, "agrees": True, "why": "as it was", "paper": "holds", "source": "s"}
    first, *others = statements(CAPABILITIES["bags"])
    claims = [made | {"claim": "former words", "id": each} for each in (first.id, "gone")]
    [figure] = table(CAPABILITIES["bags"], "FIGURES")["figure 5"](True)
    assert figure.name not in {each.name for each in Paper.of(CAPABILITIES["bags"]).figures}
    found = {"quick": True, "dates": ["2026-01-01"], "versions": {}, "seconds": 60.0}
    tool.write("bags", found | {"claims": claims, "figures": []}, tmp_path)
    printed = capsys.readouterr().out
    assert "bags: unknown: gone\n" in printed
    assert others[0].id in printed
    page, data = ((tmp_path / f"bags{suffix}").read_text() for suffix in (".md", ".json"))
    assert first.claim in page
    assert "former words" not in page
    assert [claim["id"] for claim in json.loads(data)["claims"]] == [first.id]
    monkeypatch.setattr("sys.argv", ["reproduction_pages", "-o", str(tmp_path)])
    tool.main()
    assert ((tmp_path / "bags.md").read_text(), (tmp_path / "bags.json").read_text()) == (
        page,
        data,
    )
