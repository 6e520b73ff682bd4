package audit_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
)

const signedLease = "01a20052-3333-7723-86c4-b07d6b8e85ba"

// signing is a receipt of results that agents have signed, and how it is made.
type signing struct {
	t      testing.TB
	book   *book
	shards int64
	agents []string
	keys   []ed25519.PrivateKey
	at     []int64 // the numbers of the records of their keys
	each   int64   // how many results an agent signs at once
	// show says which results of an agent the receipt shows; the others are those of lines that name it not.
	show func(agent int, shard int64) bool
	// lie changes what the server writes.
	lie func(line *audit.ShardLine)
	// other is what the agents have signed instead.
	other func(*audit.Work)
}

func newSigning(t testing.TB, agents int, shards, each int64) *signing {
	t.Helper()
	s := &signing{t: t, book: newBook(t, 10, 97), shards: shards, each: each, show: func(int, int64) bool { return true }}
	for i := range agents {
		s.agents = append(s.agents, fmt.Sprintf("01a20052-4444-7723-86c4-%012d", i))
		s.keys = append(s.keys, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(i + 7)}, ed25519.SeedSize)))
		s.at = append(s.at, int64(len(s.book.records)))
		s.book.add(s.record(i))
	}
	return s
}

// record is that of an agent's key.
func (s *signing) record(agent int) []byte {
	key := base64.StdEncoding.EncodeToString(s.keys[agent].Public().(ed25519.PublicKey))
	text, err := audit.Record{
		Seq: s.at[agent] + 1, At: time.Unix(1_800_000_000, 0), Actor: "server", Action: audit.AgentKeyAction, Subject: s.agents[agent],
		Detail: json.RawMessage(`{"key":"` + key + `"}`),
	}.Canonical()
	require.NoError(s.t, err)
	return text
}

// output is that of a shard; every tenth has files as well, so that its outcome is another.
func output(shard int64) (digest, outcome string) {
	digest = audit.DigestOf(fmt.Append(nil, "output ", shard))
	if shard%10 == 9 {
		return digest, audit.DigestOf([]byte(digest + "files"))
	}
	return digest, digest
}

// submission is what an agent has signed of some shards.
func (s *signing) submission(agent int, first, end int64) []byte {
	results := make([]audit.SignedResult, 0, end-first)
	lines := make([]audit.WorkLine, 0, end-first)
	for shard := first; shard < end; shard++ {
		r := audit.SignedResult{Shown: s.show(agent, shard)}
		r.Shard, r.Status = shard, "ok"
		r.Output, r.Outcome = output(shard)
		results, lines = append(results, r), append(lines, r.WorkLine)
	}
	work := audit.Work{Project: strings.TrimPrefix(origin, "ostraka/projects/"), Job: receiptJob, Function: digestOfNothing, Lease: signedLease}
	if s.other != nil {
		s.other(&work)
	}
	said := audit.NewSubmission(s.agents[agent], signedLease, results, ed25519.Sign(s.keys[agent], audit.WorkStatement(work, lines)))
	text, err := audit.SubmissionLine{Submission: said}.Canonical()
	require.NoError(s.t, err)
	return text
}

// line is that of a shard.
func (s *signing) line(shard int64) audit.ShardLine {
	l := audit.ShardLine{Shard: shard, Agents: []string{}}
	l.Output, _ = output(shard)
	for i, agent := range s.agents {
		if s.show(i, shard) {
			l.Agents = append(l.Agents, agent)
		}
	}
	if s.lie != nil {
		s.lie(&l)
	}
	return l
}

