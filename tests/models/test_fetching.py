"""Models are fetched from a hub whole, whatever happens on the way, or not at all."""

import errno
import os
import random
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from sayso.protocol.home import Home
from sayso.server.models import (
    FetchFailed,
    InstalledModels,
    Model,
    ModelDamaged,
    ModelMissing,
    NameUnknown,
)
from sayso.server.models import fetching as fetching_module
from sayso.server.models.fetching import Fetching
from sayso.server.models.hub import Hub
from sayso.server.models.names import understand
from tests.models.hub_double import HubDouble, running

WEIGHTS = random.Random(1).randbytes(300_000)
WHISPER = {
    "README.md": b"# A model",
    "config.json": b'{"a": 1}',
    "model.bin": WEIGHTS,
    "tokenizer.json": b"t" * 5_000,
    "vocabulary.txt": b"a\nb\n",
    "preprocessor_config.json": b"{}",
}
VOICE = "en/en_US/lessac/medium/"
VOICES = {
    f"{VOICE}en_US-lessac-medium.onnx": WEIGHTS,
    f"{VOICE}en_US-lessac-medium.onnx.json": b'{"audio": {}}',
    f"{VOICE}MODEL_CARD": b"# Model card\n\n* License: Blizzard\n",
    "en/en_US/lessac/low/en_US-lessac-low.onnx": b"another",
}


@pytest.fixture
def hub() -> Iterator[HubDouble]:
    with running() as double:
        double.repositories["Systran/faster-whisper-base.en"] = dict(WHISPER)
        double.repositories["rhasspy/piper-voices"] = dict(VOICES)
        double.repositories["someone/Models-GGUF"] = {"q4/small.gguf": WEIGHTS}
        yield double


class Watch:
    """Notes how far a fetch is."""

    def __init__(self) -> None:
        self.done: dict[str, int] = {}
        self.begun: dict[str, int] = {}
        self.waits: list[float] = []
        self._file = ""

    def begin(self, file: str, total: int, done: int) -> None:
        self._file = file
        self.begun[file] = self.done[file] = done

    def advance(self, count: int) -> None:
        self.done[self._file] += count

    def wait(self, reason: str, seconds: float) -> None:
        self.waits.append(seconds)


def fetch(name: str, double: HubDouble, *, token: str = "", watch: Watch | None = None) -> Model:
    with Hub(double.address, token=token) as hub:
        fetching = Fetching(Home.find(), hub, progress=watch, sleep=lambda _: None)
        return fetching.fetch(understand(name))


def leftovers() -> list[str]:
    aside = InstalledModels(Home.find()).folder / ".unfinished"
    return sorted(path.name for path in aside.rglob("*") if path.suffix != ".lock")


def test_a_whisper_model_is_fetched_by_its_short_name_and_found_whole(hub: HubDouble) -> None:
    model = fetch("base.en", hub)

    found = InstalledModels(Home.find()).ready("ears", "base.en")
    assert found == model
    assert (found.path / "model.bin").read_bytes() == WEIGHTS
    assert sorted(file.path.name for file in found.files) == sorted(set(WHISPER) - {"README.md"})
    assert (found.licence, found.language, found.source) == ("mit", "en", "hub")
    assert leftovers() == []


def test_a_voice_is_fetched_with_its_configuration_and_the_licence_of_its_card(
    hub: HubDouble,
) -> None:
    model = fetch("en_US-lessac-medium", hub)

    assert model.path.name == "en_US-lessac-medium.onnx"
    assert model.path.with_name("en_US-lessac-medium.onnx.json").is_file()
    assert (model.kind, model.licence, model.language) == ("voice", "Blizzard", "en")


def test_a_language_model_is_fetched_by_repository_and_file(hub: HubDouble) -> None:
    model = fetch("someone/Models-GGUF:q4/small.gguf", hub)

    assert model.path.read_bytes() == WEIGHTS
    found = InstalledModels(Home.find()).ready(
        "language_model", "someone/Models-GGUF:q4/small.gguf"
    )
    assert found.path == model.path


def test_all_parts_of_a_language_model_are_fetched_and_the_first_is_opened(hub: HubDouble) -> None:
    parts = {f"big-0000{number}-of-00002.gguf": b"%d" % number for number in (1, 2)}
    hub.repositories["someone/Big-GGUF"] = {**parts, "other-00001-of-00002.gguf": b"x"}

    model = fetch("someone/Big-GGUF:big-00001-of-00002.gguf", hub)

    assert {file.path.name for file in model.files} == set(parts)
    assert model.path.name == "big-00001-of-00002.gguf"


