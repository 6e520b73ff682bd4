package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/result"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// TestNoShardStopsTheRechecksOfOthers: whatever one execution of the server comes to, it is kept as an agent's is, or is no answer to its
// shard; the rest of the batch does not mind.
func TestNoShardStopsTheRechecksOfOthers(t *testing.T) {
	t.Parallel()
	file := func(name string) functions.File {
		return functions.File{Path: name, Size: 1, Digest: canonical.Digest([]byte("x"))}
	}
	// How the shard ends where agents say the same of it.
	for name, tc := range map[string]struct {
		server, agents functions.Result
		state          functions.JobState
	}{
		"an exception after a file was written": {
			server: functions.Result{Status: "error", Exception: &functions.Exception{Type: "ValueError", Message: "late"}, Files: []functions.File{file("plot.svg")}},
			agents: raised("ValueError", "late"), state: functions.JobFailed,
		},
		"names that grow in JSON": {
			server: func() functions.Result {
				r := ok(`{"n":1,"sum":0}`)
				for i := range result.MaxFilesListed {
					r.Files = append(r.Files, file(strings.Repeat("<", 230)+fmt.Sprintf("%03d", i)))
				}
				return r
			}(),
			agents: functions.Result{Status: "artifact_limit"}, state: functions.JobFailed,
		},
		"what nobody can keep": {
			server: functions.Result{Status: "ok", Output: `{"b":1,"a":2}`, OutputDigest: canonical.Digest([]byte(`{"b":1,"a":2}`))},
			agents: functions.Result{Status: "timeout"}, state: functions.JobFailed,
		},
	} {
		for policy, with := range map[string]func(*functions.NewJob){
			"a bound":     bounded(1e-3),
			"recheck all": func(j *functions.NewJob) { j.Quorum, j.Recheck = 0, verify.RecheckAll },
		} {
			t.Run(name+", "+policy, func(t *testing.T) {
				t.Parallel()
				bad := func(answer functions.Result) func(string) functions.Result {
					return func(input string) functions.Result {
						if strings.Contains(input, `"18446744073709551616"`) { // the first
							return answer
						}
						return honest(input)
					}
				}
				c := &court{answer: func(input string, _ uint32) functions.Result { return bad(tc.server)(input) }}
				w := newWorld(t, withCourt(c))
				w.opened()
				job := w.submit(20, with)
				var agents []*agent
				for range 8 {
					agents = append(agents, w.agent(bad(tc.agents)))
				}
				done := w.workOff(job, 20, agents...)
				require.Equal(t, tc.state, done.State, "%+v", done)
				require.Equal(t, int64(19), done.Shards.Accepted, "all others are what they are")
				w.requireUncharged(agents)
				w.requireQuiet()
				w.check(job.ID)
			})
		}
	}
}
