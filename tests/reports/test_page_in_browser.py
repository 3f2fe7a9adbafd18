"""The page, opened from a file in Debian's Chromium without a network, and used."""

import base64
import json
import math
import re
import shutil

import numpy as np
import pytest
from scipy.stats import gmean, wilcoxon
from scipy.stats import t as student
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

from simplugin.charts import Bar, ScheduleChart
from simplugin.claims import Claim
from simplugin.figures import Figure
from simplugin.listings import Listing
from simplugin.reports.comparisons import against, signed_rank_test
from simplugin.reports.page import CampaignReport, Column, KeptRun, write_page
from simplugin.reports.profiles import profiles
from simplugin.reports.statistics import summary

CHROMIUM, DRIVER = (shutil.which(name) for name in ("chromium", "chromedriver"))
pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="no chromium and chromedriver; `make test` installs them"
)
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
SCHEDULERS = ("bags.fcfs", "bags.prices", "bags.lag")
HOSTS, SEEDS = (10, 20, 40), range(1, 11)
EVIL = "link '<b>bb</b>' </script>\nTraceback: the rest"


@pytest.fixture(scope="module")
def rows():
    """What there is of each run: scheduler, hosts, seed, makespan, surplus, whether it failed."""
    rng = np.random.default_rng(5)
    found = []
    for scheduler in SCHEDULERS:
        for hosts in HOSTS:
            for seed in SEEDS:
                makespan = float(rng.lognormal(9 - hosts / 20, 0.4))
                surplus = float(rng.normal(0.5, 1.0))
                found.append([scheduler, hosts, seed, makespan, surplus, len(found) in (7, 31, 60)])
    found[3][3], found[4][3], found[5][3] = math.nan, math.inf, None
    # A tie with the baseline.
    found[40][3] = found[10][3]
    return found


@pytest.fixture(scope="module")
def report(rows):
    failed = [row[5] for row in rows]

    def measured(place):
        return [None if row[5] else row[place] for row in rows]

    time = np.linspace(0.0, 40.0, 3000)
    curves = Figure(
        "c", "Tasks done", "time [s]", "tasks", {"a": (time, time**2), "b": (time, 9 * time)},
        lines={"all": 1600.0},
    )  # fmt: skip
    chart = ScheduleChart(
        "s", "Two graphs", (("a", 4), ("b", 2)), ("one", "two"),
        (Bar(0, (0, 1, 3), 0.0, 4.0, "t1"), Bar(1, (2, 4), 1.0, 9.0, "t2")), dates={"bound": 8.0},
    )  # fmt: skip
    claims = tuple(
        Claim(f"claim {at}", 1.0 * at, 1.1 * at, at % 3 != 0, "why <i>not</i>", f"Table {at}")
        for at in range(7)
    )
    applications = Listing("Applications", (("name", ""), ("rate", "task/s")), (("a", 1.5),))
    return CampaignReport(
        title="Which <scheduler> is fair?",
        columns=(
            Column("scheduler.name", [row[0] for row in rows], role="varied"),
            Column("platform.hosts", [row[1] for row in rows], role="varied"),
            Column("platform.seed", [row[2] for row in rows], role="varied"),
            Column("makespan", measured(3), "s", sense="min"),
            Column("surplus", measured(4)),
            Column("digest", [f"{at:08x}" for at in range(len(rows))], role="other"),
        ),
        position=range(len(rows)),
        status=["failed" if each else "done" for each in failed],
        failure=["error" if each else "" for each in failed],
        error=[EVIL if each else "" for each in failed],
        total=len(rows) + 2,
        facts={"SimGrid": "4.1"},
        kept=(KeptRun("Run 0", 0, (curves,), chart, None, (applications,)), KeptRun("Run 9", 9)),
        claims={"bags": claims},
        figures={"bags": (curves,)},
    )


@pytest.fixture(scope="module")
def driver():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for option in OPTIONS:
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd(
        "Network.emulateNetworkConditions",
        {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0},
    )
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def address(report, tmp_path_factory):
    directory = tmp_path_factory.mktemp("report")
    (directory / "figures").mkdir()
    figure = directory / "figures" / "makespan-box.pdf"
    figure.write_bytes(b"%PDF")
    return write_page(report, directory, [figure]).as_uri()


