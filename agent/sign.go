package agent

import (
	"crypto/ed25519"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/statement"
)

// signed is a post of results in the order of their shards, signed as the lease asks for.
func (r *reporter) signed(results []client.ShardResult) ([]byte, error) {
	request := client.ResultsRequest{Results: results}
	if r.lease.Statement == audit.StatementOfWork {
		request.Statement = audit.StatementOfWork
		request.Signature = ed25519.Sign(r.key, r.work(results))
	} else {
		request.Signature = ed25519.Sign(r.key, r.ofLease(results))
	}
	return encode(request)
}

// work is what the agent signs: that these are its results of this function for this job.
func (r *reporter) work(results []client.ShardResult) []byte {
	lines := make([]audit.WorkLine, len(results))
	for i, result := range results {
		claim := claimOf(result, r.lease.Manifest.Script != "")
		lines[i] = audit.WorkLine{Shard: result.Shard, Status: string(result.Status), Outcome: claim.Outcome()}
		if claim.Status == "ok" {
			lines[i].Output = claim.OutputDigest
		}
	}
	of := audit.Work{Project: r.lease.Project.String(), Job: r.lease.Job.String(), Function: r.lease.BundleDigest, Lease: r.lease.ID.String()}
	return audit.WorkStatement(of, lines)
}

// ofLease is what servers of before ask for.
func (r *reporter) ofLease(results []client.ShardResult) []byte {
	lines := make([]statement.Line, len(results))
	for i, result := range results {
		lines[i] = statement.Line{Shard: result.Shard, Status: string(result.Status), Outcome: claimOf(result, r.lease.Manifest.Script != "").Outcome()}
	}
	return statement.Results(r.lease.ID, lines)
}