def test_a_list_of_several_pages_is_read_to_its_end(hub: HubDouble) -> None:
    hub.page = 1

    assert len(fetch("base.en", hub).files) == 5


def test_after_cuts_only_the_rest_is_asked_for(hub: HubDouble) -> None:
    hub.cuts = [100_000, 50_000]
    watch = Watch()

    model = fetch("base.en", hub, watch=watch)

    assert (model.path / "model.bin").read_bytes() == WEIGHTS
    ranges = [one.range for one in hub.content_requests() if one.path.endswith("model.bin")]
    assert ranges == ["", "bytes=100000-", "bytes=150000-"]
    assert watch.done["model.bin"] == len(WEIGHTS)
    assert watch.waits == [0.5, 0.5]


def test_a_fetch_that_was_given_up_goes_on_where_it_was(hub: HubDouble) -> None:
    hub.cuts = [100_000, 0, 0, 0, 0, 0, 0]
    with pytest.raises(FetchFailed, match="cannot be reached"):
        fetch("base.en", hub)
    with pytest.raises(ModelMissing):
        InstalledModels(Home.find()).find("ears", "base.en")

    hub.cuts.clear()
    hub.asked.clear()
    watch = Watch()
    fetch("base.en", hub, watch=watch)

    assert watch.begun["model.bin"] == 100_000
    assert hub.content_requests()[0].range == "bytes=100000-"
    assert InstalledModels(Home.find()).ready("ears", "base.en").path.is_dir()


def test_a_hub_that_begins_anew_instead_of_going_on_is_understood(hub: HubDouble) -> None:
    hub.cuts = [100_000]
    hub.ranges = False
    watch = Watch()

    model = fetch("base.en", hub, watch=watch)

    assert (model.path / "model.bin").read_bytes() == WEIGHTS
    assert watch.done["model.bin"] == len(WEIGHTS)
    assert sum(one.path.endswith("model.bin") for one in hub.content_requests()) == 2


@pytest.mark.parametrize("file", ["model.bin", "config.json"])
@pytest.mark.parametrize("length", ["shorter", "same", "longer"])
def test_what_is_not_what_the_hub_promised_is_thrown_away_and_nothing_is_installed(
    hub: HubDouble, file: str, length: str
) -> None:
    promised = WHISPER[file]
    changed = b"?" + promised[1:]
    hub.swapped[file] = {"shorter": changed[:-1], "same": changed, "longer": changed + b"?"}[length]

    with pytest.raises(FetchFailed, match=r"promised|cannot be reached"):
        fetch("base.en", hub)

    with pytest.raises(ModelMissing):
        InstalledModels(Home.find()).find("ears", "base.en")
    assert file not in leftovers()


def test_a_damaged_remainder_of_an_earlier_try_is_replaced(hub: HubDouble) -> None:
    hub.cuts = [100_000, 0, 0, 0, 0, 0, 0]
    with pytest.raises(FetchFailed):
        fetch("base.en", hub)
    (part,) = InstalledModels(Home.find()).folder.rglob("model.bin.part")
    part.write_bytes(b"?" * 100_000)
    hub.cuts.clear()

    assert (fetch("base.en", hub).path / "model.bin").read_bytes() == WEIGHTS


def test_when_the_hub_has_something_new_only_that_is_fetched(hub: HubDouble) -> None:
    fetch("base.en", hub)
    hub.commit = "f" * 40
    hub.repositories["Systran/faster-whisper-base.en"]["tokenizer.json"] = b"n" * 5_000
    hub.asked.clear()

    model = fetch("base.en", hub)

    assert (model.path / "tokenizer.json").read_bytes() == b"n" * 5_000
    assert [one.path.rpartition("/")[2] for one in hub.content_requests()] == ["tokenizer.json"]
    assert "ffffffffffff" in model.origin
    InstalledModels(Home.find()).verify(model, trust_memory=False)


def test_a_model_that_was_here_stays_when_its_successor_does_not_come(hub: HubDouble) -> None:
    before = fetch("base.en", hub)
    hub.commit = "f" * 40
    hub.repositories["Systran/faster-whisper-base.en"]["tokenizer.json"] = b"n" * 5_000
    hub.cuts = [0] * 10

    with pytest.raises(FetchFailed):
        fetch("base.en", hub)

    assert InstalledModels(Home.find()).ready("ears", "base.en") == before


def test_a_damaged_file_alone_is_fetched_again(hub: HubDouble) -> None:
    model = fetch("base.en", hub)
    (model.path / "tokenizer.json").write_bytes(b"?" * 5_000)
    hub.asked.clear()

    InstalledModels(Home.find()).verify(fetch("base.en", hub), trust_memory=False)

    assert [one.path.rpartition("/")[2] for one in hub.content_requests()] == ["tokenizer.json"]