@pytest.fixture
def page(driver, address):
    driver.get_log("performance")
    driver.get(address)
    yield Page(driver)
    # Whatever a test did, the page said nothing on the console and asked for nothing.
    assert driver.get_log("browser") == []
    events = [json.loads(each["message"])["message"] for each in driver.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert {each for each in asked if not each.startswith("data:")} == {address}


class Page:
    """The page as a user has it."""

    def __init__(self, driver):
        self.driver = driver

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        return self.driver.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)",
            selector,
        )

    def click(self, selector):
        element = self.one(selector)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def choose(self, name, value):
        Select(self.one(f"#{name}")).select_by_value(value)

    def wait(self, condition):
        WebDriverWait(self.driver, 10, 0.02).until(lambda _: condition())

    def filter(self, column, text, expected):
        field = self.one(f'[data-filter="{column}"]')
        field.clear()
        field.send_keys(text)
        self.wait(lambda: self.looked_at() == expected)

    def looked_at(self):
        return self.one("#looked-at").text

    def column(self, name):
        """Return what the table shows of a column."""
        heads = self.texts("#runs-table thead tr:first-child th")
        place = next(at for at, head in enumerate(heads) if head.split(" [")[0] == name) + 1
        return self.texts(f"#runs-body tr > :nth-child({place})")

    def numbers(self, table):
        """Return the numbers of a summary, by group and name, with all digits."""
        return self.driver.execute_script(
            """return Object.fromEntries(
              [...document.querySelectorAll(`#${arguments[0]} tr[data-group]`)].map((row) => [
                row.dataset.group,
                Object.fromEntries([...row.querySelectorAll("td")].map((cell) => [
                  cell.dataset.name, cell.dataset.value === "" ? null : Number(cell.dataset.value),
                ])),
              ]))""",
            table,
        )


def expected_summary(values):
    """Compute the summary with the functions that figures for papers use."""
    found = summary(values)
    return {
        "n": found.n,
        "missing": found.missing + found.infinite,
        "mean": found.mean,
        "mean-low": found.mean_interval and found.mean_interval.low,
        "geometric": found.geometric_mean,
        "geometric-low": found.geometric_interval and found.geometric_interval.low,
        "min": found.least,
        "q1": found.quartiles and found.quartiles[0],
        "median": found.median,
        "q3": found.quartiles and found.quartiles[1],
        "max": found.most,
    }


def check_numbers(page, rows, group, metric, chosen=lambda _: True):
    shown = page.numbers("summary")
    by_group = {}
    for row in filter(chosen, rows):
        by_group.setdefault(str(row[group]), []).append(None if row[5] else row[metric])
    assert page.texts("#summary tbody th") == list(by_group)
    for name, values in by_group.items():
        for key, value in expected_summary(values).items():
            assert shown[name][key] == (value and pytest.approx(value, rel=1e-9)), (name, key)


def check_comparison(page, rows, baseline, chosen=lambda _: True):
    values = {name: {} for name in SCHEDULERS}
    for row in filter(chosen, rows):
        values[row[0]][row[1], row[2]] = None if row[5] else row[3]
    shown = page.numbers("comparison")
    assert set(shown) == set(SCHEDULERS) - {baseline}
    comparisons = against(values, baseline, sense="min")
    for name, found in shown.items():
        wanted = comparisons[name]
        assert found["pairs"] == wanted.n
        counts = (found["below"], found["equal"], found["above"])
        assert counts == (wanted.wins, wanted.ties, wanted.losses)
        assert found["ratio"] == pytest.approx(wanted.ratio, rel=1e-9)
        assert found["ratio-low"] == pytest.approx(wanted.interval.low, rel=1e-9)
        assert found["p"] == pytest.approx(wanted.adjusted, rel=1e-9)
        assert found["alone"] == wanted.alone + wanted.missing


def test_numbers_are_those_of_the_figures_before_and_after_a_filter(page, rows):
    assert page.looked_at() == "90 runs"
    check_numbers(page, rows, 0, 3)
    check_comparison(page, rows, "bags.fcfs")
    page.choose("baseline", "bags.lag")
    check_comparison(page, rows, "bags.lag")
    page.filter("platform.hosts", ">10", "60 of 90 runs")
    check_numbers(page, rows, 0, 3, lambda row: row[1] > 10)
    check_comparison(page, rows, "bags.lag", lambda row: row[1] > 10)
    page.choose("metric", "surplus")
    check_numbers(page, rows, 0, 4, lambda row: row[1] > 10)
    assert "not defined" in page.one("#summary").text
    assert "not above 0" in page.one("#summary-note").text
    page.click("#clear")
    page.wait(lambda: page.looked_at() == "90 runs")
    page.choose("group", "platform.hosts")
    check_numbers(page, rows, 1, 4)
    page.click("#every-metric summary")
    page.wait(lambda: len(page.all("#every-summary tr[data-group]")) == 2 * 3)


