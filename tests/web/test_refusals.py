"""What goes wrong around a page: each time it says what to do."""

import json
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.rig import SAYSO
from tests.web.browser import hold, is_paired, page, pairing
from tests.web.conftest import Site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.browser,
    pytest.mark.timeout(240),
]

FUTURE = """() => {
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    const isText = typeof data === 'string';
    send.call(this, isText ? data.replace('{"min":1,"max":1}', '{"min":7,"max":9}') : data);
  };
}"""
"""A page of a version that the server doesn't speak."""


def test_a_wrong_code_and_one_that_is_over_are_told(site: Site, question: Path) -> None:
    with page(question) as opened:
        opened.goto(site.url)
        expect(opened.get_by_role("heading", name="Pair this device")).to_be_visible()
        opened.get_by_label("Six digits").fill("123 456")
        opened.get_by_role("button", name="Pair").click()
        expect(opened.get_by_role("alert")).to_contain_text("No pairing is open: run `sayso pair`")
        with pairing(site.server, "--person", site.person) as address:
            opened.goto(f"{site.url}#pair=wrong")
            expect(opened.get_by_role("alert")).to_contain_text("That code is not right")
            opened.goto(address)
            expect(opened.locator("#state")).to_have_text("Ready")
        opened.evaluate("() => localStorage.clear()")
        opened.goto(address)
        expect(opened.get_by_role("alert")).to_contain_text("No pairing is open")
        kept = opened.evaluate("() => JSON.stringify(localStorage)")
        assert "sayso.token" not in json.loads(kept)


def test_a_device_that_is_turned_out_is_told_and_asked_to_pair(site: Site, question: Path) -> None:
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person, "--name", "to go")
        command = [SAYSO, "pair", "revoke", "to go", "--server", site.server.url]
        subprocess.run(command, env=site.server.variables, check=True, stdout=subprocess.DEVNULL)
        expect(opened.get_by_role("alert")).to_contain_text("turned out; pair it again")
        expect(opened.get_by_label("Six digits")).to_be_visible()
        assert opened.evaluate("() => localStorage.getItem('sayso.token')") is None


def test_a_page_of_another_version_is_told_to_reload(site: Site, question: Path) -> None:
    with page(question, before=f"({FUTURE})()") as opened:
        with pairing(site.server, "--person", site.person) as address:
            opened.goto(address)
            expect(opened.locator("#state")).to_have_text("Not connected")
        expect(opened.locator(".note.bad")).to_contain_text("update the server")
        expect(opened.locator(".note.bad")).to_contain_text("Reload this page")


def test_a_microphone_that_is_denied_is_explained_and_typing_goes_on(
    site: Site, question: Path
) -> None:
    flags = ("--deny-permission-prompts", "--no-proxy-server")
    with page(question, flags=flags) as opened:
        is_paired(opened, site.server, "--person", site.person)
        hold(opened, 0.5)
        expect(opened.locator(".note.bad")).to_contain_text("allow it for this page")
        opened.locator("#hands-free").click()
        expect(opened.locator(".note.bad")).to_have_count(2)
        expect(opened.locator("#hands-free")).to_have_attribute("aria-pressed", "false")
        expect(opened.locator("#state")).to_have_text("Ready")


def test_where_no_microphone_can_be_the_page_says_why(site: Site, question: Path) -> None:
    insecure = "Object.defineProperty(window, 'isSecureContext', { value: false })"
    with page(question, before=insecure) as opened:
        is_paired(opened, site.server, "--person", site.person)
        expect(opened.locator(".note")).to_contain_text("only over HTTPS")
        hold(opened, 0.5)
        expect(opened.locator(".note.bad")).to_contain_text("that `sayso pair` shows, or type")
    with page(question, before="delete window.AudioWorkletNode") as opened:
        is_paired(opened, site.server, "--person", site.person)
        expect(opened.locator(".note")).to_contain_text("too old to talk")
        hold(opened, 0.5)
        expect(opened.locator(".note.bad")).to_contain_text("update it, or type")


def test_at_an_address_without_tls_the_page_does_not_start_and_says_why(
    site: Site, question: Path
) -> None:
    with page(question) as opened:
        opened.goto(f"http://insecure.test:{site.server.port}/")
        expect(opened.locator("#stuck")).to_have_css("opacity", "1")
        expect(opened.locator("#stuck")).to_contain_text("begins with https://")


def test_a_browser_that_does_not_understand_the_page_says_so(site: Site, question: Path) -> None:
    def spoil(route: Route) -> None:
        route.fulfill(content_type="text/javascript", body="let too = ~~new;")

    with page(question, complains=True) as opened:
        opened.route("**/app.js", spoil)
        opened.goto(site.url)
        expect(opened.locator("#stuck")).to_have_css("opacity", "1")
        expect(opened.locator("#stuck")).to_contain_text("update it, or use another one")
