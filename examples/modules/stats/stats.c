// Stats is an aggregator in C: count, sum, least and greatest of the integers
// among the results, or of one field of them.
//
//   clang --target=wasm32-wasi -O2 -o stats.wasm stats.c
//
// Parameters: {"field": "ms"}. It needs nothing but a C library, not even a
// JSON one: records are lines, and it looks only at what it needs. The same
// source builds natively, with `cc -O2`, and reads the same lines.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, UNSUPPORTED = 64, BAD_INPUT = 65, MAX_LINE = 8 << 20, MAX_FIELD = 100 };

struct stats { int64_t n, count, sum, least, greatest, other; };

static char buffer[MAX_LINE + (64 << 10)]; // the lines that were read and not used yet
static size_t start, end;

static void fail(int code, const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(code);
}

// line returns the next line, ended by a NUL in place of its line feed, or NULL.
static char *line(void) {
    size_t seen = start;
    for (;;) {
        char *lf = memchr(buffer + seen, '\n', end - seen);
        if (lf) {
            char *l = buffer + start;
            *lf = 0;
            start = (size_t)(lf - buffer) + 1;
            return l;
        }
        seen = end - start;
        memmove(buffer, buffer + start, seen);
        start = 0, end = seen;
        if (sizeof buffer - end < 64 << 10) fail(BAD_INPUT, "a line is too long");
        ssize_t got = read(0, buffer + end, 64 << 10);
        if (got < 0) fail(BAD_INPUT, "reading failed");
        if (got == 0) return NULL; // every line ends with a line feed
        end += (size_t)got;
    }
}

// skip returns what follows a JSON value. The host sends nothing malformed.
static const char *skip(const char *p) {
    int depth = 0;
    do {
        switch (*p) {
        case 0: return p;
        case '"':
            for (p++; *p && *p != '"'; p++)
                if (*p == '\\' && p[1]) p++;
            if (*p) p++;
            break;
        case '{': case '[': depth++, p++; break;
        case '}': case ']': depth--, p++; break;
        case ',': case ':': p++; break;
        default:
            while (*p && *p != ',' && *p != ']' && *p != '}') p++;
        }
    } while (depth > 0);
    return p;
}

// member finds a member of the object at p; NULL if it is none or has no such member.
static const char *member(const char *p, const char *key, size_t length) {
    if (*p++ != '{') return NULL;
    while (*p == '"') {
        const char *name = p + 1;
        int found = !strncmp(name, key, length) && name[length] == '"';
        p = skip(p);
        if (*p != ':') return NULL;
        if (found) return p + 1;
        p = skip(p + 1);
        if (*p != ',') return NULL;
        p++;
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

static void item(struct stats *s, const char *p, const char *field) {
    const char *value = member(p, "result", 6);
    if (value && *field) value = member(value, field, strlen(field));
    int64_t v;
    s->n++;
    if (value && integer(value, &v)) add(s, 1, v, v, v);
    else s->other++;
}

static int64_t number(const char *p, const char *key) {
    int64_t v = 0;
    const char *value = member(p, key, strlen(key));
    if (!value || !integer(value, &v)) fail(BAD_INPUT, "a partial lacks a number");
    return v;
}

static void partial(struct stats *s, const char *p) {
    const char *data = member(p, "data", 4);
    if (!data) fail(BAD_INPUT, "a partial has no data");
    s->n += number(p, "n");
    s->other += number(data, "other");
    add(s, number(data, "count"), number(data, "sum"), number(data, "least"), number(data, "greatest"));
}

static const char *describe =
    "{\"t\":\"describe\",\"name\":\"stats\",\"version\":\"1.0.0\",\"kinds\":[\"aggregator\"],\"associative\":true,"
    "\"summary\":\"count, sum, least and greatest of integers\",\"params\":{\"type\":\"object\",\"additionalProperties\":false,"
    "\"properties\":{\"field\":{\"type\":\"string\",\"maxLength\":100,\"description\":\"field of the results to look at; left out: the results themselves\"}}}}";

int main(void) {
    struct stats s = {0};
    char field[MAX_FIELD * 4 + 1] = "";
    char *header = line();
    if (!header) fail(BAD_INPUT, "there is no header");
    const char *phase = member(header, "phase", 5), *params = member(header, "params", 6);
    const char *name = params ? member(params, "field", 5) : NULL;
    if (!phase || *phase != '"') fail(BAD_INPUT, "the header has no phase");
    if (name && *name == '"') {
        size_t length = (size_t)(skip(name) - name) - 2;
        if (length >= sizeof field) fail(BAD_INPUT, "the field's name is too long");
        memcpy(field, name + 1, length);
    }
    if (!strncmp(phase, "\"describe\"", 10)) {
        puts(describe);
        return OK;
    }
    int folds = !strncmp(phase, "\"leaf\"", 6), merges = !strncmp(phase, "\"merge\"", 7), finishes = !strncmp(phase, "\"final\"", 7);
    if (!folds && !merges && !finishes) fail(UNSUPPORTED, "this phase is not known");
    for (char *l; (l = line());) {
        if (folds) item(&s, l, field);
        else partial(&s, l);
    }
    printf("{\"t\":\"%s\",\"n\":%lld,\"data\":{\"count\":%lld,\"sum\":%lld,\"least\":%lld,\"greatest\":%lld,\"other\":%lld}",
           finishes ? "final" : "partial", (long long)s.n, (long long)s.count, (long long)s.sum, (long long)s.least,
           (long long)s.greatest, (long long)s.other);
    if (finishes) printf(",\"summary\":\"%lld integers, %lld results without one\"", (long long)s.count, (long long)s.other);
    puts("}");
    return OK;
}
