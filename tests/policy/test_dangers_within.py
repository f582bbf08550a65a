"""Programs that start others by their options or their own languages; names that hide; Python."""

import time

import pytest

from sayso.server.policy.code_reader import read
from sayso.server.policy.dangers import found_in
from sayso.server.policy.judge import Policy

DELETES = "rm -rf ~"

ALLOWED = [
    f"allow command {name}\nmatches: {name}\nspares: other x"
    for name in (
        "awk", "sed", "tar", "env", "git", "make", "alias", "ls", "find", "ssh", "rsync", "zip",
        "vim", "man", "less", "ed", "gdb", "split", "sort", "watch", "xargs", "node", "sh", "echo",
        "let", "psql", "sqlite3", "nohup", "faketime", "fd", "mapfile", "flock", "perl", "ruby",
        "busybox", "timeout", "printf", "cat", "true", "ip",
    )
]  # fmt: skip
"""What somebody may have allowed who trusts these programs by their names."""


def verdict(code: str, language: str = "shell") -> str:
    return Policy(ALLOWED, "off", home="/home/alice").judge(language, code).verdict


HIDDEN = [
    "awk 'BEGIN{system(\"X\")}'",
    'awk \'BEGIN{system("rm -rf " "~")}\'',
    "awk '{print | \"X\"}' a",
    "awk 'BEGIN{\"X\" | getline}'",
    'awk \'function f(a) { return a ~ /"/ } BEGIN{system("X")}\'',
    "awk -e 'BEGIN{system(\"X\")}'",
    "sed '1e X' a",
    "sed -n -e '$!N' -e '/x/,5e X' a",
    "sed 's/.*/X/e' a",
    "sed 's|a|X|gpe' a",
    "tar cf a --checkpoint=1 --checkpoint-action=exec='X' .",
    "tar cf a --checkpoint-act=exec='X' .",
    "tar xf a --to-command='X'",
    "tar -I 'X' -xf a",
    "tar xvfI a 'X'",
    "env -S 'X'",
    "env -iS'X'",
    "env --split-string='X'",
    "env -S 'sh -c' 'X'",
    "git -c alias.x='!X' x",
    "git -c core.pager='X' log",
    "git -ccore.fsmonitor='X' status",
    "git clone --upload-pack='X' a b",
    "git clone -u 'X' a b",
    "git rebase -x 'X' main",
    "git rebase --exec='X' main",
    "git submodule foreach 'X'",
    "git bisect run X",
    "git config alias.x '!X'",
    "git filter-branch --tree-filter 'X'",
    "make --eval='all: ; X'",
    "make SHELL='X'",
    "alias ls='X'; ls",
    "rsync -e 'X' a b",
    "rsync -avze 'X' a b",
    "ssh -o ProxyCommand='X' a",
    "ssh -oProxyCommand='X' a",
    "zip a b -T -TT 'X'",
    "vim -c ':!X' a",
    "vim '+!X' a",
    "man -P 'X' ls",
    "less '+!X' a",
    "gdb -ex '!X'",
    "gdb -batch -ex 'shell X'",
    "split --filter='X' a",
    "sort --compress-program='X' a",
    "psql -c '\\! X'",
    "sqlite3 a '.shell X'",
    "watch 'X'",
    "watch -n 1 X",
    "flock /tmp/x -c 'X'",
    "timeout --signal KILL 5 X",
    "sudo --user root X",
    "faketime tomorrow X",
    "unknown-tool --over X",
    "busybox X",
    "nohup nice -n 5 X",
    "command X",
    "builtin eval 'X'",
    "exec -a ls X",
    "stdbuf -oL X",
    "ip netns exec here X",
    "fd -x X",
    "mapfile -C 'X' a < b",
    "let 'a[$(X)]'",
    "bash <(echo 'ls'; X)",
    ". /dev/stdin <<< 'X'",
    "sh /dev/stdin <<STOP\nX\nSTOP\n",
    "ssh_x() { X; }; ssh_x",
    "xargs -a list --max-args 1 X",
]
"""Shell code in which `X` is run."""


