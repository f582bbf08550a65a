"""Runs what clients ask for; a request that is repeated joins the first and runs nothing again."""

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from typing import Final

from sayso.protocol.messages import (
    Announce,
    ApprovalRequest,
    CodeEnd,
    CodeOut,
    CodeStart,
    Error,
    FromServer,
    Metrics,
    ReplyDelta,
)
from sayso.server.adapters.openai.continuations import Continuations
from sayso.server.adapters.openai.conversation_input import ConversationInput
from sayso.server.adapters.openai.errors import BadRequest
from sayso.server.adapters.turn_client import Host, TurnClient
from sayso.server.store.errors import StoreError
from sayso.server.trust.principal import Principal

log = logging.getLogger(__name__)

REPEATED_WITHIN_S: Final = 60.0
"""A client that saw no answer asks again within seconds, twice at most."""

LEFT_S: Final = 10.0
"""A client that is gone for longer than it waits before it asks again wants nothing more."""

RESPONSES_AT_MOST: Final = 500
"""Of one device, that can be gone on with."""


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Failed:
    """Why there is no answer, or no more of it."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Question:
    """What waits for the person's yes; `here`: the client may give it."""

    request: ApprovalRequest
    here: bool


@dataclass(frozen=True, slots=True)
class Usage:
    """What the answer took."""

    tokens_in: int = 0
    tokens_out: int = 0


Item = Text | CodeStart | CodeOut | CodeEnd | Question | Failed | Usage


class RequestRun:
    """One request of a client's, that several may read while it goes on."""

    def __init__(self, asked: ConversationInput) -> None:
        self.asked = asked
        self.conversation = ""
        self.client: TurnClient | None = None
        self.items: list[Item] = []
        self.is_over = False
        self._news = asyncio.Event()
        self._readers = 0
        self._leaving: asyncio.TimerHandle | None = None

    def add(self, item: Item) -> None:
        """Something came."""
        self.items.append(item)
        self._wake()

    def end(self) -> None:
        """Nothing more comes."""
        self.is_over = True
        self._wake()

    async def read(self) -> AsyncIterator[Item]:
        """All that came and comes. Once nobody reads any more, the work is soon stopped."""
        self._readers += 1
        if self._leaving:
            self._leaving.cancel()
        number = 0
        try:
            while True:
                while number < len(self.items):
                    yield self.items[number]
                    number += 1
                if self.is_over:
                    return
                await self._news.wait()
        finally:
            self._readers -= 1
            if not self._readers and not self.is_over:
                loop = asyncio.get_running_loop()
                self._leaving = loop.call_later(LEFT_S, self._nobody_reads)

    @property
    def text(self) -> str:
        """All that was answered in words."""
        return "".join(item.text for item in self.items if isinstance(item, Text))

    def _nobody_reads(self) -> None:
        if self.client and not self.is_over:
            self.client.stop()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


@dataclass(slots=True)
class _Asked:
    """A client's place in a conversation in which a question waits for it."""

    client: TurnClient
    request: ApprovalRequest
    watching: "asyncio.Task[None]"


