package determinism

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/ostraka/ostraka/runtime/harness"
)

const (
	// MaxDifferences is how many values of one shard are told apart: the first few show what is wrong.
	MaxDifferences = 10
	// MaxShownBytes is how much of a value is shown.
	MaxShownBytes = 120
)

// Difference is one value that was not the same in both runs.
type Difference struct {
	What   string `json:"what"` // status, exception, output or artifact
	Path   string `json:"path"` // where in the output, such as $.sample[3]; the name of an artifact
	First  string `json:"first"`
	Second string `json:"second"`
	Looks  string `json:"looks_like,omitempty"` // what the values look like, such as the time
}

// absent stands for a value that is not there.
const absent = "(nothing)"

// compare tells what two results of one shard differ in: what agents must agree on, and nothing of what may differ, such as times.
func compare(a, b harness.Result) []Difference {
	if a.Status != b.Status {
		return []Difference{{What: "status", First: outcome(a), Second: outcome(b)}}
	}
	if first, second := outcome(a), outcome(b); first != second {
		return []Difference{{What: "exception", First: first, Second: second}}
	}
	d := differ{}
	if a.OutputDigest != b.OutputDigest {
		d.values("$", decode(a.Output), decode(b.Output))
		if len(d.found) == 0 { // such as 1 and 1.0, which decode alike elsewhere
			d.add("$", shown(a.Output), shown(b.Output))
		}
	}
	found := append(d.found, artifacts(a.Files, b.Files)...)
	now := time.Now()
	for n := range found {
		found[n].Looks = looksLike(found[n], now)
	}
	return found
}

// outcome is the end of a shard in words.
func outcome(r harness.Result) string {
	if r.Exception == nil {
		return string(r.Status)
	}
	return shown(string(r.Status) + ": " + r.Exception.Type + ": " + r.Exception.Message)
}

func artifacts(a, b []harness.File) (found []Difference) {
	describe := func(files []harness.File) map[string]string {
		all := map[string]string{}
		for _, f := range files {
			all[f.Path] = fmt.Sprintf("%d bytes, SHA-256 %.12s…", f.Size, f.Digest)
		}
		return all
	}
	first, second := describe(a), describe(b)
	for _, name := range unionOfKeys(first, second) {
		if first[name] != second[name] && len(found) < MaxDifferences {
			found = append(found, Difference{What: "artifact", Path: name, First: orAbsent(first, name), Second: orAbsent(second, name)})
		}
	}
	return found
}

func orAbsent(all map[string]string, name string) string {
	if text, ok := all[name]; ok {
		return text
	}
	return absent
}

// decode keeps numbers as they are written. The text was checked by the harness.
func decode(text string) any {
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil {
		return text
	}
	return v
}

// differ collects the differences of two JSON values.
type differ struct{ found []Difference }

func (d *differ) add(path, first, second string) {
	if len(d.found) < MaxDifferences {
		d.found = append(d.found, Difference{What: "output", Path: path, First: first, Second: second})
	}
}

func (d *differ) values(path string, a, b any) {
	switch first := a.(type) {
	case map[string]any:
		if second, ok := b.(map[string]any); ok {
			d.objects(path, first, second)
			return
		}
	case []any:
		if second, ok := b.([]any); ok {
			d.arrays(path, first, second)
			return
		}
	}
	if first, second := encode(a), encode(b); first != second {
		d.add(path, shown(first), shown(second))
	}
}

func (d *differ) objects(path string, a, b map[string]any) {
	for _, key := range unionOfKeys(a, b) {
		first, inFirst := a[key]
		second, inSecond := b[key]
		at := path + "." + key
		switch {
		case !inSecond:
			d.add(at, shown(encode(first)), absent)
		case !inFirst:
			d.add(at, absent, shown(encode(second)))
		default:
			d.values(at, first, second)
		}
	}
}

func (d *differ) arrays(path string, a, b []any) {
	for n := range max(len(a), len(b)) {
		at := path + "[" + strconv.Itoa(n) + "]"
		switch {
		case n >= len(b):
			d.add(at, shown(encode(a[n])), absent)
		case n >= len(a):
			d.add(at, absent, shown(encode(b[n])))
		default:
			d.values(at, a[n], b[n])
		}
		if len(d.found) == MaxDifferences {
			return
		}
	}
}

func unionOfKeys[V any](a, b map[string]V) []string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]V{}
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

func encode(v any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(v) != nil {
		return fmt.Sprint(v)
	}
	return string(bytes.TrimSpace(out.Bytes()))
}

// shown cuts a value to what fits on a line.
func shown(text string) string {
	if len(text) <= MaxShownBytes {
		return text
	}
	cut := MaxShownBytes
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d bytes)", text[:cut], len(text))
}

// sameButForOrder tells whether sorting all arrays, and the characters of no text, makes two outputs equal.
func sameButForOrder(a, b harness.Result) bool {
	if a.Status != harness.StatusOK || b.Status != harness.StatusOK || a.OutputDigest == b.OutputDigest {
		return false
	}
	return encode(sorted(decode(a.Output))) == encode(sorted(decode(b.Output)))
}

// sorted sorts all arrays of a value.
func sorted(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = sorted(value)
		}
	case []any:
		for n, value := range v {
			v[n] = sorted(value)
		}
		slices.SortFunc(v, func(a, b any) int { return bytes.Compare([]byte(encode(a)), []byte(encode(b))) })
	}
	return v
}
