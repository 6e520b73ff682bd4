package partition

import (
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestChooseSize(t *testing.T) {
	for length, want := range map[int64]string{0: "1", 1: "1", 1000: "1", 1001: "2", 2000: "2", 2001: "5", 5000: "5", 5001: "10", 1_000_000: "1000", 1_000_001: "2000"} {
		require.Equal(t, want, ChooseSize(big.NewInt(7), big.NewInt(7+length)).String(), length)
	}
}

func TestParseRangeOfAnySize(t *testing.T) {
	r, err := ParseRangeOfAnySize("2^64:2^64+10^9")
	require.NoError(t, err)
	require.Equal(t, "1000000", r.Size.String())
	for text, code := range map[string]Code{"5:1": CodeRangeReversed, "5:5": CodeRangeEmpty, "5": CodeRangeSyntax, "0:10^5000": CodeIntegerTooLong} {
		_, err := ParseRangeOfAnySize(text)
		var refused *Error
		require.ErrorAs(t, err, &refused, text)
		require.Equal(t, code, refused.Code, text)
	}
	_, err = ParseRangeOfAnySize("0:9^1000")
	require.NoError(t, err)
}

func TestAChosenSizeMakesAValidRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, _ := new(big.Int).SetString(rapid.StringMatching(`-?[1-9][0-9]{0,60}`).Draw(t, "from"), 10)
		length, _ := new(big.Int).SetString(rapid.StringMatching(`[1-9][0-9]{0,60}`).Draw(t, "length"), 10)
		to := new(big.Int).Add(from, length)
		r := Range{From: from, To: to, Size: ChooseSize(from, to)}
		require.NoError(t, r.Validate())
		require.LessOrEqual(t, r.Count(), int64(ChosenShards))
		if r.Size.Cmp(big.NewInt(1)) > 0 {
			require.Greater(t, r.Count(), int64(ChosenShards)*2/5-1)
		}
	})
}

func TestChosenBytesOfLinesAlwaysFit(t *testing.T) {
	text := strings.Repeat("\n", 3*ChosenLineBytes)
	lines := NewLineReader(strings.NewReader(text), Lines{Bytes: ChosenLineBytes})
	_, err := lines.Next()
	require.NoError(t, err)
}
