with given as (
    select agent_id, status, output, output_digest, output_bytes, cpu_us, wall_us, peak_rss, diagnostics, reported_at, outcome, matters
    from attempts where job_id = $1 and shard = $2
    union all
    select agent_id, status, output, output_digest, output_bytes, cpu_us, wall_us, peak_rss, diagnostics, reported_at, outcome, null
    from packed_attempts where job_id = $1 and page = $2::bigint / 1024 and shard = $2
)
select a.agent_id, a.status, a.output, coalesce(encode(a.output_digest, 'hex'), '') as output_digest, a.output_bytes,
    a.cpu_us, a.wall_us, a.peak_rss, a.diagnostics,
    (s.state = 'accepted' and s.agent_id = a.agent_id) as accepted, a.reported_at, a.outcome, a.matters
from given a join shards s on s.job_id = $1 and s.number = $2
order by a.reported_at, a.agent_id
