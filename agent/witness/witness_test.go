package witness_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/witness"
	"github.com/ostraka/ostraka/audit"
)

const origin = "ostraka/server/01a20052-0f0b-7723-86c4-b07d6b8e85ba"

// history is a log of which heads of all sizes are signed.
type history struct {
	nodes []audit.Hash
	heads []witness.Head // by size; none of 0
}

func newHistory(t testing.TB, key audit.Key, size, forkAt int) *history {
	t.Helper()
	verifier, err := key.Verifier(origin)
	require.NoError(t, err)
	h := &history{heads: make([]witness.Head, 1)}
	for i := range size {
		text := fmt.Sprint(i)
		if i >= forkAt {
			text += " otherwise"
		}
		nodes, root, err := audit.Grow(int64(i), []audit.Hash{audit.Leaf([]byte(text))}, h.read)
		require.NoError(t, err)
		h.nodes = append(h.nodes, nodes...)
		c := audit.Checkpoint{Origin: origin, Size: int64(i) + 1, Root: root}
		note, err := key.Sign(c)
		require.NoError(t, err)
		h.heads = append(h.heads, witness.Head{Checkpoint: c, Note: string(note), Key: verifier})
	}
	return h
}

func (h *history) read(numbers []int64) ([]audit.Hash, error) {
	hashes := make([]audit.Hash, len(numbers))
	for i, n := range numbers {
		hashes[i] = h.nodes[n]
	}
	return hashes, nil
}

func (h *history) proof(t testing.TB, from, to int64) witness.Proof {
	t.Helper()
	hashes, err := audit.ProveConsistency(from, to, h.read)
	require.NoError(t, err)
	return witness.Proof{Given: true, Hashes: hashes}
}

func TestJudge(t *testing.T) {
	key := audit.NewKey()
	log, fork := newHistory(t, key, 20, 20), newHistory(t, key, 20, 5)
	begin := time.Unix(1_800_000_000, 0)
	renamed := log.heads[12]
	renamed.Origin += "x"
	refused, unanswered := witness.Proof{Why: "shorter"}, witness.Proof{Unanswered: true, Why: "503"}
	// spell is what a server has shown again and again from begin until the time given.
	spell := func(times int, p witness.Proof, until time.Duration) (b witness.Behind) {
		for range times - 1 {
			b = b.Add(begin, p)
		}
		for after := witness.Patience; after < until; after += witness.Patience {
			b = b.Add(begin.Add(after), p)
		}
		return b.Add(begin.Add(until), p)
	}
	patient, short := spell(witness.PatienceShown, refused, 0), spell(witness.PatienceShown-1, refused, 0)
	away := spell(witness.PatienceShown, unanswered, witness.PatienceUnanswered)
	gap := begin.Add(witness.PatienceUnanswered + witness.Patience + 1)
	for name, c := range map[string]struct {
		offered  witness.Head
		proof    witness.Proof
		behind   witness.Behind
		after    time.Duration
		do, code string
	}{
		"the same":                           {offered: log.heads[10], do: witness.Same},
		"a newer one, proven":                {offered: log.heads[12], proof: log.proof(t, 10, 12), do: witness.Sign},
		"a newer one, not proven":            {offered: log.heads[12], do: witness.Wait},
		"never proven":                       {offered: log.heads[12], behind: patient, after: witness.Patience, do: witness.Alarm, code: witness.Forked},
		"an older one, as replicas lag":      {offered: log.heads[8], proof: log.proof(t, 8, 10), do: witness.Wait},
		"an older one, not proven":           {offered: log.heads[8], do: witness.Wait},
		"older for long":                     {offered: log.heads[8], behind: patient, after: witness.Patience, do: witness.Alarm, code: witness.RolledBack},
		"older and proven for long":          {offered: log.heads[8], proof: log.proof(t, 8, 10), behind: patient, after: witness.Patience, do: witness.Alarm, code: witness.RolledBack},
		"older, a moment before":             {offered: log.heads[8], behind: patient, after: witness.Patience - 1, do: witness.Wait},
		"older, one time fewer":              {offered: log.heads[8], behind: short, after: witness.Patience, do: witness.Wait},
		"unanswered as long as refused":      {offered: log.heads[12], proof: unanswered, behind: away, after: witness.Patience, do: witness.Wait},
		"unanswered, a moment before":        {offered: log.heads[12], proof: unanswered, behind: away, after: witness.PatienceUnanswered - 1, do: witness.Wait},
		"never answered":                     {offered: log.heads[12], proof: unanswered, behind: away, after: witness.PatienceUnanswered, do: witness.Alarm, code: witness.Forked},
		"refused after an outage":            {offered: log.heads[12], behind: spell(witness.PatienceShown, unanswered, witness.Patience).Add(begin.Add(witness.Patience), refused), after: witness.Patience, do: witness.Wait},
		"unanswered again after a gap":       {offered: log.heads[12], proof: unanswered, behind: away.Add(gap, unanswered), after: gap.Sub(begin), do: witness.Wait},
		"refused again after a gap":          {offered: log.heads[12], behind: patient.Add(gap, refused), after: gap.Sub(begin), do: witness.Wait},
		"another of the same size":           {offered: fork.heads[10], do: witness.Alarm, code: witness.Forked},
		"a newer one of another history":     {offered: fork.heads[12], proof: fork.proof(t, 10, 12), do: witness.Alarm, code: witness.Forked},
		"an older one of another history":    {offered: fork.heads[8], proof: log.proof(t, 8, 10), do: witness.Alarm, code: witness.Forked},
		"a proof of nothing":                 {offered: log.heads[12], proof: witness.Proof{Given: true}, do: witness.Alarm, code: witness.Forked},
		"another name":                       {offered: renamed, proof: log.proof(t, 10, 12), do: witness.Alarm, code: witness.Replaced},
		"an older one from before the fork":  {offered: fork.heads[4], proof: log.proof(t, 4, 10), do: witness.Wait},
		"a proof for other sizes than these": {offered: log.heads[12], proof: log.proof(t, 9, 12), do: witness.Alarm, code: witness.Forked},
	} {
		v := witness.Judge(log.heads[10], c.offered, c.proof, c.behind, begin.Add(c.after))
		require.Equal(t, [2]string{c.do, c.code}, [2]string{v.Do, v.Code}, name)
		require.Equal(t, v.Do == witness.Same || v.Do == witness.Sign, v.Why == "", name)
	}
}

