"""The process at the screen: takes requests from the client that started it, and ends with it.

Its standard input and output carry messages: four bytes of length, a JSON object, and after one
with `pictures` their bytes. What stops comes at once, whatever is being done.
"""

import os
import queue
import sys
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO, Final

from sayso.client.desktop.errors import DesktopError
from sayso.client.desktop.hands.broker import Broker
from sayso.client.desktop.hands.reach import Own
from sayso.client.desktop.hands.screen import Screen
from sayso.client.desktop.messages import read_message, write_message
from sayso.client.desktop.permission import read_permission
from sayso.protocol.home import Home

SIGN_S: Final = 3.0
"""After the last act, until the sign goes: the next one mostly comes sooner."""
MOST_WAITING: Final = 16


def main() -> int:
    """Work until the client ends."""
    into = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing that a library prints gets among the messages
    come = sys.stdin.buffer
    first = read_message(come)
    if first is None:
        return 0
    own = Own(os.getpid(), str(first.get("server", "")))
    borrowed = Path(str(first["borrowed"]))
    try:
        screen = Screen(own, read_permission(Home.find()), borrowed)
    except DesktopError as problem:
        write_message(into, {"problem": str(problem)})
        return 1
    write_message(into, {"ready": True})
    waiting: queue.Queue[dict[str, Any] | None] = queue.Queue(MOST_WAITING)
    threading.Thread(target=_listen, args=(come, screen, waiting), daemon=True).start()
    _work(Broker(screen), waiting, into)
    screen.keyboard.let_go()
    screen.pointer.let_go()
    screen.keyboard.give_back()
    return 0


def _listen(come: BinaryIO, screen: Screen, waiting: "queue.Queue[dict[str, Any] | None]") -> None:
    while (message := read_message(come)) is not None:
        if "stop" in message:
            attempt = message["stop"]
            screen.hand.stop(tuple(attempt) if attempt else None)
        else:
            screen.hand.awaits(tuple(message["attempt"]))
            waiting.put(message)
    screen.hand.stop()
    waiting.put(None)


def _work(broker: Broker, waiting: "queue.Queue[dict[str, Any] | None]", into: BinaryIO) -> None:
    quiet_at = 0.0
    while True:
        try:
            message = waiting.get(timeout=SIGN_S if quiet_at else None)
        except queue.Empty:
            broker.rest()
            quiet_at = 0.0
            continue
        if message is None:
            broker.rest()
            return
        attempt = tuple(message["attempt"])
        answer = broker.answer(str(message["method"]), message["args"], attempt)
        quiet_at = time.monotonic()
        write_message(
            into,
            {
                "id": message["id"],
                "effect": answer.effect,
                "data": answer.data,
                "problem": answer.problem,
                "pictures": [len(each) for each in answer.pictures],
            },
            answer.pictures,
        )


if __name__ == "__main__":
    sys.exit(main())
