package agent

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
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

	restart *client.RestartProof
	name    string // "": the first
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
	name := cmp.Or(l.name, audit.ServerOrigin("x"))
	note, err := l.key.Sign(audit.Checkpoint{Origin: name, Size: l.size, Root: l.root})
	require.NoError(l.t, err)
	key, err := l.key.Verifier(name)
	require.NoError(l.t, err)
	return []client.LogHead{{Checkpoint: string(note), Key: key, Restart: l.restart}}
}

// beginAnew has the log begin anew, as a server does whose backup was restored.
func (l *fakeLog) beginAnew(reason string) {
	name := cmp.Or(l.name, audit.ServerOrigin("x"))
	r := audit.Restart{Reason: reason, From: name, Origin: audit.NextEpoch(time.Now(), name), Restored: audit.State(audit.Checkpoint{Size: l.size, Root: l.root})}
	detail, err := r.Detail()
	require.NoError(l.t, err)
	record, err := audit.Record{Seq: l.size + 1, At: time.Now(), Actor: "operator:ada", Action: audit.RestartAction, Detail: detail}.Canonical()
	require.NoError(l.t, err)
	index := l.size
	nodes, root, err := audit.Grow(l.size, []audit.Hash{audit.Leaf(record)}, l.read)
	require.NoError(l.t, err)
	l.nodes, l.root, l.size, l.name = append(l.nodes, nodes...), root, l.size+1, r.Origin
	l.grow("since", 2)
	head := l.heads()[0]
	proof, err := audit.Prove(index, l.size, []byte(head.Checkpoint), l.read)
	require.NoError(l.t, err)
	l.restart = &client.RestartProof{Record: string(record), Proof: string(proof)}
}

// copied is the log as a backup has it.
func (l *fakeLog) copied() *fakeLog {
	other := *l
	other.nodes = slices.Clone(l.nodes)
	return &other
}

// TestALogThatBeganAnewIsFollowedOrAsked has a server restored from a backup. An agent that remembers no more than that goes on; one that
// remembers more asks its owner.
func TestALogThatBeganAnewIsFollowedOrAsked(t *testing.T) {
	for name, lost := range map[string]bool{"nothing is lost": false, "what is remembered is lost": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, s := newFakeServer(t, 0)
			log, cosigned := &fakeLog{t: t, key: audit.NewKey()}, 0
			log.grow("record", 5)
			log.witnessed(f, &cosigned)
			a := stopped(t, f, testOptions(t, s))
			defer a.close()
			show := func() { require.NoError(t, a.witnessLog(t.Context(), log.heads()[0])) }
			show()
			backup := log.copied()
			if lost {
				log.grow("record", 20)
				show()
			}
			*log = *backup.copied()
			log.beginAnew("the disk broke")
			before := cosigned
			show()
			known, err := a.witnesses.store.Restarts()
			require.NoError(t, err)
			if !lost {
				require.Empty(t, logAlarm(a.witnesses.store).Code)
				require.Equal(t, before+1, cosigned)
				require.Equal(t, "the disk broke", known[0].Reason, "the owner sees it for ever")
				return
			}
			require.Empty(t, known)
			why := logAlarm(a.witnesses.store)
			require.Equal(t, witness.Restarted, why.Code)
			require.Contains(t, why.Text, "the disk broke")
			log.grow("since", 50)
			show()
			require.Equal(t, before, cosigned, "nothing is signed until the owner has accepted")
			acceptShown(t, a.witnesses.store, "")
			show()
			require.Equal(t, before+1, cosigned)
			require.Empty(t, logAlarm(a.witnesses.store).Code)
		})
	}
}

// TestARestartExplainsAnAlarm has an agent find a restored log out before it began anew.
func TestARestartExplainsAnAlarm(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 0)
	log, cosigned := &fakeLog{t: t, key: audit.NewKey()}, 0
	log.grow("record", 5)
	log.witnessed(f, &cosigned)
	a := stopped(t, f, testOptions(t, s))
	defer a.close()
	show := func() { require.NoError(t, a.witnessLog(t.Context(), log.heads()[0])) }
	backup := log.copied()
	log.grow("record", 2)
	show()
	*log = *backup
	log.grow("otherwise", 9)
	show()
	require.Equal(t, witness.Forked, logAlarm(a.witnesses.store).Code)
	sound := log.copied()
	log.beginAnew("the disk broke")
	log.restart.Record = strings.Replace(log.restart.Record, "broke", "woke.", 1)
	show()
	require.NotContains(t, logAlarm(a.witnesses.store).Text, "the disk", "what the log has no record of explains nothing")
	*log = *sound
	log.beginAnew("the disk broke")
	show()
	require.Equal(t, witness.Forked, logAlarm(a.witnesses.store).Code, "it ends no alarm")
	require.Contains(t, logAlarm(a.witnesses.store).Text, "the disk broke")
	log.beginAnew("what a liar says after the owner looked")
	show()
	require.NotContains(t, logAlarm(a.witnesses.store).Text, "a liar", "what came later is not what is accepted")
	require.Equal(t, "the disk broke", acceptShown(t, a.witnesses.store, "").Accepted)
	show()
	require.Equal(t, 2, cosigned)
}

// TestARenamedLogIsNotFollowed has a server that holds the key call its log otherwise, without a record that says so.
func TestARenamedLogIsNotFollowed(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 0)
	log, cosigned := &fakeLog{t: t, key: audit.NewKey()}, 0
	log.grow("record", 5)
	log.witnessed(f, &cosigned)
	a := stopped(t, f, testOptions(t, s))
	defer a.close()
	require.NoError(t, a.witnessLog(t.Context(), log.heads()[0]))
	log.grow("record", 1)
	log.name = audit.NextEpoch(time.Now(), audit.ServerOrigin("x"))
	require.NoError(t, a.witnessLog(t.Context(), log.heads()[0]))
	require.Equal(t, witness.Replaced, logAlarm(a.witnesses.store).Code)
	require.Equal(t, 1, cosigned)
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
			if to > l.size {
				problem(w, http.StatusConflict, "log_shorter")
				return true
			}
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

// acceptShown accepts what stands.
func acceptShown(t *testing.T, store *witness.Store, reason string) witness.Notice {
	t.Helper()
	n, err := store.Notice()
	require.NoError(t, err)
	accepted, err := store.Accept(*n, reason, time.Now())
	require.NoError(t, err)
	return accepted
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
			acceptShown(t, witness.Open(o.DataDir), "the operator has explained it")
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
