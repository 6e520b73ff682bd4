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

// checkWork makes sure that the agent has signed its results as work of this lease, if it says that it has.
func checkWork(holder leaseHolder, lease uuid.UUID, function string, results []result.Checked, sub Submission) error {
	if sub.Statement != audit.StatementOfWork {
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

var (
	// ErrStatement is for results that are signed for their lease alone, by an agent that has signed as work before. What it has signed is missing from
	// the receipt then, so it could spoil that of any job.
	ErrStatement = &functions.Error{
		Kind: functions.KindConflict, Code: "statement_too_old", Message: "the results are signed with the statement of before, which nobody but the server can check",
		Hint: "the lease asks for statement 2, and this agent has signed it before: sign these results with it, and send them again",
	}
	// ErrRepeats is for a post that repeats more results than it adds. Receipts show what was signed as a whole, so the work of making one would grow with
	// the square of the results.
	ErrRepeats = &functions.Error{
		Kind: functions.KindConflict, Code: "repeated_results", Message: "the post repeats more results than it adds",
		Hint: "nothing of it was recorded: leave out what is recorded already, or send the results in halves",
	}
)

// checkStatement makes sure that what is signed can stand in a receipt, and does not make that long.
func (g recordGate) checkStatement(statement, results, fresh int) error {
	switch {
	case statement != audit.StatementOfWork && g.Asked == audit.StatementOfWork && g.KeyKnown:
		return ErrStatement
	case statement == audit.StatementOfWork && results-fresh > fresh:
		return ErrRepeats.With("the post repeats %d results that are recorded already, and adds %d", results-fresh, fresh)
	default:
		return nil
	}
}

// recordKey puts the key of an agent into the log, before the first of its results that are signed as work. Of posts at a time one does it.
func recordKey(ctx context.Context, tx *store.Tx, agent uuid.UUID, key []byte) error {
	detail, err := json.Marshal(map[string]string{audit.KeyDetail: base64.StdEncoding.EncodeToString(key)})
	if err != nil {
		return fmt.Errorf("encoding the key of an agent: %w", err)
	}
	added, err := store.Exec(ctx, tx, sql.AddAgentKey, agent, key)
	if err != nil || added == 0 {
		return err
	}
	_, err = store.Exec(ctx, tx, sql.RecordAgentKey, agent, audit.AgentKeyAction, detail)
	return err
}
