"""The page's panels and cards in a real browser: in all sizes, and without eyes and mouse."""

from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, expect

from tests.scripted_model import runs, says
from tests.web.browser import approve, ask, is_fine, is_paired, page, pairing
from tests.web.conftest import Site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.browser,
    pytest.mark.timeout(240),
]

ADMIN = ("--may", "talk,approve,admin")

ANSWER = """The mean is `2.0`, and **half** of the days were dry.

| Day | Rain in mm |
|---|---|
| Monday | 4.2 |

- First, look at *Monday*.

```text
four millimetres
```
"""


def test_every_screen_is_for_everybody(site: Site, question: Path) -> None:
    plot = "import matplotlib.pyplot as p\np.plot([1, 3, 2])\np.show()\nprint(25 * 40)"
    site.model.add(runs(plot, "Let me **see**. "), says(ANSWER))
    with page(question) as opened:
        opened.goto(site.url)
        is_fine(opened, "pairing")
        is_paired(opened, site.server, "--person", site.person, *ADMIN)
        is_fine(opened, "empty")
        ask(opened, "how much did it rain")
        expect(opened.locator(".card.asks h2")).to_be_visible()
        is_fine(opened, "question")
        approve(opened)
        expect(opened.locator(".answer table")).to_be_visible()
        expect(opened.locator("img.result")).to_be_visible()
        expect(opened.locator("#state")).to_have_text("Ready")
        opened.locator("details.card summary").click()
        is_fine(opened, "answer")
        opened.locator("#open-drawer").click()
        expect(opened.locator("#conversations [aria-current]")).to_be_visible()
        is_fine(opened, "conversations", shots=False)
        opened.keyboard.press("Escape")
        opened.locator("#menu").click()
        expect(opened.locator("#devices li").first).to_be_visible()
        is_fine(opened, "settings")


def test_conversations_are_begun_and_taken_up_with_their_past(site: Site, question: Path) -> None:
    site.model.add(says("It is 7."), runs("print(6 * 7)"), says("It is 42."))
    with page(question, 1100, 800) as opened:
        is_paired(opened, site.server, "--person", site.person, "--may", "talk,approve")
        ask(opened, "print 3 plus 4")
        expect(opened.locator(".answer")).to_have_text("It is 7.")
        own = opened.locator("#title").inner_text()
        assert own.startswith("computer")  # a device's own conversation is called as it is
        opened.get_by_role("button", name="New conversation").click()
        expect(opened.locator(".answer")).to_have_count(0)
        expect(opened.locator("#title")).not_to_have_text(own)
        ask(opened, "print 6 times 7")
        approve(opened)
        expect(opened.locator(".answer").last).to_have_text("It is 42.")
        expect(opened.locator("#state")).to_have_text("Ready")
        opened.reload()
        expect(opened.locator(".you")).to_have_text("print 6 times 7")
        expect(opened.locator("details.card summary")).to_contain_text("python: done")
        expect(opened.locator(".answer").last).to_contain_text("It is 42.")
        opened.get_by_role("button", name=own).click()
        expect(opened.locator(".you")).to_have_text("print 3 plus 4")
        expect(opened.locator(".answer")).to_have_text("It is 7.")


def test_a_question_is_settled_on_all_devices_at_once(site: Site, question: Path) -> None:
    site.model.add(runs("print('x')"), says("As you wish."))
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person, "--name", "phone")
        ask(opened, "print something")
        other = opened.context.new_page()
        other.goto(site.url)
        expect(other.locator(".card.asks h2")).to_have_text("Run this Python code?")
        other.get_by_role("button", name="Deny").click()
        expect(opened.locator(".card.asks")).to_have_count(0)
        expect(opened.locator(".note").last).to_contain_text("Denied on")
        expect(opened.locator(".answer").last).to_have_text("As you wish.")


