-- $8 is how many attempts of each are out no more: 1 for what an agent has reported, 0 for what the server found out by itself. Of a result that stays
-- the accepted one it is kept how it was drawn; the window only as long as it is what makes the result final.
update shards s set state = c.state, wanted = c.wanted, lent = s.lent - $8::int, agent_id = c.agent_id, awaits = c.awaits, support = c.support,
    reasons = coalesce(c.reasons::jsonb, case when c.state = s.state then s.reasons end),
    draw_rate = case when c.rate is not null then nullif(c.rate, 0) when c.state = 'accepted' and s.state = 'accepted' and c.agent_id = s.agent_id then s.draw_rate end,
    in_window = case when c.awaits is null and s.awaits is null and c.state = s.state and c.agent_id = s.agent_id then s.in_window else nullif(c.awaits, 0)::int end
from unnest($2::bigint[], $3::text[], $4::int[], $5::uuid[], $6::text[], $7::bigint[], $9::smallint[], $10::smallint[])
    as c (number, state, wanted, agent_id, reasons, awaits, support, rate)
where s.job_id = $1 and s.number = c.number
