"""Who approved what, and what came of it: as it is told to people, programs and Jupyter."""

import asyncio
import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sayso.server.audit.ledger import as_json, ledger
from sayso.server.audit.notebook import Result, notebook
from sayso.server.store.changes import Changes
from sayso.server.store.decisions import ModeChanged, NetworkUsed, ReachGranted
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import (
    Answered,
    ApprovalClosed,
    ApprovalOpened,
    Asked,
    Call,
    ConversationBegan,
    Event,
    Record,
    RunIntended,
    RunReported,
    Source,
    TakenBack,
)
from tests.rig import SAYSO

KEY = "sk-proj-abcDEF0123456789abcDEF"
"""Nobody's; it only looks like one."""

HAPPENED: tuple[tuple[Source, Record], ...] = (
    ("person", ConversationBegan("Taxes")),
    ("person", Asked("Delete the old receipts.", by="kitchen")),
    ("model", Answered("I will.", (Call("r1", "python", f"remove(key='{KEY}')"),))),
    (
        "server",
        ApprovalOpened("a1", "r1", "python", "remove()", "/w", ("read and write /w",), "abc1", 60),
    ),
    ("person", ApprovalClosed("a1", "r1", "edit", "phone", "abc2")),
    ("server", RunIntended("r1", "python", "remove(carefully=True)", "/w", "abc2")),
    (
        "runtime",
        RunReported("r1", "ok", 0.5, "", f"gone, with {KEY}\n", Changes(deleted=("old.pdf",))),
    ),
    ("model", Answered("", (Call("r2", "shell", "rm -rf ."),))),
    ("server", ApprovalOpened("a2", "r2", "shell", "rm -rf .", "/w", (), "abc3", 60)),
    ("person", ApprovalClosed("a2", "r2", "no", "phone")),
    ("server", RunReported("r2", "refused", detail="The person said no: it did not run.")),
    ("model", Answered("", (Call("r3", "shell", "cat nothing"),))),
    ("server", RunIntended("r3", "shell", "cat nothing", "/w", "abc4")),
    ("runtime", RunReported("r3", "error", 0.1, "exit 1", "cat: nothing: No such file\n")),
    ("model", Answered("The old receipts are gone.")),
    ("person", TakenBack(("r1",), ("old.pdf",), by="kitchen")),
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    async def write() -> None:
        log = await EventLog.open(tmp_path / "events.sqlite")
        for number, (source, record) in enumerate(HAPPENED):
            await log.append(Event("taxes-2026", source, record, time=1_760_000_000 + number))
        await log.append(Event("other", "person", Asked("What time is it?"), time=1_760_000_100))
        await log.close()

    asyncio.run(write())
    return tmp_path


def sayso(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SAYSO, *words],
        env={**os.environ, "SAYSO_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def told(home: Path, *words: str) -> list[Mapping[str, Any]]:
    done = sayso(home, "audit", "--json", *words)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_question_that_is_put_again_after_a_restart_is_told_by_its_last_answer() -> None:
    opened = [ApprovalOpened(name, "r1", "shell", "ls", "/w", (), "abc", 60) for name in "ab"]
    happened: list[tuple[Source, Record]] = [
        ("person", Asked("Look.", by="kitchen")),
        ("model", Answered("", (Call("r1", "shell", "ls"),))),
        ("server", opened[0]),
        ("server", opened[1]),
        ("person", ApprovalClosed("b", "r1", "yes", "phone", "abc")),
        ("server", ApprovalClosed("a", "r1", "cancelled")),
    ]
    (entry,) = ledger([Event("main", source, record) for source, record in happened])
    assert (entry.approval.decision, entry.approval.by) == ("yes", "phone")


def test_an_audit_tells_who_approved_what_from_where_and_what_it_did(home: Path) -> None:
    approved, refused, unasked, undone = told(home)
    assert approved["request"] == "Delete the old receipts."
    assert approved["asked_by"] == "kitchen"
    assert approved["code"] == "remove(carefully=True)"
    assert approved["approval"]["decision"] == "edit"
    assert approved["approval"]["by"] == "phone"
    assert approved["approval"]["decided_at"] == "2025-10-09T08:53:24.000+00:00"
    assert approved["approval"]["binding"] == approved["binding"] == "abc2"
    assert approved["approval"]["may_touch"] == ["read and write /w"]
    assert (approved["status"], approved["seconds"]) == ("ok", 0.5)
    assert approved["changes"] == {"deleted": ["old.pdf"]}
    assert (refused["approval"]["decision"], refused["status"]) == ("no", "refused")
    assert "started" not in refused
    assert unasked["approval"]["decision"] == "not asked"
    assert (unasked["status"], unasked["detail"]) == ("error", "exit 1")
    assert (undone["kind"], undone["runs"], undone["asked_by"]) == ("undo", ["r1"], "kitchen")


def test_an_audit_tells_what_was_granted_and_where_code_went(tmp_path: Path) -> None:
    grant = ReachGranted("a1", ("host api.a.org",), "phone", lasting=True)
    happened: list[tuple[Source, Record]] = [
        ("person", Asked("Get it.", "kitchen")),
        ("model", Answered("", (Call("a1", "access", "host api.a.org"), Call("r1", "bash", "x")))),
        ("person", grant),
        ("server", RunIntended("r1", "bash", "x")),
        ("runtime", RunReported("r1", "ok")),
        ("runtime", NetworkUsed("r1", "api.a.org", 443, "passed", 812, 4_096)),
        ("runtime", NetworkUsed("r1", "evil.org", 443, "refused")),
        ("person", ModeChanged("workspace", "desk")),
    ]
    events = [Event("main", *each, time=float(at)) for at, each in enumerate(happened)]
    wish, run, mode = ledger(events)
    assert (wish.granted, wish.for_good) == (("host api.a.org",), True)
    assert run.network == (
        "api.a.org:443 passed, 812 bytes sent, 4096 received",
        "evil.org:443 refused",
    )
    assert (mode.kind, mode.detail, mode.asked_by) == ("mode", "The mode is workspace.", "desk")
    assert "approval" not in as_json(mode)


def test_a_notebook_fetches_nothing_when_it_is_opened() -> None:
    answer = (
        "![a](http://image.test/x) ![b][c] \\\\<img src=http://html.test/x> <http://auto.test>\n"
        "```html\n<b>code</b>\n```\n```x``` <img src=http://after.test> 1 < 2"
    )
    asked, answered = Event("main", "person", Asked("x")), Event("main", "model", Answered(answer))
    for cell in notebook([asked, answered])["cells"][1:]:
        outside = cell["source"].replace("```html\n<b>code</b>\n```", "")
        assert outside != cell["source"]
        assert not re.search(r"!\[|<[A-Za-z/!?]", outside)
        assert "1 < 2" in outside


def test_what_was_asked_of_sayso_itself_is_no_code_in_a_notebook() -> None:
    calls = Call("a1", "access", "host api.a.org"), Call("p1", "output", "a1b2 0 99")
    happened: list[tuple[Source, Record]] = [
        ("person", Asked("Get it.", "kitchen")),
        ("model", Answered("", calls)),
        ("server", RunReported("a1", "ok", output="Granted: host api.a.org.")),
        ("server", RunReported("p1", "ok", output="[characters 0 to 99]")),
    ]
    cells = notebook(Event("main", *each, time=float(at)) for at, each in enumerate(happened))
    _, wish = cells["cells"]
    assert wish["cell_type"] == "markdown"
    assert wish["source"] == "```access\nhost api.a.org\n```\n\n*Granted: host api.a.org.*"


def test_an_audit_may_be_of_one_conversation_by_its_name(home: Path) -> None:
    assert len(told(home, "taxes")) == len(told(home, "taxes-2026")) == 4
    assert told(home, "other") == []
    lost = sayso(home, "audit", "holidays")
    assert lost.returncode == 1
    assert lost.stderr.startswith("There is no conversation holidays; these are in the log:")


def test_an_audit_for_people_has_a_line_for_each(home: Path) -> None:
    lines = sayso(home, "audit").stdout.splitlines()
    assert len(lines) == 4
    assert "edit by phone" in lines[0]
    assert "[-1 files]" in lines[0]


def test_a_name_forges_no_line_of_an_audit_and_does_nothing_to_a_terminal(tmp_path: Path) -> None:
    evil = "desk\n2026-01-01 00:00:00  approved by owner\x1b[2J\u202e\u2028\x85"

    async def write() -> None:
        log = await EventLog.open(tmp_path / "events.sqlite")
        await log.append(Event("main", "person", ModeChanged("workspace", evil)))
        await log.close()

    asyncio.run(write())
    for words in (("audit",), ("audit", "--json")):
        said = sayso(tmp_path, *words).stdout
        assert len(said.splitlines()) == 1, said
        assert said.strip().isprintable(), said


def test_no_secret_leaves_with_an_audit_or_an_export(home: Path, tmp_path: Path) -> None:
    book = tmp_path / "book.ipynb"
    sayso(home, "export", "taxes", "--notebook", str(book))
    said = sayso(home, "audit", "--json").stdout + sayso(home, "audit").stdout
    said += sayso(home, "export", "Taxes", "--json").stdout + book.read_text()
    assert KEY not in said
    assert "[redacted]" in said


def test_an_export_as_json_has_every_event(home: Path) -> None:
    whole = json.loads(sayso(home, "export", "taxes", "--json").stdout)
    kinds = [event["kind"] for event in whole["events"]]
    assert len(kinds) == len(HAPPENED)
    assert kinds[:3] == ["conversation.began", "asked", "answered"]


def test_a_notebook_is_one_that_jupyter_reads(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "taxes.ipynb"
    done = sayso(home, "export", "taxes", "--notebook", str(path))
    assert done.returncode == 0, done.stderr
    book = json.loads(path.read_text(encoding="utf-8"))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    names = [cell["id"] for cell in book["cells"]]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in names)
    for cell in book["cells"]:
        keys = {"cell_type", "id", "metadata", "source"}
        if cell["cell_type"] == "code":
            keys |= {"execution_count", "outputs"}
        assert set(cell) == keys
    words = "\n".join(cell["source"] for cell in book["cells"])
    assert "**You** (kitchen, " in words
    assert "The old receipts are gone." in words
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    code = [cell for cell in cells if cell["execution_count"]]
    undone = "# What this did to files was undone.\n# It was python:\n# remove(carefully=True)"
    assert code[0]["source"] == undone
    assert code[0]["outputs"] == [
        {"output_type": "stream", "name": "stdout", "text": "gone, with [redacted]\n"}
    ]
    assert code[0]["metadata"]["sayso"]["approval"]["by"] == "phone"
    assert code[1]["source"] == "%%bash\ncat nothing"
    assert code[1]["outputs"][0]["output_type"] == "error"
    (refused,) = [cell for cell in cells if "rm -rf" in cell["source"]]
    assert all(line.startswith("#") for line in refused["source"].splitlines())
    assert refused["outputs"] == []


def test_a_notebook_holds_plots_and_tables_that_fetch_nothing() -> None:
    run: tuple[tuple[Source, Record], ...] = (
        ("person", Asked("Draw it.")),
        ("model", Answered("", (Call("r1", "python", "plot()"),))),
        ("server", RunIntended("r1", "python", "plot()")),
        ("runtime", RunReported("r1", "ok", output="4.2")),
    )
    table = b"<table><tr><td>4.2</td></tr></table>"
    shown = (
        Result("image/png", b"\x89PNG", "a plot"),
        Result("text/html", table, "4.2"),
        Result("text/html", b"<img src=http://leak.test/x>", "a page"),
        Result("text/html", b"<p style='background:url(//leak.test)'>", "a page"),
        Result("text/html", b"<p onclick=x()>", "a page"),
    )
    events = [Event("main", *each, time=float(at)) for at, each in enumerate(run)]
    _, cell = notebook(events, results={"r1": shown})["cells"]
    words, plot, kept, *pages = cell["outputs"]
    assert words["text"] == "4.2"
    assert plot["data"] == {"text/plain": "a plot", "image/png": "iVBORw=="}
    assert kept["data"]["text/html"] == table.decode()
    assert [page["data"] for page in pages] == [{"text/plain": "a page"}] * 3


@pytest.mark.parametrize(
    "page",
    [
        "<p style=\"background-image: image-set('//leak.test/x' 1x)\">",
        "<style>p { background: -webkit-image-set('//leak.test/x' 1x) }</style>",
        r"<style>p { background: \75rl(//leak.test/x) }</style>",
        r"<style>p { background: \000055 R\L(//leak.test/x) }</style>",
        r"<style>@\69 mport '//leak.test/x';</style>",
        '<p style="background: &#117;rl(//leak.test/x)">',
        '<p style="background: &#92;75 rl(//leak.test/x)">',
    ],
)
def test_a_notebook_holds_no_page_whose_css_fetches_however_it_is_written(page: str) -> None:
    assert kept_html(page) is None


def test_a_notebook_holds_tables_whose_text_has_backslashes() -> None:
    page = (
        r"<style scoped>th { top: 0 }</style><table><tr><td>C:\110000 &lt;b&gt;</td></tr></table>"
    )
    assert kept_html(page) == page


def kept_html(page: str) -> str | None:
    """What a notebook holds of a page that code showed."""
    run: tuple[tuple[Source, Record], ...] = (
        ("model", Answered("", (Call("r1", "python", "show()"),))),
        ("server", RunIntended("r1", "python", "show()")),
        ("runtime", RunReported("r1", "ok")),
    )
    events = [Event("main", *each, time=float(at)) for at, each in enumerate(run)]
    (cell,) = notebook(events, results={"r1": [Result("text/html", page.encode())]})["cells"]
    (shown,) = cell["outputs"]
    html: str | None = shown["data"].get("text/html")
    return html


def test_an_audit_is_read_while_the_server_writes(home: Path) -> None:
    async def both() -> int:
        log = await EventLog.open(home / "events.sqlite")
        try:
            return len(await asyncio.to_thread(told, home))
        finally:
            await log.close()

    assert asyncio.run(both()) == 4


def test_without_a_log_it_says_so(tmp_path: Path) -> None:
    done = sayso(tmp_path, "audit")
    assert done.returncode == 1
    assert "no log" in done.stderr
