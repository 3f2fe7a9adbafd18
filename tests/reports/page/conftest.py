"""A browser, and a report in it: Debian's Chromium, which opens files without a network."""

import json
import math
import shutil
from itertools import product

import numpy as np
import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

from simplugin.reports.page import CampaignReport, Column, KeptRun, write_page
from simplugin.results.charts import Bar, ScheduleChart
from simplugin.results.claims import Claim
from simplugin.results.curves import CurvePlot
from simplugin.results.tables import ResultTable

CHROMIUM, DRIVER = (shutil.which(name) for name in ("chromium", "chromedriver"))

OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
SCHEDULERS = ("bags.fcfs", "bags.prices", "bags.lag")
HOSTS, SEEDS = (10, 20, 40), range(1, 11)
VARIED = tuple(enumerate(("scheduler.name", "platform.hosts", "platform.seed")))
EVIL = "link '<b>bb</b>' </script>\nTraceback: the rest"


@pytest.fixture(scope="session")
def rows():
    """Return the columns of runs: scheduler, hosts, seed, makespan, surplus, failure."""
    rng = np.random.default_rng(5)
    found = []
    for varied in product(SCHEDULERS, HOSTS, SEEDS):
        measured = float(rng.lognormal(9 - varied[1] / 20, 0.4)), float(rng.normal(0.5, 1.0))
        found.append([*varied, *measured, len(found) in (7, 31, 60)])
    found[3][3], found[4][3], found[5][3] = math.nan, math.inf, None
    # A tie with the baseline.
    found[40][3] = found[10][3]
    return found


@pytest.fixture(scope="session")
def report(rows):
    failed = [row[5] for row in rows]

    def measured(place):
        return [None if row[5] else row[place] for row in rows]

    time = np.linspace(0.0, 40.0, 3000)
    series = {"a": (time, time**2), "b": (time, 9 * time)}
    curves = CurvePlot("c", "Tasks done", "time [s]", "tasks", series, lines={"all": 1600.0})
    bars = Bar(0, (0, 1, 3), 0.0, 4.0, "t1"), Bar(1, (2, 4), 1.0, 9.0, "t2")
    clusters, dates = (("a", 4), ("b", 2)), {"bound": 8.0}
    chart = ScheduleChart("s", "Two graphs", clusters, ("one", "two"), bars, dates=dates)
    claims = tuple(
        Claim(f"claim {at}", 1.0 * at, 1.1 * at, at % 3 != 0, "why <i>not</i>", f"Table {at}")
        for at in range(7)
    )
    applications = ResultTable("Applications", (("name", ""), ("rate", "task/s")), (("a", 1.5),))
    return CampaignReport(
        title="Which <scheduler> is fair?",
        columns=(
            *(Column(name, [row[at] for row in rows], role="varied") for at, name in VARIED),
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
        claims={"bags": claims, "market": (Claim("other", "yes", "yes", True, "why", "Figure 2"),)},
        figures={"bags": (curves,)},
    )


@pytest.fixture(scope="session")
def driver():
    if not (CHROMIUM and DRIVER):
        pytest.skip("no chromium and chromedriver; `make test` installs them")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for option in OPTIONS:
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.execute_cdp_cmd("Network.enable", {})
    offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
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
    # No test may cause console messages or network requests.
    assert driver.get_log("browser") == []
    events = [json.loads(each["message"])["message"] for each in driver.get_log("performance")]
    sent = [each["params"] for each in events if each["method"] == "Network.requestWillBeSent"]
    asked = {each["request"]["url"] for each in sent}
    assert {url for url in asked if not url.startswith("data:")} == {address}


ACROSS = "return document.documentElement.scrollWidth"


class Page:
    """The page in a browser."""

    def __init__(self, driver):
        self.driver = driver

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def script(self, script, *arguments):
        """Return what a script in the page returns."""
        return self.driver.execute_script(script, *arguments)

    def texts(self, selector):
        all_of = "[...document.querySelectorAll(arguments[0])]"
        return self.script(f"return {all_of}.map((each) => each.textContent)", selector)

    def use_window(self, width=None):
        """Give the window a width, or its own."""
        if width is None:
            self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        else:
            metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
            self.wait(lambda: self.script(ACROSS) <= width)

    def runs(self):
        """Return the numbers of the runs that the table shows."""
        return [int(each) for each in self.column("run")]

    def clear(self):
        """Remove all filters."""
        self.click("#clear")
        self.wait(lambda: " of " not in self.looked_at())

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
        """Return the cells of a column of the table."""
        heads = self.texts("#runs-table thead tr:first-child th")
        place = next(at for at, head in enumerate(heads) if head.split(" [")[0] == name) + 1
        return self.texts(f"#runs-body tr > :nth-child({place})")

    def numbers(self, table):
        """Return the numbers of a summary, by group and name, with all digits."""
        rows = self.script(
            """return [...document.querySelectorAll(`#${arguments[0]} tr[data-group]`)].map(
              (row) => [row.dataset.group, [...row.querySelectorAll("td")].map(
                (cell) => [cell.dataset.name, cell.dataset.value])])""",
            table,
        )
        return {
            group: {name: float(value) if value else None for name, value in cells if name}
            for group, cells in rows
        }


@pytest.fixture
def open_report(driver, tmp_path):
    """Return a function that opens a report as a page."""

    def opened(report):
        driver.get(write_page(report, tmp_path).as_uri())
        return Page(driver)

    return opened
