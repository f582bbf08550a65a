"""What is fuzzed: each target takes any bytes, and raises if a promise is broken.

Pure, so that a finding is one line of bytes that fails again whenever it is tried. What takes too
long is a finding as well: whoever runs a target bounds its time.
"""

import asyncio
import contextlib
import json
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import cast

from sayso.client.terminal import slash
from sayso.protocol.codec import Unknown, decode, encode
from sayso.protocol.errors import ProtocolError
from sayso.protocol.frames import unpack
from sayso.server.adapters.lmc import messages as lmc
from sayso.server.adapters.realtime import client_events as realtime
from sayso.server.adapters.realtime.session import RealtimeSession
from sayso.server.adapters.wyoming import events as wyoming
from sayso.server.adapters.xiaozhi import messages as xiaozhi
from sayso.server.adapters.xiaozhi.opus import BadPacketError, OpusDecoder
from sayso.server.agent.parsing.markdown_reader import Code, MarkdownReader
from sayso.server.agent.prompt.language_names import Languages
from sayso.server.agent.tools.read_output import ReadOutput
from sayso.server.policy.code_reader import read
from sayso.server.policy.judge import Policy
from sayso.server.runtimes.network.client_hello import BadHello, ClientHello, asks_again
from sayso.server.runtimes.network.http_head import BadRequest, Requests, begins_request
from sayso.server.speech.synthesis.clauses import ClauseSplitter
from sayso.server.speech.text.prose import Prose
from sayso.server.speech.text.speakable import spoken_pieces
from sayso.server.speech.workers import wire
from sayso.server.turn.events import ListenStarted
from sayso.server.turn.utterance import CAP_SAMPLES, Utterance
from tests.fuzz.resuming import play

LANGUAGES = Languages(("python", "bash", "javascript"), perhaps={"output": ReadOutput().read_fence})
READ = ("bash", "python", "sql")
"""One read with a grammar of each kind, and one without."""


class _NoLoop:
    """What a reader asks of its loop, where it never waits."""

    def get_debug(self) -> bool:
        return False


_LOOP = cast(asyncio.AbstractEventLoop, _NoLoop())
COMMANDS = {"conversations": "", "continue": "", "undo": "", "forget": "", "say": ""}
POLICY = Policy(home="/home/ada")


def codec(data: bytes) -> None:
    """A text frame is one message, or one typed error; what was read says the same again."""
    try:
        envelope = decode(data)
    except ProtocolError:
        return
    if not isinstance(envelope.message, Unknown):
        assert decode(encode(envelope), max_bytes=1 << 20) == envelope


def framing(data: bytes) -> None:
    """Binary frames, in whatever order they come, make sound that is never longer than allowed; and
    what a speech worker might send is a note, or known to be none."""
    utterance = Utterance(1, ListenStarted("desk", 1, "ptt", 0, 0), 0.0)
    heard = 0
    for piece in data.split(b"\xa5\xa5"):
        try:
            frame = unpack(piece)
        except ProtocolError:
            continue
        assert frame.pack()[2:] == piece[2:]  # flags may say more than we know
        heard += len(utterance.take(frame.first_sample, frame.payload, 0.0))
        utterance.acknowledgement()
        if frame.last:
            utterance.release(frame.seq, 0.0)
    assert heard == 2 * utterance.samples <= 2 * CAP_SAMPLES
    with contextlib.suppress(wire.WireBroken):
        if len(data) >= wire.PREFIX.size:
            head, load = wire.lengths(data[: wire.PREFIX.size])
            rest = data[wire.PREFIX.size :]
            note = wire.unpack(rest[:head], rest[head : head + load])
            assert wire.unpack(*_halves(wire.pack(note))) == note


def _halves(packed: bytes) -> tuple[bytes, bytes]:
    rest = packed[wire.PREFIX.size :]
    head, _ = wire.lengths(packed[: wire.PREFIX.size])
    return rest[:head], rest[head:]


def resume(data: bytes) -> None:
    """Whatever is sent, cut and taken up again: everything arrives, once, in order."""
    play(data)


def commands(data: bytes) -> None:
    """What a person types with a slash, and what a model wants run, is read without a crash."""
    text = data.decode("utf-8", "surrogateescape")
    line = f"/{text}"
    slash.parse(line)
    slash.for_server(line, COMMANDS)
    assert slash.complete(line, COMMANDS).startswith("/")
    assert slash.hint(line, COMMANDS)
    assert slash.unknown(line)
    valid = data.decode("utf-8", "replace")
    for language in READ:
        read(language, valid)
        POLICY.judge(language, valid)


