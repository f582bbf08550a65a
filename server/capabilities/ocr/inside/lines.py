"""Finds lines of text in a picture and reads them, with the weights of the package rapidocr: one
network marks where text is, another reads a line. numpy and onnxruntime do all of it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Picture = npt.NDArray[np.uint8]
"""Height, width and three colours."""
Marked = npt.NDArray[np.float32]
"""How likely text is, at each place."""

FINDS: Final = "PP-OCRv6_det_small.onnx"
READS: Final = "PP-OCRv6_rec_small.onnx"

LONGEST_SIDE: Final = 2_000
"""Pixels: a larger picture is looked at in less detail. Of a photo of a page, words of 10 points
are as high as the second network wants them."""
SHORTEST_SIDE: Final = 320
STEP: Final = 32
"""What the first network's sides are multiples of."""
LIKELY: Final = 0.3
SURE: Final = 0.5
"""Of a line, on average over its place."""
LEAST_PX: Final = 3
GROWS: Final = 1.6
"""The first network marks the middle of a line; the line is as much wider all round as this times
its area by its circumference."""
LINES_MOST: Final = 600
LINE_PX: Final = 48
LINE_LEAST_PX: Final = 160
LINE_MOST_PX: Final = 3_200
AT_ONCE: Final = 6
LEGIBLE: Final = 0.6
"""Of a line's letters, on average: less is no text, or none that could be read."""

_MEAN: Final = np.array([0.485, 0.456, 0.406], np.float32)
_SPREAD: Final = np.array([0.229, 0.224, 0.225], np.float32)


@dataclass(frozen=True, slots=True)
class Line:
    """One that was read."""

    text: str
    left: int
    top: int
    right: int
    bottom: int
    sure: float


class Reader:
    """Both networks."""

    def __init__(self, weights: Path, threads: int) -> None:
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.enable_cpu_mem_arena = False  # or it keeps twice as much
        options.log_severity_level = 4

        def session(name: str) -> Any:  # noqa: ANN401 - onnxruntime has no types
            return ort.InferenceSession(
                str(weights / name), options, providers=["CPUExecutionProvider"]
            )

        self._finds, self._reads = session(FINDS), session(READS)
        said = self._reads.get_modelmeta().custom_metadata_map
        self._letters = ["", *said["character"].splitlines(), " "]

    def read(self, picture: Picture) -> list[Line]:
        """The lines in a picture, from its top to its bottom."""
        boxes = list(self._boxes(picture))[:LINES_MOST]
        crops = [_crop(picture, box) for box in boxes]
        by_width = sorted(range(len(crops)), key=lambda number: crops[number].shape[1])
        found: dict[int, tuple[str, float]] = {}
        for start in range(0, len(by_width), AT_ONCE):
            numbers = by_width[start : start + AT_ONCE]
            told = self._read([crops[number] for number in numbers])
            found.update(zip(numbers, told, strict=True))
        lines = [
            Line(found[number][0], *box, found[number][1])
            for number, box in enumerate(boxes)
            if found[number][0].strip() and found[number][1] >= LEGIBLE
        ]
        return _in_order(lines)

    def _boxes(self, picture: Picture) -> Iterator[tuple[int, int, int, int]]:
        height, width = picture.shape[:2]
        scale = min(1.0, LONGEST_SIDE / max(height, width))
        scale = max(scale, SHORTEST_SIDE / max(1, min(height, width))) if scale == 1 else scale
        sides = tuple(max(STEP, round(side * scale / STEP) * STEP) for side in (height, width))
        small = resized(picture, sides[0], sides[1]).astype(np.float32) / 255
        given = ((small - _MEAN) / _SPREAD).transpose(2, 0, 1)[None]
        marked: Marked = self._finds.run(None, {self._finds.get_inputs()[0].name: given})[0][0, 0]
        down, across = height / marked.shape[0], width / marked.shape[1]
        for top, left, bottom, right in regions(marked > LIKELY):
            if bottom - top < LEAST_PX or right - left < LEAST_PX:
                continue
            if float(marked[top:bottom, left:right].mean()) < SURE * LIKELY:
                continue
            tall, wide = bottom - top, right - left
            more = GROWS * tall * wide / (2 * (tall + wide))
            yield (
                max(0, int((left - more) * across)),
                max(0, int((top - more) * down)),
                min(width, int((right + more) * across) + 1),
                min(height, int((bottom + more) * down) + 1),
            )

    def _read(self, crops: Sequence[Picture]) -> list[tuple[str, float]]:
        widest = max(LINE_LEAST_PX, *(crop.shape[1] for crop in crops))
        given = np.zeros((len(crops), 3, LINE_PX, widest), np.float32)
        for number, crop in enumerate(crops):
            line = (crop.astype(np.float32) / 255 - 0.5) / 0.5
            given[number, :, :, : crop.shape[1]] = line.transpose(2, 0, 1)
        scores = self._reads.run(None, {self._reads.get_inputs()[0].name: given})[0]
        return [self._word(one) for one in scores]

    def _word(self, scores: Marked) -> tuple[str, float]:
        """Letters of the most likely path: what follows itself is one, and the first is none."""
        best = scores.argmax(axis=1)
        kept = np.flatnonzero((best != 0) & (best != np.concatenate(([0], best[:-1]))))
        if not len(kept):
            return "", 0.0
        text = "".join(self._letters[number] for number in best[kept])
        return text, float(scores[kept, best[kept]].mean())


