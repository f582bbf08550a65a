"""Sayso's browser under the names of Open Interpreter's Computer API, and under those that models
make up for the same things.

    browser.go_to_url("https://example.org")        is browser.open(url)
    computer.browser.type("Name", value="Ann")      is browser.fill(target, text)

What there is no such thing for is refused in a sentence that says what to use instead.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["browser"]

BROWSER: Mapping[str, Sequence[str]] = {
    "open": ("url",), "read": ("part",), "find": ("text",), "click": ("target",),
    "fill": ("target", "text"), "select": ("target", "text"), "press": ("text",),
    "scroll": ("target",), "back": (), "wait": ("text",), "tabs": ("target",),
    "dialog": ("target", "text"), "screenshot": (), "upload": ("target", "text"), "close": (),
}  # fmt: skip
"""What the browser does, and its arguments in their order."""

_ALSO: Mapping[str, Sequence[str]] = {
    "open": (
        "goto", "go_to", "go_to_url", "navigate", "navigate_to", "visit", "get", "load", "open_url",
        "open_page", "go",
    ),
    "read": (
        "view", "snapshot", "get_text", "text", "content", "get_content", "get_page", "page_text",
        "read_page", "analyze_page", "get_page_content", "extract", "extract_text", "see", "look",
    ),
    "find": ("find_text", "find_on_page", "find_element", "locate", "search_page"),
    "click": ("click_on", "click_element", "click_button", "click_link", "tap", "left_click"),
    "fill": (
        "type", "type_text", "type_into", "input", "input_text", "enter", "enter_text", "write",
        "set_value", "fill_in", "send_keys", "set",
    ),
    "select": ("choose", "select_option", "pick", "check_option"),
    "press": ("press_key", "press_keys", "key", "keys", "hotkey", "keyboard"),
    "scroll": ("scroll_to", "scroll_page"),
    "back": ("go_back", "previous"),
    "wait": ("wait_for", "wait_for_text", "wait_until", "wait_for_selector", "wait_for_element"),
    "tabs": ("tab", "switch_tab", "list_tabs", "current_url", "url", "title", "pages"),
    "dialog": ("alert", "handle_dialog", "answer_dialog"),
    "screenshot": ("take_screenshot", "capture", "picture", "snap"),
    "upload": ("upload_file", "set_input_files", "attach"),
    "close": ("quit", "exit", "stop", "close_browser", "shutdown"),
}  # fmt: skip

_WITH: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "scroll_down": ("scroll", {"target": "down"}),
    "scroll_up": ("scroll", {"target": "up"}),
    "accept_dialog": ("dialog", {"target": "accept"}),
    "accept_alert": ("dialog", {"target": "accept"}),
    "dismiss_dialog": ("dialog", {"target": "dismiss"}),
    "dismiss_alert": ("dialog", {"target": "dismiss"}),
    "press_enter": ("press", {"text": "Enter"}),
}

_SAME: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(
        ("selector", "ref", "element", "element_id", "button", "link", "field", "label", "name",
         "id", "tab", "direction", "locator", "key_or_target", "action"),
        ("target", "part"),
    ),
    **dict.fromkeys(
        ("value", "words", "query", "keys", "key", "path", "file", "file_path", "filename",
         "content", "option", "prompt_text", "input"),
        ("text",),
    ),
    **dict.fromkeys(("address", "href", "page", "site", "website", "link_url"), ("url",)),
    "target": ("part",),
    "part": ("target",),
    "text": ("target",),
}  # fmt: skip
"""Names of arguments that models give, and which they mean."""

_LEFT_OUT = ("intent", "timeout", "wait_until", "full_page", "delay")
"""Arguments of other browsers' that nothing hangs on here."""

