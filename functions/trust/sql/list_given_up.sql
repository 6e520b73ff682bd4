select f.shard, f.error from unnest($2::bigint[]) as n
join comparison_failures f on f.job_id = $1 and f.shard = n where f.given_up
