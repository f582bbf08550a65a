"""Ways in which code could have git run what it wrote, the next time that a person uses git there.

Each takes a folder and the file whose being there shows that it ran; it returns where to use git.
"""

import contextlib
import os
import subprocess
from pathlib import Path

from sayso.server.runtimes.protection import writable_folders
from tests.git import git

EVIL = "#!/bin/sh\ntouch '{mark}'\n"


def program(path: Path, mark: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(EVIL.format(mark=mark))
    path.chmod(0o755)
    return path


def armed(repository: Path, mark: Path) -> None:
    evil = program(repository / "evil", mark)
    program(repository / ".git" / "hooks" / "pre-commit", mark)
    with contextlib.suppress(FileExistsError):
        (repository / ".git" / "hooks" / "post-checkout").symlink_to("../../evil")
    git("config", "core.fsmonitor", str(evil), folder=repository)
    git("config", "user.name", "kept", folder=repository)


def made(repository: Path) -> Path:
    repository.mkdir(parents=True, exist_ok=True)
    git("init", "-q", folder=repository)
    return repository


def other_folder_of_hooks(folder: Path, mark: Path) -> Path:
    program(folder / "scripts" / "pre-commit", mark)
    git("config", "core.hooksPath", "scripts", folder=folder)
    return folder


def hooks_in_one_line(folder: Path, mark: Path) -> Path:
    program(folder / "scripts" / "pre-commit", mark)
    (folder / ".git" / "config").write_text("[core] hooksPath = scripts\n")
    return folder


def more_settings(folder: Path, mark: Path) -> Path:
    (folder / "more").write_text(f"[core]\n\tfsmonitor = touch '{mark}'\n")
    git("config", "include.path", "../more", folder=folder)
    return folder


def settings_behind_padding(folder: Path, mark: Path) -> Path:
    text = "[user]\n\tname = a\n" * 5_000 + f"[core]\n\tfsmonitor = touch '{mark}'\n"
    (folder / ".git" / "config").write_text(text)
    return folder


def a_zero_byte(folder: Path, mark: Path) -> Path:
    text = f"[core \"fsmonitor\0\"]\n\tx = y\n[core]\n\tfsmonitor = touch '{mark}'\n"
    (folder / ".git" / "config").write_text(text)
    return folder


def settings_of_one_working_folder(folder: Path, mark: Path) -> Path:
    git("config", "extensions.worktreeConfig", "true", folder=folder)
    text = f"[core]\n\tfsmonitor = touch '{mark}'\n"
    (folder / ".git" / "config.worktree").write_text(text)
    return folder


def a_hook_of_housekeeping(folder: Path, mark: Path) -> Path:
    git("config", "gc.recentObjectsHook", f"touch '{mark}'; true", folder=folder)
    return folder


def settings_are_a_link(folder: Path, mark: Path) -> Path:
    more_settings(folder, mark)
    (folder / ".git" / "config").unlink()
    (folder / ".git" / "config").symlink_to("../more")
    return folder


def settings_are_a_pipe(folder: Path, mark: Path) -> Path:
    (folder / ".git" / "config").unlink()
    os.mkfifo(folder / ".git" / "config")
    program(folder / ".git" / "hooks" / "pre-commit", mark)
    return folder


def nothing_may_be_read(folder: Path, mark: Path) -> Path:
    armed(folder, mark)
    (folder / ".git" / "config").chmod(0)
    (folder / ".git" / "hooks").chmod(0o100)
    (folder / ".git").chmod(0o300)
    return folder


def the_way_out_is_blocked(folder: Path, mark: Path) -> Path:
    armed(folder, mark)
    (folder / ".git" / "config.disarmed" / "x").mkdir(parents=True)
    (folder / ".git" / "hooks" / "pre-commit.disarmed" / "x").mkdir(parents=True)
    (folder / ".git" / "hooks").chmod(0o555)
    return folder


def hooks_are_a_link(folder: Path, mark: Path) -> Path:
    program(folder / "scripts" / "pre-commit", mark)
    (folder / ".git" / "hooks").rename(folder / "old hooks")
    (folder / ".git" / "hooks").symlink_to("../scripts")
    return folder


def swapped(folder: Path, mark: Path) -> Path:
    (folder / ".git").rename(folder / "old")
    armed(made(folder), mark)
    return folder


def elsewhere(folder: Path, mark: Path) -> Path:
    armed(made(folder / "x"), mark)
    (folder / "x" / ".git").rename(folder / "x" / "hidden")
    (folder / "x" / ".git").write_text("gitdir: hidden\n")
    return folder / "x"


def outside(folder: Path, mark: Path) -> Path:
    (folder / "x").mkdir()
    armed(made(folder.parent / "private"), mark)
    (folder / "x" / ".git").write_text(f"gitdir: {folder.parent}/private/.git\n")
    return folder / "x"


def through_a_link(folder: Path, mark: Path) -> Path:
    (folder / "x").mkdir()
    armed(made(folder.parent / "private"), mark)
    (folder / "link").symlink_to(folder.parent / "private")
    (folder / "x" / ".git").symlink_to("../link/.git")
    return folder / "x"


def shared(folder: Path, mark: Path) -> Path:
    armed(made(folder / "y"), mark)
    common = folder / "y" / ".git"
    (folder / "z" / ".git").mkdir(parents=True)
    for name in ("HEAD", "index"):
        if (common / name).exists():
            (folder / "z" / ".git" / name).write_bytes((common / name).read_bytes())
    (folder / "z" / ".git" / "commondir").write_text(str(common))
    (common / "HEAD").rename(common / "other")
    return folder / "z"


def shared_anew(folder: Path, mark: Path) -> Path:
    """The person's own repository shares what code made elsewhere."""
    armed(made(folder.parent / "private"), mark)
    (folder / ".git" / "commondir").write_text(f"{folder.parent}/private/.git\n")
    return folder


def shared_with_a_folder(folder: Path, mark: Path) -> Path:
    armed(folder, mark)
    (folder / ".git" / "commondir").mkdir()
    return folder


def shared_with_a_zero_byte(folder: Path, mark: Path) -> Path:
    armed(folder, mark)
    (folder / ".git" / "commondir").write_bytes(b"\0")
    return folder


def a_bare_one_of_plain_files(folder: Path, mark: Path) -> Path:
    bare = folder / "assets"
    for name in ("objects", "refs"):
        (bare / name).mkdir(parents=True)
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    evil = program(bare / "evil", mark)
    (bare / "config").write_text(f"[core]\n\tworktree = .\n\tfsmonitor = {evil}\n")
    program(bare / "hooks" / "pre-commit", mark)
    return bare


def objects_that_are_files(folder: Path, mark: Path) -> Path:
    bare = a_bare_one_of_plain_files(folder, mark)
    for name in ("objects", "refs"):
        (bare / name).rmdir()
        program(bare / name, mark)
    return bare


def more_hooks_than_are_counted(folder: Path, mark: Path) -> Path:
    first = made(folder / "a")
    for number in range(2_001):
        program(first / ".git" / "hooks" / f"hook{number}", mark)
    return a_new_one(folder, mark)


def more_repositories_than_are_counted(folder: Path, mark: Path) -> Path:
    for number in range(301):
        git_folder = folder / "decoys" / str(number) / ".git"
        (git_folder / "objects").mkdir(parents=True)
        (git_folder / "refs").mkdir()
        (git_folder / "HEAD").write_text("ref: refs/heads/main\n")
    return a_new_one(folder, mark)


def deeper_than_is_looked(folder: Path, mark: Path) -> Path:
    deep = folder
    for _ in range(writable_folders.DEPTH_MOST + 2):
        deep = deep / "d"
    armed(made(deep), mark)
    return deep


def longer_than_a_path_may_be(folder: Path, mark: Path) -> Path:
    there = os.open(folder, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 200, dir_fd=there)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=there)
        os.close(there)
        there = below
    os.mkdir(".git", dir_fd=there)
    os.close(there)
    return folder


