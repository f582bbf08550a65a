"""What is asked about, which hosts are open, how keys and files are named: without a browser."""

import asyncio
import json
import os
import shutil
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.capabilities.browser.cdp import Cdp
from sayso.server.capabilities.browser.consequences import consequence, dialog_consequence, never
from sayso.server.capabilities.browser.errors import RefusedError
from sayso.server.capabilities.browser.keys import keys_of
from sayso.server.capabilities.browser.leases import LEASE_S, SOURCE, Leases, bare, is_near
from sayso.server.capabilities.browser.operation_list import OPERATIONS
from sayso.server.capabilities.browser.profile import PROFILE, prepare
from sayso.server.capabilities.browser.tools import BrowserTool
from sayso.server.capabilities.browser.transfers import (
    FILES,
    harmless,
    into_workspace,
    out_of_workspace,
)
from sayso.server.runtimes.protection.folder_identity import look_at


@pytest.mark.parametrize(
    ("facts", "asked"),
    [
        ({"role": "button", "name": "Search"}, False),
        ({"role": "link", "name": "How to delete files"}, False),
        ({"role": "link", "name": "Delete"}, True),
        ({"role": "button", "name": "Yes, delete it"}, True),
        ({"role": "button", "name": "Zahlungspflichtig bestellen"}, True),
        ({"role": "button", "name": "Envoyer"}, True),
        ({"role": "clickable", "name": "", "around": "Send"}, True),
        ({"role": "button", "name": "Bu\u00ady \u200bnow"}, True),
        ({"role": "button", "name": "P\u2060a\u200dy"}, True),
        ({"role": "button", "name": "\uff24\uff45\uff4c\uff45\uff54\uff45"}, True),
        ({"role": "button", "name": "place\u00a0your\u2003order"}, True),
        ({"role": "button", "submits": True, "form": {"method": "get"}}, False),
        ({"role": "button", "submits": True, "form": {"method": "post"}}, True),
        ({"role": "button", "submits": True, "form": {"method": "get", "secrets": True}}, True),
        ({"role": "button", "submits": True, "form": {"method": "get", "written": True}}, True),
    ],
)
def test_what_does_more_than_lead_on_is_asked_about(facts: dict[str, object], asked: bool) -> None:
    assert bool(consequence(facts)) is asked


def test_enter_in_a_field_counts_as_its_forms_button() -> None:
    form = {"method": "get", "submit": ["Send"]}
    assert consequence({"role": "textbox", "name": "Word", "form": form}, pressed=False)
    assert not consequence({"role": "textbox", "form": {"method": "get"}}, pressed=False)


def test_secrets_are_never_written_and_dangerous_questions_are_asked_about() -> None:
    assert never({"secret": True})
    assert not never({"secret": False})
    assert dialog_consequence("confirm", "Really delete it?")
    assert dialog_consequence("confirm", "Really de\u00adle\u200bte it?")
    assert not dialog_consequence("alert", "Saved. You can send it.")


def test_a_lease_ends_by_itself_and_opens_nothing_else() -> None:
    now = 0.0
    leases = Leases(Permissions(), lambda: now)
    assert not leases.check("example.org")
    leases.grant(bare("www.example.org"))
    for host in ("example.org", "www.example.org", "static.example.org"):
        assert leases.reach.lets_pass(host)
    for host in ("example.com", "badexample.org", "org", "127.0.0.1", "update.googleapis.com"):
        assert not leases.reach.lets_pass(host)
    now = LEASE_S + 1
    assert not leases.reach.lets_pass("example.org")


def test_what_is_open_to_the_browser_is_listed_with_its_time_and_taken_back() -> None:
    now = 0.0
    permissions = Permissions()
    leases = Leases(permissions, lambda: now)
    assert not list(permissions.leases)
    leases.grant("example.org")
    leases.grant_pictures("far-model")
    now = 70.0
    host, pictures = permissions.leases
    assert (host.line, host.until) == ("browse example.org", "for 14 more minutes")
    assert (pictures.line, pictures.until) == (
        "pictures of pages to far-model", "for 59 more minutes",
    )  # fmt: skip
    host.end()
    pictures.end()
    assert not list(permissions.leases)
    assert not leases.reach.lets_pass("example.org")
    assert not leases.shows("far-model")
    leases.grant("example.org")
    permissions.forget()
    assert not leases.reach.lets_pass("example.org")


