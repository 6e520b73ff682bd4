-- The secret of a project ($1), and the owners with agents that may work for a job ($2) and have nothing to do: heard of in the last $3, and
-- without a lease. Owners $4 have enough of the job, and agents $5 are lent nothing. Isolation is compared as in agents_for_job.
with levels as (
    select array['process', 'landlock', 'linux-nocgroup', 'linux', 'container', 'gvisor'] as names
),
asked as (
    select l.names, greatest(array_position(l.names, coalesce(j.min_isolation, 'process')), array_position(l.names, p.min_isolation)) as level,
        p.agents_open
    from levels l
    join projects p on p.id = $1
    left join open_jobs j on j.job_id = $2
)
select (select secret from project_secrets where project_id = $1) as secret, array(
    select distinct coalesce(ostraka.owner_at(a.id, $1), a.id::text) from asked q
    cross join agents a
    left join agent_projects m on m.agent_id = a.id and m.project_id = $1
    where a.state = 'active' and not coalesce(m.excluded, false) and (m.agent_id is not null or q.agents_open)
      and (a.projects = '{}' or $1 = any (a.projects)) and a.id <> all ($5) and a.last_seen_at > now() - $3::interval
      and array_position(q.names, a.isolation) >= greatest(q.level, array_position(q.names, a.min_isolation))
      and not exists (select from leases l where l.agent_id = a.id and l.ended_at is null)
      and coalesce(ostraka.owner_at(a.id, $1), a.id::text) <> all ($4::text[])
) as owners
