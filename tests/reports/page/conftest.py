"""A browser, and a report in it: Debian's Chromium, which opens files without a network."""

import json
import math
import shutil

import numpy as np
import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

from simplugin.charts import Bar, ScheduleChart
from simplugin.claims import Claim
from simplugin.figures import Figure
from simplugin.listings import Listing
from simplugin.reports.page import CampaignReport, Column, KeptRun, write_page

CHROMIUM, DRIVER = (shutil.which(name) for name in ("chromium", "chromedriver"))

OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
SCHEDULERS = ("bags.fcfs", "bags.prices", "bags.lag")
HOSTS, SEEDS = (10, 20, 40), range(1, 11)
EVIL = "link '<b>bb</b>' </script>\nTraceback: the rest"


@pytest.fixture(scope="session")
def rows():
    """Return the columns of runs: scheduler, hosts, seed, makespan, surplus, failure."""
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


@pytest.fixture(scope="session")
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
    driver.execute_cdp_cmd(
        "Network.emulateNetworkConditions",
        {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0},
    )
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
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert {each for each in asked if not each.startswith("data:")} == {address}


class Page:
    """The page in a browser."""

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
        """Return the cells of a column of the table."""
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


@pytest.fixture
def open_report(driver, tmp_path):
    """Return a function that opens a report as a page."""

    def opened(report):
        driver.get(write_page(report, tmp_path).as_uri())
        return Page(driver)

    return opened
