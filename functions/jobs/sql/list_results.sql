with picked as materialized (
    select number, agent_id, awaits, case when $5 then input end as input from shards
    where job_id = $1 and number > $2 and state = 'accepted' and not ($4 and awaits is not null) order by number limit $3
)
select s.number as shard, a.output, encode(a.output_digest, 'hex') as output_digest, a.agent_id, s.awaits is not null as provisional, s.input
from picked s join attempts a on a.job_id = $1 and a.shard = s.number and a.agent_id = s.agent_id
union all
select a.shard, a.output, encode(a.output_digest, 'hex'), a.agent_id, false, s.input
from packed_attempts a
cross join lateral (
    select case when $5 then input end as input from shards where job_id = $1 and number = a.shard and state = 'accepted' and agent_id = a.agent_id offset 0
) s
where a.job_id = $1 and a.page = any (array(select distinct number / 1024 from picked)) and a.shard > $2 and a.shard <= (select max(number) from picked)
order by shard
