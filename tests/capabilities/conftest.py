"""The rig of the agent's tests, for what gives it tools."""

from pathlib import Path

import pytest

from tests.agent.conftest import rig

__all__ = ["rig"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What litellm and pydantic disagree about is between them."""
    about = pytest.mark.filterwarnings("ignore:Accessing the 'model_.*fields' attribute")
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(about)
