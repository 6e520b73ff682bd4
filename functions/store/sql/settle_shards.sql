update shards s set state = c.state, wanted = c.wanted, lent = s.lent - 1, agent_id = c.agent_id,
    reasons = coalesce(c.reasons::jsonb, case when c.state = s.state then s.reasons end)
from unnest($2::bigint[], $3::text[], $4::int[], $5::uuid[], $6::text[]) as c (number, state, wanted, agent_id, reasons)
where s.job_id = $1 and s.number = c.number