def test_quantiles_of_student_are_right(page):
    freedoms = [*range(1, 200), 1000, 10_000, 100_000]
    found = page.driver.execute_script("return arguments[0].map(tQuantile)", freedoms)
    wanted = student.ppf(0.975, freedoms)
    np.testing.assert_allclose(found[:30], wanted[:30], rtol=1e-12)
    np.testing.assert_allclose(found[30:], wanted[30:], rtol=2e-8)


def test_plots_show_the_runs_that_are_looked_at(page, rows):
    finite = [row for row in rows if not row[5] and row[3] is not None and math.isfinite(row[3])]
    assert len(page.all("#boxes circle")) == len(finite)
    assert page.texts("#boxes text title") == list(SCHEDULERS)
    assert page.texts("#ecdf .legend li") == list(SCHEDULERS)
    dashes = {each.get_attribute("stroke-dasharray") for each in page.all("#ecdf path")}
    assert len(dashes) == len(SCHEDULERS)
    assert len(page.all("#across-plot circle")) == len(SCHEDULERS) * len(HOSTS)
    # Failed and missing runs are never reached: the last step is at the part that has a value.
    for name, path in zip(SCHEDULERS, page.all("#ecdf path"), strict=True):
        height = float(re.findall(r"V([\d.]+)", path.get_attribute("d"))[-1])
        reached = sum(row[0] == name for row in finite) / 30
        assert (236 - height) / 210 == pytest.approx(reached, abs=1e-3)
    marks = [float(each.get_attribute("data-value")) for each in page.all("#boxes .mean")]
    means = [np.mean([row[3] for row in finite if row[0] == name]) for name in SCHEDULERS]
    assert marks == pytest.approx(means)
    page.filter("scheduler.name", "lag", "30 of 90 runs")
    assert page.texts("#boxes text title") == ["bags.lag"]
    assert len(page.all("#boxes circle")) == sum(row[0] == "bags.lag" for row in finite)
    assert not page.one("#comparison-part").is_displayed()


def test_sorting_puts_numbers_in_order_and_missing_ones_last(page, rows):
    Select(page.one("#page-size")).select_by_value("100")
    head = 'th[data-column="makespan"]'
    assert page.column("makespan")[3] == "NaN"

    def key(at):
        return rows[at][3]

    known = [at for at, row in enumerate(rows) if not row[5] and row[3] is not None]
    known = [at for at in known if not math.isnan(rows[at][3])]
    rest = [at for at in range(len(rows)) if at not in known]
    page.click(f"{head} button")
    assert page.one(head).get_attribute("aria-sort") == "ascending"
    assert [int(each) for each in page.column("run")] == sorted(known, key=key) + rest
    page.click(f"{head} button")
    assert page.one(head).get_attribute("aria-sort") == "descending"
    # Stable: the tie stays in the order of positions.
    falling = sorted(known, key=lambda at: -key(at))
    assert [int(each) for each in page.column("run")] == falling + rest
    page.click('th[data-column="scheduler.name"] button')
    by_name = sorted(range(len(rows)), key=lambda at: rows[at][0])
    assert [int(each) for each in page.column("run")] == by_name
    assert page.one(head).get_attribute("aria-sort") == "none"


FILTERS = [
    ("platform.seed", "1..3", lambda row: 1 <= row[2] <= 3),
    ("platform.seed", ">3 <=9 != 5", lambda row: 3 < row[2] <= 9 and row[2] != 5),
    ("platform.seed", "1e1", lambda row: row[2] == 10),
    ("surplus", "< -0.5", lambda row: not row[5] and row[4] < -0.5),
    ("makespan", "none", lambda row: row[5] or row[3] is None or math.isnan(row[3])),
    ("scheduler.name", "BAGS.P", lambda row: row[0] == "bags.prices"),
    ("scheduler.name", "!prices", lambda row: row[0] != "bags.prices"),
    ("status", "=failed", lambda row: row[5]),
    ("scheduler.name", "nothing", lambda _: False),
    # As the page writes numbers; the last digit that it shows is not the last.
    ("makespan", "<1\u202f234.5", lambda row: not row[5] and (row[3] or math.inf) < 1234.5),
    ("surplus", "<\u22120.5", lambda row: not row[5] and row[4] < -0.5),
]


