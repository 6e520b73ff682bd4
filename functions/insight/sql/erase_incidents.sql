-- Incidents of a job go with it, at most $2 at a time. Whom they were about stays with what is known of the job: these agents and their
-- owners have no part in jobs that run it again.
with gone as (
    delete from incidents where ctid = any (array(select ctid from incidents where job_id = $1 limit $2)) returning agent_id
),
suspects as (
    select g.agent_id, coalesce(c.owner, '') as owner from gone g left join lease_cursors c on c.job_id = $1 and c.agent_id = g.agent_id
)
update deleted_jobs set suspect_agents = suspect_agents || s.agents, suspect_owners = suspect_owners || s.owners
from (select array_agg(agent_id order by agent_id) as agents, array_agg(owner order by agent_id) as owners from suspects) s
where id = $1 and s.agents is not null
returning cardinality(s.agents)
