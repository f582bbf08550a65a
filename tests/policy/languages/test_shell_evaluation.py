"""Values of variables that the shell works out, and runs what is in them."""

import subprocess
import time
from pathlib import Path

import pytest

from sayso.server.policy.code_reader import read
from tests.policy.test_dangers_within import HOSTILE_S, verdict

WORKED_OUT = [
    "x='a[$(X)]'; echo $((x))",
    "x='a[$(X)]'; echo $[x]",
    "x='a[`X`]'; echo $((x))",
    "x=$'a[\\x24(X)]'; echo $((x))",
    'x="a[\\$(X)]"; echo $((x))',
    "x='a[$(X)]'; y=abc; echo ${y:x}",
    "x='a[$(X)]'; echo ${y[x]}",
    "x='$(X)'; echo \"${x@P}\"",
    "x='a[$(X)]'; echo ${!x}",
    "x='a[$(X)]'; ((x)) && echo",
    "x='a[$(X)]'; for ((i=x;i<1;i++)); do echo; done",
    "x='a[$(X)]'; y[x]=1; echo",
    "x='a[$(X)]'; [[ x -eq 0 ]]; echo",
    "x='a[$(X)]'; let x; echo",
    "x='a[$(X)]'; test -v \"$x\"; echo",
    "x='a[$'; y='(X)]'; echo $(( $x$y ))",
    "for x in 'a[$(X)]'; do echo $((x)); done",
    "echo ${x:='a[$(X)]'} $((x))",
    "printf -v x 'a[\\x24(X)]'; echo $((x))",
    "echo 'a[$(X)]' > f; read x < f; echo $((x))",
    "echo 'a[$(X)]' > f; x=$(cat f); echo $((x))",
    "echo 'a[$(X)]' > f; echo $(($(cat f)))",
    "echo > 'a[$(X)]'; for x in a*; do echo $((x)); done",
    "echo > 'a[$(X)]'; echo() { printf $(($1)); }; echo a*",
    "x='a[$(X)]'; cat <<E\n$((x))\nE",
]
"""Bash runs `X` in each of these, and no rule that allows `echo` meant that."""


@pytest.mark.parametrize("code", WORKED_OUT)
def test_bash_runs_it_and_no_rule_does(code: str, tmp_path: Path) -> None:
    ran = code.replace("X", ">ran")
    subprocess.run(["bash", "-c", ran], cwd=tmp_path, capture_output=True, check=False, timeout=20)
    assert (tmp_path / "ran").exists(), "it is no proof any more"
    assert verdict(ran) != "allow", read("shell", ran)


@pytest.mark.parametrize(
    "code",
    [
        "x=1; echo $((x + 1))",
        "for i in 1 2 3; do echo $((i * 2)); done",
        "i=0; while ((i < 3)); do i=$((i + 1)); echo $i; done",
        "for ((i = 0; i < 3; i++)); do echo $i; done",
        'for f in *.txt; do echo "$f"; done',
        "awk '{print $(NF - 1)}' a; echo '$(x)'",
        "x=1; echo ${x:-2} ${y[0]} ${z[@]}",
        "cat a | sed 's/a$//'",
    ],
)
def test_numbers_are_worked_out_unasked(code: str) -> None:
    assert verdict(code) == "allow", read("shell", code)


@pytest.mark.parametrize(
    "code",
    [
        "git clone --upload-p='./planted' a b",
        "git ls-remote --upload-pa './planted' a",
        "git grep --open='./planted' x",
        "git --git-dir planted status",
        "git send-email --sendmail-cmd='./planted' a",
        "git -C a send-email --smtp-server=/planted b",
        "git hook run pre-commit",
        "git for-each-repo --config=x status",
        "zip a -T -TT./planted b",
        "zip -TTT./planted a b",
    ],
)
def test_git_and_zip_start_nothing_by_options_that_are_cut_short(code: str) -> None:
    assert verdict(code) != "allow", read("shell", code)


@pytest.mark.parametrize(
    "code", ["echo $((" * 370 + "1" + "))" * 370, "echo ${a[" * 300 + "1" + "]}" * 300]
)
def test_no_numbers_are_read_for_long(code: str) -> None:
    begun = time.process_time()
    read("shell", code)
    assert time.process_time() - begun < HOSTILE_S


@pytest.mark.parametrize("language", ["python", "Python", "py", "python3", "ipython", " PY "])
def test_python_runs_by_no_rule_about_the_programs_that_it_starts(language: str) -> None:
    code = "import subprocess\nsubprocess.run(['ls'])\nopen('x', 'w').write('y')"
    assert verdict(code, language) != "allow"