// TestJudgeARestart shows an agent a log that began anew.
func TestJudgeARestart(t *testing.T) {
	log, fork := newHistory(t, audit.NewKey(), 20, 20), newHistory(t, audit.NewKey(), 20, 5)
	begin := time.Unix(1_800_000_000, 0)
	since := func(h witness.Head, epoch string, said bool) witness.Head {
		h.Origin = origin + epoch
		if said {
			h.Restart = &audit.Restart{Index: 7, Actor: "owner:ada", Reason: "restored", Origin: h.Origin}
		}
		return h
	}
	const first, second = "/20260504T030201Z", "/20260505T030201Z"
	given := func(h *history, from, to int64) witness.Proof { return h.proof(t, from, to) }
	var long witness.Behind
	for range witness.PatienceShown {
		long = long.Add(begin, witness.Proof{Why: "shorter"})
	}
	for name, c := range map[string]struct {
		remembered, offered witness.Head
		proof               witness.Proof
		behind              witness.Behind
		do, code            string
	}{
		"nothing is lost":                {log.heads[10], since(log.heads[12], first, true), given(log, 10, 12), witness.Behind{}, witness.Sign, ""},
		"not proven yet":                 {log.heads[10], since(log.heads[12], first, true), witness.Proof{}, witness.Behind{}, witness.Wait, ""},
		"never proven":                   {log.heads[10], since(log.heads[12], first, true), witness.Proof{}, long, witness.Alarm, witness.Restarted},
		"what is remembered is lost":     {log.heads[10], since(fork.heads[12], first, true), given(fork, 10, 12), witness.Behind{}, witness.Alarm, witness.Restarted},
		"fewer than are remembered":      {log.heads[10], since(fork.heads[8], first, true), witness.Proof{}, witness.Behind{}, witness.Alarm, witness.Restarted},
		"as many as are remembered":      {log.heads[10], since(fork.heads[10], first, true), witness.Proof{}, witness.Behind{}, witness.Alarm, witness.Restarted},
		"nothing says so":                {log.heads[10], since(log.heads[12], first, false), given(log, 10, 12), witness.Behind{}, witness.Alarm, witness.Replaced},
		"once more":                      {since(log.heads[10], first, true), since(log.heads[12], second, true), given(log, 10, 12), witness.Behind{}, witness.Sign, ""},
		"grows since":                    {since(log.heads[10], first, true), since(log.heads[12], first, true), given(log, 10, 12), witness.Behind{}, witness.Sign, ""},
		"another history since":          {since(log.heads[10], first, true), since(fork.heads[12], first, true), given(fork, 10, 12), witness.Behind{}, witness.Alarm, witness.Forked},
		"a replica that lags":            {since(log.heads[10], first, true), log.heads[8], witness.Proof{}, witness.Behind{}, witness.Wait, ""},
		"the name of before, for long":   {since(log.heads[10], first, true), log.heads[8], witness.Proof{}, long, witness.Alarm, witness.RolledBack},
		"the name of before, and longer": {since(log.heads[10], first, true), log.heads[12], given(log, 10, 12), witness.Behind{}, witness.Wait, ""},
	} {
		v := witness.Judge(c.remembered, c.offered, c.proof, c.behind, begin.Add(witness.Patience))
		require.Equal(t, [2]string{c.do, c.code}, [2]string{v.Do, v.Code}, name)
		if v.Code == witness.Restarted {
			require.Contains(t, v.Why, "restored", name)
		}
	}
}

