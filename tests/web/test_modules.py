"""The page's pure modules against the golden transcripts and each rule, in node."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import segno

from sayso.protocol.visible import HIDDEN, revealed
from tests.machine import needed
from tests.protocol.test_visible import UNSEEN
from tests.protocol.transcripts import GOLDEN
from tests.repository.tree import ROOT

TESTS = Path(__file__).with_name("modules.test.mjs")
PLAYBACK = Path(__file__).with_name("playback.test.mjs")

DRAW = """
import { qr } from "./qr.js";
const rows = (text) => qr(text).map((row) => row.map(Number).join(""));
console.log(JSON.stringify(process.argv.slice(1).map(rows)));
"""


@pytest.fixture
def node() -> str:
    return needed("node", "nodejs")


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """The page's modules, where node takes .js for modules."""
    there = tmp_path / "web"
    shutil.copytree(ROOT / "client" / "web", there)
    (there / "package.json").write_text('{"type": "module"}')
    return there


def test_the_pages_qr_codes_are_those_of_a_library(node: str, web: Path) -> None:
    # As many characters as fit each version: what fills the rest up may differ, and means nothing.
    texts = [f"{'https://x/#' * 30}"[:room] for room in (17, 32, 53, 78, 106, 134, 154, 192, 230)]
    command = [node, "--input-type=module", "-e", DRAW, *texts]

    drawn = subprocess.run(command, capture_output=True, text=True, check=True, cwd=web).stdout

    for text, rows in zip(texts, json.loads(drawn), strict=True):
        masks = (
            segno.make(text, error="l", mode="byte", micro=False, boost_error=False, mask=mask)
            for mask in range(8)
        )
        drawings = (["".join(map(str, row)) for row in code.matrix] for code in masks)
        assert rows in list(drawings), text


@pytest.mark.slow
def test_the_pages_modules_keep_to_the_protocol(node: str, web: Path, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden.json"
    hidden.write_text(json.dumps([code for code in range(0x110000) if HIDDEN.search(chr(code))]))
    shown = tmp_path / "revealed.json"
    shown.write_text(json.dumps([(text, revealed(text)) for text in UNSEEN]))
    variables = os.environ | {
        "SAYSO_WEB": str(web),
        "SAYSO_GOLDEN": str(GOLDEN),
        "SAYSO_HIDDEN": str(hidden),
        "SAYSO_REVEALED": str(shown),
    }
    command = [node, "--test", str(TESTS)]

    run = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)

    assert run.returncode == 0, run.stdout + run.stderr


def test_the_page_tells_to_the_sample_what_was_heard(node: str, web: Path) -> None:
    variables = os.environ | {"SAYSO_WEB": str(web)}
    command = [node, "--test", str(PLAYBACK)]

    run = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)

    assert run.returncode == 0, run.stdout + run.stderr


def test_the_page_keeps_all_its_files_for_the_time_without_a_network() -> None:
    shell = (ROOT / "client" / "web" / "sw.js").read_text()
    files = {
        path.name
        for path in (ROOT / "client" / "web").iterdir()
        if path.is_file() and path.suffix != ".py"
    }
    own = {"sw.js", "index.html", "py.typed"}
    assert {name for name in files - own if f'"{name}"' not in shell} == set()
