/* The Sayso protocol, version 1, for programs in C.
   Made from sayso.protocol by `python -m sayso.firmware_sim.wire_header`; changes here are lost.
   The truth is protocol/SPEC.md. */
#ifndef SAYSO_WIRE_H
#define SAYSO_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SAYSO_PROTOCOL_VERSION 1
#define SAYSO_DEFAULT_PORT 8765
#define SAYSO_MAX_TEXT_BYTES 65536
#define SAYSO_MAX_FRAME_BYTES 8192
#define SAYSO_MAX_DEPTH 32
#define SAYSO_HEADER_BYTES 12
#define SAYSO_KIND_AUDIO 1
#define SAYSO_FLAG_LAST 1
#define SAYSO_PCM16_BYTES 2
#define SAYSO_WEBSOCKET_PATH "/ws"

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

/* What stands in `t`. */
enum sayso_message {
    SAYSO_ACT_REQUEST,
    SAYSO_ACT_RESULT,
    SAYSO_ANNOUNCE,
    SAYSO_APPROVAL_DONE,
    SAYSO_APPROVAL_REQUEST,
    SAYSO_APPROVE,
    SAYSO_AUDIO_ACK,
    SAYSO_BYE,
    SAYSO_CODE_END,
    SAYSO_CODE_OUT,
    SAYSO_CODE_START,
    SAYSO_COMMAND,
    SAYSO_COMMAND_DONE,
    SAYSO_CONVERSATION,
    SAYSO_DEVICES,
    SAYSO_DEVICES_LIST,
    SAYSO_DEVICES_REVOKE,
    SAYSO_ERROR,
    SAYSO_FILE_GOT,
    SAYSO_FILE_PUT,
    SAYSO_HELLO,
    SAYSO_INTERRUPT,
    SAYSO_LISTEN_CANCEL,
    SAYSO_LISTEN_END,
    SAYSO_LISTEN_START,
    SAYSO_LISTEN_STOP,
    SAYSO_METRICS,
    SAYSO_PAIR,
    SAYSO_PAIRED,
    SAYSO_PAIRING_CLOSE,
    SAYSO_PAIRING_DONE,
    SAYSO_PAIRING_OPEN,
    SAYSO_PAIRING_OPENED,
    SAYSO_PING,
    SAYSO_PLAY_STATE,
    SAYSO_PONG,
    SAYSO_REPLY_DELTA,
    SAYSO_SETTINGS,
    SAYSO_SPEECH_START,
    SAYSO_SPEECH_STOP,
    SAYSO_STT_FINAL,
    SAYSO_STT_PARTIAL,
    SAYSO_TASK_CANCEL,
    SAYSO_TASK_UPDATE,
    SAYSO_TEXT,
    SAYSO_TURN_STATE,
    SAYSO_WELCOME,
    SAYSO_UNKNOWN
};

static const char *const sayso_message_names[] = {
    "act.request",
    "act.result",
    "announce",
    "approval.done",
    "approval.request",
    "approve",
    "audio.ack",
    "bye",
    "code.end",
    "code.out",
    "code.start",
    "command",
    "command.done",
    "conversation",
    "devices",
    "devices.list",
    "devices.revoke",
    "error",
    "file.got",
    "file.put",
    "hello",
    "interrupt",
    "listen.cancel",
    "listen.end",
    "listen.start",
    "listen.stop",
    "metrics",
    "pair",
    "paired",
    "pairing.close",
    "pairing.done",
    "pairing.open",
    "pairing.opened",
    "ping",
    "play.state",
    "pong",
    "reply.delta",
    "settings",
    "speech.start",
    "speech.stop",
    "stt.final",
    "stt.partial",
    "task.cancel",
    "task.update",
    "text",
    "turn.state",
    "welcome",
};

/* The codes of `error`: whether the connection usually ends, and how. */
struct sayso_error {
    const char *code;
    uint8_t fatal;
    uint16_t close;
};

static const struct sayso_error sayso_errors[] = {
    {"malformed", 1, 1007},
    {"invalid", 0, 1008},
    {"oversized", 1, 1009},
    {"out_of_order", 0, 1002},
    {"version_mismatch", 1, 4406},
    {"unauthorized", 1, 4401},
    {"forbidden", 0, 4403},
    {"hello_timeout", 1, 4408},
    {"replaced", 1, 4409},
    {"too_fast", 0, 4429},
    {"too_many", 1, 4430},
    {"ears_failed", 0, 1011},
    {"model_failed", 0, 1011},
    {"store_failed", 0, 1011},
    {"mouth_failed", 0, 1011},
    {"internal", 0, 1011},
};

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