def _crop(picture: Picture, box: tuple[int, int, int, int]) -> Picture:
    left, top, right, bottom = box
    part = picture[top:bottom, left:right]
    if part.shape[0] > 1.5 * part.shape[1]:  # it stands upright
        part = np.rot90(part)
    wide = round(part.shape[1] * LINE_PX / max(1, part.shape[0]))
    return resized(part, LINE_PX, min(LINE_MOST_PX, max(8, wide)))


def resized(picture: Picture, height: int, width: int) -> Picture:
    """A picture in another size."""
    from PIL import Image

    shape = Image.fromarray(picture)
    return np.asarray(shape.resize((width, height), Image.Resampling.BILINEAR))


def regions(marked: npt.NDArray[np.bool_]) -> list[tuple[int, int, int, int]]:
    """Where marked places hang together: top, left, bottom and right of each, the end excluded.

    Runs of a row are joined with those of the row above that they touch.
    """
    parents: list[int] = []
    bounds: list[list[int]] = []

    def root(number: int) -> int:
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    above: list[tuple[int, int, int]] = []
    padded = np.pad(marked, ((0, 0), (1, 1))).astype(np.int8)
    steps = np.diff(padded, axis=1)
    for row in range(marked.shape[0]):
        starts, ends = np.flatnonzero(steps[row] == 1), np.flatnonzero(steps[row] == -1)
        here: list[tuple[int, int, int]] = []
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            number = len(parents)
            parents.append(number)
            bounds.append([row, start, row + 1, end])
            for other_start, other_end, other in above:
                if other_start <= end and start <= other_end:
                    _join(parents, bounds, root(other), root(number))
            here.append((start, end, number))
        above = here
    return [
        (box[0], box[1], box[2], box[3])
        for number, box in enumerate(bounds)
        if parents[number] == number
    ]


def _join(parents: list[int], bounds: list[list[int]], one: int, other: int) -> None:
    if one == other:
        return
    parents[other] = one
    mine, theirs = bounds[one], bounds[other]
    bounds[one] = [*map(min, mine[:2], theirs[:2]), *map(max, mine[2:], theirs[2:])]


def _in_order(lines: Sequence[Line]) -> list[Line]:
    """From top to bottom, and in a row from left to right."""
    waiting = sorted(lines, key=lambda line: line.top)
    told: list[Line] = []
    while waiting:
        first = waiting[0]
        middle = (first.top + first.bottom) / 2
        row = [line for line in waiting if line.top <= middle <= line.bottom]
        row = row or [first]
        told += sorted(row, key=lambda line: line.left)
        waiting = [line for line in waiting if line not in row]
    return told
