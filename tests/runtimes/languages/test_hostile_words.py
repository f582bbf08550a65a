"""Code that speaks where its interpreter tells the server something: the conversation goes on."""

import asyncio
from pathlib import Path

import pytest

from sayso.server.runtimes import driver_runtime
from sayso.server.runtimes.code_runner import CodeRunner
from tests.runtimes.kernels.test_floods import forget_most_memory, most_memory_mib
from tests.runtimes.sandboxes import RUN_S, told

REPORTS = 251
"""Where an interpreter tells its driver how a run goes."""

HURTFUL = {
    "deep": "'[' * 100_000",
    "deep objects": "'{\"a\":' * 100_000",
    "digits": "'{\"done\":' + '9' * 10_000 + '}'",
    "half a character": '\'{"result": "\\\\ud800"}\'',
    "no number": "'{\"done\": NaN}'",
    "no object": "'[1, 2]'",
}

WRITE = """
kept=7
python3 - <<'END'
import os
said = ({words} + '{end}').encode()
while said:
    said = said[os.write({fd}, said):]
END
"""


@pytest.mark.parametrize("end", ["\\n", ""], ids=["line", "no end"])
@pytest.mark.parametrize("words", HURTFUL.values(), ids=HURTFUL)
async def test_what_code_writes_where_the_driver_reads_ends_nothing(
    code_runner: CodeRunner, words: str, end: str
) -> None:
    code = WRITE.format(fd=REPORTS, words=words, end=end)
    run = await told(code_runner, code, "bash")
    assert run.ending.status == "ok", run
    assert (await told(code_runner, "echo $kept", "bash")).stdout == "7\n"


@pytest.mark.parametrize("words", ["'['.repeat(100000) + '\\n'", "'['.repeat(100000)"])
async def test_nor_does_it_in_javascript(any_workshop: CodeRunner, words: str) -> None:
    code = f"kept = 7; fs.writeSync({REPORTS}, {words})"
    run = await told(any_workshop, f"var fs = require('fs'); {code}", "javascript")
    assert run.ending.status == "ok", run
    assert "7" in (await told(any_workshop, "kept", "javascript")).result


OF_A_STRANGER = """
import socket, struct, sys
HEADER = struct.Struct('>cI')
link = socket.socket(fileno=int(sys.argv[1])).makefile('rwb')
def tell(letter, body):
    link.write(HEADER.pack(letter, len(body)) + body)
    link.flush()
tell(b'B', b'{}')
while head := link.read(HEADER.size):
    link.read(HEADER.unpack(head)[1])
    for body in (
        b'[' * 100_000, b'{"code":' + b'9' * 10_000 + b'}', b'{"code": "1"}', b'{"gone": 1}',
        b'{"detail": ["a"]}', b'{"code": NaN}', b'{"code": 1e999}', b'[]', b'9', b'{"what": 1}',
    ):
        tell(b'D', body)
    tell(b'D', b'{"code": 1, "detail": "It \\\\ud800 \\\\u001b[31m ended."}')
"""


