package bundle

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/wasm/schema"
)

// schemaOf is the schema of outputs of a manifest with these lines.
func schemaOf(t *testing.T, lines string) *OutputSchema {
	t.Helper()
	m, err := ParseManifest([]byte("name = \"f\"\n" + lines))
	require.NoError(t, err)
	s, err := m.OutputSchema()
	require.NoError(t, err)
	return s
}

const chainSchema = `
[output.schema]
type = "object"
required = ["longest", "start"]
additionalProperties = false

[output.schema.properties]
longest = { type = "integer", minimum = 0 }
start = { type = "string", pattern = "^[0-9]+$" }
`

func TestOutputsAgainstTheirSchema(t *testing.T) {
	s := schemaOf(t, chainSchema)
	for output, says := range map[string]string{
		`{"longest":178,"start":"871"}`:                  "",
		`{"longest":18446744073709551629,"start":"871"}`: "", // beyond 64 bits
		`{"longest":178}`:                                "output (required)",
		`{"longest":1.5,"start":"871"}`:                  "output.longest (type)",
		`{"longest":-1,"start":"x"}`:                     "output.longest (minimum), output.start (pattern)",
		`{"longest":1,"more":1,"start":"1"}`:             "output (additionalProperties)",
		`7`:                                              "output (type)",
	} {
		fault := s.Check([]byte(output))
		if says == "" {
			require.Nil(t, fault, output)
			continue
		}
		require.NotNil(t, fault, output)
		require.Equal(t, "the output is not as [output.schema] says: "+says, fault.Message)
		require.NotEmpty(t, fault.Detail)
	}
	require.Contains(t, s.Check([]byte(`{"longest":1.5,"start":"871"}`)).Detail, "output.longest: ")
	require.Nil(t, schemaOf(t, "").Check([]byte("7")), "without a schema every output will do")
}

// TestFaultsAreTheSameEverywhere: the message votes, so that it must not depend on the order of a map.
func TestFaultsAreTheSameEverywhere(t *testing.T) {
	var properties, members []string
	for i := range 30 {
		properties = append(properties, fmt.Sprintf("k%02d = { type = \"string\" }", i))
		members = append(members, fmt.Sprintf(`"k%02d":%d`, i, i))
	}
	output := []byte("{" + strings.Join(members, ",") + "}")
	first := schemaOf(t, "[output.schema.properties]\n"+strings.Join(properties, "\n")).Check(output)
	require.Equal(t, "the output is not as [output.schema] says: output.k00 (type), output.k01 (type), output.k02 (type), output.k03 (type), output.k04 (type)", first.Message)
	for range 20 {
		require.Equal(t, first, schemaOf(t, "[output.schema.properties]\n"+strings.Join(properties, "\n")).Check(output))
	}
}

// TestWhatAnOutputMayCostToCheck: an output that is too much is an error of the function, wherever it is looked at.
func TestWhatAnOutputMayCostToCheck(t *testing.T) {
	s := schemaOf(t, "[output.schema]\nitems = { type = \"integer\" }")
	list := func(n int) []byte { return []byte("[" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]") }
	const values = 3 // of the schema
	most := schema.MaxWork/values - 1
	require.Nil(t, s.Check(list(most)))
	require.Equal(t, schema.MaxWork/values*values, s.Work(list(most)))
	require.Contains(t, s.Check(list(most+1)).Message, "cannot be held against [output.schema]")
	require.Equal(t, schema.MaxWork, s.Work(list(most+1)), "what is not checked costs no more")
	require.Contains(t, s.Check([]byte(strings.Repeat("9", schema.MaxNumber+1))).Message, "cannot be held against")
	require.Zero(t, schemaOf(t, "").Work(list(5)))
}

// TestPatternsOfAnOutputMayCostSoMuch: the bytes of an output times the instructions of all patterns, of which every one is counted twice.
func TestPatternsOfAnOutputMayCostSoMuch(t *testing.T) {
	s := schemaOf(t, "[output.schema]\npattern = \"a{0,450}b|c\"")
	text := func(n int) []byte { return []byte(`"c` + strings.Repeat("a", n-3) + `"`) }
	most := sort.Search(1<<20, func(n int) bool { return n > 3 && s.schema.Affords(sizeOf(text(n))) != nil }) - 1
	require.Greater(t, most, 100_000)
	require.Nil(t, s.Check(text(most)))
	require.InDelta(t, MaxOutputWork-schema.MaxWork, s.Work(text(most)), 20)
	require.Regexp(t, `^the output cannot be held against \[output.schema\]: \d+ bytes are to be held against patterns of \d+ instructions`, s.Check(text(most+1)).Message)
	require.Equal(t, schema.MaxWork, s.Work(text(most+1)), "what is not checked costs no more")
}

func TestSchemasThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ lines, says string }{
		"no keyword's type":  {"[output.schema]\ntype = \"number of things\"", "is not JSON Schema"},
		"a reference":        {"[output.schema]\nitems = { \"$ref\" = \"#\" }", "uses $ref"},
		"another reference":  {"[output.schema]\n\"$dynamicRef\" = \"https://example.com/s\"", "uses $dynamicRef"},
		"another's dialect":  {"[output.schema]\n\"$schema\" = \"https://example.com/s\"", "not part of the schema"},
		"no expression":      {"[output.schema]\npattern = \"((\"", "is not JSON Schema"},
		"a large expression": {"[output.schema]\npattern = \"^x{900}y{900}$\"", "2000 instructions"},
		"a large schema":     {"[output.schema]\ntitle = \"" + strings.Repeat("x", schema.MaxBytes) + "\"", "16384"},
		"a deep schema":      {"[output.schema]\nitems = " + strings.Repeat("{ not = ", canonical.MaxDepth) + "{}" + strings.Repeat(" }", canonical.MaxDepth), "deep"},
		"no number":          {"[output.schema]\nminimum = nan", "cannot be written as JSON"},
		"another key":        {"[output]\nschemas = {}", "unknown field output.schemas"},
		"no table":           {"[output]\nschema = 7", "line"},
	} {
		_, err := ParseManifest([]byte("name = \"f\"\n" + c.lines))
		require.ErrorContains(t, err, c.says, name)
	}
}

func FuzzOutputAgainstSchema(f *testing.F) {
	f.Add([]byte(`{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}`), []byte(`{"a":1}`))
	f.Add([]byte(`{"anyOf":[{"pattern":"^(a|b)*$"},{"multipleOf":0.1}]}`), []byte(`1e308`))
	f.Fuzz(func(t *testing.T, text, output []byte) {
		m := Manifest{Output: &Output{Schema: text}}
		s, err := m.OutputSchema()
		if err != nil || canonical.Check(output, 1<<16) != nil {
			return
		}
		if a, b := s.Check(output), s.Check(output); a != nil {
			require.Equal(t, *a, *b)
		}
	})
}
