-- Forgets which attempts of an agent nobody confirmed, and of its owner's other agents, whose they count for as well.
with mine as (
    select distinct owner from lease_cursors where agent_id = $1 and owner <> ''
),
due as (
    select c.job_id, c.agent_id from lease_cursors c
    where c.unconfirmed > 0 and (c.agent_id = $1 or c.owner in (select owner from mine)) order by c.job_id, c.agent_id for update
)
update lease_cursors c set unconfirmed = 0 from due where c.job_id = due.job_id and c.agent_id = due.agent_id
