"""A log that is followed shows what is written as it is written, also beyond the file's end."""

import logging
import subprocess
from collections.abc import Iterator

import pytest

from sayso.protocol.home import Home
from tests.observability.logging_home import logging_home
from tests.rig import SAYSO


@pytest.fixture
def home() -> Iterator[Home]:
    """A home whose server logs into small files."""
    with logging_home(600) as found:
        yield found


@pytest.mark.thorough
@pytest.mark.timeout(120)
@pytest.mark.usefixtures("home")
def test_what_is_written_appears_also_after_a_new_file_was_begun() -> None:
    log = logging.getLogger("sayso.server.x")
    log.info("line 0")
    command = (SAYSO, "logs", "--follow", "--level", "info")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout
        try:
            assert "line 0" in following.stdout.readline()
            for number in range(1, 20):
                log.debug("nobody wants to see this")
                log.info("line %d", number)
                assert f"line {number}\n" in following.stdout.readline()
        finally:
            following.terminate()
