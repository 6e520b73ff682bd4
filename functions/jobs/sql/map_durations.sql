-- The time of the attempt whose output was accepted; null where there is none.
with walls as (
    select s.number, coalesce(a.wall_us, -1) as wall_us
    from shards s left join attempts a on a.job_id = s.job_id and a.shard = s.number and a.agent_id = s.agent_id and s.state = 'accepted'
    where s.job_id = $1 and s.number >= $2 and s.number < $3
    union all
    select a.shard, a.wall_us
    from packed_attempts a
    cross join lateral (select from shards where job_id = $1 and number = a.shard and state = 'accepted' and agent_id = a.agent_id offset 0) s
    where a.job_id = $1 and a.page >= $2::bigint / 1024 and a.page <= ($3::bigint - 1) / 1024 and a.shard >= $2 and a.shard < $3
)
select number / $4::bigint as page, array_agg(wall_us order by number) as values
from (select number, max(wall_us) as wall_us from walls group by number) w group by 1 order by 1
