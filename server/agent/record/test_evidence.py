"""Holds what an answer claims against what was tested in its request. Pure.

Only a test run counts: the tool that runs tests, or code that starts a test runner and nothing that
could print in its place. What a model says of tests is never taken for one.
"""

import re
from collections.abc import Iterator
from typing import Final

from sayso.server.agent.record.conversation_history import Act, Exchange
from sayso.server.agent.record.test_results import TestResult, read_test_result
from sayso.server.policy.code_reader import read
from sayso.server.store.records import RunReported
from sayso.server.store.testing import Untested

_OF_TESTS: Final = re.compile(
    r"\b(?:tests?|suite|checks?)\b[^.!?\n]{0,40}\b(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?|fine)"
    r"|\ball (?:is )?green\b|\b\d+ passed\b"
    r"|\btests?\b[^.!?\n]{0,40}\b(?:laufen|bestehen|bestanden|grün|erfolgreich)",
    re.IGNORECASE,
)
_OF_CODE: Final = re.compile(
    r"\b(?:is|are|have|has|it|that|i|i've|now)\b[^.!?\n]{0,30}\b(?:fixed|repaired|solved|tested|verified)"
    r"|\b(?:it|that|everything|this)\b[^.!?\n]{0,20}\bworks\b"
    r"|\b(?:behoben|repariert|gelöst|getestet|funktioniert)\b",
    re.IGNORECASE,
)
_NOT: Final = re.compile(
    r"\b(?:not|n't|never|no|without|cannot|nicht|keine?|ohne|should|if|once|whether|until|before)\b",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]?")

_SOURCE: Final = re.compile(
    r"\.(?:pyi?|[mc]?jsx?|[mc]?tsx?|go|rs|java|c|h|cc|cpp|cxx|hh|hpp|rb|php|cs|swift|kt|scala|sh|lua)$"
)
_TEST_FILE: Final = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__)/|(?:^|/)(?:test_[^/]*|[^/]*_test|[^/]*\.(?:test|spec))\.\w+$"
    r"|(?:^|/)conftest\.py$|Tests?\.java$"
)

_RUNNERS: Final = frozenset(
    ("pytest", "py.test", "tox", "nox", "npm", "pnpm", "yarn", "npx", "cargo", "go", "make", "jest")
)
_BESIDE: Final = frozenset(
    ("cd", "export", "source", "timeout", "time", "env", "tail", "ls", "set")
)
"""What may stand beside a test runner: it prints nothing that could be taken for a result."""

NO_TEST: Final = "That is not tested: no test ran after the last change."
FAILED: Final = "The last tests did not pass: {failed} failed."


def is_test_file(path: str) -> bool:
    """Whether a file is one of tests, by its name."""
    return _TEST_FILE.search(path) is not None


def edited_tests(exchange: Exchange) -> tuple[str, ...]:
    """Test files that were there before the request, and that it changed or deleted."""
    found: dict[str, None] = {}
    added: set[str] = set()
    for act in _acts(exchange):
        if act.report:
            changes = act.report.changes
            added.update(changes.added)
            named = (*changes.changed, *changes.deleted)
            found |= dict.fromkeys(p for p in named if is_test_file(p) and p not in added)
    return tuple(found)


def contradiction(exchange: Exchange, answer: str) -> Untested | None:
    """What an answer claims that nothing shows; None if it claims nothing so."""
    of_tests, of_code = _claims(answer, _OF_TESTS), _claims(answer, _OF_CODE)
    if not (of_tests or of_code):
        return None
    last, changer, ran = _latest(exchange)
    if last and last.failed:
        return Untested(changer, FAILED.format(failed=last.failed))
    if last is None and (of_tests or (changer and not ran)):
        return Untested(changer, NO_TEST)
    return None


def _claims(answer: str, about: re.Pattern[str]) -> bool:
    """Whether a sentence says so, and does not deny or doubt it."""
    return any(
        about.search(sentence) and not _NOT.search(sentence)
        for sentence in _SENTENCE.findall(answer)
    )


def _latest(exchange: Exchange) -> tuple[TestResult | None, str, bool]:
    """How tests came out since the last change of code, which run that was, and whether anything
    ran since without failing."""
    tested: TestResult | None = None
    changer, ran = "", False
    for act in _acts(exchange):
        if act.report is None:
            continue
        result = _result(act, exchange)
        if result is None and _changes_code(act.report):
            tested, changer, ran = None, act.call.id, False
        elif result is None:
            ran = ran or (act.report.status == "ok" and act.call.language in ("python", "bash"))
        tested = result or tested
    return tested, changer, ran


def _changes_code(report: RunReported) -> bool:
    changes = report.changes
    changed = (*changes.added, *changes.changed, *changes.deleted)
    return bool(changes.more) or any(_SOURCE.search(path) for path in changed)


def _result(act: Act, exchange: Exchange) -> TestResult | None:
    for one in exchange.tested:
        if one.run == act.call.id:
            return TestResult(one.passed, one.failed, one.skipped)
    if act.report and act.intended and _only_tests(act.intended.language, act.intended.code):
        return read_test_result(act.report.output)
    return None


def _only_tests(language: str, code: str) -> bool:
    """Whether code starts a test runner and nothing else that could speak."""
    actions = read(language, code)
    if language not in ("bash", "sh", "zsh") or actions.unclear or actions.traits:
        return False
    runners = 0
    for command in actions.commands:
        if command.name in _RUNNERS or _is_module(command.words):
            runners += 1
        elif command.name not in _BESIDE:
            return False
    return runners > 0


def _is_module(words: tuple[str, ...]) -> bool:
    python = words[0].startswith("python")
    return python and len(words) > 2 and words[1] == "-m" and words[2] in ("pytest", "unittest")  # noqa: PLR2004


def _acts(exchange: Exchange) -> Iterator[Act]:
    for step in exchange.steps:
        yield from step.acts
