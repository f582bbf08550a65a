"""SPEC.md and the code say the same: messages, fields, defaults, errors, bounds, features."""

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from importlib.resources import files
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

from sayso.protocol import features, frames, home
from sayso.protocol import messages as m
from sayso.protocol.codec import MAX_DEPTH, MAX_TEXT_BYTES, Unknown, decode, encode
from sayso.protocol.errors import CODES
from sayso.protocol.frames import unpack
from sayso.protocol.messages import TYPES, FromClient, FromServer
from sayso.protocol.messages.bounds import LONGEST_TYPED
from sayso.protocol.version import SPOKEN
from sayso.server import app
from sayso.server.agent.jobs.updates import TOLD_EVERY_S
from sayso.server.agent.permissions import approvals
from sayso.server.device_requests import answer, requests
from sayso.server.gateway.admission import rate_limits
from sayso.server.gateway.limits import HEADER_LINE_BYTES, HEADER_LINES, Limits
from sayso.server.gateway.socket.resume import UNCONFIRMED_S
from sayso.server.trust import guess_delay, pairing
from sayso.server.turn import paced_speech, pacing, utterance
from sayso.server.turn.regions import capture, playback, request, spoken_approval

SPEC = files("sayso.protocol").joinpath("SPEC.md").read_text(encoding="utf-8")

ROOT = Path(__file__).parents[2]

RECORDS = {
    kind.__name__: kind
    for kind in (
        m.VersionRange,
        m.Limits,
        m.AudioOffer,
        m.AudioAgreed,
        m.Word,
        m.Changes,
        m.Renamed,
        m.Picture,
        m.Snapshot,
    )
}


# --- how SPEC.md writes types, defaults and directions ---


def kind_of(hint: object) -> str:
    """A type in the words of SPEC.md."""
    plain: dict[object, str] = {str: "text", bool: "true or false", float: "number"}
    if hint in plain:
        return plain[hint]
    if isinstance(hint, type) and is_dataclass(hint):
        return f"[{hint.__name__}](#{hint.__name__.lower()})"
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return f"{arguments[1].least} … {arguments[1].most}"
    if origin is Literal:
        return " / ".join(f"`{word}`" for word in arguments)
    if origin is tuple:
        return f"list of {kind_of(arguments[0])}"
    if origin is Mapping:
        return "object" if arguments[1] is Any else f"object of {kind_of(arguments[1])}"
    assert origin in (Union, UnionType), hint
    assert arguments[1:] == (NoneType,), hint
    return f"{kind_of(arguments[0])}, or null"


def default_of(field: "Field[Any]") -> str:
    """A default in the words of SPEC.md."""
    if field.default_factory is not MISSING:
        return "`{}`"
    if field.default is MISSING:
        return "required"
    return f"`{json.dumps(field.default)}`"


def direction_of(kind: type) -> str:
    up, down = kind in get_args(FromClient), kind in get_args(FromServer)
    return "both ways" if up and down else "client → server" if up else "server → client"


# --- reading SPEC.md ---


def part(title: str) -> str:
    """The text under a heading, up to the next heading of its level or above."""
    level, _ = re.findall(rf"^(#+) ({re.escape(title)})$", SPEC, re.MULTILINE)[0]
    body = re.split(rf"^{level} {re.escape(title)}$", SPEC, maxsplit=1, flags=re.MULTILINE)[1]
    return re.split(rf"^#{{1,{len(level)}}} ", body, maxsplit=1, flags=re.MULTILINE)[0]


