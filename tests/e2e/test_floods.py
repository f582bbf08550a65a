"""Code that prints without end in a real server does not keep others from being served."""

import threading
import time

import pytest

from tests.rig import Server
from tests.scripted_model import ScriptedModel, runs, says

LATE_S = 0.05
"""How late an answer about the server's health may be, for 95 of 100."""

BUSY = 4
"""How much longer things may take where other tests run beside."""

FLOODS = {
    "python": "for i in range(200_000): print('x' * 99)\nprint('the end')",
    "bash": "yes $(printf 'x%.0s' {1..99}) | head -n 200000; echo the end",
}
"""Twenty megabytes each."""


@pytest.mark.thorough
def test_twenty_megabytes_of_prints_do_not_hurt_the_server(
    server: Server, model: ScriptedModel
) -> None:
    for language, code in FLOODS.items():
        model.add(runs("true" if language == "bash" else "1", language=language), says("Warm."))
        assert server.ask("Warm up.", "--approve", "yes").reply == "Warm."
        model.add(runs(code, language=language), says("That was much."))
        took: list[float] = []
        over = threading.Event()
        looking = threading.Thread(target=_look, args=(server, took, over))
        looking.start()
        try:
            client = server.ask("Print.", "--approve", "yes")
        finally:
            over.set()
            looking.join()
        assert client.reply == "That was much."
        assert "the end" in client.output
        assert len(client.output) < 2 * 1024**2
        assert len(took) > 20
        assert sorted(took)[int(len(took) * 0.95)] < LATE_S * BUSY, language


def _look(server: Server, took: list[float], over: threading.Event) -> None:
    """Ask after the server's health all the while."""
    while not over.wait(0.01):
        asked = time.monotonic()
        server.health()
        took.append(time.monotonic() - asked)
