-- The agents that have worked for a job, the server among them: as what, how their answers there were judged, and the evidence about them.
select c.agent_id, c.owner, c.block, c.class, c.passed as job_passed, c.failed as job_failed, c.failed > c.failed_excused as charged, c.failed_excused > 0 as excused,
    coalesce(t.passed, 0) as passed, coalesce(t.failed, 0) as failed, t.caught_at is not null as caught,
    coalesce(t.audits_passed, 0) as audits_passed, coalesce(t.audits_failed, 0) as audits_failed, coalesce(t.since_failure, 0) as since_failure,
    coalesce(t.excused_passed, 0) as excused_passed, coalesce(t.excused_audits, 0) as excused_audits, coalesce(t.vouched, 0) as vouched
from lease_cursors c left join trust t on t.agent_id = c.agent_id
where c.job_id = $1 order by c.agent_id
