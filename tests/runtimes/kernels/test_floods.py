"""Runs that print more than anyone reads."""

import ast
import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from sayso.server.runtimes import output_stream as pieces
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.messages import MessageCollector
from sayso.server.runtimes.kernels.outputs import plain
from sayso.server.runtimes.kernels.wire import Message
from sayso.server.runtimes.runtime import Output
from tests.busy import without_a_processor
from tests.runtimes.sandboxes import rest, told

MOST = pieces.KEPT_CHARACTERS + 2 * pieces.TAIL_CHARACTERS
LATE_P95_S = 0.05
LATE_S = 0.5


@asynccontextmanager
async def looking_at_the_loop() -> AsyncIterator[list[float]]:
    """How late the event loop is by its own doing, measured all the while."""
    late: list[float] = []

    async def look() -> None:
        while True:
            due, waited = time.monotonic() + 0.002, without_a_processor()
            await asyncio.sleep(0.002)
            late.append(time.monotonic() - due - (without_a_processor() - waited))

    looking = asyncio.create_task(look())
    try:
        yield late
    finally:
        looking.cancel()


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "for i in range(200_000): print('x' * 99)",
        "print('y' * 20_000_000)",
        "print('\\\\\\n\"\\u00e9\\U0001f600' * 3_000_000)",
    ],
)
async def test_twenty_megabytes_hurt_nobody(any_workshop: CodeRunner, code: str) -> None:
    await told(any_workshop, "1")
    async with looking_at_the_loop() as late:
        run = await told(any_workshop, code + "\nprint('the end')")
    assert run.ending.status == "ok"
    assert sum(len(output.text) for output in run.outputs) < MOST
    assert run.stdout.endswith("the end\n")
    assert "characters of output left out" in run.stderr
    assert sorted(late)[int(len(late) * 0.95)] < LATE_P95_S
    assert max(late) < LATE_S


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "for number in range(180_000): print(number)",
        "print('\\n'.join(map(str, range(180_000))))",
        "import os\nfor number in range(180_000): os.write(1, b'%d\\n' % number)",
    ],
)
async def test_what_is_printed_fast_is_there_to_the_last_character(
    any_workshop: CodeRunner, code: str
) -> None:
    run = await told(any_workshop, code)
    assert run.stdout == "".join(f"{number}\n" for number in range(180_000))
    assert not run.stderr


@pytest.mark.slow
async def test_beyond_the_bound_each_character_is_counted(any_workshop: CodeRunner) -> None:
    run = await told(any_workshop, "print('yé' * 20_000_000, end='')")
    left_out = 40_000_000 - pieces.KEPT_CHARACTERS - pieces.TAIL_CHARACTERS
    assert run.stderr == f"\n[{left_out:,} characters of output left out here]\n"
    assert len(run.stdout) == pieces.KEPT_CHARACTERS + pieces.TAIL_CHARACTERS


LONG = """
kernel = get_ipython().kernel
content = {'name': 'stdout', 'text': TEXT}
kernel.session.send(kernel.iopub_socket, 'stream', content, parent=kernel.get_parent())
"""


@pytest.mark.parametrize(
    "text", ["'\\\\' * 999_999", "'\\U0001f600é\\n\"' * 300_000", "'\\x1b\\x00x' * 300_000"]
)
async def test_a_long_message_of_another_kernel_is_read_whole_in_parts(
    any_workshop: CodeRunner, text: str
) -> None:
    async with looking_at_the_loop() as late:
        run = await told(any_workshop, LONG.replace("TEXT", text))
    assert run.stdout == plain(
        ast.literal_eval(text.partition(" * ")[0]) * int(text.split("* ")[1])
    )
    assert max(late) < LATE_S


async def test_what_is_too_large_to_be_read_is_told_and_what_follows_is_heard(
    any_workshop: CodeRunner,
) -> None:
    code = "from IPython.display import HTML, display\ndisplay(HTML('y' * 100_000_000))"
    run = await told(any_workshop, code)
    assert run.ending.status == "ok"
    assert "more was put out at once than can be read" in run.stderr.lower()
    assert (await told(any_workshop, "print('heard')")).stdout == "heard\n"


SEND = """
import time, zmq
thread = get_ipython().kernel.iopub_thread
def send():
    thread.socket.setsockopt(zmq.SNDTIMEO, 20_000)
    for _ in range({pieces}):
        thread.socket.send(piece, zmq.SNDMORE, copy=False)
    thread.socket.send(b'')
    sent.set()
import threading
piece, sent = b'x' * {size}, threading.Event()
thread.io_loop.add_callback(send)
sent.wait(20)
"""


def forget_most_memory() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def most_memory_mib() -> int:
    """The most that this process had at a time, since that was forgotten."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


@pytest.mark.parametrize(("pieces", "size"), [(40, 16 * 1024**2), (100_000, 1)])
async def test_one_message_of_many_pieces_fills_no_memory_of_the_servers(
    any_workshop: CodeRunner, pieces: int, size: int
) -> None:
    await told(any_workshop, "1")
    forget_most_memory()
    before = most_memory_mib()
    async with looking_at_the_loop() as late:
        run = await told(any_workshop, SEND.format(pieces=pieces, size=size))
    assert run.ending.status == "ok"
    assert most_memory_mib() - before < 200
    assert max(late) < LATE_S
    assert (await told(any_workshop, "print('heard')")).stdout == "heard\n"


@pytest.mark.slow
async def test_no_link_in_a_sockets_place_is_connected_to(
    code_runner: CodeRunner, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX) as others:
        others.bind(str(tmp_path / "others"))
        others.listen()
        others.setblocking(False)
        put = f"""