_INSTEAD: Mapping[str, str] = {
    **dict.fromkeys(
        ("evaluate", "execute_script", "execute_js", "run_script", "eval", "execute", "script"),
        "No scripts are run in pages: read the page, and act by the names in brackets.",
    ),
    **dict.fromkeys(
        ("html", "get_html", "page_source", "source"),
        "There is no HTML: browser.read() gives the page as text, with names to act on.",
    ),
    **dict.fromkeys(
        ("cookies", "get_cookies", "set_cookie", "add_cookie", "storage", "local_storage"),
        "Cookies are the person's: they sign in by hand, with `sayso browser` at the server.",
    ),
    "login": "Passwords are the person's: they sign in by hand, with `sayso browser`.",
    "submit": "Press the form's button with browser.click, or browser.press('Enter') in a field.",
    "hover": "Nothing is pointed at here: click it, or read the page.",
    "drag": "Nothing is dragged here: look for a button or a field that does the same.",
    "download": "Click what offers the file: it comes into downloads/ in the workspace.",
}

_SEARCHES = ("search", "fast_search", "search_google", "search_web", "google", "web_search")

_NO_SEARCH = (
    "No search page is named: open a page that you know, or the person names one with"
    " `sayso settings web.search ADDRESS`."
)


def _known() -> Mapping[str, tuple[str, Mapping[str, str]]]:
    also = {other: (name, dict[str, str]()) for name, others in _ALSO.items() for other in others}
    return {**{name: (name, {}) for name in BROWSER}, **also, **_WITH}


_KNOWN = _known()


def meant(name: str) -> tuple[str, Mapping[str, str]] | None:
    """Which of the things that the browser does is meant by a name, and with what; None by one for
    which there is nothing."""
    return _KNOWN.get(name.lower())


def fitting(name: str, given: Mapping[str, object]) -> dict[str, object]:
    """The arguments of one of these things, by its own names for them; what is not understood
    stays as it is."""
    wanted, fitted = BROWSER[name], dict[str, object]()
    own = {key: value for key, value in given.items() if key in wanted}
    for key, value in given.items():
        if key in own or key in _LEFT_OUT:
            continue
        taken = {*own, *fitted}
        free = (each for each in _SAME.get(key, ()) if each in wanted and each not in taken)
        fitted[next(free, key)] = value
    return {**own, **fitted}


class _Browser:
    """`browser.click("Save")`: Sayso's own browser."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)

        def function(*given: object, **named: object) -> Any:  # noqa: ANN401 - what JSON can say
            return _called(name, given, named)

        function.__name__ = function.__qualname__ = f"browser.{name}"
        return function

    def __repr__(self) -> str:
        return f"<browser: {', '.join(BROWSER)}>"


def _called(name: str, given: tuple[object, ...], named: dict[str, object]) -> Any:  # noqa: ANN401
    if name in _SEARCHES:
        return _search(given, named)
    if name == "setup":
        return "confirmed: it starts by itself.\n"
    found = meant(name)
    if found is None:
        raise _sayso.NotThereError(
            _INSTEAD.get(name, f"browser has no {name}; it has: {', '.join(BROWSER)}.")
        )
    own, fixed = found
    if name == "analyze_page":
        given = ()  # what for, which a model asks itself
    free = [each for each in BROWSER[own] if each not in fixed]
    if len(given) > len(free):
        wanted = ", ".join(free) or "nothing"
        raise _sayso.Refused(f"browser.{name} takes {wanted}.")
    ordered = dict(zip(free, given, strict=False))
    return _sayso.call_shown(f"browser_{own}", {**fitting(own, named), **ordered, **fixed})


def _search(given: tuple[object, ...], named: dict[str, object]) -> Any:  # noqa: ANN401 - as above
    words = " ".join(str(each) for each in (*given, *named.values()))
    try:
        return _sayso.call_shown("web_search", {"words": words})
    except _sayso.NotThereError:
        raise _sayso.Refused(_NO_SEARCH) from None


browser = _Browser()

_sayso: Any = None


def use(functions: Any) -> None:  # noqa: ANN401 - a module
    """Call by these: the module `sayso`."""
    global _sayso  # noqa: PLW0603 - a module is what code imports
    _sayso = functions
