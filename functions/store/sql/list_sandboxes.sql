-- Sandboxes, the newest last; of a project ($3) or an agent ($4), and those that run ($5) or all. One that no heartbeat has named for
-- a minute is silent: its agent is away, or has forgotten it.
select s.id, s.agent_id as agent, a.name as agent_name, s.lease_id as lease, s.project_id as project, s.job_id as job, coalesce(s.function, '') as function,
    coalesce(s.version, 0) as version, s.level, s.shard, s.started_at, s.seen_at, s.sample, s.alerts, s.ended_at, coalesce(s.end_reason, '') as end_reason,
    case when s.ended_at is not null then 'ended' when s.seen_at < now() - interval '1 minute' then 'silent' else 'running' end as state,
    coalesce(s.terminate, '') as terminate
from sandboxes s join agents a on a.id = s.agent_id
where s.id > $1 and ($3::uuid is null or s.project_id = $3) and ($4::uuid is null or s.agent_id = $4)
  and (not $5::boolean or s.ended_at is null and s.seen_at >= now() - interval '1 minute')
order by s.id limit $2
