"""A worker that does what it is told, also what no worker should do."""

import os
import sys
import time

from sayso.server.speech.errors import ModelBroken
from sayso.server.speech.workers.wire import Note
from sayso.server.speech.workers.worker import Answer, GivenUp, Task, main


class Odd:
    """Takes orders: echo, die, nap, sleep, busy, babble, count."""

    def load(self, order: Note) -> Note:
        if order.text("model") == "crashing":
            sys.stderr.write("out of memory\n")
            sys.stderr.flush()
            os.abort()
        if order.text("model") == "broken":
            raise ModelBroken("This model is broken. Get another.")
        return Note("loaded", {"what": "nothing"})

    def answer(self, task: Task) -> Answer:
        match task.note.kind:
            case "echo":
                return Note("echo", {"text": task.note.text("text")}, task.note.load[::-1])
            case "pid":
                return Note("pid", {"pid": os.getpid()})
            case "count":
                return (yield from self._count(task))
            case "die":
                os.abort()
            case "nap":
                time.sleep(0.5)
                return Note("rested")
            case "sleep":
                time.sleep(60)
            case "busy":
                while task.wanted():
                    time.sleep(0.005)
                raise GivenUp
            case "babble":
                os.write(int(sys.argv[1]), b"\xff" * 64)
                time.sleep(60)
        raise RuntimeError("a defect")

    def _count(self, task: Task) -> Answer:
        upto, lasts = task.note.whole("upto"), task.note.number("lasts")
        for number in range(upto):
            task.due += lasts
            time.sleep(0.002)
            yield Note("counted", {"number": number})
        return Note("counted", {"number": upto})


if __name__ == "__main__":
    main(Odd(), sys.argv[1:])
