"""The conversation's turn machine: events in, effects out, and the time of day as an argument.

Three regions run side by side, each in its own file:

    capture   idle -> listening -> committed -> idle           what the person says
    request   idle -> thinking <-> acting / awaiting approval  what is being done about it
    playback  silent -> speaking <-> ducked -> silent          what is said in answer

A press silences speech at once; the words that follow tell what it means. Before the answer began
they go on with the same sentence, later they are a new request, and the old one stops. Without a
key a voice only holds the answer, and the words decide:
    voice over the answer      held ──2 s without words, or "mm-hm"──▶ goes on where it stopped
                                 └──"stop", or other words──────────▶ cut at the last heard word
"""

from dataclasses import replace
from functools import singledispatchmethod
from typing import Literal

from sayso.protocol.messages import (
    Announce,
    ApprovalRequest,
    Error,
    SttFinal,
    SttPartial,
    TurnState,
)
from sayso.server.turn import events
from sayso.server.turn.announcements import Announcements
from sayso.server.turn.backchannel import is_backchannel
from sayso.server.turn.effects import Effect, Prefer, Settle, SettleByWord
from sayso.server.turn.events import Event, Ticket
from sayso.server.turn.filler import Filler
from sayso.server.turn.hurried_stop import is_hurried_stop
from sayso.server.turn.missed_speech import MissedSpeech
from sayso.server.turn.phrases import Aside, words
from sayso.server.turn.regions.capture import CaptureRegion
from sayso.server.turn.regions.code_question import CodeQuestion
from sayso.server.turn.regions.playback import PlaybackRegion
from sayso.server.turn.regions.request import RequestRegion
from sayso.server.turn.regions.shared_state import SharedState
from sayso.server.turn.request import Request
from sayso.server.turn.timing import SHOWN_S
from sayso.server.turn.utterance import Utterance


