package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// ReceiptAction is the action of the record that puts a receipt into the log: its subject is the job, its detail the digest of the statement.
const ReceiptAction = "job.receipt"

const (
	// MaxReceiptBytes is how long a receipt may be without the lines of its shards, whatever the number of shards.
	MaxReceiptBytes = 64 << 10
	// MaxReceiptValue is the longest answer that stands in a receipt itself, in bytes; of a longer one it has the digest.
	MaxReceiptValue = 8 << 10
	// MaxReceiptPart is how long another part of the statement may be, in bytes: of a longer one, such as the axes of a large grid, the
	// statement has {"bytes":…,"sha256":…}.
	MaxReceiptPart = 4 << 10
	// MaxStatementBytes is how long all of the statement may be.
	MaxStatementBytes = 48 << 10
	// MaxReceiptShards is how many shards a job may have that a receipt is about.
	MaxReceiptShards = 10_000_000
	// MaxShardLine is how long the line of one shard may be, in bytes.
	MaxShardLine = 4 << 10
	// MaxShardAgents is how many agents the line of a shard names: more that agree speak for the result no louder.
	MaxShardAgents = 16
)

// Statement is what a receipt says about a job that has ended. Its canonical JSON is what the log vouches for.
type Statement struct {
	V          int             `json:"v"`
	Project    string          `json:"project"`
	Job        string          `json:"job"`
	Run        int             `json:"run"` // of the job's aggregations
	State      string          `json:"state"`
	Error      string          `json:"error,omitempty"`
	CreatedBy  string          `json:"created_by"`
	CreatedAt  time.Time       `json:"created_at"`
	FinishedAt time.Time       `json:"finished_at"`
	Function   FunctionStated  `json:"function"`
	Partition  json.RawMessage `json:"partition"`
	Policy     json.RawMessage `json:"policy"`
	Validator  json.RawMessage `json:"validator,omitempty"`
	Aggregator json.RawMessage `json:"aggregator,omitempty"`
	// Verification is what the server says of the bound, and of the audits drawn; without it the policy has no bound.
	Verification json.RawMessage `json:"verification,omitempty"`
	// Draws is by which secret audits were drawn. A statement without is of version 1, and has lines without draws.
	Draws *DrawsStated `json:"draws,omitempty"`
	// Signed is what agents have signed of the results; nil: nothing that a stranger can check.
	Signed *SignedStated `json:"signed,omitempty"`
	Shards ShardsStated  `json:"shards"`
	Answer *AnswerStated `json:"answer,omitempty"`
}

// FunctionStated is what was executed.
type FunctionStated struct {
	Name      string `json:"name"`
	Version   int    `json:"version"`
	Digest    string `json:"digest"` // of the bundle, SHA-256 in hex
	SignedBy  string `json:"signed_by,omitempty"`
	Signature string `json:"signature,omitempty"`
	// Key is the owner's that has signed, Ed25519 in hex. A statement without is of a version before; whose key it is, is the server's word.
	Key string `json:"key,omitempty"`
}

// ShardsStated is the outcome of the shards. Root is that of the tree over the lines of those that were accepted, in the order of their numbers.
type ShardsStated struct {
	Total    int64  `json:"total"`
	Accepted int64  `json:"accepted"`
	Failed   int64  `json:"failed"`
	Root     string `json:"root"`
}

// AnswerStated is the folded answer: its bytes, or the object that holds them, and the SHA-256 of these bytes.
type AnswerStated struct {
	Count  int64           `json:"count"`
	Digest string          `json:"digest"`
	Value  json.RawMessage `json:"value,omitempty"` // missing where it is longer than MaxReceiptValue
	Rows   string          `json:"rows,omitempty"`  // SHA-256 of the further results of the aggregator, where there are some
}

// ShardLine is what a receipt says about one accepted shard: which output, and who gave exactly these bytes. Its canonical JSON is a leaf.
type ShardLine struct {
	Shard  int64    `json:"shard"`
	Output string   `json:"output"` // SHA-256 of the output's canonical bytes, in hex
	Agents []string `json:"agents"` // at most MaxShardAgents
	Server bool     `json:"server"` // whether a server has executed the shard, and had the same bytes
	// Draw is how it was drawn whether the result is audited; nil: it was not drawn, as several agents agreed, a server executed it, or a person decided.
	Draw *DrawStated `json:"draw,omitempty"`
}

