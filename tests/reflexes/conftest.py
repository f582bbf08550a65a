"""The machine of these tests stands in Berlin."""

import time
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _in_berlin() -> Iterator[None]:
    """Written as a rule, so that no database of time zones is needed."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
        time.tzset()
        yield
    time.tzset()
