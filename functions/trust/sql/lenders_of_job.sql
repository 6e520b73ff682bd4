-- What is known about agents that have worked for a job: as what they were lent shards of it, and the evidence about them.
select a.id as agent_id, coalesce(c.owner, '') as owner, coalesce(c.block, '') as block, coalesce(c.class, '') as class,
    coalesce(t.passed, 0) as passed, coalesce(t.failed, 0) as failed, t.caught_at is not null as caught,
    coalesce(t.audits_passed, 0) as audits_passed, coalesce(t.audits_failed, 0) as audits_failed, coalesce(t.since_failure, 0) as since_failure,
    coalesce(t.excused_passed, 0) as excused_passed, coalesce(t.excused_audits, 0) as excused_audits, coalesce(t.vouched, 0) as vouched
from unnest($2::uuid[]) as a (id)
left join lease_cursors c on c.job_id = $1 and c.agent_id = a.id
left join trust t on t.agent_id = a.id
