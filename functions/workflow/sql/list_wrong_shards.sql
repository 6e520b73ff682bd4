select number, step, job_id, shard, first::text, last::text, was, instead, agents, jobs, found_at
from workflow_wrong_shards where run_id = $1 order by found_at, step, shard