// Canonical are the bytes of a line, without its end.
func (l ShardLine) Canonical() ([]byte, error) {
	if l.Agents == nil {
		l.Agents = []string{}
	}
	text, err := encode(l)
	if err != nil {
		return nil, fmt.Errorf("writing the line of shard %d: %w", l.Shard, err)
	}
	if len(text) > MaxShardLine {
		return nil, fmt.Errorf("the line of shard %d has %d bytes: one has at most %d", l.Shard, len(text), MaxShardLine)
	}
	return text, nil
}

// ParseShardLine reads a line, and refuses another that means the same.
func ParseShardLine(text []byte) (l ShardLine, err error) {
	if len(text) > MaxShardLine {
		return l, fmt.Errorf("a line of a shard has at most %d bytes, this one has %d", MaxShardLine, len(text))
	}
	if err := strict(text, &l); err != nil {
		return l, fmt.Errorf("this is no line of a shard: %w", err)
	}
	if l.Shard < 0 || l.Agents == nil || len(l.Agents) > MaxShardAgents || !isDigest(l.Output) {
		return l, errors.New("this is no line of a shard: it has a number, the SHA-256 of an output and a list of agents")
	}
	if l.Draw != nil {
		return l, l.Draw.check(len(l.Agents))
	}
	return l, nil
}

// Receipt says how an answer came about, with the proof that the project's log vouches for what it says.
type Receipt struct {
	Statement Statement
	Digest    string // SHA-256 of the statement's canonical bytes, in hex: what the record says
	Record    Record // of the log
	Index     int64  // the record's number in the log
	Head      Checkpoint
	Key       string // with which the checkpoint was verified
	OwnKey    bool   // whether that is only the one that stands in the receipt
	Witnesses []WitnessSeen
	Committed *Committed // where the log has the digest of the secret of draws; nil: nothing says so
}

type receiptWire struct {
	Kind      string          `json:"ostraka"`
	V         int             `json:"v"`
	Statement json.RawMessage `json:"statement"`
	Record    json.RawMessage `json:"record"`
	Proof     string          `json:"proof"`
	Key       string          `json:"key"`
	Witnesses []WitnessStated `json:"witnesses,omitempty"` // who has co-signed the checkpoint of the proof
	// Commitment is the record of the job's submission, of a job whose audits were drawn.
	Commitment *CommitmentStated `json:"commitment,omitempty"`
}

const (
	receiptKind    = "receipt"
	receiptVersion = 1
	// witnessedVersion is the version of a receipt whose checkpoint others have co-signed.
	witnessedVersion = 2
	// drawnVersion is the version of a receipt that has the record of the secret by which audits were drawn, and of a statement with draws.
	drawnVersion = 3
	// signedVersion is the version of a receipt, and of a statement, with the agents' signatures.
	signedVersion = 4
	// ownedVersion is the version of a receipt, and of a statement, with the key by which the owner has signed the function.
	ownedVersion = 5
)

// readVersions says which versions this program reads.
const readVersions = "this program reads the versions 1, 2 of receipts with witnesses, 3 of those with draws, 4 of those with signatures of agents, and 5 of those with the key of the function's owner"

func (w receiptWire) version() int {
	said := states(w.Statement)
	if said.Function.Key != "" {
		return ownedVersion
	}
	if said.Signed != nil {
		return signedVersion
	}
	if w.Commitment != nil {
		return drawnVersion
	}
	if len(w.Witnesses) > 0 {
		return witnessedVersion
	}
	return receiptVersion
}

func (s Statement) version() int {
	if s.Function.Key != "" {
		return ownedVersion
	}
	if s.Signed != nil {
		return signedVersion
	}
	if s.Draws != nil {
		return drawnVersion
	}
	return receiptVersion
}

// StatesDraws says whether the canonical bytes of a statement are of one with draws, whose lines have them too.
func StatesDraws(statement []byte) bool { return states(statement).Draws != nil }

