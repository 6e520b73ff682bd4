-- The shards of a page with their attempts, a row for each attempt, or one for a shard without any. The output of an attempt that agrees is that of
-- its shard.
select s.number, s.state, s.awaits is not null as provisional, s.lost, s.input, s.agent_id as accepted, s.reasons,
    a.agent_id, a.status, a.outcome = k.outcome as agrees, a.void, case when a.agent_id = s.agent_id or a.outcome is distinct from k.outcome then a.output end as output,
    encode(a.output_digest, 'hex') as output_digest, encode(a.outcome, 'hex') as outcome, a.output_bytes, a.cpu_us, a.wall_us, a.peak_rss, a.diagnostics,
    a.reported_at, a.submission_id, u.signature
from shards s
left join attempts k on k.job_id = s.job_id and k.shard = s.number and k.agent_id = s.agent_id and s.state = 'accepted'
left join attempts a on a.job_id = s.job_id and a.shard = s.number
left join submissions u on u.id = a.submission_id
where s.job_id = $1 and s.number >= $2 and s.number < $3 order by s.number, a.agent_id
