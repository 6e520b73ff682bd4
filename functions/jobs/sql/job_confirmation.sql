-- A result that matters holds where the server, or as many agents as were asked, gave the same answer. It came to nothing where they gave
-- another one, or where it was taken back.
with matter as (
    select a.matters, a.void, u.state as audit, s.state,
        s.state = 'accepted' and s.awaits is null and (s.agent_id = a.agent_id or w.outcome = a.outcome) as stands
    from attempts a
    join shards s on s.job_id = a.job_id and s.number = a.shard
    left join audits u on u.job_id = a.job_id and u.shard = a.shard and u.agent_id = a.agent_id
    left join attempts w on w.job_id = a.job_id and w.shard = a.shard and w.agent_id = s.agent_id
    where a.job_id = $1 and a.matters is not null and a.agent_id <> '00000000-0000-0000-0000-000000000000'
)
select count(*) as matched,
    count(*) filter (where audit = 'passed' or stands) as confirmed,
    count(*) filter (where not coalesce(audit = 'passed' or stands, false) and (audit = 'failed' or void or state in ('accepted', 'failed', 'cancelled'))) as refuted,
    count(*) filter (where matters <> '') as unjudged
from matter
