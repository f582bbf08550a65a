"""Makes a small Whisper model for many languages that always says the same.

Its shape, its 51,865 tokens, its languages and its file are those of the real ones; its weights are
not trained: nothing flows from the sound, and each position of the answer points at one token. So
the engine, CTranslate2 and the tokenizer are real, and what is heard is scripted.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ctranslate2.specs import common_spec, whisper_spec
from faster_whisper.tokenizer import _LANGUAGE_CODES

TOKENS = 51_865
END_OF_TEXT = 50_257
"""Before it stands an empty token: by that a model for many languages is known."""
LANGUAGES = tuple(_LANGUAGE_CODES[:99])
WIDTH = 64
"""So wide that random tokens are nearly at right angles."""
SPACE = "\u0120"
"""As byte-level vocabularies write it."""
UNSPOKEN = ("-", "'", "\u00e2")
"""With these after a space begin what is never said: dashes, and the bytes of notes of music. As in
a real vocabulary they are one piece with it, so that no space is forbidden with them."""
POSITIONS = 448
FRAMES = 1_500
POINTS = 30.0
"""How much farther a position points than the token that was said before."""
SAYS_FROM = 2
"""The prompt is: begin, a language, transcribe."""
STEP_S = 0.02


def make(folder: Path, language: str, says: str, seconds: float) -> Path:
    """A model that hears `says` in this language, in so many seconds, whatever there is to hear."""
    folder.mkdir()
    letters = _letters()
    pieces, marks = _pieces(letters), _marks()
    numbers = {piece: number for number, piece in enumerate([*pieces, *marks])}
    assert len(numbers) == TOKENS
    text = [numbers[letters[byte]] for byte in f" {says}".encode()]
    first = numbers["<|0.00|>"]
    told = [first, *text, first + round(seconds / STEP_S), numbers["<|endoftext|>"]]
    heard = numbers[f"<|{language}|>"]
    spec = _weights([heard, heard, *told])
    spec.register_vocabulary([*pieces[:-1], "", *marks])
    spec.config.lang_ids = [numbers[f"<|{code}|>"] for code in LANGUAGES]
    spec.config.suppress_ids, spec.config.suppress_ids_begin = [], []
    spec.config.alignment_heads = [(0, 0)]
    spec.validate()
    spec.save(str(folder))
    vocabulary = {piece: numbers[piece] for piece in pieces}
    added = [_mark(numbers[mark], mark) for mark in marks]
    (folder / "tokenizer.json").write_text(json.dumps(_tokenizer(vocabulary, added)), "utf-8")
    (folder / "preprocessor_config.json").write_text(json.dumps({"feature_size": 80}), "utf-8")
    return folder


def _letters() -> list[str]:
    """How byte-level vocabularies write each byte: what can be read as itself, the rest after."""
    readable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte if byte in readable else next(others)) for byte in range(256)]


def _pieces(letters: Sequence[str]) -> list[str]:
    """Bytes are nearly its only pieces of words."""
    pieces = [*letters, *(f"{SPACE}{one}" for one in UNSPOKEN)]
    return pieces + [f"unused {number}" for number in range(END_OF_TEXT - len(pieces))]


def _marks() -> list[str]:
    """What marks language, task and time stands where it does in real vocabularies."""
    marks = ["endoftext", "startoftranscript", *LANGUAGES, "translate", "transcribe"]
    marks += ["startoflm", "startofprev", "nospeech", "notimestamps"]
    marks += [f"{number * STEP_S:.2f}" for number in range(1_501)]
    return [f"<|{mark}|>" for mark in marks]


def _mark(number: int, content: str) -> dict[str, object]:
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": number, "content": content, "special": True, **plain}


def _tokenizer(
    vocabulary: Mapping[str, int], added: Sequence[Mapping[str, object]]
) -> dict[str, object]:
    """As the file of a tokenizer has it."""
    by_bytes = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    merges = [[SPACE, one] for one in UNSPOKEN]
    return {
        "version": "1.0",
        "added_tokens": added,
        "pre_tokenizer": by_bytes,
        "decoder": by_bytes,
        "model": {"type": "BPE", "vocab": vocabulary, "merges": merges},
    }


def _weights(told: Sequence[int]) -> Any:  # noqa: ANN401 (a library without types)
    """`told`: the token that each position points at."""
    spec = whisper_spec.WhisperSpec(1, 1, 1, 1)
    chance = np.random.default_rng(1)
    tokens = chance.normal(0, 1, (TOKENS, WIDTH)).astype(np.float32)
    points = np.zeros((POSITIONS, WIDTH), np.float32)
    points[: len(told)] = POINTS * tokens[list(told)]
    encoder, decoder = spec.encoder, spec.decoder
    for convolution, channels in ((encoder.conv1, 80), (encoder.conv2, WIDTH)):
        convolution.weight = np.zeros((WIDTH, channels, 3), np.float32)
        convolution.bias = np.zeros(WIDTH, np.float32)
    encoder.position_encodings.encodings = np.zeros((FRAMES, WIDTH), np.float32)
    decoder.position_encodings.encodings = points
    decoder.embeddings.weight = decoder.projection.weight = tokens
    for half in (encoder, decoder):
        _plain(half.layer_norm)
        layer = half.layer[0]
        _silent(layer.self_attention.linear, (3 * WIDTH, WIDTH))
        _plain(layer.self_attention.layer_norm)
        _silent([layer.ffn.linear_0, layer.ffn.linear_1], (WIDTH, WIDTH))
        _plain(layer.ffn.layer_norm)
    across = decoder.layer[0].attention
    _silent(across.linear, (WIDTH, 2 * WIDTH, WIDTH))
    _plain(across.layer_norm)
    return spec


def _plain(norm: common_spec.LayerNormSpec) -> None:
    norm.gamma, norm.beta = np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)


def _silent(linears: Sequence[common_spec.LinearSpec], heights: Sequence[int]) -> None:
    """They add nothing to what flows by."""
    for linear, height in zip(linears, heights, strict=True):
        linear.weight = np.zeros((height, WIDTH), np.float32)
        linear.bias = np.zeros(height, np.float32)
