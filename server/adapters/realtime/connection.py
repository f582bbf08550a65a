"""Talks to one Realtime client: its events come in, and what the conversation tells goes out."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Literal

from websockets.exceptions import ConnectionClosed

from sayso.protocol.errors import ProtocolError
from sayso.protocol.messages import (
    FromServer,
    ListenEnd,
    SttFinal,
    SttPartial,
    Text,
    TurnState,
)
from sayso.server.adapters.realtime import client_events as c
from sayso.server.adapters.realtime.answers import Answers
from sayso.server.adapters.realtime.client_events import RATE, BadEventError, ClientEvent
from sayso.server.adapters.realtime.heard_speech import HeardSpeech
from sayso.server.adapters.realtime.outbox import RealtimeOutbox, new_id
from sayso.server.adapters.realtime.session import RealtimeSession
from sayso.server.adapters.voice_client import VoiceClient
from sayso.server.gateway.http.adapter_routes import OpenedSocket
from sayso.server.speech.recognition.recognizer import HEARING_RATE
from sayso.server.store.errors import StoreError
from sayso.server.turn.events import Ticket

TRUNCATED_WITHIN_S: Final = 1.0
"""A client that hears a voice over an answer says within so much how much of it was heard. The
answer is held meanwhile, and what the clock says counts where the client says nothing."""
LONGEST_S: Final = 58.0
"""Seconds of sound in one message, where the client says where it ends."""

Joins = Callable[[str, Sequence[tuple[str, str]], "RealtimeConnection"], Awaitable[VoiceClient]]
"""Makes a session take part in a conversation: by instructions, and what was said before."""


class RealtimeConnection:
    """Reads in `talk`; writes what the conversation tells as it comes."""

    def __init__(
        self, opened: OpenedSocket, joins: Joins, has_voice: Callable[[str], Awaitable[bool]]
    ) -> None:
        self._opened = opened
        self._joins = joins
        self._has_voice = has_voice
        self._outbox = RealtimeOutbox(opened.socket)
        self._session = RealtimeSession.begun()
        self._session_id = new_id("sess")
        self._voice: VoiceClient | None = None
        self._heard = HeardSpeech(self._outbox)
        self._answers = Answers(self._outbox, self._shown)
        self._past: list[tuple[str, str]] = []
        """What was said before the conversation began here."""
        self._typed: list[str] = []
        """Words that wait for `response.create`."""
        self._truncating: asyncio.TimerHandle | None = None

    async def talk(self) -> None:
        """Until the client leaves."""
        writer = asyncio.create_task(self._outbox.run(), name="writer of a realtime client")
        self._tell_session("session.created")
        try:
            async for text in self._opened.socket:
                await asyncio.sleep(self._opened.rates.wait_for(""))
                await self._read(text)
        except (ConnectionClosed, TimeoutError):
            pass
        finally:
            if self._truncating:
                self._truncating.cancel()
            if self._voice:
                self._voice.leave()
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)

    # ── What the client wants ────────────────────────────────────────────────────────────────────

    async def _read(self, text: str | bytes) -> None:
        try:
            await self._take(c.read_event(text))
        except BadEventError as error:
            self._outbox.complain(str(error), "invalid_request_error", error.event_id)
        except StoreError as error:
            self._outbox.complain(f"This could not be kept, so nothing was begun: {error}")
        except ProtocolError as error:  # it asks too much
            if error.fatal:
                raise
            self._outbox.complain(str(error), "rate_limit_error")

    async def _take(self, event: ClientEvent) -> None:
        match event:
            case c.SessionUpdate(session=wanted):
                await self._update(wanted)
            case c.AudioAppend(pcm=pcm):
                await self._append(pcm)
            case c.AudioCommit():
                self._commit()
            case c.AudioClear():
                self._clear()
            case c.Message():
                await self._add_message(event)
            case c.CreateResponse():
                await self._create_response()
            case _:
                self._take_about(event)

    def _take_about(self, event: c.Decision | c.Truncate | c.Retrieve | c.CancelResponse) -> None:
        """What is about something that was sent."""
        match event:
            case c.Decision():
                self._decide(event)
            case c.Truncate(item=item, heard_ms=heard):
                self._truncate(item, heard)
            case c.Retrieve(item=name):
                if (item_kept := self._outbox.items.get(name) or self._answers.item(name)) is None:
                    raise BadEventError("There is no item of this id.")
                self._outbox.emit({"type": "conversation.item.retrieved", "item": item_kept})
            case c.CancelResponse():
                if self._answers.current is None:
                    raise BadEventError("There is no answer to cancel.")
                self._stop("client_cancelled")

    async def _update(self, wanted: Mapping[str, Any]) -> None:
        before, changed = self._session, self._session.updated(wanted)
        if self._voice and changed.instructions != before.instructions:
            raise BadEventError("The instructions hold from before the first words on.")
        if changed.detection != before.detection and self._voice:
            self._clear()
        self._session = changed
        self._answers.speaks, self._heard.transcribes = changed.speaks, changed.transcribes
        if self._voice:
            if changed.speaks != before.speaks:
                self._voice.join(speaks=changed.speaks)
            if (changed.voice, changed.speed) != (before.voice, before.speed):
                await self._prefer(self._voice)
        self._tell_session("session.updated")

    def _tell_session(self, kind: str) -> None:
        self._outbox.emit({"type": kind, "session": self._session.shown(self._session_id)})

    async def _here(self) -> VoiceClient:
        if self._voice is None:
            self._voice = await self._joins(self._session.instructions, self._past, self)
            self._answers.conversation = self._voice.conversation.id
            self._answers.may_approve = self._voice.may_approve
            self._voice.join(speaks=self._session.speaks)
            if self._session.voice or self._session.speed != 1.0:
                await self._prefer(self._voice)
        return self._voice

    async def _prefer(self, voice: VoiceClient) -> None:
        """Speak as the client wants, where there is such a voice: most know other makers' only."""
        name = self._session.voice
        there = bool(name) and await self._has_voice(name)
        voice.prefer(name if there else None, self._session.speed)

    # ── What is said ─────────────────────────────────────────────────────────────────────────────

    async def _append(self, pcm: bytes) -> None:
        voice = await self._here()
        free = self._session.detection is not None
        if not voice.listens:
            self._begin_to_hear(voice, "hands_free" if free else "ptt")
        await self._hear(voice, pcm, looks=free and self._answers.state.mouth == "silent")

    def _begin_to_hear(
        self, voice: VoiceClient, how: Literal["ptt", "hands_free"], item: str = ""
    ) -> None:
        self._opened.rates.check(Text(""))
        self._heard.begin(item)
        voice.listen(how, self._on_screen)

    async def _hear(self, voice: VoiceClient, pcm: bytes, *, looks: bool) -> None:
        as_heard = pcm[: len(pcm) * HEARING_RATE // RATE]
        await asyncio.sleep(self._opened.rates.wait_for(as_heard))
        self._heard.feed(voice.hear(pcm), looks=looks)
        if voice.listens == "ptt" and voice.heard_s > LONGEST_S:
            voice.unheard()
            raise BadEventError(f"A message has {LONGEST_S:g} seconds of sound at most.")

    @property
    def _on_screen(self) -> str:
        return self._answers.question.id if self._answers.question else ""

    def _commit(self) -> None:
        if self._session.detection is not None:
            raise BadEventError("Where `turn_detection` is set, what is said is committed by it.")
        if self._voice is None or not self._voice.listens or self._heard.is_committed:
            raise BadEventError("The input audio buffer is empty.")
        self._heard.commit()

    def _clear(self) -> None:
        if self._voice and not self._heard.is_committed:
            self._voice.unheard()
        self._outbox.emit({"type": "input_audio_buffer.cleared"})

    async def _add_message(self, message: c.Message) -> None:
        if message.pcm and message.role == "user":
            await self._add_sound(message)
            return
        if message.role == "user":
            self._typed.append(message.text)
        elif self._voice is None:
            self._note_past(message)
        else:
            raise BadEventError("What others said can be told only before the first answer.")
        kind = "output_text" if message.role == "assistant" else "input_text"
        item = {
            "id": message.id or new_id("item"),
            "object": "realtime.item",
            "type": "message",
            "role": message.role,
            "status": "completed",
            "content": [{"type": kind, "text": message.text}],
        }
        self._outbox.add_item(item)

    def _note_past(self, message: c.Message) -> None:
        """What was said before this session began."""
        if message.role == "assistant":
            self._past.append(("\n".join(self._typed), message.text))
            self._typed.clear()
        else:
            told = f"{self._session.instructions}\n{message.text}".strip()
            self._session = self._session.updated({"instructions": told})

    async def _add_sound(self, message: c.Message) -> None:
        if self._session.detection is not None:
            raise BadEventError("Where `turn_detection` is set, sound is appended to the buffer.")
        voice = await self._here()
        if not voice.listens:
            self._begin_to_hear(voice, "ptt", message.id)
        await self._hear(voice, message.pcm, looks=False)
        if not self._heard.is_committed:
            self._heard.commit()

    # ── Answers ──────────────────────────────────────────────────────────────────────────────────

    async def _create_response(self) -> None:
        if self._answers.current:
            raise BadEventError("An answer is under way: cancel it first, or wait for its end.")
        voice = await self._here()
        self._opened.rates.check(Text(""))
        said, self._typed = "\n".join(self._typed).strip(), []
        committed = voice.listens == "ptt" and self._heard.is_committed
        if not said and not committed:
            raise BadEventError("There is nothing to answer: say or write something first.")
        if committed:
            voice.listened()
        if said:
            voice.type(said, self._on_screen)
        self._answers.begin()

    def _decide(self, decision: c.Decision) -> None:
        question = self._answers.question
        if not self._voice or not question or decision.question != f"mcpr_{question.id}":
            raise BadEventError("That question is settled already, or was never asked here.")
        self._answers.goes_on()
        self._voice.decide(question.id, question.nonce, approved=decision.approved)
        item = {
            "id": decision.id or new_id("item"),
            "object": "realtime.item",
            "type": "mcp_approval_response",
            "approval_request_id": decision.question,
            "approve": decision.approved,
        }
        self._outbox.add_item(item)

    def _truncate(self, item: str, heard_ms: int) -> None:
        start = self._answers.start_of(item)
        if start is None or self._voice is None:
            raise BadEventError("There is no spoken answer of this id, or it is over.")
        if self._voice.plays:
            why: Literal["turn_detected", "client_cancelled"] = (
                "turn_detected" if self._heard.has_begun else "client_cancelled"
            )
            self._stop(why, start / RATE + heard_ms / 1000)
        told = {"item_id": item, "content_index": 0, "audio_end_ms": heard_ms}
        self._outbox.emit({"type": "conversation.item.truncated", **told})

    def _stop(
        self, why: Literal["turn_detected", "client_cancelled"], heard_s: float | None = None
    ) -> None:
        """Nothing more of the answer; so much of it was heard."""
        if self._truncating:
            self._truncating.cancel()
            self._truncating = None
        if self._voice:
            self._answers.cut(why)
            self._voice.interrupt(heard_s)

    def _shown(self, question: str) -> None:
        if self._voice:
            self._voice.shown(question)

    # ── What the conversation tells ──────────────────────────────────────────────────────────────

    def told(self, message: FromServer, _: Ticket) -> None:
        """Make events of it."""
        match message:
            case ListenEnd():
                if self._voice:
                    self._voice.utterance_ended()
                self._heard.ended(message)
            case SttPartial(stable=stable):
                if self._session.detection is not None and stable:
                    self._heard.somebody_speaks()
                self._heard.partly_known(stable)
            case SttFinal(text=words):
                self._heard.known(words)
                if not words:
                    self._answers.came_to_nothing()
            case TurnState(mouth=mouth):
                if mouth == "ducked" and self._answers.state.mouth != "ducked":
                    self._voice_over_answer()
                self._answers.told(message)
            case _:
                self._answers.told(message)

    def sounded(self, pcm: bytes) -> None:
        """Speech of the answer."""
        self._answers.sounded(pcm)

    def _voice_over_answer(self) -> None:
        self._heard.somebody_speaks()
        if self._session.interrupts and self._heard.has_begun and self._truncating is None:
            loop = asyncio.get_running_loop()
            self._truncating = loop.call_later(TRUNCATED_WITHIN_S, self._stop, "turn_detected")