// TestNoTwoHistoriesAreSigned shows an agent heads of two histories in any order, with any proofs: it never signs heads of both beyond the
// place where they part, and an honest server whose replicas lag never raises an alarm.
func TestNoTwoHistoriesAreSigned(t *testing.T) {
	key := audit.NewKey()
	const size, parted = 40, 15
	honest, lie := newHistory(t, key, size, size), newHistory(t, key, size, parted)
	for range 300 {
		signed := map[*history]bool{}
		lies := rand.IntN(2) == 0
		remembered := honest.heads[1+rand.IntN(size)]
		signed[honest] = remembered.Size > parted
		now, behind := time.Unix(1_800_000_000, 0), witness.Behind{}
		for range 60 {
			from := honest
			if lies && rand.IntN(2) == 0 {
				from = lie
			}
			offered := from.heads[1+rand.IntN(size)]
			older, newer, _ := witness.Needs(remembered, offered)
			proofs := []witness.Proof{from.proof(t, older.Size, newer.Size)}
			if lies {
				proofs = append(proofs, witness.Proof{}, honest.proof(t, older.Size, newer.Size), witness.Proof{Given: true, Hashes: make([]audit.Hash, 3)})
			}
			proof := proofs[rand.IntN(len(proofs))]
			now = now.Add(time.Second)
			behind = behind.Add(now, proof)
			v := witness.Judge(remembered, offered, proof, behind, now)
			if v.Do == witness.Alarm {
				require.True(t, lies, "an honest server that lags raises no alarm: %s", v.Why)
				break
			}
			if v.Do == witness.Sign {
				require.Greater(t, offered.Size, remembered.Size)
				remembered = offered
				signed[from] = signed[from] || offered.Size > parted
			}
			if v.Do != witness.Wait {
				behind = witness.Behind{}
			}
			require.False(t, signed[honest] && signed[lie])
		}
	}
}

func TestReadPinsTheKey(t *testing.T) {
	log, other := newHistory(t, audit.NewKey(), 3, 3).heads[3], newHistory(t, audit.NewKey(), 3, 3).heads[3]
	_, err := witness.Read(log.Note, log.Key, "")
	require.NoError(t, err)
	_, err = witness.Read(log.Note, log.Key, log.Key)
	require.NoError(t, err)
	for name, c := range map[string][3]string{
		"another key":       {other.Note, other.Key, log.Key},
		"signed by another": {other.Note, log.Key, log.Key},
		"changed":           {strings.Replace(log.Note, "\n3\n", "\n4\n", 1), log.Key, log.Key},
		"no key":            {log.Note, "", ""},
	} {
		_, err := witness.Read(c[0], c[1], c[2])
		require.Error(t, err, name)
	}
}

