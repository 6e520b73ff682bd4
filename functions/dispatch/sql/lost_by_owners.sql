-- How many owners' leases died with shards of a job, and how many work for it. Agents without an owner stand for themselves.
with died as (
    select n as number, count(distinct coalesce(nullif(c.owner, ''), l.agent_id::text)) as owners
    from leases l cross join unnest(l.shards) n
    left join lease_cursors c on c.job_id = l.job_id and c.agent_id = l.agent_id
    where l.job_id = $1 and l.state = 'expired' and n = any ($2)
    group by n
)
select number, owners, (select count(distinct coalesce(nullif(owner, ''), agent_id::text)) from lease_cursors where job_id = $1
    and agent_id <> '00000000-0000-0000-0000-000000000000') as working
from died
