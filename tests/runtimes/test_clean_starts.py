"""What earlier runs leave behind changes no interpreter before it runs what was approved."""

from pathlib import Path

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from tests.runtimes.sandboxes import told

PLANT = """
import pathlib, sys, sysconfig
version = 'python{}.{}'.format(*sys.version_info)
packages = pathlib.Path('.packages/lib', version, 'site-packages')
packages.mkdir(parents=True, exist_ok=True)
mark = "open(%r, 'a').write('planted\\\\n')" % str(pathlib.Path('mark').absolute())
names = ('sitecustomize', 'usercustomize', 'ipykernel', 'IPython', 'zmq', 'csv', 'shelve')
settings = ('ipython_config', 'ipython_kernel_config', 'jupyter_config', 'jupyter_kernel_config')
for name in names + settings:
    (packages / f'{name}.py').write_text(mark)
    pathlib.Path(f'{name}.py').write_text(mark)
(packages / 'evil.pth').write_text(f'import os; {mark}')
(packages / 'installed.py').write_text('VALUE = 42')
programs = pathlib.Path('.packages/bin')
programs.mkdir(exist_ok=True)
for name in ('git', 'ls', 'bash'):
    say = 'echo planted >> ' + str(pathlib.Path('mark').absolute())
    (programs / name).write_text('#!/bin/sh\\n' + say)
    (programs / name).chmod(0o755)
(programs / 'installed').write_text('#!/bin/sh\\necho 43')
(programs / 'installed').chmod(0o755)
"""


async def test_what_code_planted_does_not_run_when_an_interpreter_starts(
    any_workshop: CodeRunner, workspace: Path
) -> None:
    assert (await told(any_workshop, PLANT)).ending.status == "ok"
    await told(any_workshop, "import os; os._exit(0)")
    assert (await told(any_workshop, "print('begun')")).stdout == "begun\n"
    assert (await told(any_workshop, "ls >/dev/null; python -c ''", "bash")).ending.status == "ok"
    assert not (workspace / "mark").exists()


async def test_what_code_installed_is_found_behind_the_standard_library(
    any_workshop: CodeRunner, workspace: Path
) -> None:
    await told(any_workshop, PLANT)
    await told(any_workshop, "import os; os._exit(0)")
    code = "import csv, shelve, installed; print(csv.__name__, installed.VALUE)"
    assert (await told(any_workshop, code)).stdout == "csv 42\n"
    shell = f'cd /tmp; python -c "{code}"; installed'
    assert (await told(any_workshop, shell, "bash")).stdout == "csv 42\n43\n"
    assert not (workspace / "mark").exists()


async def test_a_newer_package_takes_the_place_of_one_that_is_there(
    any_workshop: CodeRunner, workspace: Path
) -> None:
    newer = PLANT.partition("mark =")[0]
    newer += "(packages / 'six.py').write_text('__version__ = \"99\"')"
    await told(any_workshop, newer)
    await told(any_workshop, "import os; os._exit(0)")
    assert (await told(any_workshop, "import six; print(six.__version__)")).stdout == "99\n"
    assert (
        await told(any_workshop, "python -c 'import six; print(six.__version__)'", "bash")
    ).stdout == "99\n"


@pytest.mark.parametrize("language", ["bash", "python"])
async def test_a_run_of_its_own_has_nothing_of_earlier_ones_and_leaves_nothing(
    any_workshop: CodeRunner, language: str
) -> None:
    left = {
        "bash": "git() { echo evil; }; alias ls='echo evil'; export PATH=$PWD/evil:$PATH; x=1",
        "python": "import subprocess; subprocess.run = print; x = 1",
    }[language]
    look = {
        "bash": "type git ls | head -2; echo ${x-unset}; y=2",
        "python": "import subprocess; print(subprocess.run is print, 'x' in globals()); y = 2",
    }[language]
    await told(any_workshop, left, language)
    alone = await told(any_workshop, look, language, alone=True)
    assert alone.ending.status == "ok"
    assert "evil" not in alone.stdout
    assert "function" not in alone.stdout
    assert "unset" in alone.stdout or "False False" in alone.stdout
    assert "nothing that earlier runs left was in it" in alone.ending.detail
    after = "echo ${x-unset} ${y-unset}" if language == "bash" else "print(x, 'y' in globals())"
    assert (await told(any_workshop, after, language)).stdout in ("1 unset\n", "1 False\n")


async def test_a_question_says_what_earlier_runs_may_have_left(any_workshop: CodeRunner) -> None:
    words = "use what earlier runs left in its interpreter, which may change what it does"
    assert words not in any_workshop.may_touch("bash")
    await told(any_workshop, "ls() { echo evil; }", "bash")
    assert words in any_workshop.may_touch("bash")
    assert words not in any_workshop.may_touch("python")
