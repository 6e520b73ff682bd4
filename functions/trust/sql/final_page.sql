-- One page of an agent's final results in a job, from shard $3 on, but for those that the server or another agent gave as well,
-- which were evidence by then: they are locked, in the order of their numbers. The attempts of each shard are looked up: an anti-join reads
-- all of the job's for each where the table has no statistics yet.
with due as (
    select s.number / $4::bigint as page from shards s
    where s.job_id = $1 and s.agent_id = $2 and s.number >= $3 and s.state = 'accepted' and s.awaits is null
      and not coalesce((select true from attempts a where a.job_id = s.job_id and a.shard = s.number and a.status = 'ok'
          and a.agent_id = '00000000-0000-0000-0000-000000000000' limit 1), false)
      and not coalesce((select true from attempts mine join attempts a on a.job_id = mine.job_id and a.shard = mine.shard and a.outcome = mine.outcome
          where mine.job_id = s.job_id and mine.shard = s.number and mine.agent_id = $2 and a.agent_id <> $2 and not a.void limit 1), false)
    order by s.number limit 1
),
locked as materialized (
    select s.job_id, s.number, s.agent_id, s.state, s.lent, s.support from shards s, due
    where s.job_id = $1 and s.agent_id = $2 and s.number >= due.page * $4 and s.number < (due.page + 1) * $4
      and s.state = 'accepted' and s.awaits is null
      and not coalesce((select true from attempts a where a.job_id = s.job_id and a.shard = s.number and a.status = 'ok'
          and a.agent_id = '00000000-0000-0000-0000-000000000000' limit 1), false)
      and not coalesce((select true from attempts mine join attempts a on a.job_id = mine.job_id and a.shard = mine.shard and a.outcome = mine.outcome
          where mine.job_id = s.job_id and mine.shard = s.number and mine.agent_id = $2 and a.agent_id <> $2 and not a.void limit 1), false)
    order by s.number for update of s
)
select l.job_id, l.number, l.agent_id, l.state, l.lent, 0::bigint as awaits, l.support, (select state from jobs where id = l.job_id) as job_state, false as audited
from locked l order by l.number
