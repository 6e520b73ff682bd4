-- Whose results a job has: the $2 owners that gave most, and beside each how many owners and results there are. An agent without an owner is its own.
select coalesce(nullif(c.owner, ''), 'agent ' || c.agent_id) as owner, count(*) as agents, sum(c.results)::bigint as results,
    (sum(sum(c.results)) over ())::bigint as all, count(*) over () as owners
from lease_cursors c where c.job_id = $1 and c.results > 0 and c.agent_id <> '00000000-0000-0000-0000-000000000000'
group by 1 order by 3 desc, 1 limit $2
