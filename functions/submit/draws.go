package submit

import (
	"context"
	"encoding/hex"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// commitDraws is the SHA-256 of the secret by which a job's audits are going to be drawn; nil: none are drawn. It is recorded before anybody works
// for the job, so that nobody can choose the secret by what comes in.
func commitDraws(ctx context.Context, tx *store.Tx, project uuid.UUID, p *plannedJob) ([]byte, error) {
	if !p.policy.Draws() {
		return nil, nil
	}
	secret, err := fleet.JobSecret(ctx, tx, project, p.id)
	if err != nil {
		return nil, err
	}
	sum := verify.Commitment(secret)
	return sum[:], nil
}

// submitted is what the record of a submission says first.
func submitted(project uuid.UUID, draws []byte) map[string]any {
	detail := map[string]any{"project": project}
	if draws != nil {
		detail[audit.DrawsDetail] = hex.EncodeToString(draws)
	}
	return detail
}
