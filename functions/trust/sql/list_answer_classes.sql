-- Of those that founded a class also an agent that gave that answer.
select c.shard, c.outcome, c.representative,
    (select agent_id from attempts a where a.job_id = $1 and a.shard = c.shard and a.outcome = c.outcome and a.status = 'ok' order by agent_id limit 1) as agent_id
from unnest($2::bigint[]) as n
join answer_classes c on c.job_id = $1 and c.shard = n
order by c.shard, c.founded
