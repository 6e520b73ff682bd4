//go:build linux

package harness

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSeedIsWhatItsDocumentationSays(t *testing.T) {
	digest := strings.Repeat("ab", 32)
	sum := sha256.Sum256([]byte("ostraka-seed/1\n" + digest + "\njob\n7\n"))
	require.Equal(t, binary.BigEndian.Uint64(sum[:8]), Seed(digest, "job", 7))
	seen := map[uint64]bool{}
	for _, d := range []string{digest, strings.Repeat("cd", 32)} {
		for _, job := range []string{"", "job", "other"} {
			for shard := range int64(3) {
				seen[Seed(d, job, shard)] = true
			}
		}
	}
	require.Len(t, seen, 18, "digest, job and shard all count")
}

func TestHandlersGetAContextIfTheyTakeOne(t *testing.T) {
	const facts = "[context.shard, context.seed, context.output_dir == os.environ['OSTRAKA_OUTPUT']]"
	for name, test := range map[string]struct {
		source string
		takes  bool
	}{
		"second parameter":            {"def handler(x, context): return " + facts, true},
		"under another name":          {"def handler(x, c):\n    context = c\n    return " + facts, true},
		"optional":                    {"def handler(x, context=None): return " + facts, true},
		"of an object":                {"class H:\n  def __call__(self, x, context): return " + facts + "\nhandler = H()", true},
		"of a decorated function":     {"import functools\ndef d(f):\n  @functools.wraps(f)\n  def w(*a): return f(*a)\n  return w\n@d\ndef handler(x, context): return " + facts, true},
		"none":                        {"def handler(x): return x", false},
		"another optional parameter":  {"def handler(x, memo=5): return x + memo - 5", false},
		"only keywords":               {"def handler(x, *, context=1): return x", false},
		"any number of arguments":     {"def handler(*args): return args[0] if len(args) == 1 else None", false},
		"of what has no signature":    {"handler = int", false},
		"of a method that is bound":   {"class H:\n  def f(self, x): return x\nhandler = H().f", false},
		"of one with a context bound": {"class H:\n  def f(self, x, context): return " + facts + "\nhandler = H().f", true},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, "import os\n"+test.source+"\n", func(c *Config) { c.Digest, c.Settings.Job = strings.Repeat("ab", 32), "job" })
			r.next = 12
			got := r.run("3")
			require.Equal(t, StatusOK, got.Status, "%+v", got.Exception)
			want := "3"
			if test.takes {
				want = fmt.Sprintf("[12,%d,true]", Seed(strings.Repeat("ab", 32), "job", 12))
			}
			require.Equal(t, want, got.Output)
		})
	}
}

const chancy = `
import os, random, time
early = random.random()
def handler(x, context):
    import random as again
    return [early, random.random(), again.randrange(1 << 40), os.environ["OSTRAKA_SEED"] == str(context.seed), os.environ["OSTRAKA_SHARD"],
            hash("a"), list({"a", "b", "c", "d", "e", "f"}), time.strftime("%Z"), oct(os.umask(0)), sorted(k for k in os.environ if k.startswith("L"))]
`

// outputs runs the shards 0 to n-1 in sessions of batch shards each.
func outputs(t *testing.T, n, batch int, settings Settings) []string {
	t.Helper()
	var all []string
	for len(all) < n {
		r := start(t, chancy, func(c *Config) { c.Settings = settings })
		r.next = int64(len(all))
		for range min(batch, n-len(all)) {
			got := r.run("1")
			require.Equal(t, StatusOK, got.Status, "%+v", got.Exception)
			all = append(all, got.Output)
		}
	}
	return all
}

func TestChanceIsTheSameEverywhere(t *testing.T) {
	whole := outputs(t, 4, 4, Settings{Job: "job"})
	require.Equal(t, whole, outputs(t, 4, 1, Settings{Job: "job"}), "batches do not matter")
	require.NotEqual(t, whole, outputs(t, 4, 4, Settings{Job: "other"}))
	first, second := fields(t, whole[0]), fields(t, whole[1])
	require.Equal(t, first[0], second[0], "what the import drew")
	require.NotEqual(t, first[1], second[1], "each shard has a seed of its own")
	require.Equal(t, "0", first[4])
	require.Equal(t, "UTC", first[7])
	require.Equal(t, "0o77", first[8])
}

func TestSettingsVaryWhatMayNotMatter(t *testing.T) {
	plain := fields(t, outputs(t, 1, 1, Settings{})[0])
	varied := fields(t, outputs(t, 1, 1, Settings{HashSeed: 4294967295, TimeZone: "ABC-5:30"})[0])
	require.Equal(t, plain[:5], varied[:5], "seeds stay")
	require.NotEqual(t, plain[5], varied[5], "hashes differ")
	require.Equal(t, "ABC", varied[7])
	for _, zone := range []string{"a b", "a\x00", strings.Repeat("x", MaxTimeZoneBytes+1), "é"} {
		s := Settings{TimeZone: zone}
		require.Error(t, s.check(), zone)
	}
	s := Settings{TimeZone: strings.Repeat("x", MaxTimeZoneBytes)}
	require.NoError(t, s.check())
}

func fields(t *testing.T, output string) []any {
	t.Helper()
	var all []any
	require.NoError(t, json.Unmarshal([]byte(output), &all))
	return all
}

func TestScriptsKnowTheirSeed(t *testing.T) {
	r := start(t, "import os, random\nprint('[%s, %s, %d]' % (os.environ['OSTRAKA_SHARD'], os.environ['OSTRAKA_SEED'], random.getrandbits(31)))", func(c *Config) {
		c.Manifest.Script, c.Manifest.Entrypoint = "main.py", ""
	})
	r.next = 5
	first := r.run("0")
	require.Contains(t, first.Output, "[5,"+strconv.FormatUint(Seed("", "", 5), 10)+",")
	r.next = 5
	require.Equal(t, first.Output, r.run("0").Output)
}
