"""The browser's names in code and in calls: Sayso's own, Open Interpreter's, and what models make
up."""

import json

import pytest

from sayso.server.agent.tools.run_code import named_in
from sayso.server.agent.tools.tool import ArgumentsError
from sayso.server.capabilities.browser.operation_list import OPERATIONS
from sayso.server.capabilities.browser.tools import BrowserFunction, BrowserTool
from sayso.server.runtimes.calls.preloaded import browser_names


def test_code_knows_the_same_things_as_the_server() -> None:
    assert {name: tuple(one.arguments) for name, one in OPERATIONS.items()} == dict(
        browser_names.BROWSER
    )


@pytest.mark.parametrize(
    ("name", "given", "meant"),
    [
        ("goto", {"url": "a.org"}, {"do": "open", "url": "a.org"}),
        ("go_to_url", {"address": "a.org"}, {"do": "open", "url": "a.org"}),
        ("type", {"selector": "Name", "value": "Ann"},
         {"do": "fill", "target": "Name", "text": "Ann"}),
        ("fill", {"target": "Name", "text": ""}, {"do": "fill", "target": "Name", "text": ""}),
        ("click", {"text": "Save"}, {"do": "click", "target": "Save"}),
        ("click", {"target": "b2", "url": "", "text": ""}, {"do": "click", "target": "b2"}),
        ("view", {}, {"do": "read"}),
        ("read", {"part": "b2"}, {"do": "read", "target": "b2"}),
        ("select_option", {"name": "Day", "option": "Monday"},
         {"do": "select", "target": "Day", "text": "Monday"}),
        ("press_key", {"key": "Enter"}, {"do": "press", "text": "Enter"}),
        ("scroll_down", {}, {"do": "scroll", "target": "down"}),
        ("accept_dialog", {}, {"do": "dialog", "target": "accept"}),
        ("wait_for_text", {"text": "Done", "timeout": 5}, {"do": "wait", "text": "Done"}),
        ("quit", {}, {"do": "close"}),
    ],
)  # fmt: skip
def test_a_call_by_another_name_is_the_one_that_is_meant(
    name: str, given: dict[str, object], meant: dict[str, object]
) -> None:
    tool = BrowserTool.__new__(BrowserTool)
    assert tool.read("browser", json.dumps({"do": name, **given})) == meant


def test_what_is_meant_by_nothing_says_what_there_is() -> None:
    tool = BrowserTool.__new__(BrowserTool)
    with pytest.raises(ArgumentsError, match="must be one of"):
        tool.read("browser", '{"do": "fly"}')
    with pytest.raises(ArgumentsError, match="There is no colour"):
        tool.read("browser", '{"do": "click", "target": "x", "colour": "red"}')


def test_what_code_does_in_the_browser_is_shown_whatever_it_calls_it() -> None:
    nothing: object = None
    tools = [BrowserFunction(nothing, each) for each in OPERATIONS.values()]  # type: ignore[arg-type]
    code = "browser.go_to_url('a.org')\ncomputer.browser.type('Name', 'x'); browser.nonsense()"
    assert [tool.name for tool in named_in(code, tools)] == ["browser_open", "browser_fill"]
