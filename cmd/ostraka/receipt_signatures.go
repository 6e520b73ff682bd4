package main

import (
	"fmt"

	"github.com/ostraka/ostraka/audit"
)

// signaturesReport is what was found out about the signatures of agents.
type signaturesReport struct {
	Signed   int64              `json:"signed"`   // results, each of each agent that a line names, with a signature by the agent's key in the log
	Unsigned int64              `json:"unsigned"` // results without
	Agents   []audit.SignedSeen `json:"agents"`
}

// signaturesReport is nil where nothing was looked at: the file has no lines of shards.
func (v *receiptCheck) signaturesReport() *signaturesReport {
	switch {
	case v.one != nil:
		signed := int64(len(v.one.Signed))
		return &signaturesReport{Signed: signed, Unsigned: int64(len(v.one.Line.Agents)) - signed, Agents: v.one.Signed}
	case v.signatures == nil || v.peaks.Size() == 0:
		return nil
	}
	r := &signaturesReport{Agents: v.signatures.Agents()}
	r.Signed, r.Unsigned = v.signatures.Signed()
	return r
}

// checkSigned refuses a receipt with results that are not signed, where that is wanted.
func (o *receiptVerifyOptions) checkSigned(r *signaturesReport) error {
	switch {
	case !o.signed:
		return nil
	case r == nil:
		return usageError("the receipt has no lines of shards, which --signed is about: ostraka job receipt JOB, without --summary, has them")
	case r.Unsigned > 0:
		return refused(fmt.Errorf("%s have no signature that a stranger can check, of %d (--signed)", count(r.Unsigned, "result"), r.Signed+r.Unsigned))
	}
	return nil
}

// text says what was found out.
func (r *signaturesReport) text() string {
	if r.Signed == 0 {
		return fmt.Sprintf("none of %s has one that a stranger can check", count(r.Unsigned, "result"))
	}
	text := fmt.Sprintf("%s signed by %s whose keys the log has", count(r.Signed, "result"), count(int64(len(r.Agents)), "agent"))
	if len(r.Agents) == 1 {
		text = fmt.Sprintf("%s signed by 1 agent whose key the log has", count(r.Signed, "result"))
	}
	if r.Unsigned > 0 {
		text += fmt.Sprintf("; %d without a signature that a stranger can check", r.Unsigned)
	}
	return text
}

// signaturesNotProved says what a pass leaves open about them.
func signaturesNotProved(r receiptReport) (open []string) {
	s := r.Signatures
	switch {
	case s == nil && r.Statement.Signed != nil:
		return []string{"that agents have signed the results: the receipt has no lines of shards"}
	case s == nil:
		return nil
	}
	if s.Unsigned > 0 {
		open = append(open, fmt.Sprintf("that agents gave %s: they were of a version whose signatures name no job, the server lost a part of what they signed, or it left them out", count(s.Unsigned, "result")))
	}
	if s.Signed > 0 {
		open = append(open, "whose the keys are that have signed, and that the agents were given the inputs that the receipt states")
	}
	return open
}
