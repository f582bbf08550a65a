"""Runs code while the connection keeps breaking: nothing runs twice, and nobody waits in vain.

Real conversations, interpreters in the sandbox and questions for a yes, over the product's own link
and listener. Each request appends its number to a file, which tells what really ran.
"""

import asyncio
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from sayso.client.session.link import Link
from sayso.client.session.link_events import LinkChange, LinkState
from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope
from sayso.protocol.version import SPOKEN
from sayso.server.agent.llm.model import ChatMessage
from sayso.server.gateway.listener import Listener
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import ensure
from sayso.server.runtimes.sandbox.self_test.proof import find_sandbox
from tests.fault_proxy import FaultProxy, faults
from tests.gateway.fault_injection import Toll
from tests.gateway.running_gateway import TOKEN
from tests.kernels import lent_home
from tests.plain_model import PlainModel
from tests.scripted_server import Host
from tests.server.running_server import running_server

RAN = "ran.txt"
REQUEST_S = 60.0
"""Longest for one request over a bad line on a busy machine."""
MOST_BYTES = 2_000
"""Between two cuts: one or two requests' worth."""
WANTS = ("reply.delta", "approval.request", "code.start", "code.out", "code.end", "metrics")


class Doer(PlainModel):
    """A language model that notes each request's number, in code, and says so."""

    name = "doer"

    def says(self, messages: Sequence[ChatMessage]) -> str:
        last = str(messages[-1]["content"])
        if asked := re.search(r"Do (\d+)\.", last):
            note = f"with open({RAN!r}, 'a') as ran: print({asked[1]}, file=ran)"
            return f"```python\n{note}\nprint('did {asked[1]}')\n```"
        return "Done."


async def endure(seed: int, requests: int) -> Toll:
    """So many requests, one after the other."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sayso-")))
        report, kernels = await find_sandbox(), await asyncio.to_thread(ensure, lent_home())
        if report.sandbox is None:
            raise SystemExit(f"There is no sandbox for code, because {report.reason}.")
        server = await stack.enter_async_context(
            running_server(
                folder,
                model=Doer(),
                code_runner=lambda place, reach, _: CodeRunner(place, kernels, report, reach),
            )
        )
        proxy = await stack.enter_async_context(FaultProxy(faults(seed, MOST_BYTES)))
        name = f"127.0.0.1:{proxy.port}"
        listener = Listener(Host(server), TOKEN, also=[name])
        stack.push_async_callback(listener.close)
        proxy.target = await listener.open("127.0.0.1", 0)
        caller = _Caller(f"ws://{name}/ws")
        await caller.call(requests)
        (conversation,) = server.conversations.open.values()
        ran = (Path(conversation.code_runner.where) / RAN).read_text().split()
        return caller.toll(ran, requests, proxy.cuts)


class _Caller:
    def __init__(self, url: str) -> None:
        hello = m.Hello(SPOKEN, "cells 1", "far", ("resume",), wants=WANTS)
        self._link = Link(url, hello, lambda: TOKEN)
        self._outputs: list[str] = []
        self._ended: list[str] = []
        self._over = 0
        self._anew = 0
        self._changed = asyncio.Event()
        self._cut_at: float | None = None
        self._resumed_s: list[float] = []

    async def call(self, requests: int) -> None:
        tasks = [asyncio.create_task(self._link.run()), asyncio.create_task(self._follow())]
        try:
            for number in range(requests):
                self._link.send(m.Text(f"Do {number}."))
                async with asyncio.timeout(REQUEST_S):
                    while self._over <= number:
                        self._changed.clear()
                        await self._changed.wait()
        except TimeoutError:
            pass  # What is missing is counted as lost.
        finally:
            await self._link.close()
            await asyncio.gather(*tasks)

    async def _follow(self) -> None:
        now = asyncio.get_running_loop().time
        async for event in self._link.events():
            match event:
                case LinkChange(state=LinkState.WAITING):
                    self._cut_at = self._cut_at or now()
                case LinkChange(session=("resumed" | "snapshot" | "anew") as how):
                    self._anew += how != "resumed"
                    if self._cut_at is not None:
                        self._resumed_s.append(now() - self._cut_at)
                    self._cut_at = None
                case Envelope(message=message):
                    self._take(message)
            self._changed.set()

    def _take(self, message: object) -> None:
        match message:
            case m.ApprovalRequest(id=name, nonce=nonce):
                self._link.send(m.Approve(name, nonce, "yes"))
            case m.CodeOut(text=text):
                self._outputs.append(text)
            case m.CodeEnd(id=name):
                self._ended.append(name)
            case m.Metrics():
                self._over += 1

    def toll(self, ran: Sequence[str], requests: int, cuts: int) -> Toll:
        """`ran`: the numbers in the file."""
        numbers = [str(number) for number in range(requests)]
        told = re.findall(r"did (\d+)", "".join(self._outputs))
        toll = Toll(cuts=cuts, anew=self._anew, resumed_s=self._resumed_s)
        toll.rerun = (Counter(ran) - Counter(numbers)).total()
        for came in (ran, told):
            toll.lost += (Counter(numbers) - Counter(came)).total()
        toll.lost += requests - len(set(self._ended))
        toll.doubled = (Counter(told) - Counter(numbers)).total()
        toll.doubled += len(self._ended) - len(set(self._ended))
        return toll
