select s.number, s.state, s.lent, s.agent_id
from unnest($2::bigint[]) as n
join shards s on s.job_id = $1 and s.number = n
order by s.number for update of s
