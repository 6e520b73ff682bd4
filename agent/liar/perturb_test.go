package liar

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ostraka/ostraka/runtime/canonical"
)

func TestPerturb(t *testing.T) {
	for _, test := range []struct {
		doc    string
		random uint64
		want   string
	}{
		{`{"passed":109,"tested":5000}`, 6, `{"passed":116,"tested":5000}`},
		{`{"passed":109,"tested":5000}`, 1006, `{"passed":109,"tested":5007}`},
		{`18446744073709551616`, 0, `18446744073709551617`},
		{`-1`, 0, `0`},
		{`{"a":"7 \" 8","b":1.5,"c":1e9}`, 42, `42`},
		{`[true,null,"x"]`, 42, `42`},
		{`"\\"`, 1, `1`},
		{`[0.5,[-3]]`, 9, `[0.5,[7]]`},
	} {
		require.Equal(t, test.want, string(perturb([]byte(test.doc), test.random)), test.doc)
	}
}

// A lie has the form of an answer, and is never the right one.
func TestPerturbedIsCanonicalAndWrong(t *testing.T) {
	value := rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			return json.Number(rapid.StringMatching(`0|-?[1-9][0-9]{0,30}`).Draw(t, "n"))
		case 1:
			return rapid.StringMatching(`[a-z0-9\\"é]{0,12}`).Draw(t, "s")
		case 2:
			return rapid.Bool().Draw(t, "b")
		default:
			return nil
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		doc, err := json.Marshal(map[string]any{"a": value.Draw(t, "a"), "b": rapid.SliceOf(value).Draw(t, "b")})
		if err != nil {
			t.Fatal(err)
		}
		if canonical.Check(doc, 1<<20) != nil {
			return // Go printed something that Python would print otherwise
		}
		lie := perturb(doc, rapid.Uint64().Draw(t, "random"))
		if err := canonical.Check(lie, 1<<20); err != nil {
			t.Fatalf("%s became %s: %v", doc, lie, err)
		}
		if string(lie) == string(doc) {
			t.Fatalf("%s stayed as it was", doc)
		}
	})
}

// The document comes from the function, which may be anybody's: whatever it is, the search for integers ends and stays inside.
func FuzzPerturb(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `"`, `"\`, `-`, `1e`, `--5`, ``, `[1,2,3]`, "\xff1"} {
		f.Add([]byte(seed), uint64(1))
	}
	f.Fuzz(func(t *testing.T, doc []byte, random uint64) {
		for _, i := range integers(doc) {
			if i.start < 0 || i.end > len(doc) || i.start >= i.end {
				t.Fatalf("an integer at %v of %d bytes", i, len(doc))
			}
		}
		if canonical.Check(doc, 1<<20) == nil && canonical.Check(perturb(doc, random), 2<<20) != nil {
			t.Fatalf("%q became %q", doc, perturb(doc, random))
		}
	})
}
