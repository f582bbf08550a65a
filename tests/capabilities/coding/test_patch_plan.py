"""What a patch would make of files: as it was meant, or nothing, with the nearest lines shown."""

import codecs
import os
from collections import Counter
from pathlib import Path

import pytest

from sayso.server.capabilities.coding.inside.folders import Folders
from sayso.server.capabilities.coding.inside.patch_plan import Plan, plan
from sayso.server.capabilities.coding.inside.patch_write import WriteError, write
from tests.capabilities.coding.repairs import Patch, as_blocks, as_unified, as_v4a, cases

V4A = "*** Begin Patch\n*** Update File: {path}\n{body}*** End Patch\n"


def update(body: str, path: str = "file") -> str:
    return V4A.format(path=path, body=body)


def done(folder: Path, patch: str, seen: dict[str, str] | None = None) -> Plan:
    """What came of a patch, which is applied if it fits."""
    folders = Folders([str(folder)])
    try:
        made = plan(patch, folders, seen or {})
        if made.fits:
            write(made.changes, folders)
        return made
    finally:
        folders.close()


def tree(folder: Path) -> dict[str, tuple[int, bytes]]:
    """All that is in a folder."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_mode, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.slow
def test_none_of_several_hundred_edits_that_are_a_little_wrong_is_misapplied(
    tmp_path: Path,
) -> None:
    tried, misapplied, blanks = Counter[str](), list[str](), Counter[bool]()
    file = tmp_path / "file"
    for case in cases():
        file.write_bytes(case.before)
        made = done(tmp_path, case.patch)
        now = file.read_bytes()
        tried["applied" if made.fits else "refused"] += 1
        if now != (case.after if made.fits else case.before):
            misapplied.append(case.name)
        if case.whitespace:
            blanks[made.fits] += 1
        if case.outcome != "either":
            assert made.fits == (case.outcome == "applied"), (case.name, made.problems)
        assert list(tmp_path.iterdir()) == [file]
    assert misapplied == []
    assert tried.total() >= 200
    assert tried["refused"] >= 50
    assert blanks[True] / blanks.total() >= 0.95


@pytest.mark.parametrize("form", [as_v4a, as_blocks, as_unified])
def test_lines_that_stand_twice_are_refused_with_their_places(tmp_path: Path, form: Patch) -> None:
    text = "def a():\n    x = 1\n    y = 1\n\n\ndef b():\n    x = 1\n    y = 1\n"
    (tmp_path / "file").write_text(text)
    made = done(tmp_path, form("file", "    x = 1\n    y = 1\n", "    x = 2\n"))
    assert "It stands at 2 places" in made.problems[0]
    assert "2|    x = 1\n7|    x = 1" in made.problems[0]
    assert (tmp_path / "file").read_text() == text


def test_the_line_of_a_function_or_class_tells_which_of_two_is_meant(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text(
        "class A:\n    def run(self):\n        x = 1\n\n\n"
        "class B:\n    def run(self):\n        x = 1\n"
    )
    made = done(
        tmp_path, update("@@ class B:\n@@     def run(self):\n-        x = 1\n+        x = 2\n")
    )
    assert made.fits, made.problems
    assert file.read_text().endswith("        x = 2\n")
    assert file.read_text().count("x = 1") == 1


def test_a_function_that_is_there_twice_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("class A:\n  def run():\n    x\nclass B:\n  def run():\n    x\n")
    assert not done(tmp_path, update("@@ def run():\n-    x\n+    y\n")).fits


def test_what_does_not_fit_shows_the_nearest_lines_with_blanks_visible(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("one\n\tdef f(a): \n\t\treturn a\nlast\n")
    made = done(tmp_path, update("-def f(b):\n-    return a\n+    return b\n"))
    assert made.failed == ["file"]
    assert "2|→def f(a):·\n3|→→return a" in made.problems[0]
    assert "The first that differs is, in the patch:\ndef f(b):" in made.problems[0]


def test_what_is_there_already_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("one\ntwo and a half\nthree\n")
    made = done(tmp_path, update(" one\n-two\n+two and a half\n three\n"))
    assert "It is there already." in made.problems[0]


def test_of_several_files_all_change_or_none(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_text("old\n")
    before = tree(tmp_path)
    parts = "".join(f"*** Update File: {name}\n-old\n+new\n" for name in "ab")
    wrong = done(tmp_path, f"*** Begin Patch\n{parts}*** Update File: c\n-other\n+new\n")
    assert wrong.failed == ["c"]
    assert tree(tmp_path) == before
    assert done(tmp_path, f"*** Begin Patch\n{parts}*** Update File: c\n-old\n+new\n").fits
    assert {content for _, content in tree(tmp_path).values()} == {b"new\n"}


def test_a_change_that_cannot_be_written_takes_back_the_others(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text("old\n")
    folders = Folders([str(tmp_path)])
    patch = (
        "*** Begin Patch\n*** Update File: a\n-old\n+new\n*** Add File: new/deep/file\n+x\n"
        "*** Delete File: b\n*** End Patch"
    )
    made = plan(patch, folders, {})
    (tmp_path / "b").write_text("changed meanwhile\n")
    before = tree(tmp_path)
    with pytest.raises(WriteError, match=r"b changed in the meantime\. Nothing was changed"):
        write(made.changes, folders)
    assert tree(tmp_path) == before
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\r\nb\r\nc\r\n", b"a\r\nx\r\ny\r\nc\r\n"),
        (codecs.BOM_UTF8 + b"a\nb\nc\n", codecs.BOM_UTF8 + b"a\nx\ny\nc\n"),
        (b"a\nb\nc", b"a\nx\ny\nc"),
        (b"a\nb", b"a\nx\ny"),
        ("ä\nb\nc\n".encode("latin-1"), "ä\nx\ny\nc\n".encode("latin-1")),
        (b"a\rz\nb\nc\n", b"a\rz\nx\ny\nc\n"),
        (b"a\r\nb\nc\r\n", b"a\r\nx\r\ny\r\nc\r\n"),
    ],
)
def test_the_ends_of_lines_the_mark_and_the_last_newline_stay(
    tmp_path: Path, before: bytes, after: bytes
) -> None:
    file = tmp_path / "file"
    file.write_bytes(before)
    file.chmod(0o751)
    assert done(tmp_path, update("-b\n+x\n+y\n")).fits
    assert file.read_bytes() == after
    assert file.stat().st_mode & 0o777 == 0o751


@pytest.mark.parametrize(
    "line",
    [
        "# ... rest of the code ...",
        "    // ... existing code ...",
        "...rest of file",
        "/* ... unchanged ... */",
        "<!-- ... other items -->",
        "# the remaining methods stay unchanged",
        "    # rest of the function",
        "\u2026 existing code",
    ],
)
def test_a_line_that_stands_for_others_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "file").write_text("a\nb\n")
    made = done(tmp_path, update(f"-b\n+c\n+{line}\n"))
    assert "stands for lines that are not written out" in made.problems[0]
    assert not done(tmp_path, f"*** Begin Patch\n*** Add File: file\n+a\n+{line}\n").fits
    assert (tmp_path / "file").read_text() == "a\nb\n"


@pytest.mark.parametrize(
    "line",
    ["    ...", "raise NotImplementedError  # ...", "# the rest is silence", 'print("... more")'],
)
def test_an_ellipsis_that_is_code_is_none(tmp_path: Path, line: str) -> None:
    (tmp_path / "file").write_text("a\nb\n")
    assert done(tmp_path, update(f"-b\n+{line}\n")).fits


def test_a_file_that_changed_since_it_was_seen_is_shown_as_it_is_and_left(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("a\nb\n")
    seen = done(tmp_path, update("-b\n+c\n")).seen
    file.write_text("z\nc\n")
    made = done(tmp_path, update("-c\n+d\n"), seen)
    assert "has changed since you read it" in made.problems[0]
    assert "1|z\n2|c" in made.problems[0]
    assert file.read_text() == "z\nc\n"
    assert done(tmp_path, update("-c\n+d\n"), made.seen).fits


def test_files_come_go_and_move(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("a\nb\n")
    (tmp_path / "old.txt").chmod(0o755)
    (tmp_path / "gone").write_text("x\n")
    made = done(
        tmp_path,
        "*** Begin Patch\n*** Add File: in/a/new.txt\n+one\n+\n+two\n*** Delete File: gone\n"
        "*** Update File: old.txt\n*** Move to: moved.txt\n-b\n+c\n*** End Patch\n",
    )
    assert made.fits, made.problems
    assert tree(tmp_path) == {
        "in/a/new.txt": (0o100644, b"one\n\ntwo\n"),
        "moved.txt": (0o100755, b"a\nc\n"),
    }
    assert "--- a/gone\n+++ /dev/null" in made.diff
    assert "--- a/old.txt\n+++ b/moved.txt" in made.diff


@pytest.mark.parametrize(
    "body",
    ["+def f():\n+    pass\n", "def f():\n    pass\n", "```python\ndef f():\n    pass\n```\n"],
)
def test_a_whole_file_is_written_with_or_without_signs(tmp_path: Path, body: str) -> None:
    (tmp_path / "f.py").write_text("old\n")
    assert done(tmp_path, f"*** Begin Patch\n*** Add File: f.py\n{body}*** End Patch").fits
    assert (tmp_path / "f.py").read_text() == "def f():\n    pass\n"


def test_an_empty_search_makes_a_file_and_replaces_none(tmp_path: Path) -> None:
    assert done(tmp_path, as_blocks("new", "", "a\n")).fits
    assert (tmp_path / "new").read_text() == "a\n"
    assert "SEARCH must hold" in done(tmp_path, as_blocks("new", "", "b\n")).problems[0]


def test_only_new_errors_of_syntax_are_told(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text("def f(a):\n    return a\n")
    (tmp_path / "bad.py").write_text("def f(a:\n    return a\n")
    (tmp_path / "data.json").write_text('{"a": 1}\n')
    told = done(tmp_path, update("-    return a\n+    return (a\n", "good.py")).notes
    assert told == ["good.py, line 2: this is no Python any more: '(' was never closed."]
    assert done(tmp_path, update("-    return a\n+    return b\n", "bad.py")).notes == []
    told = done(tmp_path, update('-{"a": 1}\n+{"a": 1,}\n', "data.json")).notes
    assert "data.json, line 1: this is no JSON any more" in told[0]


def test_a_printed_difference_can_be_applied_where_it_says(tmp_path: Path) -> None:
    """A person who is shown one and changes it sends it back in that form."""
    file = tmp_path / "file"
    lines = [f"line {number % 4}" for number in range(40)]
    file.write_text("\n".join(lines) + "\n")
    changed = [*lines]
    changed[17] = "another"
    patch = "--- a/file\n+++ b/file\n@@ -17,3 +17,3 @@\n line 0\n-line 1\n+another\n line 2\n"
    made = done(tmp_path, patch)
    assert made.fits, made.problems
    assert file.read_text().splitlines() == changed
    assert not done(tmp_path, patch.replace("17", "9")).fits or file.read_text() != "\n".join(lines)


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ("hello", "No file is named"),
        ("*** Begin Patch\n*** Update File: a\n*** End Patch", "Nothing is said to change"),
        (update(" a\n b\n"), "changes nothing"),
        (update("-a\nb\n"), "begins with none of space"),
        (update("+a\n"), "not where"),
        ("a\n<<<<<<< SEARCH\nx\n=======\ny\n", "lacks its line >>>>>>> REPLACE"),
        ("<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE", "must stand on the line before"),
        ("a\n<<<<<<< SEARCH\nx\n=======\ny\n=======\nz\n>>>>>>> REPLACE", "two lines ======="),
        ("*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: a\n", "in it twice"),
        (update("-x\n+y\n", "missing"), "missing is not there"),
        (update("-x\n+y\n", "../outside"), "in no folder that code may see"),
        (update("-x\n+y\n", "/etc/passwd"), "in no folder that code may see"),
        ("*** Begin Patch\n*** Add File: file/inside\n+x\n", "can't be written|not there|no"),
    ],
)
def test_what_cannot_be_read_or_placed_says_what_to_do(
    tmp_path: Path, patch: str, why: str
) -> None:
    (tmp_path / "file").write_text("a\nb\n")
    before = tree(tmp_path)
    try:
        made = done(tmp_path, patch)
    except WriteError as problem:
        told = str(problem)
    else:
        told = " ".join(made.problems)
    assert any(part in told for part in why.split("|")), told
    assert tree(tmp_path) == before


def test_links_are_followed_within_and_never_out(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("a\n")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "real").write_text("a\n")
    (inside / "alias").symlink_to("real")
    (inside / "out").symlink_to(outside / "secret")
    (inside / "outer").symlink_to(outside)
    (inside / "round").symlink_to("round")
    assert done(inside, update("-a\n+b\n", "alias")).fits
    assert (inside / "alias").is_symlink()
    assert (inside / "real").read_text() == "b\n"
    for name in ("out", "outer/secret"):
        made = done(inside, update("-a\n+b\n", name))
        assert "leads out of the folders in reach" in made.problems[0]
    assert "leads in circles" in done(inside, update("-a\n+b\n", "round")).problems[0]
    assert not done(inside, "*** Begin Patch\n*** Add File: outer/new\n+x\n").fits
    assert tree(outside) == {"secret": (0o100644, b"a\n")}


def test_what_is_no_plain_text_file_is_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "picture").write_bytes(b"\x89PNG\0\0")
    (tmp_path / "wide").write_bytes("a\n".encode("utf-16"))
    (tmp_path / "old").write_bytes("ä\n".encode("latin-1"))
    for name, why in {
        "pipe": "is no plain file",
        "folder": "is a folder",
        "picture": "is not text",
        "wide": "is written in UTF-16",
    }.items():
        made = done(tmp_path, update("-a\n+b\n", name))
        assert why in made.problems[0], name
    made = done(tmp_path, update("-ä\n+\u20ac\n", "old"))
    assert "is written in latin-1, which has no" in made.problems[0]