@pytest.mark.parametrize("code", HIDDEN)
def test_what_a_program_is_told_to_start_is_read(code: str) -> None:
    found = read("shell", code.replace("X", DELETES))
    assert any("whole tree" in danger.sentence for danger in found_in(found)), found


@pytest.mark.parametrize("code", HIDDEN)
def test_nothing_that_another_program_starts_is_allowed_by_its_name(code: str) -> None:
    assert verdict(code.replace("X", "./planted")) != "allow"


@pytest.mark.parametrize(
    "code",
    [
        "/bin/r? -rf ~", "/b*/rm -rf ~", "r?m x; /bin/r* -rf /",
        'x=rm; y=$(echo $x); "$y" -rf ~', "${x:-rm} -rf ~",
    ],
)  # fmt: skip
def test_a_name_that_is_only_known_when_it_runs_may_be_the_worst(code: str) -> None:
    found = read("shell", code)
    assert found.unclear
    assert any("whole tree" in danger.sentence for danger in found_in(found)), found


@pytest.mark.parametrize(
    "code",
    [
        "{ls,-l}", "l? x", "./ls", "../bin/ls x", "/tmp/ls", "~/bin/ls", "sub/ls", "sh < a",
        "sh <<< ls", "cat a | sh", "awk -f a.awk", "awk -i inplace x", "sed -f a.sed", "sed -n '",
        "sed 'w /home/alice/.bashrc' a", "sed 's/a/b/w /home/alice/.bashrc' a",
        'awk \'{print > "/home/alice/.bashrc"}\' a', "find . -fprint /home/alice/.bashrc",
        "find . -fprintf /home/alice/.bashrc x", "sort -o /home/alice/.bashrc a",
        "make -f- <<< x", "make -f other", "make -C /tmp -f x", "ed a", "vim -S a", "vim -u a b",
        "node --eval=1", "node -p 1", "perl -e 1", "perl -Mevil", "ruby -revil", "ruby -e 1",
        "git --exec-path=/tmp status", "git clone ext::sh", "git -c include.path=a status",
        "git --config-env=core.pager=X log", "git config core.hooksPath /tmp",
        "LESSOPEN='|x' less a", "GIT_PAGER=x git log", "export GIT_SSH_COMMAND=x; git pull",
        "MAKEFLAGS=x make", "HOME=/tmp git log", "VISUAL=x less a", "declare -x PATH=.; ls",
        "PYTHONHOME=x ls", "RUBYLIB=x ruby", "SHELL=x vim", "MANPAGER=x man ls",
        "ssh -F a b", "less +v a", "[[ -v 'a[$(x)]' ]] && ls", "printf -v 'a[$(x)]' 1",
        "echo x | xargs ls", "env -S 'ls'", "faketime --x ls", "exec 3<>/dev/tcp/x/1; ls",
    ],
)  # fmt: skip
def test_what_is_not_known_to_be_harmless_runs_no_rule_unasked(code: str) -> None:
    assert verdict(code) != "allow"


@pytest.mark.parametrize(
    "code",
    [
        "awk '{print $1}' a", "awk -F: '$3 > 5 {n += $2 / 3} END {printf \"%d\\n\", n}' a",
        "awk '/a|b/' a", "sed -n 's/a/b/gp;3,5d;/x/!{p;q}' a", "sed -e 's|a/b|c|g' -e '$d' a",
        "sed 's/exec/e/' a", "git status -s", "git log --oneline -n 3", "git commit -m 'rm x'",
        "git -c user.name=me commit -m x", "tar xzf a.tgz", "find . -name '*.e'", "ls -l *.txt",
        "make test", "echo rm -rf /", "sort -k 2 a", "/usr/bin/ls x", "LANG=C ls", "x=1; ls $x",
        "rsync -av a b", "zip -r a b", "less a", "man ls", "printf '%s' x",
    ],
)  # fmt: skip
def test_what_is_known_to_be_harmless_still_runs_unasked(code: str) -> None:
    assert verdict(code) == "allow", read("shell", code)


