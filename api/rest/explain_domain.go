package rest

import (
	"net/http"
	"strings"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation"
	"github.com/ostraka/ostraka/functions/archive"
	"github.com/ostraka/ostraka/functions/auditlog"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/insight"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/submit"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/wasm"
)

// namedProblems are the errors that the domain has a variable for.
func namedProblems() []Explanation {
	var all []Explanation
	for _, e := range []*functions.Error{
		functions.ErrLeaseExpired, functions.ErrLeaseEnded, functions.ErrLeaseRevoked, functions.ErrBadSignature, functions.ErrBadResult,
		functions.ErrResultConflict, functions.ErrNotEnrolled, functions.ErrRevision, functions.ErrIdempotencyMismatch, functions.ErrJobEnded, functions.ErrCallFailed,
		insight.ErrJobGoesOn, functions.ErrJobDeleted, functions.ErrJobArchived, archive.ErrWaits, archive.ErrNoArchive, archive.ErrVersionMissing, archive.ErrJobThere, archive.ErrObjectsMissing, archive.ErrSignaturesMissing, archive.ErrBeingDeleted, auditlog.ErrNoAnswer, auditlog.ErrReceiptNotMade, jobs.ErrNotMeasured, submit.ErrNothingFollows, submit.ErrSourceNotFinished, fleet.ErrDirectivesChanged,
		registry.ErrFileChanged, tenant.ErrNoSession, functions.ErrAgentRevoked, functions.ErrEULARequired, fleet.ErrEULAMismatch,
		fleet.ErrAgentState, fleet.ErrCaught, fleet.ErrOwnerCaught, functions.ErrObjectDamaged, functions.ErrServerOutdated,
		fleet.ErrDuplicateInstance, fleet.ErrInstanceLate, fleet.ErrBadNonce, fleet.ErrEnrolmentReplayed, fleet.ErrAgentOutdated,
		fleet.ErrOtherServer, dispatch.ErrTooMuchToCheck, dispatch.ErrStatement, dispatch.ErrRepeats,
	} {
		all = append(all, Explanation{e.Code, statusOf(e.Kind), sentence(e.Message), sentence(e.Hint)})
	}
	return all
}

