"""Understands and answers, in one conversation, what needs no language model.

Which language a sentence is in: what the device says that it speaks; else what the recogniser found
this utterance to be in, or the device's earlier ones; else the usual voice's.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from sayso.server.agent.loop import Agent
from sayso.server.agent.parsing.fences import fenced
from sayso.server.agent.record.undo import UndoRequests
from sayso.server.conversations.preferences import Preferences
from sayso.server.conversations.reflexes.reflex_responder import ReflexResponder
from sayso.server.conversations.reflexes.speaking_actions import SpeakingActions
from sayso.server.conversations.reflexes.status_actions import StatusActions
from sayso.server.conversations.transcript import Transcript
from sayso.server.conversations.utterance_listener import UtteranceListener
from sayso.server.reflexes.asker import Asker
from sayso.server.reflexes.memory.memory_reflexes import ForgetMemory, Recall, Remember
from sayso.server.reflexes.reflex import Elsewhere, ListTimers, Redo, TellStatus, Undo
from sayso.server.speech.recognition import recognizer
from sayso.server.speech.speech import Speech
from sayso.server.speech.synthesis.chunk_renderer import SpeakingStyle
from sayso.server.speech.synthesis.device_language import SURE
from sayso.server.turn.effects import Listen
from sayso.server.turn.events import (
    Event,
    Form,
    Heard,
    Interrupted,
    Joined,
    Left,
    Meaning,
    Typed,
)
from sayso.server.turn.relevance.address import without_wake_word
from sayso.server.turn.relevance.request_form import asks_for_something
from sayso.server.undo.results import Undone

CHANGES_CHARS: Final = 4_000
"""Of a difference that is shown as an answer: two screens."""

AGENTS: Final = "another agent's words"
"""What a person is told that those are that an agent has asked here."""

MOST_DEVICES: Final = 64
"""Devices whose last language is kept: many times over what takes part in one conversation."""


class ConversationReflexes:
    """Of one conversation."""

    def __init__(
        self,
        conversation: str,
        responder: ReflexResponder,
        speech: Speech,
        preferences: Preferences,
        undo_requests: UndoRequests,
        transcript: Transcript,
        agent: Agent,
    ) -> None:
        self._conversation = conversation
        self._responder = responder
        self._recognition = speech.recognition
        self._rivals = speech.rivals
        self._synthesis = speech.synthesis
        self._preferences = preferences
        self._undo_requests = undo_requests
        self._speaking = SpeakingActions(
            speech.synthesis, preferences, responder.languages.answers, transcript
        )
        self._status = StatusActions(agent, responder.languages.answers)
        self._read = agent.permissions.outside_content.read
        self._of_memory: deque[str] = deque(maxlen=MOST_DEVICES)
        """Answers about what is remembered."""
        self._agents: set[str] = set()
        """Devices that are other agents."""
        self._last_in: dict[str, str] = {}
        """By device: the language of what was last said there, where that is known."""

    def noticed(self, event: Event) -> Event:
        """The same with what it means, if it is something typed. A stop key also stops what
        rings."""
        match event:
            case Joined(device, is_agent=True):
                self._agents.add(device)
            case Left(device):
                self._agents.discard(device)
            case Typed(device, text):
                if device in self._agents:  # what it has read of strangers may speak by it
                    self._read([AGENTS])
                self._last_in.pop(device, None)
                meaning, rang = self._acted_upon(device, text)
                return replace(event, meaning=meaning, rang=rang)
            case Interrupted(device) if device:
                self.silence()
        return event

    def listen(self, listen: Listen, happened: Callable[[Event], None]) -> UtteranceListener:
        """Begin to hear an utterance."""
        told = self._preferences.style(listen.device).language
        language = told or self._recognition.language_of(listen.device) or self._synthesis.language
        meaning = partial(self.meaning, listen.device)
        parts = (listen, self._recognition, happened, meaning, self._rivals)
        return UtteranceListener(*parts, language=language, fixed_language=told)

    def heard(self, utterance: int, device: str, transcript: recognizer.Transcript) -> Heard:
        """What was said in an utterance, without the wake word, and what it means."""
        self._last_in.pop(device, None)
        if transcript.language_sure >= SURE:
            self._remember(device, transcript.language)
        text = without_wake_word(transcript.text)
        form: Form = "request" if asks_for_something(text) else "remark"
        if self._responder.is_reflex(text, self._asker(device)):
            form = "reflex"
        meaning, rang = self._acted_upon(device, text)
        return Heard(utterance, text, meaning, form, rang)

    def meaning(self, device: str, text: str) -> Meaning:
        """What words mean for the turn, whoever was called before them."""
        text = without_wake_word(text)
        meaning = self._responder.meaning(text, self._language(device))
        if meaning == "request" and self._responder.is_reflex(text, self._asker(device)):
            return "aside"
        return meaning

    def silence(self) -> bool:
        """Stop what rings; returns whether anything did."""
        return self._responder.silence(self._conversation)

    async def answer(self, text: str, device: str, refusal: str) -> str | None:
        """Answer what needs no language model; None for what does. `refusal`: what is said where
        the device may not decide; empty where it may."""
        text, at_home = without_wake_word(text), self._responder.at_home
        understood = self._responder.understand(text, self._asker(device))
        if understood is None:
            here = self._asker(device)
            expected = partial(self._responder.is_for_the_house, text, here)
            return await at_home.answer(text, here, refusal, expected)
        reflex, asker = understood
        self._remember(device, asker.language)
        undoing = self._responder.languages.answers(asker.language).undoing
        match reflex:
            case Remember() | Recall() | ForgetMemory():
                return await self._answer_of_memory(reflex, asker)
            case Elsewhere():
                done = await at_home.answer(text, asker, refusal, lambda: True)
                return done or await self._responder.answer(reflex, asker)
            case Undo() | Redo() if refusal:
                return refusal
            case Undo(requests=most, about=about):
                return undoing.undone(await self._undo_requests.undo(device, most, about))
            case Redo():
                return undoing.redone(await self._undo_requests.redo(device))
            case TellStatus("changes"):
                return await self._changes(asker) or undoing.undone(Undone("nothing"))
        if isinstance(reflex, ListTimers) and self._means_work(reflex):
            reflex = TellStatus("left")
        if told := await self._status.answer(reflex, asker.language):
            return told
        about_voice = await self._speaking.answer(reflex, asker)
        return about_voice or await self._responder.answer(reflex, asker)

    async def _answer_of_memory(
        self, reflex: Remember | Recall | ForgetMemory, asker: Asker
    ) -> str | None:
        """None for the model: what is kept for good are the person's words, and no agent's."""
        if asker.device in self._agents and not isinstance(reflex, Recall):
            return None
        told = await self._responder.answer(reflex, asker)
        self._of_memory += [told] if told else []
        return told

    def is_of_memory(self, answer: str) -> bool:
        """Whether an answer tells what is, or was, remembered: no log keeps a copy of that."""
        return any(told in answer for told in self._of_memory)

    async def _changes(self, asker: Asker) -> str:
        """What "undo that" would take back, in a fence, which is not spoken; empty if that is
        nothing."""
        difference = (await self._undo_requests.diff()).rstrip()
        shown = fenced("diff", difference[:CHANGES_CHARS])
        answers = self._responder.languages.answers(asker.language).status
        whole = len(difference) <= CHANGES_CHARS
        return answers.changes(shown, whole=whole) if difference else ""

    def stopped(self, device: str) -> str:
        """That work was stopped, and how far it is, to a device's person."""
        return self._status.stopped(self._language(device))

    def _means_work(self, asked: ListTimers) -> bool:
        """Whether "what's left?" is about work, because no timer runs."""
        open_timers = self._responder.reminders.all(self._conversation, asked.kind)
        bare = asked.kind == "timer" and not asked.name
        return bare and self._status.goes_on and not open_timers

    async def own_words(self, device: str) -> str:
        """The language of the turn's own few words: the device's, if there is a voice for it, and
        none if there is not."""
        wanted = self._preferences.style(device).language
        unspoken = wanted and not await self._synthesis.can_speak(wanted)
        return "" if unspoken else wanted or self._synthesis.language

    def style(self, device: str, rates: tuple[int, ...]) -> SpeakingStyle:
        """How to speak to a device: as it prefers, in the language that was last spoken there."""
        style = self._preferences.style(device)
        language = style.language or self._last_in.get(device, "")
        return replace(style, language=language, rates=rates)

    def _acted_upon(self, device: str, text: str) -> tuple[Meaning, bool]:
        """What words mean that were said to the end, and whether they silenced an alarm. Such a
        stop is for the alarm alone; the work that goes on meanwhile is ended by the next one."""
        meaning = self.meaning(device, text)
        rang = meaning == "stop" and self.silence()
        return ("aside" if rang and self._status.is_working else meaning), rang

    def _asker(self, device: str) -> Asker:
        return Asker(device, self._conversation, self._language(device))

    def _remember(self, device: str, language: str) -> None:
        self._last_in[device] = language
        if len(self._last_in) > MOST_DEVICES:
            del self._last_in[next(iter(self._last_in))]

    def _language(self, device: str) -> str:
        return (
            self._preferences.style(device).language
            or self._last_in.get(device, "")
            or self._recognition.language_of(device)
            or self._synthesis.language
        )
