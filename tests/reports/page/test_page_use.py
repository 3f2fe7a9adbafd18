"""Use of a page: sorting, filters, details, colours, paper."""

import base64
import math
import re

from selenium.webdriver.support.ui import Select

from simplugin.reports.page import CampaignReport
from simplugin.results.claims import Claim


def test_sorting_puts_numbers_in_order_and_missing_ones_last(page, rows):
    Select(page.one("#page-size")).select_by_value("100")
    head = 'th[data-column="makespan"]'
    assert page.column("makespan")[3] == "NaN"

    rest = [at for at, row in enumerate(rows) if row[5] or row[3] is None or math.isnan(row[3])]
    known = [at for at in range(len(rows)) if at not in rest]
    # Stable: the tie stays in the order of positions.
    for order, sign in (("ascending", 1), ("descending", -1)):
        page.click(f"{head} button")
        assert page.one(head).get_attribute("aria-sort") == order
        assert page.runs() == sorted(known, key=lambda at: sign * rows[at][3]) + rest
    page.click('th[data-column="scheduler.name"] button')
    assert page.runs() == sorted(range(len(rows)), key=lambda at: rows[at][0])
    assert page.one(head).get_attribute("aria-sort") == "none"


FILTERS = [
    ("platform.seed", "1..3", lambda row: 1 <= row[2] <= 3),
    ("platform.seed", ">3 <=9 != 5", lambda row: 3 < row[2] <= 9 and row[2] != 5),
    ("surplus", "< -0.5", lambda row: not row[5] and row[4] < -0.5),
    ("makespan", "none", lambda row: row[5] or row[3] is None or math.isnan(row[3])),
    ("scheduler.name", "BAGS.P", lambda row: row[0] == "bags.prices"),
    ("scheduler.name", "!prices", lambda row: row[0] != "bags.prices"),
    ("status", "=failed", lambda row: row[5]),
    # As the page writes numbers; the last digit that it shows is not the last.
    ("makespan", "<1\u202f234.5", lambda row: not row[5] and (row[3] or math.inf) < 1234.5),
]


def test_filters(page, rows):
    for column, text, holds in FILTERS:
        wanted = [at for at, row in enumerate(rows) if holds(row)]
        page.filter(column, text, f"{len(wanted)} of 90 runs")
        assert page.runs() == wanted[:25], text
        page.clear()


def test_filters_add_up_and_one_that_cannot_be_read_filters_nothing(page, rows):
    page.filter("scheduler.name", "lag", "30 of 90 runs")
    page.filter("platform.seed", ">5", "15 of 90 runs")
    page.filter("platform.seed", ">x", "30 of 90 runs")
    field = page.one('[data-filter="platform.seed"]')
    assert field.get_attribute("aria-invalid") == "true"
    # It stays marked when something else is filtered.
    page.filter("scheduler.name", "bags", "90 runs")
    assert (field.get_attribute("value"), field.get_attribute("aria-invalid")) == (">x", "true")
    for text in (">5 <3", "7..2", "=3 =4", "none >1", ">3 <=3"):
        page.filter("platform.seed", text, "0 of 90 runs")
        assert field.get_attribute("aria-invalid") == "true", text
    page.filter("platform.seed", ">=3 <=3", "9 of 90 runs")
    assert field.get_attribute("aria-invalid") is None
    written = page.column("makespan")[0]
    page.click("#clear")
    page.filter("makespan", written, "1 of 90 runs")
    assert page.column("makespan") == [written]
    page.clear()
    assert field.get_attribute("value") == ""
    assert len(rows) == 90


def test_pages_of_the_table(page):
    for turn, first, last in (("next", 26, 50), ("last", 76, 90), ("first", 1, 25)):
        page.click(f"#page-{turn}")
        assert page.one("#page-place").text == f"{first} to {last} of 90 runs"
        assert page.runs() == list(range(first - 1, last))
        assert page.one("#page-back").is_enabled() == (first > 1)
        assert page.one("#page-next").is_enabled() == (last < 90)
    Select(page.one("#page-size")).select_by_value("100")
    assert len(page.column("run")) == 90


