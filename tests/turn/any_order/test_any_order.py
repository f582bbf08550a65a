"""Whatever happens in whatever order, what the turn machine promises holds."""

import pytest
from hypothesis import settings

from tests.turn.any_order.long_work import LongWork


class Quickly(LongWork):
    """As many runs as fit beside the other tests."""


class Thoroughly(LongWork):
    """Far more, and longer ones."""


Quickly.TestCase.settings = settings(max_examples=60, stateful_step_count=50, deadline=None)
Thoroughly.TestCase.settings = settings(max_examples=600, stateful_step_count=100, deadline=None)
TestAnyOrder = Quickly.TestCase
TestAnyOrderThoroughly = pytest.mark.timeout(600)(pytest.mark.thorough(Thoroughly.TestCase))