def test_this_machine_is_known_however_it_is_written() -> None:
    near = (
        "localhost", "a.localhost", "127.0.0.1", "127.1", "0x7f000001", "2130706433", "::1",
        "[::1]", "::ffff:127.0.0.1", "192.168.1.1", "sayso.local", "0.0.0.0",
    )  # fmt: skip
    for host in near:
        assert is_near(host), host
    for host in ("example.org", "127.0.0.1.example.org", "93.184.216.34", "localhost.example"):
        assert not is_near(host), host


async def test_who_opened_a_host_is_asked_again_once_something_else_was_read() -> None:
    permissions = Permissions()
    leases = Leases(permissions)
    leases.grant("example.org")
    permissions.outside_content.read([SOURCE, "www.example.org"])
    assert not await leases.hindrance("example.org")
    permissions.outside_content.read(["the tool mail"])
    assert await leases.hindrance("example.org")


def test_what_chromium_calls_by_itself_is_closed_in_every_mode() -> None:
    for mode in ("ask", "workspace", "full"):
        leases = Leases(Permissions(mode=mode))
        leases.grant("googleapis.com")
        assert not leases.reach.lets_pass("update.googleapis.com")
    assert Leases(Permissions(mode="full")).reach.lets_pass("example.org")


@pytest.mark.parametrize("keys", ["", "Hyper+a", "NoSuchKey", "a " * 101])
def test_what_is_no_key_is_refused(keys: str) -> None:
    with pytest.raises(RefusedError):
        keys_of(keys)


def test_keys_have_the_names_that_people_use() -> None:
    names = [key.name for key in keys_of("Esc Return down x")]
    assert names == ["Escape", "Enter", "ArrowDown", "x"]
    (chord,) = keys_of("Ctrl+Shift+a")
    assert (chord.name, chord.held, chord.text) == ("a", 10, "")


@pytest.mark.parametrize(
    ("name", "kept"),
    [("../../etc/passwd", "passwd"), ("C:\\x\\a.pdf", "a.pdf"), ("", "download"),
     ("..", "download"),
     ("a\u202egpj.exe", "agpj.exe"), (f"{'x' * 300}.pdf", f"{'x' * 96}.pdf")],
)  # fmt: skip
def test_a_name_from_a_page_is_nothing_but_a_name(name: str, kept: str) -> None:
    assert harmless(name) == kept


@pytest.fixture
def browser(tmp_path: Path) -> Path:
    """A browser's own folder."""
    made = tmp_path / "browser"
    (made / FILES).mkdir(parents=True)
    return made


def test_nothing_is_overwritten_and_no_link_is_followed(tmp_path: Path, browser: Path) -> None:
    workspace, files = tmp_path / "work", browser / FILES
    workspace.mkdir()
    for _ in range(2):
        (files / "guid").write_text("new")
        into_workspace(browser, "guid", workspace, "a.txt")
    assert sorted(each.name for each in (workspace / "downloads").iterdir()) == ["a-2.txt", "a.txt"]
    assert not list(files.iterdir())
    (files / "guid").symlink_to("/etc/passwd")
    with pytest.raises(RefusedError):
        into_workspace(browser, "guid", workspace, "a.txt")
    (files / "other").write_text("new")
    (tmp_path / "elsewhere").mkdir()
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "downloads").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RefusedError):
        into_workspace(browser, "other", linked, "a.txt")
    assert not list((tmp_path / "elsewhere").iterdir())
    (files / "guid").unlink()
    for path in ("../files/other", "/etc/passwd", "link", "."):
        (workspace / "link").unlink(missing_ok=True)
        (workspace / "link").symlink_to("/etc/passwd")
        with pytest.raises(RefusedError):
            out_of_workspace(workspace, path, browser)
    assert not list(files.iterdir())


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A folder of the person's, beyond the browser's."""
    made = tmp_path / "house"
    made.mkdir(mode=0o755)
    (made / "guid").write_text("the person's own")
    (made / "SingletonLock").write_text("the person's own")
    return made


def test_a_browser_that_was_taken_over_has_no_file_of_the_persons_moved(
    tmp_path: Path, browser: Path, house: Path
) -> None:
    """It may put a link in the place of its folder for files."""
    workspace = tmp_path / "work"
    workspace.mkdir()
    (browser / FILES).rmdir()
    (browser / FILES).symlink_to(house)
    for guid in ("guid", "../house/guid", str(house / "guid")):
        with pytest.raises(RefusedError):
            into_workspace(browser, guid, workspace, "a.txt")
    (workspace / "mine").write_text("a photo")
    with pytest.raises(RefusedError):
        out_of_workspace(workspace, "mine", browser)
    assert not list(workspace.rglob("a.txt"))
    assert sorted(each.name for each in house.iterdir()) == ["SingletonLock", "guid"]


@pytest.mark.parametrize("name", [FILES, PROFILE])
def test_a_browser_that_was_taken_over_is_given_no_folder_of_the_persons(
    browser: Path, house: Path, name: str
) -> None:
    """What it left in the place of its own folders is not made its user's at the next start."""
    with suppress(FileNotFoundError):
        (browser / name).rmdir()
    (browser / name).symlink_to(house)
    if os.geteuid() == 0:
        os.chown(browser, 65_530, 65_530)
    before = house.stat()
    prepare(browser)
    assert (house.stat().st_uid, house.stat().st_mode) == (before.st_uid, before.st_mode)
    assert sorted(each.name for each in house.iterdir()) == ["SingletonLock", "guid"]
    for made in (FILES, PROFILE):
        assert (browser / made).is_dir()
        assert not (browser / made).is_symlink()
        assert (browser / made).stat().st_uid == browser.stat().st_uid


