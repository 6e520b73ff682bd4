-- The owners whose agents may work for a job, and whether some agent of another owner than $3 has nothing to do: it was heard of in the last $4,
-- and has no lease. Owners $5 have enough of the job. Isolation is compared as in agents_for_job.
with levels as (
    select array['process', 'landlock', 'linux-nocgroup', 'linux', 'container', 'gvisor'] as names
),
asked as (
    select l.names, greatest(array_position(l.names, coalesce(j.min_isolation, 'process')), array_position(l.names, p.min_isolation)) as level,
        p.agents_open
    from levels l
    join projects p on p.id = $1
    left join open_jobs j on j.job_id = $2
),
there as materialized (
    select a.id, coalesce(ostraka.owner_at(a.id, $1), a.id::text) as owner from asked q
    cross join agents a
    left join agent_projects m on m.agent_id = a.id and m.project_id = $1
    where a.state = 'active' and not coalesce(m.excluded, false) and (m.agent_id is not null or q.agents_open)
      and (a.projects = '{}' or $1 = any (a.projects)) and a.id <> all ($6) and a.last_seen_at > now() - $4::interval
      and array_position(q.names, a.isolation) >= greatest(q.level, array_position(q.names, a.min_isolation))
)
select (select count(distinct owner) from there) as owners, exists (
    select from there t where t.owner <> $3 and t.owner <> all ($5::text[])
      and not exists (select from leases l where l.agent_id = t.id and l.ended_at is null)
) as free
