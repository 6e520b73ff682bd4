-- What shards of the function $1 took in its last job over a partition of the kind $3 that was measured: of version $2, or else of another.
-- Few jobs are looked at: what is long ago was measured on other agents. The time is that of the middle one, and the last shard may have next to
-- nothing in it: of three, the middle one is as large as the partition says. A range itself says how large its only one is.
select j.partition as spec, (m.metrics -> 'times' ->> 'wall_p50')::float8 as seconds, (m.metrics -> 'sizes' ->> 'output_mean')::float8 as output_bytes
from (
    select id, function_version, partition, shards_total from jobs where function_id = $1 order by id desc limit 100
) j
join job_metrics m on m.job_id = j.id
where j.partition ->> 'kind' = $3 and (m.metrics -> 'times' ->> 'wall_p50')::float8 > 0
    and case $3
        when 'range' then j.shards_total <> 2
        when 'items' then j.partition ->> 'size' = '1' or j.partition ->> 'size' is not null and j.shards_total >= 3
        when 'lines' then j.partition ->> 'bytes' is not null and j.shards_total >= 3
        else false
    end
order by (j.function_version = $2) desc, j.id desc limit 1