func TestTheStoreKeepsWhatItSaw(t *testing.T) {
	dir := t.TempDir()
	s := witness.Open(dir)
	require.NoError(t, s.Make())
	now := time.Unix(1_800_000_000, 0).UTC()
	for i := range witness.MaxLogs {
		kept, err := s.Remember("https://a", fmt.Sprint(i), witness.Log{Note: "n", Key: "k", Seen: now})
		require.NoError(t, err)
		require.True(t, kept, "log %d of %d", i+1, witness.MaxLogs)
	}
	kept, err := s.Remember("https://a", "one more", witness.Log{Seen: now.Add(witness.ForgetAfter)})
	require.NoError(t, err)
	require.False(t, kept, "one past the limit")
	kept, err = s.Remember("https://a", witness.ServerLog, witness.Log{Seen: now})
	require.NoError(t, err)
	require.True(t, kept, "the server's own log always has room")
	kept, err = s.Remember("https://a", "one more", witness.Log{Seen: now.Add(witness.ForgetAfter + 1)})
	require.NoError(t, err)
	require.True(t, kept, "one that was not shown for long gives up its place")
	other, err := s.Logs("https://b")
	require.NoError(t, err)
	require.Empty(t, other)
	info, err := os.Stat(filepath.Join(dir, "witness", "heads.json"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestAnAlarmStandsUntilItIsAccepted(t *testing.T) {
	dir := t.TempDir()
	s := witness.Open(dir)
	require.NoError(t, s.Make())
	now := time.Unix(1_800_000_000, 0).UTC()
	_, err := s.Accept(witness.Notice{}, "nothing is wrong", now)
	require.ErrorContains(t, err, "nothing to accept")
	first := witness.Notice{Code: witness.Forked, Why: "two", At: now, Server: "https://a", Log: witness.ServerLog, Remembered: witness.Log{Note: "old"}, Shown: witness.Log{Note: "new", Key: "k"}}
	require.NoError(t, s.Raise(first))
	require.NoError(t, s.Raise(witness.Notice{Code: witness.RolledBack}))
	n, err := s.Notice()
	require.NoError(t, err)
	require.Equal(t, first, *n, "the first one stays")

	for _, bad := range []string{"", strings.Repeat("é", witness.MaxReason+1)} {
		_, err = s.Accept(first, bad, now)
		require.ErrorContains(t, err, "say why")
	}
	_, err = s.Accept(first, strings.Repeat("é", witness.MaxReason), now)
	require.NoError(t, err)
	n, err = s.Notice()
	require.NoError(t, err)
	require.Nil(t, n)
	logs, err := s.Logs("https://a")
	require.NoError(t, err)
	require.Equal(t, witness.Log{Note: "new", Key: "k", Seen: now}, logs[witness.ServerLog])
	kept, err := filepath.Glob(filepath.Join(dir, "witness", "accepted-*.json"))
	require.NoError(t, err)
	require.Len(t, kept, 1, "the evidence stays")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "witness", "alarm.json"), []byte("{"), 0o600))
	_, err = s.Notice()
	require.Error(t, err, "one that cannot be read is no peace")
}