import ipykernel, os
own = os.path.dirname(ipykernel.get_connection_file())
for number in range(1, 6):
    os.unlink(f'{{own}}/kernel-{{number}}')
    os.symlink({str(tmp_path / "others")!r}, f'{{own}}/kernel-{{number}}')
print('y' * 100_000_000)
"""
        assert (await told(code_runner, put)).ending.status == "ok"
        with pytest.raises(BlockingIOError):
            others.accept()


@pytest.mark.slow
async def test_many_small_pieces_hurt_nobody_either(any_workshop: CodeRunner) -> None:
    await told(any_workshop, "1")
    async with looking_at_the_loop() as late:
        run = await told(any_workshop, "for i in range(5_000): print(i, flush=True)")
    assert run.stdout.split() == [str(i) for i in range(5_000)]
    assert len(run.outputs) < run.ending.seconds / pieces.PIECE_S + 3
    assert max(late) < LATE_S


@pytest.mark.slow
async def test_a_server_that_is_busy_for_a_while_loses_nothing(any_workshop: CodeRunner) -> None:
    going = any_workshop.run("python", "for i in range(8_000): print(i, flush=True)")
    first = await anext(going)
    assert isinstance(first, Output)
    time.sleep(1.0)  # noqa: ASYNC251 - the event loop stands still: that is what is tested
    run = await rest(going)
    assert (first.text + run.stdout).split() == [str(i) for i in range(8_000)]


async def test_a_hundred_plots_are_enough(any_workshop: CodeRunner) -> None:
    code = (
        "from IPython.display import HTML, display\nfor i in range(120): display(HTML(f'<b>{i}'))"
    )
    run = await told(any_workshop, code)
    assert sum(output.mime == "text/html" for output in run.outputs) == pieces.RICH_MOST
    assert "20 more plots or tables left out" in run.stderr


def message(kind: str, parent: str = "me", **content: object) -> Message:
    return Message(kind, parent, content)


def printed(text: str) -> Message:
    return message("stream", name="stdout", text=text)


def end(run: MessageCollector) -> None:
    run.answered(message("execute_reply", status="ok"))
    run.heard(message("status", execution_state="idle"))


@pytest.mark.virtual_time
async def test_the_first_word_comes_at_once_and_the_rest_in_pieces() -> None:
    loop = asyncio.get_running_loop()
    run = MessageCollector("me")
    came: list[tuple[float, str]] = []

    async def read() -> None:
        began = loop.time()
        came.extend([(round(loop.time() - began, 3), piece.text) async for piece in run.pieces()])

    reading = asyncio.create_task(read())
    for word in "abcdefgh":
        run.heard(printed(word))
        await asyncio.sleep(0.02)
    end(run)
    await reading
    assert came[0] == (0.0, "a")
    assert "".join(text for _, text in came) == "abcdefgh"
    gaps = [later - sooner for (sooner, _), (later, _) in pairwise(came[:-1])]
    assert min(gaps) >= pieces.PIECE_S - 0.001


@pytest.mark.virtual_time
async def test_a_run_ends_although_the_word_that_it_is_idle_was_lost() -> None:
    run = MessageCollector("me")
    run.answered(message("execute_reply", status="ok"))
    assert [piece async for piece in run.pieces()] == []
    assert run.ending(1.0).status == "ok"


@pytest.mark.virtual_time
async def test_outputs_that_come_slowly_after_the_answer_are_this_runs() -> None:
    run = MessageCollector("me")
    told = asyncio.create_task(all_of(run))
    run.answered(message("execute_reply", status="ok"))
    for word in "abcdefgh":
        await asyncio.sleep(0.9)
        run.heard(printed(word))
    end(run)
    assert await told == "abcdefgh"


@pytest.mark.virtual_time
async def test_a_thread_that_prints_for_ever_keeps_no_run_open_whose_end_was_lost() -> None:
    run = MessageCollector("me")
    told = asyncio.create_task(all_of(run))
    run.answered(message("execute_reply", status="ok"))
    while not told.done():
        run.heard(printed("on and on "))
        await asyncio.sleep(0.5)
    assert 50 < asyncio.get_running_loop().time() < 70


async def all_of(run: MessageCollector) -> str:
    return "".join([piece.text async for piece in run.pieces()])


@pytest.mark.virtual_time
async def test_what_is_not_this_runs_is_not_told_as_its_own() -> None:
    run = MessageCollector("me", earlier=["before"])
    run.heard(message("stream", "", name="stderr", text="starting"))
    run.heard(message("error", "before", ename="E"))
    run.heard(message("stream", "before", name="stdout", text="late"))
    end(run)
    assert [piece async for piece in run.pieces()] == [Output("stdout", "late")]
