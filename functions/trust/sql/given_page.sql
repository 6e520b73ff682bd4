-- One page of the shards of a job without a bound that were accepted with an answer of the agent $2, from shard $3 on, but for those whose answer the
-- server has given too, or somebody against whom nothing was proven. They are locked, in the order of their numbers. agent_id is whose attempt stands
-- for the answer: it may be an accomplice's.
with given as materialized (
    select a.shard from attempts a join shards s on s.job_id = a.job_id and s.number = a.shard
    where a.job_id = $1 and a.agent_id = $2 and a.shard >= $3 and not a.void and s.state = 'accepted' and s.awaits is null
      and coalesce((select k.outcome = a.outcome from attempts k where k.job_id = a.job_id and k.shard = a.shard and k.agent_id = s.agent_id), false)
      and not coalesce((select true from attempts o left join trust t on t.agent_id = o.agent_id
          where o.job_id = a.job_id and o.shard = a.shard and o.agent_id <> $2 and not o.void
            and (o.agent_id = '00000000-0000-0000-0000-000000000000' and o.status = 'ok'
                or o.outcome = a.outcome and coalesce(t.audits_failed, 0) = 0 and t.caught_at is null) limit 1), false)
    order by a.shard limit $4
),
locked as materialized (
    select s.job_id, s.number, s.agent_id, s.state, s.lent, s.support from given g join shards s on s.job_id = $1 and s.number = g.shard
    where s.number / $4::bigint = (select min(shard) from given) / $4::bigint and s.state = 'accepted' and s.awaits is null
    order by s.number for update of s
)
select l.job_id, l.number, l.agent_id, l.state, l.lent, 0::bigint as awaits, l.support, (select state from jobs where id = l.job_id) as job_state, false as audited
from locked l order by l.number