class RequestRuns:
    """Begins requests, and knows which are under way."""

    def __init__(self, host: Host, answer_shown: Callable[[RequestRun], str]) -> None:
        """`answer_shown`: what a chat client is shown of a request, by which it goes on."""
        self._host = host
        self._answer_shown = answer_shown
        self._continuations = Continuations()
        self._runs: dict[tuple[str, str], RequestRun] = {}
        self._asked: dict[tuple[str, str], _Asked] = {}
        """By device and conversation."""
        self._responses: dict[str, dict[str, str]] = {}
        """By device and id: the conversations of responses."""
        self._names: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(
        self, who: Principal, body: bytes, asked: ConversationInput, *, named: str, repeats: bool
    ) -> RequestRun:
        """The request's run: the one that is under way, if a client asks for the same again."""
        key = (who.device, hashlib.sha256(f"{named}\n".encode() + body).hexdigest())
        if repeats and (there := self._runs.get(key)):
            return there
        run = self._runs[key] = RequestRun(asked)
        task = self.carry_out(run, self._work(run, who, named))
        loop = asyncio.get_running_loop()
        task.add_done_callback(lambda _: loop.call_later(REPEATED_WITHIN_S, self._forget, key, run))
        return run

    def carry_out(self, run: RequestRun, work: Coroutine[None, None, None]) -> "asyncio.Task[None]":
        """Do what a run is for; it ends with that."""
        task = asyncio.create_task(self._end_with(run, work), name="a client's request")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def answers(self, who: Principal, response: str, conversation: str) -> None:
        """A response got this id."""
        known = self._responses.setdefault(who.device, {})
        known[response] = conversation
        while len(known) > RESPONSES_AT_MOST:
            del known[next(iter(known))]

    async def close(self) -> None:
        """The server ends."""
        watching = [asked.watching for asked in self._asked.values()]
        for task in (*self._tasks, *watching):
            task.cancel()
        await asyncio.gather(*self._tasks, *watching, return_exceptions=True)

    def _forget(self, key: tuple[str, str], run: RequestRun) -> None:
        if self._runs.get(key) is run:
            del self._runs[key]

    # ── One request ──────────────────────────────────────────────────────────────────────────────

    async def _end_with(self, run: RequestRun, work: Coroutine[None, None, None]) -> None:
        try:
            await work
        except BadRequest as error:
            run.add(Failed(str(error)))
        except StoreError as error:
            run.add(Failed(f"This could not be kept, so nothing was begun: {error}"))
        except Exception:
            # The root of the task: a client must not wait for what broke.
            log.exception("a client's request broke")
            run.add(Failed("Something went wrong inside Sayso over that."))
        finally:
            run.end()

    async def _work(self, run: RequestRun, who: Principal, named: str) -> None:
        asked = run.asked
        run.conversation = await self._conversation(who, asked, named)
        waiting = self._asked.pop((who.device, run.conversation), None)
        client = await self._reply(run, waiting) if waiting else await self._ask(run, who)
        run.client = client
        if await self._follow(run, client):
            self._keep_asking((who.device, run.conversation), client)
        else:
            self._left(client)
        shown = self._answer_shown(run)
        self._continuations.leave(who.device, asked.digest_after(shown), run.conversation)

    async def _conversation(self, who: Principal, asked: ConversationInput, named: str) -> str:
        """Which conversation it is for. Raises BadRequest."""
        if named:
            if not await self._host.has_conversation(named, who.person):
                raise BadRequest(f"There is no conversation {named} of yours.")
            return (await self._host.conversation(named, who)).id
        if asked.previous:
            there = self._responses.get(who.device, {}).get(asked.previous, "")
            if not there:
                raise BadRequest("That response is not known any more: send the whole history.")
            return there
        if asked.digest_before and (
            there := self._continuations.take_up(who.device, asked.digest_before)
        ):
            return there
        if asked.decisions:
            for one in asked.decisions:
                for device, conversation in self._asked:
                    waiting = self._asked[device, conversation]
                    if device == who.device and waiting.request.id == approval_id(one.id)[0]:
                        return conversation
            raise BadRequest("That question is settled already, or was never asked here.")
        return await self._host.begin_conversation(who.person, asked.instructions, asked.past)

    async def _ask(self, run: RequestRun, who: Principal) -> TurnClient:
        if not run.asked.text:
            raise BadRequest("That question is settled already, or was never asked here.")
        place = await self._host.conversation(run.conversation, who)
        client = TurnClient(place, who, self._unique(who.name or "a program"))
        self._names.add(client.device)
        client.join()
        client.ask(run.asked.text)
        return client

    async def _reply(self, run: RequestRun, waiting: _Asked) -> TurnClient:
        """The person says something while their question waits."""
        waiting.watching.cancel()
        await asyncio.gather(waiting.watching, return_exceptions=True)
        client, request = waiting.client, waiting.request
        if client.question is None:  # it was decided elsewhere; what came of it is told first
            while (message := await client.next()) is not None:
                if isinstance(message, ReplyDelta):
                    run.add(Text(message.text))
            if run.asked.text:
                client.ask(run.asked.text)
            return client
        for one in run.asked.decisions:
            if approval_id(one.id) == (request.id, request.nonce):
                client.decide(request.id, request.nonce, approved=one.approved)
        if run.asked.text:
            await client.reply(run.asked.text, request.id)
        return client

    async def _follow(self, run: RequestRun, client: TurnClient) -> bool:
        """Whether it ended with a question that waits for this client."""
        try:
            while (message := await client.next()) is not None:
                if isinstance(message, ApprovalRequest):
                    here = client.may_approve and not message.tap
                    run.add(Question(message, here))
                    if here:
                        client.shown(message.id)
                        return True
                elif (item := _item(message)) is not None:
                    run.add(item)
        except asyncio.CancelledError:
            client.stop()
            self._left(client)
            raise
        return client.question is not None and client.may_approve and not client.question.tap

    # ── Questions that wait for a client's next request ──────────────────────────────────────────

    def _keep_asking(self, key: tuple[str, str], client: TurnClient) -> None:
        request = client.question
        if request is None:  # it was settled just now
            self._left(client)
            return
        watching = asyncio.create_task(self._until_settled(key, client, request.expires_s))
        self._asked[key] = _Asked(client, request, watching)

    async def _until_settled(
        self, key: tuple[str, str], client: TurnClient, expires_s: float
    ) -> None:
        """Take part as long as the question stands. What was decided elsewhere is done there."""
        try:
            await asyncio.sleep(expires_s)
        except asyncio.CancelledError:
            return
        self._asked.pop(key, None)
        self._left(client)

    def _left(self, client: TurnClient) -> None:
        client.leave()
        self._names.discard(client.device)

    def _unique(self, name: str) -> str:
        unique, number = name, 2
        while unique in self._names:
            unique, number = f"{name} {number}", number + 1
        return unique


def _item(message: FromServer) -> Item | None:
    """What a client is told of a message; nothing of most."""
    match message:
        case ReplyDelta(text=text):
            return Text(text)
        case Announce(text=text):
            return Text(f"{text}\n")
        case CodeStart() | CodeOut() | CodeEnd():
            return message
        case Error(message=sentence):
            return Failed(sentence)
        case Metrics(cost=cost):
            return Usage(int(cost.get("tokens_in", 0)), int(cost.get("tokens_out", 0)))
        case _:
            return None


def approval_id(written: str) -> tuple[str, str]:
    """The question's id and nonce in an item's id."""
    question, _, nonce = written.removeprefix("mcpr_").partition(".")
    return question, nonce
