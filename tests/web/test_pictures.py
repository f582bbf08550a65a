"""The pictures in README can be taken anew."""

import subprocess
from html import unescape
from pathlib import Path

import pytest

from tests.machine import needed
from tests.pictures import scene
from tests.pictures.__main__ import PAGE, TERMINAL
from tests.repository.tree import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.browser,
    pytest.mark.timeout(400),
]


def test_the_pictures_show_a_conversation_with_an_open_question(tmp_path: Path) -> None:
    needed("tmux")
    needed("chromium")
    subprocess.run([ROOT / "scripts/pictures", tmp_path], check=True)
    drawn = unescape((tmp_path / TERMINAL).read_text()).replace("\N{NO-BREAK SPACE}", " ")
    for words in ("rain in May", "74 mm on 12 days", scene.TYPED, "May I run this bash?"):
        assert words in drawn
    assert (tmp_path / PAGE).read_bytes().startswith(b"\x89PNG")