@pytest.mark.parametrize(
    "code",
    [
        "class A: import os\nA.os.system('rm -rf ~')",
        "class A:\n    import os as o\nA().o.system('rm -rf ~')",
        "def f():\n    import os\n    return os\nf().system('rm -rf ~')",
        "class A:\n    from os import system as s\nA.s('rm -rf ~')",
        "import os.path as p\np.os.system('rm -rf ~')",
        "o = __import__('os')\no.system('rm -rf ~')",
        "import importlib\nimportlib.import_module('os').system('rm -rf ~')",
        "import sys\nsys.modules['os'].system('rm -rf ~')",
        "import os\ngetattr(os, 'system')('rm -rf ~')",
        "import os\n(lambda run: run)(os).system('rm -rf ~')",
        "import os\n[os.system(x) for x in ['rm -rf ~']]",
        "import os\nx = [os]\nx[0].popen('rm -rf ~')",
        "import subprocess as s\nclass B: t = s\nB.t.run(['rm', '-rf', '~'])",
        "%time import os; os.system('rm -rf ~')",
        "%timeit -n 1 __import__('os').system('rm -rf ~')",
        "%%time import os\nos.system('rm -rf ~')",
        "%ls $(rm -rf ~)",
        "%%timeit import os; os.system('rm -rf ~')\n1",
        "import builtins\nbuiltins.exec('import os; os.system(\"rm -rf ~\")')",
        "e = exec\ne('import os; os.system(\"rm -rf ~\")')",
        "import posix\nposix.system('rm -rf ~')",
    ],
)
def test_programs_that_python_starts_in_a_roundabout_way_are_read(code: str) -> None:
    found = read("python", code)
    assert any("deletes" in danger.sentence for danger in found_in(found)) or (
        "'rm -rf ~' for x" not in code and "for x in" in code and found.unclear
    ), found


@pytest.mark.parametrize(
    "code",
    [
        "import os\n[os.remove(f) for f in os.listdir('.')]",
        "import os\nfor f in os.listdir('.'): os.remove(f)",
        "import os\nany(os.unlink(f) for f in os.listdir('.'))",
        "import os\nlist(map(os.remove, os.listdir('.')))",
        "import os\ni = 0\nwhile i < 9:\n    os.remove(a[i])\n    i += 1",
        "from pathlib import Path\nfor p in Path('.').rglob('*'): p.unlink()",
        "from pathlib import Path\n{p.rmdir() for p in Path('.').iterdir()}",
        "from os import remove as r, listdir\n[r(f) for f in listdir()]",
        "import os\nd = os.remove\nfor f in os.listdir('.'): d(f)",
        "class A: import os\n[A.os.remove(f) for f in A.os.listdir('.')]",
        "import shutil\nshutil.rmtree('a')",
        "class A: import shutil\nA.shutil.rmtree('a')",
    ],
)
def test_many_files_deleted_in_a_loop_are_a_danger(code: str) -> None:
    assert any("deletes" in danger.sentence for danger in found_in(read("python", code)))


@pytest.mark.parametrize(
    "code",
    [
        "import os\n@os.system\ndef f(): pass",
        "@eval\n@repr\ndef f(): pass",
        "import os\nclass A: __class_getitem__ = os.system\nA['rm -rf ~']",
        "import os\nx = print\nx = os.system\nx('rm -rf ~')",
        "import os\ndef f(run=os.system): run('rm -rf ~')",
        "import os\na, b = os.system, 1\na('rm -rf ~')",
        "import os\na.b = os.system\na.b('rm -rf ~')",
        "import os\na['b'] = os.remove\na['b']('x')",
        "import os\nfrom functools import partial\npartial(os.system, 'rm -rf ~')()",
    ],
)
def test_what_starts_programs_is_seen_wherever_it_is_handed_on(code: str) -> None:
    assert read("python", code).unclear


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos.remove('x')", "items = [1]\nfor i in range(3): items.remove(i)",
        "import platform\nprint(platform.system())", "import asyncio\nasyncio.run(main())",
        "class A:\n    import math\nprint(A.math.pi)", "for x in y: x.update()", "%time sum([1])",
        "from pathlib import Path\nPath('x').unlink()",
    ],
)  # fmt: skip
def test_ordinary_python_deletes_and_starts_nothing(code: str) -> None:
    found = read("python", code)
    assert not found_in(found), found