def test_the_token_is_shown_to_the_hub_and_to_nobody_else(hub: HubDouble) -> None:
    fetch("base.en", hub, token="secret")

    shown = {(one.server, one.authorization) for one in hub.asked}
    assert shown == {("hub", "Bearer secret"), ("storage", "")}


@pytest.mark.parametrize("statuses", [[503], [429, 500]])
def test_a_hub_that_is_busy_for_a_moment_is_asked_again(
    hub: HubDouble, statuses: list[int]
) -> None:
    name = understand("base.en")
    with Hub(hub.address) as client:
        fetching = Fetching(Home.find(), client, sleep=lambda _: None)
        hub.statuses = statuses[:1]
        assert fetching.fetch(name)
        hub.statuses = statuses
        assert fetching.fetch(name)


@pytest.mark.parametrize(
    ("status", "kind", "sentence"),
    [
        (401, FetchFailed, "HF_TOKEN"),
        (403, FetchFailed, "HF_TOKEN"),
        (404, NameUnknown, "has no Systran/faster-whisper-base.en"),
        (418, FetchFailed, "does not answer like a model hub"),
    ],
)
def test_what_the_hub_refuses_is_said_in_a_sentence(
    hub: HubDouble, status: int, kind: type[Exception], sentence: str
) -> None:
    hub.statuses = [status]

    with pytest.raises(kind, match=sentence):
        fetch("base.en", hub)


def test_a_repository_without_the_files_is_no_such_model(hub: HubDouble) -> None:
    hub.repositories["someone/text-model"] = {"config.json": b"{}", "model.safetensors": b"x"}

    with pytest.raises(NameUnknown, match=r"holds no model\.bin, tokenizer\.json"):
        fetch("someone/text-model", hub)


def test_without_a_network_it_says_so_soon_and_keeps_what_is_there(hub: HubDouble) -> None:
    model = fetch("base.en", hub)
    nobody = HubDouble(address="http://127.0.0.1:9")
    watch = Watch()

    with pytest.raises(FetchFailed, match=r"127\.0\.0\.1:9 cannot be reached.*stay as they were"):
        fetch("base.en", nobody, watch=watch)

    assert watch.waits == [1.0]
    assert InstalledModels(Home.find()).ready("ears", "base.en") == model


def test_an_address_that_is_none_is_told_with_the_setting_to_correct() -> None:
    for address in ("no address", "ftp://127.0.0.1", "http://"):
        with pytest.raises(FetchFailed, match=r"models\.hub"):
            fetch("base.en", HubDouble(address=address))


def test_a_full_disk_is_told_before_anything_is_fetched(
    hub: HubDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = fetching_module.KEPT_FREE_BYTES + 300_000
    monkeypatch.setattr(
        "sayso.server.models.fetching.shutil.disk_usage", lambda _: SimpleNamespace(free=free)
    )

    with pytest.raises(FetchFailed, match=r"needs 305 KB on the disk .* where 200 MB are free"):
        fetch("base.en", hub)

    assert hub.content_requests() == []


def test_a_disk_that_fills_up_on_the_way_costs_nothing_that_was_fetched(
    hub: HubDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_sync = os.fsync

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FetchFailed, match="No space left on device"):
        fetch("base.en", hub)
    monkeypatch.setattr(os, "fsync", real_sync)

    assert fetch("base.en", hub).path.is_dir()


def test_one_model_is_fetched_by_one_at_a_time(hub: HubDouble) -> None:
    told = []

    class Second(Watch):
        def begin(self, file: str, total: int, done: int) -> None:
            super().begin(file, total, done)
            with pytest.raises(FetchFailed) as refused:
                fetch("base.en", hub)
            told.append(str(refused.value))

    fetch("base.en", hub, watch=Second())

    assert set(told) == {"base.en is already being fetched by another `sayso models get`."}


def test_a_model_that_was_fetched_notices_damage(hub: HubDouble) -> None:
    model = fetch("base.en", hub)
    (model.path / "model.bin").write_bytes(WEIGHTS[:-1])

    with pytest.raises(ModelDamaged, match=r"299,999 bytes instead of 300,000.*get --again base"):
        InstalledModels(Home.find()).ready("ears", "base.en")


def test_a_hub_cannot_lead_out_of_the_models_folder(hub: HubDouble) -> None:
    hub.repositories["someone/Models-GGUF"]["q4/../../../evil.gguf"] = WEIGHTS

    fetch("someone/Models-GGUF:q4/small.gguf", hub)

    assert list(Path(os.environ["SAYSO_HOME"]).rglob("evil*")) == []
