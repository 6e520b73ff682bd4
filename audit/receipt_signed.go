package audit

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

const (
	// AgentKeyAction is the action of the record with the key by which an agent signs its results: its subject is the agent, its detail the key.
	AgentKeyAction = "agent.key"
	// KeyDetail is where the key stands in the detail, in base64.
	KeyDetail = "key"
	// MaxSignedLine is how long a line with an agent's key, or with what an agent has signed, may be, in bytes.
	MaxSignedLine = 128 << 10
	// hiddenRun stands before how many results of a submission are not shown.
	hiddenRun = -1
	// maxRecordPath is how many hashes a path in a log has at most.
	maxRecordPath = 63
)

// SignedStated is what agents have signed of the results. Root is that of the tree over the lines that say it, as they come: an agent's key before
// the first submission that is signed with it, and a submission before the lines of its shards.
type SignedStated struct {
	Agents      int64  `json:"agents"`
	Submissions int64  `json:"submissions"`
	Results     int64  `json:"results"` // of accepted shards, each of each agent that its line names
	Root        string `json:"root"`
}

func (s SignedStated) check(accepted int64) error {
	switch {
	case !isDigest(s.Root):
		return errors.New("a digest in it is none")
	case s.Agents < 1 || s.Submissions < s.Agents || s.Results < s.Submissions || s.Results > accepted*MaxShardAgents:
		return errors.New("its counts of what agents have signed contradict each other")
	}
	return nil
}

// SignerLine is the record with the key of an agent. The proof that the log has it is by the head of the receipt, and no part of what is committed to.
type SignerLine struct {
	Signer json.RawMessage `json:"signer"`
	Proof  *RecordProof    `json:"proof,omitempty"`
}

// RecordProof is where a record is in a log, and the RFC 6962 path from it to the root of a head.
type RecordProof struct {
	Index int64    `json:"index"`
	Path  []string `json:"path"`
}

// Canonical are the bytes of a line, with its proof if it has one.
func (l SignerLine) Canonical() ([]byte, error) { return bounded(l) }

// Committed are the bytes that the receipt commits to.
func (l SignerLine) Committed() ([]byte, error) { return bounded(SignerLine{Signer: l.Signer}) }

// SubmissionLine is what one agent has signed at once, as far as it is about results of the receipt.
type SubmissionLine struct {
	Submission SubmissionStated `json:"submission"`
}

// SubmissionStated is one signature of an agent over its results, in the order of the shards.
type SubmissionStated struct {
	Agent   string `json:"agent"`
	Lease   string `json:"lease"`
	Results int    `json:"results"` // how many it is over
	// Lines says which of them are shown: pairs of how many shards are left out and how many follow; or of -1 and how many results are not shown.
	Lines []int64 `json:"lines"`
	// Outcomes are those of results whose outcome is not their output, by the shard: they left files, or printed what counts.
	Outcomes  map[string]string `json:"outcomes,omitempty"`
	Hidden    []string          `json:"hidden,omitempty"` // the hashes that stand for what is not shown
	Signature string            `json:"signature"`        // Ed25519, in base64
}

// Canonical are the bytes of a line.
func (l SubmissionLine) Canonical() ([]byte, error) { return bounded(l) }

func bounded(line any) ([]byte, error) {
	text, err := encode(line)
	if err == nil && len(text) > MaxSignedLine {
		err = fmt.Errorf("a line of what agents have signed has %d bytes: one has at most %d", len(text), MaxSignedLine)
	}
	return text, err
}

// IsSignedLine says whether a line of a receipt is about what agents have signed, and not one of a shard.
func IsSignedLine(text []byte) bool {
	return bytes.HasPrefix(text, []byte(`{"signer":`)) || bytes.HasPrefix(text, []byte(`{"submission":`))
}

// SignedResult is one result of a submission.
type SignedResult struct {
	WorkLine
	Shown bool // it is one of the receipt's
}

// NewSubmission says what an agent has signed, its results in the order of the shards.
func NewSubmission(agent, lease string, results []SignedResult, signature []byte) SubmissionStated {
	said := SubmissionStated{Agent: agent, Lease: lease, Results: len(results), Signature: base64.StdEncoding.EncodeToString(signature)}
	leaves, shown := make([]Hash, len(results)), make([]bool, len(results))
	next := int64(0)
	for i, r := range results {
		leaves[i], shown[i] = r.Leaf(), r.Shown
		skip := r.Shard - next
		if !r.Shown {
			skip = hiddenRun
		}
		if n := len(said.Lines); n > 0 && (skip == 0 || skip == hiddenRun) && (said.Lines[n-2] == hiddenRun) == (skip == hiddenRun) {
			said.Lines[n-1]++
		} else {
			said.Lines = append(said.Lines, skip, 1)
		}
		if !r.Shown {
			continue
		}
		next = r.Shard + 1
		if r.Outcome != r.Output {
			if said.Outcomes == nil {
				said.Outcomes = map[string]string{}
			}
			said.Outcomes[fmt.Sprint(r.Shard)] = r.Outcome
		}
	}
	said.Hidden = hashTexts(hide(leaves, shown))
	return said
}

