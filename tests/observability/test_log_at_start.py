"""What stands on standard error while a server starts."""

import logging

import pytest

from sayso.server.observability import server_log
from tests.observability.logging_home import logging_home

log = logging.getLogger("sayso.server")


def test_of_a_server_that_can_not_start_nothing_but_the_reason_is_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with logging_home() as home:
        log.info("The voice is ready.")
        for handler in logging.getLogger().handlers:
            handler.flush()  # as the interpreter does when it ends
        kept = "".join(server_log.kept_lines(home))
    assert capsys.readouterr().err == ""
    assert "The voice is ready." in kept


def test_once_it_has_started_all_is_read_in_order_and_at_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with logging_home():
        log.info("first")
        for handler in logging.getLogger().handlers:
            if isinstance(handler, server_log.UntilStarted):
                handler.started()
        log.info("second")
        lines = capsys.readouterr().err.splitlines()
    assert [line.rpartition(" ")[2] for line in lines] == ["first", "second"]


def test_a_warning_waits_for_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with logging_home():
        log.info("It is 12.")
        log.warning("The disk is full.")
        said = capsys.readouterr().err
    assert said.index("It is 12.") < said.index("The disk is full.")
