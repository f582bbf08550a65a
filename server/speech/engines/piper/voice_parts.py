"""Loads a voice in three parts: cut now, or cut at an earlier start and optimised since."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import onnxruntime

from sayso.server.speech.engines.piper.plan import Plan
from sayso.server.speech.engines.piper.windows import CutVoiceDecoder, Sessions

PART_NAMES: Final = ("text.onnx", "flow.onnx", "vocoder.onnx")
PLAN_NAME: Final = "plan.json"

ERRORS_ALONE: Final = 3
"""onnxruntime's level: it warns that what is optimised is for this machine, which is intended."""

Measure = Callable[[CutVoiceDecoder], Plan]
"""Has a voice speak, and adds to its plan what was found out. Raises Unsplittable."""


@dataclass(frozen=True, slots=True)
class PartsLoader:
    """How the parts are run."""

    threads: int
    """For a voice that is slow on this machine; others need one."""
    seed: int

    def kept(self, folder: Path) -> CutVoiceDecoder:
        """Those that lie in a folder; raises anything if they are broken."""
        plan = Plan.from_json(json.loads((folder / PLAN_NAME).read_text("utf-8")))
        onnxruntime.set_seed(self.seed)
        sessions = []
        for name in PART_NAMES:
            options = self._options(plan)
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            sessions.append(_session(str(folder / name), options))
        return CutVoiceDecoder(Sessions(*sessions), plan)

    def cut(self, voice: Path, measure: Measure, into: Path | None = None) -> CutVoiceDecoder:
        """Cut a voice, and keep its parts in a folder. Raises Unsplittable."""
        # Only needed here, and takes a tenth of a second to import.
        import onnx

        from sayso.server.speech.engines.piper.cutting.parts import cut

        parts = cut(onnx.load(str(voice)))
        models = [part.SerializeToString() for part in (parts.text, parts.flow, parts.vocoder)]
        plan = parts.plan
        del parts
        onnxruntime.set_seed(self.seed)
        sessions = []
        for name, model in zip(PART_NAMES, models, strict=True):
            options = self._options(plan)
            if into:
                options.optimized_model_filepath = str(into / name)
            sessions.append(_session(model, options))
        decoder = CutVoiceDecoder(Sessions(*sessions), plan)
        decoder.plan = measure(decoder)
        if into:
            (into / PLAN_NAME).write_text(json.dumps(decoder.plan.as_json()), "utf-8")
        return decoder

    def _options(self, plan: Plan) -> onnxruntime.SessionOptions:
        return session_options(self.threads if plan.slow else 1)


def session_options(threads: int) -> onnxruntime.SessionOptions:
    """How any voice is run."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = ERRORS_ALONE
    # To plan which of thousands of results share their memory takes three quarters of a second at
    # each start, and saves 4 MB.
    options.enable_mem_reuse = False
    # A thread that spins while it waits takes the core that recognition needs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def _session(
    model: str | bytes, options: onnxruntime.SessionOptions
) -> onnxruntime.InferenceSession:
    providers: Sequence[str] = ["CPUExecutionProvider"]
    return onnxruntime.InferenceSession(model, sess_options=options, providers=providers)
