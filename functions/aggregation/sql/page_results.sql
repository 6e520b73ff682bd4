select s.number as shard, a.output, encode(a.output_digest, 'hex') as output_digest, a.output_bytes, a.diagnostics -> 'files' as files
from shards s join attempts a on a.job_id = s.job_id and a.shard = s.number and a.agent_id = s.agent_id
where s.job_id = $1 and s.number >= $2 and s.number < $3 and s.state = 'accepted'
union all
select a.shard, a.output, encode(a.output_digest, 'hex'), a.output_bytes, null
from packed_attempts a
cross join lateral (select from shards where job_id = $1 and number = a.shard and state = 'accepted' and agent_id = a.agent_id offset 0) s
where a.job_id = $1 and a.page >= $2::bigint / 1024 and a.page <= ($3::bigint - 1) / 1024 and a.shard >= $2 and a.shard < $3
order by shard