// StatesSigned says whether they are of one with signatures of agents, which stand between the lines then.
func StatesSigned(statement []byte) bool { return states(statement).Signed != nil }

// stated are parts of a statement, by whose presence its version is told.
type stated struct {
	Draws    *struct{} `json:"draws"`
	Signed   *struct{} `json:"signed"`
	Function struct {
		Key string `json:"key"`
	} `json:"function"`
}

func states(statement []byte) (s stated) {
	if json.Unmarshal(statement, &s) != nil {
		return stated{}
	}
	return s
}

// Canonical are the bytes that the log vouches for.
func (s Statement) Canonical() ([]byte, error) {
	s.V = s.version()
	text, err := encode(s)
	if err != nil {
		return nil, fmt.Errorf("writing the statement of a receipt: %w", err)
	}
	if len(text) > MaxStatementBytes {
		return nil, fmt.Errorf("the statement of a receipt has %d bytes: it has at most %d", len(text), MaxStatementBytes)
	}
	return text, nil
}

// ReceiptParts are what a receipt is made of.
type ReceiptParts struct {
	Statement, Record []byte   // canonical
	Proof             []byte   // of the record
	Key               string   // of the log
	Witnesses         []string // the keys of those who have co-signed the checkpoint of the proof
	Commitment        *CommitmentStated
}

// EncodeReceipt writes a receipt.
func EncodeReceipt(p ReceiptParts) ([]byte, error) {
	w := receiptWire{Kind: receiptKind, Statement: p.Statement, Record: p.Record, Proof: string(p.Proof), Key: p.Key, Commitment: p.Commitment}
	for _, witness := range p.Witnesses {
		w.Witnesses = append(w.Witnesses, WitnessStated{Key: witness})
	}
	w.V = w.version()
	text, err := encode(w)
	if err != nil {
		return nil, fmt.Errorf("writing a receipt: %w", err)
	}
	if len(text) > MaxReceiptBytes {
		return nil, fmt.Errorf("a receipt of %d bytes: one has at most %d", len(text), MaxReceiptBytes)
	}
	return text, nil
}

// OpenReceipt verifies a receipt with the key of its project's log; without a key it takes the one that stands in the receipt, which
// proves only that the receipt agrees with itself. It asks no server.
func OpenReceipt(text []byte, key string) (Receipt, error) {
	if len(text) > MaxReceiptBytes {
		return Receipt{}, fmt.Errorf("a receipt of more than %d bytes: its first line is longer than that of any receipt", MaxReceiptBytes)
	}
	var w receiptWire
	if err := json.Unmarshal(text, &w); err != nil || w.Kind != receiptKind {
		return Receipt{}, errors.New("this is no receipt: one begins with {\"ostraka\":\"receipt\"")
	}
	if w.V != w.version() {
		return Receipt{}, fmt.Errorf("a receipt of version %d: %s", w.V, readVersions)
	}
	if err := strict(text, &w); err != nil {
		return Receipt{}, fmt.Errorf("the receipt was changed: %w", err)
	}
	r := Receipt{Key: key, Digest: DigestOf(w.Statement)}
	if key == "" {
		r.Key, r.OwnKey = w.Key, true
	}
	if err := strict(w.Statement, &r.Statement); err != nil {
		return r, fmt.Errorf("the statement of the receipt was changed: %w", err)
	}
	if err := r.Statement.check(); err != nil {
		return r, fmt.Errorf("the statement of the receipt: %w", err)
	}
	var err error
	if r.Record, err = ParseRecord(w.Record); err != nil {
		return r, fmt.Errorf("the record of the receipt: %w", err)
	}
	if err := r.agrees(); err != nil {
		return r, err
	}
	if err = r.proven(w); err == nil {
		err = r.committed(w)
	}
	return r, err
}

