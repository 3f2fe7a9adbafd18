"""The code of README.md and of the pages in docs works as it is shown."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from PIL import Image
from xml_zones import zone_xml

import gallery

ROOT = Path(__file__).parents[2]
# Those of the other folders show output of programs that take long, or C++.
FOLDERS = ("docs", "docs/how-to", "docs/platforms")
PAGES = [
    ROOT / "README.md",
    *(page for each in FOLDERS for page in sorted((ROOT / each).glob("*.md"))),
]
BLOCK = re.compile(r"^```(\w+)[ \t]*(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What the pages may name, as from the project's root.
SHOWN = ("scenarios", "platforms_xml", "deployments")
# Pages may run something on "platform.xml".
PLATFORM = zone_xml("""
    <host id="Tremblay" speed="1Gf"/>
    <host id="Jupiter" speed="1Gf"/>
    <host id="Fafard" speed="1Gf"/>
    <link id="bus" bandwidth="125MBps" latency="50us"/>
    <route src="Tremblay" dst="Jupiter"><link_ctn id="bus"/></route>
    <route src="Tremblay" dst="Fafard"><link_ctn id="bus"/></route>
    <route src="Jupiter" dst="Fafard"><link_ctn id="bus"/></route>
""")


@dataclass
class Block:
    language: str
    file: str
    text: str
    line: int


def blocks_of(page):
    text = page.read_text(encoding="utf-8")
    return [
        Block(match[1], match[2], match[3], text.count("\n", 0, match.start()) + 1)
        for match in BLOCK.finditer(text)
    ]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A directory where a page's code finds what it names; its modules are forgotten afterwards."""
    for name in SHOWN:
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "platform.xml").write_text(PLATFORM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def run_python(blocks, page):
    # All blocks of a page are one program, with the page's line numbers in its tracebacks.
    program = vars(sys.modules["__main__"])
    program["Path"] = Path
    for block in blocks:
        exec(compile("\n" * block.line + block.text, str(page), "exec"), program)


def run(command, place, simplugin):
    """Return the status of a command, and what it printed."""
    if command.startswith("simplugin "):
        done = simplugin(*shlex.split(command)[1:], cwd=place, merge=True)
        return done.returncode, done.stdout
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", f"exec 2>&1; {command}"],
        cwd=place,
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def run_console(block, page, place, simplugin):
    status = 0
    for command, shown in commands_of(block.text):
        if command == "echo $?":
            assert shown == [str(status)], f"{page.name}:{block.line}: status {status}"
            status = 0
            continue
        assert status == 0, f"{page.name}:{block.line}: status {status} before {command!r}"
        status, printed = run(command, place, simplugin)
        check_output(shown, printed, f"{page.name}:{block.line}: {command}")
    assert status == 0, f"{page.name}:{block.line}: status {status}"


def commands_of(text):
    commands = []
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        else:
            commands[-1][1].append(line)
    return commands


def check_output(shown, output, where):
    """Shown lines appear in order, one after the other unless `...` is between them."""
    lines = iter(" ".join(line.split()) for line in output.splitlines() if line.strip())
    anywhere = False
    for expected in (" ".join(line.split()) for line in shown if line.strip()):
        if expected == "...":
            anywhere = True
            continue
        for line in lines:
            if line == expected:
                break
            assert anywhere, f"{where}\nshown: {expected}\nprinted:\n{output}"
        else:
            pytest.fail(f"{where}\nshown: {expected}\nprinted:\n{output}")
        anywhere = False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_code_works(page, place, simplugin):
    blocks = blocks_of(page)
    for block in blocks:
        if block.file:
            (place / block.file).write_text(block.text, encoding="utf-8")
    if program := [b for b in blocks if b.language == "python" and not b.file]:
        run_python(program, page)
    for block in blocks:
        if block.language == "console":
            run_console(block, page, place, simplugin)
    pairs = gallery.pictures(page)
    assert [made for stored, made in pairs if not gallery.alike(stored, place / made)] == []


def test_pictures_of_the_gallery_are_all_shown_and_small():
    shown = {stored for stored, _ in gallery.pictures(gallery.PAGE)}
    assert shown == set((ROOT / "docs/gallery").iterdir())
    assert sum(path.stat().st_size for path in shown) < 2_000_000


def test_a_picture_of_something_else_is_noticed(tmp_path):
    one, other = sorted(stored for stored, _ in gallery.pictures(gallery.PAGE))[:2]
    assert gallery.alike(one, one)
    assert not gallery.alike(one, other)
    # Bars of another length, as of another run.
    with Image.open(one) as image:
        changed = image.convert("RGB")
    changed.paste("#d55e00", (200, 100, 500, 160))
    changed.save(tmp_path / "changed.png")
    assert not gallery.alike(one, tmp_path / "changed.png")


def test_contributing_names_every_directory():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    packages = [path.parent.name for path in (ROOT / "simplugin").glob("*/__init__.py")]
    assert [name for name in packages if f"`simplugin/{name}/`" not in text] == []
