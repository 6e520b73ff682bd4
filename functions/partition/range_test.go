package partition

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func requireCode(t require.TestingT, code Code, err error) *Error {
	var refused *Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, code, refused.Code, refused.Error())
	require.NotEmpty(t, refused.Hint, "an error says what to do next")
	require.Less(t, len(refused.Error()), 500, "a message is no place for the input")
	return refused
}

func TestParseRange(t *testing.T) {
	for _, tc := range []struct{ text, size, from, to, shards string }{
		{"0:10", "3", "0", "10", "4"},
		{"2^64:2^64+1000000", "1000", "18446744073709551616", "18446744073710551616", "1000"},
		{"2^64:2^64+10^6", "10^3", "18446744073709551616", "18446744073710551616", "1000"},
		{"-10:-1", "2", "-10", "-1", "5"},
		{"10^18-1:10^18", "1", "999999999999999999", "1000000000000000000", "1"},
		{" 2 ^ 3 : 2 ^ 4 - 1 ", " 1 ", "8", "15", "7"},
		{"-2^2:0", "1", "-4", "0", "4"},
		{"007:0^0+9", "1", "7", "10", "3"},
		{"0:10000000", "1", "0", "10000000", "10000000"},
		{"0:1", "10^999", "0", "1", "1"},
	} {
		r, err := ParseRange(tc.text, tc.size)
		require.NoError(t, err, tc.text)
		require.Equal(t, tc.from, r.From.String(), tc.text)
		require.Equal(t, tc.to, r.To.String(), tc.text)
		require.Equal(t, tc.shards, r.count().String(), tc.text)
	}
}

func TestParseRangeRefuses(t *testing.T) {
	nines := strings.Repeat("9", MaxDigits)
	_, err := ParseRange(nines+":"+nines, "1")
	requireCode(t, CodeRangeEmpty, err) // MaxDigits digits are read

	for _, tc := range []struct {
		text, size string
		code       Code
	}{
		{"", "1", CodeRangeSyntax},
		{"1", "1", CodeRangeSyntax},
		{"1:2:3", "1", CodeRangeSyntax},
		{"1:", "1", CodeNotAnInteger},
		{":1", "1", CodeNotAnInteger},
		{"a:1", "1", CodeNotAnInteger},
		{"1.5:2", "1", CodeNotAnInteger},
		{"1e3:1e4", "1", CodeNotAnInteger},
		{"1_000:2_000", "1", CodeNotAnInteger},
		{"0x10:0x20", "1", CodeNotAnInteger},
		{"+1:2", "1", CodeNotAnInteger},
		{"--1:2", "1", CodeNotAnInteger},
		{"1:2^-1", "1", CodeNotAnInteger},
		{"1:2^2^2", "1", CodeNotAnInteger},
		{"1:2+3+4", "1", CodeNotAnInteger},
		{"1:2*3", "1", CodeNotAnInteger},
		{"1:٣", "1", CodeNotAnInteger},
		{"5:5", "1", CodeRangeEmpty},
		{"6:5", "1", CodeRangeReversed},
		{"1:2", "", CodeShardSize},
		{"1:2", "0", CodeShardSize},
		{"1:2", "-1", CodeShardSize},
		{"1:2", "x", CodeNotAnInteger},
		{"0:10000001", "1", CodeTooManyShards},
		{"0:10^999", "1", CodeTooManyShards},
		{nines + "9:1", "1", CodeIntegerTooLong},
		{"0:10^1000", "1", CodeIntegerTooLong},
		{"0:2^99999999999999999999", "1", CodeIntegerTooLong},
		{"0:99^9223372036854775807", "1", CodeIntegerTooLong},
		{"0:" + nines + "+1", "1", CodeIntegerTooLong},
		{"0:1^5000", "1", CodeIntegerTooLong},
	} {
		_, err := ParseRange(tc.text, tc.size)
		requireCode(t, tc.code, err)
	}
}

func TestTooManyShardsAdvisesASizeThatWorks(t *testing.T) {
	_, err := ParseRange("0:2^64", "1000")
	refused := requireCode(t, CodeTooManyShards, err)
	require.Equal(t, "use a shard size of at least 1844674407371, or several jobs", refused.Hint)
	_, err = ParseRange("0:2^64", "1844674407371")
	require.NoError(t, err)
	_, err = ParseRange("0:2^64", "1844674407370")
	requireCode(t, CodeTooManyShards, err)
}