def test_filters(page, rows):
    for column, text, holds in FILTERS:
        wanted = [at for at, row in enumerate(rows) if holds(row)]
        page.filter(column, text, f"{len(wanted)} of 90 runs")
        assert [int(each) for each in page.column("run")] == wanted[:25], text
        page.click("#clear")
        page.wait(lambda: page.looked_at() == "90 runs")


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
    page.click("#clear")
    page.wait(lambda: page.looked_at() == "90 runs")
    assert field.get_attribute("value") == ""
    assert len(rows) == 90


def test_pages_of_the_table(page):
    assert [int(each) for each in page.column("run")] == list(range(25))
    assert page.one("#page-place").text == "1 to 25 of 90 runs"
    assert not page.one("#page-back").is_enabled()
    page.click("#page-next")
    assert [int(each) for each in page.column("run")] == list(range(25, 50))
    page.click("#page-last")
    assert page.one("#page-place").text == "76 to 90 of 90 runs"
    assert not page.one("#page-next").is_enabled()
    page.click("#page-first")
    assert page.one("#page-place").text == "1 to 25 of 90 runs"
    Select(page.one("#page-size")).select_by_value("100")
    assert len(page.column("run")) == 90


def test_details_and_failures(page):
    page.filter("status", "failed", "3 of 90 runs")
    button = '[data-run="31"]'
    page.one(button).send_keys("\n")
    assert page.one(button).get_attribute("aria-expanded") == "true"
    told = page.one("#runs-body .details").text
    assert EVIL in told
    assert "0000001f" in told
    assert page.driver.switch_to.active_element.get_attribute("data-run") == "31"
    page.one(button).send_keys("\n")
    assert not page.all("#runs-body .details")
    page.click("#clear")
    page.wait(lambda: page.looked_at() == "90 runs")
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
    found = page.driver.execute_script("return arguments[0].map(exact)", list(wanted))
    assert found == list(wanted.values())
    column = [1.5, -20.25, None, 1000.0, 1e-9]
    found = page.driver.execute_script("return arguments[0].map(writer(arguments[0]))", column)
    # Significant digits where values are decades apart, else equally many decimals.
    assert found == ["1.5000", "\u221220.250", "\u2013", "1000.0", "1.0000e\u22129"]
    column = [1.5, -20.25, 0.001]
    column[2] = 17.0
    found = page.driver.execute_script("return arguments[0].map(writer(arguments[0]))", column)
    assert found == ["1.500", "\u221220.250", "17.000"]
    sizes = [[1, 10, 100], [1, 2, 4, 8], [1, 2, 4], [1, 10, 90], [0, 1, 10], [1, 2, 3, 4]]
    found = page.driver.execute_script("return arguments[0].map(grows)", sizes)
    assert found == [True, True, False, False, False, False]
    found = page.driver.execute_script("return [NaN, Infinity, -Infinity].map(exact)")
    assert found == ["NaN", "\u221e", "\u2212\u221e"]


def test_single_runs(page):
    details = page.all("#kept-list > details")
    assert [each.get_attribute("open") is not None for each in details] == [True, False]
    # Processors 0, 1 and 3 of one cluster are two blocks; 2 and 4 are of two clusters.
    tips = page.texts("#kept .bars rect title")
    assert [tip.split("\n")[0] for tip in tips] == ["t1", "t1", "t2", "t2"]
    assert "bound 8 s" in page.one("#kept figure").text
    assert len(page.all("#kept path.curve")) == 2
    assert "1.5" in page.one("#kept .listing td.number").text


def test_claims_by_verdict(page):
    assert page.one("#claims-count").text == "4 of 7 claims agree."
    assert len(page.all("#claims-body tr")) == 7
    page.click('#claims-filter [value="disagree"]')
    shown = page.texts("#claims-body tr td:first-child div:first-child")
    assert shown == ["claim 0", "claim 3", "claim 6"]
    assert set(page.texts("#claims-body td:last-child")) == {"\u2717 disagrees"}
    assert page.one('#claims-filter [value="disagree"]').get_attribute("aria-pressed") == "true"
    page.click('#claims-filter [value="agree"]')
    assert len(page.all("#claims-body tr")) == 4
    assert len(page.all("#claim-figures path.curve")) == 2
    widths = [each.size["width"] for each in page.all("#claims-body tr:first-child td")]
    assert widths[0] > 0.45 * sum(widths)
    # Where there are claims they come first.
    assert page.texts("nav a")[0] == page.texts("section h2")[0] == "Claims"


