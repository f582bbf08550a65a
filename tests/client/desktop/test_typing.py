"""Random Unicode is typed exactly, in programs of several toolkits, as they themselves tell."""

from pathlib import Path

import pytest

from tests.client.desktop.rig import Desktop, desktop, hands
from tests.client.desktop.typing_errors import STRINGS, strings, toolkits, typing_errors, window_of
from tests.machine import lacking

APPS = ("fixture", "chromium")


@pytest.mark.slow
@pytest.mark.usefixtures("allowed")
async def test_some_random_strings_are_typed_exactly(
    here: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    with window_of(here, "gtk") as app:
        async with hands(here, monkeypatch, APPS) as at:
            assert await typing_errors(at, app, strings(40)) == 0


@pytest.mark.thorough
@pytest.mark.browser
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("allowed")
@pytest.mark.parametrize("toolkit", ["gtk", "tk", "chromium"])
async def test_two_hundred_random_strings_are_typed_exactly(
    toolkit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if toolkit not in toolkits():
        lacking(f"{toolkit} is missing")
    with desktop(tmp_path) as here, window_of(here, toolkit) as app:
        async with hands(here, monkeypatch, APPS) as at:
            assert await typing_errors(at, app, strings(STRINGS, seed=2)) == 0
