package wasm

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// How long a test waits for something that must happen, and how often it looks.
const (
	waitFor = 10 * time.Minute
	tick    = time.Millisecond
)

func TestLimits(t *testing.T) {
	l, err := Limits{}.complete()
	require.NoError(t, err)
	require.Equal(t, DefaultLimits(), l)
	for name, change := range map[string]func(l *Limits, over int64){
		"memory":  func(l *Limits, over int64) { l.Memory = MaxMemory + over*PageSize },
		"wall":    func(l *Limits, over int64) { l.Wall = MaxWall + time.Duration(over) },
		"compile": func(l *Limits, over int64) { l.Compile = MaxCompile + time.Duration(over) },
		"fuel":    func(l *Limits, over int64) { l.Fuel = MaxFuel + over },
		"output":  func(l *Limits, over int64) { l.Output = MaxOutput + over },
		"line":    func(l *Limits, over int64) { l.Line = MaxLine + over },
		"stderr":  func(l *Limits, over int64) { l.Stderr = MaxStderr + int(over) },
	} {
		var at, past Limits
		change(&at, 0)
		_, err := at.complete()
		require.NoError(t, err, name)
		change(&past, 1)
		_, err = past.complete()
		require.ErrorContains(t, err, name)
	}
	_, err = Limits{Memory: PageSize + 1}.complete()
	require.ErrorContains(t, err, "multiple")
	_, err = Limits{Wall: -1}.complete()
	require.ErrorContains(t, err, "between")
}

func TestHeader(t *testing.T) {
	h, err := Header{Kind: KindAggregator, Phase: PhaseLeaf, Project: "p", Job: "j"}.complete("d1")
	require.NoError(t, err)
	line, err := h.line("d1", DefaultLimits())
	require.NoError(t, err)
	require.JSONEq(t, `{"ostraka":1,"kind":"aggregator","phase":"leaf","project":"p","job":"j","module":"sha256:d1","params":{},
		"seed":"`+strings.Split(strings.Split(string(line), `"seed":"`)[1], `"`)[0]+`","now":"2026-01-01T00:00:00Z",
		"limits":{"fuel":20000000000,"memory":268435456,"output":8388608,"line":1048576}}`, string(line))
	other, err := Header{Kind: KindAggregator, Phase: PhaseMerge, Project: "p", Job: "j"}.complete("d1")
	require.NoError(t, err)
	require.NotEqual(t, h.Seed, other.Seed)

	fits := json.RawMessage(`{"a":"` + strings.Repeat("x", MaxParams-8) + `"}`)
	_, err = Header{Kind: KindAggregator, Phase: PhaseLeaf, Params: fits}.complete("d")
	require.NoError(t, err)
	for text, params := range map[string]json.RawMessage{
		"at most":     append(fits, ' '),
		"JSON object": json.RawMessage(`[1]`),
	} {
		_, err = Header{Kind: KindAggregator, Phase: PhaseLeaf, Params: params}.complete("d")
		require.ErrorContains(t, err, text)
	}
	_, err = Header{}.complete("d")
	require.ErrorContains(t, err, "needed")
}

func TestItemLine(t *testing.T) {
	line, err := Item{ID: "18446744073709551616", Result: []byte(`{"n":123456789012345678901234567890,"x":1e-07}`)}.line()
	require.NoError(t, err)
	require.Equal(t, `{"t":"item","id":"18446744073709551616","result":{"n":123456789012345678901234567890,"x":1e-07}}`, string(line))

	line, err = Item{ID: "7", Ref: &Ref{SHA256: "ab", Size: 3, Head: "[1"}}.line()
	require.NoError(t, err)
	require.Equal(t, `{"t":"item","id":"7","ref":{"sha256":"ab","size":3},"head":"[1"}`, string(line))

	const around = len(`{"t":"item","id":"7","result":""}`)
	long := []byte(`"` + strings.Repeat("x", DefaultLine-around) + `"`)
	_, err = Item{ID: "7", Result: long}.line()
	require.NoError(t, err)
	_, err = Item{ID: "7", Result: append([]byte(`"x`), long[1:]...)}.line()
	require.ErrorContains(t, err, "by reference")
	_, err = Item{ID: "7"}.line()
	require.ErrorContains(t, err, "neither")
	_, err = Item{ID: "7", Ref: &Ref{Head: strings.Repeat("x", MaxRef+1)}}.line()
	require.ErrorContains(t, err, "head")
}

func TestCacheMustBePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "modules")
	_, err := openCache(dir, 1, "1")
	require.NoError(t, err)
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	require.NoError(t, os.Chmod(dir, 0o755))
	_, err = openCache(dir, 1, "1")
	require.ErrorContains(t, err, "chmod 700")
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	_, err = openCache(link, 1, "1")
	require.ErrorContains(t, err, "must be a directory")
}

func TestCacheTrimsTheLeastRecentlyUsed(t *testing.T) {
	c, err := openCache(filepath.Join(t.TempDir(), "modules"), 250, "1")
	require.NoError(t, err)
	add := func(digest string, used time.Time) {
		require.NoError(t, c.fill(digest, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "code"), make([]byte, 100), 0o600)
		}))
		require.NoError(t, os.Chtimes(c.path(digest), used, used))
	}
	now := time.Now()
	add("old", now.Add(-3*time.Hour))
	add("older", now.Add(-4*time.Hour))
	add("new", now)
	require.False(t, c.has("older"))
	require.True(t, c.has("old"), "being used makes it new")
	require.True(t, c.has("new"))
	require.NotEqual(t, c.path("new"), c.path("old"))

	require.ErrorIs(t, c.fill("failed", func(string) error { return os.ErrInvalid }), os.ErrInvalid)
	require.False(t, c.has("failed"))
	stale := filepath.Join(c.dir, compiling+"stale")
	require.NoError(t, os.Mkdir(stale, 0o700))
	require.NoError(t, os.Chtimes(stale, now.Add(-2*staleAfter), now.Add(-2*staleAfter)))
	_, err = openCache(c.dir, 250, "1")
	require.NoError(t, err)
	require.NoDirExists(t, stale)
}

func TestSplitter(t *testing.T) {
	var got []string
	s := splitter{limits: Limits{Output: 100, Line: 10}, out: func(line []byte) error { got = append(got, string(line)); return nil }}
	for _, chunk := range []string{"1\n", "", "[2,", "3]\n4", "\n", `"exactly8"`} {
		require.NoError(t, s.write([]byte(chunk)))
	}
	require.NoError(t, s.end())
	require.Equal(t, []string{"1", "[2,3]", "4", `"exactly8"`}, got)
	require.NoError(t, s.bad)
	require.ErrorIs(t, s.write([]byte("12345678901")), errOverLimit)
	over := splitter{limits: Limits{Output: 3, Line: 10}, out: s.out}
	require.NoError(t, over.write([]byte("1\n2")))
	require.ErrorIs(t, over.write([]byte("3")), errOverLimit)
}

func FuzzCheckJSON(f *testing.F) {
	for _, seed := range []string{`{}`, `"\u0000"`, `"\ud800\udc00"`, `"\ud800"`, `"\\u0000"`, `[[1e5]]`, "\xff", `"\"`, `{"a":"\u00e9"}`, strings.Repeat("[", 200)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		err := checkJSON(line)
		if err != nil {
			return
		}
		var v any
		d := json.NewDecoder(strings.NewReader(string(line)))
		d.UseNumber()
		require.NoError(t, d.Decode(&v))
		again, err := json.Marshal(v)
		require.NoError(t, err)
		require.NotContains(t, strings.ReplaceAll(string(again), `\\`, ""), `\u0000`)
		if !strings.Contains(string(line), "\uFFFD") && !strings.Contains(strings.ToLower(string(line)), `\ufffd`) {
			require.NotContains(t, string(again), "\uFFFD", "half a pair would have been replaced")
		}
	})
}
