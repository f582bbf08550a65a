"""`browser` and `computer` in Python code, in a real kernel."""

from collections.abc import Mapping
from functools import partial

import pytest

from sayso.server.runtimes.calls.function import CallingRun
from sayso.server.runtimes.code_runner import CodeRunner
from tests.runtimes.calls.functions import called_in

called = partial(called_in, "python")


class Named:
    """A function that says what it was given."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.given: list[Mapping[str, object]] = []

    async def call(self, arguments: Mapping[str, object], run: CallingRun) -> object:
        self.given.append(arguments)
        return f"{self.name} {dict(arguments)}"


async def test_names_of_other_programs_reach_what_they_mean(code_runner: CodeRunner) -> None:
    opens, fills, reads = (Named(f"browser_{name}") for name in ("open", "fill", "read"))
    code = (
        "import computer\ncomputer.browser.go_to_url('a.org')\nbrowser.goto(link='a.org')\n"
        "browser.type('Name', value='Ann')\nbrowser.analyze_page('what is it?')\nbrowser.setup()"
    )
    code = code.replace("link=", "address=")
    run = await called(code_runner, code, opens, fills, reads)
    assert run.ending.status == "ok", run
    assert opens.given == [{"url": "a.org"}, {"url": "a.org"}]
    assert fills.given == [{"target": "Name", "text": "Ann"}]
    assert reads.given == [{}]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("browser.evaluate('1+1')", "No scripts are run in pages"),
        ("browser.fly()", "browser has no fly; it has: open, read"),
        ("browser.search('cats')", "No search page is named"),
        ("browser.open('a', 'b')", "browser.open takes url."),
        ("computer.teleport", "teleport is none of them"),
        ("browser.cookies()", "sign in by hand"),
    ],
)
async def test_what_there_is_not_says_what_to_use_instead(
    code_runner: CodeRunner, code: str, told: str
) -> None:
    run = await called(code_runner, code, Named("browser_open"))
    assert told in run.ending.detail, run


async def test_a_search_goes_to_the_page_that_was_named(code_runner: CodeRunner) -> None:
    search = Named("web_search")
    run = await called(code_runner, "browser.fast_search('red cats')", search)
    assert run.ending.status == "ok", run
    assert search.given == [{"words": "red cats"}]
