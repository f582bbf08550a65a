"""What was shown stays: after a reload, in a second tab, after the server was started again."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.kernels import lend_kernels
from tests.rig import Server
from tests.scripted_model import ScriptedModel, runs, says
from tests.web.browser import approve, ask, is_fine, is_paired, page, press
from tests.web.conftest import Site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.browser,
    pytest.mark.timeout(240),
]

DRAW = """import matplotlib.pyplot as plt
from IPython.display import HTML, display
print("before")
plt.plot([1, 3, 2])
plt.show()
display(HTML("<table><tr><th>Day</th><td>4.2</td></tr></table>"))
open("rain.csv", "w").write("4.2")
print("after")
"""

PARTS = (
    ".you, .answer, .turn > .note, .results pre.output, img.result, iframe.result, .results .file"
)


def shown(opened: Page) -> list[str]:
    """What stands in the conversation, in order; pictures by what they are."""
    expect(opened.locator("img.result")).to_be_visible()
    expect(opened.locator("iframe.result")).to_be_visible()
    opened.locator("details.card").first.scroll_into_view_if_needed()
    found: list[str] = opened.locator("#conversation").evaluate(
        """(log, parts) => [...log.querySelectorAll(parts)].map((one) =>
          ['IMG', 'IFRAME'].includes(one.tagName) ? one.tagName : one.innerText.trim())""",
        PARTS,
    )
    return found


def draws(opened: Page) -> list[str]:
    ask(opened, "draw the rain")
    approve(opened)
    expect(opened.locator(".answer").last).to_have_text("There it is.")
    expect(opened.locator("#state")).to_have_text("Ready")
    found = shown(opened)
    assert [part for part in found if part in ("IMG", "IFRAME")] == ["IMG", "IFRAME"]
    assert found.index("before") < found.index("IMG") < found.index("IFRAME")
    assert any(part.startswith("Approved on") for part in found)
    return found


SCRIPT = (runs(DRAW, "Let me draw."), says("There it is."))


def test_results_stay_after_a_reload_and_are_in_a_second_tab(site: Site, question: Path) -> None:
    site.model.add(*SCRIPT)
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person)
        before = draws(opened)
        opened.reload()
        expect(opened.locator(".answer").last).to_have_text("There it is.")
        assert shown(opened) == before
        expect(opened.locator("details.card summary")).to_contain_text("python: done")
        is_fine(opened, "past")
        other = opened.context.new_page()
        other.goto(site.url)
        expect(other.locator(".answer").last).to_have_text("There it is.")
        assert shown(other) == before
        with other.expect_download() as download:
            other.get_by_role("button", name="Download rain.csv").click()
        assert Path(download.value.path()).read_bytes() == b"4.2"


def test_a_second_tab_shows_questions_with_their_answers_and_runs_that_end(
    site: Site, question: Path
) -> None:
    site.model.add(runs("print(6 * 7)"), says("It is 42."))
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person)
        other = opened.context.new_page()
        other.goto(site.url)
        expect(other.locator("#state")).to_have_text("Ready")
        ask(opened, "print the answer")
        expect(other.locator(".you")).to_have_text("print the answer")
        press(opened, "Approve")
        expect(other.locator(".answer").last).to_have_text("It is 42.")
        expect(other.locator("details.card")).to_have_count(1)
        expect(other.locator("details.card summary")).to_contain_text("python: done")
        expect(other.locator(".results pre.output")).to_have_text("42")


def test_results_stay_when_the_server_was_started_again(tmp_path: Path, question: Path) -> None:
    lend_kernels(tmp_path)
    with (
        ScriptedModel(SCRIPT, key="a-key-for-tests") as model,
        Server(tmp_path, model) as server,
        page(question) as opened,
    ):
        is_paired(opened, server)
        before = draws(opened)
        ask(opened, "what time is it")
        expect(opened.locator(".answer").last).to_contain_text("It's")
        server.stop()
        server.start()
        opened.reload()
        expect(opened.locator(".you").last).to_have_text("what time is it")
        assert shown(opened)[: len(before)] == before


def test_a_picture_is_enlarged_and_saved(site: Site, question: Path) -> None:
    site.model.add(*SCRIPT)
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person)
        draws(opened)
        opened.get_by_role("button", name="Enlarge").click()
        dialog = opened.get_by_role("dialog", name="Picture")
        expect(dialog.locator("img")).to_be_visible()
        is_fine(opened, "enlarged")
        with opened.expect_download() as download:
            dialog.get_by_role("button", name="Save").click()
        assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")
        opened.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
