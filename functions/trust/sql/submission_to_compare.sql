select s.job_id, s.agent_id, s.shards, j.policy, j.state, j.validator, j.partition
from submissions s join jobs j on j.id = s.job_id
where s.id = $1 and s.verified_at is null
