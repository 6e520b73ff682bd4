package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// counted are documents with as many values.
var counted = map[string]int{
	`7`: 1, `""`: 1, `[]`: 1, `{}`: 1, `[[]]`: 2, `[{},[]]`: 3, `{"a":[]}`: 2, `{"a":1,"b":[1,2,{"c":null}]}`: 7,
	`"a,[{\",\\"`: 1, `["\\",",","{"]`: 4, `{"[":"]","\\":{"}":[","]}}`: 5,
}

func TestValuesAreCountedAsTheyStand(t *testing.T) {
	for text, want := range counted {
		require.Equal(t, want, CountValues([]byte(text)), text)
		v, err := Read([]byte(text), "it")
		require.NoError(t, err)
		require.Equal(t, Size{Values: want, Bytes: len(text)}, v.size, text)
	}
}

// TestFaultsAreTold: each once, in the order of their places, and no more than people read.
func TestFaultsAreTold(t *testing.T) {
	s, err := Compile([]byte(`{"items":{"anyOf":[{"type":"string"},{"type":"string"}]}}`), "it")
	require.NoError(t, err)
	v, err := Read([]byte("["+strings.TrimSuffix(strings.Repeat("1,", 20), ",")+"]"), "it")
	require.NoError(t, err)
	faults, err := s.Check(v)
	require.NoError(t, err)
	require.Len(t, faults, MaxFaults)
	require.Equal(t, Fault{At: "0", Keyword: "type", Text: "got number, want string"}, faults[0])
	require.Equal(t, "1", faults[1].At)
	require.NoError(t, s.Affords(Size{Values: MaxWork / s.values, Bytes: 1 << 30}), "without patterns bytes cost nothing")
	require.Error(t, s.Affords(Size{Values: MaxWork/s.values + 1}))
}

// TestPatternsLookAtSoManyBytes: what is beyond is not looked at, neither in a value nor in a name.
func TestPatternsLookAtSoManyBytes(t *testing.T) {
	for _, text := range []string{`{"pattern":"a{0,450}b"}`, `{"patternProperties":{"a{0,450}b":true}}`} {
		s, err := Compile([]byte(text), "it")
		require.NoError(t, err)
		most := MaxPatternWork / s.steps
		require.NoError(t, s.Affords(Size{Values: 1, Bytes: most}))
		require.EqualError(t, s.Affords(Size{Values: 1, Bytes: most + 1}),
			fmt.Sprintf("%d bytes are to be held against patterns of %d instructions, and 200000000 are checked at most, multiplied", most+1, s.steps))
		require.InDelta(t, MaxPatternWork/PatternSteps, s.Work(Size{Bytes: most}), float64(s.steps))
		for extra, refused := range []bool{false, true} {
			v, err := Read([]byte(`"`+strings.Repeat("a", most-2+extra)+`"`), "it")
			require.NoError(t, err)
			_, err = s.Check(v)
			require.Equal(t, refused, err != nil, "%s with %d bytes more: %v", text, extra, err)
		}
	}
}

func FuzzCountValues(f *testing.F) {
	for text := range counted {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := Read(text, "it")
		if err != nil || strings.ContainsAny(string(text), " \t\r\n") {
			return
		}
		require.GreaterOrEqual(t, CountValues(text), v.size.Values, "of a key that comes twice one value is read")
	})
}
