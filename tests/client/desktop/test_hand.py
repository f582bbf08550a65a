"""Whose hand has the screen, by itself: no screen is needed to know."""

import pytest

from sayso.client.desktop.errors import Stopped
from sayso.client.desktop.hands.hand import OVER, TOOK_OVER, Hand


def acts(hand: Hand) -> None:
    with hand.acting(lambda: -9.0, lambda: False, lambda: 0.0, lambda _: None):
        hand.check()


def test_no_key_follows_the_persons_own() -> None:
    hand = Hand()
    hand.begin((0, 1, 0))
    with hand.acting(lambda: -9.0, lambda: False, lambda: 0.0, lambda _: None):
        hand.check()
        hand.noticed(escape=False)
        with pytest.raises(Stopped, match=TOOK_OVER):
            hand.check()
    assert hand.events == 1
    with pytest.raises(Stopped, match=TOOK_OVER):
        hand.begin((0, 1, 0))
    hand.begin((0, 2, 0))  # the person has spoken since
    acts(hand)
    assert hand.events == 2


def test_a_stop_that_comes_before_its_request_holds() -> None:
    hand = Hand()
    hand.stop((0, 5, 1))
    with pytest.raises(Stopped, match=OVER):
        hand.begin((0, 5, 1))
    with pytest.raises(Stopped, match=OVER):
        hand.begin((0, 5, 0))
    hand.begin((0, 5, 2))
    acts(hand)


def test_a_stop_of_all_holds_for_what_waits() -> None:
    hand = Hand()
    hand.begin((0, 4, 0))
    hand.awaits((0, 5, 1))
    hand.stop()
    with pytest.raises(Stopped, match=OVER):
        hand.begin((0, 5, 1))


def test_a_stop_of_an_older_attempt_leaves_a_newer_one_alone() -> None:
    hand = Hand()
    hand.begin((0, 5, 1))
    hand.stop((0, 4, 0))
    acts(hand)


def test_what_the_hand_stopped_in_one_conversation_says_nothing_of_the_next() -> None:
    hand = Hand()
    hand.begin((0, 57, 1))
    with hand.acting(lambda: -9.0, lambda: False, lambda: 0.0, lambda _: None):
        hand.noticed(escape=False)
    hand.begin((1, 1, 0))
    acts(hand)
