"""The locks fix what pyproject.toml asks for, by hash, and name no place to get it from."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.repository.tree import LOCKS, ROOT, files

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]

NEVER = {
    "llm", "llama-cpp-python", "docopt", "evdev", "omegaconf", "opencv-python-headless",
    "opuslib", "pyclipper", "shapely",
}  # fmt: skip
"""Named by packages that we use, not used by us, and without ready-made builds."""


def locked(lock: Path) -> dict[str, set[str]]:
    """The versions of each package."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", lock.read_text(), re.MULTILINE):
        found.setdefault(canonicalize_name(name), set()).add(version)
    return found


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_names_no_address_and_a_hash_for_every_package(lock: Path) -> None:
    text = lock.read_text()
    assert "://" not in text
    assert not re.search(r"^\s*-(?!-hash)|^\s*--(?!hash)", text, re.MULTILINE), "an option"
    entries = re.split(r"\n(?=\S)", text.strip())
    assert entries
    for entry in entries:
        assert re.match(r"[\w.-]+==\S+", entry), entry
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry), entry.splitlines()[0]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("client", PROJECT["dependencies"]),
        ("pi", PROJECT["dependencies"] + EXTRAS["hands-free"]),
        ("server", PROJECT["dependencies"] + EXTRAS["server"] + EXTRAS["pocket"]),
    ],
)
def test_a_lock_has_what_the_project_asks_for(name: str, wanted: list[str]) -> None:
    versions = locked(ROOT / f"scripts/locks/{name}.lock")
    for line in wanted:
        requirement = Requirement(line)
        there = versions.get(canonicalize_name(requirement.name), set())
        assert any(requirement.specifier.contains(version) for version in there), (
            f"{line} is not in {name}.lock: run scripts/lock"
        )


def test_the_client_has_the_same_versions_as_the_server() -> None:
    names = ("client", "pi", "server")
    client, pi, server = (locked(ROOT / f"scripts/locks/{name}.lock") for name in names)
    assert client.items() <= server.items()
    assert client.items() <= pi.items()


def test_nothing_is_locked_that_would_be_compiled_and_not_used() -> None:
    assert NEVER.isdisjoint(locked(ROOT / "scripts/locks/server.lock"))


def test_the_client_locks_no_package_of_the_server() -> None:
    of_the_server = {canonicalize_name(Requirement(line).name) for line in EXTRAS["server"]}
    of_the_server -= {canonicalize_name(Requirement(line).name) for line in EXTRAS["hands-free"]}
    for name in ("client", "pi"):
        assert of_the_server.isdisjoint(locked(ROOT / f"scripts/locks/{name}.lock"))


def test_no_file_names_a_registry() -> None:
    """Any index serves; which one is this machine's own matter."""
    registries = [".".join(parts) for parts in (("pypi", "org"), ("registry", "npmjs"))]
    registries.append("python" + "hosted")
    named = [
        str(path)
        for path in files()
        if any(host in path.read_bytes().decode(errors="replace").lower() for host in registries)
    ]
    assert not named
