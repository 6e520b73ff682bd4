-- The input of a shard of a lease of the agent, and how its job cuts inputs.
select s.input, j.partition, l.state
from leases l join shards s on s.job_id = l.job_id join jobs j on j.id = l.job_id
where l.id = $1 and l.agent_id = $2 and s.number = $3 and $3 = any (l.shards)
