// Refine is a planner in C: it looks for the best point of a plane, and asks for a
// finer grid around it until the grid is as fine as is wanted.
//
//   clang --target=wasm32-wasi -O2 -Wl,--strip-all -o refine.wasm refine.c
//
// The aggregate is a list of {"x": …, "y": …, "value": …}, as the built-in `concat`
// makes it of such results; the least value is the best. Parameters: {"half": 4,
// "points": 9, "shrink": 4, "tolerance": 0.001}. `half` is half the width of the
// first grid that it plans. It keeps nothing: how wide the last grid was it is told
// again in the record "said".
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, UNSUPPORTED = 64, BAD_INPUT = 65, MAX_LINE = 1 << 20, MAX_POINTS = 10000 };

static const char *DESCRIPTION =
    "{\"t\":\"describe\",\"name\":\"refine\",\"version\":\"1.0.0\",\"kinds\":[\"planner\"],"
    "\"summary\":\"a finer grid around the best point, until it is fine enough\","
    "\"params\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
    "\"half\":{\"type\":\"number\",\"exclusiveMinimum\":0,\"default\":4},"
    "\"points\":{\"type\":\"integer\",\"minimum\":2,\"maximum\":10000,\"default\":9},"
    "\"shrink\":{\"type\":\"number\",\"exclusiveMinimum\":1,\"default\":4},"
    "\"tolerance\":{\"type\":\"number\",\"exclusiveMinimum\":0,\"default\":0.001}}}}";

struct point { double x, y, value; int found; };

static char line[MAX_LINE + 2];

static void fail(int code, const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(code);
}

// next reads a line, and says whether there was one.
static int next(void) { return fgets(line, sizeof line, stdin) != NULL; }

// number finds the first number of a name from a place on. The host sends valid JSON
// without spaces, and no name here needs an escape.
static int number(const char *from, const char *name, double *value) {
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\":", name);
    const char *at = from ? strstr(from, quoted) : NULL;
    if (!at) return 0;
    char *end;
    at += strlen(quoted);
    *value = strtod(at, &end);
    return end != at && isfinite(*value);
}

// best is the point of the least value in the aggregate.
static struct point best(void) {
    struct point least = {0, 0, 0, 0};
    const char *data = strstr(line, "\"data\":[");
    for (const char *at = data ? strchr(data, '{') : NULL; at; at = strchr(at + 1, '{')) {
        struct point p = {0, 0, 0, 1};
        if (number(at, "x", &p.x) && number(at, "y", &p.y) && number(at, "value", &p.value) && (!least.found || p.value < least.value)) least = p;
    }
    return least;
}

// axis prints the values of an axis around a place.
static void axis(const char *name, double around, double half, int points) {
    printf("{\"name\":\"%s\",\"values\":[", name);
    for (int i = 0; i < points; i++) printf("%s%.12g", i ? "," : "", around + half * (2.0 * i / (points - 1) - 1));
    printf("]}");
}

int main(void) {
    if (!next()) fail(BAD_INPUT, "there is no header");
    if (strstr(line, "\"phase\":\"describe\"")) return puts(DESCRIPTION) < 0;
    if (!strstr(line, "\"phase\":\"run\"")) fail(UNSUPPORTED, "this phase is not known");
    const char *params = strstr(line, "\"params\":");
    double half = 4, points = 9, shrink = 4, tolerance = 0.001, round = 0;
    number(params, "half", &half);
    number(params, "points", &points);
    number(params, "shrink", &shrink);
    number(params, "tolerance", &tolerance);
    number(line, "round", &round);
    if (points < 2 || points > MAX_POINTS) fail(BAD_INPUT, "points are from 2 to 10000");
    struct point p = {0, 0, 0, 0};
    while (next()) {
        if (strstr(line, "\"t\":\"final\"")) p = best();
        if (strstr(line, "\"t\":\"said\"") && number(strstr(line, "\"data\":"), "half", &half)) half /= shrink;
    }
    if (!p.found) {
        puts("{\"t\":\"stop\",\"reason\":\"the aggregate has no point with x, y and value\"}");
        return OK;
    }
    if (round > 0 && half < tolerance) {
        printf("{\"t\":\"stop\",\"reason\":\"converged: %.6g at (%.6g, %.6g)\"}\n", p.value, p.x, p.y);
        return OK;
    }
    printf("{\"t\":\"job\",\"key\":\"half=%.12g\",\"partition\":{\"kind\":\"grid\",\"axes\":[", half);
    axis("x", p.x, half, (int)points);
    putchar(',');
    axis("y", p.y, half, (int)points);
    printf("]}}\n{\"t\":\"note\",\"reason\":\"best so far: %.6g at (%.6g, %.6g); next within %.6g of it\",\"data\":{\"half\":%.12g}}\n", p.value, p.x, p.y, half, half);
    return OK;
}
