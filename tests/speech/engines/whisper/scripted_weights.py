"""Makes a small Whisper model for many languages that always says the same.

Its shape, its 51,865 tokens, its languages and its file are those of the real ones; its weights are
not trained: nothing flows from the sound, and each position of the answer points at one token. So
the engine, CTranslate2 and the tokenizer are real, and what is heard is scripted.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ctranslate2.specs import common_spec, whisper_spec
from faster_whisper.tokenizer import _LANGUAGE_CODES
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

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
    tokenizer = _tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    text = tokenizer.encode(f" {says}", add_special_tokens=False).ids
    first = tokenizer.token_to_id("<|0.00|>")
    told = [first, *text, first + round(seconds / STEP_S), END_OF_TEXT]
    heard = tokenizer.token_to_id(f"<|{language}|>")
    spec = _weights([heard, heard, *told])
    vocabulary = [tokenizer.id_to_token(number) for number in range(TOKENS)]
    vocabulary[END_OF_TEXT - 1] = ""
    spec.register_vocabulary(vocabulary)
    spec.config.lang_ids = [tokenizer.token_to_id(f"<|{code}|>") for code in LANGUAGES]
    spec.config.suppress_ids, spec.config.suppress_ids_begin = [], []
    spec.config.alignment_heads = [(0, 0)]
    spec.validate()
    spec.save(str(folder))
    (folder / "preprocessor_config.json").write_text(json.dumps({"feature_size": 80}), "utf-8")
    return folder


def _tokenizer() -> Tokenizer:
    """Bytes are nearly its only pieces of words; what marks language and time stands where it
    does."""
    pieces = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *(f"{SPACE}{one}" for one in UNSPOKEN)]
    unused = (f"unused {number}" for number in range(END_OF_TEXT - len(pieces)))
    vocabulary = {piece: number for number, piece in enumerate([*pieces, *unused])}
    merges = [(SPACE, one) for one in UNSPOKEN]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    marks = ["endoftext", "startoftranscript", *LANGUAGES, "translate", "transcribe"]
    marks += ["startoflm", "startofprev", "nospeech", "notimestamps"]
    marks += [f"{number * STEP_S:.2f}" for number in range(1_501)]
    special = [AddedToken(f"<|{mark}|>", special=True, normalized=False) for mark in marks]
    tokenizer.add_special_tokens(special)
    assert tokenizer.get_vocab_size() == TOKENS
    return tokenizer


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