// receipt makes the file.
func (s *signing) receipt() (text []byte, key string) {
	var lines [][]byte
	var tree, signed audit.Peaks
	said := audit.SignedStated{}
	sign := func(text []byte) {
		lines = append(lines, text)
		signed.Add(audit.Leaf(text))
	}
	for shard := range s.shards {
		if shard == 0 {
			for i := range s.agents {
				committed, err := audit.SignerLine{Signer: s.record(i)}.Committed()
				require.NoError(s.t, err)
				sign(committed)
				said.Agents++
			}
		}
		for i := 0; shard%s.each == 0 && i < len(s.agents); i++ {
			sign(s.submission(i, shard, min(shard+s.each, s.shards)))
			said.Submissions++
		}
		l := s.line(shard)
		text, err := l.Canonical()
		require.NoError(s.t, err)
		lines = append(lines, text)
		tree.Add(audit.Leaf(text))
		for i := range s.agents {
			if s.show(i, shard) {
				said.Results++
			}
		}
	}
	root, signedRoot := tree.Root(), signed.Root()
	said.Root = hex.EncodeToString(signedRoot[:])
	first := s.book.receipt(func(st *audit.Statement, _ *audit.Record) {
		st.Shards = audit.ShardsStated{Total: s.shards, Accepted: s.shards, Root: hex.EncodeToString(root[:])}
		st.Answer, st.Signed = nil, &said
	})
	for i, line := range lines {
		var l audit.SignerLine
		if json.Unmarshal(line, &l) != nil || l.Signer == nil {
			continue
		}
		r, err := audit.ParseRecord(l.Signer)
		require.NoError(s.t, err)
		l.Proof, err = audit.ProveRecord(r.Seq-1, int64(len(s.book.records)), s.book.read)
		require.NoError(s.t, err)
		lines[i], err = l.Canonical()
		require.NoError(s.t, err)
	}
	return append(bytes.Join(append([][]byte{first}, lines...), []byte("\n")), '\n'), s.book.verifier()
}

// openSigned verifies all of a receipt, as whoever has the file does.
func openSigned(text []byte, key string, keep int64) (r audit.Receipt, c *audit.SignatureCheck, err error) {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	if r, err = audit.OpenReceipt(first, key); err != nil {
		return r, nil, err
	}
	c = audit.NewSignatureCheck(r)
	c.KeepShard(keep)
	var tree audit.Peaks
	for len(rest) > 0 {
		line, more, ended := bytes.Cut(rest, []byte("\n"))
		if rest = more; !ended {
			return r, c, fmt.Errorf("the last line is cut off")
		}
		if audit.IsSignedLine(line) {
			if err := c.Line(line); err != nil {
				return r, c, err
			}
			continue
		}
		l, err := audit.ParseShardLine(line)
		if err != nil {
			return r, c, err
		}
		tree.Add(audit.Leaf(line))
		if err := c.Shard(l); err != nil {
			return r, c, err
		}
	}
	if root := tree.Root(); hex.EncodeToString(root[:]) != r.Statement.Shards.Root {
		return r, c, fmt.Errorf("the lines are not those that the log vouches for")
	}
	return r, c, c.End()
}

func TestSignaturesOfAgentsAreVerified(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		agents       int
		shards, each int64
	}{{1, 1, 1}, {2, 30, 7}, {3, 257, 100}, {1, 1024, 1024}, {2, 5, 1}} {
		s := newSigning(t, c.agents, c.shards, c.each)
		text, key := s.receipt()
		r, check, err := openSigned(text, key, -1)
		require.NoError(t, err)
		require.Equal(t, 4, r.Statement.V)
		signed, unsigned := check.Signed()
		require.Equal(t, int64(c.agents)*c.shards, signed)
		require.Zero(t, unsigned)
		seen := check.Agents()
		require.Len(t, seen, c.agents)
		require.Equal(t, c.shards, seen[0].Results)
		require.Equal(t, hex.EncodeToString(s.keys[0].Public().(ed25519.PublicKey)), seen[0].Key)
		require.Equal(t, s.at[0], seen[0].Record)
	}
}

