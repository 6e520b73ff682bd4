package graph

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/partition"
)

// swelling is a workflow whose text parameter has n bytes, and whose steps have these inputs.
func swelling(n int, inputs ...string) []byte {
	var b strings.Builder
	b.WriteString("name = \"w\"\n[parameters.t]\ntype = \"string\"\ndefault = \"" + strings.Repeat("x", n) + "\"\n[functions]\nf = \"f\"\n")
	for i, input := range inputs {
		b.WriteString("[[steps]]\nname = \"s" + string(rune('a'+i)) + "\"\ntype = \"map\"\nfunction = \"f\"\n" + input + "\n")
	}
	return []byte(b.String())
}

func nested(depth int, inner string) string {
	return strings.Repeat("[", depth) + inner + strings.Repeat("]", depth)
}

func TestHowDeepAnInputNests(t *testing.T) {
	for _, input := range []string{"items = ", "aggregator = \"merge\"\nitems = [1]\nparams = { p = "} {
		end := strings.Repeat("}", strings.Count(input, "{"))
		_, err := Parse(swelling(1, input+nested(partition.MaxItemDepth-1, "1")+end))
		require.NoError(t, err)
		_, err = Parse(swelling(1, input+nested(partition.MaxItemDepth, "1")+end))
		require.ErrorContains(t, err, "nest deeper than 64")
		_, err = Parse(swelling(1, input+nested(20_000, "\"{t}\"")+end))
		require.ErrorContains(t, err, "nest deeper than 64")
	}
	_, err := Parse(swelling(1, "items = "+strings.Repeat("[{a=", 10_000)+"1"+strings.Repeat("}]", 10_000)))
	require.ErrorContains(t, err, "nest deeper than 64")
}

func TestHowLongAnInputBecomes(t *testing.T) {
	// {"kind":"items","values":[…]} around 255 texts of 4096 bytes with quotation marks and commas, and one that fills it up.
	rest := partition.MaxSpecBytes - len(`{"kind":"items","values":[]}`) - 255*4099 - 2
	input := func(rest int) string {
		return "items = [" + strings.Repeat(`"{t}",`, 255) + `"` + strings.Repeat("y", rest) + `"]`
	}
	full := input(rest)
	_, err := Parse(swelling(4096, full))
	require.NoError(t, err)
	_, err = Parse(swelling(4096, input(rest+1)))
	require.ErrorContains(t, err, "steps.sa.items: the values become more than 1048576 bytes of JSON")

	_, err = Parse(swelling(4096, full, full, full, full))
	require.NoError(t, err)
	d, err := Read(swelling(4096, full, full, full, full, "items = [1]"))
	require.NoError(t, err)
	values, err := d.Values(nil)
	require.NoError(t, err)
	require.ErrorContains(t, d.checkSteps(), "steps.se.items: the values of all steps become more than 4194304 bytes of JSON")
	require.ErrorContains(t, d.Jobs(values), "the values of all steps become more than 4194304 bytes of JSON")
	_, err = d.Step("se").Job(values)
	require.NoError(t, err, "each for itself fits")

	params := "items = [1]\naggregator = \"merge\"\nparams = { p = [" + strings.Repeat(`"{t}",`, 256) + "] }"
	_, err = Parse(swelling(4096, params))
	require.ErrorContains(t, err, "steps.sa.params: the values become more than 1048576 bytes of JSON")
}

// TestWhatIsMadeOfAHostileInput counts bytes rather than time: of a template that would become 28 MB on each of its levels no more is made
// than may be.
func TestWhatIsMadeOfAHostileInput(t *testing.T) {
	var list []any
	for range 7000 {
		list = append(list, "{t}")
	}
	hostile := any(list)
	for range partition.MaxItemDepth - 1 {
		hostile = []any{hostile}
	}
	left := MaxExpandedBytes
	e := expansion{filler: filler{"x", Values{"t": Value{of: TypeString, text: strings.Repeat("x", MaxTextBytes)}}}, left: &left}
	require.ErrorContains(t, e.write(hostile, 0), "more than 1048576 bytes")
	require.LessOrEqual(t, e.out.Len(), partition.MaxSpecBytes)
	require.GreaterOrEqual(t, left, MaxExpandedBytes-partition.MaxSpecBytes)
}
