package partition

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ostraka/ostraka/runtime/inputfile"
)

// manifestOf is the manifest that a job has of files of size 1 with these names.
func manifestOf(t require.TestingT, names ...string) string {
	var out []byte
	var err error
	for _, name := range names {
		out, err = AppendEntry(out, name, someDigest, 1)
		require.NoError(t, err)
	}
	return string(out)
}

func allInputs(t require.TestingT, r Reader) (inputs []string, err error) {
	for {
		input, err := r.Next()
		if errors.Is(err, io.EOF) {
			return inputs, nil
		}
		if err != nil {
			return inputs, err
		}
		_, err = inputfile.Parse(input)
		require.NoError(t, err)
		inputs = append(inputs, string(input))
	}
}

func entry(name string) string {
	return fmt.Sprintf(`{"digest":"%s","name":"%s","path":"%s","size":1}`, someDigest, name, name)
}

func TestObjectsBecomeShards(t *testing.T) {
	t.Parallel()
	text := manifestOf(t, "a/1", "a/2", "")
	got, err := allInputs(t, NewObjectReader(strings.NewReader(text), Objects{}))
	require.NoError(t, err)
	require.Equal(t, []string{entry("a/1"), entry("a/2"), entry(someDigest)}, got)
	got, err = allInputs(t, NewObjectReader(strings.NewReader(text), Objects{PerShard: 2}))
	require.NoError(t, err)
	require.Equal(t, []string{"[" + entry("a/1") + "," + entry("a/2") + "]", "[" + entry(someDigest) + "]"}, got)
	got, err = allInputs(t, NewObjectReader(strings.NewReader(text), Objects{PerShard: 1}))
	require.NoError(t, err)
	require.Len(t, got, 3)
	require.Equal(t, "["+entry("a/1")+"]", got[0], "a list wherever per_shard is given")
}

func TestManifestsThatAreRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(strings.Repeat("n", 127)+"/", 3) + strings.Repeat("n", 120)
	var longs []string
	for i := range MaxFilesPerShard {
		longs = append(longs, fmt.Sprintf("%s%04d", long, i))
	}
	for name, c := range map[string]struct {
		text string
		spec Objects
		says string
	}{
		"empty":           {"\n", Objects{}, "no items"},
		"no JSON":         {"x", Objects{}, "line 1"},
		"a number":        {"12", Objects{}, "is no entry of a manifest"},
		"unknown field":   {`{"name":"a","path":"b"}`, Objects{}, "is no entry of a manifest"},
		"nothing":         {`{}`, Objects{}, "neither a name nor a digest"},
		"bad digest":      {`{"digest":"x"}`, Objects{}, "is not a digest"},
		"traversal":       {`{"name":"../a"}`, Objects{}, `line 1: "../a": the name has the part ".."`},
		"not a job's":     {`"a"`, Objects{}, "lacks its name, digest or size"},
		"case":            {manifestOf(t, "a", "A"), Objects{PerShard: 2}, "shard 0: the paths \"a\" and \"A\" cannot lie in one folder"},
		"a long list":     {manifestOf(t, longs...), Objects{PerShard: MaxFilesPerShard}, "at most 65536 are allowed"},
		"a file too big":  {fmt.Sprintf(`{"name":"a","digest":"%s","size":%d}`, someDigest, inputfile.MaxBytes+1), Objects{}, "at most 1073741824"},
		"second bad line": {manifestOf(t, "a") + "nope\n", Objects{}, "line 2"},
	} {
		_, err := allInputs(t, NewObjectReader(strings.NewReader(c.text), c.spec))
		require.ErrorContains(t, err, c.says, name)
	}
	_, err := allInputs(t, NewObjectReader(strings.NewReader(manifestOf(t, "a", "A")), Objects{}))
	require.NoError(t, err, "in shards of their own")
}

// A split that is killed after any shard goes on with the next.
func TestObjectsResumeAnywhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "files")
		spec := Spec{Kind: KindObjects, Objects: Objects{Manifest: someDigest, PerShard: rapid.Int64Range(0, 7).Draw(t, "per shard")}}
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("d%d/é%d", i%3, i)
		}
		text := manifestOf(t, names...)
		whole, err := allInputs(t, spec.Read(strings.NewReader(text)))
		require.NoError(t, err)
		first := spec.Read(strings.NewReader(text))
		for range rapid.IntRange(0, len(whole)).Draw(t, "before") {
			_, err := first.Next()
			require.NoError(t, err)
		}
		again, err := spec.Resume(strings.NewReader(text), first.Offset(), first.Count())
		require.NoError(t, err)
		done := first.Count()
		rest, err := allInputs(t, again)
		if done > 0 || err == nil {
			require.NoError(t, err)
		}
		require.Equal(t, whole[done:], append([]string{}, rest...))
		require.Equal(t, int64(len(whole)), again.Count())
	})
}

func TestSpecOfObjects(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"kind":"objects","prefix":""}`, `{"kind":"objects","prefix":"a<é\"/","per_shard":"256"}`,
		`{"kind":"objects","manifest":"` + someDigest + `"}`, `{"kind":"objects","manifest":"` + someDigest + `","per_shard":"1"}`,
	} {
		var s Spec
		require.NoError(t, json.Unmarshal([]byte(text), &s), text)
		again, err := s.MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, text, string(again))
		_, known := s.Count()
		require.False(t, known)
		require.True(t, s.Files())
	}
	for text, says := range map[string]string{
		`{"kind":"objects"}`: "exactly one of a prefix and a manifest",
		`{"kind":"objects","prefix":"a","manifest":"` + someDigest + `"}`: "exactly one of a prefix and a manifest",
		`{"kind":"objects","manifest":""}`:                                "the digest is empty",
		`{"kind":"objects","manifest":"x"}`:                               "is not a digest",
		`{"kind":"objects","prefix":1}`:                                   "is not a JSON string",
		`{"kind":"objects","prefix":"a","per_shard":"0"}`:                 "not a number above 0",
		`{"kind":"objects","prefix":"a","per_shard":"257"}`:               "257 files a shard",
		`{"kind":"objects","prefix":"a","per_shard":2}`:                   "is not a JSON string",
		`{"kind":"objects","prefix":"a","object":"b"}`:                    "unknown field",
		`{"kind":"objects","prefix":"` + strings.Repeat("p", 513) + `"}`:  "513 bytes",
	} {
		var s Spec
		require.ErrorContains(t, json.Unmarshal([]byte(text), &s), says, text)
	}
}

func FuzzEntries(f *testing.F) {
	f.Add(manifestOf(f, "a", "b/c"))
	f.Add("\"name\"\n{\"digest\":\"x\"}")
	f.Fuzz(func(t *testing.T, text string) {
		entries := NewEntries(strings.NewReader(text))
		for {
			e, err := entries.Next()
			if err != nil {
				return
			}
			if e.Name != "" {
				require.NoError(t, inputfile.CheckName(e.Name))
			}
			require.True(t, e.Digest == "" || isDigest(e.Digest))
		}
	})
}
