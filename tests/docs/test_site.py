"""The check of the built site finds broken links."""

import pytest

from check_site import faults


@pytest.fixture
def site(tmp_path):
    (tmp_path / "other.html").write_text('<h1 id="here">Other</h1>')

    def write(body):
        (tmp_path / "index.html").write_text(f"<body>{body}</body>")
        return list(faults(tmp_path))

    return write


@pytest.mark.parametrize(
    "body",
    [
        '<a href="other.html#here">in another page</a>',
        '<p id="top"><a href="#top">in this page</a></p>',
        '<a href="https://simgrid.org">elsewhere</a>',
    ],
)
def test_links_that_lead_somewhere(site, body):
    assert site(body) == []


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="gone.html">', "index.html: gone.html leads to no file"),
        ('<img src="gone.png">', "index.html: gone.png leads to no file"),
        ('<a href="#gone">', "index.html: #gone leads to no place of the page"),
        ('<a href="other.html#gone">', "index.html: other.html#gone leads to no place of the page"),
        ('<script src="https://cdn.org/a.js">', "index.html: loads https://cdn.org/a.js"),
        ('<link href="//cdn.org/a.css">', "index.html: loads //cdn.org/a.css"),
    ],
)
def test_faults(site, body, fault):
    assert site(body) == [fault]


def test_a_site_without_pages(tmp_path):
    assert len(list(faults(tmp_path))) == 1
