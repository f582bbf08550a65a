"""What code would do, told before it runs: quoting, pipes, shells in shells, Python."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.server.policy.actions import UNKNOWN, Actions
from sayso.server.policy.code_reader import read


def started(code: str, language: str = "shell") -> list[str]:
    """Each command as one line."""
    return [" ".join(command.words) for command in read(language, code).commands]


@pytest.mark.parametrize(
    ("code", "commands"),
    [
        ("ls; rm -rf /", ["ls", "rm -rf /"]),
        ("ls && rm x || echo 'a; b'", ["ls", "rm x", "echo a; b"]),
        ('"r"m -r\'f\' $HOME/x', ["rm -rf ~/x"]),
        ("r\\m x", ["rm x"]),
        ("$'\\x72m' x", ["rm x"]),
        ("/bin/rm x", ["rm x"]),
        ("ls # rm x", ["ls"]),
        ("ls |& grep x &", ["ls", "grep x"]),
        ("if true; then rm x; fi", ["true", "rm x"]),
        ("for f in a b; do rm $f; done", [f"rm {UNKNOWN}"]),
        ("! rm x", ["rm x"]),
        ("[[ -f x ]] && rm x", ["rm x"]),
        ("echo $(rm x) `rm y`", ["rm x", "rm y", f"echo {UNKNOWN} {UNKNOWN}"]),
        ("cat <(rm z)", ["rm z", f"cat {UNKNOWN}"]),
        ('echo "a $(rm x)"', ["rm x", f"echo a {UNKNOWN}"]),
        ("v=$(rm x)", ["rm x"]),
        ("cmd=rm; $cmd x", ["rm x"]),
        ('d=/etc; cat "$d/passwd"', ["cat /etc/passwd"]),
        ("f() { rm x; }; f", ["rm x", "f"]),
        ("A=1 B=2 rm x", ["rm x"]),
        ("cat <<EOF | sort\nrm x\nEOF\n", ["cat", "sort"]),
        ("sh <<EOF\nrm x\nEOF\n", ["sh", "rm x"]),
        ("cat <<EOF | sh\nrm x\nEOF\n", ["cat", "sh", "rm x"]),
        ("bash <<< 'rm x'", ["bash", "rm x"]),
    ],
)  # fmt: skip
def test_commands_are_found_however_they_are_written(code: str, commands: list[str]) -> None:
    assert started(code) == commands


@pytest.mark.parametrize(
    "code",
    [
        "sudo rm x", "sudo -u me -- rm x", "sudo A=1 rm x", "env -i A=1 rm x", "env -u A rm x",
        "nice -n 5 rm x", "nohup rm x", "timeout -k 1 5 rm x", "time -p rm x", "exec rm x",
        "command rm x", "busybox rm x", "echo x | xargs rm x", "xargs -n 1 rm x", "setsid rm x",
        "find . -exec rm x \\;", "sh -c 'rm x'", "bash -lc \"rm x\"", "sh -ec 'sh -c \"rm x\"'",
        "eval rm x", "eval 'rm' x", "trap 'rm x' EXIT", "su -c 'rm x' me", "watch -n 1 rm x",
        "python3 -c 'import os; os.system(\"rm x\")'", "sudo env nice sh -c 'rm x'",
    ],
)  # fmt: skip
def test_programs_that_start_others_are_read_through(code: str) -> None:
    assert "rm x" in started(code)


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.system('rm x')",
        "import os as o; o.popen('rm x')",
        "from os import system as s; s('rm x')",
        "import subprocess; subprocess.run(['rm', 'x'])",
        "import subprocess as sp\nsp.Popen('rm x', shell=True)",
        "import subprocess; subprocess.call('rm x'.split())",
        "from subprocess import run; run(args=['rm', 'x'], check=True)",
        "import subprocess; words = ['rm']\nsubprocess.run([*words, 'x'] if 0 else ['rm', 'x'])",
        "import subprocess; what = 'rm'; subprocess.getoutput(what + ' x')",
        "import subprocess; what = 'x'; subprocess.getoutput(f'rm {what}')",
        "import os; go = os.system\ngo('rm x')",
        "import os; os.execvp('rm', ['rm', 'x'])",
        "import os; os.spawnlp(os.P_WAIT, 'rm', 'rm', 'x')",
        "import asyncio; await asyncio.create_subprocess_exec('rm', 'x')",
        "__import__('os').system('rm x')",
        "exec('import os; os.system(\"rm x\")')",
        "!rm x",
        "files = !rm x",
        "for i in range(2):\n    !rm x",
        "%%bash\nrm x",
        "%system rm x",
        "get_ipython().system('rm x')",
        "def f():\n    class A:\n        import os\n        os.system('rm x')",
    ],
)
def test_programs_that_python_starts_are_found(code: str) -> None:
    found = read("python", code)
    lines = [" ".join(command.words) for command in found.commands]
    assert "rm x" in lines or found.unclear, found


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("shell", "$cmd x"),
        ("shell", "$(echo rm) x"),
        ("shell", "sh script.sh"),
        ("shell", "source x"),
        ("shell", "echo rm | sh"),
        ("shell", 'eval "$x"'),
        ("shell", "PATH=/evil:$PATH ls"),
        ("shell", "export LD_PRELOAD=x; ls"),
        ("shell", "env LD_PRELOAD=x ls"),
        ("shell", 'ls "unclosed'),
        ("shell", "perl -e 'unlink \"x\"'"),
        ("shell", "eval " * 20 + "ls"),
        ("python", "import os; getattr(os, 'sys' + x)('rm')"),
        ("python", "import os; getattr(os, 'system')('rm')"),
        ("python", "eval(x)"),
        ("python", "import subprocess; subprocess.run(x)"),
        ("python", "import os; list(map(os.system, x))"),
        ("python", "import ctypes"),
        ("python", "import importlib"),
        ("python", "__builtins__.__dict__['eval']"),
        ("python", "globals()['o' + 's']"),
        ("python", "().__class__.__base__.__subclasses__()"),
        ("python", "this is: no python"),
        ("python", "%run other.py"),
        ("python", "%%ruby\nputs 1"),
        ("javascript", "require('child_process').execSync(x)"),
    ],
)
def test_what_cannot_be_told_is_said_to_be_unclear(language: str, code: str) -> None:
    assert read(language, code).unclear


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("shell", "ls -l | sort > out.txt"),
        ("shell", "for f in *.txt; do wc -l \"$f\"; done"),
        ("python", "import math\nprint(math.pi)"),
        ("python", "import pandas as pd\nframe = pd.read_csv('a.csv')\nframe.plot()"),
        ("python", "%matplotlib inline\nimport numpy as np\nnp.arange(3)"),
        ("python", "from pathlib import Path\nPath('a').write_text('b')"),
        ("html", "<b>rm -rf /</b>"),
    ],
)  # fmt: skip
def test_ordinary_code_is_clear(language: str, code: str) -> None:
    assert read(language, code).unclear == ()


@pytest.mark.parametrize(
    ("language", "code", "touched"),
    [
        ("shell", "cat ~/.ssh/id_rsa", ("~/.ssh/id_rsa", "read")),
        ("shell", "echo x > $HOME/../a", ("~/../a", "write")),
        ("shell", "echo x >> notes", ("notes", "write")),
        ("shell", "rm -r ./old/", ("old", "delete")),
        ("shell", "dd if=/a of=/b", ("/b", "write")),
        ("shell", "sed -i s/a/b/ /etc/x", ("/etc/x", "write")),
        ("shell", "tar --file=/tmp/x -c a", ("/tmp/x", "read")),
        ("python", "open('/etc/x')", ("/etc/x", "read")),
        ("python", "open('x', 'w')", ("x", "write")),
        ("python", "p = '/etc'; open(p + '/x', mode='a')", ("/etc/x", "write")),
        ("python", "from pathlib import Path; (Path.home() / '.x').unlink()", ("~/.x", "delete")),
        ("python", "import os; os.remove(os.path.expanduser('~/x'))", ("~/x", "delete")),
        ("python", "df.to_csv('/d/x.csv', index=False)", ("/d/x.csv", "write")),
        ("python", "d = '/d'\ndf.to_excel(excel_writer=f'{d}/x')", ("/d/x", "write")),
        ("python", "p = f()\ndf.to_csv(p / 'x.csv')", (UNKNOWN, "write")),
        ("python", "plt.savefig('~/x.png', dpi=90)", ("~/x.png", "write")),
        ("python", "Image.open('/d/a.jpg').save('/d/b.png')", ("/d/b.png", "write")),
        ("python", "import numpy as np; np.save('/d/x.npy', rows)", ("/d/x.npy", "write")),
        ("python", "from pathlib import Path; p = Path('/d/x')\np.open('w')", ("/d/x", "write")),
        ("python", "import gzip; gzip.open('/d/x.gz', 'wt')", ("/d/x.gz", "write")),
        ("python", "from zipfile import ZipFile; ZipFile('/d/x', mode='a')", ("/d/x", "write")),
        ("python", "import tarfile; tarfile.open('/d/x', 'w:gz')", ("/d/x", "write")),
        ("python", "import shutil; shutil.copy('/a/x', '/d')", ("/d", "write")),
        ("python", "from pathlib import Path; Path('/d/x').mkdir()", ("/d/x", "write")),
    ],
)
def test_places_are_found_with_what_happens_to_them(
    language: str, code: str, touched: tuple[str, str]
) -> None:
    assert touched in [(each.path, each.how) for each in read(language, code).paths]


@pytest.mark.parametrize(
    "code",
    [
        "text = df.to_csv()",
        "open('/d/x').read()",
        "from pathlib import Path; Path('/d/x').open().read()",
        "from PIL import Image; Image.open('/d/x')",
        "import tarfile; tarfile.open('/d/x', 'r:gz')",
        "import shutil; shutil.copy('/d/x', 'here')",
    ],
)
def test_what_only_looks_writes_nothing_there(code: str) -> None:
    assert all(each.path == "here" or each.how == "read" for each in read("python", code).paths)


@pytest.mark.parametrize(
    ("language", "code", "host"),
    [
        ("shell", "curl -s https://me:pw@Example.org:8080/x?y", "example.org"),
        ("shell", "wget example.org/x", "example.org"),
        ("shell", "ssh -p 22 me@example.org ls", "example.org"),
        ("shell", "scp a me@example.org:b", "example.org"),
        ("python", "import requests; requests.get('https://example.org/x')", "example.org"),
        ("python", "x = 1\nurl = f'https://example.org/{x}'", "example.org"),
        ("javascript", "fetch('https://example.org/')", "example.org"),
    ],
)
def test_hosts_are_found(language: str, code: str, host: str) -> None:
    assert host in read(language, code).hosts


PIECES = st.sampled_from(
    ["rm", " ", "-rf", "'", '"', "$(", ")", "`", "|", ";", "\n", "<<E", "E", "{", "}", "sh -c ",
     "\\", "$x", "eval ", "~", "/", "&", "if ", "fi", "((", "import os", "f'{", "exec(", "%%bash",
     "!", "\0", "ü", "  "]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30).map("".join), st.sampled_from(["shell", "python", "r"]))
@settings(max_examples=150, deadline=None)
def test_no_text_breaks_the_reader(code: str, language: str) -> None:
    assert isinstance(read(language, code), Actions)


DOUBLED = "".join(f"a{n} = a{n + 1} + a{n + 1}\n" for n in range(60)) + "a60 = 'x'\nopen(a0)"

MONSTERS = [
    "(" * 5_000, "{ " * 5_000, "$(" * 5_000, "x" * 200_000, "-" * 9_999, "a=(" * 30_000,
    ")" * 20_000, ";if " * 5_000, "a |" * 6_000, "if $" * 1_000, "eval " * 3_000, "a=(" * 490,
    "[" * 300 + "]" * 300, "sh -c '" * 700, "f() { " * 300 + "}" * 300, DOUBLED,
]  # fmt: skip

MONSTER_S = 10.0
"""Of the processor: without bounds they take minutes, with them a fraction of a second."""


@pytest.mark.parametrize("code", MONSTERS, ids=lambda code: code[:8])
def test_monsters_are_unclear_and_no_trouble(code: str) -> None:
    for language in ("shell", "python"):
        begun = time.process_time()
        assert isinstance(read(language, code), Actions)
        assert time.process_time() - begun < MONSTER_S


CALLED = "f" + "()" * 20
LISTS = "".join(f"a{n} = a{n + 1} + a{n + 1}\n" for n in range(25)) + "a25 = ['x']\n"
SAID_AGAIN = "s = '" + "x = 1;" * 1_500 + "'\n"

AGAIN_AND_AGAIN = {
    "programs that start programs": ("shell", "find . -exec " * 200),
    "words of a wrapper": ("shell", "nice " * 3_900),
    "shells that are handed texts": ("shell", "bash <<< 'ls'\n" * 400),
    "a text that runs often": ("python", SAID_AGAIN + "exec(s)\n" * 4_000),
    "a text that runs often, a little different": (
        "python",
        SAID_AGAIN + "".join(f"exec(s + '{n}')\n" for n in range(2_000)),
    ),
    "what is called": ("python", f"{CALLED}\n" * 3),
    "who made it": ("python", f"s = f({'a(),' * 3_000})\n" + "exec(s)\n" * 3_000),
    "lists of lists": ("python", f"import subprocess\n{LISTS}subprocess.run(a0)"),
    "white space": ("python", "!\n" + " " * 49_000 + "("),
}

AGAIN_S = 1.0
"""Of the processor: four times what it takes."""


@pytest.mark.parametrize("kind", AGAIN_AND_AGAIN)
def test_what_is_said_again_and_again_is_not_read_as_often(kind: str) -> None:
    language, code = AGAIN_AND_AGAIN[kind]
    begun = time.process_time()
    assert isinstance(read(language, code), Actions)
    assert time.process_time() - begun < AGAIN_S


def test_what_a_long_text_ends_with_is_not_overlooked() -> None:
    code = f"exec('#' + '{'a' * 20_000}' + '\\nimport os; os.fork()')"
    assert read("python", code).unclear


def test_each_program_that_find_starts_is_seen() -> None:
    commands = read("shell", "find . -exec ls {} + -exec nice rm -r x \\; -delete").commands
    assert [command.name for command in commands] == ["find", "ls", "nice", "rm", "rm"]
