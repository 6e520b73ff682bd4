package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
)

func newJob(t *terminal, server *serverFlags) *cobra.Command {
	return noun("job", "Run functions over partitioned inputs",
		newJobRun(t, server), newJobRerun(t, server), newJobPlan(t, server), newJobList(t, server), newJobGet(t, server), newJobWatch(t, server), newJobExplain(t, server),
		newJobResults(t, server), newJobShards(t, server), newJobShard(t, server), newJobEvents(t, server),
		newJobArtifacts(t, server), newJobResolve(t, server), newJobRetry(t, server), newJobReaggregate(t, server), newJobCombine(t, server), newJobCombine(t, server), newJobAggregations(t, server), newJobSetPriority(t, server), newJobCancel(t, server), newJobDelete(t, server), newJobArchive(t, server), newJobReceipt(t, server), newJobMetrics(t, server), newJobStats(t, server), newJobChain(t, server), newJobFollowUp(t, server))
}

// ended says whether a job's state is final.
func ended(s client.JobState) bool {
	return s == client.JobStateFinished || s == client.JobStateFailed || s == client.JobStateCancelled || s == client.JobStateDeleting
}

// waits says whether a job continues only when a person has decided something.
func waits(s client.JobState) bool { return s == client.JobStateReview || s == client.JobStateHeld }

// outcome turns the state that a job has come to into the command's error.
func outcome(j client.Job) error {
	switch j.State {
	case client.JobStateFailed:
		return &exitError{code: exitFailed, err: fmt.Errorf("the job failed: %s", plain(j.Error)), hint: fmt.Sprintf("ostraka job explain %s says why", j.ID)}
	case client.JobStateCancelled:
		return &exitError{code: exitFailed, err: errors.New("the job was cancelled")}
	case client.JobStateDeleting:
		return &exitError{code: exitFailed, err: errors.New("the job is being deleted")}
	case client.JobStateReview:
		return &exitError{
			code: exitFailed, err: fmt.Errorf("agents do not agree on %s: a person must decide", count(j.Shards.Review, "shard")),
			hint: fmt.Sprintf("ostraka job shards %s --state review lists what to decide with ostraka job resolve", j.ID),
		}
	case client.JobStateHeld:
		return &exitError{
			code: exitFailed, err: fmt.Errorf("every shard is settled, but %s", plain(j.AggregationError)),
			hint: fmt.Sprintf("fix the module, push it, and run ostraka job reaggregate %s: no shard runs again", j.ID),
		}
	default:
		return nil
	}
}

// parseID reads the ID of something.
func parseID(what, text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil {
		return uuid.Nil, usageError("%q is not the ID of %s: IDs look like 0190a5d4-5b7a-7c3e-8f21-6d1e0c9b8a77", text, withArticle(what))
	}
	return id, nil
}

func withArticle(noun string) string {
	if noun != "" && strings.ContainsRune("aeio", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
