-- How many seconds a shard of version $2 of the function $1 takes, by some of its last jobs' attempts; null: none has ended well.
select (avg(a.wall_us) / 1e6)::float8
from (select id from jobs where function_id = $1 and function_version = $2 order by id desc limit 3) j
cross join lateral (
    (select wall_us from attempts where job_id = j.id and status = 'ok' order by shard limit 200)
    union all
    (select wall_us from packed_attempts where job_id = j.id and page = 0 order by shard limit 200)
) a