class TurnMachine:
    """Decides who speaks when, for one conversation."""

    def __init__(self, first_turn: int = 1, *, fillers: Literal["on", "off"] = "on") -> None:
        self._shared = SharedState(first_turn)
        self._capture = CaptureRegion(self._shared, self._nothing_said)
        self._playback = PlaybackRegion(self._shared)
        self._work = RequestRegion(self._shared, self._playback)
        self._code = CodeQuestion(self._shared, self._playback, self._work)
        self._filler = Filler(self._shared, self._capture, self._work, self._playback, fillers)
        self._announcements = Announcements(self._shared, self._playback)
        self._unheard = MissedSpeech(self._shared, self._playback, self._work, self._announcements)
        self._shown = TurnState("idle", "idle", "silent")

    def handle(self, event: Event, now: float) -> list[Effect]:
        """Take in what happened; returns what is to be done, in order."""
        self._shared.now = now
        self._on(event)
        self._go_on()
        return self._shared.take_effects()

    @property
    def deadline(self) -> float:
        """When TimePassed is to be handed in, if nothing else happens before."""
        return min(self._capture.deadline, self._playback.deadline, self._filler.deadline)

    @property
    def state(self) -> TurnState:
        """Where the three regions stand."""
        return TurnState(self._capture.state, self._work.state, self._playback.state)

    @property
    def ticket(self) -> Ticket:
        """The ticket of the answer that counts."""
        return self._shared.ticket

    def refusal_at(self, device: str) -> str:
        """What is said to what only those may decide who may approve; empty where they may."""
        known = self._shared.devices.get(device)
        may = known is not None and known.may_approve
        return "" if may else words("not_from_here", known.language if known else "en")

    def _go_on(self) -> None:
        """After every event: send what may be sent, take up what waits, show where things stand."""
        self._playback.go_on(wait=self._capture.is_pressed(self._playback.device))
        self._work.go_on()
        self._announcements.follow()
        if not self._work.is_busy and not self._capture.somebody_speaks:
            self._announcements.say_next()
        self._filler.follow()
        if self.state != self._shown:
            self._shown = self.state
            self._shared.tell(self._shown)

    @singledispatchmethod
    def _on(self, event: Event) -> None:
        raise TypeError(event)

    # --- devices come and go; time passes ---

    @_on.register
    def _(self, event: events.Joined) -> None:
        self._shared.devices[event.device] = event
        self._work.shows_nothing(event.device)
        if event.returns:
            self._capture.regain_link(event.device)
        self._shared.tell(self.state, event.device)
        self._announcements.joined(event.device)
        self._code.joined(event.device)
        if self._work.is_of(event.device):
            self._work.open_playback()
        self._unheard.joined(event)

    @_on.register
    def _(self, event: events.Preferred) -> None:
        self._shared.do(Prefer(event))

    @_on.register
    def _(self, event: events.LanguageFound) -> None:
        if known := self._shared.devices.get(event.device):
            self._shared.devices[event.device] = replace(known, language=event.language)

    @_on.register
    def _(self, event: events.Left) -> None:
        self._unheard.leaving(event.device)
        self._work.shows_nothing(event.device)
        self._shared.devices.pop(event.device, None)
        self._capture.lose_link(event)
        self._playback.lose(event.device)

    @_on.register
    def _(self, _: events.TimePassed) -> None:
        self._capture.look_at_the_clock()
        self._playback.look_at_the_clock()
        self._filler.look_at_the_clock()

    # --- a person opens the microphone ---

    @_on.register
    def _(self, event: events.ListenStarted) -> None:
        utterance = self._capture.open(event)
        self._note_what_it_is_over(utterance)
        if not utterance.hands_free:
            self._make_room_for_words(event.device)

    @_on.register
    def _(self, event: events.AudioHeard) -> None:
        self._capture.take(event)

    @_on.register
    def _(self, event: events.ListenStopped) -> None:
        self._capture.release(event)

    @_on.register
    def _(self, event: events.ListenCancelled) -> None:
        self._capture.cancel(event)

    @_on.register
    def _(self, event: events.VoiceBegan) -> None:
        if utterance := self._capture.get(event.utterance):
            utterance.voice_began(event.sample)
            self._note_what_it_is_over(utterance)
            self._playback.duck(utterance.device)

    @_on.register
    def _(self, event: events.VoiceEnded) -> None:
        self._capture.voice_ended(event)

    def _make_room_for_words(self, device: str) -> None:
        """A press: silence, and a second thought about an answer that has not begun."""
        self._work.take_back(device)
        if self._work.is_of(device) and self._work.state == "thinking":
            self._work.stop()
        elif self._playback.device == device:
            self._playback.silence()

    def _note_what_it_is_over(self, utterance: Utterance) -> None:
        quiet = utterance.began_at >= self._playback.quiet_since
        utterance.over_speech = self._playback.is_speaking or not quiet
        utterance.over_question = self._playback.is_asking

    # --- what was said ---

    @_on.register
    def _(self, event: events.PartlyHeard) -> None:
        if utterance := self._capture.get(event.utterance):
            self._shared.tell(SttPartial(event.stable, event.tail), utterance.device)
            if utterance.hands_free and self._playback.device == utterance.device:
                self._weigh(event, utterance.device)

    def _weigh(self, event: events.PartlyHeard, device: str) -> None:
        """Words over the answer hold it until they are understood; certain ones end it."""
        if not is_backchannel(event.stable + event.tail):
            self._playback.stay_ducked(device)
        if event.meaning == "stop" or not is_backchannel(event.stable):
            self._playback.silence()

    @_on.register
    def _(self, event: events.Heard) -> None:
        if utterance := self._capture.close(event.utterance):
            said = "" if self._is_mere_backchannel(event, utterance) else event.text
            self._shared.tell(SttFinal(said), None if said else utterance.device)
            if said:
                self._said(event, utterance)
            else:
                self._nothing_said(utterance)

    @_on.register
    def _(self, event: events.EarsRemarked) -> None:
        if utterance := self._capture.get(event.utterance):
            self._shared.tell(Announce(event.message, "low"), utterance.device)

    @_on.register
    def _(self, event: events.EarsFailed) -> None:
        if utterance := self._capture.close(event.utterance):
            self._shared.tell(Error("ears_failed", event.message), utterance.device)
            self._nothing_said(utterance)

    def _is_mere_backchannel(self, event: events.Heard, utterance: Utterance) -> bool:
        """Said over an answer without a key: it asks for nothing."""
        answers = event.meaning != "request" and self._is_awaited_by(utterance.device)
        is_mere = utterance.is_aside and is_backchannel(event.text) and not answers
        return is_mere and not self._code.is_for(utterance.device)

    def _is_stop(self, event: events.Heard, utterance: Utterance) -> bool:
        """Also a hurried one over an answer; over a question it may be what is answered."""
        aside = utterance.is_aside and not utterance.over_question
        return event.meaning == "stop" or (aside and is_hurried_stop(event.text))

    def _said(self, event: events.Heard, utterance: Utterance) -> None:
        device = utterance.device
        request = Request(
            device, event.text, utterance.released_at or self._shared.now, spoken=True
        )
        if self._is_stop(event, utterance):
            self._stop(device)
        elif self._is_answer_to_question(device, event.meaning):
            began_at, named = utterance.began_at, utterance.question
            self._settle(device, event.meaning, began_at, named, over_speech=utterance.over_speech)
        elif not self._code.takes(device, event.text, utterance.began_at, spoken=True):
            self._wanted(request)
        self._playback.resume(device)

    def _wanted(self, request: Request) -> None:
        if self._capture.is_speaking(request.device):
            self._work.go_on_with(request)
        else:
            self._work.take_back(request.device)
            self._work.ask(request)

    def _nothing_said(self, utterance: Utterance) -> None:
        """It was a tap, a cough or an error: all goes on as if it had not been."""
        if not self._capture.is_speaking(utterance.device):
            self._work.nothing_said(utterance.device)
            self._playback.resume(utterance.device)

    @_on.register
    def _(self, event: events.Typed) -> None:
        if event.meaning == "stop":
            self._stop(event.device)
        elif self._is_answer_to_question(event.device, event.meaning):
            now, named = self._shared.now, event.question
            self._settle(event.device, event.meaning, now, named, over_speech=False)
        elif not self._code.takes(event.device, event.text, self._shared.now, spoken=False):
            self._work.ask(Request(event.device, event.text, self._shared.now, spoken=False))

    @_on.register
    def _(self, event: events.Interrupted) -> None:
        self._playback.played(event)
        self._stop(event.device)

    def _stop(self, device: str) -> None:
        self._work.forget_unbegun(device)
        self._work.stop()

    # --- a question that waits for a yes ---

    @_on.register
    def _(self, event: events.Answered) -> None:
        self._shared.do(
            Settle(event.device, event.id, event.nonce, event.decision, event.code, event.lasting)
        )

    @_on.register
    def _(self, event: events.QuestionShown) -> None:
        self._work.question_shown(event)

    def _is_awaited_by(self, device: str) -> bool:
        return self._work.state == "awaiting_approval" and self._work.is_of(device)

    def _is_answer_to_question(self, device: str, meaning: events.Meaning) -> bool:
        return meaning in ("yes", "no") and self._is_awaited_by(device)

    def _settle(
        self,
        device: str,
        meaning: events.Meaning,
        began_at: float,
        named: str | None,
        *,
        over_speech: bool,
    ) -> None:
        """A no counts at any time; a yes if this device was sent the question whole, long enough
        before the person began, names no other one, it was heard out, and a word can settle it."""
        question = self._work.question
        if question is None:
            return
        self._work.open_playback()
        if meaning == "no":
            self._shared.do(SettleByWord(device, question.id, "no"))
        elif refusal := self._why_not(question, device, began_at, named, over_speech=over_speech):
            self._decline(device, refusal)
        else:
            self._shared.do(SettleByWord(device, question.id, "yes"))

    def _why_not(
        self,
        question: ApprovalRequest,
        device: str,
        began_at: float,
        named: str | None,
        *,
        over_speech: bool,
    ) -> Aside | None:
        """Why a yes in words does not count."""
        known, shown_at = self._shared.devices.get(device), self._work.shown_at(device)
        if known and not known.may_approve:
            return "not_from_here"
        if question.tap:
            return "on_a_screen"
        if shown_at is None:
            return "not_whole"
        if over_speech:
            return "ask_again"
        if named is not None and named != question.id:
            return "too_soon"
        return "too_soon" if began_at < shown_at + SHOWN_S else None

    def _decline(self, device: str, refusal: Aside) -> None:
        """Say why a yes did not count, aloud and on the screen."""
        self._playback.say_aside(refusal)
        if known := self._shared.devices.get(device):
            self._shared.tell(Announce(words(refusal, known.language), "low"), device)

    # --- what comes of the work ---

    @_on.register
    def _(self, event: events.ReplyGrew) -> None:
        self._work.grew(event)
        self._unheard.grew(event)

    @_on.register
    def _(self, event: events.AgentShowed) -> None:
        self._work.showed(event)

    @_on.register
    def _(self, event: events.CodeAsked) -> None:
        self._code.asked(event)

    @_on.register
    def _(self, event: events.WorkEnded) -> None:
        self._work.ended(event)

    @_on.register
    def _(self, event: events.WorkFailed) -> None:
        self._work.failed(event)

    @_on.register
    def _(self, event: events.Announced) -> None:
        self._announcements.add(event)

    # --- what is said ---

    @_on.register
    def _(self, event: events.ChunkSpoken) -> None:
        if self._playback.take(event):
            self._work.spoke(event)

    @_on.register
    def _(self, event: events.MouthDone) -> None:
        self._playback.complete(event.ticket)

    @_on.register
    def _(self, event: events.MouthRemarked) -> None:
        self._shared.tell(Announce(event.message, "low"))

    @_on.register
    def _(self, event: events.MouthFailed) -> None:
        if self._playback.complete(event.ticket):
            self._shared.tell(Error("mouth_failed", event.message))

    @_on.register
    def _(self, event: events.Played) -> None:
        self._playback.played(event)
