"""What Sayso itself runs, loads and keeps secret, which no grant lets code see or change."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from sayso.protocol.home import Home
from sayso.server.runtimes.base_python import base_prefix
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.confined_process import PrivateFolder
from sayso.server.runtimes.grants import GrantError, Grants, folder
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.protection import own_places
from sayso.server.runtimes.protection.own_places import Held, held_in, is_within
from sayso.server.runtimes.sandbox import sandbox
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from tests.runtimes.sandboxes import makes_views, told, workshop_in

CLONE = Path(__file__).resolve().parents[3]


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with work of a person's, deep in which lie programs that Sayso loads."""
    made = tmp_path / "projects"
    library = made / "code" / "library"
    library.mkdir(0o755, parents=True)
    (library / "helper.py").write_text("harmless")
    (made / "notes.txt").write_text("mine")
    made.chmod(0o777)
    monkeypatch.syspath_prepend(library)
    return made


ATTACK = """
import os, pathlib, shutil, subprocess
library = pathlib.Path({library!r})
def attempt(action):
    try:
        action()
    except OSError:
        return
    print('done')
def renamed_above():
    library.parent.rename(library.parent.with_name('old'))
    library.mkdir(parents=True)
    (library / 'helper.py').write_text('evil')
attempt(lambda: (library / 'helper.py').write_text('evil'))
attempt(lambda: (library / 'sitecustomize.py').write_text('evil'))
attempt(lambda: (library / 'helper.py').unlink())
attempt(lambda: (library / 'helper.py').rename(library / 'other.py'))
attempt(lambda: (library / 'helper.py').chmod(0o777))
attempt(lambda: library.rename(library.with_name('old')))
attempt(renamed_above)
attempt(lambda: os.link(library / 'helper.py', library.parent / 'second'))
attempt(lambda: (library.parent / 'second').write_text('evil'))
"""


async def test_programs_in_a_granted_folder_stay_as_they_are(
    code_runner: CodeRunner, sandbox: Sandbox, projects: Path
) -> None:
    await code_runner.set_reach(Grants((folder(projects, "write"),)))
    library = projects / "code" / "library"
    said = await told(code_runner, ATTACK.format(library=str(library)))
    if sandbox.kind == "landlock" and not makes_views():
        assert "cannot be kept closed here" in said.ending.detail
        assert (library / "helper.py").read_text() == "harmless"
        return
    assert said.ending.status == "ok"
    (projects / "code" / "second").unlink(missing_ok=True)
    assert (library / "helper.py").read_text() == "harmless"
    assert [one.name for one in library.iterdir()] == ["helper.py"]
    beside = f"""
import pathlib
pathlib.Path({str(projects)!r}, 'notes.txt').write_text('changed')
pathlib.Path({str(projects)!r}, 'code', 'made.txt').write_text('new')
print(pathlib.Path({str(library)!r}, 'helper.py').read_text())
"""
    assert (await told(code_runner, beside)).stdout == "harmless\n"
    assert (projects / "notes.txt").read_text() == "changed"
    assert (projects / "code" / "made.txt").read_text() == "new"


@pytest.mark.parametrize(
    "place",
    [
        CLONE,
        CLONE / "server" / "reflexes",
        CLONE / "server" / "runtimes" / "sandbox" / "launcher.py",
        CLONE / "docs",
        Path(sys.prefix),
        base_prefix() / "lib",
        Path("/etc"),
        Path("/usr/bin"),
    ],
    ids=str,
)
def test_what_sayso_runs_is_granted_for_reading_alone(place: Path) -> None:
    with pytest.raises(GrantError, match=r"programs that Sayso runs.*\.$"):
        folder(place, "write")
    home = Home.find()
    if not is_within(home.state, place):
        assert folder(place, "read").path == place.resolve()


def test_what_interpreters_share_with_the_server_is_not_granted() -> None:
    """Their private folders hold the keys and sockets by which code is run in them."""
    scratch = Path(tempfile.gettempdir())
    private = PrivateFolder()
    try:
        for place in (scratch, private.path):
            for access in ("read", "write"):
                with pytest.raises(GrantError, match=r"interpreters|secrets"):
                    folder(place, access)
    finally:
        private.remove()


