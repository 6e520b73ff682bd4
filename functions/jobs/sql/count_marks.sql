-- What deserves a look in a job: a job's findings are bounded, and its flags few.
select f.flags, f.flagged_shards, x.findings, x.found_shards, x.highest
from (select count(*) as flags, count(distinct shard) as flagged_shards from flags where job_id = $1) f,
    (select count(*) as findings, count(distinct shard) as found_shards, coalesce(max(score), 0)::float8 as highest from findings where job_id = $1) x
