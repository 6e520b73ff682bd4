-- $8 is how many attempts of each are out no more: 1 for what an agent has reported, 0 for what the server found out by itself.
update shards s set state = c.state, wanted = c.wanted, lent = s.lent - $8::int, agent_id = c.agent_id, awaits = c.awaits, support = c.support,
    reasons = coalesce(c.reasons::jsonb, case when c.state = s.state then s.reasons end)
from unnest($2::bigint[], $3::text[], $4::int[], $5::uuid[], $6::text[], $7::bigint[], $9::smallint[]) as c (number, state, wanted, agent_id, reasons, awaits, support)
where s.job_id = $1 and s.number = c.number