def rows(text: str) -> list[list[str]]:
    """The cells of the first table, without its head."""
    table = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert table, text[:80]
    lines = table[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def code(cell: str) -> str:
    return cell.strip("`")


MESSAGE_HEADINGS = re.findall(r"^#### `([a-z_.]+)` \((.*)\)$", SPEC, re.MULTILINE)


def documented_fields(text: str) -> list[list[str]]:
    return [row[:3] for row in rows(text)] if "\n|" in text else []


def actual_fields(kind: type) -> list[list[str]]:
    hints = get_type_hints(kind, include_extras=True)
    return [[f"`{f.name}`", kind_of(hints[f.name]), default_of(f)] for f in fields(kind)]


# --- messages ---


def test_every_message_is_documented_with_its_direction_and_no_other() -> None:
    actual = {name: direction_of(kind) for name, kind in TYPES.items()}
    assert dict(MESSAGE_HEADINGS) == actual
    assert len(MESSAGE_HEADINGS) == len(actual)


@pytest.mark.parametrize("name", sorted(TYPES))
def test_every_field_is_documented_with_its_type_and_default(name: str) -> None:
    text = part(f"`{name}` ({direction_of(TYPES[name])})")
    assert documented_fields(text) == actual_fields(TYPES[name])


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_every_record_is_documented(name: str) -> None:
    assert documented_fields(part(name)) == actual_fields(RECORDS[name])


def test_every_record_that_messages_hold_is_among_them() -> None:
    kinds = [*TYPES.values(), *RECORDS.values()]
    types = " ".join(kind for each in kinds for _, kind, _ in actual_fields(each))
    assert set(re.findall(r"\[(\w+)\]", types)) == set(RECORDS)


@pytest.mark.parametrize("name", sorted(TYPES))
def test_every_message_has_an_example_as_the_codec_writes_it(name: str) -> None:
    text = part(f"`{name}` ({direction_of(TYPES[name])})")
    [example] = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    envelope = decode(example)
    assert type(envelope.message) is TYPES[name]
    assert json.loads(encode(envelope)) == json.loads(example)


def test_every_example_anywhere_is_a_message() -> None:
    for example in re.findall(r"```json\n(.*?)```", SPEC, re.DOTALL):
        assert not isinstance(decode(example).message, Unknown)


def test_the_example_frame_is_one() -> None:
    [lines] = re.findall(r"```hex\n(.*?)```", SPEC, re.DOTALL)
    digits = [line.partition("   ")[0] for line in lines.splitlines()]
    frame = unpack(bytes.fromhex("".join(digits)))
    assert (frame.stream, frame.seq, frame.first_sample, frame.last) == (3, 41, 960, True)
    assert frame.payload == bytes.fromhex("0000ff7f0080")


# --- errors, bounds, features ---


def test_every_error_code_is_documented_and_no_other() -> None:
    documented = [(code(name), fatal, close) for name, fatal, close, *_ in rows(part("Errors"))]
    actual = [(n, "yes" if c.fatal else "no", str(c.close)) for n, c in CODES.items()]
    assert documented == actual


def test_the_bounds_are_those_of_the_code() -> None:
    limits = Limits()
    actual = {
        "text frame": MAX_TEXT_BYTES,
        "binary frame": frames.MAX_FRAME_BYTES,
        "nesting": MAX_DEPTH,
        "line of a request's header": HEADER_LINE_BYTES,
        "lines of a request's header": HEADER_LINES,
        "typed request": LONGEST_TYPED,
        "hello": limits.handshake_s,
        "wrong messages": limits.complaints,
        "connections of a paired device": limits.device_connections,
        "strangers of an address": limits.strangers,
        "a stranger's place, where all are taken": limits.settled_s,
        "waiting for a place": limits.waiting_s,
        "waiting for a place, of an address": limits.waiting,
        "an HTTP connection that was answered": limits.idle_s,
        "pairing": pairing.OPEN_S,
        "wrong digits": pairing.TRIES,
        "answer to a wrong token": guess_delay.LONGEST_S,
        "connections": limits.connections,
        "waiting to be sent": limits.outgoing_bytes,
        "one send": limits.send_s,
        "unacknowledged": limits.vanished_s,
        "sound": limits.sound_pace,
        "messages of a client": limits.messages_a_second,
        "WebSocket pings and pongs of a client": limits.control_a_second,
        "requests of a paired device": limits.requests_a_minute,
        "sign of life": limits.ping_s,
        "utterance": utterance.UTTERANCE_CAP_S,
        "rest of the audio": utterance.REST_OF_AUDIO_S,
        "session of a client that is away": limits.resume_s,
        "session of a client that is away and has said nothing since its welcome": UNCONFIRMED_S,
        "messages to be sent again": limits.replay_messages,
        "bytes to be sent again": limits.replay_bytes,
        "sessions": limits.sessions,
        "goodbye": limits.goodbye_s,
        "lost link of a client that resumes": utterance.RETURN_GRACE_S,
        "lost link": utterance.LINK_GRACE_S,
        "hole in the audio": utterance.LARGEST_GAP_S,
        "held over a voice": playback.DUCK_S,
        "tap": capture.TAP_S * 1_000,
        "acknowledgement": utterance.ACK_EVERY_S * 1_000,
        "ahead of playback": pacing.AHEAD_S * 1_000,
        "ahead on a bad line": pacing.FAR_AHEAD_S * 1_000,
        "stalled playback": paced_speech.PLAYBACK_STALL_S,
        "a request, before a yes in words counts": spoken_approval.SHOWN_S,
        "an approval request": approvals.MOST_BYTES,
        "pictures of an answer": answer.MOST_PICTURE_BYTES,
        "pictures of a device": rate_limits.PICTURES_A_SECOND,
        "an answer of a device": requests.LONGEST_S,
        "requests that a device works on": requests.MOST_OPEN,
        "a job's updates": 1 / TOLD_EVERY_S,
        "requests that wait": request.WAITING_REQUESTS,
    }
    figures = {name: value.split(" ")[0] for name, value, _ in rows(part("Bounds"))}
    documented = {name: float(figure.replace(",", "")) for name, figure in figures.items()}
    assert documented == pytest.approx(actual)
    assert limits.text_bytes == MAX_TEXT_BYTES
    assert limits.frame_bytes == frames.MAX_FRAME_BYTES
    page = files("sayso.client.web").joinpath("index.html").read_text(encoding="utf-8")
    assert re.search(rf'<textarea id="words"[^>]* maxlength="{LONGEST_TYPED}"', page)


@pytest.mark.parametrize(
    ("title", "names"),
    [("Of a server", features.ServerFeature), ("Of a client", features.ClientFeature)],
)
def test_every_feature_is_documented_and_no_other(title: str, names: object) -> None:
    assert [code(row[0]) for row in rows(part(title))] == list(get_args(names))


def test_the_server_announces_only_what_is_documented() -> None:
    assert set(app.FEATURES) <= set(get_args(features.ServerFeature))


def test_the_version_and_the_address_are_those_of_the_code() -> None:
    assert f"version {SPOKEN.max}" in SPEC.partition("\n")[0]
    assert f"ws://{home.DEFAULT_HOST}:{home.DEFAULT_PORT}{home.WEBSOCKET_PATH}" in SPEC


# --- promises ---


def named_tests() -> list[tuple[str, str]]:
    return re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", SPEC)


def test_every_test_that_is_named_exists() -> None:
    missing = [
        f"{path}::{name}"
        for path, name in named_tests()
        if not (ROOT / path).is_file()
        or not re.search(rf"^(?:async )?def {name}\(", (ROOT / path).read_text(), re.MULTILINE)
    ]
    assert not missing


WRONG = ["Wrong text frames", "Wrong binary frames", "Wrong order"]


def test_every_answer_to_wrong_input_names_its_test() -> None:
    table = [row for title in WRONG for row in rows(part(title))]
    assert not [row for row in table if not re.search(r"`tests/[\w/]+\.py::test_\w+`", row[-1])]


def test_every_link_within_leads_somewhere() -> None:
    headings = re.findall(r"^#+ (.*)$", SPEC, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}
    assert set(re.findall(r"\]\(#([^)]*)\)", SPEC)) <= anchors
    for target in re.findall(r"\]\(((?!#|http)[^)]*)\)", SPEC):
        assert (ROOT / "protocol" / target).exists(), target
