/*
 * Counts the primes of [from, to), also beyond 2^64, with a segmented sieve.
 *
 *   {"from":"18446744073709551616","to":"18446744073719551616"}  ->  {"primes":225121}
 *
 * It is a WASI command: one line of JSON on stdin, one JSON value on stdout. The same file compiles natively, to try it.
 * Every odd prime up to the square root of `to` is found in segments, and crosses out its multiples in the range.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_INPUT = 256,
	MAX_RANGE = 1 << 27,    /* numbers in one shard */
	SMALL = 1 << 16,        /* primes below it find those below 2^32 */
	SEGMENT_WORDS = 1 << 12 /* 64 odd numbers each: a segment stays in the processor's cache */
};

/* What sieving with primes below 2^32 can reach: the next prime is 2^32 + 15, and its square is larger. */
static const uint64_t MAX_ABOVE = UINT64_C(1) << 36;

typedef struct {
	uint32_t high; /* 0 or 1: numbers are below 2^65 */
	uint64_t low;
} number;

static _Noreturn void fail(const char *why) {
	fprintf(stderr, "sieve: %s\n", why);
	exit(65);
}

/* field reads "name":"digits". */
static number field(const char *json, const char *name) {
	const char *at = strstr(json, name);
	number n = {0, 0};
	int digits = 0;
	if (!at || !(at = strchr(at + strlen(name), ':'))) fail("the input has no from and to");
	for (at++; *at == ' ' || *at == '"'; at++) {}
	for (; *at >= '0' && *at <= '9'; at++, digits++) {
		uint64_t low = (n.low & 0xffffffff) * 10 + (uint64_t)(*at - '0');
		uint64_t middle = (n.low >> 32) * 10 + (low >> 32);
		uint64_t high = (uint64_t)n.high * 10 + (middle >> 32);
		if (high > 1) fail("a number is 2^65 or more");
		n.high = (uint32_t)high;
		n.low = middle << 32 | (low & 0xffffffff);
	}
	if (digits == 0) fail("from and to are numbers, or texts of digits");
	return n;
}

/* remainder is n mod p, for p below 2^32. */
static uint64_t remainder_of(number n, uint64_t p) {
	uint64_t r = ((uint64_t)n.high << 32 | n.low >> 32) % p;
	return (r << 32 | (n.low & 0xffffffff)) % p;
}

/* root is the largest r with r * r <= n, at most 2^32 - 1. */
static uint64_t root(number n) {
	uint64_t r = 0;
	if (n.high) return 0xffffffff;
	for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
		if ((r | bit) * (r | bit) <= n.low) r |= bit;
	return r;
}

static number first;            /* the first odd number of the range */
static uint64_t odds;           /* how many there are */
static uint64_t *crossed;       /* a bit for each */
static uint64_t segment[SEGMENT_WORDS];
static uint32_t small[SMALL / 8], next[SMALL / 8];
static int smalls;

/* cross crosses out the odd multiples of p in the range, from p * p on. */
static void cross(uint64_t p) {
	uint64_t r = remainder_of(first, p), off = r ? p - r : 0, i;
	if (off & 1) off += p;
	if (!first.high && first.low < p * p && off < p * p - first.low) off = p * p - first.low;
	for (i = off / 2; i < odds; i += p) crossed[i >> 6] |= UINT64_C(1) << (i & 63);
}

static void find_smalls(void) {
	static unsigned char composite[SMALL];
	for (uint32_t i = 3; i < SMALL; i += 2) {
		if (composite[i]) continue;
		small[smalls++] = i;
		for (uint64_t j = (uint64_t)i * i; j < SMALL; j += 2 * i) composite[j] = 1;
	}
	for (int k = 0; k < smalls; k++) next[k] = (uint32_t)(((uint64_t)small[k] * small[k] - 1) / 2);
}

/* sieve_segment finds the odd primes of a segment: bit i stands for base + 2 i + 1. */
static void sieve_segment(uint64_t base, uint64_t last) {
	const uint32_t bits = SEGMENT_WORDS * 64;
	memset(segment, 0, sizeof segment);
	for (int k = 0; k < smalls; k++) {
		uint32_t p = small[k], i = next[k];
		for (; i < bits; i += p) segment[i >> 6] |= UINT64_C(1) << (i & 63);
		next[k] = i - bits;
	}
	if (base == 0) segment[0] |= 1; /* 1 is no prime */
	for (uint32_t w = 0; w < SEGMENT_WORDS; w++) {
		for (uint64_t left = ~segment[w]; left; left &= left - 1) {
			uint64_t p = base + 2 * (64 * (uint64_t)w + (uint64_t)__builtin_ctzll(left)) + 1;
			if (p > last) return;
			cross(p);
		}
	}
}

static uint64_t count(number from, number to) {
	uint64_t size = to.low - from.low, primes = 0, last;
	number largest = to;
	if (to.high < from.high || (to.high == from.high && to.low <= from.low)) return 0;
	if (to.high - from.high != (to.low < from.low) || size > MAX_RANGE) fail("a shard has at most 2^27 numbers");
	if (to.high && to.low > MAX_ABOVE) fail("to is at most 2^64 + 2^36");
	first = from;
	first.low |= 1;
	odds = (from.low & 1) ? (size + 1) / 2 : size / 2;
	if (!(crossed = calloc(odds / 64 + 1, 8))) fail("there is no memory for the range");
	if (largest.low-- == 0) largest.high--;
	last = root(largest);
	find_smalls();
	for (uint64_t base = 0; base < last; base += 2 * 64 * (uint64_t)SEGMENT_WORDS) sieve_segment(base, last);
	for (uint64_t i = 0; i < odds; i += 64) {
		uint64_t alive = ~crossed[i >> 6];
		if (odds - i < 64) alive &= (UINT64_C(1) << (odds - i)) - 1;
		primes += (uint64_t)__builtin_popcountll(alive);
	}
	if (!first.high && first.low == 1 && odds > 0) primes--; /* 1 is no prime */
	if (!from.high && from.low <= 2 && (to.high || to.low > 2)) primes++;
	return primes;
}

int main(void) {
	char input[MAX_INPUT + 1];
	size_t n = fread(input, 1, MAX_INPUT, stdin);
	input[n] = 0;
	if (n == MAX_INPUT) fail("the input is too long");
	printf("{\"primes\":%llu}\n", (unsigned long long)count(field(input, "\"from\""), field(input, "\"to\"")));
	return 0;
}
