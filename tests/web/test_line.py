"""The page's line in a real browser: lost, silent, moved to another network; a screen kept on."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.scripted_model import Reply, says
from tests.web.browser import ask, hold, is_paired, page
from tests.web.conftest import Site
from tests.web.network import Network

pytestmark = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.browser,
    pytest.mark.timeout(240),
]

GRANTED = "--use-fake-ui-for-media-stream"

AWAY_S = 10

WAKE_LOCK = """() => {
  window.locks = [];
  Object.defineProperty(navigator, 'wakeLock', { value: { request: async (kind) => {
    const lock = { kind, released: false, release: async () => { lock.released = true; } };
    window.locks.push(lock);
    return lock;
  } } });
}"""
"""The screen's lock, as far as a page sees it: a browser without a screen has none."""


def test_what_is_said_while_the_network_is_away_is_answered_when_it_is_back(
    site: Site, question: Path
) -> None:
    site.model.add(Reply([f"Part {n}. " for n in range(8)], between_s=0.5), says("Paris."))
    with Network() as network, page(question, flags=(GRANTED, *network.flags)) as opened:
        is_paired(opened, site.server, "--person", site.person)
        ask(opened, "count")
        expect(opened.locator(".answer")).to_contain_text("Part 1.")
        network.lose()
        expect(opened.locator("#state")).to_contain_text("The server is away")
        hold(opened, 3.5)
        opened.wait_for_timeout(1_000 * (AWAY_S - 3.5))
        network.restore()
        opened.evaluate("() => window.dispatchEvent(new Event('online'))")
        expect(opened.locator(".answer").first).to_contain_text("Part 7.")
        expect(opened.locator(".you").last).to_contain_text("capital")
        expect(opened.locator(".answer").last).to_contain_text("Paris")
        parts = opened.locator(".answer").first.inner_text()
        assert [parts.count(f"Part {n}.") for n in range(8)] == [1] * 8


def test_a_line_that_fell_silent_is_given_up_when_the_network_changes(
    site: Site, question: Path
) -> None:
    site.model.add(says("Here I am."))
    with Network() as network, page(question, flags=(GRANTED, *network.flags)) as opened:
        is_paired(opened, site.server, "--person", site.person)
        network.silence()
        opened.evaluate("() => document.dispatchEvent(new Event('resume'))")
        ask(opened, "tell me a story")
        expect(opened.locator(".answer")).to_have_text("Here I am.")


def test_the_screen_stays_on_while_one_talks_and_no_longer(site: Site, question: Path) -> None:
    with page(question, before=f"({WAKE_LOCK})()") as opened:
        is_paired(opened, site.server, "--person", site.person)
        assert opened.evaluate("() => window.locks.length") == 0
        opened.locator("#talk").press("Enter")
        opened.wait_for_function("() => window.locks.at(-1)?.released === false")
        opened.keyboard.press("Escape")
        opened.wait_for_function("() => window.locks.at(-1).released")
