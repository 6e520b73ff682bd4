package trust

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/store"
)

// Refute counts a result of a job that has ended as proven wrong against the agents that gave it, as an audit that has failed does: their
// results that are not final are opened again, in jobs that have not ended the final ones too, and jobs with a bound that have ended get
// incidents. It is the last thing that a transaction does.
func (s *Service) Refute(ctx context.Context, tx *store.Tx, project, job uuid.UUID, shard int64, hands []Hand) error {
	d := Settlement{Project: project, Job: job, Weighed: Weighed{Counts: map[uuid.UUID]*Count{}}}
	for _, h := range hands {
		c := d.Of(h.Agent)
		c.Failed++
		c.AuditsFailed++
		c.Taint = fmt.Sprintf("its result of shard %d of job %s was proven wrong: an identity of a workflow failed, and the shard was executed once more", shard, job)
	}
	judged, err := s.AddEvidence(ctx, tx, d)
	if err != nil {
		return err
	}
	for _, c := range judged.Caught {
		if err := ReportCaught(ctx, tx, job, c); err != nil {
			return err
		}
	}
	return s.env.Enqueue(ctx, tx, judged.Steps...)
}
