"""The fast path through Whisper: encode what was said instead of thirty seconds of padding.

    audio ──► + zeros up to max(floor, length + 1 s) ──► encoder ──► decoder, bounded ──► judge
                                                            ▲           ▲                  │ │
                                                            │           └─ wider ◄─ doubt ─┘ │
                                                            └── once more, at 30 s ◄─ again ─┘

CTranslate2's encoder takes features shorter than 30 s; faster-whisper pads to 30 s before it asks.
Everything else here is what faster-whisper does, through its public parts. Lives in the worker.
"""

import json
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from ctranslate2 import StorageView
from faster_whisper import WhisperModel
from faster_whisper.tokenizer import Tokenizer
from faster_whisper.transcribe import get_suppressed_tokens

from sayso.server.speech.engines.whisper.earlier_drafts import EarlierDrafts
from sayso.server.speech.engines.whisper.options import WhisperOptions
from sayso.server.speech.errors import ModelBroken, ModelMissing
from sayso.server.speech.recognition.coverage import is_thin, is_voiced, speaks_again, spoken_after
from sayso.server.speech.recognition.hallucinations import (
    HESITANT,
    Pass,
    collapse,
    has_words,
    is_invention,
    is_phantom,
    is_urgent,
    judge,
    judge_last,
    repeats,
    surer,
)
from sayso.server.speech.recognition.loudness import Samples, is_silence, pieces, quietest_cut
from sayso.server.speech.recognition.recognizer import HEARING_RATE, Transcript
from sayso.server.speech.workers.worker import GivenUp

FULL = 30.0
"""Seconds of Whisper's whole context."""

ROOM_AFTER = 1.0
"""Seconds of zeros after the speech, without which the last word is often lost."""

SILENT_END = 0.1
"""Seconds of silence behind the speech after which each frame is like the one before."""

LONGEST_PIECE = 28.0
"""Seconds. Longer utterances are cut at pauses; the rest is room for zeros."""

SHORTEST_PIECE = 14.0
"""Seconds before which a long utterance is not cut: short pieces lose context."""

SHORTEST = 0.1
"""Seconds. Nobody says a word in less."""

TOKENS_AT_LEAST = 6
TOKENS_PER_SECOND = 7
"""More is not said in a second, but by a loop; who does say more is heard at 30 s."""

PROMPT_TOKENS = 100
"""Of what was said before, so much is carried along; more costs time and makes loops likelier."""

MAX_INITIAL_TIMESTAMP = 50
"""In steps of 20 ms: speech begins within the first second (Whisper's own value)."""

SHORTEST_HALVED = 8.0
"""Seconds of audio that is heard in halves, when it could not be heard as a whole."""

WIDER_BEAM = 5
"""Candidates at a time for a text that was doubtful. With tiny.en on 103 recordings in three
noises: 3.95 % of the words wrong instead of 4.17 %, for half a pass more; another pass with the
full context of 30 s took three times as long, and left 4.11 %."""

SHORTEST_CHECK = 4.0
"""Seconds of context in which a text is checked that was found before: it can't loop, since it is
not written anew."""

LIKELY_WORD = 0.35
LIKELY_MARK = 0.3
"""Probability of each piece of a word, and of each mark of punctuation, of a text that is taken
over from a draft. The mark at its end says that nothing follows."""

ALIGNED = 0.02
"""Seconds of a step in which it is told where each piece of a text is."""

WORD_MORE = 0.35
"""Seconds of speech after the last word: another one was begun. The end of that word may be heard
for as long."""

NEEDED_FILES = ("model.bin", "config.json", "tokenizer.json")


