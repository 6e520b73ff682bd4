-- What the first attempt of each shard that raised anything has raised.
select n as shard, e.type, e.message
from unnest($2::bigint[]) as n
cross join lateral (
    select coalesce(diagnostics -> 'exception' ->> 'type', '') as type, coalesce(diagnostics -> 'exception' ->> 'message', '') as message
    from attempts where job_id = $1 and shard = n and diagnostics -> 'exception' is not null
    order by reported_at, agent_id limit 1
) e