def test_details_and_failures(page):
    page.filter("status", "failed", "3 of 90 runs")
    button = '[data-run="31"]'
    page.one(button).send_keys("\n")
    assert page.one(button).get_attribute("aria-expanded") == "true"
    told = page.one("#runs-body .details").text
    assert "link '<b>bb</b>' </script>\nTraceback: the rest" in told
    assert "0000001f" in told
    assert page.driver.switch_to.active_element.get_attribute("data-run") == "31"
    page.one(button).send_keys("\n")
    assert not page.all("#runs-body .details")
    page.clear()
    page.filter("scheduler.name", "fcfs", "30 of 90 runs")
    [group] = page.all("#failure-list li")
    assert "3 runs: error" in group.text
    assert "runs 7, 31, 60" in group.text
    page.click("#failure-list button")
    page.wait(lambda: page.looked_at() == "3 of 90 runs")


def test_numbers_as_they_are_written(page):
    wanted = {
        1e-7: "1e\u22127", -2.5e21: "\u22122.5e21", 1234567.5: "1\u202f234\u202f567.5", 0.1: "0.1",
        -12345.0: "\u221212\u202f345", 0.0: "0",
    }  # fmt: skip
    assert page.script("return arguments[0].map(exact)", list(wanted)) == list(wanted.values())
    odd = page.script("return [NaN, Infinity, -Infinity].map(exact)")
    assert odd == ["NaN", "\u221e", "\u2212\u221e"]
    # Significant digits where values are decades apart, else equally many decimals.
    for column, wanted in (
        ([1.5, -20.25, None, 1e3, 1e-9], "1.5000 \u221220.250 \u2013 1000.0 1.0000e\u22129"),
        ([1.5, -20.25, 17.0], "1.500 \u221220.250 17.000"),
    ):
        found = page.script("return arguments[0].map(writer(arguments[0]))", column)
        assert found == wanted.split()
    sizes = [[1, 10, 100], [1, 2, 4, 8], [1, 2, 4], [1, 10, 90], [0, 1, 10], [1, 2, 3, 4]]
    found = page.script("return arguments[0].map(grows)", sizes)
    assert found == [True, True, False, False, False, False]


def test_single_runs(page):
    details = page.all("#kept-list > details")
    assert [each.get_attribute("open") is not None for each in details] == [True, False]
    # Processors 0, 1 and 3 of one cluster are two blocks; 2 and 4 are of two clusters.
    tips = page.texts("#kept .bars rect title")
    assert [tip.split("\n")[0] for tip in tips] == ["t1", "t1", "t2", "t2"]
    assert "bound 8 s" in page.one("#kept figure").text
    assert len(page.all("#kept path.curve")) == 2
    assert "1.5" in page.one("#kept .listing td.number").text


def test_schedules_may_have_more_bars_than_a_call_has_arguments(page):
    bars = 130_000
    path = page.script(
        """const column = (value) => new Array(arguments[0]).fill(value);
        const finish = column(1);
        finish[7] = 40;
        const target = element("div");
        drawSchedule(target, { title: "", facts: "", clusters: [["h", 1]], groups: ["a"],
          labels: [""], dates: [], group: column(0), start: column(0), finish,
          label: column(0), first: column(0), count: column(1) });
        return target.querySelector("svg g path").getAttribute("d");""",
        bars,
    )
    assert path.count("z") == bars
    # The last one ends where the frame does.
    ends = {float(end) for end in re.findall(r"H([\d.]+)v", path)}
    assert max(ends) == 600 - 22


