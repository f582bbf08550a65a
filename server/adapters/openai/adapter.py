"""The routes of the OpenAI API: models, chat completions, responses, sound.

A program shows a key, which is the token of a paired device: its person and rights are those of the
key, and a program's wish is asked about like everybody's.
"""

import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import unquote

from websockets.http11 import Response

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.adapters.openai import chat_output, responses_output
from sayso.server.adapters.openai.audio import Audio
from sayso.server.adapters.openai.conversation_input import (
    MODEL,
    PLAIN_MODEL,
    ConversationInput,
    read_chat,
    read_response,
)
from sayso.server.adapters.openai.errors import BadRequest, answered_error
from sayso.server.adapters.openai.request_run import (
    Failed,
    RequestRun,
    RequestRuns,
    Text,
    Usage,
)
from sayso.server.adapters.plain_model import PlainModel, PlainModelError
from sayso.server.adapters.turn_client import Host
from sayso.server.gateway.http.adapter_routes import HttpRequest, Route, Routes
from sayso.server.gateway.http.responses import answered_events, answered_json
from sayso.server.speech.speech import Speech
from sayso.server.trust.principal import OWNER

NAMED: Final = "X-Sayso-Conversation"
"""The header with which a client names a conversation of its person's."""
REPEATED: Final = "x-stainless-retry-count"
"""The header with which a client says that it asks again."""

PLAIN_ONLY_OWNER: Final = "Only the owner's programs may ask the language model alone."


class OpenAIAdapter:
    """Answers programs that speak the OpenAI API."""

    def __init__(self, host: Host, plain: PlainModel, speech: Speech) -> None:
        self._plain = plain
        self._audio = Audio(speech)
        self._runs = RequestRuns(host, lambda run: chat_output.shown(run.items))

    def add_to(self, routes: Routes) -> None:
        """From now on its paths are answered."""
        routes.add(Route("GET", "/v1/models", self.models))
        routes.add(Route("GET", "/v1/models/", self.model))
        routes.add(Route("POST", "/v1/chat/completions", self.chat))
        routes.add(Route("POST", "/v1/responses", self.responses))
        self._audio.add_to(routes)

    async def close(self) -> None:
        """The server ends."""
        await self._runs.close()

    # ── Models ───────────────────────────────────────────────────────────────────────────────────

    async def models(self, _: HttpRequest) -> Response:
        """Which there are."""
        there = [_model(name) for name in (MODEL, PLAIN_MODEL)]
        return answered_json({"object": "list", "data": there})

    async def model(self, request: HttpRequest) -> Response:
        """One of them."""
        name = unquote(request.path.rpartition("/")[2])
        if name not in (MODEL, PLAIN_MODEL):
            sentence = f"There are the models {MODEL} and {PLAIN_MODEL} here."
            return answered_error(BadRequest(sentence, HTTPStatus.NOT_FOUND))
        return answered_json(_model(name))

    # ── Answers ──────────────────────────────────────────────────────────────────────────────────

    async def chat(self, request: HttpRequest) -> Response:
        """Answer a chat."""
        name = f"chatcmpl-{secrets.token_hex(12)}"
        try:
            body, asked = await _read(request, read_chat)
            run = self._begin(request, body, asked)
            if asked.stream:
                return answered_events(chat_output.chunks(run, name))
            return answered_json(await chat_output.whole(run, name))
        except BadRequest as error:
            return answered_error(error)

    async def responses(self, request: HttpRequest) -> Response:
        """Answer with items: words, code that ran, questions."""
        name = f"resp_{secrets.token_hex(12)}"
        try:
            body, asked = await _read(request, read_response)
            run = self._begin(request, body, asked)
            if asked.stream:
                return answered_events(self._remembered(request, run, name))
            answer = await responses_output.whole(run, name)
        except BadRequest as error:
            return answered_error(error)
        self._runs.answers(request.who, name, run.conversation)
        return answered_json(answer)

    async def _remembered(
        self, request: HttpRequest, run: RequestRun, name: str
    ) -> AsyncIterator[bytes]:
        events = responses_output.events(run, name)
        async for one in events:
            if run.conversation:
                self._runs.answers(request.who, name, run.conversation)
            yield one

    def _begin(self, request: HttpRequest, body: bytes, asked: ConversationInput) -> RequestRun:
        if asked.model == PLAIN_MODEL:
            return self._plainly(request, asked)
        named = request.headers.get(NAMED, "")
        repeats = request.headers.get(REPEATED, "0") != "0"
        return self._runs.begin(request.who, body, asked, named=named, repeats=repeats)

    def _plainly(self, request: HttpRequest, asked: ConversationInput) -> RequestRun:
        if request.who.person != OWNER:
            raise BadRequest(PLAIN_ONLY_OWNER, HTTPStatus.FORBIDDEN)
        run = RequestRun(asked)
        self._runs.carry_out(run, self._reply_plainly(run))
        return run

    async def _reply_plainly(self, run: RequestRun) -> None:
        asked = run.asked
        messages = [{"role": "system", "content": asked.instructions}] if asked.instructions else []
        for said in asked.past:
            messages.append({"role": "user", "content": said.asked})
            messages.append({"role": "assistant", "content": said.answered})
        messages.append({"role": "user", "content": asked.text})
        try:
            async for piece in self._plain.plain_reply(messages):
                run.add(Text(piece) if isinstance(piece, str) else Usage(*piece))
        except PlainModelError as error:
            run.add(Failed(str(error)))


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "sayso"}


async def _read(
    request: HttpRequest, read: Callable[[Mapping[str, Any]], ConversationInput]
) -> tuple[bytes, ConversationInput]:
    """The body, and what it asks for. Raises BadRequest."""
    body = await request.whole_body()
    try:
        value = read_json(body.decode())
    except (UnicodeDecodeError, UntrustedJsonError) as error:
        raise BadRequest(f"The body must be a JSON object: {error}.") from None
    if not isinstance(value, dict):
        raise BadRequest("The body must be a JSON object.")
    return body, read(value)
