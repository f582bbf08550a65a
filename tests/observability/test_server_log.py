"""The log holds no secret, whichever module writes to it."""

import io
import logging

from sayso.server.observability.server_log import RedactingFormatter


def logged(message: str, *arguments: object) -> str:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(RedactingFormatter("%(levelname)s %(message)s"))
    record = logging.LogRecord("x", logging.INFO, "", 0, message, arguments, None)
    handler.emit(record)
    return out.getvalue()


def test_no_secret_gets_into_the_log() -> None:
    token = "aB3" + "x" * 37 + "Y-_"
    key = "sk-" + "a1" * 20
    assert token not in logged("Authorization: Bearer %s", token)
    assert token not in logged(f"hello {token}")
    assert key not in logged("calling with %s", {"api_key": key})


def test_what_would_fool_a_terminal_is_shown_and_a_name_of_any_bytes_can_be_written() -> None:
    sly = "a\x1b[2J\u202etxt.exe"
    assert logged("%s stays", sly) == "INFO a\\x1b[2J\\u202etxt.exe stays\n"
    odd = b"caf\xe9".decode("utf-8", "surrogateescape")
    assert logged("%s stays", odd).encode() == b"INFO caf\\udce9 stays\n"
    assert logged("one\n\ttwo \u00e9") == "INFO one\n\ttwo \u00e9\n"


def test_what_is_no_secret_stays() -> None:
    assert logged("turn %d took %.1f s", 3, 1.5) == "INFO turn 3 took 1.5 s\n"


def test_a_traceback_is_read_through_too() -> None:
    token = "aB3" + "x" * 37 + "Y-_"
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(RedactingFormatter())
    log = logging.getLogger("test of discretion")
    log.propagate = False
    log.addHandler(handler)
    nothing: dict[str, str] = {}
    try:
        nothing[token]
    except KeyError:
        log.exception("it failed")
    finally:
        log.removeHandler(handler)
    assert "KeyError" in out.getvalue()
    assert token not in out.getvalue()
