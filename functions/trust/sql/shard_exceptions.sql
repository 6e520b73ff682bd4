-- What the first attempt of each shard that raised anything has raised.
select n as shard, e.status, e.type, e.message, e.traceback
from unnest($2::bigint[]) as n
cross join lateral (
    select status, coalesce(diagnostics -> 'exception' ->> 'type', '') as type, coalesce(diagnostics -> 'exception' ->> 'message', '') as message,
        coalesce(diagnostics -> 'exception' ->> 'traceback', '') as traceback
    from attempts where job_id = $1 and shard = n and diagnostics -> 'exception' is not null
    order by reported_at, agent_id limit 1
) e
