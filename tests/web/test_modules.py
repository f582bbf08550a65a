"""The page's pure modules against the golden transcripts and each rule, in node."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.protocol.transcripts import GOLDEN
from tests.repository.tree import ROOT

TESTS = Path(__file__).with_name("modules.test.mjs")


def test_the_pages_modules_keep_to_the_protocol(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        if os.environ.get("SAYSO_TEST_EVERYTHING"):
            pytest.fail("node is missing: apt install nodejs", pytrace=False)
        pytest.skip("node is not installed")
    # Outside of this folder node takes .js for modules only if a package.json says so.
    web = tmp_path / "web"
    shutil.copytree(ROOT / "client" / "web", web)
    (web / "package.json").write_text('{"type": "module"}')
    variables = os.environ | {"SAYSO_WEB": str(web), "SAYSO_GOLDEN": str(GOLDEN)}
    command = [node, "--test", str(TESTS)]

    run = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)

    assert run.returncode == 0, run.stdout + run.stderr


def test_the_page_keeps_all_its_files_for_the_time_without_a_network() -> None:
    shell = (ROOT / "client" / "web" / "sw.js").read_text()
    files = {path.name for path in (ROOT / "client" / "web").iterdir() if path.suffix != ".py"}
    own = {"sw.js", "index.html", "py.typed"}
    assert {name for name in files - own if f'"{name}"' not in shell} == set()
