select shard, output, coalesce(encode(output_digest, 'hex'), '') as output_digest, output_bytes
from attempts where job_id = $1 and agent_id = $2 and shard = any($3::bigint[]) and status = 'ok'
order by shard
