"""What holds for every test: which clock it runs by."""

import asyncio
from collections.abc import Callable, Mapping

import pytest

from tests.virtual_time import VirtualTimeLoop


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Give tests marked `virtual_time` the loop whose clock jumps."""
    mark = item.get_closest_marker("virtual_time")
    if mark is None:
        return {"real time": asyncio.new_event_loop}
    return {"virtual time": lambda: VirtualTimeLoop(**mark.kwargs)}
