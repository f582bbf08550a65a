"""What changed between two trees, written in each form of edits, makes the newer of the older."""

from pathlib import Path

import pytest

from bench.release_pairs import FORMS, PAIRS, edited, put, read_pair
from tests.kernels import lent_home

_MODULE = '''\
"""Reads tables."""

import csv


class Reader:
    def __init__(self, path):
        self.path = path

    def rows(self):
        with open(self.path) as file:
            for row in csv.reader(file):
                yield row

    def close(self):
        pass


class Writer:
    def __init__(self, path):
        self.path = path

    def close(self):
        pass
'''

OWN = {
    "a class that grows, beside one that is like it": (
        {"tables.py": _MODULE},
        {
            "tables.py": _MODULE.replace(
                "    def __init__(self, path):\n        self.path = path\n\n    def rows(self):\n",
                "    def __init__(self, path, strict=False):\n        self.path = path\n"
                "        self.strict = strict\n\n    def rows(self):\n",
            ).replace(
                "        pass\n\n\nclass Writer", "        self.path = None\n\n\nclass Writer"
            )
        },
    ),
    "lists of lines that are all alike": (
        {"list.txt": "item\n" * 30 + "middle\n" + "item\n" * 30, "end.txt": "a\nb\nc"},
        {
            "list.txt": "item\n" * 29 + "middle\nanother\n" + "item\n" * 30 + "last\n",
            "end.txt": "a\nb\nd",
        },
    ),
    "a first and a last line, an empty file, and the end of one": (
        {"a.md": "# One\n\ntext\n\nend\n", "b.py": "x = 1\n", "c.py": "x = 1\ny = 2\n"},
        {"a.md": "# Two\n\ntext\n\nthe end\n\n", "b.py": "y = 2\nx = 1\n", "c.py": "x = 1\ny = 2"},
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", OWN)
def test_small_trees_become_the_newer_ones_in_each_form(
    tmp_path: Path, name: str, form: str
) -> None:
    older, newer = ({path: text.encode() for path, text in tree.items()} for tree in OWN[name])
    put(tmp_path, older)
    assert edited(tmp_path, older, newer, form) == []


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_releases_become_the_next_ones_in_each_form(
    tmp_path: Path, pair: tuple[str, str, str], form: str
) -> None:
    folder = lent_home().data / "release-pairs"
    trees = read_pair(folder, *pair)
    if trees is None:
        pytest.skip(f"no release pairs: .venv/bin/python -m bench.release_pairs fetch {folder}")
    put(tmp_path, trees[0])
    assert edited(tmp_path, *trees, form) == []