// domainProblems are the errors that the domain makes where they occur.
func domainProblems() []Explanation {
	const correct = "Correct what the detail names."
	return []Explanation{
		{"bad_bulk_action", http.StatusUnprocessableEntity, "There is no such bulk action, its filter does not choose what it is about, or it is empty and all were not meant (`all`).", correct},
		{"cannot_be_undone", http.StatusConflict, "Nothing takes back what the bulk action has done, or it has done nothing, or goes on.", "A bulk action that has ended says what undoes it."},
		{"nothing_left", http.StatusConflict, "The bulk action goes on, or nothing of it is left to do.", "Wait until it has ended; GET on it says what failed."},
		{"nothing_matches", http.StatusConflict, "The bulk action would be about nothing: no item matches to which it can be done now.", "Look at the list with the same filter."},
		{"total_changed", http.StatusConflict, "Another number of items matches than was expected.", "Look at the plan again, and send the number that it says."},
		{"too_many_bulk_items", http.StatusConflict, "As many items of bulk actions are kept as may be.", "Choose fewer, or wait: which flags and jobs were done is forgotten a day after the end, the rest after 30 days."},
		{"too_many_bulk_actions", http.StatusConflict, "As many bulk actions run as may at once.", "Wait until one has ended, or cancel one."},
		{"too_many_items", http.StatusRequestEntityTooLarge, "More items match than a bulk action may have.", "Choose fewer, and make another bulk action of the others."},
		{"bad_schedule", http.StatusUnprocessableEntity, "A schedule is not one: its times, its time zone or another field of it.", correct},
		{"schedule_too_large", http.StatusRequestEntityTooLarge, "A schedule has more bytes than are kept of one.", "Store the input of its job as an object and give the digest."},
		{"too_many_runtimes", http.StatusConflict, "The project has as many runtimes as it may have.", "Delete one that no function needs."},
		{"runtime_incomplete", http.StatusConflict, "A piece of the runtime is not stored.", "Store its pieces as objects first; findMissingObjects tells which there are not."},
		{"runtime_in_use", http.StatusConflict, "A job that has not ended runs in the runtime.", "Wait for it, or cancel it."},
		{"runtime_named", http.StatusConflict, "The same tree is a runtime of another name already.", "Use that one."},
		{"schedule_starts_workflow", http.StatusConflict, "The schedule starts runs of a workflow, and submits no job.", "Start the workflow itself."},
		{"too_many_schedules", http.StatusConflict, "The project has as many schedules as it may have.", "Delete one that is not used."},
		{"bad_webhook", http.StatusUnprocessableEntity, "A webhook is not one: its URL may not be called, or it asks for an event that there is not.", correct},
		{"too_many_webhooks", http.StatusConflict, "The project has as many webhooks as it may have.", "Delete one that is not used."},
		{"webhook_paused", http.StatusConflict, "The webhook is paused, and gets nothing.", "Resume it first: ostraka webhook resume."},
		{"too_many_undelivered", http.StatusConflict, "As many deliveries of the project wait as may.", "Wait until some are delivered, or delete the webhook that they wait for."},
		{"bad_workflow", http.StatusUnprocessableEntity, "A workflow is not one, or uses what is not supported yet.", correct},
		{"bad_parameters", http.StatusUnprocessableEntity, "A workflow cannot run with these values of its parameters.", correct},
		{"too_many_workflows", http.StatusConflict, "The project has as many workflows as it may have.", "Delete one that is not used."},
		{"too_many_workflow_runs", http.StatusConflict, "The project has as many runs of workflows that have not ended as it may have.", "Wait for one to end, or cancel one."},
		{"workflow_runs", http.StatusConflict, "The workflow or the run cannot be deleted, since a run has not ended.", "Wait for it, or cancel it."},
		{"step_not_running", http.StatusConflict, "A step that does not run is not extended, and has nothing to try again.", "Start another run for what lies beyond it."},
		{"not_folded", http.StatusUnprocessableEntity, "Answers cannot be folded into one, or compared: they are too large, or were made in different ways.", "The message says which; let the aggregator keep less."},
		{"no_rolling_step", http.StatusUnprocessableEntity, "The run has no rolling step of that name.", correct},
		{"workflow_run_ended", http.StatusConflict, "The run has ended.", "Start another one."},
		{"bad_heuristics", 422, "A policy of heuristics makes no sense.", "Correct what the detail names; docs/modules.md shows what a policy looks like."},
		{"bad_priority", http.StatusUnprocessableEntity, "A job cannot have this priority.", correct},
		{"priority_not_allowed", http.StatusForbidden, "A submitter's jobs have the usual priority at most.", "Ask for less, or have the project's owner raise it: ostraka job set-priority."},
		{"bad_weight", http.StatusUnprocessableEntity, "A project cannot have this weight.", correct},
		{"bad_archive", http.StatusUnprocessableEntity, "What was sent is no archive, or its parts do not agree.", "Have ostraka archive verify look at its files, and download them again from where the job ran."},
		{"bad_archive_jobs", http.StatusUnprocessableEntity, "Jobs of a project cannot become archives after so many days.", correct},
		{"bad_audit_days", http.StatusUnprocessableEntity, "The log of a project cannot keep what records say for so many days.", correct},
		{"bad_record_range", http.StatusUnprocessableEntity, "A log has no such range of records.", correct},
		{"bad_keep_jobs", http.StatusUnprocessableEntity, "A project cannot keep ended jobs for so many days.", correct},
		{"bad_recheck_seconds", http.StatusUnprocessableEntity, "A project cannot have this budget of server seconds.", correct},
		{"operator_sets", http.StatusForbidden, "A project's weight and its budget of server seconds are for an operator to set.", "Leave it out, or ask an operator."},
		{"no_model", http.StatusUnprocessableEntity, "The policy asks an external model, and this installation has none.", "Leave external-model out of the policy; an operator can name one with ostraka server --model-url."},
		{"code_refused", 409, "This version of the function was refused after a heuristic had found something in it.", "See what was found: ostraka finding list. Mend it and push it again, or allow it: ostraka function review."},
		{"not_scored", 409, "No heuristic has looked at this version of the function: there is nothing to decide.", "See what there is: ostraka finding list."},
		{archive.ErrImportBusy.Code, http.StatusTooManyRequests, "The server imports another archive; each takes memory and a processor.", "Ask again after Retry-After."},
		{jobs.ErrStatsBusy.Code, http.StatusTooManyRequests, "Another request looks at the statistics of a job of the project; each reads up to a million results.", "Ask again after Retry-After."},
		{aggregation.ErrCombineBusy.Code, http.StatusTooManyRequests, "Another request folds several jobs of the project to one answer; each compares up to 100,000 shards of 16 jobs.", "Ask again after Retry-After."},
		{jobs.ErrStatsTooSlow.Code, http.StatusServiceUnavailable, "Looking at the attempts of the job took the database longer than one request may.", "Try again when the database has less to do; the metrics of an ended job are measured already."},
		{"not_found", http.StatusNotFound, "There is no such thing, or it belongs to another project. The two are not told apart.", "Check the ID and the project."},
		{"input_lost", http.StatusNotFound, "The object store does not have a file that a shard reads.", "Store the file again, or cancel the job."},
		{"upload_missing", http.StatusConflict, "Nothing was uploaded to the URL that was granted, or it was removed since.", "Upload the bytes, or ask for another upload."},
		{"bad_file_name", http.StatusUnprocessableEntity, "The name is not one that a file may have: every system must read it alike.", correct},
		{"no_key_to_sign_in", http.StatusForbidden, "Sign-in links are made with an API key, and the request came from somebody who has none.", "Make the link with a key, or sign in where your organisation does."},
		{"link_used", http.StatusUnauthorized, "The sign-in link does not work: it works once, and for ten minutes.", "Make another with ostraka open, or sign in with your key."},
		{"bad_key", http.StatusUnauthorized, "The key is not valid: unknown, revoked or expired.", "Use a key that works."},
		{"bad_token", http.StatusUnauthorized, "The enrolment token is not valid: unknown, revoked or expired.", "Ask the project's owner for a new one."},
		{"token_used_up", http.StatusUnauthorized, "As many agents have joined with the enrolment token as may.", "Ask the project's owner for a new one."},
		{"too_many_outputs", http.StatusRequestEntityTooLarge, "More was stored under the lease than its shards may leave.", "Store each output and each artifact once."},
		{"bad_uses", http.StatusUnprocessableEntity, "An enrolment token cannot be for that many agents.", correct},
		{"bad_name", http.StatusUnprocessableEntity, "The name is not one that such a thing may have.", correct},
		{"name_taken", http.StatusConflict, "There is something of this name already.", "Choose another name."},
		{"bad_role", http.StatusUnprocessableEntity, "A project's keys cannot have this role.", "Choose owner, submitter, viewer, auditor or reviewer."},
		{"bad_expiry", http.StatusUnprocessableEntity, "The time of expiry has passed already.", "Choose a time to come, or leave it out."},
		{"bad_text", http.StatusUnprocessableEntity, "A text holds what cannot be stored: a NUL character, or bytes that are not UTF-8.", "Leave it out."},
		{"answer_too_large", http.StatusUnprocessableEntity, "The answer of a step is larger than a step that needs it can read.", "Have the aggregator leave less."},
		{"report_too_large", http.StatusUnprocessableEntity, "A report would read more than its function may be given.", "Have the aggregators leave less, or make the report of fewer steps."},
		{"no_document", http.StatusUnprocessableEntity, "The function of a report has left no file of the name that the step states.", "Write it below $OSTRAKA_OUTPUT."},
		{"bad_volumes", http.StatusUnprocessableEntity, "An agent announces volumes that cannot be: too many, a name that is none, or twice the same.", correct},
		{"not_compared", http.StatusUnprocessableEntity, "The validator of a job failed at two answers that were to be compared.", "Try the module with its records: ostraka module test --kind validator."},
		{"bad_runtime", http.StatusUnprocessableEntity, "The manifest of a runtime is not one: its form, its paths, its links, its size or its pieces.", correct},
		{"no_runtime", http.StatusUnprocessableEntity, "The function names a runtime that the project does not have.", "Push the runtime, or name one that there is."},
		{"bad_bundle", http.StatusUnprocessableEntity, "The bundle is not one that may be run: its archive, its paths, its size or its function.toml.", correct},
		{"bad_controls", http.StatusUnprocessableEntity, "A control of the job is not usable: it is no shard with a known answer, an agent could tell it from the job's own shards, or there are too many.", correct},
		{"bad_confirm", http.StatusUnprocessableEntity, "The condition that says which results matter is no CEL expression of type bool over output, or the policy executes nothing once more.", correct},
		{"bad_kind", http.StatusUnprocessableEntity, "A module of this kind cannot be used here.", correct},
		{"bad_params", http.StatusUnprocessableEntity, "The aggregator does not take these parameters.", correct},
		{"bad_aggregator", http.StatusUnprocessableEntity, "The job folds nothing, and no aggregator was named to begin with.", "Name an aggregator."},
		{"aggregating", http.StatusConflict, "The job's aggregator is at work, so that there is nothing to aggregate again.", "Wait for the job to end."},
		{"not_settled", http.StatusConflict, "The job has ended before all of its shards were settled.", "Read the accepted results, or submit the job again."},
		{"too_many_aggregations", http.StatusConflict, "The job was aggregated as often as it may be.", "Submit the function as a new job."},
		{"bad_policy", http.StatusUnprocessableEntity, "The verification policy cannot be carried out.", correct},
		{"bad_rule", http.StatusUnprocessableEntity, "A follow-up rule is not one: an expression has an error, or a limit is passed.", correct},
		{"bad_heuristics", http.StatusUnprocessableEntity, "The policy of what looks at the project's code and results makes no sense.", "Mend what the message names; docs/modules.md shows what a policy looks like."},
		{"bad_quota", http.StatusUnprocessableEntity, "There is no such limit of a project, or it cannot have this value.", correct},
		{"too_many_rules", http.StatusConflict, "The project has as many rules as it may have.", "Delete one that is not used."},
		{"bad_max", http.StatusUnprocessableEntity, "A lease cannot have that many shards.", correct},
		{"bad_refusal", http.StatusUnprocessableEntity, "The reason for which a lease is given back is not one: its code or its length.", correct},
		{"bad_isolation", http.StatusUnprocessableEntity, "There is no such isolation level.", correct},
		{"too_many_pending", http.StatusConflict, "More agents wait for approval than may wait.", "Enrol with a project's token, or ask the operator to approve or revoke those that wait."},
		{"token_required", http.StatusForbidden, "This server takes no agents without an enrolment token.", "Ask a project's owner for one: ostraka enrolment-token create."},
		{"bad_overlap", http.StatusUnprocessableEntity, "A key that is replaced cannot go on working for that long.", correct},
		{"key_ended", http.StatusConflict, "The key was revoked, or has expired: there is nothing to replace.", "Create a key: ostraka key create."},
		{"bad_owner", http.StatusUnprocessableEntity, "The name of an owner is too long.", correct},
		{"bad_action", http.StatusUnprocessableEntity, "There is no such action on an agent.", correct},
		{"bad_period", http.StatusUnprocessableEntity, "A period ends before it begins.", correct},
		{"bad_step", http.StatusUnprocessableEntity, "The step is not one that such figures are kept in, or makes too many points.", correct},
		{"bad_heartbeat", http.StatusUnprocessableEntity, "A heartbeat says more than one may say, or something that cannot be kept.", correct},
		{"bad_public_key", http.StatusUnprocessableEntity, "The public key is not an Ed25519 key.", "Send its 32 bytes in base64."},
		{"bad_reason", http.StatusUnprocessableEntity, "The decision has no reason, or too long a one.", "Say why; the audit log keeps it."},
		{"bad_decision", http.StatusUnprocessableEntity, "There is no such decision.", "Decide accept, retry or fail."},
		{"bad_signing_key", http.StatusUnprocessableEntity, "The signing key cannot become the project's: its form, its signature, or the project had it before.", correct},
		{"signing_key_generation", http.StatusConflict, "The signing key is not the next one: somebody has registered another meanwhile.", "List the project's signing keys, then try again."},
		{"no_signing_key", http.StatusUnprocessableEntity, "A bundle is signed and the project has no signing key.", "Register the key: ostraka signing-key create."},
		{"unsigned_bundle", http.StatusUnprocessableEntity, "The project signs its functions, and this one is not signed by its newest key.", "Push it with the project's signing key."},
		{"bad_bundle_signature", http.StatusUnprocessableEntity, "The signature over a bundle is not by the project's newest signing key.", "Sign with that key."},
		{"not_in_review", http.StatusConflict, "The shard is not in review, so that there is nothing to decide.", "Look at its state."},
		{"not_offered", http.StatusConflict, "This cannot be decided about the flag now.", "Read the flag: it says what can be."},
		{"no_recheck", http.StatusServiceUnavailable, "No server of this installation executes shards itself.", "Decide otherwise, or have the operator start one with a recheck sandbox."},
		{"no_witness_key", http.StatusConflict, "The agent has registered no key to co-sign with.", "Register one with PUT /v1/agent/witness-key, and send the cosignature again."},
		{"witness_key_new", http.StatusConflict, "The agent has registered another key to co-sign with less than an hour ago.", "Go on with that one, or try again in an hour."},
		{"unknown_checkpoint", http.StatusConflict, "The log has signed no such head, as far as this database knows.", "Co-sign the head of the next heartbeat; if the log has signed this one, the database is an older one, or another."},
		{"cosignature_older", http.StatusConflict, "The agent has co-signed a later head of this log already.", "Nothing is to be done: the later one stays."},
		{"log_shorter", http.StatusConflict, "The log does not have as many records.", "Ask about a size that the log has signed; where it once had as many, it was rolled back."},
		{"not_sealed", http.StatusConflict, "The log is not sealed up to now, so that it has no head to go on from.", "Try again in some seconds."},
		{"log_changed", http.StatusConflict, "The log is not what was signed: nothing is signed on top of it.", "ostraka audit verify says where. Restore a backup whose log verifies."},
		{"too_many_restarts", http.StatusConflict, "The log began anew as often as a log may.", "Make another project."},
		{"bad_lost_head", http.StatusUnprocessableEntity, "The checkpoint given is no head that the log has lost.", "Give one that ostraka audit checkpoint printed before the log was restored, or none."},
		{"bad_cosignature", http.StatusUnprocessableEntity, "The checkpoint is not one that the log and the agent have signed.", "Co-sign the head of a heartbeat as it is, with the key that was registered."},
		{"bad_sizes", http.StatusUnprocessableEntity, "No log of the one size begins with one of the other.", correct},
		{"no_such_output", http.StatusUnprocessableEntity, "No attempt of the shard has an output of this digest.", "Choose the output_digest of one of its attempts."},
		{"digest_mismatch", http.StatusUnprocessableEntity, "The bytes that came do not have the digest that was stated. Nothing was stored.", "Send them again."},
		{"object_too_large", http.StatusRequestEntityTooLarge, "The object is larger than an object may be.", "Split the data into several objects."},
		{"module_too_large", http.StatusRequestEntityTooLarge, "The module has more bytes than a module may have.", "Build it for size and strip its debug sections."},
		{"module_deprecated", http.StatusConflict, "The module is deprecated: new jobs may not use it.", "Use another module, or push a new version of it."},
		{"too_many_records", http.StatusRequestEntityTooLarge, "A trial takes fewer records than that.", "Try the module with fewer, or on your own machine: ostraka module test."},
		{"bad_records", http.StatusUnprocessableEntity, "The records are not those of the module's kind.", correct},
		{"module_host", http.StatusServiceUnavailable, "The module could not be checked now. Nothing is held against it.", "Send it again in a moment."},
		{"denied_by_guardian", http.StatusForbidden, "A rule of the guardian refuses this. Nothing of it has happened; the refusal is in the audit log.", "Read the rule and its reason in the detail. An owner can change a rule of the project or make an exception: ostraka guardian override add."},
		{"approval_needed", http.StatusConflict, "A rule of the guardian wants a person's yes first.", "Have it approved: ostraka approval approve ID --reason WHY. Then send the same request again."},
		{"approval_used", http.StatusConflict, "The approval was used by another request meanwhile.", "Send the request again: it asks for another."},
		{"approval_decided", http.StatusConflict, "The approval does not wait any more: it was decided, or has expired.", "Send the request again that needs one."},
		{"approval_not_yours", http.StatusForbidden, "A rule of the operator asks, which only an operator can answer.", "Ask the operator of the server."},
		{"four_eyes", http.StatusForbidden, "Who asks for an approval cannot give it here.", "Have somebody else approve it, with a key of their own."},
		{"too_many_approvals", http.StatusConflict, "As many approvals wait as are kept.", "Have some of them decided: ostraka approval list."},
		{"rule_unconfirmed", http.StatusConflict, "By this change of a rule of the guardian some of the newest decisions would have been others.", "See which with ostraka guardian rule test, and say that you want it: --yes, or confirm in the request."},
		{"bad_guardian_rule", http.StatusUnprocessableEntity, "A rule of the guardian is not one: a field makes no sense, or its expression has an error.", correct},
		{"bad_override", http.StatusUnprocessableEntity, "An exception from a rule makes no sense.", correct},
		{"too_many_overrides", http.StatusConflict, "As many exceptions are in force as are kept.", "End some of them: ostraka guardian override list."},
		{"bad_thresholds", http.StatusUnprocessableEntity, "A threshold for sandboxes cannot be meant.", correct},
		{"bad_scope", http.StatusUnprocessableEntity, "What a switch is to hold makes no sense.", "Name everything, or a project, or a function of a project and, if not all, its version."},
		{"too_many_switches", http.StatusConflict, "As many switches are on as are kept.", "Put some off, or put one on for a whole project."},
		{"database_unavailable", http.StatusServiceUnavailable, "The database does not answer. Nothing was changed.", "Send the same request again in a moment."},
	}
}

