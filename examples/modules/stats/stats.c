// Stats is an aggregator in C: count, sum, least and greatest of the integers
// among the results, or of one field of them.
//
//   clang --target=wasm32-wasi -O2 -msimd128 -o stats.wasm stats.c
//
// Parameters: {"field": "ms"}. It needs nothing but a C library, not even a
// JSON one: records are lines, and it looks only at what it needs, sixteen
// bytes at a time. The same source builds natively, with `cc -O2`, and reads
// the same lines.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, UNSUPPORTED = 64, BAD_INPUT = 65, MAX_LINE = 8 << 20, CHUNK = 64 << 10, MAX_FIELD = 100 };

struct stats { int64_t n, count, sum, least, greatest, other; };

static char buffer[MAX_LINE + CHUNK + 16]; // what was read and not used yet; `until` looks 16 bytes ahead
static char *next = buffer;               // the next line
static char *whole = buffer;              // the end of the last line that is there as a whole
static char *end = buffer;                // the end of what was read

static void fail(int code, const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(code);
}

// line returns the next line, or NULL at the end. It ends with a line feed.
static const char *line(void) {
    while (next == whole) {
        size_t rest = (size_t)(end - next);
        memmove(buffer, next, rest);
        next = whole = buffer;
        char *fresh = end = buffer + rest;
        if (rest > MAX_LINE) fail(BAD_INPUT, "a line is too long");
        ssize_t got = read(0, fresh, CHUNK);
        if (got < 0) fail(BAD_INPUT, "reading failed");
        if (got == 0) return NULL; // every line ends with a line feed
        end += got;
        for (char *p = end; p > fresh && whole == buffer; p--)
            if (p[-1] == '\n') whole = p;
    }
    return next;
}

// Sixteen bytes in one register, and the same as two numbers; the first byte is the lowest of a number on every machine
// that this is built for. Compilers know them without a header of the machine's own.
typedef unsigned char block __attribute__((vector_size(16)));
typedef uint64_t halves __attribute__((vector_size(16)));

// until returns the first byte c or line feed from p on. It compares sixteen bytes in one go.
static inline const char *until(const char *p, char c) {
    for (;; p += sizeof(block)) {
        block bytes;
        memcpy(&bytes, p, sizeof bytes);
        halves found = (halves)(bytes == (unsigned char)c) | (halves)(bytes == '\n');
        if (found[0]) return p + __builtin_ctzll(found[0]) / 8;
        if (found[1]) return p + 8 + __builtin_ctzll(found[1]) / 8;
    }
}

// done tells that the line at p needs to be looked at no further.
static void done(const char *p) { next = (char *)until(p, '\n') + 1; }

// escaped tells whether the quote at p is part of the string that it is in.
static int escaped(const char *p) {
    int odd = 0;
    while (*--p == '\\') odd = !odd;
    return odd;
}

// string returns what follows the string whose opening quote is at p.
static inline const char *string(const char *p) {
    do p = until(p + 1, '"');
    while (*p == '"' && p[-1] == '\\' && escaped(p));
    return p + (*p == '"');
}

// skip returns what follows a JSON value. The host sends nothing malformed.
static const char *skip(const char *p) {
    int depth = 0;
    do {
        switch (*p) {
        case '\n': return p;
        case '"': p = string(p); break;
        case '{': case '[': depth++, p++; break;
        case '}': case ']': depth--, p++; break;
        case ',': case ':': p++; break;
        default:
            while (*p != '\n' && *p != ',' && *p != ']' && *p != '}') p++;
        }
    } while (depth > 0);
    return p;
}

// member finds a member of the object at p; NULL if it is none or has no such member.
static const char *member(const char *p, const char *key, size_t length) {
    if (*p++ != '{') return NULL;
    while (*p == '"') {
        const char *name = p + 1;
        p = string(p);
        if (*p != ':') return NULL;
        if ((size_t)(p - name) == length + 1 && !memcmp(name, key, length)) return p + 1;
        p = skip(p + 1);
        if (*p++ != ',') return NULL;
    }
    return NULL;
}

