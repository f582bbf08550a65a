"""The programs in docs/clients.md, each as it stands there, against a real server.

A program whose library is not installed is left out: `openai` and LangChain are, always.
"""

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso.protocol.home import Home
from sayso.server.trust.devices import Devices
from tests.kernels import lend_kernels
from tests.repository.tree import ROOT
from tests.rig import Server
from tests.scripted_model import ScriptedModel, runs, says

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

PAGE = (ROOT / "docs" / "clients.md").read_text()
BLOCK = re.compile(r"^#+ ([^\n]*)\n(?:(?!^#).)*?^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS: dict[str, str] = dict(BLOCK.findall(PAGE))
AGENTS = re.search(r"The same with `openai-agents`:\n\n```python\n(.*?)```", PAGE, re.DOTALL)
PROGRAMS: dict[str, str] = {**BLOCKS, "openai-agents": AGENTS.group(1) if AGENTS else ""}

RUN = """
import ast, asyncio, inspect, sys
flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
async def main():
    awaited = eval(compile(sys.stdin.read(), "docs/clients.md", "exec", flags=flags), {})
    if inspect.isawaitable(awaited):
        await awaited
asyncio.run(main())
"""
"""Runs a program that may await at its top, as notebooks do."""

WAIT_S = 90.0
ANSWER = "There are three files."


class Site:
    """A server that answers programs, and a program's key."""

    def __init__(self, server: Server, model: ScriptedModel, key: str) -> None:
        self.server = server
        self.model = model
        self.key = key


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    lend_kernels(home)
    (home / "settings.toml").write_text("[adapters]\nopenai = true\n")
    devices = Devices(Home(home, home, home).state / "devices.json")
    key = devices.add("Open WebUI", "", ("talk", "approve"))[1]
    with ScriptedModel() as model, Server(home, model) as server:
        yield Site(server, model, key)


def program(name: str) -> str:
    """A block, with what the page's first one makes where it is used."""
    code = PROGRAMS[name]
    needs_client = "client." in code and "client =" not in code
    first = PROGRAMS["Chat completions"].partition("answer =")[0]
    return first + code if needs_client else code


def test_each_client_of_the_page_has_its_program() -> None:
    there = {"Chat completions", "Responses", "Sound", "LangChain", "AutoGen", "CrewAI"}
    assert there | {"Speech both ways", "openai-agents"} == set(PROGRAMS)
    assert all(PROGRAMS.values())


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_the_page_does_what_it_says(site: Site, name: str, tmp_path: Path) -> None:
    code = program(name)
    imported = re.search(r"^from (\w+)", code, re.MULTILINE)
    assert imported
    if importlib.util.find_spec(imported.group(1)) is None:
        pytest.skip(f"{imported.group(1)} is not installed")
    site.model.forget()
    if name == "Responses":
        site.model.add(runs("print(1 + 2)"))
    site.model.add(*[says(ANSWER)] * 4)
    here = code.replace("127.0.0.1:8765", f"127.0.0.1:{site.server.port}")
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        input=here.replace("the key", site.key),
        cwd=tmp_path,
        env={**os.environ, "NO_PROXY": "*", "OPENAI_AGENTS_DISABLE_TRACING": "1"},
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    told = {"Sound": "roses are out", "openai-agents": "bytes of sound"}.get(name, "three files")
    assert told in done.stdout.lower()
