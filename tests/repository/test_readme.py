"""What README shows is there and small enough for a slow line, and what it says to say works."""

import re
from pathlib import Path

import pytest

from sayso.server.reflexes.matching import Reflexes
from tests.repository.tree import ROOT

PICTURE_BYTES = 200_000
"""Three seconds on a line of half a megabit."""

README = (ROOT / "README.md").read_text()
PICTURES = {
    Path(found[1]).stem: (ROOT / found[1], found[0])
    for found in re.finditer(r'<img\s[^>]*src="([^"]+)"[^>]*>', README)
}
EXAMPLES = dict(re.findall(r'^\| "([^"]+)" \| (.+) \|$', README, re.MULTILINE))
TRIED_WITH_THE_POCKET_MODEL = (ROOT / "tests/e2e/test_out_of_the_box.py").read_text().lower()
TRIED_FOR_THE_PICTURE = (ROOT / "tests/pictures/scene.py").read_text().lower()


def test_readme_shows_the_terminal_and_the_page() -> None:
    assert set(PICTURES) == {"terminal", "page"}


@pytest.mark.parametrize("name", ["terminal", "page"])
def test_a_picture_in_readme_exists_is_small_and_is_told_in_words(name: str) -> None:
    path, tag = PICTURES[name]
    assert 0 < path.stat().st_size <= PICTURE_BYTES
    assert re.search(r'alt="[^"]{20,}"', tag)


def test_each_example_in_readme_is_one_that_is_tried() -> None:
    reflexes = Reflexes.load("en")
    assert len(EXAMPLES) == 5
    for words, told in EXAMPLES.items():
        if "No model takes part" in told:
            assert reflexes.match(words), words
        else:
            tried = TRIED_WITH_THE_POCKET_MODEL + TRIED_FOR_THE_PICTURE
            assert words.lower().rstrip("?.") in tried, words
