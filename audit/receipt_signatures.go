package audit

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// maxAwaited is how many results may be signed in lines that are read already while some of these results' own lines are to come, whether they are shown
// or not: what a reader keeps at most. Servers write a submission just before the first of its shards.
const maxAwaited = 1 << 20

// SignatureCheck verifies what agents have signed of a receipt, line by line, in the order of the file.
type SignatureCheck struct {
	receipt  Receipt
	signers  map[string]signer
	awaited  map[int64][]awaited // by the shard
	waiting  int64               // how many there are
	open     int                 // results of the submissions that are not whole
	tree     Peaks
	found    SignedStated
	unsigned int64
	by       map[string]int64
	last     int64

	keep int64 // the shard of which all is kept; -1: none
	kept []ShardSignature
}

// awaited is the place of a result in a submission.
type awaited struct {
	in *openSubmission
	at int // among those that are shown
}

// openSubmission is a submission of which some lines are to come.
type openSubmission struct {
	said SubmissionStated
	by   signer
	tree shownTree
	left int
}

// SignedSeen is an agent whose signatures were verified.
type SignedSeen struct {
	Agent   string `json:"agent"`
	Key     string `json:"key"`    // Ed25519, in hex
	Record  int64  `json:"record"` // its number in the log
	Results int64  `json:"results"`
}

// NewSignatureCheck begins with the lines of a receipt that was opened.
func NewSignatureCheck(r Receipt) *SignatureCheck {
	return &SignatureCheck{receipt: r, signers: map[string]signer{}, awaited: map[int64][]awaited{}, by: map[string]int64{}, last: -1, keep: -1}
}

// Line takes a line of which IsSignedLine is true.
func (c *SignatureCheck) Line(text []byte) error {
	switch {
	case c.receipt.Statement.Signed == nil:
		return errors.New("there is a line of what agents have signed, and the statement says nothing of it")
	case len(text) > MaxSignedLine:
		return fmt.Errorf("a line of what agents have signed has at most %d bytes, this one has %d", MaxSignedLine, len(text))
	}
	var l SignerLine
	if err := strict(text, &l); err == nil && l.Signer != nil {
		return c.signer(l)
	}
	var s SubmissionLine
	if err := strict(text, &s); err != nil {
		return fmt.Errorf("this is no line of what agents have signed: %w", err)
	}
	c.tree.Add(Leaf(text))
	return c.submission(s.Submission)
}

func (c *SignatureCheck) signer(l SignerLine) error {
	s, err := c.receipt.openSigner(l)
	if err != nil {
		return err
	}
	if c.found.Agents == c.receipt.Statement.Signed.Agents {
		return fmt.Errorf("keys of more than %d agents stand there, and the statement says of no more", c.found.Agents)
	}
	agent := s.record.Subject
	if _, twice := c.signers[agent]; twice {
		return fmt.Errorf("the key of agent %s stands there twice", agent)
	}
	c.signers[agent] = s
	committed, err := l.Committed()
	if err != nil {
		return err
	}
	c.tree.Add(Leaf(committed))
	c.found.Agents++
	return nil
}

func (c *SignatureCheck) submission(said SubmissionStated) error {
	by, known := c.signers[said.Agent]
	if !known {
		return fmt.Errorf("agent %s has signed results, and the log's record of its key is not there", said.Agent)
	}
	if err := c.fits(said); err != nil {
		return err
	}
	open, shards, err := newOpenSubmission(said, by)
	if err == nil {
		err = c.await(open, shards)
	}
	if err != nil {
		return fmt.Errorf("what agent %s has signed of lease %s: %w", said.Agent, said.Lease, err)
	}
	c.open += said.Results
	c.found.Submissions++
	return nil
}

// fits says whether the statement, and what a reader keeps, have room for another submission.
func (c *SignatureCheck) fits(said SubmissionStated) error {
	switch {
	case c.found.Submissions == c.receipt.Statement.Signed.Submissions:
		return fmt.Errorf("more than %d signatures stand there, and the statement says of no more", c.found.Submissions)
	case said.Results > maxAwaited-c.open:
		return fmt.Errorf("more than %d results are signed before their lines: no server writes that", maxAwaited)
	}
	return nil
}

// await notes which lines of shards a submission is about.
func (c *SignatureCheck) await(open *openSubmission, shards []int64) error {
	stated := c.receipt.Statement
	if c.found.Results+c.waiting+int64(len(shards)) > stated.Signed.Results {
		return fmt.Errorf("with it, more than %d results are signed, and the statement says of no more", stated.Signed.Results)
	}
	for at, shard := range shards {
		switch {
		case shard <= c.last:
			return fmt.Errorf("it is about shard %d, whose line came before", shard)
		case shard >= stated.Shards.Total:
			return fmt.Errorf("it is about shard %d of a job that has %d", shard, stated.Shards.Total)
		case len(c.awaited[shard]) == MaxShardAgents:
			return fmt.Errorf("more than %d agents have signed a result of shard %d, and its line names no more", MaxShardAgents, shard)
		}
		c.awaited[shard] = append(c.awaited[shard], awaited{in: open, at: at})
		c.waiting++
	}
	return nil
}

