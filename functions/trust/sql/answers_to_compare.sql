-- One attempt that gave each answer: all that did gave the same bytes.
select c.shard, c.outcome, a.output, coalesce(encode(a.output_digest, 'hex'), '') as output_digest, a.output_bytes, a.wall_us, s.input
from unnest($2::bigint[], $3::bytea[]) as c (shard, outcome)
cross join lateral (
    select output, output_digest, output_bytes, wall_us from attempts
    where job_id = $1 and shard = c.shard and outcome = c.outcome and status = 'ok' order by agent_id limit 1
) a
join shards s on s.job_id = $1 and s.number = c.shard