async def test_a_workspace_around_them_is_none(
    any_sandbox: Sandbox, environment: KernelEnvironment
) -> None:
    code_runner = workshop_in(Path(tempfile.gettempdir()), environment, any_sandbox)
    assert "secrets" in code_runner.refusal


def test_what_python_and_the_shell_look_through_is_among_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = {name: tmp_path / name for name in ("PATH", "PYTHONPATH", "UV_CACHE_DIR", "settings")}
    for name, place in named.items():
        place.mkdir()
        if name.isupper():
            before = os.environ.get(name, "")
            monkeypatch.setenv(name, f"{place}{os.pathsep}{before}" if before else str(place))
    monkeypatch.setattr(own_places, "_ALSO", {})
    own_places.name_also([named["settings"]])
    for place in named.values():
        with pytest.raises(GrantError, match="programs that Sayso runs"):
            folder(place, "write")
    held = {each.path for each in held_in([tmp_path]) if each.closed}
    assert set(named.values()) <= held


def test_what_is_not_there_yet_and_would_be_loaded_can_not_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path / "missing" / "library")
    with pytest.raises(GrantError, match=r"missing.*code could put there"):
        folder(tmp_path, "write")
    assert folder(tmp_path, "read").path == tmp_path


def test_a_link_that_leads_to_programs_is_not_granted_for_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "granted").mkdir()
    (tmp_path / "granted" / "link").symlink_to(tmp_path / "real")
    monkeypatch.syspath_prepend(tmp_path / "granted" / "link")
    with pytest.raises(GrantError, match=r"granted/link.*code could put there"):
        folder(tmp_path / "granted", "write")
    with pytest.raises(GrantError, match="programs that Sayso runs"):
        folder(tmp_path / "real", "write")


@pytest.mark.skipif(
    os.geteuid() != 0 or sys.platform != "linux", reason="mounts are root's to make"
)
def test_by_another_name_they_are_known_too(tmp_path: Path) -> None:
    """Through bind mounts: of a folder of programs, of one in such a folder, and of one around."""
    script = """
import os, sys
from pathlib import Path
from sayso.server.runtimes.protection.own_places import held_in, why_never
clone, place = Path(sys.argv[1]), Path(sys.argv[2])
print(bool(why_never(place / 'itself', 'write')), bool(why_never(place / 'within', 'write')))
print([str(each.path) for each in held_in([place / 'around']) if each.closed])
print(bool(why_never(place / 'secrets', 'read')))
"""
    state = Home.find().state
    (state / "inner").mkdir(parents=True)
    mounts = {
        "itself": Path(sys.prefix),
        "within": Path(own_places.__file__).parent,
        "around": CLONE.parent,
        "secrets": state / "inner",
    }
    for name in mounts:
        (tmp_path / name).mkdir()
    binds = " && ".join(f"mount --bind {what} {tmp_path / name}" for name, what in mounts.items())
    run = f"{binds} && exec {sys.executable} - {CLONE} {tmp_path}"
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", run],
        input=script,
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare" in done.stderr:
        pytest.skip("this machine allows no mounts")
    first, second, third = done.stdout.splitlines() or pytest.fail(done.stderr)
    assert (first, third) == ("True True", "True")
    assert str(tmp_path / "around" / CLONE.name) in second


def not_found(folders: Iterable[Path]) -> list[Held]:
    """What is to be held, as if it had been moved since it was found."""
    return [replace(each, inode=each.inode + 1) for each in held_in(folders)]


async def test_where_programs_can_not_be_held_no_code_runs_and_says_so(
    code_runner: CodeRunner, projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = projects / "code" / "library"
    await code_runner.set_reach(Grants((folder(projects, "write"),)))
    monkeypatch.setattr(sandbox, "held_in", not_found)
    said = await told(code_runner, f"open({str(library / 'helper.py')!r}, 'w').write('evil')")
    assert said.ending.status == "error"
    assert (library / "helper.py").read_text() == "harmless"
