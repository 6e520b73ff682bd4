-- Attempts of the agent $3, and those of others that gave the same answer and against whom something was proven: they were accomplices in an answer that
-- is taken back.
update attempts a set void = true where a.job_id = $1 and a.shard = any ($2)
  and (a.agent_id = $3 or a.agent_id in (select t.agent_id from trust t where t.audits_failed > 0 or t.caught_at is not null)
      and coalesce((select k.outcome = a.outcome from attempts k where k.job_id = a.job_id and k.shard = a.shard and k.agent_id = $3), false))
