// Anomaly is a heuristic: how far is a result from what is usual among the
// results that it is given with, which are those of one page of a job? It looks
// at how large the outputs are, how long they took, how much memory, and at the
// numbers in them.
//
// For each measure x, over the n results that have it:
//
//   spread = max(1.4826 · median(|x − median(x)|), floor)
//   spread = max(1.2533 · mean(|x − median(x)|), floor)   where the first median is 0
//   far    = |x − median(x)| / spread, at most 1e9; 0 where the spread is 0
//   score  = far / (far + threshold)                      so that 0.5 is the threshold
//
// The median of an even number of values is the mean of the two in the middle.
// The factors make the spread the standard deviation of normal values. Floors
// keep noise from counting: see `measures`. A result has the score of its
// farthest measure. Numbers beyond ±1e300 count as that.
//
// Median and deviation by the median, unlike mean and standard deviation, do
// not move as long as fewer than half of the results are strange.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OK = 0, UNSUPPORTED = 64, BAD_INPUT = 65,
    MAX_LINE = 2 << 20,    // bytes of a line: twice what the host sends
    CHUNK = 64 << 10,      // bytes read or written at once
    MAX_RESULTS = 100000,  // in a batch: the host takes as many lines
    MAX_FIELDS = 16,       // fields of outputs that are looked at
    MAX_NAME = 40,         // bytes of a field's name as JSON
    MAX_ID = 256,          // bytes of an ID as JSON
    MIN_RESULTS = 3,       // that the least number of results may be set to
    FIRST_FIELD = 5,       // the measures before are not from inside of an output
};

// A measure is looked at over all results.
struct measure {
    char name[MAX_NAME + 1];
    double absolute, relative; // floor of the spread: by itself, and as a share of the median
    int off;
    double *values;            // of each result; NaN where it has none
    size_t count;              // how many have one
    double median, spread;
};

// A shard that took 1 ms instead of 2 is not worth a look, one that took 1 ms
// instead of 300 is.
static struct measure measures[FIRST_FIELD + MAX_FIELDS] = {
    {.name = "output_bytes", .absolute = 16, .relative = 0.1},
    {.name = "cpu_us", .absolute = 20000, .relative = 0.1},
    {.name = "wall_us", .absolute = 20000, .relative = 0.1},
    {.name = "peak_rss_bytes", .absolute = 1 << 20, .relative = 0.1},
    {.name = "output", .relative = 1e-9}, // where it is a number
};
static int known = FIRST_FIELD; // measures, fields included
static int chosen;              // whether the parameters name the fields

static double threshold = 8;
static size_t least = 16; // results that a measure needs

static char *ids; // one after the other, as JSON, each with its quotes
static size_t ids_used, ids_room, results, room;

static void fail(int code, const char *why) {
    (void)!write(2, why, strlen(why));
    (void)!write(2, "\n", 1);
    exit(code);
}

static void *grown(void *p, size_t bytes) {
    p = realloc(p, bytes);
    if (!p) fail(BAD_INPUT, "there is not enough memory");
    return p;
}

// ---- lines in and out

static char input[MAX_LINE + CHUNK];
static char *next_line = input, *end_of_input = input;

// line returns the next line, which ends with a line feed; NULL at the end.
static const char *line(void) {
    char *from = next_line;
    for (;;) {
        char *feed = memchr(from, '\n', (size_t)(end_of_input - from));
        if (feed) {
            const char *start = next_line;
            next_line = feed + 1;
            return start;
        }
        size_t rest = (size_t)(end_of_input - next_line);
        if (rest > MAX_LINE) fail(BAD_INPUT, "a line is too long");
        memmove(input, next_line, rest);
        next_line = input;
        from = end_of_input = input + rest;
        ssize_t got = read(0, from, CHUNK);
        if (got < 0) fail(BAD_INPUT, "reading failed");
        if (got == 0) {
            if (rest) fail(BAD_INPUT, "the last line does not end");
            return NULL;
        }
        end_of_input += got;
    }
}

static char output[CHUNK];
static size_t filled;

