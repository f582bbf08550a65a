"""SECURITY.md names tests that there are, and every one of its defences names one."""

import ast
import re

from tests.repository.tree import ROOT

TEXT = (ROOT / "SECURITY.md").read_text()


def named_in(text: str) -> list[tuple[str, str]]:
    """Files, and tests in them; a name without its file is one of the file before."""
    found: list[tuple[str, str]] = []
    for path, name in re.findall(r"`(tests/[\w/]+\.py)?(?:::(test_\w+))?`", text):
        if path or name:
            found.append((path or found[-1][0], name))
    return found


NAMED = named_in(TEXT)


def defined_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text())
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


def test_every_test_that_is_named_exists() -> None:
    assert NAMED
    missing = [f"{path}::{name}" for path, name in NAMED if name not in {"", *defined_in(path)}]
    assert missing == []


def test_every_defence_is_shown_by_a_test() -> None:
    table = TEXT.partition("## What is defended")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][2:]
    assert rows
    assert [row for row in rows if "`tests/" not in row] == []
