-- How many shards of the job's version the server has given two answers to, how many charges came from the job, and, where there is such a
-- shard, how many from all jobs of the version. What was excused meanwhile is counted all the same.
with version as (
    select function_id, function_version from jobs where id = $1
),
found as (
    select count(*) as shards from unsteady_shards u join version v using (function_id, function_version)
)
select f.shards as unsteady,
    (select coalesce(sum(c.failed), 0) from lease_cursors c where c.job_id = $1)::bigint as in_job,
    case when f.shards = 0 then 0 else (
        select coalesce(sum(c.failed), 0) from version v join jobs j using (function_id, function_version) join lease_cursors c on c.job_id = j.id
    ) end::bigint as in_version
from found f
