-- What the one shard of a report came to.
select a.output, encode(a.output_digest, 'hex') as output_digest, a.output_bytes, a.diagnostics -> 'files' as files
from shards s join attempts a on a.job_id = s.job_id and a.shard = s.number and a.agent_id = s.agent_id
where s.job_id = $1 and s.number = 0 and s.state = 'accepted'
