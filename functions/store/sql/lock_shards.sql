select s.number, s.state, s.lent, s.wanted, s.agent_id, s.awaits, s.support
from unnest($2::bigint[]) as n
join shards s on s.job_id = $1 and s.number = n
order by s.number for update of s
