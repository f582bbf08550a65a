"""A text model's answer is read the same however it is cut, and nothing in it is lost."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.server.agent.parsing.markdown_reader import Code, MarkdownReader, Piece, Prose, Thought
from sayso.server.agent.prompt.language_names import Languages

LANGUAGES = Languages(("python", "bash", "javascript"))


def read(deltas: list[str], fences: str = "run") -> tuple[list[Piece], str]:
    """The pieces, neighbours joined, and how much of the text was taken in as it was."""
    reader = MarkdownReader(LANGUAGES, fences)  # type: ignore[arg-type]
    pieces = [piece for delta in deltas for piece in reader.feed(delta)] + reader.finish()
    raw = "".join(piece.written if isinstance(piece, Code) else piece.text for piece in pieces)
    joined: list[Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if isinstance(last, Prose) and isinstance(piece, Prose):
            joined[-1] = Prose(last.text + piece.text)
        else:
            joined.append(piece)
    return joined, raw


def prose(text: str) -> str:
    pieces, _ = read([text])
    return "".join(piece.text for piece in pieces if isinstance(piece, Prose))


def code(text: str, fences: str = "run") -> tuple[str, str] | None:
    pieces, _ = read([text], fences)
    found = [piece for piece in pieces if isinstance(piece, Code)]
    assert len(found) <= 1
    return (found[0].language, found[0].code) if found else None


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("```python\nprint(1)\n```", "python", "print(1)"),
        ("```python\nprint(1)\n```\nIt prints 1.\n```python\nprint(2)\n```", "python", "print(1)"),
        ("Sure.\n\n```py\nx = 1\n\nprint(x)\n```\n", "python", "x = 1\n\nprint(x)"),
        ("```\nprint(1)\n```", "python", "print(1)"),
        ("```Python3\nprint(1)\n```", "python", "print(1)"),
        ("```{python}\nprint(1)\n```", "python", "print(1)"),
        ("```{.python .numberLines}\nprint(1)\n```", "python", "print(1)"),
        ('```python title="a.py"\nprint(1)\n```', "python", "print(1)"),
        ("```bash\nls -l\n```", "bash", "ls -l"),
        ("```sh\nls\n```", "bash", "ls"),
        ("```node\nconsole.log(1)\n```", "javascript", "console.log(1)"),
        ("````python\nprint('```')\n````", "python", "print('```')"),
        ("~~~python\nprint(1)\n~~~", "python", "print(1)"),
        ("1. Do it:\n   ```python\n   if x:\n       y\n   ```", "python", "if x:\n    y"),
        # What weak models write.
        ("Sure! ```python\nprint(1)\n```", "python", "print(1)"),
        ("```python print(239*43)```", "python", "print(239*43)"),
        ("```python print(239*43) ```\nThe answer is 10277", "python", "print(239*43)"),
        ("```python print(239*43)\n```", "python", "print(239*43)"),
        ("```python\nprint(239*43)```", "python", "print(239*43)"),
        ("```python\nprint(239*43)```\nThat is 10277.", "python", "print(239*43)"),
        ("```python\nprint(1)\n``` The answer is 1.", "python", "print(1)"),
        # Cut off.
        ("```python\nprint(1)", "python", "print(1)"),
        ("```python\nprint(1)\n", "python", "print(1)"),
        ("```python\nprint(1)\n``", "python", "print(1)"),
        ("```python print(1)", "python", "print(1)"),
        # Fences that are data.
        ('```python\nt = """\n```\nhi\n"""\n```', "python", 't = """\n```\nhi\n"""'),
        ('```python\nprint("```")\n```', "python", 'print("```")'),
        # A shown block before the code.
        ("```text\nprint(0)\n```\n```python\nprint(1)\n```", "python", "print(1)"),
        ("~~~~~\nunderlined\n```python\nprint(1)\n```", "python", "print(1)"),
    ],
)  # fmt: skip
def test_code_in_a_fence_is_run(text: str, language: str, expected: str) -> None:
    assert code(text) == (language, expected)