def test_a_file_whose_line_breaks_can_be_fetched_again(site: Site, question: Path) -> None:
    site.model.add(runs("open('tide.csv', 'w').write('high')"), says("It is written."))
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person)
        ask(opened, "write it")
        approve(opened)
        get = opened.get_by_role("button", name="Download tide.csv")
        opened.route("**/files/**", lambda route: route.abort())
        get.click()
        said = opened.get_by_text("tide.csv can't be fetched. The connection broke")
        expect(said).to_be_visible()
        opened.unroute("**/files/**")
        with opened.expect_download() as download:
            get.click()
        assert Path(download.value.path()).read_bytes() == b"high"
        expect(said).to_have_count(0)


def test_files_go_up_and_come_down_again(site: Site, question: Path, tmp_path: Path) -> None:
    copy = "open('copy.csv', 'w').write(open('rain.csv').read())"
    site.model.add(runs(copy), says("It is copied."))
    rain = b"day,mm\n" * 20_000
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person)
        rained = FilePayload(name="rain.csv", mimeType="text/csv", buffer=rain)
        opened.set_input_files("#picked", [rained])
        expect(opened.get_by_label("rain.csv: will be sent along")).to_be_visible()
        large = FilePayload(name="large.bin", mimeType="", buffer=bytes(1_200_000))
        opened.set_input_files("#picked", [large])
        expect(opened.locator("#files .bad")).to_contain_text("more than 1 MB are not taken")
        opened.get_by_role("button", name="Leave out large.bin").click()
        ask(opened, "copy it")
        expect(opened.locator("#files li")).to_have_count(0)
        approve(opened)
        with opened.expect_download() as download:
            opened.get_by_role("button", name="Download copy.csv").click()
        assert Path(download.value.path()).read_bytes() == rain
        dropped = """() => {
          const transfer = new DataTransfer();
          transfer.items.add(new File(['dropped'], 'dropped.txt'));
          const drop = (type, target) => target.dispatchEvent(
            new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }));
          drop('dragover', document.getElementById('conversation'));
          drop('drop', document.getElementById('conversation'));
          document.getElementById('words').dispatchEvent(
            new ClipboardEvent('paste', { clipboardData: transfer, cancelable: true }));
        }"""
        opened.evaluate(dropped)
        expect(opened.locator("#files [aria-label^='dropped']")).to_have_count(2)


def test_lists_and_tables_are_laid_out_as_their_words_are_written(
    site: Site, question: Path
) -> None:
    site.model.add(says("- אחת\n- שתיים\n\n| יום | גשם |\n|---|---|\n| שני | 4.2 |\n"))
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person)
        ask(opened, "בעברית")
        first, second = (opened.get_by_role("columnheader", name=name) for name in ("יום", "גשם"))
        expect(second).to_be_visible()
        ahead, behind = first.bounding_box(), second.bounding_box()
        assert ahead is not None
        assert behind is not None
        assert ahead["x"] > behind["x"]
        expect(opened.locator(".answer ul")).to_have_css("padding-left", "0px")
        expect(opened.locator(".answer ul")).not_to_have_css("padding-right", "0px")


def test_voice_mode_and_devices_are_chosen_on_the_settings_page(site: Site, question: Path) -> None:
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person, *ADMIN, "--name", "desk")
        with pairing(site.server, "--name", "lamp", "--person", site.person) as address:
            other = opened.context.browser.new_context()  # type: ignore[union-attr]
            lamp = other.new_page()
            lamp.goto(address)
            expect(lamp.locator("#state")).to_have_text("Ready")
        opened.locator("#menu").click()
        opened.get_by_label("Voice").select_option("en_US-joe-medium")
        opened.get_by_role("radio", name="read-only").check()
        expect(opened.locator("#settings-said")).to_contain_text("The mode is read-only")
        opened.get_by_label("Language model").fill("no such model")
        opened.get_by_role("button", name="Use", exact=True).click()
        expect(opened.locator("#settings-said")).not_to_contain_text("The mode")
        opened.on("dialog", lambda dialog: dialog.accept())
        opened.get_by_role("button", name="Remove lamp").click()
        expect(lamp.get_by_role("alert")).to_contain_text("turned out")
        expect(opened.get_by_role("button", name="Remove lamp")).to_have_count(0)
        opened.get_by_role("button", name="Pair another device").click()
        expect(opened.get_by_role("img", name="Code that pairs")).to_be_visible()
        trust = opened.locator("#letting-in .digest").inner_text()
        is_fine(opened, "letting-in", shots=False)
        digits = opened.locator("#letting-in .code").inner_text()
        opened.keyboard.press("Escape")
        lamp.get_by_label("Six digits").fill(digits)
        lamp.get_by_role("button", name="Pair").click()
        expect(lamp.get_by_role("alert")).to_contain_text("No pairing is open")
        other.close()
        opened.reload()
        opened.locator("#menu").click()
        expect(opened.get_by_role("radio", name="read-only")).to_be_checked()
        expect(opened.get_by_label("Voice")).to_have_value("en_US-joe-medium")
        opened.keyboard.press("Escape")
        assert trust.startswith("http://127.0.0.1:")


