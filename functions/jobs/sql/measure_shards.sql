-- What the attempts of the shards from $2 to before $3 took.
select count(*) as executions, coalesce(sum(a.cpu_us), 0)::bigint as cpu_us, coalesce(sum(a.wall_us), 0)::bigint as wall_us,
    (select coalesce(sum(o.output_bytes), 0)::bigint from shards s join attempts o on o.job_id = s.job_id and o.shard = s.number and o.agent_id = s.agent_id
     where s.job_id = $1 and s.number >= $2 and s.number < $3 and s.state = 'accepted') as output_bytes,
    (select coalesce(jsonb_object_agg(b.bucket, b.n), '{}') from (
        select least(greatest(ceil(2 * ln(greatest(w.wall_us, 1)::float8 / 1000) / ln(2::float8)), 0), 63)::int as bucket, count(*) as n
        from attempts w where w.job_id = $1 and w.shard >= $2 and w.shard < $3 and w.status = 'ok' group by 1) b) as walls
from attempts a where a.job_id = $1 and a.shard >= $2 and a.shard < $3
