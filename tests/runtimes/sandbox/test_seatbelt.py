"""The profile for macOS, as text. It is proven where it runs: there the self-test does that."""

from pathlib import Path

from sayso.server.runtimes.sandbox.sandbox import Confines
from sayso.server.runtimes.sandbox.seatbelt import profile

PRIVATE = Path("/private/var/folders/x/sayso-code-1")
PYTHON = Path("/opt/python/bin/python3")


def rules(workspace: str = "/Users/alice/work") -> list[str]:
    confines = Confines(
        Path(workspace), writable=(Path(workspace),), readable=(Path("/Users/alice/kernels"),)
    )
    return profile(confines, PRIVATE, PYTHON).splitlines()


def test_what_is_not_allowed_is_denied() -> None:
    assert rules()[:2] == ["(version 1)", "(deny default)"]
    assert all(rule.startswith("(allow ") for rule in rules()[2:-1])


def test_the_workspace_can_be_written_and_the_rest_of_a_home_not_even_listed() -> None:
    about_home = [rule for rule in rules() if '"/Users/alice"' in rule]
    assert [rule.split()[1] for rule in about_home] == ["file-read-metadata"]
    (writing,) = [rule for rule in rules() if rule.startswith("(allow file-read* file-write* ")]
    assert writing.count("subpath") == 2
    assert '(subpath "/Users/alice/work")' in writing
    assert f'(subpath "{PRIVATE}")' in writing


def test_the_only_network_are_the_kernels_own_sockets() -> None:
    assert [rule for rule in rules() if "network" in rule] == [
        f'(allow network-bind network-inbound (subpath "{PRIVATE}"))'
    ]


def test_no_file_is_made_set_user_id_whatever_else_is_allowed() -> None:
    assert rules()[-1] == "(deny file-write-setugid)"  # the last one that matches counts


def test_a_name_cannot_add_a_rule() -> None:
    wild = '/Users/alice/") (allow default) ("\\'
    (writing,) = [rule for rule in rules(wild) if rule.startswith("(allow file-read* file-write* ")]
    assert '(subpath "/Users/alice/\\") (allow default) (\\"\\\\")' in writing


def test_what_git_would_run_cannot_be_written_in_a_writable_folder(tmp_path: Path) -> None:
    git = tmp_path / ".git"
    (git / "hooks").mkdir(parents=True)
    (git / "config").write_text("")
    found = rules(str(tmp_path))
    writing = next(place for place, rule in enumerate(found) if f'"{tmp_path}"' in rule)
    (denied,) = [rule for rule in found if rule.startswith("(deny file-write* ")]
    assert denied.split(" ", 2)[2] == f'(subpath "{git}/config") (subpath "{git}/hooks"))'
    assert found.index(denied) > writing  # the last one that matches counts
    (moved,) = [rule for rule in found if rule.startswith("(deny file-write-unlink ")]
    assert f'(literal "{git}")' in moved
