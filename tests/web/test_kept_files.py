"""Files that wait to be sent along outlive the page that they were given to."""

from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, expect

from tests.scripted_model import says
from tests.web.browser import ask, is_fine, is_paired, page
from tests.web.conftest import Site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.browser,
    pytest.mark.timeout(240),
]

STOPS_UPLOADS = """
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    if (!sessionStorage.stopped || !String(data).includes('"file.put"')) send.call(this, data);
  };
"""
KEPT = """(clear) => new Promise((resolve, reject) => {
  const opening = indexedDB.open("sayso", 1);
  opening.onerror = reject;
  opening.onsuccess = () => {
    const files = opening.result.transaction("files", "readwrite").objectStore("files");
    if (clear) files.clear();
    else files.count().onsuccess = ({ target }) => resolve(target.result);
    files.transaction.oncomplete = () => resolve(0);
  };
})"""


def test_a_page_that_is_loaded_anew_sends_again_what_was_on_its_way(
    site: Site, question: Path
) -> None:
    rain = FilePayload(name="rain.csv", mimeType="text/csv", buffer=b"day,mm\n" * 20_000)
    wind = FilePayload(name="wind.csv", mimeType="text/csv", buffer=b"day,kmh\n" * 20_000)
    with page(question, before=STOPS_UPLOADS) as opened:
        is_paired(opened, site.server, "--person", site.person)
        opened.evaluate("sessionStorage.stopped = 1")
        opened.set_input_files("#picked", [rain])
        expect(opened.locator("#files progress")).to_be_visible()
        opened.wait_for_function(KEPT, arg=False)
        opened.evaluate("delete sessionStorage.stopped")
        opened.reload()
        expect(opened.get_by_label("rain.csv: will be sent along")).to_be_visible()
        assert opened.evaluate(KEPT, False) == 0
        opened.reload()
        expect(opened.get_by_label("rain.csv: will be sent along")).to_be_visible()
        site.model.add(says("It rained."))
        ask(opened, "what is in it")
        expect(opened.locator(".along")).to_have_text("With rain.csv")
        expect(opened.locator(".answer")).to_have_text("It rained.")
        assert "rain.csv" in site.model.requests[-1].last
        opened.evaluate("sessionStorage.stopped = 1")
        opened.set_input_files("#picked", [wind])
        opened.wait_for_function(KEPT, arg=False)
        opened.evaluate(KEPT, True)
        opened.reload()
        expect(opened.locator("#files .bad")).to_contain_text("wind.csv did not arrive")
        is_fine(opened, "upload", shots=False)
        opened.reload()
        expect(opened.locator("#state")).to_have_text("Ready")
        expect(opened.locator("#files li")).to_have_count(0)


HOLDS_BACK = """
  const get = IDBObjectStore.prototype.get;
  IDBObjectStore.prototype.get = function (id) {
    const asked = get.call(this, id);
    if (sessionStorage.heldBack !== id) return asked;
    window.held = { result: new File(["held back"], "wind.csv") };
    return window.held;
  };
"""
"""What is in the file `sessionStorage.heldBack` is there when `held.onsuccess()` says so."""

LAST = "JSON.parse(sessionStorage['sayso.uploads']).at(-1).id"


def files(*names: str) -> list[FilePayload]:
    return [FilePayload(name=name, mimeType="text/csv", buffer=b"a,b\n" * 9_000) for name in names]


def test_a_page_that_is_loaded_anew_twice_in_a_row_forgets_nothing(
    site: Site, question: Path
) -> None:
    with page(question, before=STOPS_UPLOADS + HOLDS_BACK) as opened:
        is_paired(opened, site.server, "--person", site.person)
        opened.evaluate("sessionStorage.stopped = 1")
        opened.set_input_files("#picked", files("rain.csv", "wind.csv"))
        opened.wait_for_function(KEPT, arg=False)
        opened.evaluate(f"sessionStorage.heldBack = {LAST}")
        opened.reload()
        opened.wait_for_function("() => window.held?.onsuccess")
        opened.evaluate("delete sessionStorage.heldBack; delete sessionStorage.stopped")
        opened.reload()
        expect(opened.get_by_label("rain.csv: will be sent along")).to_be_visible()
        expect(opened.get_by_label("wind.csv: will be sent along")).to_be_visible()


def test_a_file_that_finds_no_place_is_not_said_to_be_sent_again(
    site: Site, question: Path
) -> None:
    with page(question, before=STOPS_UPLOADS + HOLDS_BACK) as opened:
        is_paired(opened, site.server, "--person", site.person)
        opened.evaluate("sessionStorage.stopped = 1")
        opened.set_input_files("#picked", files("wind.csv"))
        opened.evaluate(f"sessionStorage.heldBack = {LAST}")
        opened.reload()
        opened.wait_for_function("() => window.held?.onsuccess")
        opened.set_input_files("#picked", files(*(f"{number}.csv" for number in range(8))))
        opened.evaluate("held.onsuccess()")
        expect(opened.locator("#files .bad")).to_contain_text("Only 8 files")
        assert "sent again" not in (opened.text_content("body") or "")


def test_a_tab_that_is_duplicated_leaves_the_files_to_the_first(site: Site, question: Path) -> None:
    with page(question, before=STOPS_UPLOADS) as opened:
        is_paired(opened, site.server, "--person", site.person)
        opened.evaluate("sessionStorage.stopped = 1")
        opened.set_input_files("#picked", files("rain.csv"))
        opened.wait_for_function(KEPT, arg=False)
        opened.evaluate("delete sessionStorage.stopped")
        with opened.expect_popup() as popup:
            opened.evaluate("window.open(location.href)")
        duplicate = popup.value
        duplicate.wait_for_function("() => sessionStorage['sayso.uploads'] === '[]'")
        expect(duplicate.locator("#files li")).to_have_count(0)
        opened.reload()
        expect(opened.get_by_label("rain.csv: will be sent along")).to_be_visible()


def test_a_browser_that_keeps_nothing_sends_files_all_the_same(site: Site, question: Path) -> None:
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person)
        opened.evaluate(
            "() => { Storage.prototype.setItem = () => { throw new DOMException('full'); }; }"
        )
        opened.set_input_files("#picked", files("rain.csv"))
        expect(opened.get_by_label("rain.csv: will be sent along")).to_be_visible()
