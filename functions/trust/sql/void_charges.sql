-- Takes back what the job has brought up against an agent, whose trust is locked, as if it had never been: the audits that it had passed
-- before count again.
with job as (
    select failed - failed_excused as failed, audits_failed - audits_excused as audits, since_lost from lease_cursors where job_id = $1 and agent_id = $2
),
noted as (
    update lease_cursors set failed_excused = failed, audits_excused = audits_failed, since_lost = 0 where job_id = $1 and agent_id = $2
)
update trust t set failed = greatest(t.failed - job.failed, 0), audits_failed = greatest(t.audits_failed - job.audits, 0),
    since_failure = t.since_failure + job.since_lost,
    last_failed_at = case when t.failed > job.failed or t.audits_failed > job.audits then t.last_failed_at end, updated_at = now()
from job where t.agent_id = $2
returning t.agent_id, t.passed, t.failed, t.caught_at is not null as caught, t.audits_passed, t.audits_failed, t.since_failure, t.excused_passed, t.excused_audits
