"""A long output is opened whole on the page, by a tap."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.web.browser import is_fine, is_paired, page
from tests.web.conftest import Site
from tests.web.test_jobs import PLACE, START, hears

pytestmark = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.browser,
    pytest.mark.timeout(240),
]

LINES = "".join(f"line {number} <b>\n" for number in range(60_000))

END = {"t": "code.end", "id": "r1", "status": "ok", "output": "w1", **PLACE}


def test_all_of_an_output_is_there_after_a_tap(site: Site, question: Path) -> None:
    with page(question, 320, 640) as opened:
        is_paired(opened, site.server, "--person", site.person)
        opened.route("**/files/w1", lambda route: route.fulfill(body=LINES))
        out = {"t": "code.out", "id": "r1", "kind": "stdout", "text": LINES[:300_000], **PLACE}
        hears(
            opened,
            START,
            out,
            {"t": "code.end", "id": "r1", "status": "ok", "output": "w1", **PLACE},
        )
        shown = opened.locator(".results pre.output")
        expect(shown).to_contain_text("the rest can be opened")
        expect(shown).not_to_contain_text("line 59999")
        opened.get_by_role("button", name="All of the output").click()
        expect(shown).to_have_js_property("textContent", LINES)
        expect(shown.locator("b")).to_have_count(0)
        is_fine(opened, "output", shots=False)
        assert opened.evaluate("() => document.documentElement.scrollWidth") <= 320


def test_an_output_that_is_gone_is_said_to_be(site: Site, question: Path) -> None:
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person)
        opened.route("**/files/w1", lambda route: route.fulfill(status=404))
        hears(opened, START, END)
        opened.get_by_role("button", name="All of the output").click()
        expect(opened.locator(".results .note.bad")).to_contain_text("can't be fetched")
