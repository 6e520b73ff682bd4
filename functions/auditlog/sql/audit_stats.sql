select case $1 when 'actor' then actor when 'action' then action when 'day' then to_char(at at time zone 'UTC', 'YYYY-MM-DD')
        when 'agent' then coalesce(detail ->> 'agent', case when starts_with(actor, 'agent:') then substr(actor, 7) end, '')
        else coalesce(detail ->> 'function', case when action = 'function.push' then subject end, '') end as key,
    count(*) as records,
    count(*) filter (where coalesce(detail ->> 'error', '') <> '' or action in ('agent.catch', 'incident.add', 'lease.expire')
        or action in ('results.record', 'results.execute') and detail ->> 'failed' <> '0') as failures,
    count(*) filter (where detail ->> 'decision' in ('deny', 'refuse')) as denials,
    least(coalesce(sum((detail ->> 'cpu_us')::numeric) filter (where action in ('results.record', 'results.execute')), 0) / 1e6, 9e15)::float8 as cpu_seconds,
    least(coalesce(sum((detail ->> 'bytes')::numeric) filter (where action in ('results.record', 'results.execute')), 0), 9e18)::bigint as bytes,
    min(at) as first_at, max(at) as last_at
from audit where pruned_at is null and ($2::timestamptz is null or at >= $2) and ($3::timestamptz is null or at < $3)
group by 1 order by case when $1 = 'day' then 0 else count(*) end desc, 1 limit $4
