"""Makes include/sayso_wire.h from the protocol: `python -m sayso.firmware_sim.wire_header FILE`.

Firmware in C includes it, and so has the same constants as the server. A test fails
when the file and the protocol have drifted apart.
"""

import sys
from pathlib import Path

from sayso.protocol.codec import MAX_DEPTH, MAX_TEXT_BYTES
from sayso.protocol.errors import CODES
from sayso.protocol.frames import AUDIO, HEADER_BYTES, LAST, MAX_FRAME_BYTES, PCM16_BYTES
from sayso.protocol.home import DEFAULT_PORT, WEBSOCKET_PATH
from sayso.protocol.messages import TYPES
from sayso.protocol.version import VERSION

TOP = """/* The Sayso protocol, version {version}, for programs in C.
   Made from sayso.protocol by `python -m sayso.firmware_sim.wire_header`; changes here are lost.
   The truth is protocol/SPEC.md. */
#ifndef SAYSO_WIRE_H
#define SAYSO_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
"""

FRAMES = """
/* A binary frame: this header, little-endian, then sound. */
struct sayso_frame {
    uint8_t kind;
    uint8_t flags;
    uint16_t stream;
    uint32_t seq;
    uint32_t first_sample;
    const uint8_t *payload;
    size_t payload_bytes;
};

/* Returns 0, or -1 if it is too short to be one. */
static inline int sayso_read_frame(const uint8_t *data, size_t size, struct sayso_frame *frame)
{
    if (size < SAYSO_HEADER_BYTES) return -1;
    frame->kind = data[0];
    frame->flags = data[1];
    frame->stream = (uint16_t)(data[2] | data[3] << 8);
    frame->seq = (uint32_t)data[4] | (uint32_t)data[5] << 8 | (uint32_t)data[6] << 16
        | (uint32_t)data[7] << 24;
    frame->first_sample = (uint32_t)data[8] | (uint32_t)data[9] << 8 | (uint32_t)data[10] << 16
        | (uint32_t)data[11] << 24;
    frame->payload = data + SAYSO_HEADER_BYTES;
    frame->payload_bytes = size - SAYSO_HEADER_BYTES;
    return 0;
}

/* Writes the header alone; the sound follows it in the same frame. */
static inline void sayso_write_header(const struct sayso_frame *frame, uint8_t *data)
{
    int at;
    data[0] = frame->kind;
    data[1] = frame->flags;
    data[2] = (uint8_t)frame->stream;
    data[3] = (uint8_t)(frame->stream >> 8);
    for (at = 0; at < 4; at++) {
        data[4 + at] = (uint8_t)(frame->seq >> (8 * at));
        data[8 + at] = (uint8_t)(frame->first_sample >> (8 * at));
    }
}
"""

LOOK_UP = """
/* Returns which message bears this name, or SAYSO_UNKNOWN, which is to be ignored. */
static inline enum sayso_message sayso_message_of(const char *name)
{
    int at;
    for (at = 0; at < SAYSO_UNKNOWN; at++)
        if (strcmp(name, sayso_message_names[at]) == 0) break;
    return (enum sayso_message)at;
}

/* Returns the error of this code, or NULL: then the message's `fatal` decides alone. */
static inline const struct sayso_error *sayso_error_of(const char *code)
{
    size_t at;
    for (at = 0; at < sizeof sayso_errors / sizeof *sayso_errors; at++)
        if (strcmp(code, sayso_errors[at].code) == 0) return &sayso_errors[at];
    return NULL;
}

#endif
"""


def header() -> str:
    """The text of the header."""
    return "".join(
        [TOP.format(version=VERSION), _constants(), FRAMES, _messages(), _errors(), LOOK_UP]
    )


def _constants() -> str:
    numbers = {
        "PROTOCOL_VERSION": VERSION,
        "DEFAULT_PORT": DEFAULT_PORT,
        "MAX_TEXT_BYTES": MAX_TEXT_BYTES,
        "MAX_FRAME_BYTES": MAX_FRAME_BYTES,
        "MAX_DEPTH": MAX_DEPTH,
        "HEADER_BYTES": HEADER_BYTES,
        "KIND_AUDIO": AUDIO,
        "FLAG_LAST": LAST,
        "PCM16_BYTES": PCM16_BYTES,
    }
    lines = [f"#define SAYSO_{name} {number}" for name, number in numbers.items()]
    return "\n".join(["", *lines, f'#define SAYSO_WEBSOCKET_PATH "{WEBSOCKET_PATH}"', ""])


def _messages() -> str:
    names = sorted(TYPES)
    constants = [f"    SAYSO_{name.upper().replace('.', '_')}," for name in names]
    texts = [f'    "{name}",' for name in names]
    return "\n".join(
        [
            "\n/* What stands in `t`. */",
            "enum sayso_message {",
            *constants,
            "    SAYSO_UNKNOWN",
            "};\n",
            "static const char *const sayso_message_names[] = {",
            *texts,
            "};\n",
        ]
    )


def _errors() -> str:
    rows = [f'    {{"{name}", {int(code.fatal)}, {code.close}}},' for name, code in CODES.items()]
    return "\n".join(
        [
            "\n/* The codes of `error`: whether the connection usually ends, and how. */",
            "struct sayso_error {",
            "    const char *code;",
            "    uint8_t fatal;",
            "    uint16_t close;",
            "};\n",
            "static const struct sayso_error sayso_errors[] = {",
            *rows,
            "};\n",
        ]
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(header(), encoding="utf-8")