// TestResultsThatAreNotShownStayHidden: an agent was wrong about some shards, and what it has signed of the others is proven all the same.
func TestResultsThatAreNotShownStayHidden(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		s := newSigning(t, 2, 1+r.Int64N(120), 1+r.Int64N(120))
		odds := r.Float64()
		hidden := map[int64]bool{}
		for shard := range s.shards {
			hidden[shard] = r.Float64() < odds && shard%s.each > 0 // something is shown of each
		}
		s.show = func(agent int, shard int64) bool { return agent == 0 || !hidden[shard] }
		text, key := s.receipt()
		keep := r.Int64N(s.shards)
		_, check, err := openSigned(text, key, keep)
		require.NoError(t, err)
		signed, unsigned := check.Signed()
		require.Zero(t, unsigned)
		require.LessOrEqual(t, signed, 2*s.shards)
		kept := check.Kept()
		require.Equal(t, !hidden[keep], len(kept) == 2)
	}
}

// TestOtherResultsThanTheAgentsAreRefused: a server that has the log's key cannot say that an agent gave what it did not give.
func TestOtherResultsThanTheAgentsAreRefused(t *testing.T) {
	t.Parallel()
	stranger := "01a20052-5555-7723-86c4-b07d6b8e85ba"
	for name, c := range map[string]struct {
		change func(*signing)
		want   string
	}{
		"another output": {func(s *signing) {
			s.lie = func(l *audit.ShardLine) {
				if l.Shard == 5 {
					l.Output = digestOfNothing
				}
			}
		}, "has not signed what the receipt says"},
		"another agent": {func(s *signing) {
			s.lie = func(l *audit.ShardLine) {
				if l.Shard == 5 {
					l.Agents[0] = stranger
				}
			}
		}, "has signed a result of shard 5, and the receipt does not name it there: it names [" + stranger},
		"another agent's key": {func(s *signing) { s.keys[0] = s.keys[1] }, "has not signed what the receipt says"},
		"another job":         {func(s *signing) { s.other = func(w *audit.Work) { w.Job = stranger } }, "has not signed what the receipt says"},
		"another project":     {func(s *signing) { s.other = func(w *audit.Work) { w.Project = stranger } }, "has not signed what the receipt says"},
		"another function":    {func(s *signing) { s.other = func(w *audit.Work) { w.Function = audit.DigestOf([]byte("f")) } }, "has not signed what the receipt says"},
		"another lease":       {func(s *signing) { s.other = func(w *audit.Work) { w.Lease = stranger } }, "has not signed what the receipt says"},
	} {
		s := newSigning(t, 2, 12, 10)
		if name == "another agent's key" { // the log has the key of one agent, and another's signature is shown
			real := s.keys[0]
			text, key := s.receipt()
			_, _, err := openSigned(text, key, -1)
			require.NoError(t, err)
			s = newSigning(t, 2, 12, 10)
			record := s.record(0)
			c.change(s)
			text, key = s.receipt()
			require.NotContains(t, string(text), string(record))
			s.keys[0] = real
			_, _, err = openSigned(text, key, -1)
			require.ErrorContains(t, err, "is not number", name)
			continue
		}
		c.change(s)
		text, key := s.receipt()
		_, _, err := openSigned(text, key, -1)
		require.ErrorContains(t, err, c.want, name)
	}
}

func TestNoByteOfAReceiptWithSignaturesCanBeChanged(t *testing.T) {
	t.Parallel()
	s := newSigning(t, 2, 3, 2)
	s.show = func(agent int, shard int64) bool { return agent == 0 || shard != 1 }
	text, key := s.receipt()
	noByteCanBeChanged(t, text, func(text []byte) error { _, _, err := openSigned(text, key, -1); return err })
	lines := bytes.SplitAfter(text, []byte("\n"))
	for i := 1; i < len(lines)-1; i++ {
		without := bytes.Join(append(append([][]byte{}, lines[:i]...), lines[i+1:]...), nil)
		_, _, err := openSigned(without, key, -1)
		require.Error(t, err, "without line %d", i)
		twice := bytes.Join(append(append([][]byte{}, lines[:i+1]...), lines[i:]...), nil)
		_, _, err = openSigned(twice, key, -1)
		require.Error(t, err, "with line %d twice", i)
	}
}

