"""The order rules of SPEC.md, as a listener between two ends that objects to what breaks them.

Any test that has both halves of a conversation can use it, whatever client or server it is about:

    rules = Rules()
    rules.up(hello); rules.down(welcome); …; rules.close(1000)

These rules are for senders. Receivers are more lenient; SPEC.md says how.
"""

from dataclasses import dataclass, field
from typing import Literal

from sayso.protocol import messages as m
from sayso.protocol.codec import Unknown, decode
from sayso.protocol.errors import CODES
from sayso.protocol.frames import AudioFrame, PictureFrame, is_picture, unpack, unpack_picture
from sayso.protocol.version import choose
from tests.protocol.streams import BrokenRule, Speech, Utterance, require

__all__ = ["BrokenRule", "Rules"]

ANSWERS = (
    m.ReplyDelta,
    m.SpeechStart,
    m.SpeechStop,
    m.CodeStart,
    m.CodeOut,
    m.CodeEnd,
    m.ApprovalRequest,
    m.ApprovalDone,
    m.ActRequest,
)
"""What belongs to one attempt at one answer, and is stale when a newer one is known."""


@dataclass
class Session:
    """What outlives a connection when it is resumed."""

    up_seq: int = 0
    down_seq: int = 0
    said: dict[int, str] = field(default_factory=dict)
    """What the client has sent, by `seq`."""
    newest: tuple[int, int] = (0, 0)
    """The newest turn and generation that the server has spoken of."""
    utterances: dict[int, Utterance] = field(default_factory=dict)
    speeches: dict[int, Speech] = field(default_factory=dict)
    runs: dict[str, Literal["running", "ended"]] = field(default_factory=dict)
    acts: dict[str, int] = field(default_factory=dict)
    """The stream of each device request that was told and not answered."""
    approvals: dict[str, str] = field(default_factory=dict)
    """The nonce of each request that is still open."""


