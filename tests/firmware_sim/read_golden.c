/* Reads a golden transcript from standard input with the headers that firmware uses, and says what it saw:
   one line for each frame, to be compared with what the reference says. */
#include <stdio.h>
#include <stdlib.h>

#include "sayso_json.h"
#include "sayso_wire.h"

static char line[1 << 20], text[1 << 18], name[64], direction[8];
static uint8_t bytes[1 << 16];

static int64_t whole(const char *json, size_t size, const char *field, int64_t otherwise)
{
    struct sayso_value value;
    int64_t number;
    if (sayso_field(json, size, field, &value) || sayso_whole(&value, &number)) return otherwise;
    return number;
}

static int read_text(const struct sayso_value *value)
{
    struct sayso_value t;
    long size = sayso_text(value, text, sizeof text);
    if (size < 0) return 1;
    if (sayso_field(text, (size_t)size, "t", &t) || sayso_text(&t, name, sizeof name) < 0) {
        printf("%s malformed\n", direction);
        return 0;
    }
    printf("%s %s seq %lld turn %lld gen %lld%s\n", direction, name, (long long)whole(text, (size_t)size, "seq", -1),
        (long long)whole(text, (size_t)size, "turn", -1), (long long)whole(text, (size_t)size, "gen", -1),
        sayso_message_of(name) == SAYSO_UNKNOWN ? " unknown" : "");
    return 0;
}

static int read_sound(const struct sayso_value *hex, int64_t zeros)
{
    struct sayso_frame frame;
    uint8_t again[SAYSO_HEADER_BYTES];
    size_t at, size = hex->size / 2;
    for (at = 0; at < size; at++) {
        char pair[3] = {hex->at[2 * at], hex->at[2 * at + 1], 0};
        bytes[at] = (uint8_t)strtol(pair, NULL, 16);
    }
    if (size + (size_t)zeros > sizeof bytes) return 1;
    memset(bytes + size, 0, (size_t)zeros);
    if (sayso_read_frame(bytes, size + (size_t)zeros, &frame)) {
        printf("%s short\n", direction);
        return 0;
    }
    sayso_write_header(&frame, again);
    printf("%s sound kind %u stream %u seq %lu first %lu bytes %zu%s%s\n", direction, frame.kind, frame.stream,
        (unsigned long)frame.seq, (unsigned long)frame.first_sample, frame.payload_bytes,
        frame.flags & SAYSO_FLAG_LAST ? " last" : "", memcmp(again, bytes, SAYSO_HEADER_BYTES) ? " rewritten" : "");
    return 0;
}

int main(void)
{
    while (fgets(line, sizeof line, stdin)) {
        size_t size = strlen(line);
        struct sayso_value value;
        if (!sayso_field(line, size, "note", &value)) continue;
        if (!sayso_field(line, size, "close", &value)) {
            printf("close %lld\n", (long long)whole(line, size, "close", -1));
            continue;
        }
        if (sayso_field(line, size, "dir", &value) || sayso_text(&value, direction, sizeof direction) < 0) return 1;
        if (!sayso_field(line, size, "text", &value)) {
            if (read_text(&value)) return 1;
        } else if (sayso_field(line, size, "hex", &value) || read_sound(&value, whole(line, size, "zeros", 0))) {
            return 1;
        }
    }
    return 0;
}
