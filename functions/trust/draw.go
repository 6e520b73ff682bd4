package trust

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// AuditTerms are what results are weighed with where the server may execute shards.
type AuditTerms struct {
	secret   []byte
	Rechecks bool // some server can, or could until RecheckerGone ago
	Bound    verify.Bound
}

// AuditTerms reads those of a job; nil: the policy asks for nothing but agents. The secret stands where the project's role cannot read it.
func (s *Service) AuditTerms(ctx context.Context, tx *store.Tx, project, job uuid.UUID, policy verify.Policy) (*AuditTerms, error) {
	if !policy.Audited() {
		return nil, nil
	}
	means, err := fleet.ReadServerMeans(ctx, tx, project, job)
	if err != nil {
		return nil, err
	}
	t := &AuditTerms{secret: means.Secret, Rechecks: means.Rechecks}
	if policy.TargetError > 0 {
		t.Bound = verify.Derive(policy)
	}
	return t, nil
}

// means is what can be done for a shard that needs so many independent agents.
func (t *AuditTerms) means(support int) verify.Means {
	return verify.Means{Recheck: t != nil && t.Rechecks, Support: support}
}

// provisional draws whether a result that was accepted provisionally is audited at once. It is gathered in its agent's window otherwise.
// One that further agents have audited is final by itself: as many must give the answer as make it credible without the server, since a
// single one could be an accomplice who passes each lie of a small window.
func (w *Weighed) provisional(b bench, shard ShardRow, c *jobs.ShardChange) {
	agent := *c.Agent
	if shard.Support > 1 { // as many as were asked for agree
		return
	}
	if why, matters := b.matters(shard.Number, agent); matters {
		w.confirm(b, shard, c, why)
		return
	}
	means := b.terms.means(0)
	means.Raise = b.raises.of(agent)
	rate := verify.RateOf(b.terms.Bound.Rate(b.evidence[agent.String()], means))
	c.Rate = &rate
	if !verify.Draw(b.terms.secret, b.job.String(), shard.Number, agent.String(), rate) {
		c.Provisional, c.Gathered = true, true
		w.Of(agent).provisional++
		return
	}
	w.draws = append(w.draws, OpenAudit{Shard: shard.Number, AgentID: agent, Rate: rate})
	w.Of(agent).audited = true
	if b.terms.Rechecks {
		c.Provisional, c.Awaits = true, new(int64)
		w.Rechecks = append(w.Rechecks, shard.Number)
		return
	}
	c.State, c.Agent, c.Support, c.Wanted, c.Verdict = functions.ShardOpen, nil, b.terms.Bound.Voices, max(0, 1-shard.Lent), verify.Replicate
}

// endAudits says how the audits of a shard have ended that was decided for good, or by as many agents as were asked for.
func (w *Weighed) endAudits(b bench, shard ShardRow, v verify.Verdict) {
	audits := b.audits[shard.Number]
	if len(audits) == 0 || v.Provisional && shard.Support <= 1 {
		return
	}
	switch v.Decision {
	case verify.Replicate, verify.Wait, verify.Recheck:
		return
	case verify.Accept, verify.Fail, verify.Review:
	}
	for _, a := range audits {
		finding := verify.Void
		for _, given := range b.attempts[shard.Number] {
			if given.AgentID == a.AgentID && v.Decision != verify.Review {
				finding = found(given, v)
			}
		}
		w.endAudit(a, finding, v)
	}
}

// found compares an audited result with what was decided.
func found(given attemptRow, v verify.Verdict) verify.Finding {
	switch {
	case given.Status == v.Status && hex.EncodeToString(given.Outcome) == v.Digest:
		return verify.Passed
	case v.Digest == "":
		return verify.Void
	default:
		return verify.Failed
	}
}

func (w *Weighed) endAudit(a OpenAudit, finding verify.Finding, v verify.Verdict) {
	end := AuditVerdict{OpenAudit: a, State: string(finding)}
	if len(v.Reasons) > 0 {
		end.Reason = v.Reasons[len(v.Reasons)-1].Text
	}
	w.Verdicts = append(w.Verdicts, end)
	c := w.Of(a.AgentID)
	switch finding {
	case verify.Passed:
		c.auditsPassed++
		if !v.Hearsay {
			c.vouched++
		}
	case verify.Failed:
		taint := verify.Tainted(finding, v.Divergence)
		if taint.Charge {
			c.AuditsFailed++
		}
		if taint.Reopen {
			c.Taint = fmt.Sprintf("an audit of shard %d has failed: %s", a.Shard, end.Reason)
		}
	case verify.Void:
	}
}

// divergence is a flag for the function's owner: answers differ without anybody being to blame.
func (b bench) divergence(shard ShardRow, v verify.Verdict) flag.Mark {
	kind := flag.FlagDivergence
	if v.Divergence == verify.Unstable {
		kind = flag.FlagUnsteady
	}
	answers := []shownAnswer{}
	for _, a := range b.attempts[shard.Number] {
		answers = append(answers, showAnswer(a.AgentID, a.Status, a.Outcome, b.lenders[a.AgentID].Class, a.output))
	}
	return flag.Mark{
		Kind: kind, Rule: string(v.Divergence), Job: b.job, Shard: &shard.Number, Decision: string(v.Decision),
		Detail: map[string]any{"shard": shard.Number, "answers": answers, "reasons": v.Reasons},
	}
}
