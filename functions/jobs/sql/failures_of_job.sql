-- Why the first $2 shards that failed did: what an attempt of theirs ended with, the server's before those of agents, and the reasons.
select s.number, coalesce(s.reasons, '[]') as reasons, coalesce(a.status, '') as status,
    coalesce(a.exception ->> 'type', '') as type, coalesce(a.exception ->> 'message', '') as message, coalesce(a.exception ->> 'traceback', '') as traceback
from (select number, reasons from shards where job_id = $1 and state = 'failed' order by number limit $2) s
left join lateral (
    select status, diagnostics -> 'exception' as exception from attempts
    where job_id = $1 and shard = s.number and status <> 'ok' and not void
    order by agent_id <> '00000000-0000-0000-0000-000000000000', status <> 'error', reported_at, agent_id limit 1
) a on true
order by s.number
