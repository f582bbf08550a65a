"""What the server writes of itself: bounded, its owner's, without secrets, and there to be read."""

import argparse
import json
import logging
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso.protocol.home import Home
from sayso.server.commands.diagnostics import command as diagnostics
from sayso.server.commands.logs import command as logs
from sayso.server.log_context import conversation_id, log_ids
from sayso.server.observability import server_log
from tests.observability.logging_home import logging_home

SECRET = "sk-" + "a1B2" * 8


@pytest.fixture
def home() -> Iterator[Home]:
    with logging_home() as found:
        yield found


def told(capsys: pytest.CaptureFixture[str], *flags: str) -> str:
    parser = argparse.ArgumentParser()
    logs.add_arguments(parser)
    assert logs.run(parser.parse_args(flags)) == 0
    return capsys.readouterr().out


def test_what_was_logged_is_read_back_line_by_line(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    log = logging.getLogger("sayso.server.speech")
    log.info("the recogniser is ready")
    log.warning("the disk is full")

    assert "server.speech: the recogniser is ready" in told(capsys)
    only = told(capsys, "--level", "warning")
    assert "disk is full" in only
    assert "recogniser" not in only
    (line,) = told(capsys, "-n", "1", "--json").splitlines()
    assert json.loads(line)["room"] == "sayso.server.speech"


def test_no_secret_reaches_a_file(home: Home) -> None:
    logging.getLogger("sayso.x").error("the key %s was refused", SECRET)
    try:
        int(f"Bearer {SECRET}")
    except ValueError:
        logging.getLogger("sayso.y").exception("it broke")

    written = "".join(file.read_text() for file in server_log.log_folder(home).iterdir())
    assert "was refused" in written
    assert SECRET not in written


def test_what_libraries_write_down_of_a_conversation_is_kept_at_no_level() -> None:
    with logging_home(level="debug") as home:
        logging.getLogger("openai._base_client").debug("Request options: %s", "what was said")
        logging.getLogger("openai._base_client").info("a request was tried again")
        logging.getLogger("sayso.server.assembly.warm_up").debug("nothing is prepared")
        kept = "\n".join(server_log.kept_lines(home))
    assert "what was said" not in kept
    assert "tried again" in kept
    assert "nothing is prepared" in kept


def test_the_files_are_bounded_and_their_owners(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    for handler in logging.getLogger().handlers:
        if isinstance(handler, server_log.PrivateFile):
            handler.maxBytes = 2_000
    for number in range(500):
        logging.getLogger("sayso.z").info("line %d", number)

    files = list(server_log.log_folder(home).iterdir())
    assert len(files) == 1 + server_log.FILES_KEPT
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in files)
    kept = list(server_log.kept_lines(home))
    assert "line 499" in kept[-1]
    assert len(kept) < 200


def test_an_empty_log_says_who_writes_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert "sayso serve" in told(capsys)


def test_diagnostics_hold_how_it_is_and_no_secret(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    logging.getLogger("sayso.x").error("the key %s was refused", SECRET)
    monkeypatch.setenv("SAYSO_LANGUAGE_MODEL_API_BASE", f"http://me:{SECRET}@127.0.0.1:1/v1")
    path = tmp_path / "bundle.zip"

    assert diagnostics.run(argparse.Namespace(file=path)) == 0

    with zipfile.ZipFile(path) as bundle:
        parts = {name: bundle.read(name).decode() for name in bundle.namelist()}
    assert set(parts) == {"versions.txt", "settings.txt", "doctor.txt", "log.jsonl"}
    assert "was refused" in parts["log.jsonl"]
    assert "language_model.api_base" in parts["settings.txt"]
    assert "good" in parts["doctor.txt"]
    assert SECRET not in "".join(parts.values())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.slow
def test_diagnostics_that_can_not_be_written_are_told_of_in_a_sentence(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = tmp_path / "there.zip"
    there.write_text("mine")
    for path in (there, tmp_path / "nowhere" / "bundle.zip"):
        assert diagnostics.run(argparse.Namespace(file=path)) == 1
        assert f"{path} cannot be written" in capsys.readouterr().err
    assert there.read_text() == "mine"

    assert diagnostics.run(argparse.Namespace(file=tmp_path)) == 0
    (bundle,) = tmp_path.glob("sayso-diagnostics-*.zip")
    assert stat.S_IMODE(bundle.stat().st_mode) == 0o600


def test_one_device_or_one_conversation_can_be_followed(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    log = logging.getLogger("sayso.server.x")
    for device, conversation in (("kitchen", "main"), ("my phone", "main"), ("kitchen", "taxes")):
        with log_ids(device=device, conversation=conversation_id(conversation), turn="1"):
            log.info("of %s in %s", device.upper(), len(conversation))
    log.info("of nobody")

    assert (
        told(capsys, "--device", "Kitchen")
        .splitlines()[0]
        .endswith("server.x: device=kitchen conversation=main turn=1: of KITCHEN in 4")
    )
    assert len(told(capsys, "--device", "kitchen").splitlines()) == 2
    assert "of MY PHONE" in told(capsys, "--device", "my phone", "--conversation", "main")
    (line,) = told(capsys, "--conversation", "taxes", "--json").splitlines()
    assert "taxes" not in line
    assert "nobody" not in told(capsys, "--conversation", "main")
    assert "nobody" in told(capsys)
