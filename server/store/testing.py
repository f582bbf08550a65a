"""What was tested, and what was only said to be."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tested:
    """A project's tests ran, and came out so."""

    __test__ = False

    run: str
    """The run in which they did."""
    command: str
    passed: int
    failed: int
    skipped: int = 0
    files: tuple[str, ...] = ()
    """Test files that were there before, and that the request had changed until then."""


@dataclass(frozen=True, slots=True)
class Untested:
    """The model said that something works, and no test says so since the last change."""

    run: str
    """The last run that changed anything; empty if none did."""
    told: str
    """What the person was told about it."""


TestingRecord = Tested | Untested
