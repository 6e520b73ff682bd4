// Counts the palindromes among the integers of a range: a command for WASI.
// The shard's input is one line of JSON on standard input, {"from":"...","to":"..."},
// and the result one JSON value on standard output. It must be the same for the same input.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(1);
}

// bound reads a decimal text of the input, such as "from":"12".
static uint64_t bound(const char *input, const char *name) {
    const char *at = strstr(input, name);
    if (at == NULL) fail("the input must be {\"from\":\"...\",\"to\":\"...\"}");
    at += strlen(name);
    uint64_t value = 0;
    const char *digit = at;
    for (; *digit >= '0' && *digit <= '9'; digit++) {
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, (uint64_t)(*digit - '0'), &value))
            fail("a bound is beyond 64 bits");
    }
    if (digit == at || *digit != '"') fail("a bound is no decimal number");
    return value;
}

static int is_palindrome(uint64_t n) {
    uint64_t reversed = 0;
    for (uint64_t left = n; left > 0; left /= 10) {
        if (__builtin_mul_overflow(reversed, 10, &reversed) || __builtin_add_overflow(reversed, left % 10, &reversed))
            return 0; // beyond 64 bits, so not n
    }
    return reversed == n;
}

int main(void) {
    static char input[4096];
    input[fread(input, 1, sizeof input - 1, stdin)] = 0;
    uint64_t from = bound(input, "\"from\":\""), to = bound(input, "\"to\":\"");
    if (to < from) fail("the range is reversed");
    uint64_t palindromes = 0;
    for (uint64_t n = from; n < to; n++) palindromes += is_palindrome(n);
    printf("{\"palindromes\":%llu,\"tested\":%llu}\n", (unsigned long long)palindromes, (unsigned long long)(to - from));
    return 0;
}