def test_light_and_dark(page):
    def paper():
        script = "return getComputedStyle(document.documentElement).backgroundColor"
        return page.driver.execute_script(script)

    def prefer(scheme):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    light, dark = "rgb(255, 255, 255)", "rgb(21, 24, 27)"
    prefer("light")
    assert paper() == light
    prefer("dark")
    assert paper() == dark
    page.click("#theme")
    assert (page.one("#theme").text, paper()) == ("theme: light", light)
    page.click("#theme")
    prefer("light")
    assert (page.one("#theme").text, paper()) == ("theme: dark", dark)
    page.click("#theme")
    assert (page.one("#theme").text, paper()) == ("theme: as the system", light)


def test_nothing_is_wider_than_the_window(page):
    across = "return document.documentElement.scrollWidth"
    # Drawings are made anew for the width that there is.
    widths = """const svg = document.querySelector("#boxes svg");
        return [svg.getBoundingClientRect().width, svg.parentElement.clientWidth,
                Number(svg.getAttribute("width"))]"""
    for width in (400, 1600):
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        page.wait(lambda width=width: page.driver.execute_script(across) <= width)
        page.wait(lambda: len({*map(round, page.driver.execute_script(widths))}) == 1)
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_links_lead_to_files_beside_the_page(page, address):
    [link] = page.all("#files a")
    assert link.get_attribute("href") == address.replace("index.html", "figures/makespan-box.pdf")
    assert page.one("h1").text == "Which <scheduler> is fair?"
    assert (
        page.one(".headline").text
        == "4 of 7 claims agree · 87 of 92 runs done · 3 failed · 2 not done yet"
    )
    assert "SimGrid" in page.one("#facts").text


def test_a_report_of_claims_alone_has_no_empty_parts(driver, tmp_path):
    claim = Claim("one", "yes", "yes", True, "why", "Table 1")
    driver.get(write_page(CampaignReport("Claims", claims={"bags": (claim,)}), tmp_path).as_uri())
    page = Page(driver)
    visible = [each.text for each in page.all("h2") if each.is_displayed()]
    assert visible == ["Claims"]
    assert [each.text for each in page.all("nav a") if each.is_displayed()] == ["Claims"]
    assert page.one(".headline").text == "1 of 1 claims agree"
    assert driver.get_log("browser") == []


ERRORS = 25
LONG = "the_metric_of_which_the_name_" * 6


@pytest.fixture(scope="module")
def odd_rows():
    """Factor, seed beyond 2**53, number among equal runs, and value: some fail, each otherwise."""
    rng = np.random.default_rng(8)
    found = [
        [factor, 2**63 + seed, replicate, float(rng.lognormal(0, 4))]
        for replicate in range(2)
        for seed in range(4)
        for factor in (5.0, 0.5, None)
    ]
    return found + [[None, 2**63 + 100 + at, 0, None] for at in range(ERRORS)]


@pytest.fixture
def odd(driver, odd_rows, tmp_path):
    """Groups that are numbers or nothing, seeds that JavaScript cannot count, long names."""
    failed = [row[3] is None for row in odd_rows]
    names = {"s": ("a" * 30, "\u6d4b\u8bd5" * 20, "near the right end")}
    points = Figure("f", LONG, "x", "y", {"s": ([0, 1, 2], [1, 2, 3])}, names=names)
    report = CampaignReport(
        title="Odd",
        columns=(
            Column("workload.factor", [row[0] for row in odd_rows], role="varied"),
            Column("workload.seed", [row[1] for row in odd_rows], role="varied"),
            Column("spread", [row[3] for row in odd_rows], "s", sense="min"),
            Column(LONG, [float(at) for at in range(len(odd_rows))]),
        ),
        position=range(len(odd_rows)),
        status=["failed" if each else "done" for each in failed],
        failure=["error" if each else "" for each in failed],
        error=[f"=error {at}, of its own" if each else "" for at, each in enumerate(failed)],
        total=len(odd_rows),
        baseline=5,
        kept=(KeptRun(LONG, 1, (points,)),),
    )
    driver.get(write_page(report, tmp_path).as_uri())
    yield Page(driver)
    assert driver.get_log("browser") == []