// shards are the shards of the results that are shown, and their places among all.
func (s SubmissionStated) shards() (shards []int64, places []int, err error) {
	bad := errors.New("it does not say which results it is over")
	if s.Results < 1 || s.Results > MaxWorkLines || len(s.Lines)%2 != 0 || len(s.Lines) > 2*s.Results || len(s.Hidden) > s.Results {
		return nil, nil, bad
	}
	place, next := 0, int64(0)
	for i := 0; i < len(s.Lines); i += 2 {
		skip, n := s.Lines[i], s.Lines[i+1]
		if n < 1 || n > int64(s.Results-place) || skip < hiddenRun || skip >= MaxReceiptShards {
			return nil, nil, bad
		}
		if skip == hiddenRun {
			place += int(n)
			continue
		}
		for next += skip; n > 0; n-- {
			shards, places = append(shards, next), append(places, place)
			next, place = next+1, place+1
		}
	}
	if place != s.Results || len(shards) == 0 || next > MaxReceiptShards || len(s.Outcomes) > len(shards) {
		return nil, nil, bad
	}
	return shards, places, nil
}

// signer is an agent whose key the log has a record of.
type signer struct {
	key    ed25519.PublicKey
	record Record
	line   SignerLine
}

// openSigner verifies that the log has the record of an agent's key, before that of the receipt.
func (r Receipt) openSigner(l SignerLine) (s signer, err error) {
	if s.record, err = ParseRecord(l.Signer); err != nil {
		return s, fmt.Errorf("the record of an agent's key: %w", err)
	}
	agent := s.record.Subject
	detail := map[string]json.RawMessage{}
	if err := json.Unmarshal(s.record.Detail, &detail); err != nil {
		return s, fmt.Errorf("the record of the key of agent %s: %w", agent, err)
	}
	var key string
	if s.record.Action != AgentKeyAction || json.Unmarshal(detail[KeyDetail], &key) != nil {
		return s, fmt.Errorf("a record is about %s of %s, and not about the key of an agent", s.record.Action, agent)
	}
	if s.key, err = base64.StdEncoding.Strict().DecodeString(key); err != nil || len(s.key) != ed25519.PublicKeySize {
		return s, fmt.Errorf("the key of agent %s is none", agent)
	}
	if l.Proof == nil || l.Proof.Index >= r.Index {
		return s, fmt.Errorf("nothing proves that the key of agent %s was in the log before the receipt", agent)
	}
	s.line = l
	if err := l.Proof.holds(r.Head, l.Signer); err != nil {
		return s, fmt.Errorf("the record of the key of agent %s: %w", agent, err)
	}
	return s, nil
}

// holds makes sure that a record is in the log that has this head.
func (p RecordProof) holds(head Checkpoint, record []byte) error {
	path, err := readHashes(p.Path)
	if err != nil {
		return err
	}
	if p.Index < 0 || p.Index >= head.Size || len(path) > maxRecordPath {
		return fmt.Errorf("it cannot be number %d of a log of %d", p.Index, head.Size)
	}
	if err := tlog.CheckRecord(path, head.Size, head.Root, p.Index, Leaf(record)); err != nil {
		return fmt.Errorf("it is not number %d of the log %s: %w", p.Index, head.Origin, err)
	}
	return nil
}

// ProveRecord proves that the record with this number is in a log of that size.
func ProveRecord(index, size int64, nodes Nodes) (*RecordProof, error) {
	path, err := tlog.ProveRecord(size, index, nodes)
	if err != nil {
		return nil, fmt.Errorf("proving record %d of %d: %w", index, size, err)
	}
	return &RecordProof{Index: index, Path: hashTexts(path)}, nil
}

// verifySubmission verifies what an agent has signed, when the leaves of all results that are shown are known.
func (r Receipt) verifySubmission(by signer, said SubmissionStated, tree *shownTree) error {
	root, err := tree.root()
	if err != nil {
		return fmt.Errorf("what agent %s has signed of lease %s: %w", said.Agent, said.Lease, err)
	}
	signature, err := base64.StdEncoding.Strict().DecodeString(said.Signature)
	work := Work{Project: r.Statement.Project, Job: r.Statement.Job, Function: r.Statement.Function.Digest, Lease: said.Lease}
	if err != nil || !ed25519.Verify(by.key, work.statement(said.Results, root), signature) {
		return fmt.Errorf("agent %s has not signed what the receipt says: its signature over %d results of lease %s does not hold, so at least one of them is another than it gave, or it gave them to something else", said.Agent, said.Results, said.Lease)
	}
	return nil
}
