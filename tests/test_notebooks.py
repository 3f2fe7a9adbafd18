"""A notebook run by a real kernel, whose thread has a running loop."""

import base64
import io

import nbformat
import pytest
from nbclient import NotebookClient
from PIL import Image

CELLS = (
    """
import asyncio
from simplugin import Cluster, Platform, campaign, simulate
from simplugin.reports import draw_platform, gantt

async def worker(me, flops):
    await me.execute(flops, label="<i>task</i>")
    return "<b>" + me.host.name

lab = Cluster("lab", "0-29", 1e9, bandwidth=125e6, latency=50e-6, prefix="lab-")
actors = [(host, worker, 1e9 * (1 + at)) for at, host in enumerate(lab.host_names())]
platform = Platform(lab)
platform
""",
    "draw_platform(platform)",
    "result = simulate(platform, actors, progress=lambda *news: print(*news))\nresult",
    "result.returned",
    "result.trace",
    "gantt(result)",
    "campaign(lambda given: {'square': given['x'] ** 2}, {'x': [1, 2, 3]}, progress=True, jobs=1)",
    "await asyncio.to_thread(lambda: simulate(platform, actors).clock)",
)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The outputs of the cells."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    directory = str(tmp_path_factory.mktemp("notebook"))
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": directory}})
    client.execute()
    return [cell.outputs for cell in notebook.cells]


def html(outputs):
    return outputs[-1]["data"]["text/html"]


def test_tables_show_themselves(outputs):
    assert "30 Gflop/s" in html(outputs[0])
    result = html(outputs[2])
    assert "ends at 30 s; actors: 30 ended; activities: 30" in result
    # The ten hosts that were busy longest, and no links: they carried nothing.
    assert result.index("lab-29<") < result.index("lab-20<")
    assert "lab-19<" not in result
    assert "and 20 more" in result
    assert "100.0 %" in result
    assert "platform_sha256" in result
    assert "lab_link" not in result
    assert len(outputs[2][-1]["data"]["text/plain"]) < 200


def test_texts_are_escaped(outputs):
    assert "&lt;b&gt;lab-0" in html(outputs[3])
    assert "&lt;i&gt;task" in html(outputs[4])
    assert not any("<i>" in html(outputs[at]) for at in (2, 3, 4))


def test_charts_show_themselves(outputs):
    for at in (1, 5):
        found = outputs[at][-1]
        image = Image.open(io.BytesIO(base64.b64decode(found["data"]["image/png"])))
        assert image.width == pytest.approx(1.5 * found["metadata"]["image/png"]["width"], abs=2)


def test_progress_is_one_text_and_no_warning(outputs):
    shown, rows = outputs[6]
    assert shown["data"]["text/plain"].startswith("3 of 3 done")
    assert "3 of 3 done, 0 failed" in rows["data"]["text/html"]
    [printed, _] = outputs[2]
    assert printed["name"] == "stdout"


def test_simulations_run_in_other_threads(outputs):
    assert outputs[7][-1]["data"]["text/plain"] == "30.0"
