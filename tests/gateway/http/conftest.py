"""What the tests of bodies and of routes share."""

import pytest

from tests.gateway.http.adapter import Adapter


@pytest.fixture
def adapter() -> Adapter:
    return Adapter()
