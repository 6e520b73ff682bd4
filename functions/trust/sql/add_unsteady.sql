insert into unsteady_shards (function_id, function_version, job_id, shard)
select j.function_id, j.function_version, j.id, n from jobs j, unnest($2::bigint[]) as n where j.id = $1
on conflict do nothing