@pytest.mark.parametrize(
    "text",
    [
        '{"language": "python", "code": "print(1)"}',
        '{"language":"python","code":"print(1)"}{"language":"python","code":"print(1)"}',
        '{"code": "print(1)", "language": "python"} and so on',
        'I run it:\n{"language": "py", "code": "print(1)"}\nThe output is 1.',
        '{\n  "language": "python",\n  "code": "print(1)"\n}',
        "{'language': 'python', 'code': 'print(1)'}",
        '{language: "python", code: "print(1)"}',
        '{"name": "execute", "arguments": {"language": "python", "code": "print(1)"}}',
        '{"name": "execute", "parameters": {"code": "print(1)"}}',
        '{"name": "execute", "arguments": "{\\"code\\": \\"print(1)\\"}"}',
        'functions.execute({"language": "python", "code": "print(1)"})',
        'functions.execute(language="python", code="print(1)")',
        "execute('python', 'print(1)')",
        'execute({"language": "python", "code": "print(1)"',
        '{"language": "python", "code": "print(1)',
        '<tool_call>\n{"name": "execute", "arguments": {"code": "print(1)"}}\n</tool_call>',
        '```json\n{"language": "python", "code": "print(1)"}\n```\nDone.',
        '```\n{"language": "python", "code": "print(1)"}\n```',
        '```python\n{"language": "python", "code": "print(1)"}\n```',
        '```json {"language": "python", "code": "print(1)"}```',
    ],
)  # fmt: skip
@pytest.mark.parametrize("fences", ["run", "show"])
def test_a_call_that_is_printed_instead_of_made_is_run_once(text: str, fences: str) -> None:
    if fences == "show" and text.startswith("```python"):
        return  # there it is an example, not a call
    assert code(text, fences) == ("python", "print(1)")


def test_printed_code_may_hold_line_breaks_and_quotes() -> None:
    assert code('{"language": "python", "code": "for i in range(2):\\n    print(\\"a\\", i)"}') == (
        "python",
        'for i in range(2):\n    print("a", i)',
    )
    assert code('{"language": "python", "code": "a = 1\nprint(a)"}') == (
        "python",
        "a = 1\nprint(a)",
    )
    assert code('{"language": "python", "code": "print("hi")"}') == ("python", 'print("hi")')


@pytest.mark.parametrize(
    "text",
    [
        "Just words.",
        "Use `print(x)` or ``a`b`` and ```also this``` inline.",
        "Type ``` to open a fence\nand go on.",
        "```text\nnothing to run\n```",
        '```json\n{"a": 1}\n```\nThat is the file.',
        "```output\n42\n```",
        "```html\n<p>hi</p>\n```",
        '{"a": 1, "b": [2]} is an object.',
        '{"name": "Ann", "age": 3}',
        "execute(x) is a function.",
        "executes well",
        "{ not an object",
        "```python\n```",
        "```python",
        "a ~~~ b\n~~~~~~\n",
        "  \n\n  spaces  \n",
        "",
    ],
)
def test_what_is_not_code_stays_as_it_is(text: str) -> None:
    assert code(text) is None
    assert prose(text) == text


def test_prose_around_code_keeps_its_backticks_and_ends_at_the_code() -> None:
    pieces, _ = read(["I use `sum`: it's `quick`.\n```python\nprint(sum([1]))\n```\nimagined"])
    assert pieces == [
        Prose("I use `sum`: it's `quick`.\n"),
        Code("python", "print(sum([1]))", "```python\nprint(sum([1]))\n```"),
    ]


def test_the_stream_can_be_left_at_the_closing_fence() -> None:
    reader = MarkdownReader(LANGUAGES)
    reader.feed("```python\nprint(1)\n```")
    before = reader.over  # it may become ```text inside a string
    reader.feed("\n")
    assert (before, reader.over) == (False, True)
    assert reader.feed("more") == []


def test_prose_is_not_held_back() -> None:
    reader = MarkdownReader(LANGUAGES)
    assert reader.feed("Hello, ") == [Prose("Hello, ")]
    assert reader.feed("wor") == [Prose("wor")]


