"""The conversation's turn machine: events in, effects out, and the time of day as an argument.

Three regions run side by side, each in its own file:

    capture   idle -> listening -> committed -> idle           what the person says
    request   idle -> thinking <-> acting / awaiting approval  what is being done about it
    playback  silent -> speaking <-> ducked -> silent          what is said in answer

A press silences speech at once; the words that follow tell what it means. Before the answer began
they go on with the same sentence; while code is at work they are about it, or beside it; later they
are a new request, and the old one stops. Without a key a voice holds the answer, and words decide:
    voice over the answer      held ──2 s without words, or "mm-hm"──▶ goes on where it stopped
                                 └──"stop", or other words──────────▶ cut at the last heard word
"""

from dataclasses import replace
from functools import singledispatchmethod
from typing import Literal

from sayso.protocol.messages import Announce, Error, ReplyDelta, SttFinal, SttPartial, TurnState
from sayso.server.turn import events
from sayso.server.turn.announcements import Announcements
from sayso.server.turn.during_work.narrator import Narrator
from sayso.server.turn.during_work.words import MeanwhileHappened, WordsDuringWork
from sayso.server.turn.effects import AnswerApproval, Effect, Prefer
from sayso.server.turn.events import Event, Ticket
from sayso.server.turn.files_along import with_files
from sayso.server.turn.filler import Filler
from sayso.server.turn.missed_speech import MissedSpeech
from sayso.server.turn.phrases import stop_words, words
from sayso.server.turn.regions.capture import CaptureRegion
from sayso.server.turn.regions.playback import PlaybackRegion
from sayso.server.turn.regions.question_from_code import CodeQuestion
from sayso.server.turn.regions.request import RequestRegion
from sayso.server.turn.regions.shared_state import SharedState
from sayso.server.turn.regions.spoken_approval import Answer, SpokenApproval
from sayso.server.turn.relevance.backchannel import is_backchannel
from sayso.server.turn.relevance.hurried_stop import is_hurried_stop
from sayso.server.turn.relevance.relevance import Relevance
from sayso.server.turn.request import Request
from sayso.server.turn.utterance import Utterance


