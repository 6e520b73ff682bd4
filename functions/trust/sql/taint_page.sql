-- One page of the agent's results that are accepted and not final: they are locked, in the order of their numbers. Those of a window that
-- has passed are final.
with due as (
    select s.job_id, s.number / $2::bigint as page from shards s
    where s.agent_id = $1 and s.awaits is not null
      and not coalesce((select w.state = 'passed' from windows w where w.job_id = s.job_id and w.agent_id = $1 and w.number = s.awaits), false)
    order by s.job_id, s.awaits, s.number limit 1
),
locked as materialized (
    select s.job_id, s.number, s.agent_id, s.state, s.lent, s.awaits, s.support from shards s, due
    where s.agent_id = $1 and s.job_id = due.job_id and s.awaits is not null and s.number >= due.page * $2 and s.number < (due.page + 1) * $2
      and not coalesce((select w.state = 'passed' from windows w where w.job_id = s.job_id and w.agent_id = $1 and w.number = s.awaits), false)
    order by s.number for update of s
)
select l.job_id, l.number, l.agent_id, l.state, l.lent, l.awaits, l.support, (select state from jobs where id = l.job_id) as job_state,
    exists (select from audits a where a.job_id = l.job_id and a.shard = l.number and a.agent_id = $1 and a.state = 'drawn') as audited
from locked l order by l.number