def test_claims_by_verdict(page):
    assert page.one("#claims-count").text == "5 of 8 paper statements agree."
    rows = ".claims tbody tr:not([hidden])"
    assert len(page.all(rows)) == 8
    page.click('#claims-filter [value="disagree"]')
    shown = page.texts(f"{rows} td:first-child div:first-child")
    assert shown == ["claim 0", "claim 3", "claim 6"]
    assert set(page.texts(f"{rows} td:last-child")) == {"\u2717 disagrees"}
    assert page.one('#claims-filter [value="disagree"]').get_attribute("aria-pressed") == "true"
    page.click('#claims-filter [value="agree"]')
    assert len(page.all(rows)) == 5
    assert len(page.all("#claims-papers path.curve")) == 2
    widths = [each.size["width"] for each in page.all(f"{rows}:nth-child(2) td")]
    assert widths[0] > 0.45 * sum(widths)
    # The reason on demand.
    assert page.all(f"{rows} details:not([open])")
    # The figures of a paper are below its claims.
    papers = page.texts("#claims-papers h3")
    assert papers == ["bags", "market"]
    page.choose("claims-paper", "market")
    assert page.texts(f"#claims-papers > div:not([hidden]) {rows} td:first-child div") == ["other"]
    page.choose("claims-paper", "")
    page.use_window(420)
    lefts = "return [...document.querySelectorAll(arguments[0])].map((each) => each.offsetLeft)"
    for at in (2, 3, 4):
        assert len(set(page.script(lefts, f"{rows} td:nth-child({at})"))) == 1
    page.use_window()
    # Where there are claims they come first.
    assert page.texts("nav a")[0] == page.texts("section h2")[0] == "Claims"


def test_light_and_dark(page):
    def seen(scheme):
        """Return the theme and the background where the system prefers a scheme."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        paper = page.script("return getComputedStyle(document.documentElement).backgroundColor")
        return page.one("#theme").text, paper

    light, dark = "rgb(255, 255, 255)", "rgb(21, 24, 27)"
    for theme, papers in (
        ("as the system", (light, dark)),
        ("light", (light, light)),
        ("dark", (dark, dark)),
        ("as the system", (light, dark)),
    ):
        for scheme, paper in zip(("light", "dark"), papers, strict=True):
            assert seen(scheme) == (f"theme: {theme}", paper)
        page.click("#theme")


def test_nothing_is_wider_than_the_window(page):
    # Drawings are made anew for the width that there is.
    widths = """const svg = document.querySelector("#boxes svg");
        return [svg.getBoundingClientRect().width, svg.parentElement.clientWidth,
                Number(svg.getAttribute("width"))]"""
    for width in (400, 1600):
        page.use_window(width)
        page.wait(lambda: len({*map(round, page.script(widths))}) == 1)
    page.use_window()


def test_links_lead_to_files_beside_the_page(page, address):
    [link] = page.all("#files a")
    assert link.get_attribute("href") == address.replace("index.html", "figures/makespan-box.pdf")
    assert page.one("h1").text == "Which <scheduler> is fair?"
    facts = ["5 of 8 paper statements agree", "87 of 92 runs done", "3 failed", "2 not done yet"]
    assert page.one(".headline").text.split(" · ") == facts
    assert "SimGrid" in page.one("#facts").text


def test_a_report_of_claims_alone_has_no_empty_parts(open_report):
    claim = Claim("one", "yes", "yes", True, "why", "Table 1")
    page = open_report(CampaignReport("Claims", claims={"bags": (claim,)}))
    visible = [each.text for each in page.all("h2") if each.is_displayed()]
    assert visible == ["Claims"]
    assert [each.text for each in page.all("nav a") if each.is_displayed()] == ["Claims"]
    assert page.one(".headline").text == "1 of 1 paper statements agree"
    assert page.driver.get_log("browser") == []


def test_on_paper(page):
    page.click("#page-next")
    script = "dispatchEvent(new Event(arguments[0]))"
    page.script(script, "beforeprint")
    assert not page.all("details:not([open])")
    assert len(page.all("#runs-body tr")) == 90
    unprinted = page.all("#runs-head .unprinted")
    assert {each.get_attribute("data-column") for each in unprinted} == {"surplus", "error"}
    page.script(script, "afterprint")
    assert page.column("run")[0] == "25"
    assert page.all("details:not([open])")
    paper = page.driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    sizes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", base64.b64decode(paper["data"]))
    assert sizes
    assert all(float(width) > float(height) for width, height in sizes)
