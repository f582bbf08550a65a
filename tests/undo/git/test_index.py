"""Git's index is read as git wrote it, and what is none is none."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.server.undo.git.index import blob_name, read_index
from tests.git import git

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git("init", "-q", folder=tmp_path)
    (tmp_path / "folder").mkdir()
    for name in ("a", "folder/ab", "folder/abc", "ü name", "x" * 200):
        (tmp_path / name).write_text(f"content of {name}")
    git("add", ".", folder=tmp_path)
    return tmp_path


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_an_index_holds_every_file_with_its_content(repository: Path, version: str) -> None:
    git("update-index", "--index-version", version, folder=repository)
    git("add", "--intent-to-add", ".", folder=repository)
    index = read_index((repository / ".git/index").read_bytes())
    assert index is not None
    told = git("ls-files", "-s", "-z", folder=repository).split("\0")
    wanted = {line.split("\t")[1]: line.split()[1] for line in told if line}
    assert {path: tracked.content.hex() for path, tracked in index.items()} == wanted
    assert index["a"].content == blob_name(b"content of a")


def test_a_part_of_an_index_is_none(repository: Path) -> None:
    git("update-index", "--split-index", folder=repository)
    assert read_index((repository / ".git/index").read_bytes()) is None


def test_an_index_with_longer_hashes_is_none(tmp_path: Path) -> None:
    git("init", "-q", "--object-format=sha256", folder=tmp_path)
    (tmp_path / "a").write_text("a")
    git("add", ".", folder=tmp_path)
    assert read_index((tmp_path / ".git/index").read_bytes()) is None


@settings(max_examples=300)
@given(data=st.binary(max_size=300), place=st.integers(0, 400))
def test_any_bytes_are_read_or_refused(data: bytes, place: int) -> None:
    read_index(data)
    head = b"DIRC\0\0\0\4\0\0\0\2" + data + bytes(20)
    read_index(head[:place] + b"\xff" + head[place:])