class TurnMachine:
    """Decides who speaks when, for one conversation."""

    def __init__(self, first_turn: int = 1, *, fillers: Literal["on", "off"] = "on") -> None:
        self._shared = SharedState(first_turn)
        self._capture = CaptureRegion(self._shared, self._nothing_said)
        self._playback = PlaybackRegion(self._shared)
        self._work = RequestRegion(self._shared, self._playback)
        self._code = CodeQuestion(self._shared, self._playback, self._work, self._stop_by_word)
        self._relevance = Relevance(self._playback, self._work, self._code)
        self._answers = SpokenApproval(self._shared, self._playback, self._work)
        regions = (self._shared, self._capture, self._work, self._playback)
        self._filler = Filler(*regions, fillers)
        self._announcements = Announcements(*regions)
        self._narrator = Narrator(*regions, fillers)
        beside = (self._shared, self._work, self._announcements, self._narrator)
        self._meanwhile = WordsDuringWork(*beside)
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
        regions = (self._capture, self._playback, self._filler, self._narrator)
        return min(region.deadline for region in regions)

    @property
    def state(self) -> TurnState:
        """Where the three regions stand."""
        return TurnState(self._capture.state, self._work.state, self._playback.state)

    @property
    def is_busy(self) -> bool:
        """Something goes on that a "stop" ends, or a yes settles."""
        return self._work.is_busy

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
        self._announcements.say_in_gap()
        self._filler.follow()
        self._narrator.follow()
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
        self._narrator.look_at_the_clock()

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
        if self._work.is_interrupted_by(device):
            self._work.stop()
        elif self._playback.device == device:
            self._playback.silence()

    def _note_what_it_is_over(self, utterance: Utterance) -> None:
        utterance.over_speech = self._playback.spoke_at(utterance.began_at)
        utterance.over_question = self._playback.is_asking

    # --- what was said ---

    @_on.register
    def _(self, event: events.PartlyHeard) -> None:
        if utterance := self._capture.get(event.utterance):
            self._shared.tell(SttPartial(event.stable, event.tail), utterance.device)
            if utterance.hands_free and self._playback.device == utterance.device:
                self._weigh(event, utterance)

    def _weigh(self, event: events.PartlyHeard, utterance: Utterance) -> None:
        """Words over the answer hold it until they are understood; certain ones end it."""
        if not is_backchannel(event.stable + event.tail):
            self._playback.stay_ducked(utterance.device)
        doubtful = utterance.addressed is False or self._relevance.is_own(event.stable, utterance)
        if event.meaning == "stop" or not (doubtful or is_backchannel(event.stable)):
            self._playback.silence()

    @_on.register
    def _(self, event: events.Heard) -> None:
        if utterance := self._capture.close(event.utterance):
            dropped = self._relevance.why_dropped(event, utterance)
            said = "" if dropped else event.text
            self._shared.tell(SttFinal(said), None if said else utterance.device)
            if dropped == "no request":
                self._answers.show("not_meant", utterance.device)
            if said:
                self._said(event, utterance)
            else:
                self._nothing_said(utterance)

    @_on.register
    def _(self, event: events.RecognitionRemarked) -> None:
        if utterance := self._capture.get(event.utterance):
            self._shared.tell(Announce(event.message, "low"), utterance.device)

    @_on.register
    def _(self, event: events.RecognitionFailed) -> None:
        if utterance := self._capture.close(event.utterance):
            self._shared.tell(Error("ears_failed", event.message), utterance.device)
            self._nothing_said(utterance)

    def _is_stop(self, event: events.Heard, utterance: Utterance) -> bool:
        """Also a hurried one over an answer; over a question it may be what is answered."""
        aside = utterance.is_aside and not utterance.over_question
        return event.meaning == "stop" or (aside and is_hurried_stop(event.text))

    def _said(self, event: events.Heard, utterance: Utterance) -> None:
        device = utterance.device
        at, question = utterance.released_at or self._shared.now, utterance.question
        text = with_files(event.text, utterance.files)
        request = Request(device, text, at, spoken=True, question=question)
        if self._is_stop(event, utterance):
            self._stop_by_word(device, utterance.began_at, rang=event.rang)
        elif self._answers.is_given_by(device, event.meaning):
            self._answers.settle(Answer.spoken(utterance, event.meaning))
        elif not self._is_taken(request, event.meaning, utterance.began_at):
            self._wanted(request)
        self._work.open_playback()
        self._playback.resume(device)

    def _is_taken(self, words: Request, meaning: events.Meaning, began_at: float) -> bool:
        """Whether something waits for these words, or they are beside the work."""
        if self._answers.is_late(words.device, meaning, words.question):
            if meaning == "no":  # what was approved meanwhile is not to go on
                self._stop_by_word(words.device, began_at if words.spoken else None)
            return True
        return (
            self._meanwhile.take(words, meaning)
            or self._code.takes(words.device, words.text, began_at, meaning, spoken=words.spoken)
            or self._meanwhile.take_question(words)
        )

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
        now, device, meaning = self._shared.now, event.device, event.meaning
        request = Request(device, event.text, now, spoken=False, question=event.question)
        if meaning == "stop":
            self._stop_by_word(device, None, rang=event.rang)
        elif self._answers.is_given_by(device, meaning):
            self._answers.settle(Answer.typed(event, now))
        elif not self._is_taken(request, meaning, now):
            self._work.ask(request)

    @_on.register
    def _(self, event: events.Interrupted) -> None:
        self._playback.played(event)
        self._stop(event.device)

    def _stop_by_word(self, device: str, began_at: float | None, *, rang: bool = False) -> None:
        """Stop, and say so: aloud if it was spoken, and nothing has fallen silent since."""
        since = self._shared.now if began_at is None else began_at
        fell_silent = rang or self._playback.is_speaking or self._playback.quiet_since >= since
        had = fell_silent or self._work.has_something_of(device) or self._work.stopped_at >= since
        self._stop(device)
        if known := self._shared.devices.get(device):
            text = stop_words(known.language, had=had, else_goes_on=self._shared.in_background)
            self._shared.next_turn()
            self._shown = replace(self.state, work="thinking")
            self._shared.tell(self._shown)
            self._shared.tell(ReplyDelta(text))
            if known.speaks and began_at is not None and not fell_silent:
                self._playback.open(known, answer=False)
                self._playback.say(text)
                self._playback.finish()

    def _stop(self, device: str) -> None:
        self._work.forget_unbegun(device)
        self._meanwhile.not_taken_up(self._work.stop(device))

    # --- a question that waits for a yes ---

    @_on.register
    def _(self, event: events.ApprovalAnswered) -> None:
        if self._work.crosses_a_yes(event):
            self._stop_by_word(event.device, None)
        else:
            self._shared.do(AnswerApproval(event))

    @_on.register
    def _(self, event: events.QuestionShown) -> None:
        self._work.question_shown(event)

    # --- what comes of the work ---

    @_on.register
    def _(self, event: events.ReplyDelta) -> None:
        self._work.grew(event)
        self._narrator.replied(event)
        self._unheard.grew(event)

    @_on.register
    def _(self, event: events.AgentMessage) -> None:
        self._work.told(event)
        self._narrator.told(event)

    @_on.register
    def _(self, event: events.CodeAsked | events.TimeAsked) -> None:
        self._code.asked(event)

    @_on.register
    def _(self, event: MeanwhileHappened) -> None:
        self._meanwhile.happened(event)

    @_on.register
    def _(self, event: events.SteersGiven | events.SteerTooLate) -> None:
        self._work.steering(event)

    @_on.register
    def _(self, event: events.WorkDone) -> None:
        self._meanwhile.not_taken_up(self._work.ended(event))

    @_on.register
    def _(self, event: events.WorkFailed) -> None:
        self._work.failed(event)

    @_on.register
    def _(self, event: events.Announced) -> None:
        self._announcements.add(event)

    # --- what is said ---

    @_on.register
    def _(self, event: events.ChunkSpoken | events.SoundCame) -> None:
        if self._playback.take(event) and isinstance(event, events.ChunkSpoken):
            self._work.spoke(event)

    @_on.register
    def _(self, event: events.SynthesisDone) -> None:
        self._playback.complete(event.ticket)

    @_on.register
    def _(self, event: events.SynthesisRemarked) -> None:
        self._shared.tell(Announce(event.message, "low"))

    @_on.register
    def _(self, event: events.SynthesisFailed) -> None:
        if self._playback.complete(event.ticket):
            self._shared.tell(Error("mouth_failed", event.message))

    @_on.register
    def _(self, event: events.Played) -> None:
        self._playback.played(event)
