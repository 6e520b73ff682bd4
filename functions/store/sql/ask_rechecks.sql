insert into rechecks (job_id, shard, why) select $1, n, $3 from unnest($2::bigint[]) as n on conflict do nothing