def test_a_workspace_that_was_swapped_gets_and_gives_nothing(tmp_path: Path, browser: Path) -> None:
    """Code of another conversation, which may write around it, puts another folder in its place, or
    a link on the way to it."""
    workspace = tmp_path / "around" / "work"
    workspace.mkdir(parents=True)
    _, known = look_at(workspace)
    (tmp_path / "around").rename(tmp_path / "moved")
    other = tmp_path / "house" / "work"
    other.mkdir(parents=True)
    (other / "letter").write_text("the person's own")
    for copied in (False, True):
        if copied:
            (tmp_path / "around").unlink()
            shutil.copytree(tmp_path / "house", tmp_path / "around")
        else:
            (tmp_path / "around").symlink_to(tmp_path / "house")
        (browser / FILES / "guid").write_text("a stranger's")
        with pytest.raises(RefusedError):
            into_workspace(browser, "guid", workspace, "a.txt", known)
        with pytest.raises(RefusedError):
            out_of_workspace(workspace, "letter", browser, known)
        assert not list((browser / FILES).iterdir())
        for there in (other, tmp_path / "around" / "work"):
            assert sorted(each.name for each in there.iterdir()) == ["letter"]


async def test_events_that_are_none_end_neither_the_connection_nor_its_end() -> None:
    """A browser that was taken over says what it likes, and is ended all the same."""
    ours, theirs = socket.socketpair()
    heard: list[str] = []

    def happened(_: str, name: str, told: Mapping[str, object]) -> None:
        heard.append(name)
        if name == "Browser.downloadProgress":
            float(str(told["totalBytes"]))

    cdp = await Cdp.over(ours, happened)
    asked = asyncio.create_task(cdp.ask("Browser.getVersion"))
    for event in (
        {"method": "Browser.downloadProgress", "params": {"totalBytes": "much"}},
        {"method": "Browser.downloadProgress", "params": {}},
        {"method": "Browser.downloadProgress", "params": []},
        {"method": 7, "sessionId": [], "params": {"totalBytes": {}}},
    ):
        theirs.sendall(json.dumps(event).encode() + b"\0")
    theirs.sendall(b'{"id": 1, "result": {"product": "x"}}\0')
    assert await asked == {"product": "x"}
    assert len(heard) == 4
    await cdp.close()
    theirs.close()


def test_arguments_of_another_operation_are_refused(tmp_path: Path) -> None:
    tool = BrowserTool.__new__(BrowserTool)
    assert tool.read("browser", '{"do": "open", "url": "example.org"}')
    for wrong in ('{"do": "open"}', '{"do": "fly"}', '{"do": "open", "url": "x", "target": "y"}'):
        with pytest.raises(ValueError, match=r"browser|do="):
            tool.read("browser", wrong)


def test_a_model_is_told_of_every_operation_and_what_it_takes() -> None:
    told = BrowserTool.schema["properties"]["do"]["description"]
    for name in OPERATIONS:
        assert f"{name} (" in told or f"{name}:" in told
    assert "open (url): " in told
    assert "dialog (target, text?): " in told
    assert "read (target?): " in told, "the one tool has no argument called part"
    assert "asks the person for hosts by itself" in BrowserTool.use
