package canonical

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestForm(t *testing.T) {
	for in, want := range map[string]string{
		" [1, 2.50, 1e2, -0, -0.0, 1e-7, 1E16]\n":                                 `[1,2.5,100.0,0,-0.0,1e-07,1e+16]`,
		`{"b": {"z": 1, "a": null}, "a": true, "\u00e9": "\u00e9\/\u0001\t\"\\"}`: `{"a":true,"b":{"a":null,"z":1},"é":"é/\u0001\t\"\\"}`,
		"123456789012345678901234567890":                                          "123456789012345678901234567890",
		`""`:                                                                      `""`,
		"\"\x7f\u2028<&>\"":                                                       "\"\x7f\u2028<&>\"",
	} {
		got, err := Form([]byte(in), 1<<10)
		require.NoError(t, err, in)
		require.Equal(t, want, string(got))
		again, err := Form(got, 1<<10)
		require.NoError(t, err)
		require.Equal(t, got, again, "it is its own form")
	}
	for _, in := range []string{"", " ", "1 2", "{", "NaN", "1e999", `{"a":1,"a":2}`, `"\ud800"`, "\"\x00\"", "\xff"} {
		_, err := Form([]byte(in), 1<<10)
		require.Error(t, err, in)
	}
	_, err := Form([]byte("[1]"), 2)
	require.Error(t, err)
}

// FuzzForm: what is brought into form is in it, and stays as it is.
func FuzzForm(f *testing.F) {
	f.Add([]byte(`{"b": [1, 2.0e3, "\u00e9"], "a": null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		form, err := Form(b, 1<<16)
		if err != nil {
			require.Error(t, Valid(b, 1<<16))
			return
		}
		require.Equal(t, string(byTree(t, b)), string(form))
		require.NoError(t, Check(form, len(form)))
		again, err := Form(form, len(form))
		require.NoError(t, err)
		require.Equal(t, form, again)
	})
}

// byTree is the form of a valid document, by way of a tree.
func byTree(t *testing.T, b []byte) []byte {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v))
	return putTree(t, nil, v)
}

func putTree(t *testing.T, b []byte, v any) []byte {
	t.Helper()
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return putText(b, v)
	case json.Number:
		if v == "-0" {
			v = "0"
		}
		if !strings.ContainsAny(v.String(), ".eE") {
			return append(b, v...)
		}
		f, err := v.Float64()
		require.NoError(t, err)
		return appendFloat(b, f)
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = putTree(t, b, item)
		}
		return append(b, ']')
	}
	fields := v.(map[string]any)
	b = append(b, '{')
	for i, key := range slices.Sorted(maps.Keys(fields)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = putTree(t, append(putText(b, key), ':'), fields[key])
	}
	return append(b, '}')
}

func putText(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		b = appendRune(b, r)
	}
	return append(b, '"')
}

// TestFormIsThatOfTheTree has the cases of the other tests, and documents at random whose keys are alike and escaped in every way.
func TestFormIsThatOfTheTree(t *testing.T) {
	docs := corpus(t)
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		docs = append(docs, anyDocument(r, nil, 5))
	}
	objects := 0
	for _, doc := range docs {
		form, err := Form(doc, len(doc))
		if err != nil {
			require.Error(t, Valid(doc, len(doc)), "%s", doc)
			continue
		}
		require.Equal(t, string(byTree(t, doc)), string(form), "%s", doc)
		objects += bytes.Count(form, []byte(`":`))
	}
	require.Greater(t, objects, 3000)
}

func anyDocument(r *rand.Rand, b []byte, depth int) []byte {
	switch kind := r.IntN(8); {
	case kind < 3 && depth > 0:
		b = append(b, "{ "...)
		for i := range r.IntN(6) {
			if i > 0 {
				b = append(b, " ,\n"...)
			}
			b = append(anyText(r, b), " :\t"...)
			b = anyDocument(r, b, depth-1)
		}
		return append(b, " }"...)
	case kind < 5 && depth > 0:
		b = append(b, "[\r"...)
		for i := range r.IntN(4) {
			if i > 0 {
				b = append(b, ',')
			}
			b = anyDocument(r, b, depth-1)
		}
		return append(b, " ]"...)
	case kind < 6:
		return anyText(r, b)
	}
	scalars := []string{"null", "true", "false", "-0", "0", "-0.0", "1e2", "1E-7", "12345678901234567890", "1.50", "1e15", "-1e999"}
	return append(b, scalars[r.IntN(len(scalars))]...)
}

func anyText(r *rand.Rand, b []byte) []byte {
	parts := []string{"a", "b", `\n`, `\u000a`, `\u0001`, `\u001F`, `\"`, `\\`, `\/`, "/", "!", "[", "]", "é", `\u00e9`, "\x7f", "\U0001F600", `\ud83d\ude00`, "\uffff", `\u0061`}
	b = append(b, '"')
	for range r.IntN(4) {
		b = append(b, parts[r.IntN(len(parts))]...)
	}
	return append(b, '"')
}

// TestFormTakesMemoryInProportion: who sends the most that is allowed does not fill the machine. It counts all that was allocated, also
// what was free again before the end.
func TestFormTakesMemoryInProportion(t *testing.T) {
	const most = 16 << 20
	var members strings.Builder
	for i := most/12 - 1; i > 0; i-- {
		fmt.Fprintf(&members, `"%07d":0,`, i)
	}
	for name, doc := range map[string]string{
		"objects":     "[" + strings.Repeat(`{"":0},`, most/7-1) + "0]",
		"arrays":      "[" + strings.Repeat("[],", most/3-1) + "0]",
		"one object":  "{" + members.String() + `"":0}`,
		"one integer": strings.Repeat("1", most),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		form, err := Form([]byte(doc), most)
		runtime.ReadMemStats(&after)
		require.NoError(t, err, name)
		require.Len(t, form, len(doc), name)
		t.Logf("%s: %d MiB", name, (after.TotalAlloc-before.TotalAlloc)>>20)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16*most), name)
	}
}
