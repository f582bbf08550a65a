"""Code that does not call as it should: forged frames, floods, children, calls out of their run."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from sayso.server.runtimes.calls.function import CallFunction
from sayso.server.runtimes.code_runner import CodeRunner
from tests.runtimes.calls.functions import Echo, Wait
from tests.runtimes.sandboxes import RUN_S, Told, told

FORGE = """
import ctypes, json, os, socket, struct, subprocess, sys, threading, time
link = sayso._channel._socket
try:
    sayso.call('hello')  # which opens the channel for what is forged
except sayso.NotThereError:
    pass
def raw(body, length=None):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    link.sendall(struct.pack('>I', len(body) if length is None else length) + body)
"""

CLOSED = "Calls are closed until the next run, because of what was sent: "


async def forged(
    code_runner: CodeRunner,
    code: str,
    *functions: CallFunction,
    run: str = "run",
    alone: bool = False,
) -> Told:
    with code_runner.offering(run, functions):
        return await told(code_runner, FORGE + code, alone=alone)


async def test_a_forged_frame_is_the_runs_own_whatever_it_says(
    code_runner: CodeRunner, echo: Echo
) -> None:
    code = """
sayso.call('echo', run='another', id=7, value=1)
raw({'id': 9_000, 'name': 'echo', 'args': {'run': 'another', 'value': 2}})
sayso.call('echo', value=3)
"""
    run = await forged(code_runner, code, echo, run="mine")
    assert run.ending.status == "ok", run
    assert {who for who, _ in echo.calls} == {"mine"}
    assert [arguments["value"] for _, arguments in echo.calls] == [1, 2, 3]


GARBAGE = {
    "a mebibyte and one byte": ("link.sendall(struct.pack('>I', 2**20 + 1))", "it is longer"),
    "four gibibytes": ("link.sendall(b'\\xff' * 4)", "it is longer"),
    "no UTF-8": ("raw(b'\\xff\\xfe{}')", "it is not valid UTF-8"),
    "no JSON": ("raw(b'GET / HTTP/1.1')", "Expecting value"),
    "no object": ("raw([1, 'echo', {}])", "it is no object"),
    "other keys": ("raw({'id': 1, 'name': 'echo', 'args': {}, 'run': 'x'})", "it is no object"),
    "an id that is none": ("raw({'id': True, 'name': 'echo', 'args': {}})", "its id"),
    "a negative id": ("raw({'id': -1, 'name': 'echo', 'args': {}})", "its id"),
    "a name that is none": ("raw({'id': 1, 'name': ['echo'], 'args': {}})", "its name"),
    "arguments that are none": ("raw({'id': 1, 'name': 'echo', 'args': []})", "its name"),
    "deep": ("raw(b'[' * 100_000 + b']' * 100_000)", "it is nested deeper"),
    "a number without end": (
        'raw(b\'{"id": 1, "name": "echo", "args": {"value": 1\' + b\'0\' * 9_999 + b\'}}\')',
        "it holds a whole number",
    ),
}


async def test_garbage_closes_calls_for_that_run_and_the_next_one_calls_again(
    any_workshop: CodeRunner, echo: Echo
) -> None:
    closed = """
try:
    while True:
        sayso.call('echo', value='afterwards')
except sayso.Refused as refusal:
    print(refusal)
"""
    for name, (garbage, why) in GARBAGE.items():
        run = await forged(any_workshop, garbage + closed, echo)
        assert run.stdout.startswith(CLOSED + why), (name, run)
        good = await forged(any_workshop, "sayso.call('echo', value=1)", echo)
        assert good.result == "1", (name, good)


async def test_a_frame_of_a_mebibyte_is_taken(any_workshop: CodeRunner, echo: Echo) -> None:
    code = """
body = b'{"id": 9000, "name": "echo", "args": {"value": "%s"}}'
raw(body.replace(b'%s', b'a' * (2**20 - len(body) + 2)))
sayso.call('echo', value='next')
"""
    run = await forged(any_workshop, code, echo)
    assert run.result == "'next'", run
    assert len(echo.calls) == 2


async def test_a_ninth_call_at_once_is_refused_and_the_eight_go_on(
    any_workshop: CodeRunner,
) -> None:
    wait = Wait()
    code = """
refused = threading.Event()
def call():
    try:
        sayso.call('wait')
    except sayso.Refused as refusal:
        if not refused.is_set():
            print(refusal)
        refused.set()
for _ in range(9):
    threading.Thread(target=call, daemon=True).start()
refused.wait()
"""
    run = await forged(any_workshop, code, wait)
    assert run.stdout == "More than 8 calls at once; call fewer at a time.\n", run
    assert wait.most_at_once == 8


async def test_a_flood_is_ended_and_nobody_else_waits_for_it(
    any_workshop: CodeRunner, echo: Echo
) -> None:
    async def turns() -> float:
        """The longest that somebody else had to wait for a turn."""
        loop, longest = asyncio.get_running_loop(), 0.0
        while not over.is_set():
            before = loop.time()
            await asyncio.sleep(0)
            longest = max(longest, loop.time() - before)
        return longest

    over = asyncio.Event()
    watching = asyncio.create_task(turns())
    code = """
body = json.dumps({'id': 1, 'name': 'echo', 'args': {'value': 'x' * 100}}).encode()
frames = (struct.pack('>I', len(body)) + body) * 100
for _ in range(300):
    link.sendall(frames)
try:
    while True: sayso.call('echo')
except sayso.Refused as refusal:
    print(refusal)
