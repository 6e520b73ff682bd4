package agent

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/eula"
)

func agreementOf(t *testing.T, text string) eula.Document {
	t.Helper()
	d, err := eula.Parse([]byte(text))
	require.NoError(t, err)
	return d
}

// TestNothingHappensBeforeTheAgreement watches every request of an agent whose owner has not agreed.
func TestNothingHappensBeforeTheAgreement(t *testing.T) {
	f, s := newFakeServer(t, 1)
	f.intercept = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/v1/eula" {
			t.Errorf("%s was asked for", r.URL.Path)
		}
		return false
	}
	o := testOptions(t, s)
	o.Agree, o.Sandbox = nil, nil // nothing is unpacked or tried out either
	status, err := ReadStatus(o.DataDir)
	require.NoError(t, err)
	require.Equal(t, "never_started", status.Code)
	err = Run(t.Context(), o)
	require.ErrorIs(t, err, ErrNotAgreed)
	require.ErrorContains(t, err, eula.Embedded().Version)
	var shown eula.Document
	o.Agree = func(_ context.Context, d eula.Document) (bool, error) { shown = d; return false, nil }
	require.ErrorIs(t, Run(t.Context(), o), ErrNotAgreed)
	require.Equal(t, eula.Embedded(), shown)
	broken := errors.New("the terminal is gone")
	o.Agree = func(context.Context, eula.Document) (bool, error) { return true, broken }
	require.ErrorIs(t, Run(t.Context(), o), broken)

	// A server that shows one text and names the digest of another is not agreed with.
	f.set(func() { f.agreement.Text += "And your house." })
	o.Agree = agreeing
	require.ErrorContains(t, Run(t.Context(), o), "not the text")
	_, err = os.Stat(eulaFile(o.DataDir))
	require.ErrorIs(t, err, os.ErrNotExist)
	unpacked, err := os.ReadDir(filepath.Join(o.DataDir, "python"))
	require.ErrorIs(t, err, os.ErrNotExist, "%v", unpacked)
}

func TestAnAgreementIsAcceptedOnce(t *testing.T) {
	f, s := newFakeServer(t, 1)
	o := testOptions(t, s)
	require.NoError(t, Accept(o.DataDir, f.agreement), "also before the first start")
	o.Agree = func(context.Context, eula.Document) (bool, error) { return false, errors.New("asked again") }
	stop := start(t, o)
	f.untilResults(1)
	require.NoError(t, stop())
	kept, err := ReadAcceptance(o.DataDir)
	require.NoError(t, err)
	require.Equal(t, f.agreement.Digest, kept.Digest)
	info, err := os.Stat(eulaFile(o.DataDir))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// TestANewAgreementPausesWork changes the agreement under a running agent, which waits until its owner accepts it.
func TestANewAgreementPausesWork(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 2)
	o := testOptions(t, s)
	stop := start(t, o)
	f.untilResults(2)
	next := agreementOf(t, "Version: next\nNew.\n")
	f.set(func() {
		f.agreement = next
		f.shards = []client.LeasedShard{{Shard: 9, Input: "{}"}}
	})
	f.until("the agent says why it is idle", func() bool {
		for _, b := range f.beats {
			if b.Idle != nil && b.Idle.Code == IdleEULA {
				return true
			}
		}
		return false
	})
	f.set(func() { require.Len(t, f.results, 2) })
	require.NoError(t, Accept(o.DataDir, next))
	f.untilResults(3)
	require.NoError(t, stop())

	// A new start with another new version and nobody to ask: the agent runs and waits.
	last := agreementOf(t, "Version: last\n")
	f.set(func() {
		f.agreement, f.beats = last, nil
		f.shards = []client.LeasedShard{{Shard: 10, Input: "{}"}}
	})
	o.Agree = nil
	stop = start(t, o)
	f.until("the agent says why it is idle", func() bool {
		return len(f.beats) > 0 && f.beats[len(f.beats)-1].Idle != nil && f.beats[len(f.beats)-1].Idle.Code == IdleEULA
	})
	require.NoError(t, Accept(o.DataDir, last))
	f.untilResults(4)
	require.NoError(t, stop())
}

