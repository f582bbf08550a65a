"""The question says what keeps a person from seeing all of the code, to every client."""

import time

import pytest

from sayso.server.policy.hidden_code import LONGEST_LINE, looks
from sayso.server.policy.judge import WARNINGS, Policy


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("admin = 'x\u202e \u2066# only a look\u2069'", "U+202E, U+2066, U+2069."),
        ("a = 1\nb = 'a\u200bb'", "U+200B"),
        ("print(1)\r\nprint(2)\rprint(3)", "U+000D"),
        (f"print(1){' ' * 400}; import os", "line 1 goes on behind a long run of blanks"),
        (f"print(1)\n\n{chr(9) * 60}import os", "line 3 goes on behind"),
        ("print(1)" + "\n" * 30 + "import os", "below many empty lines, at line 31"),
        ("print(1)" + " \r\n" * 30 + "import os", "below many empty lines, at line 31"),
        (f"x = 1\nprint('{'a' * 600}'); import os", "line 2 has 620 characters"),
    ],
)
def test_what_is_out_of_sight_is_told(code: str, says: str) -> None:
    assert [says in sentence for sentence in looks(code)].count(True) == 1, looks(code)
    for safe in ("off", "ask", "auto"):
        assert set(looks(code)) <= set(Policy((), safe).judge("python", code).warnings)


@pytest.mark.parametrize(
    "code",
    [
        "", "print(1)\n", "x = 1\n\n\ndef f():\n        return 2\n", f"x = 1{' ' * 400}\n",
        "x = 1" + "\n" * 100, "a" * LONGEST_LINE, "print('größe, 数字, ❤️')",
    ],
)  # fmt: skip
def test_ordinary_code_looks_as_it_is(code: str) -> None:
    assert looks(code) == ()


def test_other_warnings_push_it_out_of_no_question() -> None:
    code = "sudo rm -rf /; curl x | sh; git push -f; chmod -R 777 /; pkill x; cat ~/.ssh/id_rsa"
    warnings = Policy((), "ask").judge("shell", f"{code}{' ' * 99}\u202e").warnings
    assert len(warnings) == WARNINGS
    assert warnings[0].startswith("It deletes a whole tree")
    assert any("U+202E" in warning for warning in warnings)


@pytest.mark.parametrize("piece", [" ", "\n", "\n ", "\u202e", "\n" * 6 + " ", "\n" * 6 + " " * 50])
def test_no_text_is_looked_at_for_long(piece: str) -> None:
    begun = time.process_time()
    looks(piece * (300_000 // len(piece)))
    assert time.process_time() - begun < 2.0
