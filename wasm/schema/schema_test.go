package schema

import (
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
		require.Equal(t, want, v.values, text)
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
	require.NoError(t, s.Affords(MaxWork/s.values))
	require.Error(t, s.Affords(MaxWork/s.values+1))
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
		require.GreaterOrEqual(t, CountValues(text), v.values, "of a key that comes twice one value is read")
	})
}
