select a.agent_id, a.status, a.output, coalesce(encode(a.output_digest, 'hex'), '') as output_digest, a.output_bytes,
    a.cpu_us, a.wall_us, a.peak_rss, a.diagnostics,
    (s.state = 'accepted' and s.agent_id = a.agent_id) as accepted, a.reported_at, a.outcome, a.matters
from attempts a join shards s on s.job_id = a.job_id and s.number = a.shard
where a.job_id = $1 and a.shard = $2 order by a.reported_at, a.agent_id