// proven verifies that the log has the record, and who has co-signed the head that says so.
func (r *Receipt) proven(w receiptWire) (err error) {
	if !SameLog(r.Key, w.Key) {
		return fmt.Errorf("it says that the key of its log is %q, and the key to verify with is %q", w.Key, r.Key)
	}
	// The name in front of the key may be that of another epoch: the log began anew before the receipt was downloaded, or since.
	if r.Index, r.Head, err = CheckProof([]byte(w.Proof), w.Record, w.Key); err != nil {
		return fmt.Errorf("the proof of the receipt: %w", err)
	}
	checkpoint, err := checkpointOf([]byte(w.Proof))
	if err != nil {
		return err
	}
	if r.Witnesses, err = openWitnesses(checkpoint, w.Key, w.Witnesses); err != nil {
		return fmt.Errorf("the witnesses of the receipt: %w", err)
	}
	if log, _ := Epoch(r.Head.Origin); log != ProjectOrigin(r.Statement.Project) {
		return fmt.Errorf("the record stands in the log %s, and not in that of the project %s", r.Head.Origin, r.Statement.Project)
	}
	return nil
}

// check refuses statements that none of ours is.
func (s Statement) check() error {
	switch {
	case s.V != s.version():
		return fmt.Errorf("it is of version %d: this program reads the versions 1, 3 of statements with draws, 4 of those with signatures of agents, and 5 of those with the key of the function's owner", s.V)
	case !isDigest(s.Shards.Root) || !isDigest(s.Function.Digest):
		return errors.New("a digest in it is none")
	case s.Function.Key != "" && (!isDigest(s.Function.Key) || s.Function.Signature == ""): // a key is as long as a digest
		return errors.New("the key of the function's owner is none, or has signed nothing")
	case s.Shards.Total < 0 || s.Shards.Total > MaxReceiptShards:
		return fmt.Errorf("it is about %d shards: a job has at most %d", s.Shards.Total, MaxReceiptShards)
	case s.Shards.Accepted < 0 || s.Shards.Failed < 0 || s.Shards.Accepted > s.Shards.Total || s.Shards.Failed > s.Shards.Total-s.Shards.Accepted:
		return errors.New("its counts of shards contradict each other")
	}
	if s.Draws != nil {
		if err := s.Draws.check(); err != nil {
			return err
		}
	}
	if s.Signed != nil {
		if err := s.Signed.check(s.Shards.Accepted); err != nil {
			return err
		}
	}
	return s.checkAnswer()
}

func (s Statement) checkAnswer() error {
	switch {
	case s.Answer == nil:
		return nil
	case s.Answer.Count != s.Shards.Accepted:
		return fmt.Errorf("its answer is made of %d results, and %d shards were accepted", s.Answer.Count, s.Shards.Accepted)
	case !isDigest(s.Answer.Digest) || s.Answer.Rows != "" && !isDigest(s.Answer.Rows):
		return errors.New("a digest in it is none")
	case s.Answer.Value != nil && DigestOf(s.Answer.Value) != s.Answer.Digest:
		return errors.New("its answer is not the one whose digest it gives")
	}
	return nil
}

// agrees makes sure that the record is about this statement.
func (r Receipt) agrees() error {
	var detail struct {
		Digest string `json:"digest"`
	}
	if err := json.Unmarshal(r.Record.Detail, &detail); err != nil {
		return fmt.Errorf("the record of the receipt: %w", err)
	}
	switch {
	case r.Record.Action != ReceiptAction || r.Record.Subject != r.Statement.Job:
		return fmt.Errorf("the record is about %s of %s, and not about a receipt of the job %s", r.Record.Action, r.Record.Subject, r.Statement.Job)
	case detail.Digest != r.Digest:
		return errors.New("the statement is not the one that the log has a record of: it was changed")
	}
	return nil
}

// ProjectOrigin is the name of a project's log in its checkpoints.
func ProjectOrigin(project string) string { return "ostraka/projects/" + project }

// ServerOrigin is the name of an installation's own log in its checkpoints.
func ServerOrigin(installation string) string { return "ostraka/server/" + installation }

// DigestOf is the SHA-256 of bytes, in hex.
func DigestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func isDigest(text string) bool {
	_, err := hashOf(text)
	return err == nil
}

func hexOf(h Hash) string { return hex.EncodeToString(h[:]) }

// hashOf reads a hash in hex, as it must be written.
func hashOf(text string) (h Hash, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(h) || hex.EncodeToString(b) != text {
		return h, errors.New("a digest in it is none")
	}
	return Hash(b), nil
}