def odd_ratio(rows, left_out=()):
    """Return what the page says of factor 0.5 relative to 5."""
    values = {tuple(row[:3]): row[3] for at, row in enumerate(rows) if at not in left_out}
    keys = [key[1:] for key in values if key[0] == 0.5 and (5.0, *key[1:]) in values]
    return len(keys), gmean([values[0.5, *key] / values[5.0, *key] for key in keys])


def test_groups_of_numbers_of_nothing_and_of_all(odd, odd_rows):
    assert odd.texts("#summary tbody th") == ["0.5", "5", "(none)"]
    assert odd.one("#comparison-title").text == "spread, relative to 5"
    shown = odd.numbers("comparison")
    assert set(shown) == {"0.5", "(none)"}
    pairs, ratio = odd_ratio(odd_rows)
    assert pairs == 8
    assert shown["0.5"]["pairs"] == pairs
    assert shown["0.5"]["ratio"] == pytest.approx(ratio)
    assert odd.numbers("summary")["(none)"]["missing"] == ERRORS
    # The first of two equal runs is gone: the second is still the second.
    odd.filter("spread", f"!={odd_rows[1][3]!r}", f"{len(odd_rows) - ERRORS - 1} of 49 runs")
    pairs, ratio = odd_ratio(odd_rows, left_out={1})
    shown = odd.numbers("comparison")
    assert (shown["0.5"]["pairs"], shown["0.5"]["alone"]) == (pairs, 0)
    assert shown["0.5"]["ratio"] == pytest.approx(ratio)
    # A scale of logarithms has geometric means.
    done = [(row[0], row[3]) for at, row in enumerate(odd_rows) if row[3] is not None and at != 1]
    means = [gmean([v for g, v in done if g == group]) for group in (0.5, 5.0, None)]
    marks = [float(each.get_attribute("data-value")) for each in odd.all("#boxes .mean")]
    assert marks == pytest.approx(means)
    # Seeds are no axis unless one wants them.
    assert not odd.one("#across-part").is_displayed()
    odd.choose("group", "")
    assert odd.texts("#summary tbody th") == ["all runs"]
    assert odd.texts("#across option[selected]") == ["workload.factor"]
    odd.choose("across", "workload.seed")
    assert odd.one("#across-part").is_displayed()


def test_numbers_keep_their_digits(odd, odd_rows):
    Select(odd.one("#page-size")).select_by_value("100")

    def plain(text):
        return text.replace("\u202f", "").replace("\u2212", "-")

    seeds = [row[1] for row in odd_rows]
    assert [int(plain(each)) for each in odd.column("workload.seed")] == seeds
    spread = odd.column("spread")[: len(odd_rows) - ERRORS]
    for text, row in zip(spread, odd_rows, strict=False):
        assert float(plain(text)) == float(f"{row[3]:.5g}")
    odd.click('th[data-column="workload.seed"] button')
    order = sorted(range(len(seeds)), key=seeds.__getitem__)
    assert [int(each) for each in odd.column("run")] == order
    odd.filter("workload.seed", f"={2**63 + 2}", "6 of 49 runs")
    odd.filter("workload.seed", f">{2**63 + 100}", f"{ERRORS - 1} of 49 runs")


