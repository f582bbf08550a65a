"""A device may request some settings in `settings`, and no others."""

import pytest

from sayso.protocol import messages as m
from sayso.protocol.errors import Invalid
from sayso.server.gateway.socket.translate import event_of
from sayso.server.turn.events import Preferred


def wish(**values: object) -> object:
    return event_of("shelf", m.Settings(values), {"settings"})


def test_what_is_named_changes_and_the_rest_stays() -> None:
    assert wish(voice="joe") == Preferred("shelf", voice="joe")
    assert wish(speed=1.2, language="de") == Preferred("shelf", speed=1.2, language="de")
    assert wish() == Preferred("shelf")


@pytest.mark.parametrize("nothing", [None, ""])
def test_what_is_empty_is_again_as_the_settings_have_it(nothing: object) -> None:
    assert wish(voice=nothing, language=nothing) == Preferred("shelf", voice="", language="")
    assert wish(speed=None) == Preferred("shelf", speed=0.0)


def test_names_that_are_not_known_are_ignored() -> None:
    assert wish(colour="green", speed=1) == Preferred("shelf", speed=1.0)


@pytest.mark.parametrize(
    "wrong",
    [{"speed": 9}, {"speed": 0.1}, {"speed": "fast"}, {"speed": True}, {"voice": 7},
     {"language": ["de"]}, {"voice": "x" * 101}],
)  # fmt: skip
def test_a_setting_of_the_wrong_kind_is_complained_about(wrong: dict[str, object]) -> None:
    with pytest.raises(Invalid):
        wish(**wrong)


def test_a_server_that_did_not_announce_them_does_not_look() -> None:
    assert event_of("shelf", m.Settings({"speed": 9}), {"ptt"}) is None
