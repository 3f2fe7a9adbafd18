"""Configuration of Sphinx for the site that ``make docs`` builds from the Markdown pages.

The pages stay plain Markdown. What Sphinx needs beside them is made here while it reads: captions
of code blocks with a file's name, tables of contents, and pages for the public names.
"""

from __future__ import annotations

import importlib
import inspect
import re
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

from simplugin.version import __version__

ROOT = Path(__file__).parents[1]

project = "simplugin"
author = "The simplugin authors"
release = version = __version__
root_doc = "README"
include_patterns = ["*.md", "benchmarks/*.md", "docs/**.md", "api/*.rst", "examples/**.md"]
exclude_patterns = [".*", "build", "dist", "wheelhouse", "out", "node_modules"]
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc"]
default_role = "py:obj"
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "mathml"  # the others need the network, or LaTeX
numpydoc_show_class_members = False
autodoc_default_options = {"members": True}
autodoc_typehints_format = "short"

html_theme = "furo"
html_title = "simplugin"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False

# Modules with public names that no package lists.
MODULES = ("simplugin.simulation.api", "simplugin.core.errors")
# Where names without a package in the text of pages are looked up.
HOMES = ("simplugin", "simplugin.platforms", "simplugin.simulation", "simplugin.core.errors")
# A code block that the tests write to a file: its name follows the language.
NAMED_BLOCK = re.compile(r"^(`{3,})(\w+)[ \t]+(\S+)$", re.MULTILINE)
CITATION = re.compile(r"(\[\d+\])_")
GROUP = re.compile(r"^\*\*(.+)\*\*$", re.MULTILINE)
ANNOTATED = re.compile(r"~?(?:typing\.)?Annotated\[")
PAGE = re.compile(r"^- \[([^\]]+)\]\(([^)#]+)\.md\)", re.MULTILINE)
# Folders whose pages are not in the navigation: other pages list them.
LISTED = (
    "benchmarks/platforms",
    "docs/contributing/",
    "docs/decisions/",
    "docs/simgrid/",
    "examples/",
)
# What the theme writes, and what screen readers and keyboards need instead: regions that scroll can
# be reached, headings have levels, landmarks have names, lists have items, and empty cells are no
# headers.
ACCESSIBLE = {
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Pages">',
    '<aside class="toc-drawer': '<aside aria-label="This page" class="toc-drawer',
    '<th class="head"><p></p></th>': "<td></td>",
    'role="doc-biblioentry"': 'role="listitem"',
    '<div id="search-results"></div>': '<h1>Search</h1><div id="search-results"></div>',
}


def prepare(_: Sphinx, docname: str, content: list[str]) -> None:
    """Add captions and tables of contents to a page that Sphinx has read."""
    text = NAMED_BLOCK.sub(r"\1{code-block} \2\n:caption: \3", content[0])
    if docname.startswith(LISTED):
        text = f"---\norphan: true\n---\n{text}"
    content[0] = text + "".join(contents_of(docname, text))


def contents_of(docname: str, text: str) -> list[str]:
    """Return what follows a page: a table of contents of its links, or of the pages of its folder.

    The folder of ``platforms.md`` is ``platforms``, that of a ``README.md`` is its own.
    """
    if docname == root_doc:
        _, *groups = GROUP.split(text.partition("## Where to go")[2])
        pages = {
            name: [f"{title} <{page}>" for title, page in PAGE.findall(links)]
            for name, links in zip(groups[::2], groups[1::2], strict=True)
        }
        pages["Reference"].append("api/index")
        others = sorted(f"docs/{each.stem}" for each in (ROOT / "docs").glob("*.md"))
        pages["Project"] += [each for each in others if f"({each}.md)" not in text]
        return [table(name, pages[name]) for name in pages]
    folder = ROOT / docname.removesuffix("README")
    if not docname.startswith("docs/") or not folder.is_dir():
        return []
    found = sorted(each.name for each in folder.glob("[!R]*.md"))
    if docname.startswith(LISTED):
        return ["\n\n", *(f"- [](./{each})\n" for each in found if f"]({each})" not in text)]
    return [table("", [f"/docs/{folder.name}/{each}" for each in found])]


def table(caption: str, pages: list[str]) -> str:
    """Return a hidden table of contents, which the navigation shows."""
    options = ":hidden:\n" + (f":caption: {caption}\n" if caption else "")
    return "\n\n```{toctree}\n" + options + "\n" + "\n".join(pages) + "\n```\n"


def write_reference(_: Sphinx) -> None:
    """Write a page for each package with public names."""
    directory = ROOT / "api"
    directory.mkdir(exist_ok=True)
    stubs = sorted((ROOT / "simplugin").glob("**/__init__.pyi"))
    packages = [".".join(each.parent.relative_to(ROOT).parts) for each in stubs]
    public = {name: public_names(importlib.import_module(name)) for name in (*packages, *MODULES)}
    pages = {name: package_page(name, public) for name in public}
    pages["index"] = "\n".join(
        ["API reference", "=============", "", ".. toctree::", "   :maxdepth: 1", ""]
        + [f"   {name}" for name in sorted(pages)]
    )
    for name, text in pages.items():
        file = directory / f"{name}.rst"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def public_names(module: ModuleType) -> dict[str, Any]:
    """Return what a package lists in its stub, or the classes of a module and those below it."""
    if hasattr(module, "__getattr__"):
        return {name: getattr(module, name) for name in sorted(module.__all__, key=str.lower)}
    found = inspect.getmembers(module, inspect.isclass)
    return {name: value for name, value in found if value.__module__.startswith(module.__name__)}