@dataclass(frozen=True, slots=True)
class LanguageGuess:
    """The language of what is heard."""

    code: str
    sure: float
    """Its probability, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Run:
    """How one run of the model is to be done."""

    floor: float
    prompt: str
    language: str
    """Empty: it is found out."""
    draft: bool
    wanted: Callable[[], bool]
    """Asked between steps; False raises GivenUp."""
    halved: bool = False
    """It is a part of what could not be heard as a whole."""

    def step(self) -> None:
        if not self.wanted():
            raise GivenUp


class WhisperEngine:
    """A loaded model."""

    def __init__(self, directory: Path, options: WhisperOptions) -> None:
        for name in NEEDED_FILES:
            if not (directory / name).is_file():
                raise ModelMissing(
                    f"There is no Whisper model in {directory} ({name} is missing). "
                    "Run `sayso models` to see which models are there."
                )
        try:
            self._model = WhisperModel(
                str(directory),
                device=options.device,
                compute_type=options.compute_type,
                cpu_threads=options.threads,
                num_workers=1,
                local_files_only=True,
            )
        except Exception as problem:  # tokenizers raises no narrower one
            raise ModelBroken(
                f"The Whisper model in {directory} cannot be used ({problem}). "
                "Fetch it again with `sayso models get`, or choose another one."
            ) from problem
        self._options = options
        self._can_check = _can_align(directory)
        self._tokenizers: dict[str, Tokenizer] = {}
        self._earlier_drafts = EarlierDrafts()

    def transcribe(
        self,
        samples: Samples,
        *,
        draft: bool = False,
        prompt: str = "",
        language: str = "",
        wanted: Callable[[], bool] = lambda: True,
    ) -> Transcript:
        """Transcribe an utterance of any length."""
        parts = pieces(
            samples,
            longest=int(LONGEST_PIECE * HEARING_RATE),
            shortest=int(SHORTEST_PIECE * HEARING_RATE),
        )
        floor = self._options.draft_floor if draft else self._options.final_floor
        texts: list[str] = []
        confidence, tongue = 1.0, self._fixed_language(language)
        for part in parts:
            run = Run(floor, " ".join([prompt, *texts]), tongue.code, draft, wanted)
            heard, tongue = self._piece(part, run)
            if heard.text:
                texts.append(heard.text)
                confidence = min(confidence, math.exp(min(0.0, heard.log_probability)))
        confidence = confidence if texts else 0.0
        if draft and len(parts) == 1:
            self._earlier_drafts.remember(samples, " ".join(texts))
        return Transcript(" ".join(texts), tongue.code or "en", confidence, tongue.sure)

    def warm_up(self) -> None:
        """Run everything once, so that the first person does not wait for it."""
        hum = np.sin(np.arange(HEARING_RATE, dtype=np.float32) * np.float32(0.1)) * np.float32(0.01)
        for floor in {self._options.draft_floor, self._options.final_floor}:
            self._run(hum, Run(floor, "", "", draft=True, wanted=lambda: True))

    def _piece(self, samples: Samples, run: Run) -> tuple[Pass, LanguageGuess]:
        """An utterance that fits into Whisper's context, heard to its end."""
        heard, tongue = self._believed(samples, run)
        rest = samples[min(len(samples), int(min(heard.end, FULL) * HEARING_RATE)) :]
        if run.draft or not heard.text or not speaks_again(rest):
            return heard, tongue
        # It stopped at a long pause, though somebody speaks after it.
        more, _ = self._piece(rest, replace(run, prompt=f"{run.prompt} {heard.text}"))
        if not more.text:
            return heard, tongue
        sure = min(heard.log_probability, more.log_probability)
        return Pass(f"{heard.text} {more.text}", sure, heard.no_speech), tongue

    def _believed(self, samples: Samples, run: Run) -> tuple[Pass, LanguageGuess]:
        """What was heard, if it is to be believed; else an empty text."""
        nothing = Pass("", -math.inf, 1.0), self._fixed_language(run.language)
        if len(samples) < SHORTEST * HEARING_RATE or is_silence(samples):
            return nothing
        if taken_over := self._taken_over(samples, run):
            return taken_over
        heard, tongue = self._run(samples, run)
        if not run.draft and repeats(run.prompt, heard.text):
            alone = self._run(samples, replace(run, prompt=""))[0]
            said_so = repeats(run.prompt, alone.text) or judge(alone) != "believe"
            heard = heard if said_so else alone
        verdict = "believe" if is_urgent(heard) else judge(heard)
        # What was said before can make it believe that this is said already: nothing comes.
        stopped = verdict == "believe" or (verdict == "nothing" and run.prompt)
        if verdict == "again" or (stopped and is_thin(heard.text, samples)):
            heard, tongue = self._run(samples, replace(run, floor=FULL, prompt=""))
            verdict = judge_last(heard)
            if self._is_broken(heard, samples, run):
                return self._halves(samples, run)
            if heard.loops:
                heard = replace(heard, text=collapse(heard.text))
        if is_phantom(heard.text) and not is_voiced(heard.text, samples):
            return nothing
        return (heard, tongue) if verdict == "believe" else nothing

    def _is_broken(self, heard: Pass, samples: Samples, run: Run) -> bool:
        """Was it heard neither with the short nor with the full context, though somebody speaks?"""
        if run.draft or run.halved or len(samples) < SHORTEST_HALVED * HEARING_RATE:
            return False
        text = collapse(heard.text) if heard.loops else heard.text
        return not is_invention(heard) and is_thin(text, samples)

    def _halves(self, samples: Samples, run: Run) -> tuple[Pass, LanguageGuess]:
        """Each half by itself, cut where it is quietest."""
        half = len(samples) // 2
        cut = quietest_cut(samples, half * 2 // 3, half * 4 // 3)
        alone = replace(run, prompt="", halved=True)
        parts = [self._believed(part, alone) for part in (samples[:cut], samples[cut:])]
        heard = [part for part, _ in parts if part.text]
        if not heard:
            return parts[0]
        sure = min(part.log_probability for part in heard)
        text = " ".join(part.text for part in heard)
        return Pass(text, sure, heard[0].no_speech), parts[0][1]

    def _taken_over(self, samples: Samples, run: Run) -> tuple[Pass, LanguageGuess] | None:
        """What a draft heard, if it is likely that all of this sound says just that."""
        text = "" if run.draft or run.halved else self._earlier_drafts.text_of_beginning(samples)
        tongue = self._fixed_language(run.language)
        if not text or not tongue.code or repeats(run.prompt, text) or not self._can_check:
            return None
        seconds = max(SHORTEST_CHECK, len(samples) / HEARING_RATE + ROOM_AFTER)
        encoded = self._encode(samples, min(FULL, seconds))
        run.step()
        tokenizer = self._tokenizer(tongue.code)
        tokens: list[int] = tokenizer.encode(f" {text}")
        found = self._model.model.align(
            encoded,
            self._start(tokenizer, run.prompt),
            [tokens],
            int(seconds * self._model.frames_per_second),
            median_filter_width=1,
        )[0]
        run.step()
        marks = [not has_words(tokenizer.decode([token])) for token in tokens]
        least = [LIKELY_MARK if mark else LIKELY_WORD for mark in marks]
        sure = all(map(operator.ge, found.text_token_probs, least))
        over = min(at for token, at in found.alignments if token == len(tokens) - 1)
        if not sure or not marks[-1] or spoken_after(samples, over * ALIGNED) > WORD_MORE:
            return None
        mean = sum(map(math.log, found.text_token_probs)) / len(tokens)
        heard = Pass(text, mean, 0.0)
        return (heard, tongue) if judge(heard) == "believe" else None

    def _start(self, tokenizer: Tokenizer, prompt: str) -> list[int]:
        """What the decoder is given to go on from."""
        said = tokenizer.encode(f" {prompt.strip()}") if prompt.strip() else []
        start: list[int] = self._model.get_prompt(tokenizer, said[-PROMPT_TOKENS:])
        return start

    def _run(self, samples: Samples, run: Run) -> tuple[Pass, LanguageGuess]:
        """One run: features, encoder, decoder. A text that it is unsure of is looked for once more
        among more candidates, for which the sound need not be encoded again."""
        seconds = len(samples) / HEARING_RATE
        encoded = self._encode(samples, min(FULL, max(run.floor, seconds + ROOM_AFTER)))
        run.step()
        tongue = self._tongue(encoded, run.language)
        heard = self._decode(encoded, seconds, tongue, run, self._options.beam)
        if self._is_hesitant(heard, run):
            wider = self._decode(encoded, seconds, tongue, run, WIDER_BEAM)
            heard = surer(heard, wider)
        return heard, tongue

    def _is_hesitant(self, heard: Pass, run: Run) -> bool:
        final = not run.draft and run.floor < FULL and self._options.beam < WIDER_BEAM
        unsure = final and heard.log_probability < HESITANT and not is_urgent(heard)
        return unsure and judge(heard) == "believe"

    def _decode(
        self, encoded: StorageView, seconds: float, tongue: LanguageGuess, run: Run, beam: int
    ) -> Pass:
        """What is said, found among so many candidates at a time."""
        tokenizer = self._tokenizer(tongue.code)
        prompt = self._start(tokenizer, run.prompt)
        bound = self._model.max_length // 2
        if run.floor < FULL:
            bound = min(bound, math.ceil(TOKENS_AT_LEAST + TOKENS_PER_SECOND * seconds))
        result = self._model.model.generate(
            encoded,
            [prompt],
            beam_size=beam,
            # CTranslate2 writes at most half of it, and at most what the prompt leaves of it.
            max_length=min(self._model.max_length, max(2 * bound, len(prompt) + bound)),
            return_scores=True,
            return_no_speech_prob=True,
            suppress_tokens=list(get_suppressed_tokens(tokenizer, [-1])),
            max_initial_timestamp_index=MAX_INITIAL_TIMESTAMP,
        )[0]
        run.step()
        tokens: list[int] = result.sequences_ids[0]
        # generate() gives the score as a mean over the tokens, without the end mark.
        mean = float(result.scores[0]) * len(tokens) / (len(tokens) + 1)
        # Text after the last time stamp reaches to an end that is not told.
        stamp = tokens[-1] - tokenizer.timestamp_begin if tokens else 0
        end = max(0, stamp) * self._model.time_precision
        return Pass(
            str(tokenizer.decode(tokens)).strip(),
            mean,
            float(result.no_speech_prob),
            cut_short=len(tokens) >= bound,
            end=end if end > 0 else math.inf,
        )

    def _encode(self, samples: Samples, seconds: float) -> StorageView:
        """With so many seconds of context. What is silence is computed once, not for each frame."""
        wanted = int(seconds * HEARING_RATE)
        ends = np.zeros(int(SILENT_END * HEARING_RATE), dtype=np.float32)
        heard = np.concatenate((samples[:wanted], ends))[:wanted]
        features = self._model.feature_extractor(heard, padding=0)
        frames = int(seconds * self._model.frames_per_second)
        missing = max(0, frames - features.shape[-1])
        return self._model.encode(np.pad(features, ((0, 0), (0, missing)), mode="edge"))

    def _tongue(self, encoded: StorageView, expected: str) -> LanguageGuess:
        """The language that is spoken, found out if nothing tells it."""
        fixed = self._fixed_language(expected)
        if fixed.code:
            return fixed
        token, sure = self._model.model.detect_language(encoded)[0][0]
        return LanguageGuess(str(token)[2:-2], float(sure))

    def _fixed_language(self, expected: str) -> LanguageGuess:
        """The language that need not be found out; without a code if it must."""
        if not self._model.model.is_multilingual:
            return LanguageGuess("en", 1.0)
        code = self._options.language or expected
        known = code in self._model.supported_languages
        return LanguageGuess(code, 1.0) if known else LanguageGuess("", 0.0)

    def _tokenizer(self, language: str) -> Tokenizer:
        if language not in self._tokenizers:
            self._tokenizers[language] = Tokenizer(
                self._model.hf_tokenizer,
                self._model.model.is_multilingual,
                task="transcribe",
                language=language,
            )
        return self._tokenizers[language]


def _can_align(directory: Path) -> bool:
    """Whether the model says which of its heads tell where words are, without which CTranslate2
    does not look how likely a text is."""
    config = directory / "config.json"
    return "alignment_heads" in json.loads(config.read_text("utf-8"))
