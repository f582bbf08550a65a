"""A disk that cannot be written for a while: it is said, and over by itself."""

from collections.abc import Callable

from tests.rig import Server


def is_said_and_over(server: Server, advice: str, mend: Callable[[], None]) -> None:
    """The disk is bad now; `mend` makes it good."""
    failed = server.ask("and now")
    (error,) = failed.all("error")
    assert error["code"] == "store_failed", error
    assert advice in error["message"]
    assert "log" in server.health()["degraded"]
    assert server.get("/ping") == "pong"

    mend()
    assert server.ask("and again").reply == "Here I am."
    assert "log" not in server.health()["degraded"]
    assert "Traceback" not in server.said
