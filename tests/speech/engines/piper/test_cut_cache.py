"""A voice is cut once on a machine; what is kept of it is made anew when it cannot be used."""

import os
import shutil
import stat
from pathlib import Path

import numpy as np
import pytest

from sayso.server.speech.engines.piper.cut_cache import MOST_KEPT, CutCache
from sayso.server.speech.engines.piper.plan import Plan, Unsplittable
from sayso.server.speech.engines.piper.voice_parts import PART_NAMES, PLAN_NAME, PartsLoader
from sayso.server.speech.engines.piper.windows import CutVoiceDecoder
from tests.speech.conftest import packaged
from tests.speech.engines.piper.small_voice import Shape, feeds, write


class Cuts:
    """A cache, and how often a voice was cut for it."""

    def __init__(self, folder: Path, seed: int = 1) -> None:
        self.folder = folder
        self.count = 0
        self._cache = CutCache(folder, PartsLoader(threads=1, seed=seed))

    def load(self, voice: Path) -> CutVoiceDecoder:
        return self._cache.load(voice, self._measured)

    def _measured(self, decoder: CutVoiceDecoder) -> Plan:
        self.count += 1
        return decoder.plan.measured(gain=0.5, slow=False)

    @property
    def kept(self) -> list[Path]:
        return sorted(self.folder.iterdir())


@pytest.fixture
def cuts(tmp_path: Path) -> Cuts:
    return Cuts(tmp_path / "parts")


@pytest.fixture
def voice(tmp_path: Path) -> Path:
    return write(tmp_path / "en_GB-small-low.onnx")


def sound(decoder: CutVoiceDecoder) -> bytes:
    said = decoder.encode(feeds(30, Shape()))
    return np.concatenate(list(decoder.decode(said))).tobytes()


def test_a_voice_is_cut_at_its_first_start_alone(cuts: Cuts, voice: Path) -> None:
    plans = [cuts.load(voice).plan for _ in range(2)]
    assert cuts.count == 1
    assert plans[0] == plans[1]
    assert plans[0].gain == 0.5


def test_from_the_same_seed_it_says_the_same_at_the_first_start_and_later(
    cuts: Cuts, voice: Path
) -> None:
    first = sound(cuts.load(voice))
    assert sound(cuts.load(voice)) == first
    assert sound(Cuts(cuts.folder, seed=2).load(voice)) != first


@pytest.mark.parametrize("broken", [*PART_NAMES, PLAN_NAME])
@pytest.mark.parametrize("how", ["empty", "nonsense", "gone"])
def test_what_is_broken_is_made_anew(cuts: Cuts, voice: Path, broken: str, how: str) -> None:
    whole = sound(cuts.load(voice))
    [folder] = cuts.kept
    (folder / broken).unlink()
    if how != "gone":
        (folder / broken).write_bytes(b"" if how == "empty" else b'{"z": 1}' * 99)
    assert sound(cuts.load(voice)) == whole
    assert cuts.count == 2
    cuts.load(voice)
    assert cuts.count == 2


def test_a_voice_that_was_replaced_is_cut_anew_and_the_old_parts_go(
    cuts: Cuts, voice: Path
) -> None:
    cuts.load(voice)
    [before] = cuts.kept
    write(voice, Shape(channels=12))
    cuts.load(voice)
    [after] = cuts.kept
    assert (cuts.count, before == after) == (2, False)


def test_the_parts_of_no_more_than_a_few_voices_are_kept(cuts: Cuts, voice: Path) -> None:
    for number in range(MOST_KEPT + 2):
        cuts.load(Path(shutil.copy(voice, voice.with_name(f"voice{number}-low.onnx"))))
    assert len(cuts.kept) == MOST_KEPT
    assert not any(path.name.startswith("voice0-") for path in cuts.kept)


def test_where_nothing_can_be_kept_it_still_speaks(tmp_path: Path, voice: Path) -> None:
    (tmp_path / "parts").write_text("a file where the folder should be")
    cuts = Cuts(tmp_path / "parts")
    assert sound(cuts.load(voice))
    assert cuts.count == 1


def test_what_was_left_unfinished_is_removed_and_nothing_is_left_over(
    cuts: Cuts, voice: Path
) -> None:
    left = cuts.folder / "unfinished-long-ago"
    left.mkdir(parents=True)
    os.utime(left, (1, 1))
    cuts.load(voice)
    [kept] = cuts.kept
    assert kept.name.startswith("en_GB-small-low-")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700


def test_a_model_that_is_no_voice_is_not_cut_and_leaves_nothing(cuts: Cuts) -> None:
    with pytest.raises(Unsplittable):
        cuts.load(packaged("piper-tts", "piper/tashkeel/model.onnx"))
    assert cuts.kept == []
