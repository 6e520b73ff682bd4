-- What the accepted attempts of a job ($1) took, of each $2nd page of $3 shards: quantiles, and the $4 that took longest and that gave most. Packed
-- attempts are of pages of as many, and of the others none is unpacked.
with looked as materialized (
    select s.number, a.agent_id, a.wall_us, a.cpu_us, a.peak_rss, a.output_bytes
    from shards s join attempts a on a.job_id = s.job_id and a.shard = s.number and a.agent_id = s.agent_id
    where s.job_id = $1 and s.state = 'accepted' and (s.number / $3::bigint) % $2::bigint = 0
        and a.job_id = $1 and (a.shard / $3::bigint) % $2::bigint = 0
    union all
    select a.shard, a.agent_id, a.wall_us, a.cpu_us, a.peak_rss, a.output_bytes
    from packed_attempts a
    cross join lateral (select from shards where job_id = $1 and number = a.shard and state = 'accepted' and agent_id = a.agent_id offset 0) s
    where a.job_id = $1 and a.page % $2::bigint = 0
)
select count(*) as looked_at,
    percentile_disc(array[0.5, 0.9, 0.99, 1]) within group (order by wall_us) as wall_us,
    percentile_disc(array[0.5, 0.9, 0.99, 1]) within group (order by cpu_us) as cpu_us,
    percentile_disc(array[0.5, 0.9, 0.99, 1]) within group (order by peak_rss) as peak_rss,
    percentile_disc(array[0.5, 0.9, 0.99, 1]) within group (order by output_bytes) as output_bytes,
    (select json_agg(t) from (select * from looked order by wall_us desc, number limit $4) t) as slowest,
    (select json_agg(t) from (select * from looked order by output_bytes desc, number limit $4) t) as largest
from looked
