-- Functions whose shards may take longer than $4 seconds have a lane of their own.
insert into rechecks (job_id, shard, why, long)
select $1, n, $3, coalesce((
    select (v.manifest -> 'limits' ->> 'wall_seconds')::bigint > $4::bigint from jobs j
    join function_versions v on v.function_id = j.function_id and v.version = j.function_version where j.id = $1
), false)
from unnest($2::bigint[]) as n on conflict do nothing
