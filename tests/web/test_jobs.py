"""How far code is stands in its card on the page, moves, and goes with the run."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser import is_fine, is_paired, page
from tests.web.conftest import Site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.browser,
    pytest.mark.timeout(240),
]

HEARS = """async (messages) => {
  const { line } = await import('/app.js');
  for (const detail of messages) line().dispatchEvent(new CustomEvent('message', { detail }));
}"""
"""The page's line gives it these messages."""

SENDS = """async () => {
  const { line } = await import('/app.js');
  window.sent = [];
  line().send = (message) => window.sent.push(message);
}"""
"""What the page sends is kept."""

PLACE = {"turn": 1, "gen": 0}
START = {"t": "code.start", "id": "r1", "language": "python", "code": "sort()", **PLACE}


def update(text: str, state: str = "running", **more: object) -> dict[str, object]:
    told = {"t": "task.update", "id": "j1", "state": state, "kind": "run", "title": "sort"}
    return {**told, "text": text, "run": "r1", **PLACE, **more}


def hears(opened: Page, *messages: dict[str, object]) -> None:
    opened.evaluate(HEARS, list(messages))


def test_progress_moves_in_the_card_of_its_run_and_goes_with_it(site: Site, question: Path) -> None:
    with page(question, 320, 640) as opened:
        is_paired(opened, site.server, "--person", site.person)
        hears(opened, START, update("12 of 40", fraction=0.3), update("20 of 40", fraction=0.5))
        lines = opened.locator(".turn .job")
        expect(lines).to_have_count(1)
        expect(lines.locator("> span")).to_have_text("20 of 40")
        expect(lines.locator("progress")).to_have_js_property("value", 0.5)
        is_fine(opened, "progress", shots=False)
        evil = "<img src=x onerror=\"document.body.textContent = ''\"> " * 9
        hears(opened, update(evil))
        expect(lines).to_contain_text("<img src=x")
        expect(lines.locator("img")).to_have_count(0)
        assert opened.evaluate("() => document.documentElement.scrollWidth") <= 320
        hears(opened, {"t": "code.end", "id": "r1", "status": "ok", **PLACE})
        expect(lines).to_have_count(0)


def test_a_job_of_a_kind_that_the_page_does_not_know_is_shown_alike(
    site: Site, question: Path
) -> None:
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person)
        hears(opened, START, update("reading", kind="helper", run="", id="j2"))
        expect(opened.locator(".job > span")).to_have_text("reading")
        expect(opened.locator(".job progress")).not_to_have_attribute("value", "0")
        hears(opened, {"t": "code.end", "id": "r1", "status": "ok", **PLACE})
        expect(opened.locator(".job")).to_have_count(1)
        hears(opened, update("", "done", kind="helper", run="", id="j2"))
        expect(opened.locator(".job")).to_have_count(0)


def test_a_job_in_the_background_shows_its_output_and_is_stopped_by_a_tap(
    site: Site, question: Path
) -> None:
    with page(question, 320, 640) as opened:
        is_paired(opened, site.server, "--person", site.person)
        hears(opened, START, update("epoch 1"))
        line = opened.locator(".job")
        expect(line.get_by_role("button", name="Stop the job sort")).to_be_hidden()
        hears(opened, {"t": "code.end", "id": "r1", "status": "ok", "job": "j1", **PLACE})
        expect(opened.locator(".card summary")).to_have_text("python: goes on in the background")
        expect(line.get_by_role("button", name="Stop the job sort")).to_be_visible()
        expect(opened.locator(".turn").get_by_role("button", name="Stop")).to_have_count(1)
        hears(opened, update("epoch 2", output="epoch 1\nepoch 2\n"))
        expect(line.locator("> span")).to_have_text("epoch 2")
        line.locator("summary").click()
        expect(line.locator("pre")).to_contain_text("epoch 1")
        assert opened.evaluate("() => document.documentElement.scrollWidth") <= 320
        is_fine(opened, "job", shots=False)
        opened.evaluate(SENDS)
        line.get_by_role("button", name="Stop the job sort").click()
        assert opened.evaluate("() => window.sent") == [{"t": "task.cancel", "id": "j1"}]
        hears(opened, update("epoch 2", "cancelled"))
        expect(line).to_have_count(0)


def test_an_output_that_is_looked_at_at_its_end_follows_what_comes(
    site: Site, question: Path
) -> None:
    with page(question, 320, 640) as opened:
        is_paired(opened, site.server, "--person", site.person)
        lines = [
            {"t": "code.out", "id": "r1", "kind": "stdout", "text": f"{n}\n", **PLACE}
            for n in range(60)
        ]
        hears(opened, START, *lines)
        output = opened.locator("pre.output")
        left = "(box) => box.scrollHeight - box.clientHeight - box.scrollTop"
        assert output.evaluate(left) <= 1
        output.evaluate("(box) => { box.scrollTop = 0; }")
        hears(opened, *lines[:1])
        assert output.evaluate("(box) => box.scrollTop") == 0


QUESTION = {
    "t": "announce",
    "text": "This has taken 8 minutes. Shall I go on?",
    "asks": True,
    "choices": ["Go on", "In the background", "Stop"],
    "question": "time-1-0",
    **PLACE,
}
ACTING = {"t": "turn.state", "ears": "idle", "work": "acting", "mouth": "silent", **PLACE}


def test_a_question_of_time_is_answered_by_a_tap_and_goes_when_it_is_settled(
    site: Site, question: Path
) -> None:
    with page(question, 320, 640) as opened:
        is_paired(opened, site.server, "--person", site.person)
        choices = opened.locator(".told .actions button")
        hears(opened, START, ACTING, QUESTION)
        expect(choices).to_have_text(["Go on", "In the background", "Stop"])
        is_fine(opened, "time-question", shots=False)
        assert opened.evaluate("() => document.documentElement.scrollWidth") <= 320
        opened.evaluate(SENDS)
        opened.get_by_role("button", name="In the background").click()
        [sent] = opened.evaluate("() => window.sent")
        assert (sent["t"], sent["text"]) == ("text", "In the background")
        expect(choices).to_have_count(0)
        hears(opened, QUESTION)
        expect(choices).to_have_count(3)
        settled = {"t": "announce", "text": "It may take as long again.", "priority": "low"}
        hears(opened, {**settled, "question": "time-1-0", **PLACE})
        expect(choices).to_have_count(0)
        hears(opened, QUESTION, {**ACTING, "work": "thinking"})
        expect(choices).to_have_count(0)
