package dispatch

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/result"
	"github.com/ostraka/ostraka/functions/store"
)

const (
	// StatementOfLease names the lease alone: what it was for is the server's word.
	StatementOfLease = 1
	// StatementOfWork names the project, the job and the function as well: audit.WorkStatement. Servers ask for it with each lease.
	StatementOfWork = 2
)

// checkWork makes sure that the agent has signed its results as work of this lease, if it says that it has.
func checkWork(holder leaseHolder, lease uuid.UUID, function string, results []result.Checked, sub Submission) error {
	if sub.Statement != StatementOfWork {
		return nil
	}
	lines := make([]audit.WorkLine, len(results))
	for i, r := range results {
		lines[i] = audit.WorkLine{Shard: r.Shard, Status: r.Status, Outcome: hex.EncodeToString(r.Outcome), Output: hex.EncodeToString(r.Digest)}
	}
	work := audit.Work{Project: holder.ProjectID.String(), Job: holder.JobID.String(), Function: function, Lease: lease.String()}
	if len(holder.PublicKey) != ed25519.PublicKeySize || !ed25519.Verify(holder.PublicKey, audit.WorkStatement(work, lines), sub.Signature) {
		return functions.ErrBadSignature
	}
	return nil
}

// recordKey puts the key of an agent into the log, before the first of its results that are signed as work.
func recordKey(ctx context.Context, tx *store.Tx, agent uuid.UUID, key []byte) error {
	detail, err := json.Marshal(map[string]string{audit.KeyDetail: base64.StdEncoding.EncodeToString(key)})
	if err != nil {
		return fmt.Errorf("encoding the key of an agent: %w", err)
	}
	_, err = store.Exec(ctx, tx, sql.AddAgentKey, agent, key, audit.AgentKeyAction, detail)
	return err
}
