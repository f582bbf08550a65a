"""`--conversation` and `--folder` lead there before anything is asked."""

import pytest

from sayso.client.session.folder_choice import Placement
from sayso.client.session.link_events import LinkChange, LinkState
from sayso.client.terminal.events import Seen
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import Command, CommandDone, Error, FromServer, TurnState

UP = LinkChange(LinkState.UP, session="first")
IDLE = TurnState("idle", "idle", "silent")
MISSING = Error("forbidden", "There is no conversation attic; you are in Garden instead.")


class Shown:
    """A screen that keeps what it is shown."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []

    def show(self, seen: Seen) -> None:
        self.seen.append(seen)


def led(*messages: FromServer, **asked: object) -> tuple[list[Command], list[Seen]]:
    """What is sent, and shown, where the server says this once the line is up."""
    sent: list[Command] = []
    screen = Shown()
    placement = Placement(screen, **asked)  # type: ignore[arg-type]
    placement.through(sent.append)
    placement.show(UP)
    for number, message in enumerate(messages):
        placement.show(Envelope(message, number))
    return sent, screen.seen


async def test_a_name_that_is_not_there_is_begun_where_that_is_wanted() -> None:
    sent, shown = led(MISSING, IDLE, folder="", conversation="attic", makes=True)
    assert sent == [Command("new", "attic")]
    assert not [one for one in shown if isinstance(one, Envelope) and one.message is MISSING]


async def test_a_name_that_is_there_is_not_begun_again() -> None:
    sent, _ = led(IDLE, IDLE, folder="", conversation="garden", makes=True)
    assert sent == []


async def test_a_new_conversation_moves_into_the_folder_and_no_other_does() -> None:
    sent, _ = led(MISSING, IDLE, folder="/srv", conversation="attic", makes=True)
    assert sent == [Command("new", "attic")]
    sent, _ = led(
        MISSING, IDLE, CommandDone("new", ok=True), folder="/srv", conversation="attic", makes=True
    )
    assert sent == [Command("new", "attic"), Command("folder", "/srv")]


async def test_a_named_conversation_moves_once_it_is_known_to_be_there() -> None:
    sent, _ = led(folder="/srv", conversation="garden", makes=True)
    assert sent == []
    sent, _ = led(IDLE, folder="/srv", conversation="garden", makes=True)
    assert sent == [Command("folder", "/srv")]


async def test_a_folder_alone_is_opened_at_once() -> None:
    sent, _ = led(folder="/srv")
    assert sent == [Command("open", "/srv")]


@pytest.mark.parametrize("makes", [True, False])
async def test_other_errors_are_shown(makes: bool) -> None:
    _, shown = led(IDLE, MISSING, folder="", conversation="attic", makes=makes)
    assert len(shown) == 3