class Rules:
    """Follows a client and its server from one connection to the next."""

    def __init__(self) -> None:
        self._session = Session()
        self._begin()

    def _begin(self) -> None:
        self._phase: Literal["new", "greeted", "pairing", "open", "over"] = "new"
        self._hello: m.Hello | None = None
        self._resumed = False
        self._last_words: m.Error | None = None
        self._pings: dict[str, set[int]] = {"up": set(), "down": set()}

    def close(self, code: int) -> None:
        """The connection has ended."""
        if self._last_words and (known := CODES.get(self._last_words.code)):
            require(code == known.close, "a fatal error closes with the code of its kind")
        self._begin()

    # --- client to server ---

    def up(self, data: str | bytes) -> None:
        """The client has sent a frame."""
        require(self._phase != "over", "nothing follows bye or a fatal error")
        if isinstance(data, bytes):
            if is_picture(data):
                self._up_picture(unpack_picture(data))
            else:
                self._up_sound(unpack(data))
            return
        envelope = decode(data)
        message = envelope.message
        if isinstance(message, m.Hello):
            require(self._phase == "new", "hello comes once, and first")
            self._phase, self._hello = "greeted", message
            return
        if isinstance(message, m.Pair):
            require(self._phase == "new", "pair comes once, and first")
            self._phase = "pairing"
            return
        require(self._phase == "open", "a client sends hello, then waits for welcome")
        if self._is_again(data, envelope.seq) or isinstance(message, Unknown):
            return
        require(isinstance(message, m.FromClient), f"{message} is for servers to send")
        self._up(message)

    def _is_again(self, text: str, seq: int | None) -> bool:
        """Whether this was sent before and comes again after a cut."""
        if seq is None:
            return False
        session = self._session
        require(seq > session.up_seq, "a client's seq grows")
        session.up_seq = seq
        again = seq in session.said
        same = session.said.setdefault(seq, text) == text
        require(same, "what is sent again under its seq is the same")
        return again

    def _up(self, message: m.Message) -> None:
        session = self._session
        match message:
            case m.ListenStart(stream=stream, mode=mode):
                require(stream not in session.utterances, "a stream number is used once a session")
                session.utterances[stream] = Utterance(mode=mode)
            case m.ListenStop(stream=stream, samples=samples):
                self._utterance(stream).stop(samples)
            case m.ListenCancel(stream=stream):
                self._utterance(stream).state = "cancelled"
            case m.PlayState(stream=stream, samples=samples, done=done):
                self._speech(stream).play(samples, done=done)
            case m.Interrupt(stream=int(stream), heard_samples=samples):
                self._speech(stream).play(samples, done=False)
            case m.Approve(id=name, nonce=nonce):
                known = session.approvals.get(name)
                require(known == nonce, f"no request {name} with this nonce is open")
            case m.ActResult(id=name):
                require(name in session.acts, f"{name} was asked for, and is answered once")
                del session.acts[name]
            case _:
                self._of_connection("up", message)

    def _up_picture(self, piece: PictureFrame) -> None:
        require(piece.stream in self._session.acts.values(), "a picture is of what was asked for")

    def _up_sound(self, frame: AudioFrame) -> None:
        require(self._phase == "open", "a client sends hello, then waits for welcome")
        self._utterance(frame.stream).sound(frame, resumed=self._resumed)

    def _utterance(self, stream: int) -> Utterance:
        require(stream in self._session.utterances, f"utterance {stream} was not begun")
        return self._session.utterances[stream]

    # --- server to client ---

    def down(self, data: str | bytes) -> None:
        """The server has sent a frame."""
        require(self._phase != "over", "nothing follows bye or a fatal error")
        if isinstance(data, bytes):
            self._down_sound(unpack(data))
            return
        envelope = decode(data)
        message = envelope.message
        if isinstance(message, m.Welcome):
            self._welcome(message)
            return
        if isinstance(message, m.Paired):
            require(self._phase == "pairing", "paired answers pair")
            self._phase = "over"
            return
        may_speak = self._phase == "open" or isinstance(message, m.Error)
        require(may_speak, "a server's first words are welcome or error")
        if envelope.seq is not None:
            require(envelope.seq > self._session.down_seq, "a server's seq grows")
            self._session.down_seq = envelope.seq
        if isinstance(message, Unknown):
            return
        require(isinstance(message, m.FromServer), f"{message} is for clients to send")
        if isinstance(message, ANSWERS):
            require(envelope.turn is not None, "an answer says to which turn it belongs")
        if isinstance(message, m.Conversation):
            self._move()
        place = (envelope.turn or 0, envelope.gen or 0)
        if isinstance(message, ANSWERS) and place < self._session.newest:
            return  # Stale: a client drops it, and so do we.
        self._session.newest = max(self._session.newest, place)
        self._down(message)

    def _move(self) -> None:
        """Into another conversation: what the server counts begins anew."""
        session = self._session
        session.newest = (0, 0)
        session.speeches.clear()
        session.runs.clear()
        session.acts.clear()
        session.approvals.clear()

    def _welcome(self, welcome: m.Welcome) -> None:
        hello = self._hello
        if hello is None or self._phase != "greeted":
            raise BrokenRule("welcome answers hello")
        newest = choose(hello.protocol)
        require(welcome.protocol == newest, "the newest version that both ends speak is chosen")
        require(welcome.audio.up in hello.audio.up, "the client offers codecs for its voice")
        require(welcome.audio.down in hello.audio.down, "the client offers codecs for speech")
        whole = (welcome.resume == "snapshot") == (welcome.snapshot is not None)
        require(whole, "a snapshot comes when the welcome says so, and only then")
        self._phase, self._resumed = "open", welcome.resume != "new"
        if not self._resumed:
            self._session = Session()
            return
        require(hello.session == welcome.session, "a resumed session keeps its name")
        require(welcome.last_seq is not None, "a resumed session says what arrived")
        # What the server did not get comes again under its old numbers.
        self._session.up_seq = welcome.last_seq or 0
        self._session.speeches.clear()
        self._session.acts.clear()
        if welcome.snapshot:
            self._session.runs.clear()
            open_requests = welcome.snapshot.approvals
            self._session.approvals = {str(r["id"]): str(r["nonce"]) for r in open_requests}

    def _down(self, message: m.Message) -> None:
        session = self._session
        match message:
            case m.AudioAck(stream=stream, samples=samples):
                self._utterance(stream).acknowledge(samples)
            case m.ListenEnd(stream=stream, samples=samples):
                self._utterance(stream).end(samples)
            case m.SpeechStart(stream=stream, rate=rate):
                session.speeches.setdefault(stream, Speech(rate)).start(message)
            case m.SpeechStop(stream=stream):
                self._speech(stream).stop(message)
            case m.CodeStart(id=name):
                require(name not in session.runs, f"run {name} began before")
                session.runs[name] = "running"
            case m.CodeOut(id=name) | m.CodeEnd(id=name):
                require(session.runs.get(name) == "running", f"run {name} is not running")
                session.runs[name] = "ended" if isinstance(message, m.CodeEnd) else "running"
            case m.ActRequest(id=name, stream=stream):
                offers = self._hello.offers if self._hello else ()
                require(message.method in offers, "a device is asked for what it offers")
                session.acts[name] = stream
            case m.ApprovalRequest(id=name, nonce=nonce):
                require(name not in session.approvals, f"request {name} is open already")
                session.approvals[name] = nonce
            case m.ApprovalDone(id=name):
                require(name in session.approvals, f"no request {name} is open")
                del session.approvals[name]
            case _:
                self._of_connection("down", message)

    def _down_sound(self, frame: AudioFrame) -> None:
        if self._hello is None or self._phase != "open":
            raise BrokenRule("a server's first words are welcome or error")
        self._speech(frame.stream).sound(frame, self._hello.limits.play_buffer_ms)

    def _speech(self, stream: int) -> Speech:
        require(stream in self._session.speeches, f"speech {stream} was not announced")
        return self._session.speeches[stream]

    # --- both ---

    def _of_connection(self, direction: Literal["up", "down"], message: m.Message) -> None:
        match message:
            case m.Ping(id=number):
                self._pings[direction].add(number)
            case m.Pong(id=number):
                asked = self._pings["down" if direction == "up" else "up"]
                require(number in asked, "a pong answers a ping")
                asked.discard(number)
            case m.Error(fatal=True):
                self._phase, self._last_words = "over", message
            case m.Bye():
                self._phase = "over"
            case _:
                pass
