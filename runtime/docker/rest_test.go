//go:build linux

package docker

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/testenv"
)

// born tells containers apart by what the function has drawn on import, and finds what an earlier shard has left.
const born = `import os, threading

BORN = os.urandom(8).hex()

def work():
    while True: pass

threading.Thread(target=work, daemon=True).start()

def handler(x, context):
    folders = ("/dev/shm", "/work/tmp", "/work/home")
    found = [f for f in folders if os.path.exists(f + "/mark")]
    for folder in folders: open(folder + "/mark", "w").close()
    return {"born": BORN, "found": found, "seed": context.seed}
`

type bornAnswer struct {
	Born  string
	Found []string
	Seed  json.Number
}

// TestAContainerIsKeptForItsFunction: of one project, with one hash seed, and each batch finds it as a new one would be.
func TestAContainerIsKeptForItsFunction(t *testing.T) {
	for _, level := range levelsHere() {
		t.Run(string(level), func(t *testing.T) {
			x := newExecutor(t, at(level))
			code := pack(t, born, "[limits]\npids = 20\n")
			ask := func(project uuid.UUID, seed uint32) string {
				batch := batchOf(code, "1", "2")
				batch.Project, batch.Job, batch.HashSeed = project, uuid.New(), seed
				results, err := x.Recheck(t.Context(), batch)
				require.NoError(t, err)
				var first bornAnswer
				for i, r := range results {
					var got bornAnswer
					require.NoError(t, json.Unmarshal([]byte(r.Output), &got), "%+v", r.Exception)
					require.Empty(t, got.Found)
					want, err := json.Marshal(harness.Seed(code.Digest, batch.Job.String(), int64(i)))
					require.NoError(t, err)
					require.Equal(t, string(want), got.Seed.String(), "the seed is of the batch's own job")
					if i == 0 {
						first = got
					}
					require.Equal(t, first.Born, got.Born)
				}
				return first.Born
			}
			one, other := uuid.New(), uuid.New()
			first := ask(one, 0)
			require.Equal(t, first, ask(one, 0), "the same container")
			if level == bundle.Container {
				require.True(t, stopped(t, x), "nothing of a function runs while it rests")
			}
			second := ask(other, 0)
			require.NotEqual(t, first, second, "another project")
			require.Equal(t, first, ask(one, 0))
			require.Equal(t, second, ask(other, 0))
			third := ask(one, 1) // a third one is one too many: the first has rested longest
			require.NotEqual(t, first, third, "another hash seed")
			require.Equal(t, second, ask(other, 0))
			require.NotEqual(t, first, ask(one, 0))
			testenv.Eventually(t, func() bool { return len(containersOf(t, x.cfg.Installation)) == 2 }, "what has made place goes")
		})
	}
}

// stopped tells whether all but the first process of each container are stopped.
func stopped(t *testing.T, x *Executor) bool {
	t.Helper()
	for _, id := range running(t, x) {
		top, err := x.client.ContainerTop(t.Context(), id, []string{"-eo", "pid,stat,args"})
		require.NoError(t, err)
		for _, row := range top.Processes {
			if !strings.HasPrefix(row[2], supervisorPath) && !strings.HasPrefix(row[1], "T") {
				return false
			}
		}
	}
	return true
}

// TestAContainerThatDiedWhileItRested is no trouble of the batch that would have got it.
func TestAContainerThatDiedWhileItRested(t *testing.T) {
	x := newExecutor(t)
	batch := batchOf(pack(t, "def handler(x): return x\n", ""), "7")
	results, err := x.Recheck(t.Context(), batch)
	require.NoError(t, err)
	require.Equal(t, "7", results[0].Output)
	resting := running(t, x)
	require.Len(t, resting, 1)
	require.NoError(t, x.client.ContainerKill(t.Context(), resting[0], "KILL"))
	results, err = x.Recheck(t.Context(), batch)
	require.NoError(t, err)
	require.Equal(t, "7", results[0].Output)
}

// TestWhatCannotBeImportedIsNotKept: there is nothing that could rest.
func TestWhatCannotBeImportedIsNotKept(t *testing.T) {
	x := newExecutor(t)
	batch := batchOf(pack(t, "raise RuntimeError('no')\n", ""), "7")
	for range 2 {
		results, err := x.Recheck(t.Context(), batch)
		require.NoError(t, err)
		require.Equal(t, harness.StatusError, results[0].Status)
		testenv.Eventually(t, func() bool { return len(containersOf(t, x.cfg.Installation)) == 0 }, "the container goes")
	}
}

// TestBatchesFollowOneAnother stops the function at whatever it is doing, a fork for one, again and again.
func TestBatchesFollowOneAnother(t *testing.T) {
	for _, level := range levelsHere() {
		t.Run(string(level), func(t *testing.T) {
			x := newExecutor(t, at(level))
			batch := batchOf(pack(t, "def handler(x): return x\n", "[limits]\nwall_seconds = 60\n"), "7")
			for range 100 {
				results, err := x.Recheck(t.Context(), batch)
				require.NoError(t, err)
				require.Equal(t, "7", results[0].Output, "%+v", results[0].Exception)
			}
			require.Len(t, containersOf(t, x.cfg.Installation), 1, "one container has served all of them")
		})
	}
}