// integer reads a whole number of at most 18 digits; 0 if there is something else.
static int integer(const char *p, int64_t *value) {
    int negative = *p == '-', digits = 0;
    int64_t v = 0;
    for (p += negative; *p >= '0' && *p <= '9'; p++, digits++) v = v * 10 + (*p - '0');
    if (digits == 0 || digits > 18 || *p == '.' || *p == 'e' || *p == 'E') return 0;
    *value = negative ? -v : v;
    return 1;
}

static void add(struct stats *s, int64_t count, int64_t sum, int64_t least, int64_t greatest) {
    if (count == 0) return;
    if (s->count == 0 || least < s->least) s->least = least;
    if (s->count == 0 || greatest > s->greatest) s->greatest = greatest;
    s->count += count;
    if (__builtin_add_overflow(s->sum, sum, &s->sum)) fail(BAD_INPUT, "the sum does not fit 64 bits");
}

// item counts a result and returns how far it looked.
static const char *item(struct stats *s, const char *p, const char *field, size_t length) {
    const char *value = member(p, "result", 6);
    if (value && length) value = member(value, field, length);
    int64_t v;
    s->n++;
    if (value && integer(value, &v)) add(s, 1, v, v, v);
    else s->other++;
    return value ? value : p;
}

static int64_t number(const char *p, const char *key) {
    int64_t v = 0;
    const char *value = member(p, key, strlen(key));
    if (!value || !integer(value, &v)) fail(BAD_INPUT, "a partial lacks a number");
    return v;
}

static const char *partial(struct stats *s, const char *p) {
    const char *data = member(p, "data", 4);
    if (!data) fail(BAD_INPUT, "a partial has no data");
    s->n += number(p, "n");
    s->other += number(data, "other");
    add(s, number(data, "count"), number(data, "sum"), number(data, "least"), number(data, "greatest"));
    return p;
}

static const char *describe =
    "{\"t\":\"describe\",\"name\":\"stats\",\"version\":\"1.0.0\",\"kinds\":[\"aggregator\"],\"associative\":true,"
    "\"summary\":\"count, sum, least and greatest of integers\",\"params\":{\"type\":\"object\",\"additionalProperties\":false,"
    "\"properties\":{\"field\":{\"type\":\"string\",\"maxLength\":100,\"description\":\"field of the results to look at; left out: the results themselves\"}}}}";

int main(void) {
    struct stats s = {0};
    char field[MAX_FIELD * 4 + 1] = "";
    size_t length = 0;
    const char *header = line();
    if (!header) fail(BAD_INPUT, "there is no header");
    const char *phase = member(header, "phase", 5), *params = member(header, "params", 6);
    const char *name = params ? member(params, "field", 5) : NULL;
    if (!phase || *phase != '"') fail(BAD_INPUT, "the header has no phase");
    if (name && *name == '"') {
        length = (size_t)(string(name) - name) - 2;
        if (length >= sizeof field) fail(BAD_INPUT, "the field's name is too long");
        memcpy(field, name + 1, length);
    }
    if (!strncmp(phase, "\"describe\"", 10)) {
        puts(describe);
        return OK;
    }
    int folds = !strncmp(phase, "\"leaf\"", 6), merges = !strncmp(phase, "\"merge\"", 7), finishes = !strncmp(phase, "\"final\"", 7);
    if (!folds && !merges && !finishes) fail(UNSUPPORTED, "this phase is not known");
    done(header);
    for (const char *l; (l = line());) done(folds ? item(&s, l, field, length) : partial(&s, l));
    printf("{\"t\":\"%s\",\"n\":%lld,\"data\":{\"count\":%lld,\"sum\":%lld,\"least\":%lld,\"greatest\":%lld,\"other\":%lld}",
           finishes ? "final" : "partial", (long long)s.n, (long long)s.count, (long long)s.sum, (long long)s.least,
           (long long)s.greatest, (long long)s.other);
    if (finishes) printf(",\"summary\":\"%lld integers, %lld results without one\"", (long long)s.count, (long long)s.other);
    puts("}");
    return OK;
}
