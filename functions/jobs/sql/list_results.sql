select s.number as shard, a.output, encode(a.output_digest, 'hex') as output_digest, a.agent_id, s.awaits is not null as provisional,
    case when $5 then s.input end as input
from shards s join attempts a on a.job_id = s.job_id and a.shard = s.number and a.agent_id = s.agent_id
where s.job_id = $1 and s.number > $2 and s.state = 'accepted' and not ($4 and s.awaits is not null) order by s.number limit $3
