package guardian

// ForStep are the steps of the server that begin something, and what the guardian is asked about each. A step that is neither here
// nor in StepsCarryOn fails a test.
func ForStep() map[string][]Kind {
	return map[string][]Kind{
		"advance_run":   {JobSubmit, JobCancel},
		"fire_schedule": {JobSubmit, JobCancel, WorkflowStart},
		"follow_up":     {JobFollowUp},
		"recheck":       {JobRecheck, SandboxOpen},
		"score_code":    {ModelAsk},
		"score_results": {ModelAsk},
	}
}

// StepsCarryOn are the steps that only carry on with what was decided, each with the reason.
func StepsCarryOn() map[string]string {
	return map[string]string{
		"judge_controls":    "it weighs what agents said of shards with known answers, which were submitted with their job",
		"bulk":              "it does what a bulk action is about, which was decided when it was begun; each item is decided by itself",
		"aggregate":         "it folds results of a job that was submitted",
		"cancel":            "it ends the leases of a job whose cancelling was decided",
		"weigh_claims":      "it weighs what agents said of results",
		"collect":           "it deletes objects that nothing names any more",
		"compare":           "it compares answers of a job that was submitted",
		"deliver_webhook":   "it sends an event to a webhook that webhook.change was decided about",
		"due_webhooks":      "it has a step look at each project that has events to send",
		"spread_webhooks":   "it makes deliveries of events for webhooks that webhook.change was decided about",
		"due_schedules":     "it has a step look at each schedule that is due; each job or run that this makes is decided as JobSubmit or WorkflowStart",
		"archive":           "it archives what data.archive was decided about, or what is as old as the project says",
		"pack":              "it packs the attempts of a job that has ended, of which nothing is lost",
		"erase":             "it deletes what data.delete was decided about",
		"expire_leases":     "it takes back what was lent for a time that is over",
		"revoke_leases":     "it takes leases from an agent that was turned out, excluded or paused, which was decided",
		"finalise":          "it ends a job all of whose shards are settled",
		"finish":            "it ends a job all of whose shards are settled",
		"merge":             "it folds partials of a job that was submitted",
		"compare_platforms": "it looks whether platforms differ in the results of a job",
		"preview":           "it folds a part of a job's results so that people can look",
		"refold":            "it folds results again, which job.aggregate was decided about",
		"receipt":           "it writes down what has happened",
		"retention":         "it deletes what is older than the project's and the server's settings say, which setting.change was decided about",
		"seal_audit":        "it seals the log",
		"silence":           "it marks agents that say nothing any more",
		"split":             "it makes the shards of a job that was submitted",
		"stranded_shards":   "it marks shards that no agent may have",
		"taint":             "it takes results of an agent that was found out out of the counting: less is believed, never more",
		"charge_turns":      "it keeps the books of whose turn it is",
		"excuse_unsteady":   "it corrects evidence about agents whose answers differ by the function's own fault",
		"verify":            "it weighs results of a lease that was dispatched",
		"close_window":      "it draws which results are audited; the audits are asked about when they are dispatched or rechecked",
		"tail":              "it closes windows of results at a job's end",
	}
}
