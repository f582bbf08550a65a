"""What a person types with a slash: the terminal's own, the server's, and their completion."""

import pytest

from sayso.client.session.turn_state import ClientTurn, Drop
from sayso.client.terminal.slash import complete, for_server, help_text, hint
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import Conversation, ReplyDelta, SpeechStart

COMMANDS = {
    "help": "this list",
    "resume": "go on",
    "redo": "again",
    "reset": "anew",
    "cost": "what",
}


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("/cost", ("cost", "")),
        ("/RESUME  my taxes ", ("resume", "my taxes")),
        ("/resu taxes", ("resume", "taxes")),
        ("/re", None),  # three begin so
        ("/my-tidying up", ("my-tidying", "up")),  # it may be new since
        ("/etc/hosts is what?", None),
        ("/", None),
        ("/qui", None),  # the terminal's own
    ],
)
def test_a_line_means_one_command_of_the_servers_or_none(
    line: str, meant: tuple[str, str] | None
) -> None:
    assert for_server(line, COMMANDS) == meant


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("/c", "/cost "),
        ("/res", "/res"),
        ("/r", "/re"),
        ("/q", "/quit "),
        ("/x", "/x"),
        ("hello", "hello"),
        ("/resume ta", "/resume ta"),
    ],
)
def test_tab_completes_as_far_as_it_is_clear(line: str, completed: str) -> None:
    assert complete(line, COMMANDS) == completed


def test_while_one_types_the_foot_says_what_it_may_become() -> None:
    assert hint("/cost", COMMANDS) == "/cost: what"
    assert hint("/cost now", COMMANDS) == "/cost: what"
    assert hint("/red", COMMANDS) == "/redo"
    assert "/resume" in hint("/re", COMMANDS)
    assert "/help" in hint("/dance", COMMANDS)


def test_help_lists_the_servers_commands_beside_the_terminals() -> None:
    text = help_text(["Enter  sends"], COMMANDS)
    assert text.startswith("Enter  sends\n")
    for name in ("cost", "resume", "quit", "stop"):
        assert f"/{name}" in text
    assert text.count("/help") == 1


def test_in_another_conversation_lower_turns_are_not_stale() -> None:
    client_turn = ClientTurn()
    client_turn.hear(Envelope(SpeechStart(1, 22_050, "Hi"), turn=7, gen=2))
    effects = client_turn.hear(Envelope(Conversation("taxes", "Taxes"), turn=1, gen=0))
    assert effects == (Drop(1),)
    assert client_turn.newest == (1, 0)
    assert client_turn.hear(Envelope(ReplyDelta("Hello."), turn=2, gen=0)) == ()
    assert client_turn.hear(Envelope(ReplyDelta("Old."), turn=0, gen=0)) is None