// signedShard is the proof of one shard that two agents have signed, each with others.
func signedShard(t testing.TB, shard int64) (text []byte, key string) {
	t.Helper()
	s := newSigning(t, 2, 40, 30)
	receipt, key := s.receipt()
	_, check, err := openSigned(receipt, key, shard)
	require.NoError(t, err)
	var finder audit.PathFinder
	var wanted []byte
	for i := range s.shards {
		line, err := s.line(i).Canonical()
		require.NoError(t, err)
		if i == shard {
			wanted = line
		}
		finder.Add(audit.Leaf(line), i == shard)
	}
	index, path, err := finder.Path()
	require.NoError(t, err)
	first, _, _ := bytes.Cut(receipt, []byte("\n"))
	text, err = audit.EncodeShardProof(first, wanted, index, path, check.Kept()...)
	require.NoError(t, err)
	return text, key
}

func TestAShardIsProvenWithItsSignatures(t *testing.T) {
	t.Parallel()
	for _, shard := range []int64{0, 7, 9, 29, 30, 31, 39} { // the first, one with files, and those of another submission
		text, key := signedShard(t, shard)
		require.LessOrEqual(t, len(text), 8<<10)
		p, err := audit.OpenShardProof(text, key)
		require.NoError(t, err)
		require.Len(t, p.Signed, 2)
		require.Equal(t, []string{p.Signed[0].Agent, p.Signed[1].Agent}, p.Line.Agents)
	}
	text, key := signedShard(t, 9)
	noByteCanBeChanged(t, text, func(text []byte) error { _, err := audit.OpenShardProof(text, key); return err })
}

// TestBytesOfWorkAreFrozen: signatures outlive the program.
func TestBytesOfWorkAreFrozen(t *testing.T) {
	t.Parallel()
	lines := []audit.WorkLine{{Shard: 3, Status: "ok", Outcome: "aa", Output: "aa"}, {Shard: 7, Status: "ok", Outcome: "bb", Output: "aa"}, {Shard: 12, Status: "timeout", Outcome: "cc"}}
	var tree audit.Peaks
	for i, text := range []string{"3 ok aa", "7 ok bb aa", "12 timeout cc"} {
		require.Equal(t, audit.Leaf([]byte(text)), lines[i].Leaf())
		tree.Add(audit.Leaf([]byte(text)))
	}
	root := tree.Root()
	require.Equal(t, "ostraka-results/2\np\nj\nf\nl\n3\n"+hex.EncodeToString(root[:])+"\n",
		string(audit.WorkStatement(audit.Work{Project: "p", Job: "j", Function: "f", Lease: "l"}, lines)))
}

func FuzzSignedReceipt(f *testing.F) {
	s := newSigning(f, 2, 12, 5)
	sound, key := s.receipt()
	first, rest, _ := bytes.Cut(sound, []byte("\n"))
	for line := range bytes.Lines(rest) {
		f.Add(bytes.TrimSuffix(line, []byte("\n")))
	}
	f.Add([]byte(`{"submission":{"agent":"a","lease":"","results":3,"lines":[-1,2,9,1],"signature":""}}`))
	r, err := audit.OpenReceipt(first, key)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text []byte) {
		c := audit.NewSignatureCheck(r)
		for line := range bytes.Lines(rest) {
			if line = bytes.TrimSuffix(line, []byte("\n")); audit.IsSignedLine(line) && bytes.HasPrefix(line, []byte(`{"signer"`)) {
				require.NoError(t, c.Line(line))
			}
		}
		if c.Line(text) == nil && c.Shard(s.line(0)) == nil {
			signed, unsigned := c.Signed()
			require.LessOrEqual(t, signed+unsigned, int64(2))
		}
	})
}
