package trust

import (
	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/guardian"
)

// FloorOf is how strictly conditions want results verified.
func FloorOf(c guardian.Conditions) verify.Floor {
	return verify.Floor{Quorum: int(c.Quorum), TargetError: c.TargetError, RecheckAll: c.RecheckAll}
}

// Broken says which conditions a job does not keep to that the guardian sets when something is done with it, each in a sentence. Whether its
// results are verified strictly enough is for package verify to say, which knows what is stricter than what.
func Broken(c guardian.Conditions, planned guardian.Planned, p verify.Policy) []string {
	list := c.Broken(planned)
	if p.Tighten(FloorOf(c)) != p {
		list = append(list, "its results are verified less strictly than is asked for")
	}
	return list
}

// facts are what rules can know of the job.
func (j recheckJob) facts(id uuid.UUID) guardian.Job {
	return guardian.Job{
		ID: id.String(), Shards: j.Shards, Partition: string(j.Partition.Kind), Priority: int64(j.Priority), Depth: int64(j.Depth),
		Verification: jobs.VerificationFacts(j.Policy),
	}
}
