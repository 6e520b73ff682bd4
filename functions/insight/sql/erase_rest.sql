-- What else there is of a job, of each table at most $2 rows; returns how many. What is evidence about owners and about a version of a function stays,
-- under a name that says nothing of the job.
with gone_shards as (
    delete from shards where ctid = any (array(select ctid from shards where job_id = $1 limit $2)) returning 1
),
gone_attempts as (
    delete from attempts where ctid = any (array(select ctid from attempts where job_id = $1 limit $2)) returning 1
),
gone_audits as (
    delete from audits where ctid = any (array(select ctid from audits where job_id = $1 limit $2)) returning 1
),
gone_rechecks as (
    delete from rechecks where ctid = any (array(select ctid from rechecks where job_id = $1 limit $2)) returning 1
),
gone_recheck_hold as (
    delete from recheck_holds where job_id = $1 returning 1
),
gone_answer_classes as (
    delete from answer_classes where ctid = any (array(select ctid from answer_classes where job_id = $1 limit $2)) returning 1
),
gone_comparison_failures as (
    delete from comparison_failures where ctid = any (array(select ctid from comparison_failures where job_id = $1 limit $2)) returning 1
),
gone_lease_cursors as (
    delete from lease_cursors where ctid = any (array(select ctid from lease_cursors where job_id = $1 limit $2)) returning 1
),
gone_windows as (
    delete from windows where ctid = any (array(select ctid from windows where job_id = $1 limit $2)) returning 1
),
gone_partials as (
    delete from partials where ctid = any (array(select ctid from partials where job_id = $1 limit $2)) returning 1
),
gone_page_scores as (
    delete from page_scores where ctid = any (array(select ctid from page_scores where job_id = $1 limit $2)) returning 1
),
gone_audit_raises as (
    delete from audit_raises where ctid = any (array(select ctid from audit_raises where job_id = $1 limit $2)) returning 1
),
gone_events as (
    delete from events where ctid = any (array(select ctid from events where job_id = $1 limit $2)) returning 1
),
gone_flags as (
    delete from flags where ctid = any (array(select ctid from flags where job_id = $1 limit $2)) returning 1
),
gone_findings as (
    delete from findings where ctid = any (array(select ctid from findings where job_id = $1 limit $2)) returning 1
),
gone_module_runs as (
    delete from module_runs where ctid = any (array(select ctid from module_runs where job_id = $1 limit $2)) returning 1
),
gone_archive_objects as (
    delete from archive_objects where ctid = any (array(select ctid from archive_objects where job_id = $1 limit $2)) returning 1
),
gone_controls as (
    delete from controls where ctid = any (array(select ctid from controls where job_id = $1 limit $2)) returning 1
),
gone_control_loans as (
    delete from control_loans where ctid = any (array(select ctid from control_loans where job_id = $1 limit $2)) returning 1
),
gone_metrics as (
    delete from job_metrics where job_id = $1 returning 1
),
gone_decisions as (
    delete from rule_decisions where ctid = any (array(select ctid from rule_decisions where job_id = $1 limit $2)) returning 1
),
gone_receipt_signatures as (
    delete from receipt_signatures where ctid = any (array(select ctid from receipt_signatures where job_id = $1 limit $2)) returning 1
),
gone_receipt as (
    delete from receipts where job_id = $1 returning 1
),
unnamed_firings as (
    update schedule_firings set job_id = null where ctid = any (array(select ctid from schedule_firings where job_id = $1 limit $2)) returning 1
),
gone_webhook_events as (
    delete from webhook_events where ctid = any (array(select ctid from webhook_events where job_id = $1 limit $2)) returning 1
),
unnamed_steps as (
    update workflow_run_steps set job_id = null where ctid = any (array(select ctid from workflow_run_steps where job_id = $1 limit $2)) returning 1
),
unnamed_parts as (
    update workflow_parts set job_id = null where ctid = any (array(select ctid from workflow_parts where job_id = $1 limit $2)) returning 1
),
unnamed_wrong_shards as (
    update workflow_wrong_shards set job_id = null, was = null, instead = null
    where ctid = any (array(select ctid from workflow_wrong_shards where job_id = $1 limit $2)) returning 1
),
named_alike as (
    update wrong_alike set job_id = md5(job_id::text)::uuid where ctid = any (array(select ctid from wrong_alike where job_id = $1 limit $2)) returning 1
),
named_unsteady as (
    update unsteady_shards set job_id = md5(job_id::text)::uuid where ctid = any (array(select ctid from unsteady_shards where job_id = $1 limit $2)) returning 1
)
select (select count(*) from gone_shards)
    + (select count(*) from gone_attempts)
    + (select count(*) from gone_audits)
    + (select count(*) from gone_rechecks)
    + (select count(*) from gone_recheck_hold)
    + (select count(*) from gone_answer_classes)
    + (select count(*) from gone_comparison_failures)
    + (select count(*) from gone_lease_cursors)
    + (select count(*) from gone_windows)
    + (select count(*) from gone_partials)
    + (select count(*) from gone_page_scores)
    + (select count(*) from gone_audit_raises)
    + (select count(*) from gone_events)
    + (select count(*) from gone_flags)
    + (select count(*) from gone_findings)
    + (select count(*) from gone_module_runs)
    + (select count(*) from gone_archive_objects)
    + (select count(*) from gone_controls)
    + (select count(*) from gone_control_loans)
    + (select count(*) from gone_metrics)
    + (select count(*) from gone_decisions)
    + (select count(*) from gone_receipt_signatures)
    + (select count(*) from gone_receipt)
    + (select count(*) from unnamed_firings)
    + (select count(*) from gone_webhook_events)
    + (select count(*) from unnamed_steps)
    + (select count(*) from unnamed_parts)
    + (select count(*) from unnamed_wrong_shards)
    + (select count(*) from named_alike)
    + (select count(*) from named_unsteady)
