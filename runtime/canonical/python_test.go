package canonical

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// printer reads one JSON document a line and prints each as the harness does.
const printer = `
import json, sys
if hasattr(sys, "set_int_max_str_digits"): sys.set_int_max_str_digits(0)
for line in sys.stdin.buffer:
    v = json.loads(line)
    s = json.dumps(v, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    sys.stdout.buffer.write(s.encode() + b"\n")
`

// TestAgainstPython sends every document that Valid accepts through a real
// Python: what Python prints, Check accepts; what Check accepts, Python prints
// back unchanged.
func TestAgainstPython(t *testing.T) {
	docs := corpus(t)
	cmd := exec.Command("python3", "-I", "-c", printer)
	cmd.Stdin = bytes.NewReader(append(bytes.Join(docs, []byte("\n")), '\n'))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s", stderr.String())
	printed := bytes.Split(bytes.TrimSuffix(out, []byte("\n")), []byte("\n"))
	require.Len(t, printed, len(docs))
	for i, doc := range docs {
		require.NoError(t, Check(printed[i], limit), "Python prints %s for %s", printed[i], doc)
		if Check(doc, limit) == nil {
			require.Equal(t, string(doc), string(printed[i]))
		}
	}
}

func corpus(t *testing.T) [][]byte {
	t.Helper()
	var docs [][]byte
	for _, c := range cases {
		doc := []byte(c.doc)
		if c.valid == "" && !bytes.ContainsRune(doc, '\n') {
			docs = append(docs, doc)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		docs = appendFloatDoc(docs, math.Float64frombits(r.Uint64()))
	}
	for e := -1074; e < 1024; e++ {
		docs = appendFloatDoc(docs, math.Ldexp(1, e))
	}
	for e := -323; e < 309; e++ {
		f, err := strconv.ParseFloat("1e"+strconv.Itoa(e), 64)
		require.NoError(t, err)
		docs = appendFloatDoc(docs, f)
		docs = appendFloatDoc(docs, math.Nextafter(f, 0))
	}
	for c := rune(1); c < 0x300; c++ {
		doc, err := json.Marshal(map[string]string{string(c): string(c) + "\U0001F600", "k": string(0xffff - c)})
		require.NoError(t, err)
		docs = append(docs, doc)
	}
	return docs
}

// appendFloatDoc adds f in canonical form, which Python must print unchanged.
func appendFloatDoc(docs [][]byte, f float64) [][]byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return docs
	}
	return append(docs, appendFloat(nil, f))
}