// moduleProblems are why a module is refused when it is pushed.
func moduleProblems() []Explanation {
	const next = "Mend the module and push it again."
	var all []Explanation
	for _, p := range []struct {
		class wasm.Class
		text  string
	}{
		{wasm.ClassRejected, "The bytes are not a module that may be run: malformed, or past a limit."},
		{wasm.ClassCompileLimit, "Compiling the module takes too much time or memory."},
		{wasm.ClassExit, "The module ended with an error when it was tried."},
		{wasm.ClassTrap, "The module's code failed when it was tried."},
		{wasm.ClassMemoryLimit, "The module needs more memory than it may have."},
		{wasm.ClassFuel, "The module uses more instructions than a batch may: it loops, or does too much."},
		{wasm.ClassNondeterministic, "The module gives another answer when it runs again."},
		{wasm.ClassOutputLimit, "The module writes more than it may."},
		{wasm.ClassBadOutput, "What the module writes is not what the contract asks for."},
	} {
		all = append(all, Explanation{"module_" + string(p.class), http.StatusUnprocessableEntity, p.text, next})
	}
	return all
}

func partitionProblems() []Explanation {
	const next = "Correct the partition; its forms are under Partition in the reference."
	var all []Explanation
	for _, p := range []struct {
		code partition.Code
		text string
	}{
		{partition.CodeRangeSyntax, "A range is not of the form FROM:TO."},
		{partition.CodeRangeEmpty, "A range ends where it begins, so that it holds nothing."},
		{partition.CodeRangeReversed, "A range ends before it begins."},
		{partition.CodeNotAnInteger, "A bound or a size is not a whole number in decimal digits."},
		{partition.CodeIntegerTooLong, "A number has too many digits."},
		{partition.CodeShardSize, "The size of a shard is missing, zero or negative."},
		{partition.CodeTooManyShards, "The input makes more shards than a job may have."},
		{partition.CodePartitionKind, "There is no such kind of partition."},
		{partition.CodeSpecSyntax, "A partition is not a JSON object of the fields that its kind has."},
		{partition.CodeSpecTooLarge, "More items are written into the request than fit there. (Then the status may be 413.)"},
		{partition.CodeNoItems, "There are no items."},
		{partition.CodeItemSyntax, "An item is not one JSON value without ambiguity."},
		{partition.CodeShardFiles, "The files that one shard would read are too many, too large, or cannot lie in one folder."},
		{partition.CodeNoFile, "A manifest names a file or an object that is not there, or more loose objects than it may."},
		{partition.CodeItemTooLarge, "An item is larger than an item may be."},
	} {
		all = append(all, Explanation{string(p.code), http.StatusUnprocessableEntity, p.text, next})
	}
	return all
}

// sentence makes a sentence of a message.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// quotaProblems are the limits of projects, each with a code of its own.
func quotaProblems() []Explanation {
	var all []Explanation
	for _, name := range tenant.QuotaNames() {
		about, hint := tenant.AboutQuota(name)
		all = append(all, Explanation{
			tenant.QuotaCode(name), http.StatusTooManyRequests, "The project, key or agent has as many as it may: " + about + ".",
			"Ask again after Retry-After: " + hint + ".",
		})
	}
	return all
}
