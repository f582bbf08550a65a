"""docs/architecture.md describes the tree as it is."""

import re

import pytest

from tests.repository.tree import ROOT, files

PAGE = (ROOT / "docs" / "architecture.md").read_text()
ROW = re.compile(r"\| (?P<change>[^|]+) \| `(?P<file>[^`]+)` \| `(?P<name>[^`]+)` \|")
CHANGES = [
    row.groupdict() for row in ROW.finditer(PAGE.partition("## To change or add X, open Y")[2])
]
MOST_WORDS = 30
LEAST_CHANGES = 30


@pytest.mark.parametrize("row", CHANGES, ids=lambda row: row["change"])
def test_what_a_change_opens_is_there_and_holds_what_is_named(row: dict[str, str]) -> None:
    path = ROOT / row["file"]
    assert path.is_file(), f"{row['change']}: there is no {row['file']}"
    assert row["name"] in path.read_text(), f"{row['change']}: no {row['name']} in {row['file']}"


def test_the_table_of_changes_is_whole_and_the_glossary_short() -> None:
    assert len(CHANGES) >= LEAST_CHANGES
    glossary = PAGE.partition("## Glossary")[2].partition("## ")[0]
    words = [line for line in glossary.splitlines() if line.startswith("| ")][1:]
    assert 0 < len(words) <= MOST_WORDS


def test_every_file_that_the_page_names_is_there() -> None:
    named = re.findall(r"`((?:server|client|audio|protocol|tests)/[\w/.-]+)`", PAGE)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_file_of_tests_that_is_named_anywhere_is_there() -> None:
    named = {
        name
        for path in files()
        if path.suffix in {".py", ".md", ".toml", ".yml", ".sh", ""} and path.name != "CHANGELOG.md"
        for name in re.findall(r"\btests/[\w/]+\.(?:py|mjs|c)\b", path.read_text(errors="replace"))
    }
    assert named
    assert sorted(name for name in named if not (ROOT / name).exists()) == []
