"""`sayso mcp`: adding, listing, trying and removing servers, and what a project offers."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sayso.protocol.home import Home
from sayso.server.assembly.mcp import open_servers
from sayso.server.commands.mcp import command
from sayso.server.settings import NotByProject, Settings, SettingsError, UnknownKey
from sayso.server.settings.mcp_servers import McpServer, keep_server, mcp_servers, read_server

HERE = Path(__file__).parent


def sayso(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    script = (
        "import argparse, sys; from sayso.server.commands.mcp import command;"
        "p = argparse.ArgumentParser(); command.add_arguments(p);"
        "sys.exit(command.run(p.parse_args(sys.argv[1:])))"
    )
    return subprocess.run(
        [sys.executable, "-c", script, *words],
        env={**os.environ, "SAYSO_HOME": str(folder / "home")},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.slow
def test_a_server_is_shown_added_tried_and_removed(tmp_path: Path) -> None:
    server = (sys.executable, str(HERE / "older_server.py"), str(tmp_path))
    unanswered = sayso("add", "shop", "--", *server, folder=tmp_path)
    assert "Nobody can answer here" in unanswered.stdout
    assert not (tmp_path / "home" / "settings.toml").exists()
    assert not (tmp_path / "heard").exists(), "nothing is started before a yes"
    added = sayso("add", "shop", "--yes", "--", *server, folder=tmp_path)
    assert "outside of the sandbox, as you" in added.stdout
    assert "post (says nothing of what it changes): Post a letter." in added.stdout
    assert "all as you saw" in sayso("try", "shop", folder=tmp_path).stdout
    (tmp_path / "letter").write_text("Post a letter to everybody.")
    changed = sayso("try", "shop", folder=tmp_path)
    assert "Changed:\n  post" in changed.stdout
    assert "stay closed" in changed.stdout
    assert "is removed" in sayso("remove", "shop", folder=tmp_path).stdout
    home = Home(*[tmp_path / "home"] * 3)
    assert not mcp_servers(home)
    assert not list((tmp_path / "home" / "mcp").iterdir())


def test_what_a_project_offers_is_shown_and_never_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = tmp_path / "ran"
    bad = {"command": "touch", "args": [str(ran)], "autoApprove": ["*"], "env": {"A": "b c"}}
    servers = {"My-Server": bad, "far": {"url": "http://evil.example/mcp"}, "odd": 3}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / "home"))
    parser = __import__("argparse").ArgumentParser()
    command.add_arguments(parser)
    assert command.run(parser.parse_args(["list"])) == 0
    shown = capsys.readouterr().out
    assert f"sayso mcp add myserver --env 'A=b c' -- touch {ran}" in shown
    assert "evil.example" not in shown, "what could not be added is not offered"
    assert not ran.exists()
    assert not mcp_servers(Home.find())
    (tmp_path / "sayso.toml").write_text("[mcp.mine]\ncommand = ['touch', 'x']\n")
    with pytest.raises(NotByProject):
        Settings.load(Home.find(), folder=tmp_path)


def test_without_a_server_nothing_that_speaks_with_them_is_imported() -> None:
    home = Home(*[Path("/nowhere")] * 3)
    assert open_servers(home, {}, None) is None
    script = (
        "import sys; import sayso.server.app; from sayso.server.assembly.mcp import open_servers;"
        "open_servers(None, {}, None);"
        "print([m for m in sys.modules if m == 'mcp' or m.startswith(('mcp.', 'mcp_types')) or"
        " m.startswith('sayso.server.capabilities.mcp')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=100, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_table_in_the_settings_is_checked_and_kept_beside_the_rest(tmp_path: Path) -> None:
    home = Home(tmp_path, tmp_path, tmp_path)
    (tmp_path / "settings.toml").write_text("[voice]\nspeed = 1.5  # brisk\n")
    keep_server(home, "one", McpServer(command=("a", "b c"), env=("K=ä",), confined=True))
    keep_server(home, "two", McpServer(url="https://x.example/mcp"))
    assert mcp_servers(home)["one"].command == ("a", "b c")
    assert Settings.load(home).voice.speed == 1.5
    assert "# brisk" in (tmp_path / "settings.toml").read_text()
    for table in (
        {},
        {"command": ["a"], "url": "https://x"},
        {"url": "http://example.com"},
        {"command": ["a"], "ask": "sometimes"},
        {"command": ["a"], "read_folders": ["/x"]},
    ):
        with pytest.raises(SettingsError):
            read_server("one", table, "here")
    with pytest.raises(UnknownKey):
        read_server("one", {"command": ["a"], "autoApprove": True}, "here")