def package_page(package: str, public: dict[str, dict[str, Any]]) -> str:
    """Return the page of a package; names that come from another one are links."""
    lines = [package, "=" * len(package), "", f".. automodule:: {package}", "   :no-members:", ""]
    bodies = [f".. currentmodule:: {package}"]
    for name, value in public[package].items():
        place = home(package, name, value, public)
        kind = "function" if inspect.isroutine(value) else "data"
        kind = "class" if inspect.isclass(value) else kind
        summary = "" if kind == "data" else (inspect.getdoc(value) or "").partition("\n")[0]
        lines.append(f"- :py:obj:`~{place}.{name}`: {unlinked(summary)}".removesuffix(": "))
        if place == package:
            bodies += ["", f".. auto{kind}:: {name}"]
            if package == MODULES[0]:  # what hosts and links share is not public by itself
                bodies.append("   :inherited-members: Protocol")
    return "\n".join([*lines, "", *bodies, ""])


def home(package: str, name: str, value: Any, public: dict[str, dict[str, Any]]) -> str:
    """Return the package that documents a name: the innermost one around its definition."""
    module = f"{getattr(value, '__module__', '')}."
    around = [each for each in public if module.startswith(f"{each}.") and name in public[each]]
    return max(around, key=len, default=package)


def unlinked(text: str) -> str:
    """Return a text in which numbers of references are no links."""
    return CITATION.sub(r"\1", text)


def unlink_citations(*arguments: Any) -> None:
    """Leave numbers of references that another docstring lists as text."""
    lines = arguments[-1]
    if not any(line.lstrip().startswith(".. [") for line in lines):
        lines[:] = map(unlinked, lines)


def plain_types(*arguments: Any) -> tuple[str | None, str | None]:
    """Return a signature without what validates its types: X instead of Annotated[X, ...]."""
    signature, result = arguments[-2:]
    while signature and (found := ANNOTATED.search(signature)):
        start = at = found.end()
        depth, end = 1, None
        while depth:
            depth += {"[": 1, "(": 1, "]": -1, ")": -1}.get(signature[at], 0)
            if end is None and depth == 1 and signature[at] == ",":
                end = at
            at += 1
        signature = signature[: found.start()] + signature[start:end] + signature[at:]
    return signature, result


class LinkNames(SphinxPostTransform):
    """Link public names in the text of pages to the reference.

    A name without a package is looked up in the one that has the page's name, then in others; plain
    words such as ``fair`` are no names.
    """

    default_priority = 5

    def run(self, **_: Any) -> None:
        """Wrap the literals that are public names."""
        objects = self.env.domains.python_domain.objects
        page = self.env.docname.rpartition("/")[2]
        for literal in list(self.document.findall(nodes.literal)):
            name = literal.astext().removesuffix("()").removesuffix("(...)")
            homes = (f"simplugin.{page}", *HOMES)
            names = [name] if name.startswith("simplugin.") else []
            if re.search("[A-Z]|_", name) or name == "simulate":
                names += [f"{each}.{name}" for each in homes]
            found = next((each for each in names if each in objects), None)
            if found and not isinstance(literal.parent, nodes.reference | nodes.title):
                entry = objects[found]
                link = make_refnode(
                    self.app.builder,
                    self.env.docname,
                    entry.docname,
                    entry.node_id,
                    literal.deepcopy(),
                    found,
                )
                literal.replace_self(link)


def write_formula(writer: Any, node: nodes.Element) -> None:
    """Write a formula as MathML, which browsers show by themselves."""
    block = isinstance(node, nodes.math_block)
    formula = node.astext().replace(r"\dots", r"\ldots")  # docutils knows the second only
    writer.body.append(tex2mathml(formula, as_block=block))
    raise nodes.SkipNode


def finish(app: Sphinx, error: Exception | None) -> None:
    """Make the pages accessible, and give the first one the name that browsers look for."""
    if error is not None or app.builder.format != "html":
        return
    for file in app.outdir.glob("**/*.html"):
        text = file.read_text(encoding="utf-8")
        for found, better in ACCESSIBLE.items():
            text = text.replace(found, better)
        file.write_text(text, encoding="utf-8")
    shutil.copyfile(app.outdir / "README.html", app.outdir / "index.html")


def setup(app: Sphinx) -> None:
    """Connect the functions above."""
    app.add_html_math_renderer("mathml", (write_formula, None), (write_formula, None))
    app.add_post_transform(LinkNames)
    app.connect("builder-inited", write_reference)
    app.connect("source-read", prepare)
    app.connect("autodoc-process-signature", plain_types)
    app.connect("autodoc-process-docstring", unlink_citations, priority=100)
    app.connect("build-finished", finish)
