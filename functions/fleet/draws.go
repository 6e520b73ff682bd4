package fleet

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// JobSecret is the secret by which the audits of a job are drawn. It is read as the server's role, since that of the project is not to know it:
// nobody sees it before the job is over.
func JobSecret(ctx context.Context, tx *store.Tx, project, job uuid.UUID) ([]byte, error) {
	server, err := tx.AsServer(ctx)
	if err != nil {
		return nil, err
	}
	secret, found, err := store.Value[[]byte](ctx, server, sql.ProjectSecret, project)
	if err != nil || !found {
		return nil, base.OrNotFound(err, "project", project)
	}
	return verify.JobSecret(secret, job.String()), tx.AsProject(ctx)
}