def test_many_failures_and_long_names(odd):
    items = odd.all("#failure-list > li")
    assert len(items) == 21
    assert "5 more messages, of 5 runs" in items[-1].text
    odd.filter("spread", ">0", "24 of 49 runs")
    items[3].find_element(By.CSS_SELECTOR, "button").click()
    odd.wait(lambda: odd.looked_at() == "1 of 49 runs")
    assert odd.column("error") == ["=error 27, of its own"]
    odd.click("#failure-list > li:last-child button")
    assert len(odd.all("#failure-list > li")) == ERRORS
    odd.click("#clear")
    odd.choose("metric", LONG)
    ends = odd.driver.execute_script(
        """const svg = document.querySelector("#kept svg").getBoundingClientRect();
        return [...document.querySelectorAll("#kept circle ~ text")].map((text) => {
          const box = text.getBoundingClientRect();
          return [box.left - svg.left, svg.right - box.right];
        })"""
    )
    assert len(ends) == 3
    assert min(min(each) for each in ends) >= 0
    metrics = {"width": 400, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    odd.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    across = "return document.documentElement.scrollWidth"
    odd.wait(lambda: odd.driver.execute_script(across) <= 400)
    odd.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_parameters_of_one_scheduler_pair_no_runs_of_another(driver, tmp_path):
    steps = {"a": (0.1, 0.2), "b": (None,), "c": (0.2, 0.3)}
    rows = [(name, step, seed) for name in steps for step in steps[name] for seed in (1, 2, 3)]
    worth = {("a", 0.1): 10.0, ("a", 0.2): 20.0, ("b", None): 15.0, ("c", 0.2): 60.0}
    values = [worth.get(row[:2], 1.0) * row[2] for row in rows]
    empty = [""] * len(rows)
    report = CampaignReport(
        "Steps",
        (
            Column("scheduler.name", [row[0] for row in rows], role="varied"),
            Column("scheduler.parameters.step", [row[1] for row in rows], role="varied"),
            Column("platform.seed", [row[2] for row in rows], role="varied"),
            Column("makespan", values, sense="min"),
        ),
        range(len(rows)), ["done"] * len(rows), empty, empty, len(rows),
    )  # fmt: skip
    driver.get(write_page(report, tmp_path).as_uri())
    shown = Page(driver).numbers("comparison")
    # b knows no steps: it has a partner in the first run of a of each seed; c has those of 0.2.
    assert (shown["b"]["pairs"], shown["c"]["pairs"]) == (3, 3)
    assert shown["b"]["ratio"] == pytest.approx(1.5)
    assert shown["c"]["ratio"] == pytest.approx(3.0)


def test_signed_ranks_are_those_of_the_figures(page):
    rng = np.random.default_rng(4)
    samples = [rng.normal(0.3, 1.0, n) for n in (1, 2, 7, 20, 50, 51, 400)]
    samples += [rng.integers(-3, 5, n).astype(float) for n in (12, 50, 90)]
    samples += [np.zeros(4), np.arange(1.0, 61.0), np.arange(1.0, 31.0)]
    found = page.driver.execute_script(
        "return arguments[0].map(signedRankTest)", [each.tolist() for each in samples]
    )
    assert found == pytest.approx([signed_rank_test(each) for each in samples], rel=1e-9)
    assert found[3] == pytest.approx(wilcoxon(samples[3], method="exact").pvalue)


def test_profiles_are_those_of_the_figures(page, rows):
    values = {name: {} for name in SCHEDULERS}
    for row in rows:
        values[row[0]][row[1], row[2]] = None if row[5] else row[3]
    wanted = profiles(values, sense="min")
    found = page.driver.execute_script(
        """const found = profilesOf(view.metric, grouped(view.group, view.rows));
        return [found.n, found.groups.map((each) => [...each.ratios].filter(Number.isFinite))]"""
    )
    assert found[0] == wanted.n == 30
    for ratios, name in zip(found[1], SCHEDULERS, strict=True):
        finite = wanted.ratios[name][np.isfinite(wanted.ratios[name])]
        np.testing.assert_allclose(ratios, finite, rtol=1e-12)
    # The curve ends at the part of the instances that the scheduler solved.
    height = float(re.findall(r"V([\d.]+)", page.one("#profile path").get_attribute("d"))[-1])
    finite = np.isfinite(wanted.ratios[SCHEDULERS[0]]).sum()
    assert (236 - height) / 210 == pytest.approx(finite / 30, abs=1e-3)
    page.choose("metric", "surplus")
    assert not page.one("#profile-part").is_displayed()


def test_on_paper(page):
    page.click("#page-next")
    script = "dispatchEvent(new Event(arguments[0]))"
    page.driver.execute_script(script, "beforeprint")
    assert not page.all("details:not([open])")
    assert len(page.all("#runs-body tr")) == 90
    unprinted = {
        each.get_attribute("data-column") for each in page.all("#runs-head .unprinted")
    }  # fmt: skip
    assert unprinted == {"surplus", "error"}
    page.driver.execute_script(script, "afterprint")
    assert page.column("run")[0] == "25"
    assert page.all("details:not([open])")
    paper = page.driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    sizes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", base64.b64decode(paper["data"]))
    assert sizes
    assert all(float(width) > float(height) for width, height in sizes)
