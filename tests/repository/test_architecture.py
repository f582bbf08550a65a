"""docs/architecture.md describes the tree as it is."""

import re
from typing import get_args

import pytest

from sayso.protocol.messages import TYPES
from sayso.server.agent import events as agent_events
from sayso.server.agent.jobs import job
from sayso.server.agent.permissions import approvals
from sayso.server.store.codec import kind_of
from sayso.server.store.records import Record, Unread
from sayso.server.turn import effects
from sayso.server.turn import events as turn_events
from tests.repository.tree import ROOT, files

PAGE = (ROOT / "docs" / "architecture.md").read_text()
ROW = re.compile(r"\| (?P<change>[^|]+) \| `(?P<file>[^`]+)` \| `(?P<name>[^`]+)` \|")
CHANGES = [
    row.groupdict() for row in ROW.finditer(PAGE.partition("## To change or add X, open Y")[2])
]
MOST_WORDS = 30
LEAST_CHANGES = 30
MOST_ON_THE_WAY = 45


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


def test_each_name_of_the_vocabulary_is_there_and_what_agent_and_wire_both_call_so_is_one() -> None:
    table = PAGE.partition("## One vocabulary")[2].partition("## ")[0]
    rows = [
        [re.findall(r"`([\w.]+)`", cell) for cell in line.split("|")[2:-1]]
        for line in table.splitlines()
        if line.startswith("| ") and "`" in line
    ]
    assert len(rows) >= 10
    kinds = {kind_of(kind) for kind in get_args(Record) if kind is not Unread}
    own = {"Approvals": approvals.Approvals, "Job": job.Job}
    for in_agent, in_turn, on_wire, in_log in rows:
        told = [own.get(name) or getattr(agent_events, name) for name in in_agent]
        assert all(hasattr(turn_events, name) or hasattr(effects, name) for name in in_turn)
        assert set(in_log) <= kinds
        assert set(on_wire) <= set(TYPES)
        for each in told:
            same = [TYPES[name] for name in on_wire if TYPES[name].__name__ == each.__name__]
            assert same in ([], [each]) or each is agent_events.CodeOut


def test_from_the_microphone_to_the_spoken_word_few_modules_hand_on() -> None:
    way = PAGE.partition("Module by module")[2].partition("## ")[0]
    modules = re.findall(r"`([\w/]+\.py)`", way)
    assert len(modules) == len(set(modules))
    assert 30 < len(modules) <= MOST_ON_THE_WAY


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
