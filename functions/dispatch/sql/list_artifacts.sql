select s.number as shard, a.diagnostics -> 'files' as files
from attempts a join shards s on s.job_id = a.job_id and s.number = a.shard and s.agent_id = a.agent_id
where a.job_id = $1 and a.shard > $2 and a.diagnostics ? 'files' and s.state = 'accepted' order by a.shard limit $3
