/* Reading the fields of a Sayso message in place: no allocation, no recursion, a few dozen bytes of stack.

   A message is one JSON object. sayso_field() finds one of its own fields by name and says where its value
   lies; sayso_text() and sayso_whole() read it. That is all that a small device needs. */
#ifndef SAYSO_JSON_H
#define SAYSO_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum sayso_kind { SAYSO_IS_TEXT, SAYSO_IS_NUMBER, SAYSO_IS_TRUE, SAYSO_IS_FALSE, SAYSO_IS_NULL, SAYSO_IS_OBJECT, SAYSO_IS_ARRAY };

struct sayso_value {
    enum sayso_kind kind;
    const char *at;  /* of a text: behind its quote */
    size_t size;     /* of a text: without its quotes, escapes not undone */
};

static inline size_t sayso_space(const char *json, size_t size, size_t at)
{
    while (at < size && (json[at] == ' ' || json[at] == '\t' || json[at] == '\n' || json[at] == '\r')) at++;
    return at;
}

/* Returns where the text that begins at `at` (a quote) ends, behind its quote; 0 if it does not end. */
static inline size_t sayso_skip_text(const char *json, size_t size, size_t at)
{
    for (at++; at < size; at++) {
        if (json[at] == '\\') at++;
        else if (json[at] == '"') return at + 1;
    }
    return 0;
}

/* Returns where the value that begins at `at` ends; 0 if it does not end. */
static inline size_t sayso_skip_value(const char *json, size_t size, size_t at)
{
    size_t depth = 0;
    if (at >= size) return 0;
    if (json[at] == '"') return sayso_skip_text(json, size, at);
    if (json[at] != '{' && json[at] != '[') {
        while (at < size && !strchr(",}] \t\r\n", json[at])) at++;
        return at;
    }
    while (at < size) {
        if (json[at] == '"') {
            at = sayso_skip_text(json, size, at);
            if (!at) return 0;
            continue;
        }
        if (json[at] == '{' || json[at] == '[') depth++;
        if ((json[at] == '}' || json[at] == ']') && --depth == 0) return at + 1;
        at++;
    }
    return 0;
}

static inline enum sayso_kind sayso_kind_of(char first)
{
    switch (first) {
    case '"': return SAYSO_IS_TEXT;
    case '{': return SAYSO_IS_OBJECT;
    case '[': return SAYSO_IS_ARRAY;
    case 't': return SAYSO_IS_TRUE;
    case 'f': return SAYSO_IS_FALSE;
    case 'n': return SAYSO_IS_NULL;
    default: return SAYSO_IS_NUMBER;
    }
}

/* Finds a field of the object itself, not of objects in it. Returns 0 if it is there, else -1. */
static inline int sayso_field(const char *json, size_t size, const char *name, struct sayso_value *value)
{
    size_t named = strlen(name), at = sayso_space(json, size, 0), key, end;
    if (at >= size || json[at] != '{') return -1;
    at = sayso_space(json, size, at + 1);
    while (at < size && json[at] == '"') {
        key = at + 1;
        end = sayso_skip_text(json, size, at);
        if (!end) return -1;
        at = sayso_space(json, size, end);
        if (at >= size || json[at] != ':') return -1;
        at = sayso_space(json, size, at + 1);
        if (at >= size) return -1;
        value->kind = sayso_kind_of(json[at]);
        value->at = json + at + (value->kind == SAYSO_IS_TEXT);
        if (end - 1 - key == named && memcmp(json + key, name, named) == 0) {
            end = sayso_skip_value(json, size, at);
            if (!end) return -1;
            value->size = end - at - (value->kind == SAYSO_IS_TEXT ? 2 : 0);
            return 0;
        }
        at = sayso_skip_value(json, size, at);
        if (!at) return -1;
        at = sayso_space(json, size, at);
        if (at < size && json[at] == ',') at = sayso_space(json, size, at + 1);
    }
    return -1;
}

/* Reads a whole number. Returns 0, or -1 if it is none. */
static inline int sayso_whole(const struct sayso_value *value, int64_t *number)
{
    size_t at = 0;
    int negative = value->size > 0 && value->at[0] == '-';
    if (value->kind != SAYSO_IS_NUMBER) return -1;
    *number = 0;
    for (at = negative; at < value->size; at++) {
        if (value->at[at] < '0' || value->at[at] > '9' || *number > INT64_MAX / 10 - 1) return -1;
        *number = *number * 10 + (value->at[at] - '0');
    }
    if (negative) *number = -*number;
    return at > (size_t)negative ? 0 : -1;
}

static inline int sayso_hex4(const char *at, uint32_t *unit)
{
    int digit;
    *unit = 0;
    for (digit = 0; digit < 4; digit++) {
        char c = at[digit];
        uint32_t nibble = c >= '0' && c <= '9' ? (uint32_t)(c - '0')
            : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
            : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10) : 16;
        if (nibble == 16) return -1;
        *unit = *unit << 4 | nibble;
    }
    return 0;
}

static inline size_t sayso_utf8(uint32_t point, char *out)
{
    if (point < 0x80) { out[0] = (char)point; return 1; }
    if (point < 0x800) { out[0] = (char)(0xC0 | point >> 6); out[1] = (char)(0x80 | (point & 63)); return 2; }
    if (point < 0x10000) {
        out[0] = (char)(0xE0 | point >> 12);
        out[1] = (char)(0x80 | (point >> 6 & 63));
        out[2] = (char)(0x80 | (point & 63));
        return 3;
    }
    out[0] = (char)(0xF0 | point >> 18);
    out[1] = (char)(0x80 | (point >> 12 & 63));
    out[2] = (char)(0x80 | (point >> 6 & 63));
    out[3] = (char)(0x80 | (point & 63));
    return 4;
}

/* Writes a text, its escapes undone, as UTF-8 with a zero behind it. Returns its length, or -1 if it does not
   fit or is broken. */
static inline long sayso_text(const struct sayso_value *value, char *out, size_t room)
{
    size_t at = 0, length = 0;
    static const char plain[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (value->kind != SAYSO_IS_TEXT) return -1;
    while (at < value->size) {
        uint32_t point, low;
        const char *found;
        if (length + 5 > room) return -1;
        if (value->at[at] != '\\') { out[length++] = value->at[at++]; continue; }
        if (++at >= value->size) return -1;
        if (value->at[at] != 'u') {
            found = strchr(plain, value->at[at++]);
            if (!found) return -1;
            out[length++] = meant[found - plain];
            continue;
        }
        if (at + 5 > value->size || sayso_hex4(value->at + at + 1, &point)) return -1;
        at += 5;
        if (point >= 0xD800 && point < 0xDC00) {
            if (at + 6 > value->size || value->at[at] != '\\' || sayso_hex4(value->at + at + 2, &low)) return -1;
            point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
            at += 6;
        }
        length += sayso_utf8(point, out + length);
    }
    out[length] = 0;
    return (long)length;
}

#endif