// TestARestartIsAcceptedByItsReason has an alarm stand, a restart explain it, and the owner accept that without words of their own.
func TestARestartIsAcceptedByItsReason(t *testing.T) {
	dir := t.TempDir()
	s := witness.Open(dir)
	require.NoError(t, s.Make())
	now := time.Unix(1_800_000_000, 0).UTC()
	restart := witness.Restart{Restart: audit.Restart{Index: 7, Origin: origin + "/20260504T030201Z", Reason: "restored"}, Record: "r", Proof: "p", Note: "since", Key: "k2"}
	require.NoError(t, s.Explain("https://a", witness.ServerLog, restart), "nothing stands, and nothing is explained")
	require.NoError(t, s.Raise(witness.Notice{Code: witness.RolledBack, Server: "https://a", Log: witness.ServerLog, Remembered: witness.Log{Note: "old"}, Shown: witness.Log{Note: "new"}}))
	require.NoError(t, s.Explain("https://b", witness.ServerLog, restart))
	require.NoError(t, s.Explain("https://a", "another", restart))
	n, err := s.Notice()
	require.NoError(t, err)
	require.Nil(t, n.Restart, "of another log")
	require.NoError(t, s.Explain("https://a", witness.ServerLog, restart))
	older := restart
	older.Origin, older.Reason = origin+"/20260503T030201Z", "older"
	require.NoError(t, s.Explain("https://a", witness.ServerLog, older))
	_, err = s.Accept(*n, "the restart came after I looked", now)
	require.ErrorIs(t, err, witness.ErrSaidSince)
	n, err = s.Notice()
	require.NoError(t, err)
	require.Equal(t, restart, *n.Restart)
	require.Nil(t, n.Later)

	for _, second := range []string{"5", "7", "6"} {
		later := restart
		later.Origin, later.Reason, later.Note = origin+"/2026050"+second+"T030201Z", "what a liar says after the owner looked", "later"
		require.NoError(t, s.Explain("https://a", witness.ServerLog, later))
	}
	for _, seen := range []func(*witness.Notice){
		func(n *witness.Notice) { n.At = n.At.Add(1) },
		func(n *witness.Notice) { n.Shown.Note = "another" },
		func(n *witness.Notice) { n.Restart = &older },
		func(n *witness.Notice) { n.Restart = nil },
	} {
		another := *n
		seen(&another)
		_, err = s.Accept(another, "what was seen", now)
		require.ErrorIs(t, err, witness.ErrSaidSince)
	}
	accepted, err := s.Accept(*n, "", now)
	require.NoError(t, err)
	require.Equal(t, "restored", accepted.Accepted, "what the owner has looked at, and nothing later")
	require.Equal(t, origin+"/20260507T030201Z", accepted.Later.Origin, "what came later is kept, as evidence")
	require.Equal(t, "old", accepted.Remembered.Note, "the head of before stays as evidence")
	logs, err := s.Logs("https://a")
	require.NoError(t, err)
	require.Equal(t, witness.Log{Note: "since", Key: "k2", Seen: now, Restarts: []audit.Restart{restart.Restart}}, logs[witness.ServerLog])
	known, err := s.Restarts()
	require.NoError(t, err)
	require.Equal(t, []witness.KnownRestart{{Server: "https://a", Log: witness.ServerLog, Restart: restart.Restart}}, known)

	log := logs[witness.ServerLog]
	for i := range witness.MaxKeptRestarts {
		log = witness.Following(log, witness.Head{Restart: &audit.Restart{Origin: fmt.Sprint(i)}}, now)
		log = witness.Following(log, witness.Head{Restart: &audit.Restart{Origin: fmt.Sprint(i)}}, now)
	}
	require.Len(t, log.Restarts, witness.MaxKeptRestarts)
	require.Equal(t, "0", log.Restarts[0].Origin, "the oldest gives up its place, and none is there twice")
}

// FuzzRead reads what a hostile server shows.
func FuzzRead(f *testing.F) {
	head := newHistory(f, audit.NewKey(), 3, 3).heads[3]
	f.Add(head.Note, head.Key)
	f.Add("", "")
	f.Fuzz(func(t *testing.T, note, key string) {
		if read, err := witness.Read(note, key, head.Key); err == nil && read.Checkpoint != head.Checkpoint {
			t.Fatalf("%+v was never signed", read)
		}
	})
}

// TestTheLongestNoticeCanBeRead has a server make each part as long as it may be, of bytes that JSON writes as six.
func TestTheLongestNoticeCanBeRead(t *testing.T) {
	s := witness.Open(t.TempDir())
	require.NoError(t, s.Make())
	note, proof, record := strings.Repeat("<", audit.MaxCheckpointBytes), strings.Repeat("<", audit.MaxProofBytes), strings.Repeat("<", audit.MaxRestartBytes)
	restart := witness.Restart{Restart: audit.Restart{Origin: origin + "/20260504T030201Z"}, Record: record, Proof: proof, Note: note}
	require.NoError(t, s.Raise(witness.Notice{Server: "a", Log: "b", Remembered: witness.Log{Note: note}, Shown: witness.Log{Note: note}, Restart: &restart}))
	later := restart
	later.Origin = origin + "/20260505T030201Z"
	require.NoError(t, s.Explain("a", "b", later))
	n, err := s.Notice()
	require.NoError(t, err)
	require.Equal(t, &later, n.Later)
}
