"""A spoken yes on the page, with a real browser, microphone and loudspeaker: it counts as soon as
the question was heard out; where it does not count, the page says why."""

import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.speech import Voice
from tests.pulse import SoundCard
from tests.scripted_model import runs, says
from tests.web.browser import is_paired, page
from tests.web.conftest import Site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.browser,
    pytest.mark.sound,
    pytest.mark.timeout(240),
]

REFUSED = "I was still speaking. May I run it, yes or no?"

HEARD_OUT_S = 60.0
"""Until when a question was asked and heard, on a busy machine."""


def say(opened: Page, card: SoundCard, recording: Path) -> None:
    """Hold the button, say it, let go."""
    box = opened.locator("#talk").bounding_box()
    assert box
    opened.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    opened.mouse.down()
    expect(opened.locator("#talk")).to_have_attribute("aria-pressed", "true")
    card.speak_into_microphone(recording)
    opened.mouse.up()


def test_a_yes_counts_as_soon_as_the_question_was_heard_out(
    site: Site, sound_card: SoundCard, tmp_path: Path
) -> None:
    voice = Voice()
    request, yes = tmp_path / "request.wav", tmp_path / "yes.wav"
    voice.speak("How many letters are in the alphabet twice?", request, 0.3)
    voice.speak("Yes, please.", yes, 0.3)
    site.model.add(runs("print(26 * 2)", "Let me see. "), says("There are 52."))
    with page(sound_card) as opened:
        is_paired(opened, site.server, "--person", site.person)
        with sound_card.recording(tmp_path / "question.wav") as heard:
            say(opened, sound_card, request)
            expect(opened.locator(".card.asks h2")).to_have_text("Run this Python code?")
            until = time.monotonic() + HEARD_OUT_S
            while not heard.over and time.monotonic() < until:
                opened.wait_for_timeout(50)
        assert heard.over
        say(opened, sound_card, yes)
        expect(opened.locator(".answer").last).to_have_text("There are 52.")
        assert not opened.get_by_text(REFUSED).count()


def test_a_yes_over_the_question_does_not_count_and_the_page_says_why(
    site: Site, sound_card: SoundCard, tmp_path: Path
) -> None:
    voice = Voice()
    request, yes = tmp_path / "request.wav", tmp_path / "yes.wav"
    voice.speak("How many letters are in the alphabet twice?", request, 0.3)
    voice.speak("Yes, please.", yes, 0.3)
    long = "I have to count the letters, and for that I would like to run a line of Python. "
    site.model.add(runs("print(26 * 2)", long * 3), says("There are 52."))
    with page(sound_card) as opened:
        is_paired(opened, site.server, "--person", site.person)
        say(opened, sound_card, request)
        expect(opened.locator(".card.asks h2")).to_have_text("Run this Python code?")
        opened.wait_for_timeout(1_500)
        say(opened, sound_card, yes)
        expect(opened.locator(".note", has_text=REFUSED)).to_be_visible()
        assert opened.locator(".card.asks").count() == 1
