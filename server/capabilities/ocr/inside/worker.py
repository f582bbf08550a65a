"""Reads pictures that come over a socket, one after the other, and tells the lines in them.

It stands alone in the sandbox. A request is the length of a picture in four bytes, and the picture;
an answer is a length and JSON: the lines, or why it could not be read.
"""

import importlib.util
import io
import json
import os
import socket
import struct
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Final

PIXELS_MOST: Final = 60_000_000
"""Of one picture: any telephone's. More is a trap for whoever unpacks it."""

_LENGTH: Final = struct.Struct(">I")


def main() -> None:
    """Serve the socket whose descriptor was given, until it is closed."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    sys.path.append(sys.argv[2])
    folder = Path(__file__).parent
    spec = importlib.util.spec_from_file_location("lines", folder / "lines.py")
    if spec is None or spec.loader is None:
        raise ImportError(str(folder))
    lines = sys.modules["lines"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lines)
    weights = importlib.util.find_spec("rapidocr")
    if weights is None or weights.origin is None:
        raise ImportError("rapidocr")
    reader = lines.Reader(Path(weights.origin).parent / "models", max(1, os.cpu_count() or 1))
    stream = channel.makefile("rwb")
    stream.write(_LENGTH.pack(0))
    stream.flush()
    while len(head := stream.read(_LENGTH.size)) == _LENGTH.size:
        answer = _answer(reader, stream.read(_LENGTH.unpack(head)[0]))
        body = json.dumps(answer).encode()
        stream.write(_LENGTH.pack(len(body)) + body)
        stream.flush()


def _answer(reader: object, data: bytes) -> dict[str, object]:
    import numpy as np
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = PIXELS_MOST
    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "GIF", "WEBP")) as opened:
            if opened.width * opened.height > PIXELS_MOST:
                return {"problem": "it has too many pixels"}
            upright = ImageOps.exif_transpose(opened)
            flat = Image.new("RGB", upright.size, "white")
            pixels = upright.convert("RGBA")
            flat.paste(pixels, mask=pixels.getchannel("A"))
        found = reader.read(np.asarray(flat))  # type: ignore[attr-defined]
    except MemoryError:
        return {"problem": "it is too large for the memory there is"}
    except Exception as problem:  # noqa: BLE001 - decoders raise anything
        return {"problem": f"it can't be decoded ({type(problem).__name__})"}
    return {"lines": [asdict(each) for each in found]}


if __name__ == "__main__":
    main()