static void flush(void) {
    for (size_t done = 0; done < filled;) {
        ssize_t n = write(1, output + done, filled - done);
        if (n <= 0) exit(BAD_INPUT);
        done += (size_t)n;
    }
    filled = 0;
}

static void put(const char *text, size_t n) {
    if (n > sizeof output - filled) flush();
    memcpy(output + filled, text, n); // nothing that is put is longer than the buffer
    filled += n;
}

static void say(const char *text) { put(text, strlen(text)); }

// whole prints an integer, with zeros before it up to so many digits.
static void whole(uint64_t v, int digits) {
    char text[20], *p = text + sizeof text;
    do *--p = (char)('0' + v % 10), v /= 10, digits--;
    while (v > 0 || digits > 0);
    put(p, (size_t)(text + sizeof text - p));
}

// number prints an integer below 1e15 as it is, and anything else with ten digits. It needs no C library: that would
// take more room than all of the rest.
static void number(double v) {
    if (v < 0) say("-"), v = -v;
    if (v < 1e15 && v == floor(v)) {
        whole((uint64_t)v, 1);
        return;
    }
    int exponent = 9;
    while (v >= 1e10) v /= 10, exponent++;
    while (v < 1e9) v *= 10, exponent--;
    uint64_t digits = (uint64_t)(v + 0.5);
    if (digits == 10000000000u) digits /= 10, exponent++;
    int plain = exponent >= -4 && exponent < 9, last = 9; // how many digits follow the first
    while (last > (plain && exponent > 0 ? exponent : 0) && digits % 10 == 0) digits /= 10, last--; // zeros behind the point
    uint64_t unit = 1;
    int point = plain ? last - exponent : last; // digits after the point
    for (int i = 0; i < point && i < 14; i++) unit *= 10;
    if (point > 0) whole(digits / unit, 1), say("."), whole(digits % unit, point);
    else whole(digits, 1);
    if (plain) return;
    say(exponent < 0 ? "e-" : "e+"), whole((uint64_t)abs(exponent), 2);
}

// share prints a number from 0 to 1.
static void share(double v) {
    uint64_t millionths = (uint64_t)(v * 1e6 + 0.5);
    whole(millionths / 1000000, 1), say("."), whole(millionths % 1000000, 6);
}

// ---- JSON: a line ends with a line feed, which is nowhere else in it

// string returns what follows the string whose opening quote is at p; NULL if it does not end.
static const char *string(const char *p) {
    for (p++; *p != '"'; p++) {
        if (*p == '\\') p++;
        if (*p == '\n') return NULL;
    }
    return p + 1;
}

// skip returns what follows the value at p; NULL if there is none.
static const char *skip(const char *p) {
    int depth = 0;
    do {
        switch (*p) {
        case '\n': case '\0': return NULL;
        case '"':
            if (!(p = string(p))) return NULL;
            break;
        case '{': case '[': depth++, p++; break;
        case '}': case ']':
            if (depth-- == 0) return NULL;
            p++;
            break;
        case ',': case ':':
            if (depth == 0) return NULL;
            p++;
            break;
        default: while (!strchr("\n,:]}[{\"", *p)) p++;
        }
    } while (depth > 0);
    return p;
}

struct member { const char *name; size_t length; const char *value, *end; };

// member reads the next member of an object of which *at is the opening brace or a comma; 0 after the last.
static int member(const char **at, struct member *m) {
    const char *p = *at;
    if (*p == '}' || (*p == '{' && p[1] == '}')) return 0;
    if ((*p != '{' && *p != ',') || p[1] != '"') fail(BAD_INPUT, "a line is not a JSON object");
    const char *after = string(p + 1);
    if (!after || *after != ':') fail(BAD_INPUT, "a line is not a JSON object");
    m->name = p + 2, m->length = (size_t)(after - p - 3), m->value = after + 1;
    m->end = *at = skip(m->value);
    if (!m->end || (*m->end != ',' && *m->end != '}')) fail(BAD_INPUT, "a line is not a JSON object");
    return 1;
}

static int is(const struct member *m, const char *name) { return m->length == strlen(name) && !memcmp(m->name, name, m->length); }

static int says(const struct member *m, const char *text) {
    size_t n = strlen(text);
    return (size_t)(m->end - m->value) == n + 2 && *m->value == '"' && !memcmp(m->value + 1, text, n);
}

