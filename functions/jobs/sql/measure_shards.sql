-- What the attempts of the shards from $2 to before $3 took, also those that are packed: a job may be packed before it is measured.
with looked as materialized (
    select a.shard, a.agent_id, a.status, a.cpu_us, a.wall_us, a.output_bytes
    from attempts a where a.job_id = $1 and a.shard >= $2 and a.shard < $3
    union all
    select a.shard, a.agent_id, a.status, a.cpu_us, a.wall_us, a.output_bytes
    from packed_attempts a
    where a.job_id = $1 and a.page >= $2::bigint / 1024 and a.page <= ($3::bigint - 1) / 1024 and a.shard >= $2 and a.shard < $3
)
select count(*) as executions, coalesce(sum(a.cpu_us), 0)::bigint as cpu_us, coalesce(sum(a.wall_us), 0)::bigint as wall_us,
    (select coalesce(sum(o.output_bytes), 0)::bigint from shards s join looked o on o.shard = s.number and o.agent_id = s.agent_id
     where s.job_id = $1 and s.number >= $2 and s.number < $3 and s.state = 'accepted') as output_bytes,
    (select coalesce(jsonb_object_agg(b.bucket, b.n), '{}') from (
        select least(greatest(ceil(2 * ln(greatest(w.wall_us, 1)::float8 / 1000) / ln(2::float8)), 0), 63)::int as bucket, count(*) as n
        from looked w where w.status = 'ok' group by 1) b) as walls
from looked a
