// Package auditlog is the room of logs and receipts: it seals the audit records of projects and of the server into signed
// trees, reads them with their proofs, and writes the receipt of a finished job.
//
// It writes seals, checkpoints, the nodes of the trees, agents' cosignatures, the times that logs began anew, and receipts. base.Audit
// writes the records themselves, in the transaction of the recorded operation.
package auditlog

import (
	"context"
	"iter"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions/base"
)

// Service is the room.
type Service struct {
	env    *base.Env
	logKey audit.Key
	heads  offeredHeads
	days   int

	archivedLines ArchivedLines
}

// ArchivedLines yields the lines of a receipt whose shards are in an archive, after the shard of a number.
type ArchivedLines func(ctx context.Context, project, job uuid.UUID, after int64) iter.Seq2[audit.ShardLine, error]

// ReadLinesWith says who reads archives. It is called once, before the first request.
func (s *Service) ReadLinesWith(lines ArchivedLines) { s.archivedLines = lines }

// New makes the room. logKey signs the heads of the logs, all servers the same; the zero value: one that the database keeps. days is for how many the
// server's own log keeps the content of records, and those of projects that say nothing; 0: until somebody prunes them.
func New(env *base.Env, logKey audit.Key, days int) *Service {
	return &Service{env: env, logKey: logKey, days: days}
}