static int digit(char c) { return c >= '0' && c <= '9'; }

// scaled multiplies by a power of ten, within ±1e300.
static double scaled(double v, int64_t exponent) {
    double tens = 1, factor = 10;
    for (uint64_t n = (uint64_t)(exponent < 0 ? -exponent : exponent); n > 0 && tens <= 1e300; n /= 2, factor *= factor)
        if (n % 2) tens *= factor;
    return exponent < 0 ? v / tens : fmin(v * tens, 1e300);
}

// numeric reads a JSON number that is all of a value, to 18 digits and a few units in the last place of a double.
static int numeric(const char *p, const char *end, double *value) {
    int negative = *p == '-', point = 0, digits = 0;
    int64_t exponent = 0, e = 0;
    uint64_t mantissa = 0;
    p += negative;
    if (!digit(*p)) return 0;
    for (; p < end && (digit(*p) || (*p == '.' && !point)); p++) {
        if (*p == '.') {
            point = 1;
            continue;
        }
        if (digits < 18) mantissa = mantissa * 10 + (uint64_t)(*p - '0'), digits += mantissa > 0, exponent -= point;
        else exponent += !point;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        int sign = p[1] == '-' ? -1 : 1;
        p += 1 + (p[1] == '-' || p[1] == '+');
        if (!digit(*p)) return 0;
        for (; digit(*p); p++)
            if (e < 100000) e = e * 10 + (*p - '0');
        exponent += sign * e;
    }
    if (p != end) return 0;
    double v = mantissa == 0 ? 0 : scaled((double)mantissa, exponent);
    *value = negative ? -v : v;
    return 1;
}

// ---- parameters

static double limited(const struct member *m, double low, double high, const char *why) {
    double v;
    if (!numeric(m->value, m->end, &v) || v < low || v > high) fail(BAD_INPUT, why);
    return v;
}

// each calls `take` for every string of the list at p, without its quotes.
static void each(const char *p, void (*take)(const char *, size_t), const char *why) {
    if (*p++ != '[') fail(BAD_INPUT, why);
    while (*p == '"') {
        const char *after = string(p);
        take(p + 1, (size_t)(after - p - 2));
        p = after + (*after == ',');
    }
    if (*p != ']') fail(BAD_INPUT, why);
}

static void choose(const char *name, size_t n) {
    for (int i = 0; i < FIRST_FIELD; i++)
        if (strlen(measures[i].name) == n && !memcmp(measures[i].name, name, n)) {
            measures[i].off = 0;
            return;
        }
    fail(BAD_INPUT, "\"measures\" are of output_bytes, cpu_us, wall_us, peak_rss_bytes and output");
}

// field finds the measure of a field of the outputs. Of fields that nobody named the first ones are taken.
static struct measure *field(const char *name, size_t n, int make) {
    for (int i = FIRST_FIELD; i < known; i++)
        if (strlen(measures[i].name) == n && !memcmp(measures[i].name, name, n)) return &measures[i];
    if (!make || n == 0 || n > MAX_NAME || known == FIRST_FIELD + MAX_FIELDS) return NULL;
    struct measure *m = &measures[known++];
    memcpy(m->name, name, n);
    m->relative = 1e-9; // what adding up in another order makes
    if (room) {
        m->values = grown(NULL, room * sizeof *m->values);
        for (size_t i = 0; i < room; i++) m->values[i] = NAN;
    }
    return m;
}

static void named(const char *name, size_t n) {
    if (!field(name, n, 1)) fail(BAD_INPUT, "\"fields\" are at most 16 names of 1 to 40 bytes");
}

static void parameters(const char *at) {
    struct member m;
    while (member(&at, &m)) {
        if (is(&m, "threshold")) threshold = limited(&m, 0.1, 1e6, "\"threshold\" is a number from 0.1 to 1000000");
        else if (is(&m, "min_results")) {
            least = (size_t)limited(&m, MIN_RESULTS, MAX_RESULTS, "\"min_results\" is a number from 3 to 100000");
        } else if (is(&m, "measures")) {
            for (int i = 0; i < FIRST_FIELD; i++) measures[i].off = 1;
            each(m.value, choose, "\"measures\" is a list of names");
        } else if (is(&m, "fields")) {
            chosen = 1;
            each(m.value, named, "\"fields\" is a list of names");
        } else fail(BAD_INPUT, "the parameters are threshold, min_results, measures and fields");
    }
}

