"""Python behaves as in Jupyter: nothing is added to the code, and what it shows arrives typed."""

import base64

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from tests.runtimes.sandboxes import told

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


async def test_a_future_import_a_docstring_and_what_follows_stay_as_they_are(
    any_workshop: CodeRunner,
) -> None:
    code = '"""What this is."""\nfrom __future__ import annotations\ndef f(x: Nowhere): pass\nf'
    run = await told(any_workshop, code)
    assert run.ending.status == "ok"
    assert "Nowhere" in (await told(any_workshop, "f.__annotations__")).result
    assert (await told(any_workshop, '"""a text"""')).result == "'a text'"


async def test_the_code_is_what_the_interpreter_sees(any_workshop: CodeRunner) -> None:
    code = "x = 1\n\n# a remark\nimport inspect\ny = '''a\n  b\t\\n'''\n"
    await told(any_workshop, code)
    assert (await told(any_workshop, "In[1]")).result == repr(code.removesuffix("\n"))
    assert (await told(any_workshop, "y")).result == repr("a\n  b\t\n")
    assert (await told(any_workshop, "import sys; sys._getframe().f_lineno")).result == "1"
    run = await told(any_workshop, "[name for name in globals() if 'sayso' in name.lower()]")
    assert run.result == "[]"


async def test_magics_work(any_workshop: CodeRunner) -> None:
    await told(any_workshop, "%env GREETING=hello")
    assert (await told(any_workshop, "!echo $GREETING")).stdout == "hello\n"
    assert (await told(any_workshop, "%%bash\nfor i in 1 2; do echo $i; done")).stdout == "1\n2\n"
    assert (await told(any_workshop, "%%writefile made.py\nsix = 6\n")).ending.status == "ok"
    assert (await told(any_workshop, "%run made.py\nsix")).result == "6"
    assert "made.py" in (await told(any_workshop, "files = !ls\nprint(files)")).stdout
    assert "per loop" in (await told(any_workshop, "%timeit -n1 -r1 pass")).stdout
    assert "%timeit" in (await told(any_workshop, "%history -l 1")).stdout


async def test_a_here_document_arrives_byte_for_byte(any_workshop: CodeRunner) -> None:
    words = "  two\n\ttab $HOME `date` 'single' \\\\ \n世界\n"
    run = await told(any_workshop, f"%%bash\ncat <<'END'\n{words}END")
    assert run.stdout == words


@pytest.mark.parametrize("code", ["input('Name? ')", "import getpass; getpass.getpass()"])
async def test_asking_for_input_fails_at_once_and_says_so(
    any_workshop: CodeRunner, code: str
) -> None:
    run = await told(any_workshop, code)
    assert run.ending.status == "error"
    assert "asked for input" in run.ending.detail
    assert (await told(any_workshop, "1")).result == "1"


async def test_an_exit_status_is_told_and_the_next_run_works(any_workshop: CodeRunner) -> None:
    run = await told(any_workshop, "kept = 7\nimport sys\nsys.exit(3)")
    assert run.ending.status == "error"
    assert run.ending.detail == "SystemExit: 3"
    assert (await told(any_workshop, "kept")).result == "7"
    assert (await told(any_workshop, "!exit 3\n_exit_code")).result == "3"


async def test_unfinished_code_is_an_error_at_once(any_workshop: CodeRunner) -> None:
    for code in ("print('open", "print('''open", "f(1,", "if True:"):
        run = await told(any_workshop, code)
        assert run.ending.status == "error"
        assert run.ending.detail.startswith(("SyntaxError", "_IncompleteInputError", "Indentation"))


async def test_what_is_shown_arrives_in_its_richest_form(any_workshop: CodeRunner) -> None:
    encoded = base64.b64encode(PNG).decode()
    for shown, mime, data in (
        (f"Image(data=base64.b64decode('{encoded}'))", "image/png", PNG),
        ("SVG('<svg><g/></svg>')", "image/svg+xml", b"<svg><g/></svg>"),
        ("HTML('<b>bold</b>')", "text/html", b"<b>bold</b>"),
        ("JSON({'a': [1, 'é']})", "application/json", '{"a": [1, "é"]}'.encode()),
        ("Markdown('**bold**')", "text/markdown", b"**bold**"),
        ("Latex('$x$')", "text/latex", b"$x$"),
    ):
        code = f"import base64\nfrom IPython.display import *\ndisplay({shown})"
        (output,) = (await told(any_workshop, code)).outputs
        assert (output.kind, output.mime, output.data) == ("display", mime, data)
        assert output.text
    for mime in ("image/webp", "image/gif", "image/jpeg"):
        code = f"display({{'{mime}': '{encoded}'}}, raw=True)"
        (output,) = (await told(any_workshop, code)).outputs
        assert (output.mime, output.data) == (mime, PNG)
