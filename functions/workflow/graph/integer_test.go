package graph

import (
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestIntegers(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "007": "7", "2^64": "18446744073709551616", "2^64+10^9": "18446744074709551616", "10^18-1": "999999999999999999", " 2 ^ 3 ": "8",
		"2^3^2": "512", "-2^2": "-4", "(-2)^2": "4", "2*3+4*5": "26", "2*(3+4)*5": "70", "1-2-3": "-4", "5 - -3": "8", "3*-2": "-6",
		"(-1)^3": "-1", "0^0": "1", "1^999999999999": "1", "(0-1)^1000000": "1", "7^0": "1",
	} {
		x, err := Integer("f", text)
		require.NoError(t, err, text)
		require.Equal(t, want, x.String(), text)
	}
	for text, want := range map[string]string{
		"": "no integer", "x": "no integer", "1 2": "no integer", "2^": "no integer", "(1": "no integer", "1)": "no integer", "1.5": "no integer", "--1": "no integer",
		"0x10": "no integer", "２": "no integer", "2^(0-1)": "negative exponent", "2^2^2^2^2^2": "more than", "9^99999999999999999999": "more than",
		strings.Repeat("(", MaxNesting+1) + "1": "nests deeper", strings.Repeat("1^", MaxNesting+1) + "1": "nests deeper",
	} {
		_, err := Integer("f", text)
		require.ErrorContains(t, err, want, text)
	}
}

func TestHowLargeIntegersAre(t *testing.T) {
	x, err := Integer("f", "2^3399+(2^3399-1)")
	require.NoError(t, err)
	require.Equal(t, MaxBits, x.BitLen())
	for _, text := range []string{"2^3400", "2^3399+2^3399", "(2^1700)^2", "3^3400"} {
		_, err = Integer("f", text)
		require.ErrorContains(t, err, "more than 3400 bits", text)
	}
	_, err = Integer("f", strings.Repeat("(", MaxNesting)+"1"+strings.Repeat(")", MaxNesting))
	require.NoError(t, err)
	_, err = Integer("f", strings.Repeat("0", MaxExpressionBytes))
	require.NoError(t, err)
	_, err = Integer("f", strings.Repeat("0", MaxExpressionBytes+1))
	require.ErrorContains(t, err, "the limit is 4096")
}

// expression makes an expression and what it is worth.
func expression(t *rapid.T, depth int) (string, *big.Int) {
	if depth == 0 || rapid.Bool().Draw(t, "plain") {
		x := rapid.Int64Range(0, 1000).Draw(t, "x")
		return big.NewInt(x).String(), big.NewInt(x)
	}
	a, x := expression(t, depth-1)
	b, y := expression(t, depth-1)
	switch operator := rapid.SampledFrom([]string{"+", "-", "*"}).Draw(t, "operator"); operator {
	case "+":
		return "(" + a + ")+(" + b + ")", new(big.Int).Add(x, y)
	case "-":
		return "(" + a + ") - (" + b + ")", new(big.Int).Sub(x, y)
	default:
		return "(" + a + ")*(" + b + ")", new(big.Int).Mul(x, y)
	}
}

func TestIntegersAreWhatArithmeticSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, want := expression(t, 5)
		got, err := Integer("f", text)
		require.NoError(t, err, text)
		require.Zero(t, want.Cmp(got), text)
	})
}

func FuzzInteger(f *testing.F) {
	for _, seed := range []string{"2^64+10^9", "((1))", "-2^2", "9^9^9", "1 -", strings.Repeat("(", 20)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x, err := Integer("f", text)
		if err != nil {
			var wrong *Error
			require.ErrorAs(t, err, &wrong)
			return
		}
		require.LessOrEqual(t, x.BitLen(), MaxBits)
		again, err := Integer("f", x.String())
		require.NoError(t, err)
		require.Zero(t, x.Cmp(again))
	})
}