HOSTILE = {
    "awk texts": "awk '" + '"x" ' * 3_500 + "| getline'",
    "awk divisions": "awk '" + "/" * 15_000 + "|'",
    "awk regexes": "awk '(" + "/[" * 7_000 + "'",
    "sed addresses": "sed '" + "/" * 15_000 + "'",
    "sed delimiters": "sed '" + "\\x" * 7_000 + "'",
    "sed pieces": "sed '" + "s/a/b/e;" * 2_000 + "'",
    "sed blanks": "sed '" + " ; " * 6_000 + "'",
    "git settings": "git " + "-c a=b " * 2_500,
    "tar options": "tar " + "-I x " * 3_500,
    "wrappers": "faketime x " * 1_500,
    "unknown programs": "unknown-tool " + "rm " * 5_000,
    "unknown programs each": "unknown-tool rm\n" * 1_000,
    "env": "env -S '" + "env -S " * 2_500 + "'",
    "aliases": "alias " + "x='y' " * 2_500,
    "make": "make " + "X=y " * 4_000,
    "patterns": "[" * 1_400 + " x",
}

HOSTILE_S = 3.0
"""Of the processor."""


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_words_are_read_for_long(kind: str) -> None:
    begun = time.process_time()
    read("shell", HOSTILE[kind])
    assert time.process_time() - begun < HOSTILE_S


HOSTILE_PYTHON = {
    "chains": "a" + ".os" * 10_000 + ".system('x')",
    "loops": "import os\n"
    + "".join(f"{' ' * n}for x in y:\n" for n in range(90))
    + f"{' ' * 90}os.remove(x)",
    "many deletes in loops": "import os\nfor x in y:\n" + "  os.remove(x)\n" * 3_000,
    "many loops": "import os\n" + "for x in y: os.remove(x)\n" * 1_900,
    "aliases": "import os\n" + "x = os.system\n" * 3_000,
    "magics": "%time 1\n" * 5_000,
}


@pytest.mark.parametrize("kind", HOSTILE_PYTHON)
def test_no_python_is_read_for_long(kind: str) -> None:
    begun = time.process_time()
    read("python", HOSTILE_PYTHON[kind])
    assert time.process_time() - begun < HOSTILE_S


@pytest.mark.parametrize(
    "code",
    [
        "fs.rmSync('/', { recursive: true, force: true })",
        "await fs.promises.rm(os.homedir(), {recursive: true})",
        "fs.rm('/home/alice', {force: true, recursive: true}, () => {})",
        "rimraf('/etc')",
        "require('child_process').exec('rm -rf ~')",
        "child_process.spawnSync('rm', ['-rf', '/'])",
        "execFileSync('find', ['/', '-delete'])",
    ],
)
def test_javascript_that_deletes_everything_is_grave(code: str) -> None:
    assert any(danger.grave for danger in found_in(read("javascript", code)))


def test_javascript_that_deletes_a_folder_is_a_danger_and_what_deletes_none_is_not() -> None:
    for code in ("fs.rmSync(dir, {recursive: true})", "fs.rmSync('build', {recursive: true})"):
        (danger,) = found_in(read("javascript", code))
        assert not danger.grave
    for code in ("fs.rmSync('a.txt')", "arm('/')", "console.log('/')", "list.remove('/')"):
        assert not found_in(read("javascript", code)), code
