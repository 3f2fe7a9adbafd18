"""The page of a calibration."""

import json

import pytest
from calibration import closed_form, write_study

from simplugin.calibration.calibrating import calibrate_predictions
from simplugin.cli.calibrate import write_calibration_page

WIDTH = "return document.documentElement.scrollWidth"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return a calibration and its page."""
    place = tmp_path_factory.mktemp("calibration")
    options = 'held_out = ["r2", "r7"]\nevaluations = 150'
    study, predictions = closed_form(write_study(place, options=options))
    found = calibrate_predictions(study, predictions)
    return found, write_calibration_page(study, found, place / "page")


def test_a_browser_shows_a_calibration(driver, written):
    """Every evaluation and row has its mark, in both themes and on narrow windows."""
    found, page = written
    driver.get_log("browser")
    driver.get(page.as_uri())
    assert driver.get_log("browser") == []

    def texts(selector):
        """Return the texts of visible elements."""
        every = """return [...document.querySelectorAll(arguments[0])].filter(
            (each) => each.offsetParent).map((each) => each.innerText)"""
        return driver.execute_script(every, selector)

    assert texts("h2") == ["Calibration", "Figures to download"]
    assert texts("nav a") == texts("h2")
    titles = ["Result", "Fit", "Profiles", "Pairs of parameters (at most 10)"]
    assert texts("#kept-list summary") == titles
    rows = texts(".listing tr td:nth-child(3)")
    assert rows.count("held out") == 2
    counts = """return Object.fromEntries([...document.querySelectorAll("#kept figure")].map(
        (each) => [each.querySelector("h4").innerText,
            [...each.querySelectorAll("svg[role] g g")].map((one) => [
                one.querySelector("title")?.textContent ?? "",
                one.querySelectorAll("path[transform]").length])]))"""
    marks = {title: dict(each) for title, each in driver.execute_script(counts).items()}
    assert len(marks) == 2 + 3 + 3
    assert marks["Predicted makespan"]["fitted"] == 10
    assert marks["Predicted makespan"]["held out"] == 2
    search = marks["Loss over the evaluations of the search"]
    assert search["evaluation"] == len(found.history)
    assert marks["Profile of platform.parameters.speed"]["evaluated"] == len(
        found.parameters[0].curve
    )
    pair = marks[f"Evaluations by {found.parameters[0].key} and {found.parameters[1].key}"]
    assert sum(pair.values()) == len(found.history)
    links = driver.execute_script(
        "return [...document.querySelectorAll('#files a')].map((a) => a.href)"
    )
    assert {each.rpartition("/")[2] for each in links} == {
        each.name for each in (page.parent / "figures").iterdir() if each.suffix != ".sha256"
    }
    for width, scheme in ((1400, "light"), (1400, "dark"), (420, "light"), (420, "dark")):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        assert driver.execute_script(WIDTH) <= width
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_its_data_are_those_of_the_result(written):
    """The page has the values of the parameters, and every prediction."""
    found, page = written
    text = page.read_text(encoding="utf-8")
    start = text.index('id="data">') + len('id="data">')
    document = json.loads(text[start : text.index("</script>", start)])
    tables = {each["title"]: each["lines"] for each in document["kept"][0]["listings"]}
    values = [float(line[1]) for line in tables["Parameters"]]
    assert values == pytest.approx([each.value for each in found.parameters], rel=1e-4)
    assert [line[4] for line in tables["Values"]] == [each.calibrated for each in found.values]
    assert [line[0] for line in tables["Findings"]] == found.findings()
