"""Reads from a run's output how tests went, as the usual test runners say it. Pure.

What is printed may lie, so nothing but numbers is taken from it.
"""

import re
from dataclasses import dataclass
from typing import Final

READ_CHARS: Final = 4_000
"""From the end, where runners sum up."""
MOST: Final = 1_000_000
"""A larger number is none of tests."""

_PYTEST: Final = re.compile(
    r"^=*\s*((?:\d+ (?:passed|failed|skipped|errors?|xfailed|xpassed|deselected|warnings?)"
    r"(?:, )?)+)"
    r" in [\d.]+ ?s",
    re.MULTILINE,
)
_UNITTEST: Final = re.compile(
    r"^Ran (\d+) tests? in [\d.]+s\s+^(OK|FAILED)(?: \(([^)\n]*)\))?", re.MULTILINE
)
_JEST: Final = re.compile(r"^\s*Tests:?\s+((?:\d+ \w+(?:, | \| )?)+)", re.MULTILINE)
_CARGO: Final = re.compile(
    r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", re.MULTILINE
)
_COUNT: Final = re.compile(r"(\d+) (\w+)")
_NAMED: Final = re.compile(r"(\w+)=(\d+)")

_FAILED: Final = frozenset({"failed", "error", "errors", "failures"})
_SKIPPED: Final = frozenset({"skipped", "xfailed", "ignored", "todo", "pending"})


@dataclass(frozen=True, slots=True)
class TestResult:
    """How many tests passed, failed (with those that broke), and were left out."""

    __test__ = False

    passed: int
    failed: int
    skipped: int = 0

    @property
    def ran(self) -> int:
        return self.passed + self.failed


def read_test_result(output: str) -> TestResult | None:
    """The last sum of a test runner in it; None if there is none."""
    end = output[-READ_CHARS:]
    found = [each for each in (_pytest(end), _unittest(end), _jest(end), _cargo(end)) if each]
    return max(found, key=lambda each: each[0])[1] if found else None


_Found = tuple[int, TestResult]
"""Where it stands, and what it says."""


def _pytest(text: str) -> _Found | None:
    sums = list(_PYTEST.finditer(text))
    return _counted(sums[-1]) if sums else None


def _jest(text: str) -> _Found | None:
    sums = list(_JEST.finditer(text))
    return _counted(sums[-1]) if sums else None


def _counted(found: re.Match[str]) -> _Found | None:
    counts = {name: _number(count) for count, name in _COUNT.findall(found[1])}
    result = TestResult(
        counts.get("passed", 0) + counts.get("xpassed", 0),
        sum(count for name, count in counts.items() if name in _FAILED),
        sum(count for name, count in counts.items() if name in _SKIPPED),
    )
    return (found.start(), result) if result.ran + result.skipped else None


def _unittest(text: str) -> _Found | None:
    sums = list(_UNITTEST.finditer(text))
    if not sums:
        return None
    counts = {name: _number(count) for name, count in _NAMED.findall(sums[-1][3] or "")}
    failed = counts.get("failures", 0) + counts.get("errors", 0)
    skipped = counts.get("skipped", 0)
    passed = max(0, _number(sums[-1][1]) - failed - skipped)
    return sums[-1].start(), TestResult(passed, failed, skipped)


def _cargo(text: str) -> _Found | None:
    sums = list(_CARGO.finditer(text))
    if not sums:
        return None
    passed, failed, ignored = (sum(_number(one[group]) for one in sums) for group in (1, 2, 3))
    return sums[-1].start(), TestResult(passed, failed, ignored)


def _number(digits: str) -> int:
    return min(int(digits[:9]), MOST)
