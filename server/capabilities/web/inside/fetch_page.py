"""Fetches one page and tells its text: a JSON request on standard input, a JSON answer on standard
output. It stands alone in the sandbox, where the proxy that the environment names is the one way to
the network; each host that a page leads on to is judged there anew.
"""

import gzip
import io
import json
import os
import re
import sys
import zlib
from html.parser import HTMLParser
from http.client import HTTPMessage
from typing import IO, Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin, urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

READ_MOST_BYTES: Final = 3_000_000
"""Of one page, also unpacked; the text of a long one is a tenth of that."""
TEXT_CHARS: Final = 100_000
"""Of the text that is told."""
TITLE_CHARS: Final = 200
LINK_CHARS: Final = 300
"""Of an address in the text."""
REDIRECTS_MOST: Final = 5

_BLOCKS: Final = frozenset(
    (
        "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset",
        "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header",
        "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "td", "th", "tr", "ul",
    )
)  # fmt: skip
_SKIPPED: Final = frozenset(
    (
        "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas",
        "select", "button", "dialog",
    )
)  # fmt: skip
_VOID: Final = frozenset(
    (
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source",
        "track", "wbr",
    )
)  # fmt: skip
_UNSEEN: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?:\.0*)?\s*(?:;|$)"
    r"|font-size\s*:\s*0",
    re.IGNORECASE,
)
_CHARSET: Final = re.compile(rb"<meta[^>]{0,200}charset=[\"']?([\w-]{2,40})", re.IGNORECASE)


class PageError(Exception):
    """The page cannot be had; the text is a sentence that says why."""


class _Redirects(HTTPRedirectHandler):
    """Follows to pages of the web alone, and never from a safe address to an open one."""

    max_redirections = REDIRECTS_MOST

    def redirect_request(
        self,
        req: Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> Request | None:
        new = urlsplit(newurl)
        if new.scheme not in ("http", "https") or (req.type == "https" and new.scheme != "https"):
            raise PageError(f"It leads on to {newurl[:LINK_CHARS]}, which is not followed.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def fetched(url: str) -> dict[str, Any]:
    """What stands at an address. Raises PageError."""
    opener = OpenerDirector()
    for handler in (
        ProxyHandler(),
        HTTPHandler(),
        HTTPSHandler(),
        _Redirects(),
        HTTPErrorProcessor(),
        HTTPDefaultErrorHandler(),
    ):
        opener.add_handler(handler)
    request = Request(  # noqa: S310 - the scheme is judged by the server, and at each redirect
        url,
        headers={
            "User-Agent": "Sayso",
            "Accept": "text/html, text/plain, application/json, */*;q=0.1",
            "Accept-Encoding": "gzip",
        },
    )
    try:
        with opener.open(request, timeout=20) as response:
            head, status = response.headers, response.status
            final = response.geturl()
            raw = response.read(READ_MOST_BYTES + 1)
    except HTTPError as error:
        raise PageError(f"It answered {error.code} ({error.reason}).") from None
    except (URLError, OSError, ValueError) as error:
        why = getattr(error, "reason", "") or error
        raise PageError(f"It could not be fetched: {str(why)[:LINK_CHARS]}.") from None
    kind = head.get_content_type()
    if status >= 300:  # noqa: PLR2004 - neither an answer nor a way on
        raise PageError(f"It answered {status}.")
    if head.get("Content-Encoding", "").lower() == "gzip":
        raw = _unpacked(raw[:READ_MOST_BYTES])
    cut = len(raw) > READ_MOST_BYTES
    raw = raw[:READ_MOST_BYTES]
    if kind in ("text/html", "application/xhtml+xml"):
        page = Page(final)
        page.feed(_decoded(raw, head.get_content_charset()))
        page.close()
        title, text = page.title, page.text
    elif kind.startswith("text/") or kind.endswith(("json", "xml", "javascript", "yaml")):
        title, text = "", _decoded(raw, head.get_content_charset())
    else:
        raise PageError(f"It is no text but {kind[:80]}; code can fetch it into a file.")
    cut = cut or len(text) > TEXT_CHARS
    return {"url": final, "title": title, "text": text[:TEXT_CHARS], "cut": cut}


def _unpacked(raw: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as packed:
            return packed.read(READ_MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        raise PageError("It is packed in a way that cannot be read.") from None


def _decoded(raw: bytes, charset: str | None) -> str:
    found = _CHARSET.search(raw[:4_096])
    for name in (charset, found[1].decode() if found else None):
        try:
            return raw.decode(name or "", errors="replace")
        except LookupError:
            continue
    return raw.decode(errors="replace")


class Page(HTMLParser):
    """The text of a page as somebody would read it: what is hidden from sight is left out."""

    def __init__(self, address: str) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._address = address
        self._parts: list[str] = []
        self._open: list[tuple[str, bool]] = []
        """Elements, and whether what is in them is seen."""
        self._links: list[str] = []

    @property
    def text(self) -> str:
        """All of it, with one blank line between blocks at most."""
        whole = re.sub(r"[ \t\r]+\n", "\n", "".join(self._parts))
        return re.sub(r"\n{3,}", "\n\n", whole).strip()

    @property
    def _is_seen(self) -> bool:
        return not self._open or self._open[-1][1]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        if tag in _BLOCKS and self._is_seen:
            self._parts.append("\n")
        if tag not in _VOID:
            seen = self._is_seen and tag not in _SKIPPED and not _is_hidden(about)
            self._open.append((tag, seen))
        if not self._is_seen:
            return
        if tag == "li":
            self._parts.append("- ")
        elif re.fullmatch(r"h[1-6]", tag):
            self._parts.append(f"\n{'#' * int(tag[1])} ")
        elif tag == "a":
            self._links.append(urljoin(self._address, about.get("href") or ""))
            self._parts.append("[")
        elif tag == "img" and (said := about.get("alt")):
            self._parts.append(said)

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self._is_seen and self._links:
            link = self._links.pop()
            shown = link if link.startswith("http") and len(link) <= LINK_CHARS else ""
            self._parts.append(f"]({shown})" if shown else "]")
        elif tag in _BLOCKS and self._is_seen:
            self._parts.append("\n")
        if any(name == tag for name, _ in self._open):
            while self._open and self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1][0] == "title":
            self.title = " ".join((self.title + data).split())[:TITLE_CHARS]
        elif self._is_seen:
            if not any(name == "pre" for name, _ in self._open):
                data = re.sub(r"\s+", " ", data)
                before = self._parts[-1][-1:] if self._parts else "\n"
                data = data.lstrip() if before.isspace() else data
            if data:
                self._parts.append(data)


def _is_hidden(about: dict[str, str | None]) -> bool:
    return (
        "hidden" in about
        or about.get("aria-hidden") == "true"
        or _UNSEEN.search(about.get("style") or "") is not None
    )


def main() -> None:
    """Answer the request."""
    for name in ("no_proxy", "NO_PROXY"):  # the proxy judges what is near, too
        os.environ.pop(name, None)
    url = json.load(sys.stdin)["url"]
    try:
        answer = fetched(url)
    except PageError as problem:
        answer = {"refused": str(problem)}
    except RecursionError:
        answer = {"refused": "It is nested too deep to be read."}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
