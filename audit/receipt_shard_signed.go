package audit

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// ShardSignature is what one agent has signed of a shard, without its other results.
type ShardSignature struct {
	By         SignerLine       `json:"by"`
	Submission SubmissionStated `json:"submission"`
}

// KeepShard has the check keep what agents have signed of one shard.
func (c *SignatureCheck) KeepShard(shard int64) { c.keep = shard }

// Kept is what agents have signed of that shard, once all lines were read.
func (c *SignatureCheck) Kept() []ShardSignature { return c.kept }

// keepOnly keeps what a submission that holds says of the shard that is kept.
func (c *SignatureCheck) keepOnly(o *openSubmission) {
	at := o.tree.only
	if at < 0 {
		return
	}
	one := o.said
	one.Lines, one.Hidden, one.Outcomes = nil, hashTexts(o.tree.others), nil
	if at > 0 {
		one.Lines = append(one.Lines, hiddenRun, int64(at))
	}
	one.Lines = append(one.Lines, c.keep, 1)
	if more := one.Results - at - 1; more > 0 {
		one.Lines = append(one.Lines, hiddenRun, int64(more))
	}
	shard := strconv.FormatInt(c.keep, 10)
	if outcome, has := o.said.Outcomes[shard]; has {
		one.Outcomes = map[string]string{shard: outcome}
	}
	c.kept = append(c.kept, ShardSignature{By: o.by.line, Submission: one})
}

// signed verifies what agents have signed of the one shard.
func (p ShardProof) signed(signatures []ShardSignature) (seen []SignedSeen, err error) {
	switch {
	case len(signatures) > 0 && p.Receipt.Statement.Signed == nil:
		return nil, errors.New("it has signatures of agents, and the statement of the receipt says nothing of them")
	case len(signatures) > len(p.Line.Agents):
		return nil, errors.New("it has more signatures than the line names agents")
	}
	for _, s := range signatures {
		by, err := p.Receipt.openSigner(s.By)
		if err != nil {
			return nil, err
		}
		agent := by.record.Subject
		if s.Submission.Agent != agent || !slices.Contains(p.Line.Agents, agent) || slices.ContainsFunc(seen, func(s SignedSeen) bool { return s.Agent == agent }) {
			return nil, fmt.Errorf("agent %s has signed a result of shard %d, and the line of the shard does not name it, or it stands there twice", s.Submission.Agent, p.Line.Shard)
		}
		open, shards, err := newOpenSubmission(s.Submission, by)
		if err != nil {
			return nil, fmt.Errorf("what agent %s has signed: %w", agent, err)
		}
		at := slices.Index(shards, p.Line.Shard)
		if at < 0 || open.left != 1 {
			return nil, fmt.Errorf("what agent %s has signed is not about shard %d alone", agent, p.Line.Shard)
		}
		open.take(at, p.Line)
		if err := p.Receipt.verifySubmission(by, s.Submission, &open.tree); err != nil {
			return nil, err
		}
		seen = append(seen, SignedSeen{Agent: agent, Key: fmt.Sprintf("%x", []byte(by.key)), Record: by.line.Proof.Index, Results: 1})
	}
	return seen, nil
}
