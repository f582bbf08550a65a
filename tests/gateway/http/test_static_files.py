"""The page's files: packed for those who take that, and other people's modules as they came."""

import asyncio
import gzip
import re
import urllib.request
from hashlib import sha256

import pytest

from sayso.server.gateway.http.responses import takes_gzip
from sayso.server.gateway.http.static_files import page
from tests.gateway.running_gateway import TOKEN, open_gateway
from tests.repository.tree import ROOT

VENDOR = ROOT / "client" / "web" / "vendor"


@pytest.mark.parametrize(
    ("accepted", "taken"),
    [
        *(("gzip, deflate, br", True), ("deflate, GZIP;q=0.5", True), ("*", True)),
        *(("", False), ("br", False), ("gzip;q=0", False), ("gzip; q=0.0, br", False)),
        ("gzipped", False),
    ],
)
def test_a_page_is_packed_for_those_who_say_that_they_take_it(accepted: str, taken: bool) -> None:
    assert takes_gzip(accepted) is taken


def test_what_is_packed_is_the_same_and_a_first_visit_is_small() -> None:
    names = re.findall(r'"([\w./-]+\.\w+)"', (ROOT / "client" / "web" / "sw.js").read_text())
    files = [page(f"/{name}") for name in ("", *names)]
    size = 0
    for file in files:
        assert file
        size += len(file.packed or file.content)
        assert file.packed is None or gzip.decompress(file.packed) == file.content
    assert size < 200_000


async def test_only_the_page_is_packed_never_what_is_a_persons_own() -> None:
    async with open_gateway() as gateway:
        address = f"http://127.0.0.1:{gateway.port}"

        def head(path: str) -> str | None:
            asked = urllib.request.Request(
                f"{address}{path}",
                headers={"Accept-Encoding": "gzip", "Authorization": f"Bearer {TOKEN}"},
            )
            with urllib.request.urlopen(asked, timeout=5) as answer:
                encoding: str | None = answer.headers["Content-Encoding"]
                return encoding

        for path in ("/", "/app.js", "/vendor/marked.esm.js", "/frame.html"):
            assert await asyncio.to_thread(head, path) == "gzip"
        for path in ("/files/abc", "/conversations", "/icon-192.png", "/ping"):
            assert await asyncio.to_thread(head, path) is None


def test_other_peoples_modules_are_byte_for_byte_what_was_published() -> None:
    table = (VENDOR / "README.md").read_text()
    listed = dict(re.findall(r"^\| `([\w.]+)` .*\| `([0-9a-f]{64})` \|$", table, re.MULTILINE))
    there = {path.name for path in VENDOR.iterdir() if path.suffix in (".js", ".mjs", ".css")}
    assert there == set(listed)
    for name, digest in listed.items():
        assert sha256((VENDOR / name).read_bytes()).hexdigest() == digest
        assert (VENDOR / f"{name.partition('.')[0]}.LICENSE.md").read_text().strip()


def test_nothing_but_what_browsers_load_is_served_of_them() -> None:
    assert page("/vendor/README.md") is None
    assert page("/vendor/__init__.py") is None
    assert page("/vendor/../__init__.py") is None