"""
    run = await forged(any_workshop, code, echo)
    over.set()
    assert run.stdout == f"{CLOSED}more than 20000 calls.\n", run
    assert len(echo.calls) <= 20_000
    assert await watching < 1.0
    assert (await forged(any_workshop, "sayso.call('echo', value=1)", echo)).result == "1"


@pytest.mark.slow
async def test_what_is_sent_after_calls_are_closed_is_not_even_counted(
    code_runner: CodeRunner, echo: Echo, caplog: pytest.LogCaptureFixture
) -> None:
    """The server's log has a line for a run that floods, and not one for each piece of it."""
    code = """
body = b'x' * 2**20
for _ in range(100):
    link.sendall(body)
print('sent')
"""
    run = await forged(code_runner, code, echo)
    assert run.stdout == "sent\n", run
    assert len([line for line in caplog.messages if "no call" in line]) == 1
    many = "raw({'id': 1, 'name': 'none', 'args': {'value': 'x' * 1_000}})\n"
    run = await forged(code_runner, f"for _ in range(25_000): {many}print('sent')", echo)
    assert run.stdout == "sent\n", run
    assert len([line for line in caplog.messages if "no call" in line]) == 2


@pytest.mark.slow
async def test_who_reads_no_answers_fills_no_memory(any_workshop: CodeRunner, echo: Echo) -> None:
    code = """
stuck = socket.socket(fileno=os.dup(link.fileno()))
stuck.settimeout(2)
body = json.dumps({'id': 1, 'name': 'echo', 'args': {'value': 'x' * 1_000_000}}).encode()
frame = struct.pack('>I', len(body)) + body
for thread in threading.enumerate():
    if thread.name == 'sayso-calls':  # it reads no further
        which, error = ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(which, error)
raw({'id': 1, 'name': 'echo', 'args': {}})
try:
    for number in range(60):
        stuck.sendall(frame)
    print('all were taken')
except TimeoutError:
    print('it waits')
"""
    run = await forged(any_workshop, code, echo)
    assert run.stdout == "it waits\n", run


CHILDREN = """
number = link.fileno()
child = subprocess.run(
    [sys.executable, '-c', f'import os; os.fstat({number})'], capture_output=True, close_fds=False
)
print('a program:', 'Bad file descriptor' in child.stderr.decode())
read, write = os.pipe()
if not os.fork():
    try:
        sayso.call('echo', value='forked')
    except sayso.Refused as refusal:
        os.write(write, b'refused')
    try:
        os.fstat(number)
    except OSError:
        os.write(write, b', closed')
    os._exit(0)
os.wait()
print('a fork:', os.read(read, 99).decode())
"""


async def test_what_code_starts_has_no_channel(code_runner: CodeRunner, echo: Echo) -> None:
    run = await forged(code_runner, CHILDREN, echo)
    assert run.stdout == "a program: True\na fork: refused, closed\n", run
    assert not echo.calls


LEFT = """
def go():
    while not os.path.exists('go'): time.sleep(0.01)
    told = []
    try:
        raw({'id': 77, 'name': 'echo', 'args': {'value': 'raw'}})
        sayso.call('echo', value='late')
    except sayso.Refused as refusal:
        told.append(str(refusal))
    open('told.tmp', 'w').write(' '.join(told)); os.rename('told.tmp', 'told')
threading.Thread(target=go, daemon=True).start()
"""


async def let_go(workspace: Path) -> str:
    """Let what was left behind try, and return what it was told."""
    (workspace / "go").touch()
    async with asyncio.timeout(RUN_S):
        while not (workspace / "told").exists():  # noqa: ASYNC110 - a file of code's
            await asyncio.sleep(0.01)
    return (workspace / "told").read_text()


async def test_after_its_run_nothing_is_called(
    code_runner: CodeRunner, workspace: Path, echo: Echo
) -> None:
    await forged(code_runner, LEFT, echo)
    assert "over" in await let_go(workspace) or "stopped" in (workspace / "told").read_text()
    assert not echo.calls
    # What it sent meanwhile is not the next run's either.
    run = await forged(code_runner, "sayso.call('echo', value='next')", echo, run="next")
    assert run.result == "'next'", run
    assert echo.calls == [("next", {"value": "next"})]


async def test_no_interpreter_calls_while_another_ones_run_lasts(
    code_runner: CodeRunner, workspace: Path, echo: Echo
) -> None:
    await forged(code_runner, LEFT, echo)
    code = """
open('go', 'w').close()
while not os.path.exists('told'): time.sleep(0.01)
sayso.call('echo', value='mine')
"""
    run = await forged(code_runner, code, echo, run="alone", alone=True)
    assert run.result == "'mine'", run
    assert echo.calls == [("alone", {"value": "mine"})]


HALVES: Sequence[str] = (
    "link.sendall(struct.pack('>I', 100) + b'{')",
    "link.sendall(b'\\0\\0')",
    "link.sendall(struct.pack('>I', 2**20) + b'x' * 2**19)",
)


async def test_half_a_frame_of_one_run_takes_nothing_of_the_next(
    any_workshop: CodeRunner, echo: Echo
) -> None:
    for half in HALVES:
        await forged(any_workshop, half, echo)
        run = await forged(any_workshop, "sayso.call('echo', value=1)", echo)
        assert run.result == "1", (half, run)


@pytest.mark.slow
async def test_code_that_closes_its_channel_harms_itself_alone(
    any_workshop: CodeRunner, echo: Echo
) -> None:
    run = await forged(any_workshop, "link.shutdown(socket.SHUT_RDWR)\n1 + 1", echo)
    assert run.result == "2", run
    run = await forged(any_workshop, "sayso.call('echo')", echo)
    assert run.ending.status == "error"
    assert run.ending.detail.startswith("NotThereError"), run
