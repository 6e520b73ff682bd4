-- The next $4 shards from $2 up to, not including, $3 whose results further agents audit, how many attempts each wants and has, and how many of
-- these are of agents of the owners $5.
select s.number, s.wanted, h.attempts, h.there from shards s cross join lateral (
    select count(*) as attempts, count(*) filter (where c.owner = any ($5::text[])) as there
    from attempts a left join lease_cursors c on c.job_id = $1 and c.agent_id = a.agent_id where a.job_id = $1 and a.shard = s.number
) h
where s.job_id = $1 and s.state = 'open' and s.wanted > 0 and s.support > 1 and s.number >= $2 and s.number < $3
order by s.number limit $4