def test_the_page_that_introduces_the_server_is_for_everybody(site: Site, question: Path) -> None:
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person, *ADMIN)
        opened.locator("#menu").click()
        opened.get_by_role("button", name="Pair another device").click()
        trust = opened.locator("#letting-in .digest").inner_text()
        new = opened.context.new_page()
        new.goto(trust)
        expect(new.get_by_role("heading", level=1)).to_have_text(
            "Let this device trust your server"
        )
        is_fine(new, "introduction")
        with new.expect_download() as download:
            new.get_by_role("link", name="Download the certificate").click()
        assert download.value.suggested_filename == "sayso.crt"


def test_everything_is_reached_without_a_mouse_and_told_without_a_screen(
    site: Site, question: Path
) -> None:
    site.model.add(runs("print('x')"), says("مرحبا بك"))
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person)
        opened.locator("#conversation").focus()
        names = set()
        for _ in range(16):
            opened.keyboard.press("Tab")
            names.add(opened.evaluate("() => document.activeElement.id"))
        assert {
            "open-drawer",
            "menu",
            "conversation",
            "words",
            "send",
            "hands-free",
            "talk",
        } <= names
        opened.locator("#conversation").focus()
        opened.keyboard.down(" ")
        expect(opened.locator("#state")).to_have_text("Listening")
        opened.keyboard.press("Escape")
        opened.keyboard.up(" ")
        expect(opened.locator("#state")).to_have_text("Ready")
        opened.locator("#talk").press("Enter")
        expect(opened.locator("#talk-label")).to_have_text("Tap to send")
        opened.keyboard.press("Escape")
        ask(opened, "print something")
        told = opened.get_by_role("log", name="What happened")
        expect(told).to_contain_text("Run this Python code?")
        yes = opened.get_by_role("button", name="Approve")
        yes.focus()
        expect(yes).to_have_attribute("aria-disabled", "false")
        opened.keyboard.press("Enter")
        expect(told).to_contain_text("Approved")
        expect(told).to_contain_text("python: done")
        answer = opened.locator(".answer p").last
        expect(answer).to_have_text("مرحبا بك")
        expect(answer).to_have_css("direction", "rtl")
        expect(answer).to_have_css("text-align", "start")
        expect(told).to_contain_text("مرحبا بك")
        opened.locator("#talk").press("Enter")
        expect(opened.locator("#talk-label")).to_have_text("Tap to send")
        opened.keyboard.press("Escape")
        ask(opened, "/help")
        expect(told).to_contain_text("/resume")
        assert told.inner_text().count("مرحبا بك") == 1


def test_a_reminder_is_shown_and_a_command_answered(site: Site, question: Path) -> None:
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person)
        ask(opened, "set a timer for 1 second")
        expect(opened.locator(".told")).to_be_visible()
        ask(opened, "/help")
        expect(opened.locator(".note").last).to_contain_text("/resume")
        ask(opened, "/export")
        with opened.expect_download() as download:
            opened.get_by_role("button", name=".ipynb").click()
        assert download.value.suggested_filename.endswith(".ipynb")
