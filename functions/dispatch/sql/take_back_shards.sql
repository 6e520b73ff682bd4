-- In the order of the numbers, as everything that locks shards does.
-- The look-up is written as a value, so that it is made by key for each shard: as an anti-join the planner may read every attempt of the
-- job for each, where the tables have no statistics yet.
with back as (
    select s.number from shards s
    where s.job_id = $1 and s.number = any ($2)
      and not coalesce((select true from attempts a where a.job_id = s.job_id and a.shard = s.number and a.agent_id = $3), false)
      and not coalesce((select true from control_loans c where c.lease_id = $5 and c.place = s.number and c.reported_at is not null), false)
    order by s.number for update of s
)
update shards s set lent = s.lent - 1, lost = s.lost + $4,
    wanted = case when s.state = 'open' then s.wanted + 1 else s.wanted end
from back where s.job_id = $1 and s.number = back.number
returning s.number, s.state, s.lost