async def test_a_driver_that_a_stranger_took_over_ends_runs_as_drivers_do(
    any_workshop: CodeRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "driver.py"
    program.write_text(OF_A_STRANGER)
    monkeypatch.setattr(driver_runtime, "DRIVER", program)
    for _ in range(2):
        run = await told(any_workshop, "echo", "bash")
        assert (run.ending.status, run.ending.detail) == ("error", "It �  ended.")


async def test_an_exit_status_that_is_none_ends_no_run(any_workshop: CodeRunner) -> None:
    code = f"echo '{{\"done\": {10**300}}}' >&{REPORTS}; sleep 0.2; exit 3"
    run = await told(any_workshop, code, "bash")
    assert run.ending.detail.startswith("It ended with exit status 3"), run


FORGE = """
import json, threading, uuid
from datetime import datetime, timezone
kernel = get_ipython().kernel
session, thread = kernel.session, kernel.iopub_thread
parent = kernel.get_parent()

def frames(content, header=None):
    date = datetime.now(timezone.utc).isoformat()
    header = header or json.dumps({'msg_id': uuid.uuid4().hex, 'msg_type': 'display_data',
        'version': '5.3', 'date': date, 'username': '', 'session': ''}).encode()
    parts = [header, json.dumps(parent['header'], default=str).encode(), b'{}', content]
    return [b'<IDS|MSG>', session.sign(parts), *parts]

def send(parts):
    done = threading.Event()
    thread.io_loop.add_callback(lambda: (thread.socket.send_multipart(parts), done.set()))
    done.wait(20)

def data(text):
    return b'{"data": {"text/plain": "a", "application/json": ' + text + b'}, "metadata": {}}'
"""

FORGED = {
    "deep": "send(frames(data(b'[' * 100_000 + b']' * 100_000)))",
    "deep header": "send(frames(b'{}', b'[' * 100_000))",
    "digits": "send(frames(data(b'9' * 10_000)))",
    "no number": "send(frames(data(b'NaN')))",
    "half a character": "send(frames(data(b'\"\\\\ud800\"')))",
    "no message": "send([b'<IDS|MSG>', b''])",
    "no signature": "send(frames(b'{}')[:2] + [b'x' * 1000] * 4)",
    "no date": """send(frames(
        b'{}', b'{"msg_id": 1, "msg_type": [], "date": "0001-01-01T00:00:00"}'))""",
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
async def test_a_forged_message_of_a_kernels_ends_nothing(
    any_workshop: CodeRunner, forged: str
) -> None:
    run = await told(any_workshop, f"{FORGE}\nkept = 7\n{forged}\nprint('went on')")
    assert run.ending.status == "ok", run
    assert run.stdout == "went on\n"
    assert (await told(any_workshop, "kept")).result == "7"


MANY_SIGNATURES = """
for number in range(20):
    send([b'<IDS|MSG>', bytes([number]) * 25_000_000, *frames(b'{}')[2:]])
"""


async def test_signatures_without_end_fill_no_memory_of_the_servers(
    any_workshop: CodeRunner,
) -> None:
    await told(any_workshop, FORGE)
    forget_most_memory()
    before = most_memory_mib()
    assert (await told(any_workshop, MANY_SIGNATURES)).ending.status == "ok"
    assert most_memory_mib() - before < 200


PAYLOAD = """
kernel = get_ipython().kernel
kernel.shell.payload_manager.write_payload = lambda *a, **k: None
kernel.shell.payload_manager.read_payload = lambda: [5, 'x', None, {'source': ['page']}]
"""


async def test_a_reply_with_an_odd_payload_ends_the_run_like_any_other(
    any_workshop: CodeRunner,
) -> None:
    assert (await told(any_workshop, PAYLOAD)).ending.status == "ok"
    assert (await told(any_workshop, "1 + 1")).result == "2"


CUT = """
import os, socket, stat, time
kernel = get_ipython().kernel
def cut(said):
    for number in range(3, 200):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                with socket.socket(fileno=os.dup(number)) as line:
                    line.setblocking(True)
                    line.send(said)
                    line.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["cut(b'\\xff' * 100)", "cut(b'')"], ids=["garbage", "hung up"])
async def test_a_kernel_that_cuts_its_own_lines_is_replaced_and_told_of_once(
    code_runner: CodeRunner, how: str
) -> None:
    run = await told(code_runner, f"{CUT}\nkept = 7\n{how}\ntime.sleep(30)")
    assert run.ending.status == "died"
    assert "cut the line" in run.ending.detail
    run = await told(code_runner, "print('heard', 'kept' in globals())")
    assert (run.ending.status, run.ending.detail, run.stdout) == ("ok", "", "heard False\n")


@pytest.mark.slow
async def test_lines_that_are_cut_between_two_runs_are_told_of_with_the_next(
    any_workshop: CodeRunner,
) -> None:
    later = f"{CUT}\nimport threading\nthreading.Timer(0.5, cut, [b'']).start()"
    assert (await told(any_workshop, later)).ending.status == "ok"
    details: list[str] = []
    async with asyncio.timeout(RUN_S):
        while not details or not details[-1]:
            details.append((await told(any_workshop, "1")).ending.detail)
    assert "variables are lost" in details[-1]
    run = await told(any_workshop, "print('heard')")
    assert (run.ending.detail, run.stdout) == ("", "heard\n")


HANGS_UP = """
import os, socket, struct, sys, time
HEADER = struct.Struct('>cI')
own = socket.socket(fileno=int(sys.argv[1]))
link = own.makefile('rwb')
link.write(HEADER.pack(b'B', 2) + b'{}')
link.flush()
link.read(HEADER.size)
HOW
time.sleep(600)
"""


@pytest.mark.parametrize(
    "how",
    ["own.shutdown(socket.SHUT_RDWR)", "own.sendall(HEADER.pack(b'o', 2**32 - 1))"],
    ids=["hung up", "absurd"],
)
async def test_a_driver_that_cuts_its_line_is_replaced_and_told_of_once(
    any_workshop: CodeRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    program = tmp_path / "driver.py"
    program.write_text(HANGS_UP.replace("HOW", how))
    with monkeypatch.context() as patch:
        patch.setattr(driver_runtime, "DRIVER", program)
        run = await told(any_workshop, "echo", "bash")
        assert run.ending.status == "died"
        assert "cut the line" in run.ending.detail