def test_what_is_thought_aloud_is_neither_said_nor_run() -> None:
    text = "<think>Maybe\n```python\nprint(0)\n```\n</think>\n\nIt is 4."
    assert read([text])[0] == [Thought(text.split("\n\n", maxsplit=1)[0]), Prose("\n\nIt is 4.")]


def test_a_model_with_tools_shows_its_fences() -> None:
    text = "Like this:\n```python\nprint(1)\n```\nThat is all.\n"
    assert code(text, "show") is None
    assert read([text], "show")[0] == [Prose(text)]


SHOWN_AND_RUN = """In a script you would write:
```python
print("shown")
```
and in a shell `ls`, as in
```bash
ls
```
I run it here:
```python
print("run")
```
"""


def test_of_several_fences_the_one_that_ends_the_answer_is_run_and_the_others_are_shown() -> None:
    pieces, _ = read([SHOWN_AND_RUN], "run last")
    shown, ran = pieces
    assert isinstance(shown, Prose)
    assert SHOWN_AND_RUN.startswith(shown.text)
    assert 'print("shown")' in shown.text
    assert "ls\n" in shown.text
    assert ran == Code("python", 'print("run")', '```python\nprint("run")\n```')


def test_code_with_words_after_it_is_shown_and_nothing_of_the_answer_is_lost() -> None:
    text = "You write:\n```python\nprint(1)\n```\nand put it into a file.\n"
    assert read([text], "run last")[0] == [Prose(text)]


@pytest.mark.parametrize(
    "after",
    ["```output\n1\n```", "```\n1\n```", "Output:\n1", "**Output:** 1", "The output is: 1",
     "It prints 1.", "This prints `1`.", "Result = 1\n"],
)  # fmt: skip
def test_code_whose_output_is_made_up_is_run_and_what_was_made_up_is_dropped(after: str) -> None:
    text = f"```python\nprint(1)\n```\n{after}"
    assert code(text, "run last") == ("python", "print(1)")
    assert read([text], "run last")[0] == [Code("python", "print(1)", "```python\nprint(1)\n```")]


def test_a_language_that_runs_nowhere_is_shown() -> None:
    assert code("```cobol\nSTOP RUN.\n```") is None


SNIPPETS = (
    *("```", "`", "``", "````", "~~~", "```python\n", "\n```\n", "python", "json", "text", "bash"),
    *("\n", "\n", " ", "print(1)", "x = '''", '"""', "words", "{", "}", "execute(", ")", "é"),
    *('{"language": "python", "code": "', '"}', "functions.", "<think>", "</think>", "<tool_call>"),
)
MARKDOWN = st.lists(st.sampled_from(SNIPPETS), max_size=24).map("".join)


@given(text=MARKDOWN | st.text(max_size=60), data=st.data())
@pytest.mark.parametrize("fences", ["run", "run last", "show"])
def test_any_cut_of_any_text_reads_the_same(fences: str, text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    deltas = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole, raw = read([text], fences)
    assert read(deltas, fences) == (whole, raw)
    assert read(list(text), fences) == (whole, raw)
    assert text.startswith(raw)
    if not any(isinstance(piece, Code) for piece in whole):
        assert raw == text


LONG_LINES = {
    "backticks": "`" * 60_000,
    "tildes": "~" * 60_000,
    "a fence and backticks": "x ````" + "``` " * 15_000,
    "a bracket and space": "{" + " " * 60_000 + "!",
    "a bracket and letters": "{" + "a" * 60_000,
    "code": "```python\n" + "x\n" * 30_000,
    "a call with space": '```json\n{"code": "a"' + " " * 30_000 + "!\n```\n",
}


@pytest.mark.parametrize("kind", LONG_LINES)
def test_an_answer_gone_astray_is_read_in_a_moment_and_the_same_however_it_comes(kind: str) -> None:
    text = LONG_LINES[kind]
    began = time.process_time()
    whole = read([text])
    assert read([text[at : at + 4] for at in range(0, len(text), 4)]) == whole
    assert time.process_time() - began < 2.0
    assert read([text[at : at + 1_999] for at in range(0, len(text), 1_999)]) == whole