// ---- results

static void make_room(void) {
    if (results < room) return;
    size_t more = room ? room * 2 : 1024;
    for (int i = 0; i < known; i++) {
        measures[i].values = grown(measures[i].values, more * sizeof(double));
        for (size_t j = room; j < more; j++) measures[i].values[j] = NAN;
    }
    room = more;
}

static void keep(struct measure *m, const char *p, const char *end) {
    double v;
    if (!m || m->off || !numeric(p, end, &v)) return;
    m->count += isnan(m->values[results]);
    m->values[results] = v;
}

static void content(const char *p, const char *end) {
    keep(&measures[FIRST_FIELD - 1], p, end);
    if (*p != '{') return;
    struct member m;
    while (member(&p, &m)) {
        double v;
        if (numeric(m.value, m.end, &v)) keep(field(m.name, m.length, !chosen), m.value, m.end);
    }
}

static void measured(const char *p) {
    if (*p != '{') return;
    struct member m;
    while (member(&p, &m))
        for (int i = 0; i < FIRST_FIELD - 1; i++)
            if (is(&m, measures[i].name)) keep(&measures[i], m.value, m.end);
}

static void identify(const struct member *m) {
    size_t n = (size_t)(m->end - m->value);
    if (*m->value != '"' || n > MAX_ID) fail(BAD_INPUT, "an item has no ID of at most 256 bytes");
    if (ids_used + n > ids_room) ids = grown(ids, ids_room = 2 * (ids_used + n) + CHUNK);
    memcpy(ids + ids_used, m->value, n);
    ids_used += n;
}

static void item(const char *at) {
    struct member m;
    int identified = 0, about_results = 0;
    if (results == MAX_RESULTS) fail(BAD_INPUT, "there are more than 100000 results");
    make_room();
    while (member(&at, &m)) {
        if (is(&m, "id") && !identified++) identify(&m);
        else if (is(&m, "subject")) about_results = says(&m, "result");
        else if (is(&m, "content")) content(m.value, m.end);
        else if (is(&m, "measures")) measured(m.value);
    }
    if (!identified) fail(BAD_INPUT, "an item has no ID");
    if (!about_results) fail(UNSUPPORTED, "it looks at results, and at nothing else");
    results++;
}

// ---- statistics

// sort merges runs of 1, 2, 4, … values: no values that anybody chooses make it slow.
static void sort(double *values, double *spare, size_t n) {
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t from = 0; from < n; from += 2 * run) {
            size_t middle = from + run < n ? from + run : n, to = from + 2 * run < n ? from + 2 * run : n, i = from, j = middle;
            for (size_t at = from; at < to; at++) spare[at] = j == to || (i < middle && values[i] <= values[j]) ? values[i++] : values[j++];
        }
        memcpy(values, spare, n * sizeof *values);
    }
}

// median sorts the values.
static double median(double *values, double *spare, size_t n) {
    sort(values, spare, n);
    return n % 2 ? values[n / 2] : values[n / 2 - 1] / 2 + values[n / 2] / 2;
}

static void weigh(struct measure *m, double *sorted, double *spare) {
    size_t n = 0;
    for (size_t i = 0; i < results; i++)
        if (!isnan(m->values[i])) sorted[n++] = m->values[i];
    m->median = median(sorted, spare, n);
    double mean = 0;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = fabs(sorted[i] - m->median);
        mean += sorted[i] / (double)n;
    }
    m->spread = 1.4826 * median(sorted, spare, n);
    if (m->spread == 0) m->spread = 1.2533 * mean;
    m->spread = fmax(m->spread, fmax(m->absolute, m->relative * fabs(m->median)));
}

static int looks(const struct measure *m) { return !m->off && m->count >= least; }

static double far(const struct measure *m, size_t i) {
    if (!looks(m) || isnan(m->values[i]) || m->spread == 0) return 0;
    return fmin(fabs(m->values[i] - m->median) / m->spread, 1e9);
}

