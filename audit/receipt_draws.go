package audit

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	// SubmitAction is the action of the record that a job was submitted; of one whose audits are drawn its detail has the SHA-256 of the secret.
	SubmitAction = "job.submit"
	// DrawsDetail is where it stands in the detail.
	DrawsDetail = "draws_sha256"
	// maxDrawRate is the rate at which every result is drawn, in ten-thousandths.
	maxDrawRate = 10_000
	// maxWindow is the greatest number of a window of results.
	maxWindow = 1<<31 - 1
)

// DrawsStated is by which secret a job's audits were drawn. It was recorded as a digest when the job was submitted, and is shown when it is over.
type DrawsStated struct {
	Commitment string `json:"commitment"`       // SHA-256 of the secret
	Secret     string `json:"secret,omitempty"` // in hex; missing: the job is not over
	// Record is the SHA-256 of the record that has the commitment, which stands in the receipt with its proof; missing: it was pruned from the log.
	Record string `json:"record,omitempty"`
	Quorum bool   `json:"quorum,omitempty"` // they are about what a quorum has accepted, and not about single results
}

// Key is the secret; nil where it is not shown.
func (d DrawsStated) Key() []byte {
	b, err := hex.DecodeString(d.Secret)
	if err != nil || len(b) == 0 {
		return nil
	}
	return b
}

func (d DrawsStated) check() error {
	if !isDigest(d.Commitment) || d.Record != "" && !isDigest(d.Record) {
		return errors.New("a digest in it is none")
	}
	if d.Secret == "" {
		return nil
	}
	if !isDigest(d.Secret) { // it has as many bytes
		return errors.New("its secret of draws is none")
	}
	if DigestOf(d.Key()) != d.Commitment {
		return errors.New("its secret of draws is not the one whose digest was recorded when the job was submitted")
	}
	return nil
}

// DrawStated is how it was drawn about one accepted result whether it is audited.
type DrawStated struct {
	Agent  int   `json:"agent,omitempty"`  // whose result: its place among the line's agents
	Rate   int   `json:"rate"`             // with which it was drawn whether it is audited at once, in ten-thousandths
	Window int64 `json:"window,omitempty"` // in which it was gathered, since it was not; 0: in none
	Drawn  bool  `json:"drawn,omitempty"`  // at once, or, in a window, as one of those that were drawn of it
}

func (d DrawStated) check(agents int) error {
	switch {
	case d.Rate < 1 || d.Rate > maxDrawRate || d.Window < 0 || d.Window > maxWindow:
		return errors.New("this is no line of a shard: a draw has a rate of 1 to 10000, and the number of a window")
	case d.Agent < 0 || d.Agent > 0 && d.Agent >= agents:
		return fmt.Errorf("this is no line of a shard: its draw is about agent %d of %d", d.Agent, agents)
	}
	return nil
}

// CommitmentStated is the record that has the digest of the secret, with the proof that the log has it.
type CommitmentStated struct {
	Record json.RawMessage `json:"record"`
	Proof  string          `json:"proof"` // by the same head as that of the receipt
}

// Committed is where the log has the digest of the secret.
type Committed struct {
	Record Record `json:"record"`
	Index  int64  `json:"index"`
}

// committed verifies that the log has the digest of the secret, before the record of the receipt.
func (r *Receipt) committed(w receiptWire) error {
	said := r.Statement.Draws
	switch {
	case w.Commitment == nil && (said == nil || said.Record == ""):
		return nil
	case w.Commitment == nil:
		return errors.New("it has no record of the secret's digest, and says that there is one")
	case said == nil || said.Record != DigestOf(w.Commitment.Record):
		return errors.New("the record of the secret's digest is not the one that the statement names")
	}
	record, err := ParseRecord(w.Commitment.Record)
	if err != nil {
		return fmt.Errorf("the record of the secret's digest: %w", err)
	}
	index, _, err := CheckProof([]byte(w.Commitment.Proof), w.Commitment.Record, w.Key)
	if err != nil {
		return fmt.Errorf("the proof of the secret's digest: %w", err)
	}
	if err := sameHead(w.Proof, w.Commitment.Proof); err != nil {
		return err
	}
	detail := map[string]json.RawMessage{}
	if err := json.Unmarshal(record.Detail, &detail); err != nil {
		return fmt.Errorf("the record of the secret's digest: %w", err)
	}
	switch {
	case record.Action != SubmitAction || record.Subject != r.Statement.Job:
		return fmt.Errorf("the record of the secret's digest is about %s of %s, and not about the submission of job %s", record.Action, record.Subject, r.Statement.Job)
	case string(detail[DrawsDetail]) != `"`+said.Commitment+`"`:
		return errors.New("the record of the job's submission has another digest of the secret")
	case index >= r.Index:
		return errors.New("the digest of the secret was recorded after the receipt")
	}
	r.Committed = &Committed{Record: record, Index: index}
	return nil
}

// sameHead makes sure that two proofs are by one signed head, with the same cosignatures.
func sameHead(one, other string) error {
	const cut = "\n\n" // the checkpoint follows after the first empty line
	_, a, found := strings.Cut(one, cut)
	_, b, also := strings.Cut(other, cut)
	if !found || !also || a != b {
		return errors.New("the proof of the secret's digest is by another head than that of the receipt")
	}
	return nil
}

// DrawOf is how it was drawn about a result of an agent. Without an agent it is about what a quorum has accepted.
type DrawOf struct {
	Agent  string
	Rate   int
	Window int64
	Drawn  bool
}

// Among is what a line with these agents says of it; nil where it does not name that agent, which is one of very many then.
func (d DrawOf) Among(agents []string) *DrawStated {
	said := &DrawStated{Rate: d.Rate, Window: d.Window, Drawn: d.Drawn}
	if d.Agent == "" {
		return said
	}
	if said.Agent = slices.Index(agents, d.Agent); said.Agent < 0 {
		return nil
	}
	return said
}
