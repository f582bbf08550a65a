"""The kernels' own Python is found fast, is never half made, and a failure tells its reason."""

import json
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path

import pytest

from sayso.protocol.home import Home
from sayso.server.runtimes.base_python import base_python
from sayso.server.runtimes.kernels.environment import (
    KernelEnvironment,
    KernelEnvironmentError,
    ensure,
)
from tests.kernels import lent_home

TRIES = 7
"""The best of several tells what it costs on a machine that has other things to do."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path, tmp_path, tmp_path)


@pytest.fixture(autouse=True)
def _no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without network: tests fetch nothing."""
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_NO_CACHE", "1")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    for name in ("PIP_FIND_LINKS", "UV_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # pip asks every compiler that it finds its version


def test_what_is_there_is_found_in_no_time(environment: KernelEnvironment) -> None:
    took = []
    for _ in range(TRIES):
        began = time.monotonic()
        assert ensure(lent_home()) == environment
        took.append(time.monotonic() - began)
    assert min(took) < 0.1


def test_it_is_not_the_servers_own(environment: KernelEnvironment) -> None:
    assert environment.folder != Path(sys.prefix)
    code = "import importlib.util as u; print([n for n in NAMES if u.find_spec(n)])"
    for names, found in (
        (["ipykernel", "numpy", "pandas", "matplotlib", "pip"], 5),
        (["sayso", "litellm", "faster_whisper", "websockets"], 0),
    ):
        command = [str(environment.python), "-I", "-c", code.replace("NAMES", repr(names))]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert len(json.loads(said.replace("'", '"'))) == found


@pytest.mark.slow
def test_without_an_index_it_says_so_and_leaves_nothing_half(home: Home) -> None:
    with pytest.raises(KernelEnvironmentError, match="cannot be downloaded"):
        ensure(home)
    assert list((home.data / "kernels").glob("python-*-*")) == []
    assert not (home.data / "kernels" / "python").exists()


@pytest.mark.slow
def test_a_build_that_broke_off_is_not_taken_and_is_swept_away(home: Home) -> None:
    half = home.data / "kernels" / "python-12345678-12345678"
    (half / "bin").mkdir(parents=True)
    (half / "bin" / "python").symlink_to(base_python())
    (home.data / "kernels" / "python").symlink_to(half.name)
    with pytest.raises(KernelEnvironmentError):
        ensure(home)
    assert not half.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "marker", ["", "{}", "[]", '{"base": 7}', '{"lock": "another", "base": "/usr"}']
)
def test_one_with_a_wrong_marker_is_not_taken(
    home: Home, environment: KernelEnvironment, marker: str
) -> None:
    made = home.data / "kernels" / "python-12345678-12345678"
    (made / "bin").mkdir(parents=True)
    (made / "bin" / "python").symlink_to(base_python())
    (made / "sayso-environment.json").write_text(marker)
    (home.data / "kernels" / "python").symlink_to(made.name)
    with pytest.raises(KernelEnvironmentError):
        ensure(home)


def test_something_else_in_its_place_is_named(home: Home) -> None:
    (home.data / "kernels" / "python").mkdir(parents=True)
    with pytest.raises(KernelEnvironmentError, match="in the way"):
        ensure(home)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    home = Home(tmp_path / "file", tmp_path / "file", tmp_path / "file")
    with pytest.raises(KernelEnvironmentError, match="SAYSO_HOME"):
        ensure(home)


def test_the_lock_names_hashes_and_no_address() -> None:
    lock = resources.files("sayso.server.runtimes.kernels").joinpath("kernel.lock").read_text()
    assert "://" not in lock
    assert "--index-url" not in lock
    for block in lock.replace("\\\n", " ").splitlines():
        if block.strip() and not block.startswith("#"):
            assert "==" in block
            assert "--hash=sha256:" in block


def test_progress_is_told(home: Home) -> None:
    told: list[str] = []
    with pytest.raises(KernelEnvironmentError):
        ensure(home, told.append)
    assert "once" in told[0]