def answers(data: bytes) -> None:
    """However a model's answer is cut, the same is said and the same is run."""
    text = data.decode("utf-8", "replace")
    whole, pieces = MarkdownReader(LANGUAGES), MarkdownReader(LANGUAGES)
    at_once = [*whole.feed(text), *whole.finish()]
    bit_by_bit = [one for letter in text for one in pieces.feed(letter)] + pieces.finish()
    code = [piece for piece in at_once if isinstance(piece, Code)]
    assert code == [piece for piece in bit_by_bit if isinstance(piece, Code)]
    assert len(code) <= 1


def speakable(data: bytes) -> None:
    """However a reply streams in, the same is spoken, in bounded clauses that hold all of it."""
    text = data.decode("utf-8", "replace")
    whole, pieces, clauses = Prose(), Prose(), ClauseSplitter()
    prose = whole.feed(text) + whole.finish()
    assert "".join(map(pieces.feed, text)) + pieces.finish() == prose
    said = [*clauses.feed(prose), *clauses.finish()]
    assert "".join("".join(said).split()) == "".join(prose.split())
    for language in ("en", "de"):
        for clause in said:
            written = "".join(piece.written for piece in spoken_pieces(clause, language))
            assert "".join(written.split()) == "".join(clause.split())


def proxied(data: bytes) -> None:
    """However what code sends through the network proxy is cut, it is for the same host, and the
    same of it passes or all of it is refused."""
    pieces = [data[at : at + 1] for at in range(len(data))]
    for after_another in (False, True):
        whole = _asks_for(ClientHello(after_another=after_another), [data])
        assert whole == _asks_for(ClientHello(after_another=after_another), pieces)
    with contextlib.suppress(BadHello):
        asks_again(data)
    for body in (None, 3, "chunked"):
        at_once = _passes(Requests("a.org", body), [data])
        assert at_once == _passes(Requests("a.org", body), pieces)
    if begins_request(data) is False:
        assert begins_request(data + b"\nGET / HTTP/1.1\r\n") is False


def adapters(data: bytes) -> None:
    """What a client of another protocol sends is an event that it means, or one typed error."""
    with contextlib.suppress(realtime.BadEventError):
        event = realtime.read_event(data)
        if isinstance(event, realtime.SessionUpdate):
            json.dumps(RealtimeSession.begun().updated(event.session).shown("sess_1"))
    text = data.decode("utf-8", "replace")
    lmc.read_message(text)
    xiaozhi.read_message(text)
    for version in (1, 2, 3):
        packet = xiaozhi.read_sound(data, version)
        with contextlib.suppress(BadPacketError):
            OpusDecoder().decode(packet)
    reader = asyncio.StreamReader(limit=wyoming.LINE_BYTES, loop=_LOOP)
    reader.feed_data(data)
    reader.feed_eof()
    with contextlib.suppress(wyoming.BadEventError):
        while (read := _at_once(wyoming.read_event(reader))) is not None:
            again = asyncio.StreamReader(limit=wyoming.LINE_BYTES, loop=_LOOP)
            again.feed_data(wyoming.written(read))
            again.feed_eof()
            assert _at_once(wyoming.read_event(again)) == read


def _at_once(
    reading: Coroutine[None, None, wyoming.WyomingEvent | None],
) -> wyoming.WyomingEvent | None:
    """Where all is here that is read, nothing is waited for."""
    try:
        reading.send(None)
    except StopIteration as end:
        read: wyoming.WyomingEvent | None = end.value
        return read
    raise AssertionError("it waits for more than there is")


def _asks_for(hello: ClientHello, pieces: Iterable[bytes]) -> str | None:
    try:
        return next((name for each in pieces if (name := hello.feed(each)) is not None), None)
    except BadHello:
        return "refused"


def _passes(requests: Requests, pieces: Iterable[bytes]) -> bytes | None:
    try:
        return b"".join([requests.feed(each) for each in pieces])
    except BadRequest:
        return None


TARGETS: Mapping[str, Callable[[bytes], None]] = {
    one.__name__: one
    for one in (codec, framing, resume, commands, answers, speakable, proxied, adapters)
}
