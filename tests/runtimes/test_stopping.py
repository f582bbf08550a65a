"""Stopping code, whatever it does and whenever: it ends with all that it has started."""

import asyncio
import os
import random
import sys
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sayso.server.runtimes import processes
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.runtime import Ending, Output
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from tests.busy import within
from tests.machine import has
from tests.runtimes.processes import below, until
from tests.runtimes.sandboxes import RUN_S, began, rest, told, workshop_in

PROMISED_S = 2.5

STOP_S = 2 * PROMISED_S
"""What a stop may take on two processors that other tests use, too; and in proportion longer where
more wait for each of them."""

AT_ONCE = 2

LONG = (pytest.mark.thorough, pytest.mark.timeout(1_200))
STOPS = int(os.environ.get("SAYSO_TEST_STOPS", "100"))
"""Of the large proof, in each sandbox; each takes a second or two."""

STEP = "print('begun', flush=True)\nsum(range(10 ** 13))"

# What goes on for ever, each in another way; {mark} tells whose the processes are.
KINDS = {
    "one long step": ("python", STEP),
    "threads": (
        "python",
        """
import threading, time
def busy():
    while True: pass
def drowsy():
    while True: time.sleep(0.01)
threads = [threading.Thread(target=each, name='left') for each in (busy, drowsy)]
for each in threads: each.start()
for each in threads: each.join()
""",
    ),
    "children": (
        "python",
        """
import os, subprocess, time
subprocess.Popen(['setsid', 'sleep', '{mark}'])
subprocess.Popen(['bash', '-c', '(setsid nohup sleep {mark} >/dev/null 2>&1 &) & sleep {mark}'])
if not os.fork():
    os.setsid()
    if os.fork(): os._exit(0)
    os.execvp('sleep', ['sleep', '{mark}'])
time.sleep(1000)
""",
    ),
    "what catches the interrupt": (
        "python",
        """
import time
while True:
    try:
        time.sleep(0.001)
    except KeyboardInterrupt:
        pass
""",
    ),
    "in C": ("python", "import re\nre.match(r'(a+)+$', 'a' * 60 + 'b')"),
    "in a finally": (
        "python",
        """
import time
try:
    time.sleep(1000)
finally:
    while True: time.sleep(0.001)
""",
    ),
    "a plain loop": ("python", "while True: pass"),
    "while starting": ("python", "while True: pass"),
    "a flood": ("python", "while True: print('much ' * 20)"),
    "bash": (
        "bash",
        "setsid sleep {mark} & nohup sleep {mark} >/dev/null 2>&1 &\nwhile :; do sleep 0.01; done",
    ),
    "bash that does not listen": ("bash", "trap '' INT; setsid sleep {mark} & sleep {mark}"),
    "JavaScript": ("javascript", "while (true);"),
    "JavaScript that waits": (
        "javascript",
        """
setInterval(() => console.log('left'), 5);
require('http').createServer(() => 0).listen(0);
new (require('worker_threads').Worker)('while (true);', { eval: true });
require('child_process').spawn('setsid', ['sleep', '{mark}']);
await new Promise(() => {});
""",
    ),
}

BEFORE = {"while starting": "exit()"}
"""What is run first."""

NEXT = {
    "python": """
import threading
print([each for each in threading.enumerate() if each.name == 'left'])
""",
    "bash": "echo '[]'",
    "javascript": "console.log('[]')",
}


class Tally:
    """What the stops of a proof came to, kind by kind."""

    def __init__(self) -> None:
        self._took: dict[str, list[float]] = {}
        self._died: Counter[str] = Counter()

    def count(self, kind: str, took: float, ending: Ending) -> None:
        self._took.setdefault(kind, []).append(took)
        self._died[kind] += ending.status == "died"

    def __str__(self) -> str:
        lines = [
            f"{kind}: {len(took)} stops, slowest {max(took):.2f} s,"
            f" {sum(each > PROMISED_S for each in took)} over {PROMISED_S} s,"
            f" {self._died[kind]} with their interpreter"
            for kind, took in sorted(self._took.items())
        ]
        return "\n".join((*lines, f"{sum(map(len, self._took.values()))} stops in all"))


@pytest.fixture
async def workshops(
    sandbox: Sandbox, environment: KernelEnvironment, workspace: Path
) -> AsyncIterator[list[CodeRunner]]:
    made = [workshop_in(workspace / str(each), environment, sandbox) for each in range(AT_ONCE)]
    yield made
    for each in made:
        await each.close()