func drawRange(t *rapid.T) Range {
	decimal := rapid.StringMatching(`-?[1-9][0-9]{0,39}`)
	from, _ := new(big.Int).SetString(decimal.Draw(t, "from"), 10)
	size, _ := new(big.Int).SetString(strings.TrimPrefix(decimal.Draw(t, "size"), "-"), 10)
	shards := rapid.Int64Range(1, 3000).Draw(t, "shards")
	length := new(big.Int).Mul(size, big.NewInt(shards-1))
	last := new(big.Int).Mod(big.NewInt(rapid.Int64Range(0, 1<<62).Draw(t, "last")), size)
	length.Add(length, last).Add(length, big.NewInt(1))
	return Range{From: from, To: new(big.Int).Add(from, length), Size: size}
}

// The shards of a range are disjoint, in order, not empty, at most Size long,
// and cover the range exactly.
func TestShardsCoverTheRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRange(t)
		require.NoError(t, r.Validate())
		next := r.From
		for n := range r.Count() {
			from, to := r.Bounds(n)
			require.Zero(t, from.Cmp(next), "shard %d begins where the one before ends", n)
			require.Positive(t, to.Cmp(from))
			length := new(big.Int).Sub(to, from)
			require.LessOrEqual(t, length.Cmp(r.Size), 0)
			require.True(t, length.Cmp(r.Size) == 0 || n == r.Count()-1, "only the last shard is short")
			next = to
		}
		require.Zero(t, next.Cmp(r.To))
		require.Panics(t, func() { r.Bounds(r.Count()) })
		require.Panics(t, func() { r.Bounds(-1) })
	})
}

func TestInput(t *testing.T) {
	r, err := ParseRange("2^64:2^64+1500", "1000")
	require.NoError(t, err)
	require.Equal(t, `{"from":"18446744073709551616","to":"18446744073709552616"}`, string(r.Input(0)))
	require.Equal(t, `{"from":"18446744073709552616","to":"18446744073709553116"}`, string(r.Input(1)))
	require.Equal(t, `x{"from":"18446744073709552616","to":"18446744073709553116"}`, string(r.AppendInput([]byte("x"), 1)))
	require.True(t, json.Valid(r.Input(0)))
}

func TestPages(t *testing.T) {
	for _, tc := range []struct{ count, pages int64 }{
		{-1, 0}, {0, 0}, {1, 1}, {PageSize, 1}, {PageSize + 1, 2}, {MaxShards, 9766},
	} {
		require.Equal(t, tc.pages, Pages(tc.count))
	}
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.Int64Range(0, 20*PageSize).Draw(t, "count")
		next := int64(0)
		for page := range Pages(count) {
			first, last := PageBounds(page, count)
			require.Equal(t, next, first)
			require.Equal(t, page, PageOf(first))
			require.Equal(t, page, PageOf(last-1))
			next = last
		}
		require.Equal(t, count, next)
		for _, page := range []int64{-1, Pages(count)} {
			first, last := PageBounds(page, count)
			require.Equal(t, first, last)
		}
	})
}

func FuzzParseRange(f *testing.F) {
	for _, seed := range []string{"0:10", "2^64:2^64+1000000", "-5:5", "10^18-1:10^18", "1:2:3", "9:1", "2^99999999:1", "a:b"} {
		f.Add(seed, "1000")
	}
	f.Add("0:10", "0")
	f.Fuzz(func(t *testing.T, text, size string) {
		r, err := ParseRange(text, size)
		if err != nil {
			var refused *Error
			require.ErrorAs(t, err, &refused)
			requireCode(t, refused.Code, err)
			return
		}
		require.NoError(t, r.Validate())
		first, _ := r.Bounds(0)
		_, last := r.Bounds(r.Count() - 1)
		require.Zero(t, first.Cmp(r.From))
		require.Zero(t, last.Cmp(r.To))
		again, err := ParseRange(r.From.String()+":"+r.To.String(), r.Size.String())
		require.NoError(t, err)
		require.Equal(t, r.Input(0), again.Input(0))
	})
}

func BenchmarkInput(b *testing.B) {
	r, err := ParseRange("2^64:2^64+10^9", "1000")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var dst []byte
	for n := int64(0); b.Loop(); n++ {
		dst = r.AppendInput(dst[:0], n%1_000_000)
	}
}
