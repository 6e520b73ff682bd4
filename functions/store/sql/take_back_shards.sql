-- In the order of the numbers, as everything that locks shards does.
with back as (
    select s.number from shards s
    where s.job_id = $1 and s.number = any ($2)
      and not exists (select from attempts a where a.job_id = s.job_id and a.shard = s.number and a.agent_id = $3)
    order by s.number for update of s
)
update shards s set lent = s.lent - 1, lost = s.lost + $4,
    wanted = case when s.state = 'open' then s.wanted + 1 else s.wanted end
from back where s.job_id = $1 and s.number = back.number
returning s.number, s.state, s.lost