// newOpenSubmission also returns the shards of the results that are shown.
func newOpenSubmission(said SubmissionStated, by signer) (*openSubmission, []int64, error) {
	shards, places, err := said.shards()
	if err != nil {
		return nil, nil, err
	}
	hidden, err := readHashes(said.Hidden)
	if err != nil {
		return nil, nil, err
	}
	outcomes := 0
	for _, shard := range shards {
		if _, has := said.Outcomes[strconv.FormatInt(shard, 10)]; has {
			outcomes++
		}
	}
	if outcomes != len(said.Outcomes) {
		return nil, nil, errors.New("it has outcomes of shards that it does not show")
	}
	tree := shownTree{size: said.Results, places: places, leaves: make([]Hash, len(places)), hidden: hidden, only: -1}
	return &openSubmission{said: said, by: by, tree: tree, left: len(places)}, shards, nil
}

// take sets what the line of a shard says as one of the results.
func (o *openSubmission) take(at int, l ShardLine) {
	outcome, other := o.said.Outcomes[strconv.FormatInt(l.Shard, 10)]
	if !other {
		outcome = l.Output
	}
	o.tree.leaves[at] = WorkLine{Shard: l.Shard, Status: "ok", Outcome: outcome, Output: l.Output}.Leaf()
	o.left--
}

// Shard takes the line of a shard, and verifies the submissions that are whole with it.
func (c *SignatureCheck) Shard(l ShardLine) error {
	c.last = l.Shard
	signed := map[string]bool{}
	for _, a := range c.awaited[l.Shard] {
		agent := a.in.said.Agent
		if !slices.Contains(l.Agents, agent) {
			return fmt.Errorf("agent %s has signed a result of shard %d, and the receipt does not name it there: it names %s", agent, l.Shard, named(l.Agents))
		}
		if signed[agent] {
			return fmt.Errorf("the result of shard %d by agent %s is signed twice", l.Shard, agent)
		}
		signed[agent] = true
		a.in.take(a.at, l)
		if c.keep == l.Shard {
			a.in.tree.only = a.in.tree.places[a.at]
		}
		if a.in.left > 0 {
			continue
		}
		c.open -= a.in.said.Results
		if err := c.receipt.verifySubmission(a.in.by, a.in.said, &a.in.tree); err != nil {
			return err
		}
		c.keepOnly(a.in)
	}
	c.waiting -= int64(len(c.awaited[l.Shard]))
	delete(c.awaited, l.Shard)
	for agent := range signed {
		c.by[agent]++
	}
	c.found.Results += int64(len(signed))
	c.unsigned += int64(len(l.Agents) - len(signed))
	return nil
}

// named lists agents for people.
func named(agents []string) string {
	if len(agents) == 0 {
		return "nobody"
	}
	return fmt.Sprint(agents)
}

// End holds what was read against what the log vouches for.
func (c *SignatureCheck) End() error {
	said := c.receipt.Statement.Signed
	if said == nil {
		return nil
	}
	if c.waiting > 0 {
		return fmt.Errorf("%d results are signed that the receipt has no lines of", c.waiting)
	}
	c.found.Root = hexOf(c.tree.Root())
	if c.found != *said {
		return fmt.Errorf("%d signatures of %d agents over %d results are not the %d of %d over %d that the log vouches for",
			c.found.Submissions, c.found.Agents, c.found.Results, said.Submissions, said.Agents, said.Results)
	}
	return nil
}

// Signed is how many results, each of each agent that a line names, are signed by agents whose keys the log has, and how many are not.
func (c *SignatureCheck) Signed() (signed, unsigned int64) { return c.found.Results, c.unsigned }

// Agents are those that have signed, in the order of their names.
func (c *SignatureCheck) Agents() []SignedSeen {
	seen := make([]SignedSeen, 0, len(c.signers))
	for agent, s := range c.signers {
		seen = append(seen, SignedSeen{Agent: agent, Key: fmt.Sprintf("%x", []byte(s.key)), Record: s.line.Proof.Index, Results: c.by[agent]})
	}
	slices.SortFunc(seen, func(a, b SignedSeen) int { return slices.Compare([]byte(a.Agent), []byte(b.Agent)) })
	return seen
}