static double score(double far) { return far / (far + threshold); }

static void label(int i) {
    if (i >= FIRST_FIELD) say("output.");
    say(measures[i].name);
}

static void told(int i, size_t of) {
    const struct measure *m = &measures[i];
    number(m->values[of]), say(", the median of "), number((double)m->count), say(" is "), number(m->median);
    say(" and the spread "), number(m->spread), say(": "), number(far(m, of)), say(" spreads away");
}

// answer says what is far from usual about a result.
static void answer(size_t of, const char *id, size_t length) {
    int worst = -1, any = 0;
    for (int i = 0; i < known; i++)
        if (far(&measures[i], of) > (worst < 0 ? 0 : far(&measures[worst], of))) worst = i;
    say("{\"id\":");
    put(id, length);
    say(",\"score\":"), share(worst < 0 ? 0 : score(far(&measures[worst], of)));
    if (worst >= 0 && far(&measures[worst], of) >= threshold) {
        say(",\"labels\":[");
        for (int i = 0; i < known; i++)
            if (far(&measures[i], of) >= threshold) say(any++ ? ",\"" : "\""), label(i), say("\"");
        say("],\"explain\":\""), label(worst), say(" is "), told(worst, of), say("\",\"findings\":[");
        any = 0;
        for (int i = 0; i < known; i++)
            if (far(&measures[i], of) >= threshold) {
                say(any++ ? ",{\"label\":\"" : "{\"label\":\""), label(i);
                say("\",\"weight\":"), share(score(far(&measures[i], of)));
                say(",\"what\":\""), told(i, of), say("\"}");
            }
        say("]");
    }
    say("}\n");
}

static void answers(void) {
    double *sorted = grown(NULL, (results + 1) * sizeof *sorted), *spare = grown(NULL, (results + 1) * sizeof *spare);
    for (int i = 0; i < known; i++)
        if (looks(&measures[i])) weigh(&measures[i], sorted, spare);
    const char *id = ids;
    for (size_t i = 0; i < results; i++) {
        const char *after = string(id);
        answer(i, id, (size_t)(after - id));
        id = after;
    }
}

static const char description[] =
    "{\"t\":\"describe\",\"name\":\"anomaly\",\"version\":\"1.0.0\",\"kinds\":[\"heuristic\"],\"separate\":false,"
    "\"summary\":\"how far a result is from the median of its page: size, times, memory and numbers of its output\","
    "\"params\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
    "\"threshold\":{\"type\":\"number\",\"minimum\":0.1,\"maximum\":1000000,\"default\":8,\"description\":\"from how many spreads a result is strange: there its score is 0.5\"},"
    "\"min_results\":{\"type\":\"integer\",\"minimum\":3,\"maximum\":100000,\"default\":16,\"description\":\"how many results must have a measure for it to be looked at\"},"
    "\"measures\":{\"type\":\"array\",\"items\":{\"enum\":[\"output_bytes\",\"cpu_us\",\"wall_us\",\"peak_rss_bytes\",\"output\"]},\"description\":\"what is looked at; all if left out\"},"
    "\"fields\":{\"type\":\"array\",\"maxItems\":16,\"items\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":40},\"description\":\"numbers of the outputs that are looked at; the first 16 that there are if left out\"}}}}\n";

int main(void) {
    const char *header = line();
    if (!header) fail(BAD_INPUT, "there is no header");
    struct member m;
    int describes = 0, runs = 0, heuristic = 0;
    while (member(&header, &m)) {
        if (is(&m, "phase")) describes = says(&m, "describe"), runs = says(&m, "run");
        else if (is(&m, "kind")) heuristic = says(&m, "heuristic");
        else if (is(&m, "params")) {
            if (*m.value != '{') fail(BAD_INPUT, "the parameters are not an object");
            parameters(m.value);
        }
    }
    if (!heuristic || (!describes && !runs)) fail(UNSUPPORTED, "this kind or phase is not known");
    if (describes) {
        say(description);
    } else {
        for (const char *l; (l = line());) item(l);
        answers();
    }
    flush();
    return OK;
}
