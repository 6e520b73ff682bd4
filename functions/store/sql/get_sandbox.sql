select s.id, s.agent_id as agent, a.name as agent_name, s.lease_id as lease, s.project_id as project, s.job_id as job, coalesce(s.function, '') as function,
    coalesce(s.version, 0) as version, s.level, s.shard, s.started_at, s.seen_at, s.sample, s.alerts, s.ended_at, coalesce(s.end_reason, '') as end_reason,
    case when s.ended_at is not null then 'ended' when s.seen_at < now() - interval '1 minute' then 'silent' else 'running' end as state,
    coalesce(s.terminate, '') as terminate
from sandboxes s join agents a on a.id = s.agent_id
where s.id = $1 and ($2::uuid is null or s.project_id = $2)
