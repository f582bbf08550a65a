"""What the tests of calls share."""

import pytest

from tests.runtimes.calls.functions import Echo


@pytest.fixture
def echo() -> Echo:
    return Echo()