@pytest.mark.slow
@pytest.mark.parametrize("stops", [24, pytest.param(STOPS, marks=LONG)])
async def test_what_is_stopped_at_any_moment_ends_with_all_that_it_started(
    workshops: list[CodeRunner], stops: int
) -> None:
    chance = random.Random(stops)
    there = [
        kind
        for kind, (language, _) in KINDS.items()
        if language != "javascript" or has("node", "nodejs")
    ]
    kinds = (there * stops)[:stops]
    chance.shuffle(kinds)
    tally = Tally()
    try:
        async with asyncio.TaskGroup() as group:
            for number, code_runner in enumerate(workshops):
                own, mark = random.Random(chance.random()), f"8{number}6391"
                mine = kinds[number::AT_ONCE]
                group.create_task(_stop_each(code_runner, mine, mark, own, tally))
    finally:
        sys.stdout.write(f"{tally}\n")


async def _stop_each(
    code_runner: CodeRunner, kinds: list[str], mark: str, chance: random.Random, tally: Tally
) -> None:
    for kind in kinds:
        language, code = KINDS[kind]
        moment = chance.uniform(0, chance.choice((0.02, 0.3, 1.0)))
        where = f"{kind}, stopped after {moment:.4f} s"
        code = code.replace("{mark}", mark)
        if kind in BEFORE:
            await told(code_runner, BEFORE[kind], language)
        try:
            ending, took = await _stopped(code_runner, language, code, moment)
        except (AssertionError, TimeoutError) as late:
            raise AssertionError(f"{where}: {late or 'it never ended'}") from late
        tally.count(kind, took, ending)
        assert ending.status in ("interrupted", "died"), (where, ending)
        assert not below(mark), where
        try:
            after = await told(code_runner, NEXT[language], language)
        except TimeoutError as late:
            raise AssertionError(f"nothing runs after {where}: {ending}") from late
        assert (after.ending.status, after.stdout) == ("ok", "[]\n"), (where, ending, after)


async def _stopped(
    code_runner: CodeRunner, language: str, code: str, moment: float
) -> tuple[Ending, float]:
    """Stop a run after so many seconds; return how it ended, and how long that took."""

    async def read() -> Output | Ending:
        return [piece async for piece in code_runner.run(language, code)][-1]

    reading = asyncio.create_task(read())
    await asyncio.wait([reading], timeout=moment)
    loop = asyncio.get_running_loop()
    asked = loop.time()
    with within(STOP_S):
        async with asyncio.timeout(RUN_S):
            await code_runner.interrupt()
            ending = await reading
    assert isinstance(ending, Ending)
    return ending, loop.time() - asked


@pytest.mark.slow
async def test_what_was_flushed_is_heard_before_one_long_step(any_workshop: CodeRunner) -> None:
    for _ in range(8):  # without a defence one in four is not heard
        pieces = any_workshop.run("python", STEP)
        await began(pieces)
        await any_workshop.interrupt()
        assert (await rest(pieces)).ending.status in ("interrupted", "died")


async def test_what_an_earlier_run_left_running_outlives_the_stop_of_another(
    code_runner: CodeRunner,
) -> None:
    mark = "846391"
    await told(code_runner, f"import subprocess\nsubprocess.Popen(['setsid', 'sleep', '{mark}'])")
    tick = processes.now()
    await until(lambda: processes.now() > tick)  # what began in the tick of a run counts as its own
    pieces = code_runner.run("python", f"print('begun', flush=True)\n!sleep {mark}")
    await began(pieces)
    await code_runner.interrupt()
    assert (await rest(pieces)).ending.status == "interrupted"
    assert len(below(mark)) == 1


@pytest.mark.slow
async def test_an_interrupt_that_comes_late_does_not_meet_the_next_run(
    any_workshop: CodeRunner,
) -> None:
    """The run ends by itself in the moment in which it is asked to."""
    await told(any_workshop, "import time")
    for number in range(40):
        pieces = any_workshop.run("python", f"time.sleep({number / 10_000})")
        reading = asyncio.ensure_future(rest(pieces))
        await asyncio.sleep(0)
        await any_workshop.interrupt()
        await reading
        assert (await told(any_workshop, "print('next')")).stdout == "next\n"
