-- What an agent says of its sandboxes. What a sandbox belongs to follows from its lease, which must be the agent's; a sandbox of
-- another agent or lease stays as it is. Times are the server's: clocks of agents may be wrong.
with reported as materialized (
    select * from jsonb_to_recordset($2::jsonb) as r (id uuid, lease uuid, level text, shard bigint, age_ms bigint, sample jsonb, alerts jsonb, ended boolean, end_reason text)
),
gone as ( -- it was ordered to end and the agent does not have it any more, nor knows whose it was
    update sandboxes s set ended_at = now(), end_reason = r.end_reason from reported r
    where r.ended and r.lease = '00000000-0000-0000-0000-000000000000' and s.id = r.id and s.agent_id = $1 and s.ended_at is null
),
kept as (
    insert into sandboxes as s (id, agent_id, lease_id, project_id, job_id, function, version, level, shard, started_at, sample, alerts, ended_at, end_reason)
    select r.id, $1, l.id, l.project_id, l.job_id, l.function, l.function_version, r.level, r.shard, now() - r.age_ms * interval '1 millisecond',
        r.sample, coalesce(r.alerts, '[]'), case when r.ended then now() end, r.end_reason
    from reported r join leases l on l.id = r.lease and l.agent_id = $1
    order by r.id
    on conflict (id) do update set shard = excluded.shard, seen_at = now(), sample = coalesce(excluded.sample, s.sample), alerts = excluded.alerts,
        ended_at = excluded.ended_at, end_reason = excluded.end_reason
    where s.agent_id = excluded.agent_id and s.lease_id = excluded.lease_id and s.ended_at is null
    returning id
)
insert into sandbox_samples (sandbox_id, cpu_percent, memory_bytes, workspace_bytes, network_bytes, network, processes, output_bytes)
select k.id, (r.sample ->> 'cpu_percent')::double precision, (r.sample ->> 'memory_bytes')::bigint, (r.sample ->> 'workspace_bytes')::bigint,
    (r.sample ->> 'network_bytes')::bigint, r.sample ->> 'network', (r.sample ->> 'processes')::bigint, (r.sample ->> 'output_bytes')::bigint
from kept k join reported r on r.id = k.id where r.sample is not null
on conflict do nothing
