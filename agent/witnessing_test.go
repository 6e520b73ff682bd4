package agent

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/witness"
	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/statement"
)

// fakeLog is the own log of a fake server.
type fakeLog struct {
	t     *testing.T
	key   audit.Key
	nodes []audit.Hash
	size  int64
	root  audit.Hash
}

func (l *fakeLog) grow(text string, n int) {
	for range n {
		nodes, root, err := audit.Grow(l.size, []audit.Hash{audit.Leaf(fmt.Append(nil, text, l.size))}, l.read)
		require.NoError(l.t, err)
		l.nodes, l.root, l.size = append(l.nodes, nodes...), root, l.size+1
	}
}

func (l *fakeLog) read(numbers []int64) ([]audit.Hash, error) {
	hashes := make([]audit.Hash, len(numbers))
	for i, n := range numbers {
		hashes[i] = l.nodes[n]
	}
	return hashes, nil
}

func (l *fakeLog) heads() []client.LogHead {
	note, err := l.key.Sign(audit.Checkpoint{Origin: audit.ServerOrigin("x"), Size: l.size, Root: l.root})
	require.NoError(l.t, err)
	key, err := l.key.Verifier(audit.ServerOrigin("x"))
	require.NoError(l.t, err)
	return []client.LogHead{{Checkpoint: string(note), Key: key}}
}

// witnessed answers what an agent asks for to co-sign, and counts what it brings. It first refuses as many cosignatures as away holds codes.
func (l *fakeLog) witnessed(f *fakeServer, cosigned *int, away ...string) {
	f.intercept = func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/v1/agent/witness-key":
			w.WriteHeader(http.StatusNoContent)
		case "/v1/agent/cosignatures":
			if len(away) > 0 {
				problem(w, http.StatusConflict, away[0])
				away = away[1:]
				return true
			}
			f.set(func() { *cosigned++ })
			w.WriteHeader(http.StatusNoContent)
		case "/v1/agent/log-consistency":
			var from, to int64
			_, _ = fmt.Sscan(r.URL.Query().Get("from")+" "+r.URL.Query().Get("to"), &from, &to)
			hashes, _ := audit.ProveConsistency(from, to, l.read)
			out := client.LogConsistency{Hashes: []string{}}
			for _, h := range hashes {
				out.Hashes = append(out.Hashes, base64.StdEncoding.EncodeToString(h[:]))
			}
			answerJSON(w, 200, out)
		default:
			return false
		}
		return true
	}
}

// stopped is an agent that has joined and does nothing by itself.
func stopped(t *testing.T, f *fakeServer, o Options) *agent {
	t.Helper()
	stop := start(t, o)
	f.until("the agent works", func() bool { return len(f.beats) > 0 })
	require.NoError(t, stop())
	a, err := newAgent(o)
	require.NoError(t, err)
	a.server.useKey(fakeKey)
	return a
}

// TestALyingServerIsFoundOut has a server grow its log honestly, and then show another history, or sign with another key.
func TestALyingServerIsFoundOut(t *testing.T) {
	for code, lie := range map[string]func(l *fakeLog){
		witness.Forked: func(l *fakeLog) {
			other := &fakeLog{t: l.t, key: l.key}
			other.grow("a lie", int(l.size)+3)
			*l = *other
		},
		witness.Replaced: func(l *fakeLog) {
			l.key = audit.NewKey()
			l.grow("record", 1)
		},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			f, s := newFakeServer(t, 0)
			log, cosigned := &fakeLog{t: t, key: audit.NewKey()}, 0
			log.grow("record", 5)
			log.witnessed(f, &cosigned)
			o := testOptions(t, s)
			a := stopped(t, f, o)
			show := func() { require.NoError(t, a.witnessLog(t.Context(), log.heads()[0])) }
			show()
			log.grow("record", 4)
			show()
			show() // nothing is new
			require.Equal(t, 2, cosigned)
			require.Empty(t, logAlarm(a.witnesses.store).Code)
			lie(log)
			show()
			show()
			require.Equal(t, 2, cosigned, "a lie is not signed")
			require.Equal(t, code, logAlarm(a.witnesses.store).Code)
			a.close()

			stop := start(t, o)
			var status Status
			var err error
			f.until("the status says so", func() bool {
				status, err = ReadStatus(o.DataDir)
				return err == nil && status.Running && status.Code == code
			})
			require.Contains(t, status.Why, "ostraka agent witness accept")
			_, err = witness.Open(o.DataDir).Accept("the operator has explained it", time.Now())
			require.NoError(t, err)
			f.until("it works again", func() bool {
				status, err = ReadStatus(o.DataDir)
				return err == nil && status.Code != code
			})
			require.NoError(t, stop())
		})
	}
}

// TestACosignatureIsBroughtUntilTheServerHasIt holds that one which did not get through comes again with the same head, and that a log which
// rests is co-signed again each day.
func TestACosignatureIsBroughtUntilTheServerHasIt(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 0)
	log, cosigned := &fakeLog{t: t, key: audit.NewKey()}, 0
	log.grow("record", 5)
	log.witnessed(f, &cosigned, "unavailable", "no_witness_key", "cosignature_older")
	o := testOptions(t, s)
	a := stopped(t, f, o)
	defer a.close()
	show := func() error { return a.witnessLog(t.Context(), log.heads()[0]) }
	later := func(d time.Duration) { // than it was
		tried := a.witnesses.brought[witness.ServerLog]
		tried.at = tried.at.Add(-d)
		a.witnesses.brought[witness.ServerLog] = tried
	}
	require.Error(t, show(), "the server is away")
	require.NoError(t, show(), "nothing is tried again at once")
	later(retryCosignature)
	require.ErrorIs(t, show(), errNoWitnessKey)
	require.NoError(t, show(), "it has a later one")
	later(retryCosignature)
	require.NoError(t, show())
	require.Zero(t, cosigned, "that is as good as having it")

	a.witnesses.brought = map[string]delivery{} // as after a start
	require.NoError(t, show())
	require.NoError(t, show())
	require.Equal(t, 1, cosigned)

	rested := func(d time.Duration) {
		head := log.heads()[0]
		_, err := a.witnesses.store.Remember(statement.Origin(o.URL), witness.ServerLog, witness.Log{Note: head.Checkpoint, Key: head.Key, Seen: time.Now().Add(-d)})
		require.NoError(t, err)
		require.NoError(t, show())
	}
	rested(witness.RenewAfter - time.Minute)
	require.Equal(t, 1, cosigned)
	rested(witness.RenewAfter + time.Second)
	require.Equal(t, 2, cosigned)
	logs, err := a.witnesses.store.Logs(statement.Origin(o.URL))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), logs[witness.ServerLog].Seen, time.Hour, "it was shown today")
}