def names_that_are_none(folder: Path, mark: Path) -> Path:
    new = folder / os.fsdecode(b"new\nline \xff\xfe")
    armed(made(new), mark)
    return new


def a_rebase_that_is_to_go_on(folder: Path, mark: Path) -> Path:
    (folder / "file").write_text("x")
    git("add", "file", folder=folder)
    git("commit", "-q", "-m", "first", folder=folder)
    git("commit", "-q", "--allow-empty", "-m", "second", folder=folder)
    with contextlib.suppress(subprocess.CalledProcessError):
        git("rebase", "-q", "--exec", "false", "HEAD~1", folder=folder)
    steps = folder / ".git" / "rebase-merge" / "git-rebase-todo"
    steps.write_text(f"exec touch '{mark}'\n")
    return folder


def a_new_one(folder: Path, mark: Path) -> Path:
    armed(made(folder / "zz"), mark)
    return folder / "zz"


WAYS = (
    other_folder_of_hooks, hooks_in_one_line, more_settings, settings_behind_padding, a_zero_byte,
    settings_of_one_working_folder, a_hook_of_housekeeping, settings_are_a_link,
    settings_are_a_pipe, nothing_may_be_read, the_way_out_is_blocked, hooks_are_a_link, swapped,
    elsewhere, outside, through_a_link, shared, shared_anew, shared_with_a_folder,
    shared_with_a_zero_byte, a_bare_one_of_plain_files, objects_that_are_files,
    more_hooks_than_are_counted, more_repositories_than_are_counted, deeper_than_is_looked,
    longer_than_a_path_may_be,
    names_that_are_none, a_rebase_that_is_to_go_on,
)  # fmt: skip