// TestAServerThatForgotTheAcceptanceIsTold is a server that was restored from a backup.
func TestAServerThatForgotTheAcceptanceIsTold(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 1)
	stop := start(t, testOptions(t, s))
	f.untilResults(1)
	f.set(func() {
		f.accepted = ""
		f.shards = []client.LeasedShard{{Shard: 9, Input: "{}"}}
	})
	f.untilResults(2)
	require.NoError(t, stop())
}

func TestAgentWithoutATokenWaitsForApproval(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 1)
	o := testOptions(t, s)
	o.Token = ""
	stop := start(t, o)
	f.until("it waits and says so", func() bool {
		return len(f.beats) > 0 && f.beats[len(f.beats)-1].Idle != nil && f.beats[len(f.beats)-1].Idle.Code == IdlePending
	})
	f.set(func() { require.Empty(t, f.results); f.state = client.DirectivesStateActive })
	f.untilResults(1)
	require.NoError(t, stop())
}

func TestAnAgentThatIsHeldBackGoesOnAfterwards(t *testing.T) {
	t.Parallel()
	for state, code := range map[client.DirectivesState]string{client.DirectivesStateDraining: IdleDrained, client.DirectivesStateQuarantined: IdleQuarantined} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			f, s := newFakeServer(t, 1)
			stop := start(t, testOptions(t, s))
			f.untilResults(1)
			f.set(func() {
				f.state = state
				f.shards = []client.LeasedShard{{Shard: 9, Input: "{}"}}
			})
			f.until("it says so", func() bool {
				last := f.beats
				return len(last) > 0 && last[len(last)-1].Idle != nil && last[len(last)-1].Idle.Code == code
			})
			f.set(func() { require.Len(t, f.results, 1); f.state = client.DirectivesStateActive })
			f.untilResults(2)
			require.NoError(t, stop())
		})
	}
}

// TestARestoredServerIsJoinedAgain is a server that knows the agent, and not the key that it gave it today; the token is spent.
func TestARestoredServerIsJoinedAgain(t *testing.T) {
	f, s := newFakeServer(t, 1)
	o := testOptions(t, s)
	stop := start(t, o)
	f.untilResults(1)
	require.NoError(t, stop())
	o.Token = ""
	f.set(func() {
		f.key, f.accepted = "another", ""
		f.leases = map[uuid.UUID][]client.LeasedShard{}
		f.shards = []client.LeasedShard{{Shard: 9, Input: "{}"}}
	})
	stop = start(t, o)
	f.untilResults(2)
	require.NoError(t, stop())
	require.Equal(t, 2, f.enrolled)
}

func TestTwoProcessesWithOneKey(t *testing.T) {
	f, s := newFakeServer(t, 0)
	instances := map[string]bool{}
	var asked atomic.Int64
	f.shards = []client.LeasedShard{{Shard: 8, Input: "{}"}}
	f.intercept = func(w http.ResponseWriter, r *http.Request) bool {
		f.set(func() { instances[r.Header.Get("Ostraka-Instance")] = true })
		if r.URL.Path != "/v1/agent/leases" || asked.Add(1) == 1 {
			return false
		}
		problem(w, 409, "duplicate_instance")
		return true
	}
	o := testOptions(t, s)
	require.ErrorIs(t, Run(t.Context(), o), errDuplicate, "the one that was taken over from ends, and says why")
	require.Len(t, instances, 1, "one process is one instance")
	f.set(func() {
		f.intercept = nil
		f.duplicate = &client.Duplicate{At: time.Now(), Address: "192.0.2.7:1"}
		f.shards = []client.LeasedShard{{Shard: 9, Input: "{}"}}
	})
	stop := start(t, o)
	f.untilResults(1)
	require.NoError(t, stop(), "the other one works on")
}

// TestAProcessThatWasNeverLetInWaits is started again while the server still takes the dead one for alive.
func TestAProcessThatWasNeverLetInWaits(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 1)
	var refused atomic.Int64
	f.intercept = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, "/v1/agent/") || r.URL.Path == "/v1/agent/enrol" || refused.Add(1) > 4 {
			return false
		}
		problem(w, 409, "duplicate_instance")
		return true
	}
	stop := start(t, testOptions(t, s))
	f.untilResults(1)
	require.NoError(t, stop())
}

// TestAServerOfBeforeHasNoChallenges joins one that knows the old statement only.
func TestAServerOfBeforeHasNoChallenges(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 1)
	f.noChallenges = true
	stop := start(t, testOptions(t, s))
	f.untilResults(1)
	require.NoError(t, stop())
}
